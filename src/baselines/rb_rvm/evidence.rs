//! The marginal likelihood of $y$, and what each column of the dictionary
//! could still add to it.
//!
//! With $\gamma_m = 1 / \alpha_m$ the prior variance of weight $m$ (zero: the
//! column is not in the model), the data have the covariance
//! $C = s^2 I + \sum_m \gamma_m \varphi_m \varphi_m^T$. For each column
//!
//! $$ S_m = \varphi_m^T C^{-1} \varphi_m, \quad Q_m = \varphi_m^T C^{-1} y, \quad a_m = 1 - \gamma_m S_m $$
//!
//! are kept; $a_m$, the posterior variance of the weight over its prior one,
//! on its own, because the difference cancels where a weight is well
//! determined. Without the column itself they are $s_m = S_m / a_m$ and
//! $q_m = Q_m / a_m$; the likelihood is largest at
//!
//! $$ \gamma_m^* = \max\left(0, \frac{q_m^2 - s_m}{s_m^2}\right), $$
//!
//! and moving $\gamma_m$ by $\delta$ changes it by
//! $\tfrac12 \left( \frac{\delta Q_m^2}{1 + \delta S_m} - \log(1 + \delta S_m) \right)$:
//! to add, to re-estimate and to delete are one and the same.
//!
//! A change costs one rank-one term more in
//! $C^{-1} \leftarrow C^{-1} - \frac{\delta}{1 + \delta S_m} \\, g g^T$,
//! $g = C^{-1} \varphi_m$; every now and then all is [computed
//! afresh](super::afresh).

use super::products::{inner, scale_each, subtract, sum, sum_of_squares};
use crate::linalg::multiply;
use crate::real::constant;
use crate::{Error, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Rank-one terms after which everything is to be computed afresh.
const TERMS: usize = 64;

/// A new prior variance for one column, and what it does for the
/// log-likelihood.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<T> {
    pub(super) column: usize,
    pub(super) variance: T,
    pub(super) gain: T,
}

/// The state of the search.
///
/// Columns are numbered as in the dictionary $[K \\; 1 \\; I]$: the kernel at
/// point $j$ is column $j$, the bias is $n$, the outlier at point $i$ is
/// $n + 1 + i$.
#[derive(Debug)]
pub(super) struct Evidence<'a, T> {
    pub(super) gram: &'a [T],
    pub(super) y: &'a [T],
    pub(super) noise: T,
    /// $\gamma$.
    pub(super) variances: Vec<T>,
    /// $S$.
    pub(super) sparsity: Vec<T>,
    /// $Q$.
    pub(super) quality: Vec<T>,
    /// $a$.
    pub(super) slack: Vec<T>,
    /// How small $S$ may be before it is nothing but rounding.
    pub(super) blur: Vec<T>,
    /// $V^{-1}$, as of the last [`recompute`](Self::recompute).
    pub(super) precision: Vec<T>,
    /// The rows of $U$, then the $g$ of each change since.
    pub(super) rows: Vec<T>,
    /// What each row's square is subtracted with.
    pub(super) factors: Vec<T>,
    /// Rows of $U$.
    pub(super) first: usize,
    pub(super) likelihood: T,
    /// Whether nothing has changed since all was computed afresh.
    pub(super) fresh: bool,
}

impl<'a, T: Real> Evidence<'a, T> {
    /// A model with nothing in it; to be followed by a [refresh](Self::refresh).
    pub(super) fn new(gram: &'a [T], y: &'a [T], noise: T) -> Self {
        let n = y.len();
        let columns = || vec![T::zero(); 2 * n + 1];
        Self {
            gram,
            y,
            noise,
            variances: columns(),
            sparsity: columns(),
            quality: columns(),
            slack: columns(),
            blur: columns(),
            precision: vec![T::zero(); n],
            rows: Vec::new(),
            factors: Vec::new(),
            first: 0,
            likelihood: T::zero(),
            fresh: false,
        }
    }

    /// Number of points.
    pub(super) fn len(&self) -> usize {
        self.y.len()
    }

    /// $s^2$.
    pub(super) fn noise(&self) -> T {
        self.noise
    }

    /// Another $s^2$, to be followed by a [refresh](Self::refresh).
    pub(super) fn set_noise(&mut self, noise: T) {
        self.noise = noise;
        self.fresh = false;
    }

    pub(super) fn likelihood(&self) -> T {
        self.likelihood
    }

    /// $\gamma$.
    pub(super) fn variances(&self) -> &[T] {
        &self.variances
    }

    /// Other variances, to be followed by a [refresh](Self::refresh).
    pub(super) fn set_variances(&mut self, variances: &[T]) {
        self.variances.copy_from_slice(variances);
        self.fresh = false;
    }

