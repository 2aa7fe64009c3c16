//! What all points together make of the rows $g_i$, and products with rows.

use crate::linalg::cholesky::{self, factor_scratch_len, invert_scratch_len};
use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::{add_scaled, dot};
use crate::linalg::{self_product, self_product_scratch_len, zeros};
use crate::parallel::each;
use crate::real::constant;
use crate::stats::{median, nth_smallest};
use crate::{Error, Real};
use alloc::vec;
use alloc::vec::Vec;

/// Points that a thread works on at a time.
pub(super) const CHUNK: usize = 1024;

/// The rows of a model, and what all points together make of them.
#[derive(Debug, Clone)]
pub(super) struct Normal<T> {
    /// $A$, all of it.
    pub(super) matrix: Vec<T>,
    pub(super) inverse: Vec<T>,
    pub(super) leverages: Vec<T>,
}

impl<T: Real> Normal<T> {
    /// For `rows` of `width` entries each, the last of which is not penalised.
    pub(super) fn new(rows: &[T], width: usize, lambda: T) -> Result<Self, Error> {
        let mut matrix = zeros(width.saturating_mul(width))?;
        let mut panel = vec![T::zero(); CHUNK * width];
        let mut scratch = vec![T::zero(); self_product_scratch_len::<T>(CHUNK)];
        for rows in rows.chunks(CHUNK * width) {
            let depth = rows.len() / width;
            for (i, row) in rows.chunks_exact(width).enumerate() {
                for (j, &entry) in row.iter().enumerate() {
                    panel[j * depth + i] = entry;
                }
            }
            self_product(&panel[..depth * width], width, &mut matrix, &mut scratch)?;
        }
        for i in 0..width - 1 {
            matrix[i * width + i] = matrix[i * width + i] + lambda;
        }
        crate::linalg::mirror_lower(&mut matrix, width);
        let (inverse, leverages) = inverse_and_leverages(&matrix, rows, width)?;
        Ok(Self { matrix, inverse, leverages })
    }
}

/// $A^{-1}$, and $g_i^T A^{-1} g_i$ of all rows.
pub(super) fn inverse_and_leverages<T: Real>(
    matrix: &[T],
    rows: &[T],
    width: usize,
) -> Result<(Vec<T>, Vec<T>), Error> {
    let mut factor = matrix.to_vec();
    let mut scratch =
        vec![T::zero(); factor_scratch_len::<T>(width).max(invert_scratch_len::<T>(width))];
    cholesky::factor(&mut factor, width, &mut scratch)?;
    let leverages = each(rows.chunks(CHUNK * width), |rows| {
        let mut z = vec![T::zero(); width];
        let mut leverages = Vec::with_capacity(rows.len() / width);
        for row in rows.chunks_exact(width) {
            z.copy_from_slice(row);
            cholesky::forward(&factor, &mut z, 0);
            leverages.push(inner(&z, &z));
        }
        leverages
    });
    cholesky::invert(&mut factor, width, &mut scratch)?;
    Ok((factor, leverages.concat()))
}

/// The units of a search: $v = (y - c) / s$, cut off where rounding would
/// carry a gross value into the others.
#[derive(Debug, Clone, Copy)]
pub(super) struct Units<T> {
    pub(super) centre: T,
    pub(super) scale: T,
}

impl<T: Real> Units<T> {
    /// Median and median deviation; where that is zero a higher quantile's.
    pub(super) fn of(y: &[T]) -> Self {
        let mut sorted = y.to_vec();
        let centre = median(&mut sorted, 0);
        let half = constant::<T>(0.5);
        for (deviation, &y) in sorted.iter_mut().zip(y) {
            // Halves, so that the difference is a number.
            *deviation = (y * half - centre * half).abs();
        }
        let n = y.len();
        let ranks = [n / 2, n - 1 - n / 4, n - 1 - n / 10, n - 1 - n / 100, n - 1];
        let quantiles = ranks.map(|rank| nth_smallest(&mut sorted, rank));
        let scale = quantiles.into_iter().find(|&s| s > T::zero()).unwrap_or_else(T::one);
        Self { centre, scale: scale.min(T::max_value() * constant(0.25)) / half }
    }

    pub(super) fn apply(&self, y: T) -> T {
        let half = constant::<T>(0.5);
        let v = (y * half - self.centre * half) / (self.scale * half);
        let most = T::epsilon().sqrt().recip();
        v.max(-most).min(most)
    }
}

/// Inner product of two rows.
pub(super) fn inner<T: Real>(a: &[T], b: &[T]) -> T {
    struct Inner<'a, T>(&'a [T], &'a [T]);
    impl<T: Real> Routine for Inner<'_, T> {
        type Output = T;
        #[inline(always)]
        fn run<const FUSED: bool>(self) -> T {
            dot::<T, FUSED>(self.0, self.1)
        }
    }
    dispatch(Inner(a, b))
}

/// `sum` $+$ `factor` $\cdot$ `row`.
pub(super) struct Add<'a, T> {
    pub(super) sum: &'a mut [T],
    pub(super) factor: T,
    pub(super) row: &'a [T],
}

impl<T: Real> Routine for Add<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        add_scaled::<T, FUSED>(self.sum, self.factor, self.row);
    }
}

/// A symmetric matrix plus `factor` times the row's product with itself.
pub(super) struct Rank1<'a, T> {
    pub(super) matrix: &'a mut [T],
    pub(super) factor: T,
    pub(super) row: &'a [T],
}

impl<T: Real> Routine for Rank1<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let rows = self.matrix.chunks_exact_mut(self.row.len());
        for (line, &entry) in rows.zip(self.row) {
            add_scaled::<T, FUSED>(line, self.factor * entry, self.row);
        }
    }
}
