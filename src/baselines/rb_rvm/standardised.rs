//! The data in units of their own, and the model back in theirs.

use super::RbRvmFit;
use super::evidence::Evidence;
use super::search::{DEVIATION_PER_MEDIAN, Found, median};
use crate::linalg::multiply;
use crate::real::{constant, count};
use crate::{Error, Fit, Outlier, Points, Real, regression};
use alloc::vec::Vec;

/// $(y - \text{center}) / \text{scale}$: data of unit spread around zero.
pub(super) struct Standardised<T> {
    pub(super) values: Vec<T>,
    center: T,
    scale: T,
}

impl<T: Real> Standardised<T> {
    pub(super) fn new(y: &[T]) -> Result<Self, Error> {
        let n = count::<T>(y.len());
        let mut values = y.to_vec();
        let center = median(&mut values);
        for (v, &y) in values.iter_mut().zip(y) {
            *v = (y - center).abs();
        }
        let mean = values.iter().fold(T::zero(), |sum, &v| sum + v / n);
        let spread = median(&mut values) * constant(DEVIATION_PER_MEDIAN);
        // Where half of the data are equal, and where all are.
        let scales = [spread, mean, center.abs(), T::one()];
        let scale = scales.into_iter().find(|s| *s > T::zero()).unwrap_or_else(T::one);
        for (v, &y) in values.iter_mut().zip(y) {
            *v = (y - center) / scale;
        }
        let squares = values.iter().fold(scale * scale, |sum, &v| sum + v * v);
        if squares.is_finite() {
            Ok(Self { values, center, scale })
        } else {
            Err(Error::Overflow { what: "the spread of y" })
        }
    }

    /// A variance of the data as one of the values.
    pub(super) fn shrink(&self, variance: T) -> T {
        (variance / self.scale / self.scale).max(T::min_positive_value())
    }

    /// The model in units of the data.
    pub(super) fn finish<K>(
        &self,
        evidence: &Evidence<'_, T>,
        found: Found<T>,
        points: Points<'_, T>,
        y: &[T],
        kernel: K,
    ) -> Result<RbRvmFit<T, K>, Error> {
        let Self { center, scale, .. } = *self;
        let n = evidence.len();
        let grow = |variance: T| variance * scale * scale;
        let shift = count::<T>(n) * scale.ln();
        let prior_variances: Vec<T> = evidence.variances().iter().map(|&v| grow(v)).collect();
        let is_outlier = |&i: &usize| evidence.variances()[n + 1 + i] > T::zero();
        let mut weights = alloc::vec![T::zero(); n + 1];
        for (&column, &w) in found.posterior.active.iter().zip(&found.posterior.mean) {
            weights[column] = scale * w;
        }
        let bias = center + weights[n];
        weights.truncate(n);
        let mut residual = alloc::vec![T::zero(); n];
        multiply(evidence.gram, &weights, &mut residual)?;
        for (r, &y) in residual.iter_mut().zip(y) {
            *r = y - bias - *r;
        }
        let value = |index: usize| Outlier { index, value: scale * evidence.outlier(index) };
        let outliers: Vec<Outlier<T>> = (0..n).filter(is_outlier).map(value).collect();
        for outlier in &outliers {
            residual[outlier.index] = residual[outlier.index] - outlier.value;
        }
        let Found { posterior, history, iterations, stop: reason } = found;
        let found = regression::Found { residual, outliers, iterations, reason };
        let fit = RbRvmFit {
            fit: Fit::from_parts(points, kernel, y, weights, bias, found),
            center,
            noise_variance: grow(evidence.noise()),
            prior_variances,
            active: posterior.active,
            factor: posterior.factor,
            history: history.iter().map(|&l| l - shift).collect(),
        };
        let numbers = fit.coefficients().iter().chain(fit.residual()).chain(&fit.prior_variances);
        if numbers.chain([&fit.bias(), &fit.log_likelihood()]).all(|x| x.is_finite()) {
            Ok(fit)
        } else {
            Err(Error::Overflow { what: "the posterior of the weights" })
        }
    }
}
