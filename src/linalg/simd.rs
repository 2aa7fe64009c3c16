//! Run-time choice of the instruction set.
//!
//! A plain x86-64 build is compiled for SSE2. The hot routines are therefore
//! written as ordinary generic Rust inside a [`Routine`] and compiled twice:
//! for the baseline, and for AVX2 with fused multiply-add, chosen when they
//! are called. On AArch64 the baseline already has both.
//!
//! Only rounding may differ between the two: `a * b + c` is rounded once where
//! it is fused ([`multiply_add`]) and twice where it is not.

use crate::Real;
use core::any::TypeId;

/// A computation that [`dispatch`] compiles for several instruction sets.
///
/// Implementations are `#[inline(always)]`, and so is everything hot they
/// call: what is not inlined is not compiled for the wider instruction set.
pub(crate) trait Routine {
    type Output;
    /// `FUSED` says that a fused multiply-add is one instruction here.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs `routine` on the widest instruction set this processor has.
#[inline]
pub(crate) fn dispatch<R: Routine>(routine: R) -> R::Output {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if let pulp::Arch::V3(simd) = pulp::Arch::new() {
        struct Fused<R>(R);
        impl<R: Routine> pulp::WithSimd for Fused<R> {
            type Output = R::Output;
            #[inline(always)]
            fn with_simd<S: pulp::Simd>(self, _: S) -> R::Output {
                self.0.run::<true>()
            }
        }
        return pulp::Simd::vectorize(simd, Fused(routine));
    }
    if cfg!(all(feature = "std", target_arch = "aarch64")) {
        routine.run::<true>()
    } else {
        routine.run::<false>()
    }
}

/// `a * b + c`, fused where the hardware does it in one instruction.
///
/// Types other than `f32` and `f64` keep the two operations: their `mul_add`
/// may be anything.
#[inline(always)]
pub(crate) fn multiply_add<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED && is_native::<T>() { a.mul_add(b, c) } else { a * b + c }
}

/// Whether `T` is a hardware float; folded at compile time.
#[inline(always)]
fn is_native<T: Real>() -> bool {
    TypeId::of::<T>() == TypeId::of::<f64>() || TypeId::of::<T>() == TypeId::of::<f32>()
}
