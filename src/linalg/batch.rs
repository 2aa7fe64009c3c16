//! One matrix times many vectors.

use super::matrix::pack;
use super::simd::{Routine, dispatch};
use super::tile::{ROWS, lanes, tile, with_lanes};
use crate::Real;
use alloc::vec::Vec;

/// A matrix, packed once into panels, to be multiplied with many vectors.
#[derive(Debug, Clone)]
pub(crate) struct Packed<T> {
    rows: usize,
    columns: usize,
    panels: Vec<T>,
}

impl<T: Real> Packed<T> {
    /// Packs the row-major matrix `a` with so many `columns`.
    pub(crate) fn new(a: &[T], columns: usize) -> Self {
        let rows = a.len() / columns;
        let mut panels = alloc::vec![T::zero(); rows.next_multiple_of(lanes::<T>()) * columns];
        dispatch(Pack { a, rows, columns, panels: &mut panels });
        Self { rows, columns, panels }
    }

    /// The length of the vectors that it can be multiplied with.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Vector `i` of `out` = matrix * (vector `i` of `vectors`).
    pub(crate) fn multiply(&self, vectors: Entries<&[T]>, out: Entries<&mut [T]>) {
        dispatch(Multiply { matrix: self, vectors, out });
    }
}

/// Entries of many vectors, each with one `stride` after the one before: those from `start`
/// on.
pub(crate) struct Entries<V> {
    pub(crate) of: V,
    pub(crate) stride: usize,
    pub(crate) start: usize,
}

struct Pack<'a, T> {
    a: &'a [T],
    rows: usize,
    columns: usize,
    panels: &'a mut [T],
}

impl<T: Real> Routine for Pack<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        with_lanes!(T, pack_all::<FUSED>(self));
    }
}

#[inline(always)]
fn pack_all<T: Real, const LANES: usize, const FUSED: bool>(packing: Pack<'_, T>) {
    let Pack { a, rows, columns, panels } = packing;
    let (panels, _) = panels.as_chunks_mut::<LANES>();
    for (p, panel) in panels.chunks_exact_mut(columns).enumerate() {
        pack(a, columns, p * LANES, LANES.min(rows - p * LANES), 0, panel);
    }
}

struct Multiply<'a, T> {
    matrix: &'a Packed<T>,
    vectors: Entries<&'a [T]>,
    out: Entries<&'a mut [T]>,
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
    let Multiply { matrix: &Packed { rows, columns, ref panels }, vectors, out } = product;
    let (panels, _) = panels.as_chunks::<LANES>();
    let count = out.of.len() / out.stride;
    for first in (0..count).step_by(ROWS) {
        let vector = |r: usize| {
            let at = (first + r).min(count - 1);
            &vectors.of[at * vectors.stride + vectors.start..][..columns]
        };
        let several = [vector(0), vector(1), vector(2), vector(3)];
        for (p, panel) in panels.chunks_exact(columns).enumerate() {
            let left = p * LANES;
            let width = LANES.min(rows - left);
            let sums = tile::<T, LANES, FUSED>(several, panel);
            for (r, sum) in (first..count).zip(&sums) {
                let out = &mut out.of[r * out.stride + out.start + left..][..width];
                match out.first_chunk_mut() {
                    Some(whole) => *whole = *sum,
                    None => out.copy_from_slice(&sum[..width]),
                }
            }
        }
    }
}
