//! Medians, quantiles and constants of the normal distribution.

use crate::Real;
use crate::real::constant;

/// The standard deviation of a normal distribution, by the median of its absolute value.
pub(crate) const DEVIATION_PER_MEDIAN: f64 = 1.482_602_218_505_602;

/// The median of all but the `smallest` smallest values, zero if there are no
/// others; reorders them.
pub(crate) fn median<T: Real>(values: &mut [T], smallest: usize) -> T {
    if smallest >= values.len() {
        return T::zero();
    }
    nth_smallest(values, smallest + (values.len() - smallest) / 2)
}

/// The value that has `n` smaller ones; reorders them.
pub(crate) fn nth_smallest<T: Real>(values: &mut [T], n: usize) -> T {
    let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal);
    *values.select_nth_unstable_by(n, order).1
}

/// $\Phi^{-1}(1 - p)$ for a small `p`: formula 26.2.23 of Abramowitz and
/// Stegun, right to 4.5e-4.
pub(crate) fn upper_quantile<T: Real>(p: T) -> T {
    let c = constant::<T>;
    let t = (c(-2.0) * p.ln()).sqrt();
    let above = c(2.515_517) + t * (c(0.802_853) + t * c(0.010_328));
    let below = T::one() + t * (c(1.432_788) + t * (c(0.189_269) + t * c(0.001_308)));
    t - above / below
}
