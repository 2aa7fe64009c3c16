//! Run-time choice of the instruction set.
//!
//! A plain x86-64 build is compiled for SSE2. The hot routines are therefore
//! written as ordinary generic Rust inside a [`Routine`] and compiled twice:
//! for the baseline, and for AVX2 with fused multiply-add, chosen when they
//! are called. Matrix products are compiled a third time, for AVX-512; other routines gain
//! nothing from wider registers. On AArch64 the baseline has fused multiply-add.
//!
//! Only rounding may differ: `a * b + c` is rounded once where it is fused
//! ([`multiply_add`]) and twice where it is not. AVX2 and AVX-512 give the same bits, except for
//! inverses, whose sums have another order.

use crate::Real;
use core::any::TypeId;

/// A computation that [`dispatch`] compiles for several instruction sets.
///
/// Implementations are `#[inline(always)]`, and so is everything hot they
/// call: what is not inlined is not compiled for the wider instruction set.
#[cfg_attr(
    not(all(feature = "std", target_arch = "x86_64")),
    allow(dead_code, reason = "elsewhere nothing is wide")
)]
pub(crate) trait Routine: Sized {
    type Output;
    /// `FUSED` says that a fused multiply-add is one instruction here.
    fn run<const FUSED: bool>(self) -> Self::Output;
    /// Whether [`run_wide`](Self::run_wide) is faster.
    #[inline(always)]
    fn gains_by_width(&self) -> bool {
        false
    }
    /// The same for 32 registers of 512 bits, with fused multiply-add.
    #[inline(always)]
    fn run_wide(self) -> Self::Output {
        self.run::<true>()
    }
}

/// Runs `routine` with the widest instruction set that the routine and the processor support.
#[inline]
pub(crate) fn dispatch<R: Routine>(routine: R) -> R::Output {
    #[cfg(all(test, feature = "std"))]
    match tests::BODY.get() {
        Some(tests::Body::Fused) => return routine.run::<true>(),
        Some(tests::Body::Wide) => return routine.run_wide(),
        None => {}
    }
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    match pulp::Arch::new() {
        pulp::Arch::V4(simd) if routine.gains_by_width() => {
            return pulp::Simd::vectorize(simd, x86::Wide(routine));
        }
        pulp::Arch::V4(simd) => return pulp::Simd::vectorize(*simd, x86::Fused(routine)),
        pulp::Arch::V3(simd) => return pulp::Simd::vectorize(simd, x86::Fused(routine)),
        _ => {}
    }
    if cfg!(all(feature = "std", target_arch = "aarch64")) {
        routine.run::<true>()
    } else {
        routine.run::<false>()
    }
}

/// What `pulp` compiles for an instruction set.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
mod x86 {
    use super::Routine;

    pub(super) struct Fused<R>(pub(super) R);
    pub(super) struct Wide<R>(pub(super) R);

    impl<R: Routine> pulp::WithSimd for Fused<R> {
        type Output = R::Output;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> R::Output {
            self.0.run::<true>()
        }
    }

    impl<R: Routine> pulp::WithSimd for Wide<R> {
        type Output = R::Output;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> R::Output {
            self.0.run_wide()
        }
    }
}

/// `a * b + c`, fused where the hardware does it in one instruction.
///
/// Types other than `f32` and `f64` round twice: nothing is known of their `mul_add`.
#[inline(always)]
pub(crate) fn multiply_add<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED && is_native::<T>() { a.mul_add(b, c) } else { a * b + c }
}

/// Whether `T` is a hardware float; folded at compile time.
#[inline(always)]
fn is_native<T: Real>() -> bool {
    TypeId::of::<T>() == TypeId::of::<f64>() || TypeId::of::<T>() == TypeId::of::<f32>()
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use crate::linalg::batch::{Entries, Packed};
    use crate::linalg::cholesky::{factor, factor_scratch_len, invert, invert_scratch_len};
    use crate::linalg::{self_product, self_product_scratch_len};
    use crate::{Real, real::constant};
    use alloc::vec;
    use alloc::vec::Vec;
    use core::cell::Cell;

    /// Forces an instruction set in this thread.
    #[derive(Clone, Copy)]
    pub(super) enum Body {
        Fused,
        Wide,
    }

    std::thread_local! {
        pub(super) static BODY: Cell<Option<Body>> = const { Cell::new(None) };
    }

    /// All routines with an AVX-512 version, on a problem of size `n`: those with the same bits
    /// as the AVX2 version, and the inverse.
    fn everything<T: Real>(n: usize, body: Option<Body>) -> [Vec<T>; 2] {
        BODY.set(body);
        let entry = |i: usize| constant((i * i % 101) as f64 / 101.0 - 0.5);
        let (depth, count) = (n + 3, 11);
        let a: Vec<T> = (0..n * depth).map(entry).collect();

        let mut square = vec![T::zero(); n * n];
        let mut scratch = vec![T::zero(); self_product_scratch_len::<T>(depth)];
        self_product(&a, n, &mut square, &mut scratch).unwrap();
        let mut same = square.clone();

        for i in 0..n {
            square[i * n + i] = square[i * n + i] + T::one();
        }
        factor(&mut square, n, &mut vec![T::zero(); factor_scratch_len::<T>(n)]).unwrap();
        same.extend(&square);
        invert(&mut square, n, &mut vec![T::zero(); invert_scratch_len::<T>(n)]).unwrap();

        let vectors: Vec<T> = (0..count * depth).map(|i| entry(i + 1)).collect();
        let mut products = vec![T::zero(); count * n];
        Packed::new(&a, depth).multiply(
            Entries { of: &vectors, stride: depth, start: 0 },
            Entries { of: &mut products, stride: n, start: 0 },
        );
        same.extend(&products);
        BODY.set(None);
        [same, square]
    }

    fn check<T: Real>() {
        for n in (1..40).chain([127, 128, 129, 145, 199, 263]) {
            let [same, inverse] = everything::<T>(n, Some(Body::Fused));
            let [wide_same, wide_inverse] = everything::<T>(n, Some(Body::Wide));
            let [chosen, chosen_inverse] = everything::<T>(n, None);
            assert!(wide_same == same, "n = {n}");
            close(n, &wide_inverse, &inverse);
            close(n, &chosen_inverse, &inverse);
            close(n, &chosen, &same);
        }
    }

    fn close<T: Real>(n: usize, found: &[T], expected: &[T]) {
        let tolerance = constant::<T>(4.0 * n as f64) * T::epsilon();
        assert_eq!(found.len(), expected.len());
        for (&a, &b) in found.iter().zip(expected) {
            assert!((a - b).abs() <= tolerance * (T::one() + b.abs()), "n = {n}: {a:?} {b:?}");
        }
    }

    #[test]
    fn tall_tiles_give_the_same() {
        check::<f32>();
        check::<f64>();
    }
}
