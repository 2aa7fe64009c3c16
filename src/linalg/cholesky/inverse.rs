//! The whole inverse $A^{-1} = L^{-T} L^{-1}$ in the place of $L$.
//!
//! The strictly upper triangle is free, so $U = L^{-T}$ goes there, and on the
//! diagonal, whose pivots are kept as reciprocals. Row $i$ of $U$ is column
//! $i$ of $L^{-1}$; the inverse is then
//!
//! $$ (A^{-1})\_{ab} = \sum_{i \ge a} U_{ai} U_{bi}, \qquad b \le a, $$
//!
//! written over the lower triangle, where $L$ is no longer needed.

use super::factor::substitute;
use crate::linalg::matrix::{add_up_to_diagonal, mirror_lower, pack};
use crate::linalg::simd::{Routine, dispatch, multiply_add};
use crate::linalg::tile::{ROWS, TALL, lanes, tile, with_lanes};
use crate::{Error, Real};

/// Scalars of scratch that [`invert`] needs.
#[must_use]
pub const fn invert_scratch_len<T>(n: usize) -> usize {
    n.saturating_mul(lanes::<T>() + 1)
}

/// Replaces the factor that [`factor`](super::factor()) left in `l` by the
/// whole symmetric inverse.
///
/// # Errors
/// [`Error::Length`] or [`Error::TooShort`] if a length does not fit.
pub fn invert<T: Real>(l: &mut [T], n: usize, scratch: &mut [T]) -> Result<(), Error> {
    Error::check_square("factor", l.len(), n)?;
    Error::check_at_least("scratch", scratch.len(), invert_scratch_len::<T>(n))?;
    dispatch(Invert { a: l, n, scratch });
    Ok(())
}

/// Scalars of scratch that [`inverse_diagonal`] needs.
#[must_use]
pub const fn inverse_diagonal_scratch_len<T>(n: usize) -> usize {
    invert_scratch_len::<T>(n)
}

/// The diagonal of the inverse, without the rest of it: the squared lengths of
/// the columns of $L^{-1}$.
///
/// # Errors
/// [`Error::Length`] or [`Error::TooShort`] if a length does not fit.
pub fn inverse_diagonal<T: Real>(l: &[T], out: &mut [T], scratch: &mut [T]) -> Result<(), Error> {
    let n = out.len();
    Error::check_square("factor", l.len(), n)?;
    Error::check_at_least("scratch", scratch.len(), inverse_diagonal_scratch_len::<T>(n))?;
    dispatch(InverseDiagonal { l, out, scratch });
    Ok(())
}

struct InverseDiagonal<'a, T> {
    l: &'a [T],
    out: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Routine for InverseDiagonal<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { l, out, scratch } = self;
        with_lanes!(T, inverse_diagonal_lanes::<FUSED>(l, out, scratch));
    }
}

#[inline(always)]
fn inverse_diagonal_lanes<T: Real, const LANES: usize, const FUSED: bool>(
    l: &[T],
    out: &mut [T],
    scratch: &mut [T],
) {
    let n = out.len();
    let (reciprocals, panels) = pivots(l, n, scratch);
    for (left, out) in (0..n).step_by(LANES).zip(out.chunks_mut(LANES)) {
        let panel = &mut panels[..n - left];
        unit_columns::<T, LANES, FUSED>(l, n, left, reciprocals, panel);
        let mut sums = [T::zero(); LANES];
        for p in panel.iter() {
            for l in 0..LANES {
                sums[l] = multiply_add::<T, FUSED>(p[l], p[l], sums[l]);
            }
        }
        out.copy_from_slice(&sums[..out.len()]);
    }
}

/// Divides the scratch into the reciprocals of the pivots and panels.
#[inline(always)]
fn pivots<'a, T: Real, const LANES: usize>(
    l: &[T],
    n: usize,
    scratch: &'a mut [T],
) -> (&'a [T], &'a mut [[T; LANES]]) {
    let (reciprocals, panels) = scratch.split_at_mut(n);
    for (i, reciprocal) in reciprocals.iter_mut().enumerate() {
        *reciprocal = l[i * n + i].recip();
    }
    (reciprocals, panels.as_chunks_mut::<LANES>().0)
}

/// The columns of $L^{-1}$ from `left` on, as many as there are lanes:
/// $L X = I$.
#[inline(always)]
fn unit_columns<T: Real, const LANES: usize, const FUSED: bool>(
    l: &[T],
    n: usize,
    left: usize,
    reciprocals: &[T],
    panel: &mut [[T; LANES]],
) {
    panel.fill([T::zero(); LANES]);
    for (l, p) in panel.iter_mut().enumerate().take(LANES) {
        p[l] = T::one();
    }
    substitute::<T, LANES, FUSED>(l, n, left, &reciprocals[left..], panel);
}

struct Invert<'a, T> {
    a: &'a mut [T],
    n: usize,
    scratch: &'a mut [T],
}

impl<T: Real> Routine for Invert<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { a, n, scratch } = self;
        with_lanes!(T, invert_lanes::<ROWS, FUSED>(a, n, scratch));
        mirror_lower(a, n);
    }

    #[inline(always)]
    fn gains_by_width(&self) -> bool {
        true
    }

    #[inline(always)]
    fn run_wide(self) {
        let Self { a, n, scratch } = self;
        with_lanes!(T, invert_lanes::<TALL, true>(a, n, scratch));
        mirror_lower(a, n);
    }
}

#[inline(always)]
fn invert_lanes<T: Real, const LANES: usize, const HEIGHT: usize, const FUSED: bool>(
    a: &mut [T],
    n: usize,
    scratch: &mut [T],
) {
    let (reciprocals, panels) = pivots::<T, LANES>(a, n, scratch);

    // U, a panel of columns of the inverse of L at a time.
    for left in (0..n).step_by(LANES) {
        let panel = &mut panels[..n - left];
        unit_columns::<T, LANES, FUSED>(a, n, left, reciprocals, panel);
        for l in 0..LANES.min(n - left) {
            let row = &mut a[(left + l) * n + left..][..n - left];
            for (x, p) in row.iter_mut().zip(panel.iter()).skip(l) {
                *x = p[l];
            }
        }
    }

    // The products of rows of U. Ascending panels: a diagonal entry of U is
    // overwritten only after its last use.
    for left in (0..n).step_by(LANES) {
        let panel = &mut panels[..n - left];
        pack(a, n, left, LANES.min(n - left), left, panel);
        for top in (left..n).step_by(HEIGHT) {
            let rows = HEIGHT.min(n - top);
            let full = top + rows;
            let row = |r: usize| &a[(top + r).min(n - 1) * n + full..][..n - full];
            let mut sum = tile::<T, LANES, LANES, HEIGHT, FUSED>(
                core::array::from_fn(row),
                &panel[full - left..],
            );
            // The corner, where row r of U begins at its diagonal.
            for r in 0..rows {
                for i in top + r..full {
                    let u = a[(top + r) * n + i];
                    for l in 0..LANES {
                        sum[r][l] = multiply_add::<T, FUSED>(u, panel[i - left][l], sum[r][l]);
                    }
                }
            }
            for (i, sum) in (top..full).zip(&sum) {
                a[i * n + left..=i * n + i.min(left + LANES - 1)].fill(T::zero());
                add_up_to_diagonal(a, n, i, left, sum);
            }
        }
    }
}
