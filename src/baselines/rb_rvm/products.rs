//! Sums and products that the evidence is made of.

use crate::Real;
use crate::linalg::simd::{Routine, dispatch, multiply_add};
use crate::linalg::vector::{self, subtract_combination};

pub(super) fn sum<T: Real>(x: &[T]) -> T {
    x.iter().fold(T::zero(), |sum, &x| sum + x)
}

pub(super) fn sum_of_squares<T: Real>(x: &[T]) -> T {
    dot(x, x)
}

pub(super) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    struct Dot<'a, T>(&'a [T], &'a [T]);
    impl<T: Real> Routine for Dot<'_, T> {
        type Output = T;
        #[inline(always)]
        fn run<const FUSED: bool>(self) -> T {
            vector::dot::<T, FUSED>(self.0, self.1)
        }
    }
    dispatch(Dot(a, b))
}

/// $\sum_i w_i x_i^2$ of each row `x`.
pub(super) fn weighted_squares<T: Real>(rows: &[T], weights: &[T], out: &mut [T]) {
    struct Squares<'a, T>(&'a [T], &'a [T], &'a mut [T]);
    impl<T: Real> Routine for Squares<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            let Self(rows, weights, out) = self;
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(weights.len())) {
                // Four sums, to hide the latency of the addition.
                let mut sums = [T::zero(); 4];
                let (x, x_rest) = row.as_chunks::<4>();
                let (w, w_rest) = weights.as_chunks::<4>();
                for (x, w) in x.iter().zip(w) {
                    for l in 0..4 {
                        sums[l] = multiply_add::<T, FUSED>(x[l] * x[l], w[l], sums[l]);
                    }
                }
                let rest = x_rest.iter().zip(w_rest).fold(T::zero(), |s, (&x, &w)| s + x * x * w);
                *out = (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest;
            }
        }
    }
    dispatch(Squares(rows, weights, out));
}

/// The inner product of each row with `x`.
pub(super) fn inner<T: Real>(rows: &[T], x: &[T], out: &mut [T]) {
    struct Inner<'a, T>(&'a [T], &'a [T], &'a mut [T]);
    impl<T: Real> Routine for Inner<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            let Self(rows, x, out) = self;
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(x.len())) {
                *out = vector::dot::<T, FUSED>(row, x);
            }
        }
    }
    dispatch(Inner(rows, x, out));
}

/// Takes the sum of `factors[t]` times row `t` off `y`.
pub(super) fn subtract<T: Real>(y: &mut [T], factors: &[T], rows: &[T]) {
    struct Subtract<'a, T>(&'a mut [T], &'a [T], &'a [T]);
    impl<T: Real> Routine for Subtract<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<const FUSED: bool>(self) {
            subtract_combination::<T, FUSED>(self.0, self.1, self.2);
        }
    }
    dispatch(Subtract(y, factors, rows));
}

/// `x` times `factors`, entry by entry.
pub(super) fn scale_each<T: Real>(x: &mut [T], factors: &[T]) {
    for (x, &factor) in x.iter_mut().zip(factors) {
        *x = *x * factor;
    }
}
