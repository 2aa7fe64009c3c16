//! The points of a search: standardised inputs and values, basis functions, and
//! what may make the noise uneven.

use super::Trend;
use super::parameters::State;
use crate::Real;
use crate::kernel::Tunable;
use crate::real::{constant, count};
use crate::regression::system::inner_product;
use alloc::vec::Vec;

/// Features of the noise grow no further than so many robust deviations of an
/// input: the variance of the noise is not extrapolated.
const FEATURE_RANGE: f64 = 2.0;
/// Features per input: its value and its square.
pub(super) const FEATURES: usize = 2;

/// Points with values, of which the likelihood is taken.
#[derive(Debug, Clone)]
pub(super) struct Sample<T> {
    /// Inputs, point after point.
    pub(super) x: Vec<T>,
    pub(super) dim: usize,
    /// $F$, row after row: 1, then the inputs where there is a trend.
    pub(super) basis: Vec<T>,
    /// Columns of $F$.
    pub(super) columns: usize,
    /// Columns of $F$ whose coefficients are not penalised.
    pub(super) free: usize,
    /// Prior variance of the other coefficients, relative to $s^2$; a state's.
    pub(super) slope_variance: T,
    pub(super) v: Vec<T>,
    /// $1 / w_i$: the variance of the noise, relative to the others'.
    pub(super) noise: Vec<T>,
    /// $\phi(x_i)$, row after row: the variance of the noise may be
    /// $e^{\gamma^T \phi}$ times as large.
    pub(super) features: Vec<T>,
}

impl<T: Real> Sample<T> {
    pub(super) fn new(x: Vec<T>, dim: usize, v: Vec<T>, noise: Vec<T>, trend: Trend) -> Self {
        let columns = if trend == Trend::None { 1 } else { 1 + dim };
        let basis = x.chunks_exact(dim).flat_map(|point| row(point, columns)).collect();
        let features = features(&x, dim);
        let free = if trend == Trend::Free { columns } else { 1 };
        Self { x, dim, basis, columns, free, slope_variance: T::one(), v, noise, features }
    }

    pub(super) fn len(&self) -> usize {
        self.v.len()
    }

    pub(super) fn points(&self) -> crate::Points<'_, T> {
        crate::Points::of_dim(&self.x, self.dim)
    }

    pub(super) fn point(&self, i: usize) -> &[T] {
        &self.x[i * self.dim..][..self.dim]
    }

    /// The points `indices` only.
    pub(super) fn part(&self, indices: &[usize]) -> Self {
        let of = |from: &[T], width: usize| -> Vec<T> {
            indices.iter().flat_map(|&i| &from[i * width..][..width]).copied().collect()
        };
        Self {
            x: of(&self.x, self.dim),
            basis: of(&self.basis, self.columns),
            v: of(&self.v, 1),
            noise: of(&self.noise, 1),
            features: of(&self.features, FEATURES * self.dim),
            ..*self
        }
    }

    /// The same with values cut off at `limit`.
    pub(super) fn clipped(&self, limit: f64) -> Self {
        let limit = constant::<T>(limit);
        Self { v: self.v.iter().map(|v| v.max(-limit).min(limit)).collect(), ..self.clone() }
    }

    /// The same with the noise and the slopes' prior of a state.
    pub(super) fn at<K: Tunable<T>>(&self, state: &State<T, K>) -> Self {
        Self {
            noise: self.noise_with(&state.gamma),
            slope_variance: state.slope_variance,
            ..self.clone()
        }
    }

    /// The variances of the noise with coefficients $\gamma$ of the features;
    /// none stands for even noise.
    pub(super) fn noise_with(&self, gamma: &[T]) -> Vec<T> {
        if gamma.is_empty() {
            return self.noise.clone();
        }
        let rows = self.features.chunks_exact(gamma.len());
        self.noise.iter().zip(rows).map(|(&w, phi)| w * inner_product(phi, gamma).exp()).collect()
    }

    /// The derivative of the likelihood by $\gamma$: the noise of point $i$ has the
    /// weight $w_i$ there, and this sample's noise is that of $\gamma$.
    pub(super) fn by_gamma(&self, weights: &[T], lambda: T, out: &mut [T]) {
        out.fill(T::zero());
        let rows = self.features.chunks_exact(FEATURES * self.dim);
        for ((&w, &noise), phi) in weights.iter().zip(&self.noise).zip(rows) {
            for (out, &phi) in out.iter_mut().zip(phi) {
                *out = *out + w * lambda * noise * phi;
            }
        }
    }

    /// Degrees of freedom of `m` points.
    pub(super) fn freedom(&self, m: usize) -> T {
        count(m.saturating_sub(self.columns).max(1))
    }
}

/// A row of $F$.
pub(super) fn row<T: Real>(point: &[T], columns: usize) -> impl Iterator<Item = T> + '_ {
    core::iter::once(T::one()).chain(point.iter().copied()).take(columns)
}

/// $\phi(x)$ of one point: each input and its square, within bounds.
pub(super) fn features_of<T: Real>(point: &[T]) -> impl Iterator<Item = T> + '_ {
    let range = constant::<T>(FEATURE_RANGE);
    point.iter().flat_map(move |&z| {
        let z = z.max(-range).min(range);
        [z, z * z]
    })
}

/// $\phi$ of all points, less its mean, so that $\lambda$ keeps its meaning.
fn features<T: Real>(x: &[T], dim: usize) -> Vec<T> {
    let mut features: Vec<T> = x.chunks_exact(dim).flat_map(features_of).collect();
    let means = feature_means(x, dim);
    for row in features.chunks_exact_mut(FEATURES * dim) {
        for (phi, &mean) in row.iter_mut().zip(&means) {
            *phi = *phi - mean;
        }
    }
    features
}

/// The mean of $\phi$ over all points.
pub(super) fn feature_means<T: Real>(x: &[T], dim: usize) -> Vec<T> {
    let mut means = alloc::vec![T::zero(); FEATURES * dim];
    for point in x.chunks_exact(dim) {
        for (mean, phi) in means.iter_mut().zip(features_of(point)) {
            *mean = *mean + phi;
        }
    }
    let n = count::<T>(x.len() / dim);
    for mean in &mut means {
        *mean = *mean / n;
    }
    means
}
