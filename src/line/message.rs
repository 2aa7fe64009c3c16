//! What the points on one side of a point say about the state there.
//!
//! From the left: the mean $m$ and the covariance $P$ of the state, predicted
//! from the points before (a Kalman filter). From the right: the information
//! $\eta$, $\Lambda$ of the points after, as a factor
//! $\exp(\eta^T z - z^T \Lambda z / 2)$. In this form nothing ill-conditioned
//! is inverted: all inverses are of $1 + \Lambda Q$ or $1 + \Lambda P$.
//!
//! Each message is carried for several right-hand sides at once: $y$, and the
//! columns of the unpenalised part (bias, trend).

use super::markov::Transition;
use super::small::{adjugate_times, determinant, solve};
use crate::Real;
use crate::linalg::simd::multiply_add;

/// $D \times D$.
pub(super) type Matrix<T, const D: usize> = [[T; D]; D];

/// Means of the state and their covariance, from the points on the left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Left<T, const D: usize, const B: usize> {
    pub(super) mean: [T; D],
    pub(super) basis: [[T; D]; B],
    pub(super) covariance: Matrix<T, D>,
}

/// Information about the state, from the points on the right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Right<T, const D: usize, const B: usize> {
    pub(super) eta: [T; D],
    pub(super) basis: [[T; D]; B],
    pub(super) precision: Matrix<T, D>,
}

/// A measurement of the first component.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<T, const B: usize> {
    pub(super) y: T,
    pub(super) basis: [T; B],
    /// The variance of its noise, $\lambda s_i^2$.
    pub(super) noise: T,
}

/// What a point is predicted as from all others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate<T, const B: usize> {
    pub(super) mean: T,
    pub(super) basis: [T; B],
    /// In units of the function's variance, without the noise.
    pub(super) variance: T,
}

/// A prediction error and its variance: what the likelihood is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Innovation<T, const B: usize> {
    pub(super) error: T,
    pub(super) basis: [T; B],
    pub(super) variance: T,
}

impl<T: Real, const D: usize, const B: usize> Left<T, D, B> {
    /// Nothing known.
    pub(super) fn prior(stationary: Matrix<T, D>) -> Self {
        let zero = [T::zero(); D];
        Self { mean: zero, basis: [zero; B], covariance: stationary }
    }

    /// Takes the sample here into account and goes to the next point.
    #[inline(always)]
    pub(super) fn forward<const FUSED: bool>(
        &self,
        sample: &Sample<T, B>,
        step: &Transition<Matrix<T, D>>,
    ) -> Self {
        let p = &self.covariance;
        let inverse = (p[0][0] + sample.noise).recip();
        let gain: [T; D] = core::array::from_fn(|k| p[k][0] * inverse);
        let updated = |mean: &[T; D], y: T| -> [T; D] {
            let error = y - mean[0];
            core::array::from_fn(|k| multiply_add::<T, FUSED>(gain[k], error, mean[k]))
        };
        let mean = times::<T, D, FUSED>(&step.phi, &updated(&self.mean, sample.y));
        let basis = core::array::from_fn(|b| {
            times::<T, D, FUSED>(&step.phi, &updated(&self.basis[b], sample.basis[b]))
        });

        // P - P e e^T P / (P_00 + noise); no difference in the first row and column.
        let kept = sample.noise * inverse;
        let mut covariance = *p;
        for k in 1..D {
            for l in 1..=k {
                covariance[k][l] = multiply_add::<T, FUSED>(-gain[k], p[l][0], p[k][l]);
                covariance[l][k] = covariance[k][l];
            }
        }
        for k in 0..D {
            let first = p[k][0] * kept;
            covariance[k][0] = first;
            covariance[0][k] = first;
        }
        let covariance = congruent::<T, D, FUSED>(&step.phi, &covariance, &step.q);
        Self { mean, basis, covariance }
    }

    /// What the sample here is off by from its prediction.
    #[inline(always)]
    pub(super) fn innovation(&self, sample: &Sample<T, B>) -> Innovation<T, B> {
        Innovation {
            error: sample.y - self.mean[0],
            basis: core::array::from_fn(|b| sample.basis[b] - self.basis[b][0]),
            variance: self.covariance[0][0] + sample.noise,
        }
    }

    /// Whether two messages are the same to a tolerance: covariances relative
    /// to themselves, means in units of the tolerance and of the deviations of
    /// the components relative to the first's.
    #[inline(always)]
    pub(super) fn is_near(&self, other: &Self, tolerance: &Tolerance<T>) -> bool {
        let (p, first) = (&self.covariance, self.covariance[0][0]);
        let mut near = true;
        for k in 0..D {
            let variance = p[k][k];
            near &= (variance - other.covariance[k][k]).abs() <= tolerance.relative * variance;
            let change = self.mean[k] - other.mean[k];
            near &= change * change * first <= tolerance.y_squared * variance;
            for b in 0..B {
                let change = self.basis[b][k] - other.basis[b][k];
                near &= change * change * first <= tolerance.basis_squared * variance;
            }
        }
        near
    }
}

