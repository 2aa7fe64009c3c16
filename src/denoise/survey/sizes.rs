//! How often suspects are off by how much, and whether most of them are off by the same.
//!
//! Where impulses are of one size, as a flipped bit or an offset makes them, the sizes of
//! suspects are those of impulses with noise: a Gaussian, whose logarithm is a parabola.
//! Through the logarithms of the counts around the place where sizes are densest a parabola
//! is laid; its vertex is the size, and its curvature tells how much sizes vary. It does not
//! matter that noise hides the small ones, nor that some sizes are those of details: only the
//! shape of the peak counts. Impulses of many sizes have none.

use crate::linalg::cholesky::Extending;
use alloc::vec::Vec;
use num_traits::Float;

/// Counts of positive numbers by size, 64 equal classes to the octave.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sizes {
    counts: Vec<u64>,
}

/// A class is the exponent and the first bits of the fraction.
const BITS: u32 = 6;
const DROPPED: u32 = f64::MANTISSA_DIGITS - 1 - BITS;
const OCTAVES_BELOW_ONE: u64 = 40;
const LOWEST: u64 = (1.0_f64.to_bits() >> DROPPED) - (OCTAVES_BELOW_ONE << BITS);
const CLASSES: usize = 8192;

/// The deviation of sizes from that of all impulses where they have one: noise, and what the
/// median of the neighbours is off by in turn. In units of the noise; more is what sizes vary.
const DEVIATION: f64 = 1.1;
/// How many deviations to either side the parabola is laid through, and how often anew.
const AROUND: f64 = 2.0;
const ROUNDS: usize = 4;
/// Classes are joined until they are as wide, in deviations: whole numbers leave narrow ones
/// empty.
const JOINED: f64 = 0.3;
/// So many of these it takes to tell a summit.
const LEAST_JOINED: usize = 5;
/// A summit is no wider than this many times what noise makes.
const WIDEST: f64 = 1.6;
/// Which part of the suspects beyond the limit it has at least: of two sizes neither is usual.
const LEAST_PART: f64 = 0.7;
/// Suspects beyond the limit at least: fewer say little.
const LEAST_COUNT: u64 = 100;

/// The size that most impulses have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summit {
    pub(super) size: f64,
    /// By how much they vary, beside noise.
    pub(super) deviation: f64,
}

impl Sizes {
    pub(super) fn new() -> Self {
        Self { counts: alloc::vec![0; CLASSES] }
    }

    fn class(value: f64) -> usize {
        let class = (value.to_bits() >> DROPPED).saturating_sub(LOWEST);
        usize::try_from(class).unwrap_or(CLASSES).min(CLASSES - 1)
    }

    /// Where a class begins.
    fn beginning(class: usize) -> f64 {
        f64::from_bits((class as u64 + LOWEST) << DROPPED)
    }

    pub(super) fn count(&mut self, value: f64) {
        self.counts[Self::class(value)] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// All but `others`, which are among them.
    pub(super) fn without(&self, others: &Self) -> Self {
        let counts = self.counts.iter().zip(&others.counts);
        Self { counts: counts.map(|(all, other)| all - other).collect() }
    }

    /// How many values lie beyond `limit`, and what all but one in so many of those
    /// exceed.
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
            Self::beginning(first + class.unwrap_or(0))
        });
        (total as f64, exceeded)
    }

    /// The size that most values beyond `limit` have, if they have one, in noise of so much.
    pub(super) fn summit(&self, limit: f64, noise: f64) -> Option<Summit> {
        let of_noise = DEVIATION * noise;
        let first = Self::class(limit) + 1;
        let last = self.counts.iter().rposition(|&count| count > 0)?;
        let total = self.between(first, last);
        if noise <= 0.0 || total < LEAST_COUNT {
            return None;
        }
        let around = |size: f64, reach: f64| {
            (Self::class((size - reach).max(limit)).max(first), Self::class(size + reach))
        };
        let count = |size: f64, reach: f64| {
            let (from, to) = around(size, reach);
            self.between(from, to)
        };
        let densest = (first..=last).rev().max_by_key(|&c| count(Self::beginning(c), of_noise))?;
        let (mut size, mut deviation) = (Self::beginning(densest), of_noise);
        for _ in 0..ROUNDS {
            let (from, to) = around(size, AROUND * deviation);
            let (vertex, curvature) = self.parabola(from..=to, size, deviation)?;
            size += deviation * vertex;
            deviation *= Float::sqrt(curvature.recip());
            if !(size > limit && deviation < WIDEST * of_noise) {
                return None;
            }
        }
        let part = count(size, AROUND * deviation) as f64 / total as f64;
        let variance = (deviation * deviation - of_noise * of_noise).max(0.0);
        (part >= LEAST_PART).then(|| Summit { size, deviation: Float::sqrt(variance) })
    }

    fn between(&self, from: usize, to: usize) -> u64 {
        self.counts.get(from..=to).map_or(0, |counts| counts.iter().sum())
    }

    /// The parabola $a - \tfrac c 2 (x - v)^2$ through the logarithms of densities, where $x$
    /// is the size from `origin` in units of `unit`: its vertex $v$ and curvature $c$, if it
    /// has a summit. The more is counted, the better its logarithm is known.
    fn parabola(
        &self,
        classes: core::ops::RangeInclusive<usize>,
        origin: f64,
        unit: f64,
    ) -> Option<(f64, f64)> {
        let (mut moments, mut products, mut bins) = ([0.0; 5], [0.0; 3], 0);
        let (mut begin, mut count) = (Self::beginning(*classes.start()), 0);
        for class in classes {
            count += self.counts[class];
            let end = Self::beginning(class + 1);
            if end - begin < JOINED * unit {
                continue;
            }
            if count > 0 {
                let density = Float::ln(count as f64 / (end - begin));
                let x = (0.5 * (begin + end) - origin) / unit;
                let mut power = count as f64;
                for (i, moment) in moments.iter_mut().enumerate() {
                    *moment += power;
                    if let Some(product) = products.get_mut(i) {
                        *product += power * density;
                    }
                    power *= x;
                }
                bins += 1;
            }
            (begin, count) = (end, 0);
        }
        if bins < LEAST_JOINED {
            return None;
        }
        let mut memory = [0.0; Extending::<f64>::len(3)];
        let mut normal = Extending::new(&mut memory);
        for i in 0..3 {
            normal.push(&moments[i..2 * i], moments[2 * i]).ok()?;
        }
        normal.solve(&mut products).ok()?;
        let [_, slope, bend] = products;
        (bend < 0.0).then(|| (-slope / (2.0 * bend), -2.0 * bend))
    }
}
