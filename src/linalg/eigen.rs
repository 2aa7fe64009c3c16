//! Eigenvalues and eigenvectors of a symmetric matrix, and the largest
//! singular value of $[K\ \mathbf 1]$ that Theorem 1 asks for.
//!
//! Householder reflections make the matrix tridiagonal, $A = Q T Q^T$; the QL
//! algorithm with implicit shifts makes $T$ diagonal. Eigenvectors are kept as
//! rows, so that every reflection and rotation runs along memory.

use super::simd::{Routine, dispatch, multiply_add};
use super::vector::{add_scaled, dot};
use crate::real::constant;
use crate::{Error, Real};

/// QL steps for one eigenvalue before giving up; two or three are usual.
const QL_STEPS: usize = 64;

/// Scalars of scratch that [`symmetric`] needs.
#[must_use]
pub const fn symmetric_scratch_len(n: usize) -> usize {
    n.saturating_mul(3)
}

/// Decomposes the symmetric `n` x `n` matrix `a` (the lower triangle is read):
/// afterwards `values` holds the eigenvalues, largest first, and row `i` of
/// `a` the unit eigenvector of the `i`-th.
///
/// # Errors
/// [`Error::NotFinite`] for a matrix with a NaN or an infinity;
/// [`Error::NoConvergence`] if the QL algorithm does not settle, which no
/// finite matrix of ordinary size has been seen to do; [`Error::Length`] or
/// [`Error::TooShort`] if a length does not fit.
pub fn symmetric<T: Real>(
    a: &mut [T],
    n: usize,
    values: &mut [T],
    scratch: &mut [T],
) -> Result<(), Error> {
    Error::check_square("matrix", a.len(), n)?;
    Error::check_len("eigenvalues", values.len(), n)?;
    Error::check_at_least("scratch", scratch.len(), symmetric_scratch_len(n))?;
    for i in 0..n {
        Error::check_finite("matrix entry", &a[i * n..][..=i])?;
    }
    super::mirror_lower(a, n);
    dispatch(Symmetric { a, n, values, scratch })
}

struct Symmetric<'a, T> {
    a: &'a mut [T],
    n: usize,
    values: &'a mut [T],
    scratch: &'a mut [T],
}

impl<T: Real> Routine for Symmetric<'_, T> {
    type Output = Result<(), Error>;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Self::Output {
        let Self { a, n, values, scratch } = self;
        let (off_diagonal, rest) = scratch.split_at_mut(n);
        let (scales, product) = rest.split_at_mut(n);
        let product = &mut product[..n];
        tridiagonalize::<T, FUSED>(a, n, values, off_diagonal, scales, product);
        accumulate::<T, FUSED>(a, n, scales, product);
        diagonalize::<T, FUSED>(a, n, values, off_diagonal)?;
        sort(a, n, values);
        Ok(())
    }
}

/// $A \leftarrow H_k A H_k$ for $H_k = I - \beta_k v_k v_k^T$, column by
/// column. Leaves $v_k$ in row `k` right of the diagonal, $\beta_k$ in
/// `scales`, and the tridiagonal matrix in `diagonal` and `off_diagonal`.
#[inline(always)]
fn tridiagonalize<T: Real, const FUSED: bool>(
    a: &mut [T],
    n: usize,
    diagonal: &mut [T],
    off_diagonal: &mut [T],
    scales: &mut [T],
    product: &mut [T],
) {
    for k in 0..n {
        diagonal[k] = a[k * n + k];
        scales[k] = T::zero();
        off_diagonal[k] = T::zero();
        if k + 1 == n {
            break;
        }
        // a is symmetric: column k below the diagonal is row k right of it.
        let (head, rest) = a.split_at_mut((k + 1) * n);
        let v = &mut head[k * n + k + 1..];
        let size = v.iter().fold(T::zero(), |max, x| max.max(x.abs()));
        off_diagonal[k] = v[0];
        if k + 2 == n || size == T::zero() {
            continue;
        }
        // Scaled by its largest entry, so that no square overflows.
        for x in v.iter_mut() {
            *x = *x / size;
        }
        let norm = dot::<T, FUSED>(v, v).sqrt();
        let signed = if v[0] < T::zero() { -norm } else { norm };
        off_diagonal[k] = -signed * size;
        v[0] = v[0] + signed;
        let beta = constant::<T>(2.0) / dot::<T, FUSED>(v, v);
        scales[k] = beta;
        // p = beta A v,  w = p - (beta/2)(p.v) v,  A <- A - v w' - w v'.
        let w = &mut product[..v.len()];
        for (row, w) in rest.chunks_exact(n).zip(w.iter_mut()) {
            *w = beta * dot::<T, FUSED>(&row[k + 1..], v);
        }
        let half = beta * dot::<T, FUSED>(w, v) / constant(2.0);
        add_scaled::<T, FUSED>(w, -half, v);
        for ((row, &v_i), &w_i) in rest.chunks_exact_mut(n).zip(&*v).zip(&*w) {
            for ((x, &v), &w) in row[k + 1..].iter_mut().zip(&*v).zip(&*w) {
                let partial = multiply_add::<T, FUSED>(-v_i, w, *x);
                *x = multiply_add::<T, FUSED>(-w_i, v, partial);
            }
        }
    }
}