impl<T: Real, const D: usize, const B: usize> Right<T, D, B> {
    /// No points there.
    pub(super) fn nothing() -> Self {
        let zero = [T::zero(); D];
        Self { eta: zero, basis: [zero; B], precision: [zero; D] }
    }

    /// Takes the sample here into account and goes to the previous point:
    /// $\Lambda \leftarrow \Phi^T (1 + \Lambda Q)^{-1} \Lambda \Phi$,
    /// $\eta \leftarrow \Phi^T (1 + \Lambda Q)^{-1} \eta$.
    #[inline(always)]
    pub(super) fn backward<const FUSED: bool>(
        &self,
        sample: &Sample<T, B>,
        step: &Transition<Matrix<T, D>>,
    ) -> Self {
        let weight = sample.noise.recip();
        let mut after = *self;
        after.precision[0][0] = after.precision[0][0] + weight;
        after.eta[0] = multiply_add::<T, FUSED>(weight, sample.y, after.eta[0]);
        for b in 0..B {
            after.basis[b][0] =
                multiply_add::<T, FUSED>(weight, sample.basis[b], after.basis[b][0]);
        }
        let through = after.through::<FUSED>(&step.q);
        let transposed = core::array::from_fn(|k| core::array::from_fn(|l| step.phi[l][k]));
        let zero = [[T::zero(); D]; D];
        Self {
            eta: times::<T, D, FUSED>(&transposed, &through.eta),
            basis: through.basis.map(|eta| times::<T, D, FUSED>(&transposed, &eta)),
            precision: congruent::<T, D, FUSED>(&transposed, &through.precision, &zero),
        }
    }

    /// $(1 + \Lambda Q)^{-1}$ times $\Lambda$ and $\eta$.
    #[inline(always)]
    fn through<const FUSED: bool>(&self, q: &Matrix<T, D>) -> Self {
        let precision = &self.precision;
        if D == 1 {
            let scale = multiply_add::<T, FUSED>(precision[0][0], q[0][0], T::one()).recip();
            let scaled = |v: [T; D]| v.map(|v| v * scale);
            return Self {
                eta: scaled(self.eta),
                basis: self.basis.map(scaled),
                precision: precision.map(scaled),
            };
        }
        if D == 2 {
            // (Lambda^-1 + Q)^-1 = (Lambda + |Lambda| adj Q) / |1 + Lambda Q|, and
            // (1 + Lambda Q)^-1 = (1 + adj Q adj Lambda) / |1 + Lambda Q|.
            let (of_precision, of_q) = (determinant(precision), determinant(q));
            let scale = determinant_of_sum::<T, D, FUSED>(precision, of_precision, q, of_q).recip();
            let information = |eta: [T; D]| {
                let moved = adjugate_times(q, &adjugate_times(precision, &eta));
                core::array::from_fn(|k| (eta[k] + moved[k]) * scale)
            };
            let mut through = *self;
            through.eta = information(self.eta);
            through.basis = self.basis.map(information);
            let x = &mut through.precision;
            x[0][0] = multiply_add::<T, FUSED>(of_precision, q[1][1], precision[0][0]) * scale;
            x[1][1] = multiply_add::<T, FUSED>(of_precision, q[0][0], precision[1][1]) * scale;
            x[0][1] = multiply_add::<T, FUSED>(-of_precision, q[0][1], precision[0][1]) * scale;
            x[1][0] = x[0][1];
            return through;
        }
        let mut columns = self.precision;
        let mut vectors = [[T::zero(); D]; B];
        vectors.copy_from_slice(&self.basis);
        let mut eta = [self.eta];
        solve(one_plus::<T, D, FUSED>(precision, q), &mut [&mut columns, &mut vectors, &mut eta]);
        // The columns of a symmetric matrix; rounding has not kept it so.
        let half = (T::one() + T::one()).recip();
        let precision = core::array::from_fn(|k| {
            core::array::from_fn(|l| (columns[k][l] + columns[l][k]) * half)
        });
        Self { eta: eta[0], basis: vectors, precision }
    }

    /// As [`Left::is_near`].
    #[inline(always)]
    pub(super) fn is_near(&self, other: &Self, tolerance: &Tolerance<T>) -> bool {
        let (precision, first) = (&self.precision, self.precision[0][0]);
        let mut near = true;
        for k in 0..D {
            let here = precision[k][k];
            near &= (here - other.precision[k][k]).abs() <= tolerance.relative * here;
            let change = self.eta[k] - other.eta[k];
            near &= change * change <= tolerance.y_squared * (here * first);
            for b in 0..B {
                let change = self.basis[b][k] - other.basis[b][k];
                near &= change * change <= tolerance.basis_squared * (here * first);
            }
        }
        near
    }
}

