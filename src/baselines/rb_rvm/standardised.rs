//! The data in units of their own, and the model back in theirs.

use super::RbRvmFit;
use super::evidence::Evidence;
use super::search::Found;
use crate::baselines::{center_and_spread, ordinary_range};
use crate::linalg::multiply;
use crate::real::count;
use crate::{Error, Fit, Outlier, Points, Real, regression};
use alloc::vec::Vec;

/// $(y - \text{center}) / \text{scale}$: data of unit spread around zero.
///
/// What is beyond all noise is limited to the
/// [`ordinary_range`]: as an outlier it has the whole of
/// its deviation taken out, whatever that is.
pub(super) struct Standardised<T> {
    pub(super) values: Vec<T>,
    center: T,
    scale: T,
}

impl<T: Real> Standardised<T> {
    pub(super) fn new(y: &[T]) -> Result<Self, Error> {
        let (center, spread) = center_and_spread(y);
        let (low, high) = ordinary_range(y);
        // Where all are equal.
        let scales = [spread, center.abs(), T::one()];
        let scale = scales.into_iter().find(|s| *s > T::zero()).unwrap_or_else(T::one);
        let values: Vec<T> = y.iter().map(|y| (y.max(low).min(high) - center) / scale).collect();
        // The least and the largest variance are those of noise of one part in
        // sqrt(epsilon), and of an outlier.
        let extreme = scale * scale / T::epsilon();
        let smallest = scale * scale * T::epsilon();
        if extreme.is_finite() && smallest > T::min_positive_value() {
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
        let mut weights = alloc::vec![T::zero(); n + 1];
        for (&column, &w) in found.posterior.active.iter().zip(&found.posterior.mean) {
            weights[column] = scale * w;
        }
        let bias = center + weights[n];
        weights.truncate(n);
        let mut fitted = alloc::vec![T::zero(); n];
        multiply(evidence.gram, &weights, &mut fitted)?;
        let mut residual = y.to_vec();
        let mut outliers = Vec::new();
        for i in 0..n {
            fitted[i] = fitted[i] + bias;
            residual[i] = y[i] - fitted[i];
            if evidence.variances()[n + 1 + i] > T::zero() {
                // What the posterior mean leaves is s^2 C^-1 y: no difference
                // of large numbers.
                let left = scale * evidence.left(i);
                outliers.push(Outlier { index: i, value: residual[i] - left });
                residual[i] = left;
            }
        }
        let Found { posterior, history, iterations, stop: reason } = found;
        let found = regression::Found { residual, outliers, fitted, iterations, reason };
        let fit = RbRvmFit {
            fit: Fit::from_parts(points, kernel, weights, bias, found)?,
            center,
            noise_variance: grow(evidence.noise()),
            prior_variances,
            active: posterior.active,
            factor: posterior.factor,
            history: history.iter().map(|&l| l - shift).collect(),
        };
        let others = [&fit.log_likelihood(), &fit.noise_variance];
        if fit.prior_variances.iter().chain(others).all(|x| x.is_finite()) {
            Ok(fit)
        } else {
            Err(Error::Overflow { what: "the posterior of the weights" })
        }
    }
}
