//! A second look at the outliers of a fit.
//!
//! Outliers side by side, at the border or around a gap, can pull the function
//! along: their residuals are small, and those of good points beside them
//! large. What gives them away is their leverage: the function there says what
//! they say. So all points of high leverage are taken out as well, and whatever
//! agrees with what the rest predicts for it is put back, from the inside out.
//!
//! With the points $S$ taken out, $u = H_{SS}^{-1} (H y)_S$ is what they are
//! off by from the prediction of all others, and $B = H_{SS}^{-1}$ the variance
//! of that, for noise of variance one. Putting point $j$ back is a sweep,
//! $B \leftarrow B - b_j b_j^T / B_{jj}$ and $u \leftarrow u - b_j u_j / B_{jj}$.

use crate::linalg::cholesky::Extending;
use crate::real::{constant, count};
use crate::regression::greedy::{self, ResidualMaker};
use crate::regression::stop::extreme_deviation;
use crate::regression::workspace::{Growing, Parts, Storage};
use crate::stats::{DEVIATION_PER_MEDIAN, ascending, median};
use crate::{Error, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Leverage is high from so many times its mean on.
const HIGH_LEVERAGE: f64 = 1.5;
/// How much a point's leverage counts in its leave-one-out error.
const LEVERAGE: f64 = 1.35;

/// Looks again at the outliers `support` that a search has found: gives those
/// with which the data have the shortest description, which are the same ones
/// if there was nothing to see.
///
/// `maker` is a plan ([`Plan::as_ref`](crate::Plan::as_ref)) or a
/// [`System`](crate::System); its $\lambda$ should be one that suits the
/// function, not a larger one for the search.
///
/// ```
/// use kgard::{Gaussian, Plan, Regularizer, tune};
/// let x: Vec<f64> = (0..100).map(|i| i as f64 / 100.0).collect();
/// let mut y: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
/// for (i, y) in y.iter_mut().enumerate() {
///     *y += 0.05 * ((i * i % 17) as f64 / 8.0 - 1.0);
/// }
/// for wrong in [0, 1, 2] {
///     y[wrong] += 3.0;
/// }
/// let plan = Plan::new(&x, Gaussian::new(0.2), Regularizer::l2(0.1))?;
/// let found = tune::second_look(&plan.as_ref(), &y, &[3, 4])?;
/// assert_eq!(found, [0, 1, 2]);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// # Errors
/// If `y` has the wrong length or is not finite, or the support is no such
/// thing.
pub fn second_look<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    support: &[usize],
) -> Result<Vec<usize>, Error> {
    let costs = Costs::new(y);
    let length = |support: &[usize]| {
        let errors = left_out_errors(&solve(maker, y, support)?, support);
        Ok::<T, Error>(costs.length(y.len(), support.len(), costs.root_mean_square(&errors)))
    };
    let mut best = support.to_vec();
    let mut shortest = length(support)?;
    // Each round must shorten the description, so that there is an end.
    while let Some(mut other) = reconsider(maker, y, &best)? {
        // To put points back only is not to find any that were hidden.
        let reveals = other.iter().any(|index| !best.contains(index));
        let other_length = length(&other)?;
        if !(reveals && other_length < shortest) {
            break;
        }
        other.sort_unstable();
        (best, shortest) = (other, other_length);
    }
    Ok(best)
}

/// One look; none if there is nothing to be seen.
pub(super) fn reconsider<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    support: &[usize],
) -> Result<Option<Vec<usize>>, Error> {
    let n = y.len();
    let mut out = support.to_vec();
    out.extend(of_high_leverage(&solve(maker, y, support)?, support));
    let k = out.len();
    // So much taken out may leave too little to determine the function.
    let Ok(mut solved) = solve(maker, y, &out) else { return Ok(None) };
    let limit = noise_of(&mut solved, k) * extreme_deviation(n);
    let Parts { values: u, factor, .. } = solved.parts();
    let mut b = vec![T::zero(); k * k];
    for (j, column) in b.chunks_exact_mut(k.max(1)).enumerate() {
        column[j] = T::one();
        Extending::resume(factor, k).solve(column)?;
    }
    let mut is_out = vec![true; k];
    loop {
        // The surest of those that agree.
        let mut surest = None;
        for j in 0..k {
            let variance = b[j * k + j];
            let agrees = u[j] * u[j] <= limit * limit * variance;
            if is_out[j] && agrees && surest.is_none_or(|(least, _)| variance < least) {
                surest = Some((variance, j));
            }
        }
        let Some((variance, j)) = surest else { break };
        let column = b[j * k..][..k].to_vec();
        let off = u[j];
        for (i, &b_i) in column.iter().enumerate() {
            u[i] = u[i] - b_i * off / variance;
            for (x, &b_j) in b[i * k..][..k].iter_mut().zip(&column) {
                *x = *x - b_i * b_j / variance;
            }
        }
        is_out[j] = false;
    }
    let left = out.into_iter().zip(is_out).filter(|&(_, is_out)| is_out);
    Ok(Some(left.map(|(index, _)| index).collect()))
}

