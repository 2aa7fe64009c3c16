//! Reading and writing slices whose lengths the public door has checked.
//!
//! Where a length is wrong after all, nothing is read or written, and a number that is asked
//! for is NaN. Indexing would say so by a panic, and bring its code into the flash of every
//! device; `cargo xtask firmware` proves that a fit has none.

use crate::Real;

/// `x[from..from + len]`.
#[inline(always)]
pub(crate) fn piece<T>(x: &[T], from: usize, len: usize) -> &[T] {
    let piece = x.get(from..).and_then(|x| x.get(..len));
    debug_assert!(piece.is_some(), "{from} + {len} of {}", x.len());
    piece.unwrap_or_default()
}

/// `&mut x[from..from + len]`.
#[inline(always)]
pub(crate) fn piece_mut<T>(x: &mut [T], from: usize, len: usize) -> &mut [T] {
    debug_assert!(from + len <= x.len(), "{from} + {len} of {}", x.len());
    x.get_mut(from..).and_then(|x| x.get_mut(..len)).unwrap_or_default()
}

/// The first `at`, and the others.
#[inline(always)]
pub(crate) fn split_mut<T>(x: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
    debug_assert!(at <= x.len(), "{at} of {}", x.len());
    x.split_at_mut_checked(at).unwrap_or_default()
}

/// `x[i]`.
#[inline(always)]
pub(crate) fn entry<T: Real>(x: &[T], i: usize) -> T {
    debug_assert!(i < x.len(), "{i} of {}", x.len());
    x.get(i).copied().unwrap_or_else(T::nan)
}

/// `x[i] = value`.
#[inline(always)]
pub(crate) fn set<T>(x: &mut [T], i: usize, value: T) {
    debug_assert!(i < x.len(), "{i} of {}", x.len());
    if let Some(entry) = x.get_mut(i) {
        *entry = value;
    }
}

/// Copies as much as there is room for.
#[inline(always)]
pub(crate) fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    debug_assert_eq!(to.len(), from.len());
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from;
    }
}
