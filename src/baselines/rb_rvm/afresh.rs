//! The evidence from its definition, at O(m n^2) for `m` kernel columns.
//!
//! The identity columns take no room in any matrix. An outlier is a point
//! whose noise has the variance $v_i = s^2 + \gamma_i$, so with $V$ the
//! diagonal of these, and $X$ the rows $\sqrt{\gamma_j} \\, \varphi_j^T$ of
//! the other columns in the model,
//!
//! $$ C^{-1} = V^{-1} - U^T U, \quad L U = X V^{-1}, \quad L L^T = B = I + X V^{-1} X^T . $$
//!
//! $B$ is at least the identity, however similar the columns: only rounding
//! can keep it from being factored.

use super::evidence::Evidence;
use super::products::{dot, inner, scale_each, subtract, sum, sum_of_squares, weighted_squares};
use crate::linalg::cholesky::{backward, factor, factor_scratch_len, forward};
use crate::linalg::{multiply, self_product, self_product_scratch_len};
use crate::real::{constant, count};
use crate::{Error, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Rounding errors of $S$, in units of the last place of what it is the
/// difference of.
const BLUR: f64 = 16.0;

/// $\log 2 \pi$.
const LOG_TAU: f64 = 1.837_877_066_409_345_5;

/// The kernel and bias columns in the model, and the factor of $B$.
#[derive(Debug)]
pub(super) struct Posterior<T> {
    pub(super) active: Vec<usize>,
    /// $L$, row-major.
    pub(super) factor: Vec<T>,
    /// The posterior mean of their weights.
    pub(super) mean: Vec<T>,
}

impl<T: Real> Evidence<'_, T> {
    /// [`recompute`](Self::recompute)s what is not fresh.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        if self.fresh { Ok(()) } else { self.recompute().map(drop) }
    }

    /// Everything afresh, from the variances and the noise.
    pub(super) fn recompute(&mut self) -> Result<Posterior<T>, Error> {
        let n = self.len();
        for (p, &v) in self.precision.iter_mut().zip(&self.variances[n + 1..]) {
            *p = (self.noise + v).recip();
        }
        let roots: Vec<T> = self.precision.iter().map(|p| p.sqrt()).collect();
        let (mut posterior, mut rows) = self.factored(&roots)?;
        let (m, l) = (posterior.active.len(), &posterior.factor);

        // W = L^-1 X V^(-1/2), whose squared columns are the leverages of the
        // points, and U = W V^(-1/2).
        let mut leverage = vec![T::zero(); n];
        for i in 0..m {
            let (above, row) = rows.split_at_mut(i * n);
            let row = &mut row[..n];
            subtract(row, &l[i * m..][..i], above);
            let pivot = l[i * m + i];
            for (w, t) in row.iter_mut().zip(&mut leverage) {
                *w = *w / pivot;
                *t = *t + *w * *w;
            }
        }
        for row in rows.chunks_exact_mut(n) {
            scale_each(row, &roots);
        }
        self.rows = rows;
        self.first = m;
        self.factors.clear();
        self.factors.resize(m, T::one());
        self.project(&leverage)?;
        self.finish(&posterior.active, l);
        self.fresh = true;

        // Sqrt(gamma) B^-1 X V^-1 y: where the noise is low, gamma times Q
        // would magnify the rounding of Q.
        let mut mean = vec![T::zero(); m];
        inner(&self.rows, self.y, &mut mean);
        backward(l, &mut mean);
        for (w, &column) in mean.iter_mut().zip(&posterior.active) {
            *w = *w * self.variances[column].sqrt();
        }
        posterior.mean = mean;
        Ok(posterior)
    }

    /// The columns in the model, $X V^{-1/2}$, and the factor of $B$.
    ///
    /// A column that others span up to rounding leaves the model: no pivot is
    /// below one otherwise.
    fn factored(&mut self, roots: &[T]) -> Result<(Posterior<T>, Vec<T>), Error> {
        let n = self.len();
        loop {
            let active: Vec<usize> = (0..=n).filter(|&j| self.variances[j] > T::zero()).collect();
            let m = active.len();
            let mut rows = vec![T::zero(); m * n];
            for (row, &column) in rows.chunks_exact_mut(n).zip(&active) {
                self.copy_column(column, row);
                let deviation = self.variances[column].sqrt();
                for (x, &root) in row.iter_mut().zip(roots) {
                    *x = *x * deviation * root;
                }
            }
            let mut l = vec![T::zero(); m * m];
            for i in 0..m {
                l[i * m + i] = T::one();
            }
            let scratch_len = factor_scratch_len::<T>(m).max(self_product_scratch_len::<T>(n));
            let mut scratch = vec![T::zero(); scratch_len];
            self_product(&rows, m, &mut l, &mut scratch)?;
            match factor(&mut l, m, &mut scratch) {
                Ok(()) => return Ok((Posterior { active, factor: l, mean: Vec::new() }, rows)),
                Err(Error::NotPositiveDefinite { pivot, .. }) => {
                    self.variances[active[pivot]] = T::zero();
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// $S$, $Q$ and $a$ of all columns, from $U$ and the leverages.
    fn project(&mut self, leverage: &[T]) -> Result<(), Error> {
        let n = self.len();
        let mut products = vec![T::zero(); self.first];
        inner(&self.rows, self.y, &mut products);
        let (smooth, points) = self.quality.split_at_mut(n + 1);
        points.copy_from_slice(self.y);
        scale_each(points, &self.precision);
        subtract(points, &products, &self.rows);
        multiply(self.gram, points, &mut smooth[..n])?;
        smooth[n] = sum(points);

        let (smooth, points) = self.sparsity.split_at_mut(n + 1);
        self.slack[..=n].fill(T::one());
        for i in 0..n {
            let (t, p, variance) = (leverage[i], self.precision[i], self.variances[n + 1 + i]);
            points[i] = (T::one() - t) * p;
            self.slack[n + 1 + i] = (self.noise + variance * t) * p;
        }
        weighted_squares(self.gram, &self.precision, &mut smooth[..n]);
        smooth[n] = sum(&self.precision);
        for (blur, &s) in self.blur.iter_mut().zip(smooth.iter()) {
            *blur = s * T::epsilon() * constant(BLUR);
        }
        let mut products = vec![T::zero(); n + 1];
        for row in self.rows.chunks_exact(n) {
            multiply(self.gram, row, &mut products[..n])?;
            products[n] = sum(row);
            for (s, &u) in smooth.iter_mut().zip(&products) {
                *s = *s - u * u;
            }
        }
        Ok(())
    }

    /// What the factor $L$ tells: $a_j = (B^{-1})\_{jj}$ of the columns in the
    /// model, and the likelihood.
    fn finish(&mut self, active: &[usize], l: &[T]) {
        let (n, m) = (self.len(), active.len());
        let mut log_det = self.precision.iter().fold(T::zero(), |sum, p| sum - p.ln());
        let mut unit = vec![T::zero(); m];
        for (i, &column) in active.iter().enumerate() {
            log_det = log_det + constant::<T>(2.0) * l[i * m + i].ln();
            unit.fill(T::zero());
            unit[i] = T::one();
            forward(l, &mut unit, i);
            self.slack[column] = sum_of_squares(&unit);
            self.sparsity[column] = (T::one() - self.slack[column]) / self.variances[column];
        }
        let quadratic = dot(self.y, &self.quality[n + 1..]);
        let normalisation = count::<T>(n) * constant(LOG_TAU);
        self.likelihood = -(normalisation + log_det + quadratic) * constant(0.5);
    }
}
