//! The points of a search: standardised inputs and values, basis functions, and
//! what may make the noise uneven.

use super::Trend;
use super::parameters::State;
use crate::kernel::Tunable;
use crate::real::{constant, count};
use crate::regression::system::inner_product;
use crate::stats::{ascending, median};
use crate::{Kernel, Real};
use alloc::vec::Vec;

/// Features of the noise grow no further than so many robust deviations of an
/// input: the variance of the noise is not extrapolated.
const FEATURE_RANGE: f64 = 2.0;
/// Share of the points that makes their common value an atom.
const ATOM: f64 = 0.2;
/// Atoms matter from this share of the points on: near a half, their deviation of nothing would
/// be the median.
const ATOMS: f64 = 0.33;
/// Share of the points that must have other values for these to tell the noise.
const TELLING: f64 = 0.25;
/// Features per input: its value and its square.
pub(super) const FEATURES: usize = 2;

/// Features of the noise with `dim` inputs: those of the inputs, and the level of the function.
pub(super) fn features_len(dim: usize) -> usize {
    FEATURES * dim + 1
}

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
    /// $e^{\gamma^T \phi}$ times as large. The last one of a row is the level.
    pub(super) features: Vec<T>,
    /// Whether the value of a point is that of many others, and tells nothing of the noise.
    pub(super) is_atom: Vec<bool>,
    /// The mean of the levels.
    pub(super) level_mean: T,
}

impl<T: Real> Sample<T> {
    pub(super) fn new(x: Vec<T>, dim: usize, v: Vec<T>, noise: Vec<T>, trend: Trend) -> Self {
        let columns = if trend == Trend::None { 1 } else { 1 + dim };
        let basis = x.chunks_exact(dim).flat_map(|point| row(point, columns)).collect();
        let features = features(&x, dim);
        let free = if trend == Trend::Free { columns } else { 1 };
        let (slope_variance, level_mean) = (T::one(), T::zero());
        let is_atom = atoms(&v);
        Self {
            x,
            dim,
            basis,
            columns,
            free,
            slope_variance,
            v,
            noise,
            features,
            is_atom,
            level_mean,
        }
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
            is_atom: indices.iter().map(|&i| self.is_atom[i]).collect(),
            features: of(&self.features, features_len(self.dim)),
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

    /// The same with the values of a function at the points, whose level the noise may depend
    /// on; none stands for no such dependence.
    pub(super) fn with_level(&self, function: &[T]) -> Self {
        let mut other = self.clone();
        let levels = function.iter().map(|&f| level_of(f));
        other.level_mean =
            levels.clone().fold(T::zero(), |s, x| s + x) / count(function.len().max(1));
        let rows = other.features.chunks_exact_mut(features_len(self.dim));
        for (row, level) in rows.zip(levels) {
            row[FEATURES * self.dim] = level - other.level_mean;
        }
        other
    }

    /// The variances of the noise with coefficients $\gamma$ of the features;
    /// none stands for even noise.
    pub(super) fn noise_with(&self, gamma: &[T]) -> Vec<T> {
        if gamma.is_empty() {
            return self.noise.clone();
        }
        let rows =
            self.features.chunks_exact(features_len(self.dim)).map(|row| &row[..gamma.len()]);
        self.noise.iter().zip(rows).map(|(&w, phi)| w * inner_product(phi, gamma).exp()).collect()
    }

    /// The derivative of the likelihood by $\gamma$: the noise of point $i$ has the
    /// weight $w_i$ there, and this sample's noise is that of $\gamma$.
    pub(super) fn by_gamma(&self, weights: &[T], lambda: T, out: &mut [T]) {
        out.fill(T::zero());
        let rows = self.features.chunks_exact(features_len(self.dim));
        for ((&w, &noise), phi) in weights.iter().zip(&self.noise).zip(rows) {
            for (out, &phi) in out.iter_mut().zip(phi) {
                *out = *out + w * lambda * noise * phi;
            }
        }
    }

    /// The median of `z` without the points `taken` out. Where there are atoms it is that of all
    /// others, what is taken out being large: else the atoms would make outliers of them one
    /// after the other. Reorders `z`.
    pub(super) fn middle(&self, z: &mut [T], taken: &[usize]) -> T {
        if !self.has_atoms() {
            return median(z, taken.len());
        }
        for &i in taken {
            z[i] = T::infinity();
        }
        let mut telling: Vec<T> = z
            .iter()
            .zip(&self.is_atom)
            .filter(|&(_, &is_atom)| !is_atom)
            .map(|(&z, _)| z)
            .collect();
        let middle = median(&mut telling, 0);
        if middle.is_finite() {
            return middle;
        }
        telling.iter().filter(|z| z.is_finite()).fold(T::zero(), |largest, &z| largest.max(z))
    }

    /// Whether there are atoms.
    pub(super) fn has_atoms(&self) -> bool {
        self.is_atom.contains(&true)
    }

    /// $K a$.
    pub(super) fn times_gram<K: Kernel<T>>(&self, kernel: &K, a: &[T]) -> Vec<T> {
        let mut row = alloc::vec![T::zero(); self.len()];
        let products = self.points().iter().map(|point| {
            kernel.evaluate_row(point, self.points(), &mut row);
            inner_product(&row, a)
        });
        products.collect()
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

/// The level of a function: its logarithm, where it is far from the middle of the target.
pub(super) fn level_of<T: Real>(f: T) -> T {
    f.asinh()
}

/// $\phi$ of all points, less its mean, so that $\lambda$ keeps its meaning; no level yet.
fn features<T: Real>(x: &[T], dim: usize) -> Vec<T> {
    let means = feature_means(x, dim);
    let row = |point| {
        let centred = features_of(point).zip(&means).map(|(phi, &mean)| phi - mean);
        centred.chain([T::zero()])
    };
    x.chunks_exact(dim).flat_map(row).collect()
}

/// Which values are atoms: values that many points have exactly, as a sensor at its limit or
/// days without rain. Half of all points may be of no deviation by that, and the noise is
/// told by the others, if these are more than contamination.
fn atoms<T: Real>(v: &[T]) -> Vec<bool> {
    let n = v.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| ascending(&v[a], &v[b]));
    let mut is_atom = alloc::vec![false; n];
    for same in order.chunk_by(|&a, &b| v[a] == v[b]) {
        if count::<T>(same.len()) >= constant::<T>(ATOM) * count(n) {
            for &i in same {
                is_atom[i] = true;
            }
        }
    }
    let atoms = count::<T>(is_atom.iter().filter(|&&is_atom| is_atom).count()) / count(n);
    if atoms < constant(ATOMS) || atoms > constant(1.0 - TELLING) {
        is_atom.fill(false);
    }
    is_atom
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
