//! A rule with nothing to choose.
//!
//! The residuals of the points not taken out are mostly noise. Their scale is
//! estimated from the median of their absolute values, which a minority of
//! outliers cannot move far; and the largest of $m$ Gaussian residuals stays
//! below the quantile $\Phi^{-1}(1 - \delta / 2m)$ with probability
//! $1 - \delta$. What is larger is an outlier.

use super::Progress;
use crate::Real;
use crate::real::{constant, count};

/// Chance of taking a good point for an outlier, over the whole fit.
const FALSE_ALARM: f64 = 0.01;
/// The standard deviation of a Gaussian, by the median of its absolute value.
const DEVIATION_PER_MEDIAN: f64 = 1.482_602_218_505_602;

pub(super) fn is_met<T: Real>(progress: &mut Progress<'_, T>) -> bool {
    let n = progress.residual.len();
    // With half of the points gone the median means nothing any more.
    let left = n - progress.outliers.len();
    if 2 * left <= n {
        return true;
    }
    let scale = constant::<T>(DEVIATION_PER_MEDIAN) * median_magnitude(progress);
    let tail = constant::<T>(FALSE_ALARM / 2.0) / count(left);
    progress.max() <= scale * upper_quantile(tail)
}

/// Median of $|r_i|$ over the points that are not outliers.
fn median_magnitude<T: Real>(progress: &mut Progress<'_, T>) -> T {
    let magnitudes = &mut *progress.scratch;
    for (m, r) in magnitudes.iter_mut().zip(progress.residual) {
        *m = r.abs();
    }
    // Outliers have a residual of exactly zero; they sort to the front.
    let out = progress.outliers.len();
    let middle = out + (magnitudes.len() - out) / 2;
    let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal);
    *magnitudes.select_nth_unstable_by(middle, order).1
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
