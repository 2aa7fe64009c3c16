//! $K \approx F F^T$ by the pivoted Cholesky decomposition.
//!
//! With $d_i = \kappa(x_i, x_i) - \lVert F_i \rVert^2$, the variance at point $i$
//! that $F$ does not explain yet, each step takes the point $p$ of the largest and
//! adds the column
//!
//! $$ F_{im} = \bigl( \kappa(x_i, x_p) - F_i^T F_p \bigr) / \sqrt{d_p}, \qquad d_i \leftarrow d_i - F_{im}^2 . $$
//!
//! It ends when the mean of the $d_i$ is small against $\lambda$: what is left of
//! the kernel then acts like a little more noise.

use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::dot;
use crate::linalg::zeros;
use crate::parallel::each;
use crate::real::{constant, count};
use crate::{Error, Kernel, Points, Real};
use alloc::vec::Vec;

/// Mean unexplained variance at which the decomposition ends, over $\lambda$.
/// At a hundredth the outliers are those of the exact kernel.
const ENOUGH: f64 = 0.01;
/// Columns there is room for at first.
const FIRST: usize = 64;
/// Points that a thread computes at a time.
const CHUNK: usize = 2048;

/// The rows $F_i$, each followed by a one: the column of the free bias.
#[derive(Debug, Clone)]
pub(super) struct Features<T> {
    pub(super) rows: Vec<T>,
    /// Entries of a row: the rank and one.
    pub(super) width: usize,
    pub(super) pivots: Vec<usize>,
    /// Mean variance that is not explained.
    pub(super) error: T,
}

impl<T: Real> Features<T> {
    /// Decomposes until the error is small against `lambda`; at the most to
    /// `most` columns.
    pub(super) fn new<K: Kernel<T> + Sync>(
        points: Points<'_, T>,
        kernel: &K,
        lambda: T,
        most: usize,
    ) -> Result<Self, Error> {
        let n = points.len();
        let enough = constant::<T>(ENOUGH) * lambda * count(n);
        let mut variance: Vec<T> = points.iter().map(|x| kernel.evaluate(x, x)).collect();
        if let Some(index) = variance.iter().position(|v| !v.is_finite()) {
            let value = crate::error::as_f64(variance[index]);
            return Err(Error::NotFinite { what: "the kernel", index, value });
        }
        let rounding = variance.iter().fold(T::zero(), |max, &v| max.max(v)) * T::epsilon();
        let mut stride = FIRST.min(most + 1);
        let mut rows: Vec<T> = zeros(n.saturating_mul(stride))?;
        let mut pivots = Vec::new();
        loop {
            let m = pivots.len();
            let left = variance.iter().fold(T::zero(), |s, &v| s + v);
            let (p, largest) = (0..n).fold((0, T::zero()), |(p, largest), i| {
                if variance[i] > largest { (i, variance[i]) } else { (p, largest) }
            });
            if left <= enough || largest <= rounding * count(n) {
                rows = compact(rows, n, stride, m)?;
                let error = left / count(n);
                return Ok(Self { rows, width: m + 1, pivots, error });
            }
            if m == most {
                let error = crate::error::as_f64(left / count(n));
                return Err(Error::RankTooHigh { rank: m, error });
            }
            if m + 1 == stride {
                let wider = (2 * stride).min(most + 1);
                rows = widen(rows, n, stride, wider)?;
                stride = wider;
            }
            let pivot = rows[p * stride..][..m].to_vec();
            let (at, scale) = (point(points, p), largest.sqrt().recip());
            let chunks = rows.chunks_mut(CHUNK * stride).zip(variance.chunks_mut(CHUNK));
            let least = each(chunks.enumerate(), |(chunk, (rows, variance))| {
                let first = chunk * CHUNK;
                let dim = points.dim();
                let part = &points.coordinates()[first * dim..][..variance.len() * dim];
                let mut row = alloc::vec![T::zero(); variance.len()];
                kernel.evaluate_row(at, Points::of_dim(part, dim), &mut row);
                dispatch(Column { row: &row, rows, stride, pivot: &pivot, scale, variance })
            });
            let least = least.into_iter().fold(T::zero(), |min, v| if v < min { v } else { min });
            if !(least >= -rounding * count(n)) {
                let value = crate::error::as_f64(least);
                return Err(Error::NotPositiveDefinite { pivot: m, value });
            }
            variance[p] = T::zero();
            pivots.push(p);
        }
    }
}

/// Coordinates of point `i`.
fn point<'a, T: Real>(points: Points<'a, T>, i: usize) -> &'a [T] {
    &points.coordinates()[i * points.dim()..][..points.dim()]
}

/// The next column of some rows.
struct Column<'a, T> {
    /// Kernel values of the pivot and these points.
    row: &'a [T],
    rows: &'a mut [T],
    stride: usize,
    pivot: &'a [T],
    scale: T,
    variance: &'a mut [T],
}

impl<T: Real> Routine for Column<'_, T> {
    /// The least variance that is left; negative if the kernel is not positive definite.
    type Output = T;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> T {
        let m = self.pivot.len();
        let mut least = T::zero();
        let rows = self.rows.chunks_exact_mut(self.stride);
        for ((row, &k), variance) in rows.zip(self.row).zip(self.variance) {
            let entry = (k - dot::<T, FUSED>(&row[..m], self.pivot)) * self.scale;
            row[m] = entry;
            let left = *variance - entry * entry;
            // NaN, too, if a value of the kernel is.
            least = if left >= least { least } else { left };
            *variance = left.max(T::zero());
        }
        least
    }
}

/// The same rows with more room.
fn widen<T: Real>(rows: Vec<T>, n: usize, stride: usize, wider: usize) -> Result<Vec<T>, Error> {
    let mut out = zeros(n.saturating_mul(wider))?;
    for (out, row) in out.chunks_exact_mut(wider).zip(rows.chunks_exact(stride)) {
        out[..stride].copy_from_slice(row);
    }
    Ok(out)
}

/// The first `m` entries of each row, and a one.
fn compact<T: Real>(mut rows: Vec<T>, n: usize, stride: usize, m: usize) -> Result<Vec<T>, Error> {
    if stride < m + 1 {
        rows = widen(rows, n, stride, m + 1)?;
        return compact(rows, n, m + 1, m);
    }
    for i in 0..n {
        rows.copy_within(i * stride..i * stride + m, i * (m + 1));
        rows[i * (m + 1) + m] = T::one();
    }
    rows.truncate(n * (m + 1));
    rows.shrink_to_fit();
    Ok(rows)
}
