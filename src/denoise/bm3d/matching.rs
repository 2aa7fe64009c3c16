//! Block matching: the nearest blocks to each reference, by
//!
//! $$ d(P, Q) = \sum_{x \in \text{block}} (z_{P+x} - z_{Q+x})^2 , $$
//!
//! in a window around it.
//!
//! Every displacement is tried for many references at once. References a step
//! s apart share most of their sums: a block of side N = q s + r is q strips of
//! s rows and one of r, of which the next reference down needs all but the
//! first, and the same holds across. So squared differences are summed over
//! cells of s x s pixels (and their parts of r rows or columns), once, and
//! blocks are put together from cells. Pixels are stored by their column
//! modulo s, which puts the same pixel of neighbouring cells side by side in
//! memory, whatever the displacement.

use super::lanes::LANES;
use super::lattice::{Lattice, Samples};
use super::nearest::Nearest;
use crate::Real;
use crate::linalg::simd::multiply_add;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Cells in a row that are computed together: as many as keep the pixels of
/// all displacements in the first-level cache.
pub(super) const TILE: usize = 64;

/// Cells whose sums are in registers at a time.
const WIDE: usize = 2 * LANES;

/// The most cells that a block can reach over, for loads past the tile.
const REACH: usize = 16;

/// Sums of squared differences, for one displacement.
pub(super) struct Scratch<T> {
    /// Over cells: all of them, their first columns, their first rows, both.
    sums: [[T; TILE + REACH]; 4],
    /// Over a row of cells as wide as a block, by rows of cells.
    wholes: Vec<[T; TILE]>,
    /// The same over the first rows of the cells.
    parts: Vec<[T; TILE]>,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(lattice: &Lattice, strip: usize) -> Self {
        let references = lattice.references(strip).len();
        let sums = [[T::zero(); TILE + REACH]; 4];
        let zeros = |rows| vec![[T::zero(); TILE]; rows];
        Self {
            sums,
            wholes: zeros(references + lattice.block.div_ceil(lattice.step) - 1),
            parts: zeros(references + lattice.block / lattice.step + 1),
        }
    }
}

/// Squared differences of pairs of pixels, of the cells from `from` on.
#[inline(always)]
fn sum<T: Real, const FUSED: bool>(pairs: &[[&[T; TILE]; 2]], from: usize) -> [T; WIDE] {
    let mut sum = [T::zero(); WIDE];
    for [a, b] in pairs {
        for l in 0..WIDE {
            let difference = a[from + l] - b[from + l];
            sum[l] = multiply_add::<T, FUSED>(difference, difference, sum[l]);
        }
    }
    sum
}

/// `whole` neighbouring cells and the part of the next one.
#[inline(always)]
fn across<T: Real>(
    cells: &[T; TILE + REACH],
    part: &[T; TILE + REACH],
    whole: usize,
) -> [T; TILE] {
    let mut sum = [T::zero(); TILE];
    sum.copy_from_slice(&part[whole..whole + TILE]);
    for first in 0..whole {
        for (sum, &cell) in sum.iter_mut().zip(&cells[first..first + TILE]) {
            *sum = *sum + cell;
        }
    }
    sum
}

/// The pixels of a strip, by their column modulo the step.
///
/// Outside of the image there are NaNs: no distance to them is below anything.
pub(super) struct Phases<T> {
    values: Vec<T>,
    lattice: Lattice,
    /// Rows of references.
    references: usize,
    /// Cells before the first reference.
    margin: usize,
    /// Cells in a row.
    length: usize,
}

impl<T: Real> Phases<T> {
    pub(super) fn new(samples: Samples<'_, T>, lattice: &Lattice, strip: usize) -> Self {
        let &Lattice { block, step, radius, across, .. } = lattice;
        let references = lattice.references(strip);
        let margin = radius.div_ceil(step);
        let length = across + 2 * margin + TILE + REACH;
        let cells = references.len() + block.div_ceil(step);
        let rows = cells * step + 2 * radius;
        let mut values = vec![T::nan(); rows * step * length];
        let (width, height) = (lattice.width(), lattice.height());
        let mut row = Vec::with_capacity(width);
        for (y, phases) in values.chunks_exact_mut(step * length).enumerate() {
            let Some(y) = (references.start * step + y).checked_sub(radius) else { continue };
            if y >= height {
                break;
            }
            samples.continued_row(y, &mut row, width);
            for (phase, cells) in phases.chunks_exact_mut(length).enumerate() {
                let pixels = row.iter().skip(phase).step_by(step);
                for (cell, &pixel) in cells[margin..].iter_mut().zip(pixels) {
                    *cell = pixel;
                }
            }
        }
        Self { values, lattice: *lattice, references: references.len(), margin, length }
    }

