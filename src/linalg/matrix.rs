//! Products of matrices and vectors.

use super::simd::{Routine, dispatch};
use super::tile::{ROWS, TALL, VECTORS, lanes, tile, with_lanes};
use super::vector::{add_combination, dot_4, plain_dot};
use crate::{Error, Real};

/// Depth of a packed panel: 256 entries of all lanes fill half of a 32 KiB L1
/// cache.
const DEPTH: usize = 256;

/// Side of the squares in which [`mirror_lower`] walks.
const SQUARE: usize = 16;

/// `out = matrix * x` for a row-major matrix of `out.len()` rows.
///
/// # Errors
/// [`Error::Length`] if the lengths do not fit together.
pub fn multiply<T: Real>(matrix: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
    let entries = out.len().checked_mul(x.len()).ok_or(Error::TooLarge { scalars: usize::MAX })?;
    Error::check_len("matrix", matrix.len(), entries)?;
    dispatch(Multiply { matrix, x, out });
    Ok(())
}

struct Multiply<'a, T> {
    matrix: &'a [T],
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Routine for Multiply<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { matrix, x, out } = self;
        let n = x.len();
        let rows = out.len();
        if !VECTORS {
            let mut rest = matrix;
            for out in out {
                let Some((row, others)) = rest.split_at_checked(n) else { return };
                *out = plain_dot::<T, FUSED>(row, x);
                rest = others;
            }
            return;
        }
        for (b, block) in out.chunks_mut(4).enumerate() {
            let row = |r: usize| &matrix[(4 * b + r).min(rows - 1) * n..][..n];
            let sums = dot_4::<T, FUSED>([row(0), row(1), row(2), row(3)], x);
            block.copy_from_slice(&sums[..block.len()]);
        }
    }
}

/// `out = matrix^T * x` for a row-major matrix of `x.len()` rows.
pub(crate) fn multiply_transposed<T: Real>(matrix: &[T], x: &[T], out: &mut [T]) {
    dispatch(MultiplyTransposed { matrix, x, out });
}

struct MultiplyTransposed<'a, T> {
    matrix: &'a [T],
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Routine for MultiplyTransposed<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.out.fill(T::zero());
        add_combination::<T, FUSED>(self.out, self.x, self.matrix);
    }
}

/// Scalars of scratch that [`self_product`] needs for rows of length `depth`.
#[must_use]
pub const fn self_product_scratch_len<T>(depth: usize) -> usize {
    lanes::<T>() * if depth < DEPTH { depth } else { DEPTH }
}

/// Adds $A A^T$ to the lower triangle of `out`: `a` has `n` rows, `out` is
/// `n` x `n`.
///
/// # Errors
/// [`Error::Length`] or [`Error::TooShort`] if a length does not fit.
pub fn self_product<T: Real>(
    a: &[T],
    n: usize,
    out: &mut [T],
    scratch: &mut [T],
) -> Result<(), Error> {
    Error::check_square("product", out.len(), n)?;
    if n == 0 {
        return Error::check_len("matrix", a.len(), 0);
    }
    let depth = a.len() / n;
    Error::check_len("matrix", a.len(), n * depth)?;
    Error::check_at_least("scratch", scratch.len(), self_product_scratch_len::<T>(depth))?;
    dispatch(SelfProduct { a, n, depth, out, scratch });
    Ok(())
}

struct SelfProduct<'a, T> {
    a: &'a [T],
    n: usize,
    depth: usize,
    out: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Routine for SelfProduct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { a, n, depth, out, scratch } = self;
        with_lanes!(T, self_product_lanes::<ROWS, FUSED>(a, n, depth, out, scratch));
    }

    #[inline(always)]
    fn gains_by_width(&self) -> bool {
        true
    }

    #[inline(always)]
    fn run_wide(self) {
        let Self { a, n, depth, out, scratch } = self;
        with_lanes!(T, self_product_lanes::<TALL, true>(a, n, depth, out, scratch));
    }
}

#[inline(always)]
fn self_product_lanes<T: Real, const LANES: usize, const HEIGHT: usize, const FUSED: bool>(
    a: &[T],
    n: usize,
    depth: usize,
    out: &mut [T],
    scratch: &mut [T],
) {
    let (panels, _) = scratch.as_chunks_mut::<LANES>();
    for start in (0..depth).step_by(DEPTH) {
        let width = DEPTH.min(depth - start);
        let panel = &mut panels[..width];
        for left in (0..n).step_by(LANES) {
            pack(a, depth, left, LANES.min(n - left), start, panel);
            for top in (left..n).step_by(HEIGHT) {
                let row = |r: usize| &a[(top + r).min(n - 1) * depth + start..][..width];
                let sum = tile::<T, LANES, LANES, HEIGHT, FUSED>(core::array::from_fn(row), panel);
                for (i, sum) in (top..n).zip(&sum) {
                    add_up_to_diagonal(out, n, i, left, sum);
                }
            }
        }
    }
}

/// Panel of the rows `top..top + rows` of `a` (rows of length `n`) and the
/// columns from `left` on, transposed; lanes without a row are zero.
#[inline(always)]
pub(in crate::linalg) fn pack<T: Real, const LANES: usize>(
    a: &[T],
    n: usize,
    top: usize,
    rows: usize,
    left: usize,
    panel: &mut [[T; LANES]],
) {
    let depth = panel.len();
    let row = |r: usize| &a[(top + r.min(rows - 1)) * n + left..][..depth];
    let sources: [&[T]; LANES] = core::array::from_fn(row);
    for k in 0..depth {
        panel[k] = core::array::from_fn(|l| sources[l][k]);
    }
    if rows < LANES {
        for p in panel {
            p[rows..].fill(T::zero());
        }
    }
}

/// Adds `values` to row `i` of `a` from column `left` on, as far as the
/// diagonal: the upper triangle stays as it is.
#[inline(always)]
pub(in crate::linalg) fn add_up_to_diagonal<T: Real, const LANES: usize>(
    a: &mut [T],
    n: usize,
    i: usize,
    left: usize,
    values: &[T; LANES],
) {
    let row = &mut a[i * n..][..=i];
    if left + LANES <= i + 1 {
        let row = &mut row[left..][..LANES];
        for l in 0..LANES {
            row[l] = row[l] + values[l];
        }
    } else {
        for (x, &v) in row.iter_mut().skip(left).zip(values) {
            *x = *x + v;
        }
    }
}

/// Copies the lower triangle of a square matrix to the upper one.
pub(crate) fn mirror_lower<T: Copy>(a: &mut [T], n: usize) {
    for top in (0..n).step_by(SQUARE) {
        for left in (0..=top).step_by(SQUARE) {
            for i in top..(top + SQUARE).min(n) {
                for j in left..(left + SQUARE).min(i) {
                    a[j * n + i] = a[i * n + j];
                }
            }
        }
    }
}
