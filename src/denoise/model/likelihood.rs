//! The likelihoods of clean and of offset pixels, on a grid.
//!
//! Residuals, offsets and deviations have classes; a likelihood is a function of the difference of
//! residual and offset and of the deviation, so that one table per deviation has all of them.

use super::super::misfit::FAR;
use super::{Pixels, in_portions, narrow};
use crate::linalg::vector::dot;
use alloc::vec::Vec;
use num_traits::{Float, ToPrimitive};

/// Residuals are rounded to whole units from -`REACH` to `REACH`.
const REACH: i32 = 255;
const RESIDUALS: usize = 2 * REACH as usize + 1;
/// Width of a class of offsets in units, and their number: -252, -249 .. 252.
const OFFSET_STEP: usize = 3;
pub(super) const OFFSETS: usize = 169;
/// Classes of deviations to the octave, and their number. The first begins at one unit, or at
/// the least deviation of the image if that is greater.
const PER_OCTAVE: f32 = 3.0;
const DEVIATIONS: usize = 15;
/// The least deviation in units: residuals are rounded to one.
pub(in crate::denoise) const LEAST_DEVIATION: f32 = 1.0;
/// Added to likelihoods, so that quotients are finite.
pub(super) const LEAST_DENSITY: f32 = 1e-30;

/// Likelihoods of a residual under a clean pixel and under all offsets, by class of the
/// deviation. Both are on grids: the likelihood is a function of their difference.
pub(super) struct Table {
    /// For each class of deviations and each kind of sample (inside, at the lower end, at the
    /// upper end), by the remainder of the residual: likelihoods along the offsets.
    likelihoods: Vec<[[Vec<f32>; OFFSET_STEP]; 3]>,
    /// The least deviation of the first class.
    first: f32,
}

/// A class of pixels that have the same likelihoods.
#[derive(Clone, Copy)]
pub(super) struct Class {
    deviation: usize,
    pub(super) kind: usize,
    residual: usize,
}

/// The likelihoods of a class.
#[derive(Clone, Copy, Default)]
pub(super) struct Likelihood {
    pub(super) clean: f32,
    pub(super) offset: f32,
}

/// Kinds of samples.
pub(super) const INSIDE: usize = 0;
const AT_LOWER_END: usize = 1;
const AT_UPPER_END: usize = 2;

impl Table {
    pub(super) fn new(pixels: &Pixels<'_>) -> Self {
        let unknown = pixels.deviation.iter().zip(pixels.known).filter(|(_, known)| !**known);
        let first = unknown.fold(f32::INFINITY, |least, (&v, _)| least.min(v));
        let first = if first.is_finite() { first.max(LEAST_DEVIATION) } else { LEAST_DEVIATION };
        let likelihoods = (0..DEVIATIONS).map(|class| {
            let v = deviation(first, class);
            // The difference of residual and offset at a place of a row.
            let difference = |place: usize, remainder: usize| {
                (OFFSET_STEP * place + remainder) as f32 - 2.0 * REACH as f32 + OFFSET_STEP as f32
            };
            let row = |likelihood: &dyn Fn(f32) -> f32| {
                core::array::from_fn(|remainder| {
                    let places = 0..RESIDUALS / OFFSET_STEP + OFFSETS;
                    let t = places.map(|place| difference(place, remainder) / v);
                    t.map(|t| likelihood(t) + LEAST_DENSITY).collect()
                })
            };
            // At the lower end all that is less, at the upper all that is more.
            [row(&|t| student(t) / v), row(&student_below), row(&|t| student_below(-t))]
        });
        Self { likelihoods: likelihoods.collect(), first }
    }

