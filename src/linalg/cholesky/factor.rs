//! Factorisation $A = L L^T$, blocked.
//!
//! Right-looking over blocks of [`BLOCK`] columns. For each block
//!
//! 1. the diagonal block is factored, one panel of rows at a time,
//! 2. the rows below are solved against it: $L_{21} = A_{21} L_{11}^{-T}$,
//! 3. the rest is updated: $A_{22} \leftarrow A_{22} - L_{21} L_{21}^T$.
//!
//! A panel is a few rows of $L$, transposed and packed, so that steps 1 and 2
//! are the same forward substitution on all lanes at once, and step 3 reads
//! the very panels that step 2 has left behind.

use crate::linalg::matrix::{add_up_to_diagonal, pack};
use crate::linalg::simd::{Routine, dispatch, multiply_add};
use crate::linalg::tile::{ROWS, TALL, lanes, tile, with_lanes};
use crate::{Error, Real};

/// Columns of a block: 128 columns of a panel fill a quarter of a 32 KiB L1
/// cache, and their triangle stays in L2.
const BLOCK: usize = 128;

/// Rows that are updated together with one pass over the packed panels, so
/// that they stay in the L2 cache (step 3).
const ROW_BLOCK: usize = 64;

/// Scalars of scratch that [`factor`] needs for an `n` x `n` matrix of `T`.
#[must_use]
pub const fn factor_scratch_len<T>(n: usize) -> usize {
    let width = lanes::<T>();
    let panels = if n <= BLOCK { 1 } else { (n - BLOCK).div_ceil(width) };
    let depth = if n < BLOCK { n } else { BLOCK };
    // The panels, and the reciprocals of a block's pivots.
    panels.saturating_mul(depth * width).saturating_add(depth)
}

/// Factors the symmetric positive definite matrix `a` (`n` x `n`, row-major,
/// only the lower triangle is read) in place: afterwards the lower triangle
/// holds `L` and the strictly upper one is as it was.
///
/// # Errors
/// [`Error::NotPositiveDefinite`] with the pivot's index and value;
/// [`Error::Length`] if `a` or `scratch` has not the right length.
pub fn factor<T: Real>(a: &mut [T], n: usize, scratch: &mut [T]) -> Result<(), Error> {
    Error::check_square("matrix", a.len(), n)?;
    Error::check_at_least("scratch", scratch.len(), factor_scratch_len::<T>(n))?;
    dispatch(Factor { a, n, scratch })
}

struct Factor<'a, T> {
    a: &'a mut [T],
    n: usize,
    scratch: &'a mut [T],
}

impl<T: Real> Routine for Factor<'_, T> {
    type Output = Result<(), Error>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Self::Output {
        let Self { a, n, scratch } = self;
        with_lanes!(T, blocked::<ROWS, FUSED>(a, n, scratch))
    }

    #[inline(always)]
    fn gains_by_width(&self) -> bool {
        // A single block is mostly substitution, which has less to do at once.
        self.n > BLOCK
    }

    #[inline(always)]
    fn run_wide(self) -> Self::Output {
        let Self { a, n, scratch } = self;
        with_lanes!(T, blocked::<TALL, true>(a, n, scratch))
    }
}

#[inline(always)]
fn blocked<T: Real, const LANES: usize, const HEIGHT: usize, const FUSED: bool>(
    a: &mut [T],
    n: usize,
    scratch: &mut [T],
) -> Result<(), Error> {
    let (reciprocals, panels) = scratch.split_at_mut(n.min(BLOCK));
    let (panels, _) = panels.as_chunks_mut::<LANES>();
    let mut start = 0;
    while start < n {
        let end = (start + BLOCK).min(n);
        let width = end - start;
        let reciprocals = &mut reciprocals[..width];

        // 1. The diagonal block.
        for top in (start..end).step_by(LANES) {
            let rows = LANES.min(end - top);
            let depth = top - start;
            let panel = &mut panels[..depth];
            pack(a, n, top, rows, start, panel);
            substitute::<T, LANES, FUSED>(a, n, start, &reciprocals[..depth], panel);
            unpack(a, n, top, rows, start, panel);
            diagonal::<T, LANES, FUSED>(a, n, top, rows, start, panel, &mut reciprocals[depth..])?;
        }

        // 2. The rows below it.
        for (i, top) in (end..n).step_by(LANES).enumerate() {
            let rows = LANES.min(n - top);
            let panel = &mut panels[i * width..][..width];
            pack(a, n, top, rows, start, panel);
            substitute::<T, LANES, FUSED>(a, n, start, reciprocals, panel);
            unpack(a, n, top, rows, start, panel);
        }

        // 3. What remains to be factored.
        for band in (end..n).step_by(ROW_BLOCK) {
            let band_end = (band + ROW_BLOCK).min(n);
            for (i, left) in (end..band_end).step_by(LANES).enumerate() {
                let panel = &panels[i * width..][..width];
                for top in (band.max(left)..band_end).step_by(HEIGHT) {
                    let row = |r: usize| &a[(top + r).min(n - 1) * n + start..][..width];
                    let sum =
                        tile::<T, LANES, LANES, HEIGHT, FUSED>(core::array::from_fn(row), panel);
                    for (i, sum) in (top..band_end).zip(sum) {
                        add_up_to_diagonal(a, n, i, left, &sum.map(T::neg));
                    }
                }
            }
        }
        start = end;
    }
    Ok(())
}

