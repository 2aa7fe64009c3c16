//! Robust units: inputs and target centred at their medians and divided by
//! robust deviations, so that no result depends on units or offsets, and no
//! gross value decides what is large.

use crate::real::{constant, count};
use crate::stats::{DEVIATION_PER_MEDIAN, nth_smallest};
use crate::{Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// The quartiles of a Gaussian are so many standard deviations apart.
const DEVIATIONS_BETWEEN_QUARTILES: f64 = 1.349;
/// Quartiles closer than this part of the standard deviation say little of an
/// input: most of its values are the same.
const NARROW_QUARTILES: f64 = 0.2;
/// Part of the values that must differ from the median for the target to have
/// a spread.
const VARYING: f64 = 0.1;
/// Share of the values that differ from zero which may be no multiples of a step: outliers.
const OFF_STEP: f64 = 0.25;
/// Inputs are cut off at this power of one over the precision, in robust deviations: at 7e5 with
/// `f64`, at 400 with `f32`.
const FARTHEST: f64 = 0.375;
/// Values of a constant that are no farther from it, in steps, are rounded the other way;
/// half a step for the rounding of the steps themselves.
const STEPS_OF_A_CONSTANT: f64 = 1.5;
/// A step that is seen by its levels alone is at most this part of the values: 8 levels are
/// 3 bits. Many values that differ by more are one and the same gross value.
const LARGEST_STEP: f64 = 0.125;

/// A centre and a scale.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unit<T> {
    /// The value that becomes zero.
    pub centre: T,
    /// The difference that becomes one.
    pub scale: T,
}

impl<T: Real> Unit<T> {
    /// The value in this unit.
    #[must_use]
    pub fn apply(&self, value: T) -> T {
        // Half of each: the difference of two large numbers may overflow.
        let half = constant::<T>(0.5);
        (value * half - self.centre * half) / (self.scale * half)
    }

    /// The value that this one is in this unit.
    #[must_use]
    pub fn restore(&self, value: T) -> T {
        self.centre + self.scale * value
    }

    /// Values as they are.
    pub(super) fn identity() -> Self {
        Self { centre: T::zero(), scale: T::one() }
    }

    /// Median, and quartiles or standard deviation of an input.
    pub(super) fn of_input(values: impl Iterator<Item = T>) -> Self {
        let mut values: Vec<T> = values.collect();
        let n = values.len();
        let centre = nth_smallest(&mut values, n / 2);
        let quartile = |values: &mut [T], q: usize| nth_smallest(values, q * (n - 1) / 4);
        let (low, high) = (quartile(&mut values, 1), quartile(&mut values, 3));
        let half = constant::<T>(0.5);
        let quartiles = (high * half - low * half) / constant(DEVIATIONS_BETWEEN_QUARTILES * 0.5);
        // In units of the largest deviation, whose square may be too large.
        let largest = values.iter().fold(T::zero(), |m: T, &x| m.max((x - centre).abs()));
        if !(largest > T::zero() && largest.is_finite()) {
            let scale = if quartiles > T::zero() { quartiles } else { T::one() };
            return Self { centre, scale };
        }
        let squares = values.iter().fold(T::zero(), |s, &x| {
            let d = (x - centre) / largest;
            s + d * d
        });
        let deviation = (squares / count(n)).sqrt() * largest;
        // A gross value among the inputs makes the deviation large, not the quartiles.
        let apart = quartiles > constant::<T>(NARROW_QUARTILES) * deviation;
        let gross = deviation * count::<T>(n).sqrt() < constant::<T>(1.5) * largest;
        let scale = if apart || (gross && quartiles > T::zero()) { quartiles } else { deviation };
        Self { centre, scale }
    }
}

/// The target in robust units.
#[derive(Debug, Clone)]
pub(super) struct Target<T> {
    pub(super) unit: Unit<T>,
    /// Values in this unit, those beyond any use cut off.
    pub(super) values: Vec<T>,
    /// The step in which the target is given, in this unit; zero if there is none to be seen.
    pub(super) step: T,
    /// Nearly all values are the same.
    pub(super) is_constant: bool,
}

