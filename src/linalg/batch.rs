//! One matrix times many vectors.

use super::matrix::pack;
use super::simd::{Routine, dispatch};
use super::tile::{ROWS, TALL, lanes, tile, with_lanes};
use crate::Real;
use alloc::vec::Vec;
use core::ops::Range;

/// A matrix, packed once into panels, to be multiplied with many vectors.
#[derive(Debug, Clone)]
pub(crate) struct Packed<T> {
    rows: usize,
    columns: usize,
    panels: Vec<T>,
}

impl<T: Real> Packed<T> {
    /// Packs the row-major matrix `a` of `columns` columns.
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

/// Strided vectors: entry `k` of vector `i` is `of[i * stride + start + k]`.
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
        match lanes::<T>() {
            16 => self.halving::<16, 8, FUSED>(),
            8 => self.halving::<8, 4, FUSED>(),
            _ => self.halving::<4, 2, FUSED>(),
        }
    }

    #[inline(always)]
    fn gains_by_width(&self) -> bool {
        true
    }

    #[inline(always)]
    fn run_wide(mut self) {
        let all = 0..self.matrix.rows;
        match lanes::<T>() {
            16 => self.rows::<16, 16, TALL, true>(all),
            8 => self.rows::<8, 8, TALL, true>(all),
            _ => self.rows::<4, 4, TALL, true>(all),
        }
    }
}

impl<T: Real> Multiply<'_, T> {
    /// Uses half of the lanes for the last panel where these suffice.
    #[inline(always)]
    fn halving<const LANES: usize, const HALF: usize, const FUSED: bool>(mut self) {
        let rows = self.matrix.rows;
        let last = rows % LANES;
        let whole = if last <= HALF { rows - last } else { rows };
        self.rows::<LANES, LANES, ROWS, FUSED>(0..whole);
        self.rows::<LANES, HALF, TALL, FUSED>(whole..rows);
    }

    /// A range of rows that begins with a panel: the first `WIDTH` lanes of each panel, times
    /// `HEIGHT` vectors at a time.
    #[inline(always)]
    fn rows<const LANES: usize, const WIDTH: usize, const HEIGHT: usize, const FUSED: bool>(
        &mut self,
        rows: Range<usize>,
    ) {
        let Self { matrix, vectors, out } = self;
        let columns = matrix.columns;
        let (panels, _) = matrix.panels.as_chunks::<LANES>();
        let panels = &panels[rows.start / LANES * columns..];
        let count = out.of.len() / out.stride;
        for first in (0..count).step_by(HEIGHT) {
            let several = core::array::from_fn(|r| {
                let at = (first + r).min(count - 1);
                &vectors.of[at * vectors.stride + vectors.start..][..columns]
            });
            for (left, panel) in rows.clone().step_by(LANES).zip(panels.chunks_exact(columns)) {
                let width = WIDTH.min(rows.end - left);
                let sums = tile::<T, LANES, WIDTH, HEIGHT, FUSED>(several, panel);
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
}