    /// What the posterior mean leaves of $y_i$.
    pub(super) fn left(&self, i: usize) -> T {
        self.noise * self.quality[self.len() + 1 + i]
    }

    /// By how much $y_i$ differs from what all other points predict for it.
    pub(super) fn left_out_residual(&self, i: usize) -> T {
        let column = self.len() + 1 + i;
        self.quality[column] / self.sparsity[column]
    }

    /// What the likelihood gains by a column, against a model without it.
    pub(super) fn worth(&self, column: usize) -> T {
        let ratio = self.quality[column] / self.slack[column] * self.quality[column]
            / self.sparsity[column];
        (ratio - T::one() - ratio.ln()) * constant(0.5)
    }

    /// Takes a column out, to be followed by a [refresh](Self::refresh).
    pub(super) fn remove(&mut self, column: usize) {
        self.variances[column] = T::zero();
        self.fresh = false;
    }

    /// The change of `column` that raises the likelihood most.
    pub(super) fn best_change(&self, column: usize) -> Option<Change<T>> {
        let (sparsity, slack) = (self.sparsity[column], self.slack[column]);
        // Rounding may leave nothing of a column that others span.
        if !(sparsity > self.blur[column] && slack > T::zero()) {
            return None;
        }
        let quality = self.quality[column];
        let (s, deviation) = (sparsity / slack, quality / sparsity);
        let variance = (deviation * deviation - s.recip()).max(T::zero());
        let delta = variance - self.variances[column];
        let ratio = slack + variance * sparsity;
        let gain = (delta * quality * quality / ratio - ratio.ln()) * constant(0.5);
        (delta != T::zero() && gain.is_finite()).then_some(Change { column, variance, gain })
    }

    /// Makes the change: one rank-one term more.
    pub(super) fn apply(&mut self, change: Change<T>) -> Result<(), Error> {
        let Change { column, variance, gain } = change;
        let n = self.len();
        let ratio = self.slack[column] + variance * self.sparsity[column];
        let factor = (variance - self.variances[column]) / ratio;
        let quality = self.quality[column];
        let slack = if variance == T::zero() { T::one() } else { self.slack[column] / ratio };
        let itself = (self.sparsity[column] / ratio, quality / ratio, slack);

        let g = self.solve(column);
        let mut products = vec![T::zero(); n + 1];
        multiply(self.gram, &g, &mut products[..n])?;
        products[n] = sum(&g);
        products.extend_from_slice(&g);
        for (m, &product) in products.iter().enumerate() {
            let scaled = factor * product;
            self.sparsity[m] = self.sparsity[m] - scaled * product;
            self.quality[m] = self.quality[m] - scaled * quality;
            self.slack[m] = self.slack[m] + self.variances[m] * (scaled * product);
        }
        (self.sparsity[column], self.quality[column], self.slack[column]) = itself;
        self.variances[column] = variance;
        self.rows.extend_from_slice(&g);
        self.factors.push(factor);
        self.likelihood = self.likelihood + gain;
        self.fresh = false;
        Ok(())
    }

    /// Whether there are so many rank-one terms that a fresh computation is
    /// cheaper, and due for its accuracy.
    pub(super) fn is_long(&self) -> bool {
        self.factors.len() >= self.first + TERMS
    }

    /// $g = C^{-1} \varphi$ of a column.
    fn solve(&self, column: usize) -> Vec<T> {
        let n = self.len();
        let mut inners = vec![T::zero(); self.factors.len()];
        let mut g = vec![T::zero(); n];
        if let Some(i) = column.checked_sub(n + 1) {
            for (inner, row) in inners.iter_mut().zip(self.rows.chunks_exact(n)) {
                *inner = row[i];
            }
            g[i] = self.precision[i];
        } else {
            self.copy_column(column, &mut g);
            inner(&self.rows, &g, &mut inners);
            scale_each(&mut g, &self.precision);
        }
        scale_each(&mut inners, &self.factors);
        subtract(&mut g, &inners, &self.rows);
        g
    }

    /// A kernel column, or the bias column.
    pub(super) fn copy_column(&self, column: usize, out: &mut [T]) {
        let n = self.len();
        if column < n {
            out.copy_from_slice(&self.gram[column * n..][..n]);
        } else {
            out.fill(T::one());
        }
    }

    /// The squared norm of what the posterior mean leaves of $y$, which is
    /// $s^2 C^{-1} y$, and the degrees of freedom that the model takes.
    pub(super) fn residual(&self) -> (T, T) {
        let square = sum_of_squares(&self.quality[self.len() + 1..]) * self.noise * self.noise;
        let active = self.variances.iter().zip(&self.slack).filter(|(v, _)| **v > T::zero());
        (square, active.fold(T::zero(), |sum, (_, &slack)| sum + (T::one() - slack)))
    }
}
