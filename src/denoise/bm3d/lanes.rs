//! Arithmetic on a few numbers side by side: what one SIMD register holds.
//!
//! Loops, here and in everything hot, and not closures: a closure is a
//! function of its own, and one that is not inlined is not compiled for the
//! wider instruction set.

use crate::Real;
use crate::linalg::simd::multiply_add;

/// Numbers that are computed together where nothing else fixes how many: a
/// register of AVX2 in single precision, two in double.
pub(super) const LANES: usize = 8;

#[inline(always)]
pub(super) fn add<T: Real, const N: usize>(mut a: [T; N], b: [T; N]) -> [T; N] {
    for l in 0..N {
        a[l] = a[l] + b[l];
    }
    a
}

#[inline(always)]
pub(super) fn sub<T: Real, const N: usize>(mut a: [T; N], b: [T; N]) -> [T; N] {
    for l in 0..N {
        a[l] = a[l] - b[l];
    }
    a
}

#[inline(always)]
pub(super) fn scale<T: Real, const N: usize>(factor: T, mut a: [T; N]) -> [T; N] {
    for l in 0..N {
        a[l] = factor * a[l];
    }
    a
}

/// `sum + factor * a`.
#[inline(always)]
pub(super) fn add_scaled<T: Real, const N: usize, const FUSED: bool>(
    mut sum: [T; N],
    factor: T,
    a: [T; N],
) -> [T; N] {
    for l in 0..N {
        sum[l] = multiply_add::<T, FUSED>(factor, a[l], sum[l]);
    }
    sum
}

/// The sum of the lanes, in their order: by halves, the compiler would compute
/// what is summed up in halves, too.
#[inline(always)]
pub(super) fn total<T: Real, const N: usize>(a: [T; N]) -> T {
    let mut sum = a[0];
    for l in 1..N {
        sum = sum + a[l];
    }
    sum
}

/// The numbers of `row` from `start` on.
#[inline(always)]
pub(super) fn load<T: Real, const N: usize>(row: &[T], start: usize) -> [T; N] {
    let mut lanes = [T::zero(); N];
    lanes.copy_from_slice(&row[start..start + N]);
    lanes
}