/// The inverse of [`pack`].
#[inline(always)]
fn unpack<T: Real, const LANES: usize>(
    a: &mut [T],
    n: usize,
    top: usize,
    rows: usize,
    left: usize,
    panel: &[[T; LANES]],
) {
    for r in 0..rows {
        let row = &mut a[(top + r) * n + left..][..panel.len()];
        for (p, x) in panel.iter().zip(row) {
            *x = p[r];
        }
    }
}

/// Solves `L X = B` for all lanes of a panel in place; `L` is the triangle of
/// `a` whose corner is at (`corner`, `corner`), as deep as the panel.
#[inline(always)]
pub(super) fn substitute<T: Real, const LANES: usize, const FUSED: bool>(
    a: &[T],
    n: usize,
    corner: usize,
    reciprocals: &[T],
    panel: &mut [[T; LANES]],
) {
    let depth = panel.len();
    for top in (0..depth).step_by(ROWS) {
        let rows = ROWS.min(depth - top);
        let row = |r: usize| &a[(corner + top + r.min(rows - 1)) * n + corner..][..top + rows];
        let (solved, rest) = panel.split_at_mut(top);
        let sum = tile::<T, LANES, LANES, ROWS, FUSED>(core::array::from_fn(row), solved);
        for r in 0..rows {
            let mut x = rest[r];
            for l in 0..LANES {
                x[l] = x[l] - sum[r][l];
            }
            for q in 0..r {
                let factor = -row(r)[top + q];
                for l in 0..LANES {
                    x[l] = multiply_add::<T, FUSED>(factor, rest[q][l], x[l]);
                }
            }
            for l in 0..LANES {
                rest[r][l] = x[l] * reciprocals[top + r];
            }
        }
    }
}

/// Factors the small block on the diagonal at `top`, whose rows left of it are
/// in `panel`, and leaves the reciprocals of its pivots.
#[inline(always)]
fn diagonal<T: Real, const LANES: usize, const FUSED: bool>(
    a: &mut [T],
    n: usize,
    top: usize,
    rows: usize,
    left: usize,
    panel: &[[T; LANES]],
    reciprocals: &mut [T],
) -> Result<(), Error> {
    // block[c][l] is the entry in column c and row l; what lies above the
    // diagonal is computed along and never used. Missing rows are those of
    // the identity.
    let mut block = [[T::zero(); LANES]; LANES];
    for l in 0..LANES {
        if l < rows {
            let row = &a[(top + l) * n + top..][..=l];
            for (column, &x) in block.iter_mut().zip(row) {
                column[l] = x;
            }
        } else {
            block[l][l] = T::one();
        }
    }
    for first in (0..rows).step_by(ROWS) {
        let row = |r: usize| &a[(top + first + r).min(n - 1) * n + left..][..panel.len()];
        let sum = tile::<T, LANES, LANES, ROWS, FUSED>(core::array::from_fn(row), panel);
        for (column, sum) in block[first..].iter_mut().zip(sum) {
            for l in 0..LANES {
                column[l] = column[l] - sum[l];
            }
        }
    }
    for c in 0..LANES {
        let pivot = block[c][c];
        // Also false for a NaN.
        if !(pivot > T::zero() && pivot.is_finite()) {
            return Err(Error::not_positive_definite(top + c, pivot));
        }
        let root = pivot.sqrt();
        let reciprocal = root.recip();
        for l in 0..LANES {
            block[c][l] = block[c][l] * reciprocal;
        }
        let column = block[c];
        for d in c + 1..LANES {
            for l in 0..LANES {
                block[d][l] = multiply_add::<T, FUSED>(-column[d], column[l], block[d][l]);
            }
        }
        block[c][c] = root;
        if let Some(entry) = reciprocals.get_mut(c) {
            *entry = reciprocal;
        }
    }
    for l in 0..rows {
        let row = &mut a[(top + l) * n + top..][..=l];
        for (x, column) in row.iter_mut().zip(&block) {
            *x = column[l];
        }
    }
    Ok(())
}