/// The points of high leverage, the highest first, as long as half of all
/// points are left.
fn of_high_leverage<T: Real>(
    solved: &Growing<T>,
    support: &[usize],
) -> impl Iterator<Item = usize> {
    let n = solved.variances.len();
    let mut inside: Vec<(T, usize)> = (0..n)
        .filter(|i| !support.contains(i))
        .map(|i| (T::one() - solved.variances[i], i))
        .collect();
    let sum = inside.iter().fold(T::zero(), |sum, &(leverage, _)| sum + leverage);
    let high = sum * constant(HIGH_LEVERAGE) / count(inside.len().max(1));
    inside.retain(|&(leverage, _)| leverage > high);
    inside.sort_by(|a, b| ascending(&b.0, &a.0));
    inside.truncate((n / 2).saturating_sub(support.len()));
    inside.into_iter().map(|(_, i)| i)
}

/// Residuals and their variances with `support` taken out.
pub(super) fn solve<T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &[T],
    support: &[usize],
) -> Result<Growing<T>, Error> {
    let mut storage = Growing::new(y.len(), support.len());
    greedy::with_support(maker, y, support, true, &mut storage)?;
    Ok(storage)
}

/// The errors of the points not in the support, each left out.
pub(super) fn left_out_errors<T: Real>(solved: &Growing<T>, support: &[usize]) -> Vec<T> {
    let tight = constant::<T>(1e-3);
    let error = |(&r, &v): (&T, &T)| {
        let leverage = constant::<T>(LEVERAGE) * (T::one() - v);
        r / (T::one() - leverage).max(tight * v).max(T::min_positive_value())
    };
    let mut errors: Vec<T> = solved.residual.iter().zip(&solved.variances).map(error).collect();
    let mut taken_out = support.to_vec();
    taken_out.sort_unstable();
    for &index in taken_out.iter().rev() {
        errors.swap_remove(index);
    }
    errors
}

/// Noise as the studentised residuals show it, `k` of which are taken out.
pub(super) fn noise_of<T: Real>(solved: &mut Growing<T>, k: usize) -> T {
    let mut z = vec![T::zero(); solved.residual.len()];
    studentize(&solved.residual, &solved.variances, &mut z);
    constant::<T>(DEVIATION_PER_MEDIAN) * median(&mut z, k)
}

/// Residuals in units of their own deviation, for noise of variance one.
pub(super) fn studentize<T: Real>(residual: &[T], variances: &[T], out: &mut [T]) {
    for ((z, r), v) in out.iter_mut().zip(residual).zip(variances) {
        *z = r.abs() / v.sqrt();
    }
}

/// What it takes to describe data.
pub(super) struct Costs<T> {
    /// Errors below this are rounding.
    floor: T,
    /// An outlier: a uniform density over the range of the data, beside the
    /// Gaussian's ln s + ln(2 pi e) / 2.
    outlier: T,
}

impl<T: Real> Costs<T> {
    pub(super) fn new(y: &[T]) -> Self {
        let (low, high) =
            y.iter().fold((T::infinity(), T::neg_infinity()), |(l, h), &y| (l.min(y), h.max(y)));
        let size = y.iter().fold(T::min_positive_value(), |max, y| max.max(y.abs()));
        // Constant data have no range but their size.
        let range = if high - low > size * constant(1e-9) { high - low } else { size };
        let outlier = range.ln() - constant(1.418_938_533_204_672_7);
        Self { floor: size * T::epsilon(), outlier }
    }

    /// The description of `n` points with `k` outliers, `score` being the root
    /// mean square error of the others.
    pub(super) fn length(&self, n: usize, k: usize, score: T) -> T {
        count::<T>(n - k) * score.ln() + count::<T>(k) * self.outlier
    }

    pub(super) fn root_mean_square(&self, errors: &[T]) -> T {
        let sum = errors.iter().fold(T::zero(), |sum, &e| sum + e * e);
        (sum / count(errors.len().max(1))).sqrt().max(self.floor)
    }
}
