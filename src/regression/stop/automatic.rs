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
use crate::linalg::tile::VECTORS;
use crate::linalg::vector::max_magnitude;
use crate::real::{constant, count};
use crate::regression::gross::unit;
use crate::stats::{DEVIATION_PER_MEDIAN, upper_quantile};

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
    // Squares, in units of the largest, which are ordinary numbers and take no roots.
    let unit = progress.extreme.recip();
    let unit = if unit.is_finite() { unit } else { T::one() };
    let mut largest = T::zero();
    for ((square, &r), &v) in
        progress.scratch.iter_mut().zip(progress.residual).zip(progress.variances)
    {
        let r = r * unit;
        *square = r * r / v;
        largest = if *square > largest { *square } else { largest };
    }
    let squares = Squares {
        all: progress.scratch,
        largest,
        most: extreme_deviation::<T>(left),
        in_tail: usual_tail::<T>(left).to_usize().unwrap_or(0),
    };
    // What is noise of some deviation is noise of any larger one. Outliers have a residual
    // of exactly zero, below all others.
    squares.are_noise_by_median(out + left / 2)
        || squares.are_noise(least_noise(progress.data, progress.residual) * unit)
        || squares.are_noise(resolution(progress.data, progress.residual) / constant(2.0) * unit)
}

/// Squares of the studentised residuals. Nothing is sorted and nothing selected: all
/// questions are answered by counting.
struct Squares<'a, T> {
    all: &'a [T],
    largest: T,
    /// Standard deviations that the largest may have.
    most: T,
    /// Residuals that may be beyond [`TAIL`].
    in_tail: usize,
}

impl<T: Real> Squares<'_, T> {
    fn above(&self, square: T) -> usize {
        self.all.iter().filter(|&&z| z > square).count()
    }

    /// Whether the value with `place` smaller ones is at least this.
    fn is_at_least(&self, place: usize, square: T) -> bool {
        self.all.iter().filter(|&&z| z < square).count() <= place
    }

    /// Whether nothing stands out from noise of this deviation.
    fn are_noise(&self, deviation: T) -> bool {
        let (most, tail) = (deviation * self.most, deviation * constant(TAIL));
        self.largest <= most * most && self.above(tail * tail) <= self.in_tail
    }

    /// The same for the deviation that the median says, of which `place` are smaller.
    ///
    /// The largest is within $q$ times $c$ times the median if the median is at least the
    /// largest over $c q$. The tail has no more than $m$ residuals if some $t$ has no more than
    /// $m$ above it, and the median is at least $t$ over $2.5 c$: it is looked for by
    /// bisection.
    fn are_noise_by_median(&self, place: usize) -> bool {
        let over = |deviations: T| {
            let factor = constant::<T>(DEVIATION_PER_MEDIAN) * deviations;
            (factor * factor).recip()
        };
        if !self.is_at_least(place, self.largest * over(self.most)) {
            return false;
        }
        let over = over(constant(TAIL));
        let (mut low, mut high) = (T::zero(), self.largest);
        while !self.is_at_least(place, high * over) {
            let middle = (low + high) / constant(2.0);
            let is_between = low < middle && middle < high;
            if self.above(middle) <= self.in_tail {
                high = middle;
            } else if is_between && self.is_at_least(place, middle * over) {
                low = middle;
            } else {
                return false;
            }
            if !is_between {
                return false;
            }
        }
        true
    }
}

/// Residuals beyond [`TAIL`] standard deviations that `left` Gaussians may have.
pub(crate) fn usual_tail<T: Real>(left: usize) -> T {
    let expected = constant::<T>(TAIL_SHARE) * count(left);
    expected + constant::<T>(TAIL_EXCESS) * expected.sqrt()
}

/// What rounding and the penalty leave of data without noise.
fn least_noise<T: Real>(data: &[T], residual: &[T]) -> T {
    let n = count::<T>(data.len());
    let size = size_left(data, residual);
    let rounding = T::epsilon() * n.sqrt() * size;
    // r^T f = r^T (y - r), in units in which the squares are numbers.
    let size = if unit(max_magnitude(data)) == T::one() { T::one() } else { size };
    let unit = size.recip();
    if !unit.is_finite() {
        return rounding;
    }
    let penalty = dispatch(Penalty { data, residual, unit });
    let by_penalty = if penalty > T::zero() { size * (penalty / n).sqrt() } else { T::zero() };
    if by_penalty > rounding { by_penalty } else { rounding }
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
        if !VECTORS {
            let terms = data.iter().zip(residual).map(|(&y, &r)| term(y, r));
            return terms.fold(T::zero(), |sum, term| sum + term);
        }
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
    left.fold(T::zero(), |size, (y, _)| if y.abs() > size { y.abs() } else { size })
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

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::{DEVIATION_PER_MEDIAN, Squares, TAIL, extreme_deviation, usual_tail};
    use alloc::vec::Vec;

    /// The median by sorting, and the rule by its words.
    fn by_sorting(z: &[f64], out: usize) -> bool {
        let mut sorted = z.to_vec();
        sorted.sort_by(f64::total_cmp);
        let left = z.len() - out;
        let scale = DEVIATION_PER_MEDIAN * sorted[out + left / 2];
        let tail = z.iter().filter(|&&z| z > scale * TAIL).count();
        sorted[z.len() - 1] <= scale * extreme_deviation::<f64>(left)
            && tail as f64 <= usual_tail::<f64>(left)
    }

    #[test]
    fn counting_answers_what_sorting_does() {
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / f64::from(1 << 24)
        };
        let mut met = 0;
        for case in 0..20_000 {
            let n = 3 + case % 150;
            let out = case % 7 * n / 20;
            let (tails, coarse) = (case % 3 == 0, case % 5 == 0);
            let z: Vec<f64> = (0..n)
                .map(|i| {
                    let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                    let wide = if tails && uniform() < 0.05 { 2.0 * normal } else { normal };
                    let z = if coarse { (3.0 * wide).round() } else { wide };
                    if i < out { 0.0 } else { z.abs() }
                })
                .collect();
            let squares: Vec<f64> = z.iter().map(|z| z * z).collect();
            let left = n - out;
            let rule = Squares {
                all: &squares,
                largest: squares.iter().copied().fold(0.0, f64::max),
                most: extreme_deviation(left),
                in_tail: usual_tail::<f64>(left) as usize,
            };
            let expected = by_sorting(&z, out);
            assert_eq!(rule.are_noise_by_median(out + left / 2), expected, "{z:?}");
            met += usize::from(expected);
        }
        assert!((2000..18_000).contains(&met), "{met}");
    }
}
