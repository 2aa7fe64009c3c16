//! Medians, quantiles and constants of the normal distribution.

use crate::Real;
use crate::real::constant;
use core::cmp::Ordering;

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
    *values.select_nth_unstable_by(n, ascending).1
}

/// A total order, as sorting needs it: what is not a number comes last.
pub(crate) fn ascending<T: Real>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
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
