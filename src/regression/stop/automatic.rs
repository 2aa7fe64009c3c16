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
//!
//! # The least noise there is
//! Data without noise leave residuals that are no noise either, and whose
//! median says nothing. So the scale is at least
//!
//! * $\epsilon \sqrt n \max |y|$: rounding in the products that make the
//!   residual;
//! * $\sqrt{r^T f / n}$: what the penalty takes off the function. $r^T f$ is
//!   the penalty of the fit, $\alpha^T P \alpha$, and by Cauchy and Schwarz the
//!   square of the bias of each studentised residual is at most that of the
//!   function itself. Spread over all points it is what they have on average.
//!   Noise of variance one adds at most 1/4 to $r^T f / n$, by the trace of
//!   $H - H^2$, so that it does not matter where there is noise;
//! * half of the data's resolution, the standard deviation of a value that
//!   alternates between two neighbours: the largest number of which all data
//!   that are left are multiples, if there is one. One step of the last digit
//!   is no outlier.

use super::Progress;
use crate::Real;
use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::max_magnitude;
use crate::real::{constant, count};
use crate::regression::gross::unit;
use crate::stats::{DEVIATION_PER_MEDIAN, median, upper_quantile};

/// Chance that the largest of the good residuals is beyond the quantile.
const FALSE_ALARM: f64 = 0.1;
/// Where the tail begins, in standard deviations.
pub(crate) const TAIL: f64 = 2.5;
/// Share of a Gaussian that is in its tail, on both sides.
const TAIL_SHARE: f64 = 0.012_419;
/// Residuals that the tail may have too many, in units of the square root of
/// their expected number.
const TAIL_EXCESS: f64 = 1.3;

pub(super) fn is_met<T: Real>(progress: &mut Progress<'_, T>) -> bool {
    if let Some(summary) = &mut progress.summary {
        return summary.is_clean();
    }
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
    let scale = at_least_rounding_and_penalty(scale, progress.data, progress.residual);
    if is_noise(studentized, left, scale) {
        return true;
    }
    let step = resolution(progress.data, progress.residual) / constant(2.0);
    step > scale && is_noise(studentized, left, step)
}

/// Whether nothing stands out from noise of this deviation.
fn is_noise<T: Real>(studentized: &[T], left: usize, scale: T) -> bool {
    let largest = studentized.iter().fold(T::zero(), |max, &z| max.max(z));
    let tail = studentized.iter().filter(|&&z| z > scale * constant(TAIL)).count();
    largest <= scale * extreme_deviation(left) && count::<T>(tail) <= usual_tail(left)
}

/// Residuals beyond [`TAIL`] standard deviations that `left` Gaussians may have.
pub(crate) fn usual_tail<T: Real>(left: usize) -> T {
    let expected = constant::<T>(TAIL_SHARE) * count(left);
    expected + constant::<T>(TAIL_EXCESS) * expected.sqrt()
}

/// What rounding and the penalty leave of data without noise, if it is more
/// than `scale`; else that.
fn at_least_rounding_and_penalty<T: Real>(scale: T, data: &[T], residual: &[T]) -> T {
    let n = count::<T>(data.len());
    let rounding = T::epsilon() * n.sqrt();
    let largest = max_magnitude(data);
    let scale = if scale < rounding * largest {
        scale.max(rounding * size_left(data, residual))
    } else {
        scale
    };
    // r^T f = r^T (y - r), in units in which the squares are numbers.
    let size = if unit(largest) == T::one() { T::one() } else { size_left(data, residual) };
    let unit = size.recip();
    if !unit.is_finite() {
        return scale;
    }
    let penalty = dispatch(Penalty { data, residual, unit }).max(T::zero());
    scale.max(size * (penalty / n).sqrt())
}

struct Penalty<'a, T> {
    data: &'a [T],
    residual: &'a [T],
    unit: T,
}

impl<T: Real> Routine for Penalty<'_, T> {
    type Output = T;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> T {
        const SUMS: usize = 8;
        let Self { data, residual, unit } = self;
        // In this order: zero, whatever y, where a point is out.
        let term = |y: T, r: T| (r * unit) * (y - r) * unit;
        let ((data, y), (residual, r)) = (data.as_chunks::<SUMS>(), residual.as_chunks::<SUMS>());
        let mut sums = [T::zero(); SUMS];
        for (y, r) in data.iter().zip(residual) {
            for l in 0..SUMS {
                sums[l] = sums[l] + term(y[l], r[l]);
            }
        }
        let rest = y.iter().zip(r).map(|(&y, &r)| term(y, r));
        rest.chain(sums).fold(T::zero(), |sum, term| sum + term)
    }
}

/// The same from the largest of `n` data and the penalty of the fit, $r^T f$.
pub(crate) fn least_noise_of<T: Real>(size: T, penalty: T, n: usize) -> T {
    let n = count::<T>(n);
    (size * T::epsilon() * n.sqrt()).max((penalty.max(T::zero()) / n).sqrt())
}

/// The largest of the data but the outliers, whose residual is exactly zero.
fn size_left<T: Real>(data: &[T], residual: &[T]) -> T {
    let left = data.iter().zip(residual).filter(|(_, r)| !r.is_zero());
    left.fold(T::zero(), |size, (y, _)| size.max(y.abs()))
}

/// Multiples of the resolution that the largest of the data must be: fewer may
/// be a coincidence.
const LEAST_MULTIPLE: f64 = 4.0;
/// How far from a multiple a value may be, in units of its rounding: some for
/// each step of Euclid's algorithm.
const OFF_MULTIPLE: f64 = 64.0;
/// The least resolution that is told from none, in units of that: of values
/// that are multiples of nothing one in eight is near a multiple of it.
const LEAST_RESOLUTION: f64 = 16.0;

/// The largest number of which all data but the outliers are multiples, by
/// Euclid's algorithm; zero if there is none, or if no two data in a row are
/// equal: then they vary by more than that.
pub(crate) fn resolution<T: Real>(data: &[T], residual: &[T]) -> T {
    if !has_repeats(data) {
        return T::zero();
    }
    let inside = data.iter().zip(residual).filter(|(_, r)| !r.is_zero()).map(|(&y, _)| y);
    common_step(inside, size_left(data, residual), T::zero())
}

/// Whether any two data in a row are equal.
pub(crate) fn has_repeats<T: Real>(data: &[T]) -> bool {
    data.windows(2).any(|pair| pair[0] == pair[1])
}

/// The largest number of which all these are multiples, `size` being the size of
/// the largest; zero if there is none, or it is less than `least`.
pub(crate) fn common_step<T: Real>(values: impl Iterator<Item = T>, size: T, least: T) -> T {
    let off = constant::<T>(OFF_MULTIPLE) * T::epsilon() * size;
    let mut step = size;
    for y in values {
        let (mut larger, mut smaller) = (y.abs(), step);
        loop {
            // To the nearest multiple.
            let rest = (larger - smaller * (larger / smaller).round()).abs();
            if !(rest > off) {
                break;
            }
            (larger, smaller) = (smaller, rest);
        }
        if !(smaller > off * constant(LEAST_RESOLUTION) && smaller >= least) {
            return T::zero();
        }
        step = smaller;
    }
    if step * constant(LEAST_MULTIPLE) <= size { step } else { T::zero() }
}

/// Standard deviations that the largest of `m` Gaussians is unlikely to pass.
pub(crate) fn extreme_deviation<T: Real>(m: usize) -> T {
    upper_quantile(constant::<T>(FALSE_ALARM / 2.0) / count(m))
}