    /// The classes that occur, and which one each pixel has.
    pub(super) fn classes(&self, pixels: &Pixels<'_>) -> (Vec<Class>, Vec<u32>) {
        const NONE: u32 = u32::MAX;
        let (least, greatest) = pixels.ends;
        let class_of = |i: usize| {
            let octaves = Float::log2((pixels.deviation[i] / self.first).max(1.0));
            let deviation = (PER_OCTAVE * octaves + 0.5).to_usize().unwrap_or(DEVIATIONS);
            let deviation = deviation.min(DEVIATIONS - 1);
            let kind = match pixels.sample[i] {
                y if y <= least => AT_LOWER_END,
                y if y >= greatest => AT_UPPER_END,
                _ => INSIDE,
            };
            let reach = REACH as f32;
            let residual = Float::round(pixels.residual[i]).clamp(-reach, reach) + reach;
            Class { deviation, kind, residual: residual.to_usize().unwrap_or(0) }
        };
        let mut numbers = alloc::vec![NONE; DEVIATIONS * 3 * RESIDUALS];
        let mut classes = Vec::new();
        let number_of = |class: Class| {
            let place = (class.deviation * 3 + class.kind) * RESIDUALS + class.residual;
            if numbers[place] == NONE {
                numbers[place] = u32::try_from(classes.len()).unwrap_or(0);
                classes.push(class);
            }
            numbers[place]
        };
        let of_pixels = in_portions(pixels.sample.len(), class_of);
        let numbers = of_pixels.into_iter().map(number_of).collect();
        (classes, numbers)
    }

    /// The likelihoods of a class for the offsets, in their order: the offsets are symmetric, so
    /// that it does not matter that the differences fall as offsets rise.
    #[inline(always)]
    pub(super) fn along_offsets(&self, Class { deviation, kind, residual }: Class) -> &[f32] {
        let row = &self.likelihoods[deviation][kind][residual % OFFSET_STEP];
        &row[residual / OFFSET_STEP..][..OFFSETS]
    }

    #[inline(always)]
    pub(super) fn likelihood<const FUSED: bool>(
        &self,
        class: Class,
        offsets: &[f32],
    ) -> Likelihood {
        let along = self.along_offsets(class);
        Likelihood { clean: along[OFFSETS / 2], offset: dot::<f32, FUSED>(along, offsets) }
    }

    /// Whether the residual of a class is too large for a clean pixel. A replaced value counts in $h$
    /// where it is: nearer to the pilot it says nothing of the kind of the pixel, and levels that
    /// are frequent in the image itself would pass for replaced values.
    pub(super) fn is_far(&self, Class { deviation: class, residual, .. }: Class) -> bool {
        let residual = residual as f32 - REACH as f32;
        residual.abs() >= FAR * deviation(self.first, class)
    }
}

/// The deviation of a class.
fn deviation(first: f32, class: usize) -> f32 {
    first * Float::exp2(class as f32 / PER_OCTAVE)
}

/// The offset of a class, in the order of [`Table::along_offsets`].
pub(super) fn offset(k: usize) -> f32 {
    OFFSET_STEP as f32 * ((OFFSETS / 2) as f32 - k as f32)
}

/// Degrees of freedom $\nu$ of the residuals over their deviation: that is known from the 24
/// residuals around the pixel, so that the ratio has heavier tails than a normal variable.
const FREEDOM: f64 = 24.0;
/// $\Gamma(\tfrac{\nu + 1}{2}) / (\Gamma(\tfrac \nu 2) \sqrt{\pi \nu})$ for that number.
const DENSITY_AT_ZERO: f32 = 0.394_809_4;

/// The density of Student's distribution: $(1 + t^2 / \nu)^{-(\nu + 1) / 2}$ but for its factor.
fn student(t: f32) -> f32 {
    let base = 1.0 + f64::from(t) * f64::from(t) / FREEDOM;
    DENSITY_AT_ZERO * narrow(Float::powf(base, -0.5 * (FREEDOM + 1.0)))
}

/// The probability of a value below `t` under Student's distribution, for even $\nu$:
/// $$ \frac 1 2 + \frac{t}{2 \sqrt{\nu + t^2}}
///    \sum_{j < \nu / 2} \binom{2j}{j} \Bigl(\frac{1}{4 (1 + t^2 / \nu)}\Bigr)^j . $$
fn student_below(t: f32) -> f32 {
    let t = f64::from(t);
    let base = 1.0 + t * t / FREEDOM;
    let (mut sum, mut term, mut j) = (0.0, 1.0, 0.0);
    while 2.0 * j < FREEDOM {
        sum += term;
        j += 1.0;
        term *= (2.0 * j - 1.0) / (2.0 * j) / base;
    }
    narrow(Float::max(0.5 + 0.5 * t / Float::sqrt(FREEDOM * base) * sum, 0.0))
}
