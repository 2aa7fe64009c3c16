//! One stage over the whole image.
//!
//! The image is cut into strips that do not depend on each other. What they
//! sum up is added in their order, so that the result is the same to the last
//! bit however many threads work on them.

use super::aggregate::Quotient;
use super::lattice::{Lattice, Samples};
use super::settings::Stage;
use super::strip::{Channel, Strip};
use super::transform::Basis;
use crate::Real;
use crate::linalg::simd::dispatch;
use alloc::vec;
use alloc::vec::Vec;

/// Filters every channel with the groups found in `guide`.
pub(super) fn run<T: Real>(
    stage: &Stage<T>,
    guide: Samples<'_, T>,
    channels: &[Channel<'_, T>],
) -> Vec<Vec<T>> {
    match stage.block {
        4 => sized::<T, 4>(stage, guide, channels),
        8 => sized::<T, 8>(stage, guide, channels),
        12 => sized::<T, 12>(stage, guide, channels),
        _ => sized::<T, 16>(stage, guide, channels),
    }
}

fn sized<T: Real, const N: usize>(
    stage: &Stage<T>,
    guide: Samples<'_, T>,
    channels: &[Channel<'_, T>],
) -> Vec<Vec<T>> {
    let (width, height) = (guide.width, guide.height);
    let lattice = &Lattice::new((width, height), N, stage.step, stage.radius);
    let basis = &Basis::<T, N>::new(stage.transform);
    let zeros = || vec![T::zero(); width * height];
    let mut sums: Vec<Quotient<T>> = channels
        .iter()
        .map(|_| Quotient { numerator: zeros(), denominator: zeros() })
        .collect();
    let work = |number| dispatch(Strip { stage, lattice, basis, guide, channels, number });
    for number in 0..lattice.strips() {
        let top = lattice.rows(number).start;
        for (sum, part) in sums.iter_mut().zip(work(number)) {
            let Quotient { numerator, denominator } = sum;
            for (sum, part) in
                [(numerator, part.numerator), (denominator, part.denominator)]
            {
                let rows = sum.chunks_exact_mut(width).skip(top);
                for (sum, part) in rows.zip(part.chunks_exact(lattice.width())) {
                    for (sum, &part) in sum.iter_mut().zip(part) {
                        *sum = *sum + part;
                    }
                }
            }
        }
    }
    sums.into_iter()
        .map(|Quotient { mut numerator, denominator }| {
            for (value, weight) in numerator.iter_mut().zip(denominator) {
                *value = *value / weight;
            }
            numerator
        })
        .collect()
}