    /// How many references of a row a tile holds.
    pub(super) fn tile_len(lattice: &Lattice) -> usize {
        TILE + 1 - lattice.block.div_ceil(lattice.step)
    }

    /// A pixel of the cells from `cell` on: the one at column `x` (from the
    /// left of the margin) and row `y` (from the top of the buffer) of the
    /// first of them.
    #[inline(always)]
    fn pixels(&self, x: usize, y: usize, cell: usize) -> &[T; TILE] {
        let step = self.lattice.step;
        let at = (y * step + x % step) * self.length + x / step + cell;
        self.values[at..].first_chunk().expect("rows are longer than their last tile")
    }

    /// Finds the nearest blocks to the references `tile` of every row of the
    /// strip.
    #[inline(always)]
    pub(super) fn search<const FUSED: bool>(
        &self,
        tile: Range<usize>,
        scratch: &mut Scratch<T>,
        nearest: &mut Nearest<T>,
    ) {
        let radius = self.lattice.radius;
        let mut pairs = Vec::with_capacity(self.lattice.step * self.lattice.step);
        for down in 0..=2 * radius {
            for right in 0..=2 * radius {
                if (down, right) != (radius, radius) {
                    self.cells::<FUSED>(&tile, down, right, &mut pairs, scratch);
                    self.blocks(tile.len(), down * (2 * radius + 1) + right, scratch, nearest);
                }
            }
        }
    }

    /// Squared differences summed over cells, and over the cells of a block
    /// that lie side by side.
    #[inline(always)]
    fn cells<'a, const FUSED: bool>(
        &'a self,
        tile: &Range<usize>,
        down: usize,
        right: usize,
        pairs: &mut Vec<[&'a [T; TILE]; 2]>,
        scratch: &mut Scratch<T>,
    ) {
        let Lattice { block, step, radius, .. } = self.lattice;
        let (whole, part) = (block / step, block % step);
        let Scratch { sums: [both, rows, columns, neither], wholes, parts } = scratch;
        let shift = self.margin * step - radius + right;
        let used = (tile.len() + block.div_ceil(step) - 1).div_ceil(WIDE) * WIDE;
        for cell in 0..wholes.len() {
            // The pixels of a cell, those in `part` rows and columns first.
            pairs.clear();
            for y in [0..part, part..step] {
                for x in [0..part, part..step] {
                    for y in y.clone() {
                        for x in x.clone() {
                            let y = cell * step + y;
                            pairs.push([
                                self.pixels(x + self.margin * step, y + radius, tile.start),
                                self.pixels(x + shift, y + down, tile.start),
                            ]);
                        }
                    }
                }
            }
            let [corner, right, below] = [part * part, part * step, part * (2 * step - part)];
            for from in (0..used.min(TILE)).step_by(WIDE) {
                let a = sum::<T, FUSED>(&pairs[..corner], from);
                let b = sum::<T, FUSED>(&pairs[corner..right], from);
                let c = sum::<T, FUSED>(&pairs[right..below], from);
                let d = sum::<T, FUSED>(&pairs[below..], from);
                for l in 0..WIDE {
                    neither[from + l] = a[l];
                    columns[from + l] = a[l] + b[l];
                    rows[from + l] = a[l] + c[l];
                    both[from + l] = (a[l] + b[l]) + (c[l] + d[l]);
                }
            }
            wholes[cell] = across(both, rows, whole);
            parts[cell] = across(columns, neither, whole);
        }
    }

    /// Distances of blocks, and which of them are among the nearest.
    #[inline(always)]
    fn blocks(
        &self,
        tile: usize,
        displacement: usize,
        scratch: &Scratch<T>,
        nearest: &mut Nearest<T>,
    ) {
        let whole = self.lattice.block / self.lattice.step;
        for reference in 0..self.references {
            let cells = &scratch.wholes[reference..reference + whole];
            let rest = &scratch.parts[reference + whole];
            for from in (0..tile).step_by(LANES) {
                let mut distance = [T::zero(); LANES];
                distance.copy_from_slice(&rest[from..from + LANES]);
                for cell in cells {
                    for l in 0..LANES {
                        distance[l] = distance[l] + cell[from + l];
                    }
                }
                nearest.offer(reference * TILE + from, &distance, displacement);
            }
        }
    }
}
