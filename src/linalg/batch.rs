//! One matrix times many vectors.

use super::matrix::pack;
use super::simd::{Routine, dispatch};
use super::tile::{ROWS, lanes, tile, with_lanes};
use crate::Real;
use alloc::vec::Vec;

/// A square matrix, packed once into panels, to be multiplied with many
/// vectors.
#[derive(Debug, Clone)]
pub(crate) struct Packed<T> {
    n: usize,
    panels: Vec<T>,
}

impl<T: Real> Packed<T> {
    /// Packs the row-major `n` x `n` matrix `a`.
    pub(crate) fn new(a: &[T], n: usize) -> Self {
        let mut panels = alloc::vec![T::zero(); n.next_multiple_of(lanes::<T>()) * n];
        dispatch(Pack { a, n, panels: &mut panels });
        Self { n, panels }
    }

    /// Row `i` of `out` = matrix * (row `i` of `vectors`).
    pub(crate) fn multiply(&self, vectors: &[T], out: &mut [T]) {
        self.multiply_part(vectors, out, self.n, 0);
    }

    /// The same with the entries from `start` on of rows of `stride` entries.
    pub(crate) fn multiply_part(&self, vectors: &[T], out: &mut [T], stride: usize, start: usize) {
        dispatch(Multiply { panels: &self.panels, n: self.n, vectors, out, stride, start });
    }
}

struct Pack<'a, T> {
    a: &'a [T],
    n: usize,
    panels: &'a mut [T],
}

impl<T: Real> Routine for Pack<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        with_lanes!(T, pack_all::<FUSED>(self.a, self.n, self.panels));
    }
}

#[inline(always)]
fn pack_all<T: Real, const LANES: usize, const FUSED: bool>(a: &[T], n: usize, panels: &mut [T]) {
    let (panels, _) = panels.as_chunks_mut::<LANES>();
    for (p, panel) in panels.chunks_exact_mut(n).enumerate() {
        pack(a, n, p * LANES, LANES.min(n - p * LANES), 0, panel);
    }
}

struct Multiply<'a, T> {
    panels: &'a [T],
    n: usize,
    vectors: &'a [T],
    out: &'a mut [T],
    stride: usize,
    start: usize,
}

impl<T: Real> Routine for Multiply<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        with_lanes!(T, multiply_all::<FUSED>(self));
    }
}

#[inline(always)]
fn multiply_all<T: Real, const LANES: usize, const FUSED: bool>(product: Multiply<'_, T>) {
    let Multiply { panels, n, vectors, out, stride, start } = product;
    let (panels, _) = panels.as_chunks::<LANES>();
    let count = out.len() / stride;
    for first in (0..count).step_by(ROWS) {
        let row = |r: usize| &vectors[(first + r).min(count - 1) * stride + start..][..n];
        let rows = [row(0), row(1), row(2), row(3)];
        for (p, panel) in panels.chunks_exact(n).enumerate() {
            let left = p * LANES;
            let width = LANES.min(n - left);
            let sums = tile::<T, LANES, FUSED>(rows, panel);
            for (r, sum) in (first..count).zip(&sums) {
                out[r * stride + start + left..][..width].copy_from_slice(&sum[..width]);
            }
        }
    }
}
