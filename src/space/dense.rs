//! How sure a function is that was fitted with all of its kernel matrix.

use super::normal::inner;
use crate::linalg::cholesky::{self, factor_scratch_len};
use crate::linalg::zeros;
use crate::{Error, Kernel, Points, Real};
use alloc::vec;
use alloc::vec::Vec;

/// The factor of $A = K + \lambda$ over the points that are in.
pub(super) struct Dense<'a, T, K> {
    points: Points<'a, T>,
    kernel: &'a K,
    factor: Vec<T>,
    /// $L^{-1} 1$, and its square.
    ones: Vec<T>,
    total: T,
}

impl<'a, T: Real, K: Kernel<T>> Dense<'a, T, K> {
    pub(super) fn new(points: Points<'a, T>, kernel: &'a K, lambda: T) -> Result<Self, Error> {
        let m = points.len();
        let mut factor = zeros(m.saturating_mul(m))?;
        for (i, (x, row)) in points.iter().zip(factor.chunks_exact_mut(m)).enumerate() {
            kernel.evaluate_row(x, points, row);
            row[i] = row[i] + lambda;
        }
        let mut scratch = vec![T::zero(); factor_scratch_len::<T>(m)];
        cholesky::factor(&mut factor, m, &mut scratch)?;
        let mut ones = vec![T::one(); m];
        cholesky::forward(&factor, &mut ones, 0);
        let total = inner(&ones, &ones);
        Ok(Self { points, kernel, factor, ones, total })
    }

    /// The variance of $f(x)$ in units of the function's:
    /// $\kappa(x, x) - k^T A^{-1} k + (1 - 1^T A^{-1} k)^2 / 1^T A^{-1} 1$.
    pub(super) fn variance(&self, x: &[T]) -> T {
        let mut row = vec![T::zero(); self.ones.len()];
        self.kernel.evaluate_row(x, self.points, &mut row);
        cholesky::forward(&self.factor, &mut row, 0);
        let explained = inner(&row, &row);
        let bias = T::one() - inner(&self.ones, &row);
        let left = self.kernel.evaluate(x, x) - explained + bias * bias / self.total;
        left.max(T::zero())
    }
}
