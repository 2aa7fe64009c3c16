//! The fitted model: posterior means, and variances of predictions.

use super::RbRvmStop;
use crate::linalg::cholesky::{forward, inverse_column};
use crate::{Error, Kernel, Outlier, Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// A fitted robust relevance vector machine.
#[derive(Debug, Clone, PartialEq)]
pub struct RbRvmFit<T, K> {
    pub(super) coordinates: Vec<T>,
    pub(super) dim: usize,
    pub(super) kernel: K,
    pub(super) center: T,
    pub(super) coefficients: Vec<T>,
    pub(super) bias: T,
    pub(super) outliers: Vec<Outlier<T>>,
    pub(super) noise_variance: T,
    pub(super) prior_variances: Vec<T>,
    /// Kernel columns in the model; `n` is the bias.
    pub(super) active: Vec<usize>,
    /// The factor of $B$.
    pub(super) factor: Vec<T>,
    pub(super) history: Vec<T>,
    pub(super) iterations: usize,
    pub(super) stop_reason: RbRvmStop,
}

impl<T: Real, K> RbRvmFit<T, K> {
    /// The posterior mean of the kernel weights; zero where a column is not in
    /// the model.
    #[must_use]
    pub fn coefficients(&self) -> &[T] {
        &self.coefficients
    }

    /// The bias: [`center`](Self::center) plus the posterior mean of its
    /// weight.
    #[must_use]
    pub fn bias(&self) -> T {
        self.bias
    }

    /// The median of `y`, which was taken off before all else.
    #[must_use]
    pub fn center(&self) -> T {
        self.center
    }

    /// The points whose identity column is in the model, by index; the value
    /// is the posterior mean of its weight.
    #[must_use]
    pub fn outliers(&self) -> &[Outlier<T>] {
        &self.outliers
    }

    /// The points whose kernel column is in the model: the relevance vectors.
    #[must_use]
    pub fn relevant(&self) -> &[usize] {
        let n = self.coefficients.len();
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

    /// Changes of a column and of the noise, the search for the noise level
    /// included.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Why the iterations ended.
    #[must_use]
    pub fn stop_reason(&self) -> RbRvmStop {
        self.stop_reason
    }

    /// The points of the fit.
    #[must_use]
    pub fn points(&self) -> Points<'_, T> {
        Points::of_dim(&self.coordinates, self.dim)
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &K {
        &self.kernel
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
    /// The predictive mean at one point.
    ///
    /// # Errors
    /// [`Error::Dimension`] or [`Error::NotFinite`] if `x` is no such point.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        Ok(self.mean(&self.columns_at(x)?))
    }

    /// The predictive mean at many points.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_many<'x>(&self, x: impl Into<Points<'x, T>>) -> Result<Vec<T>, Error> {
        x.into().iter().map(|x| self.predict(x)).collect()
    }

    /// The predictive mean and variance at one point: of a measurement there
    /// that is no outlier. Without
    /// [`noise_variance`](Self::noise_variance) it is the variance of the
    /// function.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_with_variance(&self, x: &[T]) -> Result<(T, T), Error> {
        let mut columns = self.columns_at(x)?;
        let mean = self.mean(&columns);
        for (c, &j) in columns.iter_mut().zip(&self.active) {
            *c = *c * self.deviation(j);
        }
        forward(&self.factor, &mut columns, 0);
        let variance = columns.iter().fold(self.noise_variance, |sum, &z| sum + z * z);
        Ok((mean, variance))
    }

    /// The columns in the model, at `x`.
    fn columns_at(&self, x: &[T]) -> Result<Vec<T>, Error> {
        if x.len() != self.dim {
            return Err(Error::Dimension { expected: self.dim, found: x.len() });
        }
        Error::check_finite("coordinate", x)?;
        let n = self.coefficients.len();
        let column = |&j: &usize| {
            if j == n {
                T::one()
            } else {
                self.kernel.evaluate(x, &self.coordinates[j * self.dim..][..self.dim])
            }
        };
        Ok(self.active.iter().map(column).collect())
    }

    fn mean(&self, columns: &[T]) -> T {
        // The bias is there whether its column is in the model or not.
        let kernels = columns.iter().zip(self.relevant());
        kernels.fold(self.bias, |sum, (&k, &j)| sum + k * self.coefficients[j])
    }
}
