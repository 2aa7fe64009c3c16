//! A rule with nothing to choose.
//!
//! The residuals of the points not taken out are mostly noise. Each is divided
//! by its own standard deviation (for noise of variance one), and the scale of
//! the noise is estimated from the median of their absolute values, which a
//! minority of outliers cannot move far. The search goes on
//!
//! * while the largest of the $m$ residuals is beyond the quantile
//!   $\Phi^{-1}(1 - \delta / 2m)$, below which the largest of $m$ Gaussians stays
//!   with probability $1 - \delta$;
//! * while the tail beyond 2.5 standard deviations has more residuals than
//!   Gaussian noise would put there, give or take their fluctuation: noise of
//!   heavy tails has no gap between good and bad, and is cut where it begins to
//!   look Gaussian.

use super::Progress;
use crate::Real;
use crate::real::{constant, count};

/// Chance that the largest of the good residuals is beyond the quantile.
const FALSE_ALARM: f64 = 0.1;
/// Where the tail begins, in standard deviations.
const TAIL: f64 = 2.5;
/// Share of a Gaussian that is in its tail, on both sides.
const TAIL_SHARE: f64 = 0.012_419;
/// Residuals that the tail may have too many, in units of the square root of
/// their expected number.
const TAIL_EXCESS: f64 = 1.3;
/// The standard deviation of a Gaussian, by the median of its absolute value.
pub(crate) const DEVIATION_PER_MEDIAN: f64 = 1.482_602_218_505_602;

pub(super) fn is_met<T: Real>(progress: &mut Progress<'_, T>) -> bool {
    let n = progress.residual.len();
    // With half of the points gone the median means nothing any more.
    let out = progress.outliers.len();
    let left = n - out;
    if 2 * left <= n {
        return true;
    }
    let studentized = &mut *progress.scratch;
    for ((z, r), &v) in studentized.iter_mut().zip(progress.residual).zip(progress.variances) {
        *z = r.abs() / v.sqrt();
    }
    // Outliers have a residual of exactly zero; they sort to the front.
    let scale = constant::<T>(DEVIATION_PER_MEDIAN) * median(studentized, out);
    let largest = studentized.iter().fold(T::zero(), |max, &z| max.max(z));
    let extreme = extreme_deviation(left);
    let tail = studentized.iter().filter(|&&z| z > scale * constant(TAIL)).count();
    let expected = constant::<T>(TAIL_SHARE) * count(left);
    largest <= scale * extreme
        && count::<T>(tail) <= expected + constant::<T>(TAIL_EXCESS) * expected.sqrt()
}

/// Standard deviations that the largest of `m` Gaussians is unlikely to pass.
pub(crate) fn extreme_deviation<T: Real>(m: usize) -> T {
    upper_quantile(constant::<T>(FALSE_ALARM / 2.0) / count(m))
}

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
fn upper_quantile<T: Real>(p: T) -> T {
    let c = constant::<T>;
    let t = (c(-2.0) * p.ln()).sqrt();
    let above = c(2.515_517) + t * (c(0.802_853) + t * c(0.010_328));
    let below = T::one() + t * (c(1.432_788) + t * (c(0.189_269) + t * c(0.001_308)));
    t - above / below
}