/// What the points on both sides say together. With
/// $(1 + \Lambda P) g = e_1$, the mean is $g^T (m + P \eta)$ and the variance
/// $(P g)_1$.
#[inline(always)]
pub(super) fn combine<T: Real, const D: usize, const B: usize, const FUSED: bool>(
    left: &Left<T, D, B>,
    right: &Right<T, D, B>,
) -> Estimate<T, B> {
    let (p, precision) = (&left.covariance, &right.precision);
    let g = weights::<T, D, FUSED>(p, precision);
    let mean = |m: &[T; D], eta: &[T; D]| {
        let mut sum = T::zero();
        for k in 0..D {
            let mut here = m[k];
            for l in 0..D {
                here = multiply_add::<T, FUSED>(p[k][l], eta[l], here);
            }
            sum = multiply_add::<T, FUSED>(g[k], here, sum);
        }
        sum
    };
    Estimate {
        mean: mean(&left.mean, &right.eta),
        basis: core::array::from_fn(|b| mean(&left.basis[b], &right.basis[b])),
        variance: (0..D).fold(T::zero(), |sum, k| multiply_add::<T, FUSED>(p[0][k], g[k], sum)),
    }
}

/// $g = (1 + \Lambda P)^{-1} e_1$.
#[inline(always)]
fn weights<T: Real, const D: usize, const FUSED: bool>(
    p: &Matrix<T, D>,
    precision: &Matrix<T, D>,
) -> [T; D] {
    let mut first = [T::zero(); D];
    first[0] = T::one();
    if D == 1 {
        return [multiply_add::<T, FUSED>(precision[0][0], p[0][0], T::one()).recip(); D];
    }
    if D == 2 {
        let determinants = (determinant(precision), determinant(p));
        let sum = determinant_of_sum::<T, D, FUSED>(precision, determinants.0, p, determinants.1);
        let moved = adjugate_times(p, &adjugate_times(precision, &first));
        let scale = sum.recip();
        return core::array::from_fn(|k| (first[k] + moved[k]) * scale);
    }
    let mut g = [first];
    solve(one_plus::<T, D, FUSED>(precision, p), &mut [&mut g]);
    g[0]
}

/// $|1 + A B|$ for symmetric positive semi-definite $2 \times 2$ matrices: the sum of
/// three terms that are not negative.
#[inline(always)]
fn determinant_of_sum<T: Real, const D: usize, const FUSED: bool>(
    a: &Matrix<T, D>,
    of_a: T,
    b: &Matrix<T, D>,
    of_b: T,
) -> T {
    let cross = a[0][1] * b[0][1];
    let trace = multiply_add::<T, FUSED>(a[1][1], b[1][1], a[0][0] * b[0][0]) + (cross + cross);
    multiply_add::<T, FUSED>(of_a, of_b, T::one() + trace)
}

/// $1 + A B$.
#[inline(always)]
fn one_plus<T: Real, const D: usize, const FUSED: bool>(
    a: &Matrix<T, D>,
    b: &Matrix<T, D>,
) -> Matrix<T, D> {
    core::array::from_fn(|k| {
        core::array::from_fn(|l| {
            let diagonal = if k == l { T::one() } else { T::zero() };
            (0..D).fold(diagonal, |sum, i| multiply_add::<T, FUSED>(a[k][i], b[i][l], sum))
        })
    })
}

/// $A v$.
#[inline(always)]
fn times<T: Real, const D: usize, const FUSED: bool>(a: &Matrix<T, D>, v: &[T; D]) -> [T; D] {
    core::array::from_fn(|k| {
        (1..D).fold(a[k][0] * v[0], |sum, l| multiply_add::<T, FUSED>(a[k][l], v[l], sum))
    })
}

/// $A P A^T + Q$ for symmetric $P$ and $Q$.
#[inline(always)]
fn congruent<T: Real, const D: usize, const FUSED: bool>(
    a: &Matrix<T, D>,
    p: &Matrix<T, D>,
    q: &Matrix<T, D>,
) -> Matrix<T, D> {
    let ap: Matrix<T, D> = core::array::from_fn(|k| times::<T, D, FUSED>(p, &a[k]));
    let mut out = *q;
    for k in 0..D {
        for l in 0..=k {
            let entry =
                (0..D).fold(q[k][l], |sum, i| multiply_add::<T, FUSED>(ap[k][i], a[l][i], sum));
            out[k][l] = entry;
            out[l][k] = entry;
        }
    }
    out
}

/// How far messages may be off before they are sent on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tolerance<T> {
    /// Of a covariance, relative to itself.
    pub(super) relative: T,
    /// Of a mean, squared, in units of $y$.
    pub(super) y_squared: T,
    /// The same for the columns of the unpenalised part, which are of size one.
    pub(super) basis_squared: T,
}
