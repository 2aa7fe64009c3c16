//! The fitted model: posterior means, and variances of predictions.

use crate::linalg::cholesky::{forward, inverse_column};
use crate::{Error, Fit, Kernel, Real};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Deref;

/// A fitted robust relevance vector machine: a [`Fit`] by the posterior means,
/// and what is known beyond them.
///
/// Of the fit, [`coefficients`](Fit::coefficients) are zero where a column is
/// not in the model, [`bias`](Fit::bias) is [`center`](Self::center) plus the
/// posterior mean of its weight, and [`outliers`](Fit::outliers) are the points
/// whose identity column is in the model, by index.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RbRvmFit<T, K> {
    pub(super) fit: Fit<T, K>,
    pub(super) center: T,
    pub(super) noise_variance: T,
    pub(super) prior_variances: Vec<T>,
    /// Kernel columns in the model; `n` is the bias.
    pub(super) active: Vec<usize>,
    /// The factor of $B$.
    pub(super) factor: Vec<T>,
    pub(super) history: Vec<T>,
}

impl<T, K> Deref for RbRvmFit<T, K> {
    type Target = Fit<T, K>;

    fn deref(&self) -> &Fit<T, K> {
        &self.fit
    }
}

impl<T: Real, K> RbRvmFit<T, K> {
    /// The median of `y`, which was taken off before all else.
    #[must_use]
    pub fn center(&self) -> T {
        self.center
    }

    /// The points whose kernel column is in the model: the relevance vectors.
    #[must_use]
    pub fn relevant(&self) -> &[usize] {
        let n = self.coefficients().len();
        match self.active.split_last() {
            Some((&last, kernels)) if last == n => kernels,
            _ => &self.active,
        }
    }

    /// The variance $s^2$ of the noise.
    #[must_use]
    pub fn noise_variance(&self) -> T {
        self.noise_variance
    }

    /// The prior variances $\gamma_m = 1 / \alpha_m$ of all $2n + 1$ weights,
    /// in the order of the dictionary $[K \\; 1 \\; I]$; zero where a column is
    /// not in the model.
    #[must_use]
    pub fn prior_variances(&self) -> &[T] {
        &self.prior_variances
    }

    /// The logarithm of the marginal likelihood of the data.
    #[must_use]
    pub fn log_likelihood(&self) -> T {
        self.history.last().copied().unwrap_or_else(T::nan)
    }

    /// The log-likelihood over the iterations of the final ascent: up to
    /// rounding it never decreases.
    #[must_use]
    pub fn log_likelihood_history(&self) -> &[T] {
        &self.history
    }

    /// The posterior covariance of the weights of the function, the outliers
    /// integrated out: of the [`relevant`](Self::relevant) kernel columns, and
    /// last of the bias if it is in the model; row-major.
    #[must_use]
    pub fn covariance(&self) -> Vec<T> {
        let m = self.active.len();
        let deviations: Vec<T> = self.active.iter().map(|&j| self.deviation(j)).collect();
        let mut covariance = vec![T::zero(); m * m];
        for (j, column) in covariance.chunks_exact_mut(m.max(1)).enumerate() {
            inverse_column(&self.factor, j, column);
            for (c, &deviation) in column.iter_mut().zip(&deviations) {
                *c = *c * deviation * deviations[j];
            }
        }
        covariance
    }

    /// $\sqrt{\gamma_j}$.
    fn deviation(&self, column: usize) -> T {
        self.prior_variances[column].sqrt()
    }
}

impl<T: Real, K: Kernel<T>> RbRvmFit<T, K> {
    /// The predictive mean and variance at one point: of a measurement there
    /// that is no outlier. Without
    /// [`noise_variance`](Self::noise_variance) it is the variance of the
    /// function.
    ///
    /// # Errors
    /// As [`predict`](Fit::predict).
    pub fn predict_with_variance(&self, x: &[T]) -> Result<(T, T), Error> {
        let mean = self.predict(x)?;
        let (points, n) = (self.points(), self.coefficients().len());
        let (dim, points) = (points.dim(), points.coordinates());
        let column = |&j: &usize| {
            let value = if j == n {
                T::one()
            } else {
                self.kernel().evaluate(x, &points[j * dim..][..dim])
            };
            value * self.deviation(j)
        };
        let mut columns: Vec<T> = self.active.iter().map(column).collect();
        forward(&self.factor, &mut columns, 0);
        let variance = columns.iter().fold(self.noise_variance, |sum, &z| sum + z * z);
        if variance.is_finite() {
            Ok((mean, variance))
        } else {
            Err(Error::Overflow { what: "the variance of the prediction" })
        }
    }
}