/// Turns the reflections left in `a` into $Q^T$, from the last one back.
#[inline(always)]
fn accumulate<T: Real, const FUSED: bool>(
    a: &mut [T],
    n: usize,
    scales: &[T],
    reflection: &mut [T],
) {
    for k in (0..n).rev() {
        let v = &mut reflection[..n - k - 1];
        v.copy_from_slice(&a[k * n + k + 1..][..n - k - 1]);
        a[k * n + k..(k + 1) * n].fill(T::zero());
        a[k * n + k] = T::one();
        for row in a[(k + 1) * n..].chunks_exact_mut(n) {
            row[k] = T::zero();
            if scales[k] != T::zero() {
                let row = &mut row[k + 1..];
                let along = scales[k] * dot::<T, FUSED>(row, v);
                add_scaled::<T, FUSED>(row, -along, v);
            }
        }
    }
}

/// Implicit QL on the tridiagonal matrix, the rotations applied to the rows of
/// `a`.
#[inline(always)]
fn diagonalize<T: Real, const FUSED: bool>(
    a: &mut [T],
    n: usize,
    d: &mut [T],
    e: &mut [T],
) -> Result<(), Error> {
    let two = constant::<T>(2.0);
    // Small beside the whole matrix, whose reduction had larger errors. Where
    // eigenvalues are nothing but rounding, nothing gets small beside them.
    let largest = d.iter().chain(&*e).fold(T::zero(), |max, x| max.max(x.abs()));
    let negligible = T::epsilon() * largest / constant(16.0);
    for l in 0..n {
        for step in 0.. {
            // The block l..=m that has not come apart yet.
            let m = (l..n - 1)
                .find(|&m| {
                    let beside = T::epsilon() * (d[m].abs() + d[m + 1].abs());
                    e[m].abs() <= beside.max(negligible)
                })
                .unwrap_or(n - 1);
            if m == l {
                break;
            }
            if step == QL_STEPS {
                return Err(Error::NoConvergence { what: "the QL eigenvalue algorithm" });
            }
            // Wilkinson's shift.
            let g = (d[l + 1] - d[l]) / (two * e[l]);
            let r = g.hypot(T::one());
            let mut g = d[m] - d[l] + e[l] / (g + if g < T::zero() { -r } else { r });
            let (mut s, mut c, mut p) = (T::one(), T::one(), T::zero());
            let mut split = false;
            for i in (l..m).rev() {
                let f = s * e[i];
                let b = c * e[i];
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == T::zero() {
                    d[i + 1] = d[i + 1] - p;
                    e[m] = T::zero();
                    split = true;
                    break;
                }
                s = f / r;
                c = g / r;
                let h = d[i + 1] - p;
                let t = (d[i] - h) * s + two * c * b;
                p = s * t;
                d[i + 1] = h + p;
                g = c * t - b;
                let (upper, lower) = a[i * n..][..2 * n].split_at_mut(n);
                for (x, y) in upper.iter_mut().zip(lower) {
                    let (old_x, old_y) = (*x, *y);
                    *y = multiply_add::<T, FUSED>(s, old_x, c * old_y);
                    *x = multiply_add::<T, FUSED>(c, old_x, -(s * old_y));
                }
            }
            if !split {
                d[l] = d[l] - p;
                e[l] = g;
                e[m] = T::zero();
            }
        }
    }
    Ok(())
}

/// Largest eigenvalue first.
fn sort<T: Real>(a: &mut [T], n: usize, values: &mut [T]) {
    for i in 0..n {
        let largest = (i..n).fold(i, |best, j| if values[j] > values[best] { j } else { best });
        if largest != i {
            values.swap(i, largest);
            let (head, tail) = a.split_at_mut(largest * n);
            head[i * n..][..n].swap_with_slice(&mut tail[..n]);
        }
    }
}
