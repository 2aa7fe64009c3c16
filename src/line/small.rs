//! Matrices of a few rows, in registers.

use crate::Real;

/// $|A|$ of a symmetric $2 \times 2$ matrix, at least zero.
#[inline(always)]
pub(super) fn determinant<T: Real, const D: usize>(a: &[[T; D]; D]) -> T {
    let determinant = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    if determinant > T::zero() { determinant } else { T::zero() }
}

/// $\operatorname{adj}(A) v$ of a symmetric $2 \times 2$ matrix.
#[inline(always)]
pub(super) fn adjugate_times<T: Real, const D: usize>(a: &[[T; D]; D], v: &[T; D]) -> [T; D] {
    let mut out = *v;
    out[0] = a[1][1] * v[0] - a[0][1] * v[1];
    out[1] = a[0][0] * v[1] - a[0][1] * v[0];
    out
}

/// Solves $A x = b$ for several lists of $b$ in place, by Gaussian elimination
/// with partial pivoting.
#[inline(always)]
pub(super) fn solve<T: Real, const D: usize>(mut a: [[T; D]; D], lists: &mut [&mut [[T; D]]]) {
    for column in 0..D {
        let mut pivot = column;
        for k in column + 1..D {
            if a[k][column].abs() > a[pivot][column].abs() {
                pivot = k;
            }
        }
        if pivot != column {
            a.swap(column, pivot);
            for b in lists.iter_mut().flat_map(|list| list.iter_mut()) {
                b.swap(column, pivot);
            }
        }
        let inverse = a[column][column].recip();
        for k in column + 1..D {
            let factor = a[k][column] * inverse;
            for l in column + 1..D {
                a[k][l] = a[k][l] - factor * a[column][l];
            }
            for b in lists.iter_mut().flat_map(|list| list.iter_mut()) {
                b[k] = b[k] - factor * b[column];
            }
        }
        // The reciprocal stands where the pivot was.
        a[column][column] = inverse;
    }
    for column in (0..D).rev() {
        for b in lists.iter_mut().flat_map(|list| list.iter_mut()) {
            let sum = (column + 1..D).fold(b[column], |sum, l| sum - a[column][l] * b[l]);
            b[column] = sum * a[column][column];
        }
    }
}
