//! How often suspects are off by how much.

use alloc::vec::Vec;
use num_traits::ToPrimitive;

/// Counts of magnitudes in units: so many classes of equal width to a unit, and the last for all
/// that is larger.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sizes {
    counts: Vec<u64>,
}

const PER_UNIT: f64 = 4.0;
const CLASSES: usize = 1024;

impl Sizes {
    pub(super) fn new() -> Self {
        Self { counts: alloc::vec![0; CLASSES] }
    }

    fn class(magnitude: f64) -> usize {
        (PER_UNIT * magnitude).to_usize().unwrap_or(CLASSES).min(CLASSES - 1)
    }

    pub(super) fn count(&mut self, magnitude: f64) {
        self.counts[Self::class(magnitude)] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// How many magnitudes lie beyond the class of `limit`, and what all but one in so many of
    /// those exceed.
    pub(super) fn tail(&self, limit: f64, one_in: [usize; 2]) -> (f64, [f64; 2]) {
        let first = Self::class(limit) + 1;
        let tail = &self.counts[first.min(CLASSES)..];
        let total: u64 = tail.iter().sum();
        let exceeded = one_in.map(|one_in| {
            let mut below = 0;
            let class = tail.iter().position(|count| {
                below += count;
                below * one_in as u64 >= total
            });
            (first + class.unwrap_or(0)) as f64 / PER_UNIT
        });
        (total as f64, exceeded)
    }
}
