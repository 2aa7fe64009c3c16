//! The scalar trait.

use core::fmt::Debug;
use num_traits::Float;

/// A real number type: `f32`, `f64`, or your own.
///
/// Implemented for every type with the arithmetic of [`num_traits::Float`];
/// there is nothing to write for a new type. Threads share them, hence `Send`
/// and `Sync`.
pub trait Real: Float + Debug + Send + Sync + 'static {}

impl<T: Float + Debug + Send + Sync + 'static> Real for T {}

/// The constant `x` as a `T`.
///
/// Every constant of this crate is an ordinary small number. A scalar type
/// that cannot represent it has no meaningful arithmetic, and gets a NaN.
#[inline(always)]
pub(crate) fn constant<T: Real>(x: f64) -> T {
    T::from(x).unwrap_or_else(T::nan)
}

/// The count `n` as a `T`.
#[inline(always)]
pub(crate) fn count<T: Real>(n: usize) -> T {
    T::from(n).unwrap_or_else(T::infinity)
}
