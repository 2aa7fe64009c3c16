//! Rows of Gram matrices, with loops over few coordinates unrolled.

use super::Kernel;
use crate::{Points, Real};

/// What is between two points; a closure would not always be inlined.
pub(super) trait Entry<T> {
    fn entry(&self, a: &[T], b: &[T]) -> T;
}

/// The kernel itself, one entry at a time.
pub(super) struct Evaluated<'a, K: ?Sized>(pub(super) &'a K);

impl<T: Real, K: Kernel<T> + ?Sized> Entry<T> for Evaluated<'_, K> {
    #[inline(always)]
    fn entry(&self, a: &[T], b: &[T]) -> T {
        self.0.evaluate(a, b)
    }
}

/// Writes the entries between `a` and all `points` to `out`. Points of low
/// dimension come as arrays, whose loops the compiler unrolls.
#[inline(always)]
pub(super) fn fill<T: Real>(
    a: &[T],
    points: Points<'_, T>,
    out: &mut [T],
    entries: &impl Entry<T>,
) {
    let coordinates = points.coordinates();
    match *a {
        [x] => fill_from(&[x], coordinates.as_chunks::<1>().0, out, entries),
        [x, y] => fill_from(&[x, y], coordinates.as_chunks::<2>().0, out, entries),
        [x, y, z] => fill_from(&[x, y, z], coordinates.as_chunks::<3>().0, out, entries),
        _ => {
            for (b, out) in points.iter().zip(out) {
                *out = entries.entry(a, b);
            }
        }
    }
}

#[inline(always)]
fn fill_from<T: Real, const DIM: usize>(
    a: &[T; DIM],
    points: &[[T; DIM]],
    out: &mut [T],
    entries: &impl Entry<T>,
) {
    for (b, out) in points.iter().zip(out) {
        *out = entries.entry(a, b);
    }
}
