//! Triangular solves with a factor.

use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::tile::ROWS;
use crate::linalg::vector::{add_scaled, add_scaled_4, dot_4};
use crate::{Error, Real};

/// Solves $L L^T x = b$ in place; `l` is the factor that
/// [`factor`](super::factor()) left in the lower triangle.
///
/// # Errors
/// [`Error::Length`] if `l` is not square of the size of `x`.
pub fn solve<T: Real>(l: &[T], x: &mut [T]) -> Result<(), Error> {
    Error::check_square("factor", l.len(), x.len())?;
    forward(l, x, 0);
    backward(l, x);
    Ok(())
}

/// Solves $L x = b$ in place.
///
/// # Errors
/// [`Error::Length`] if `l` is not square of the size of `x`.
pub fn solve_lower<T: Real>(l: &[T], x: &mut [T]) -> Result<(), Error> {
    Error::check_square("factor", l.len(), x.len())?;
    forward(l, x, 0);
    Ok(())
}

/// Solves $L^T x = b$ in place.
///
/// # Errors
/// [`Error::Length`] if `l` is not square of the size of `x`.
pub fn solve_upper<T: Real>(l: &[T], x: &mut [T]) -> Result<(), Error> {
    Error::check_square("factor", l.len(), x.len())?;
    backward(l, x);
    Ok(())
}

/// Column `j` of the inverse: solves $L L^T x = e_j$, without touching the
/// zeros above `j`.
///
/// # Errors
/// [`Error::Length`] if `l` is not square of the size of `x`;
/// [`Error::Index`] if there is no column `j`.
pub fn solve_unit<T: Real>(l: &[T], j: usize, x: &mut [T]) -> Result<(), Error> {
    Error::check_square("factor", l.len(), x.len())?;
    if j >= x.len() {
        return Err(Error::Index { index: j, len: x.len() });
    }
    inverse_column(l, j, x);
    Ok(())
}

/// [`solve_unit`] where the lengths are known to be right.
pub(crate) fn inverse_column<T: Real>(l: &[T], j: usize, x: &mut [T]) {
    x.fill(T::zero());
    x[j] = T::one();
    forward(l, x, j);
    backward(l, x);
}

/// $L x = b$ in place, where `b` is zero before `first`.
#[inline(never)]
pub(crate) fn forward<T: Real>(l: &[T], x: &mut [T], first: usize) {
    dispatch(Forward { l, x, first });
}

/// $L^T x = b$ in place.
#[inline(never)]
pub(crate) fn backward<T: Real>(l: &[T], x: &mut [T]) {
    dispatch(Backward { l, x });
}

struct Forward<'a, T> {
    l: &'a [T],
    x: &'a mut [T],
    first: usize,
}

impl<T: Real> Routine for Forward<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { l, x, first } = self;
        let n = x.len();
        // ROWS rows at a time: all that the entries above contribute, then
        // their own triangle.
        for start in (first..n).step_by(ROWS) {
            let end = (start + ROWS).min(n);
            let row = |r: usize| &l[(start + r).min(n - 1) * n..][..n];
            let above = [row(0), row(1), row(2), row(3)].map(|row| &row[first..start]);
            let sums = dot_4::<T, FUSED>(above, &x[first..start]);
            for i in start..end {
                let row = row(i - start);
                let mut known = x[i] - sums[i - start];
                for j in start..i {
                    known = known - row[j] * x[j];
                }
                x[i] = known / row[i];
            }
        }
    }
}

struct Backward<'a, T> {
    l: &'a [T],
    x: &'a mut [T],
}

impl<T: Real> Routine for Backward<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { l, x } = self;
        let n = x.len();
        // From the bottom, ROWS rows at a time: first their own triangle, then
        // all they contribute to the entries above.
        let mut end = n;
        while end > 0 {
            let start = if end % ROWS == 0 { end - ROWS } else { end - end % ROWS };
            for i in (start..end).rev() {
                let row = &l[i * n..][..=i];
                x[i] = x[i] / row[i];
                for j in start..i {
                    x[j] = x[j] - row[j] * x[i];
                }
            }
            let (above, here) = x.split_at_mut(start);
            let row = |r: usize| &l[(start + r) * n..][..start];
            if let Ok(here) = <&[T; ROWS]>::try_from(&here[..end - start]) {
                let rows = [row(0), row(1), row(2), row(3)];
                add_scaled_4::<T, FUSED>(above, here.map(T::neg), rows);
            } else {
                for r in 0..end - start {
                    add_scaled::<T, FUSED>(above, -here[r], row(r));
                }
            }
            end = start;
        }
    }
}