impl<T: Real> Target<T> {
    pub(super) fn new(y: &[T]) -> Self {
        let n = y.len();
        let mut sorted = y.to_vec();
        let centre = nth_smallest(&mut sorted, n / 2);
        // Rounding of the values themselves is no deviation.
        let rounding = constant::<T>(4.0) * T::epsilon() * centre.abs();
        let half = constant::<T>(0.5);
        let mut apart: Vec<T> = y
            .iter()
            .map(|&y| (y * half - centre * half).abs().min(T::max_value() / constant(4.0)))
            .collect();
        for d in &mut apart {
            *d = *d * constant(2.0);
        }
        let mut scale = constant::<T>(DEVIATION_PER_MEDIAN) * nth_smallest(&mut apart, n / 2);
        let mut step = resolution(y);
        if scale <= rounding {
            apart.retain(|&d| d > rounding);
            step = step.max(next_level(&apart, centre, n));
            let varying = count::<T>(apart.len()) >= constant::<T>(VARYING) * count(n);
            let middle = apart.len() / 2;
            scale = if varying && middle < apart.len() {
                nth_smallest(&mut apart, middle)
            } else {
                T::zero()
            };
        }
        let is_constant = !(scale > T::zero());
        if is_constant {
            scale = if step > T::zero() {
                step
            } else if centre == T::zero() {
                T::one()
            } else {
                centre.abs()
            };
        }
        let unit = Unit { centre, scale };
        let limit = T::epsilon().sqrt().recip();
        let values = y.iter().map(|&y| unit.apply(y).max(-limit).min(limit)).collect();
        Self { unit, values, step: step / scale, is_constant }
    }

    /// The values in their own unit.
    pub(super) fn as_is(y: &[T]) -> Self {
        let own = Self::new(y);
        Self {
            unit: Unit::identity(),
            values: y.to_vec(),
            step: own.step * own.unit.scale,
            is_constant: own.is_constant,
        }
    }

    /// Of a constant: the values that differ from it.
    pub(super) fn others(&self) -> Vec<usize> {
        let mut sorted = self.values.clone();
        let centre = nth_smallest(&mut sorted, self.values.len() / 2);
        let rounding = constant::<T>(4.0) * T::epsilon() * centre.abs().max(T::one());
        let inside = constant::<T>(STEPS_OF_A_CONSTANT) * self.step;
        let differs = |&i: &usize| (self.values[i] - centre).abs() > rounding.max(inside);
        (0..self.values.len()).filter(differs).collect()
    }
}

/// The step between two levels of a target most of whose values are the same: the least
/// difference from them, where many have just that one and it is small beside the values
/// themselves. Zero if it is not seen.
fn next_level<T: Real>(apart: &[T], centre: T, n: usize) -> T {
    let least = apart.iter().fold(T::infinity(), |least: T, &d| least.min(d));
    let same = least + constant::<T>(8.0) * T::epsilon() * centre.abs();
    let many = apart.iter().filter(|&&d| d <= same).count();
    let is_step = count::<T>(many) >= constant::<T>(VARYING) * count(n)
        && least <= constant::<T>(LARGEST_STEP) * centre.abs();
    if is_step { least } else { T::zero() }
}

/// The step in which numbers are given: the largest power of ten or of two of which nearly all of
/// them are multiples; zero if that is no more than their rounding.
pub(super) fn resolution<T: Real>(values: &[T]) -> T {
    let mut magnitudes: Vec<T> = values.iter().map(|v| v.abs()).collect();
    let n = magnitudes.len();
    // A gross value is given in any step.
    let largest = nth_smallest(&mut magnitudes, n - 1 - n / 4);
    if !(largest > T::zero()) {
        return T::zero();
    }
    let zeros = values.iter().filter(|&&v| v == T::zero()).count();
    let most = constant::<T>(OFF_STEP) * count(n - zeros);
    let mut best = T::zero();
    for base in [constant::<T>(10.0), constant::<T>(2.0)] {
        let mut step = base.powi((largest.ln() / base.ln()).ceil().to_i32().unwrap_or(0));
        let finest = largest * T::epsilon().sqrt();
        while step > finest && step > best {
            let tolerance = constant::<T>(8.0) * T::epsilon();
            let off = values
                .iter()
                .filter(|&&v| {
                    let steps = (v / step).abs();
                    (steps - steps.round()).abs() > tolerance * steps.max(T::one())
                })
                .count();
            if count::<T>(off) <= most {
                best = best.max(step);
                break;
            }
            step = step / base;
        }
    }
    best
}

/// The points in units of each input; with `cut`, what is far beyond all others is cut off.
pub(super) fn standardize<T: Real>(points: Points<'_, T>, units: &[Unit<T>], cut: bool) -> Vec<T> {
    let limit = if cut { T::epsilon().powf(constant(-FARTHEST)) } else { T::infinity() };
    let mut x = vec![T::zero(); points.coordinates().len()];
    for (to, from) in x.chunks_exact_mut(points.dim()).zip(points.iter()) {
        for ((to, &from), unit) in to.iter_mut().zip(from).zip(units) {
            *to = unit.apply(from).max(-limit).min(limit);
        }
    }
    x
}
