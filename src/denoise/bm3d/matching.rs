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

use super::lanes::{LANES, add, load, sub};
use super::lattice::{Lattice, Samples};
use super::nearest::{Nearest, TILE};
use crate::Real;
use crate::linalg::simd::multiply_add;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Cells whose sums are in registers at a time.
const WIDE: usize = 2 * LANES;

/// The most cells that a block can reach over, for loads past the tile.
const REACH: usize = 16;

/// Where a match lies, from the corner of the search window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Displacement {
    pub(super) down: usize,
    pub(super) right: usize,
}

/// All displacements but zero, by rows, the central ones first: near blocks
/// are likely to be alike, and what comes after a good match is cheap. They are
/// within a window of `radius`, and reach `across` columns and `down` rows in it, `spacing` apart.
pub(super) fn displacements(
    radius: usize,
    (across, down): (usize, usize),
    spacing: usize,
) -> Vec<Displacement> {
    let outwards = |reach: usize| {
        let steps = (0..=2 * (reach / spacing)).map(zigzag);
        steps.map(move |step| radius.wrapping_add_signed(step * spacing.cast_signed()))
    };
    outwards(down)
        .flat_map(|down| outwards(across).map(move |right| Displacement { down, right }))
        .skip(1)
        .collect()
}

/// 0, -1, 1, -2, 2 ...
const fn zigzag(i: usize) -> isize {
    let half = i.div_ceil(2).cast_signed();
    if i % 2 == 1 { -half } else { half }
}

/// One pixel of each cell of a tile.
type Pixels<T> = [[T; WIDE]; TILE / WIDE];

/// A number for each cell of a tile, and some more of no meaning.
type Cells<T> = [[T; WIDE]; (TILE + REACH) / WIDE];

/// Displacements that are tried together, each pixel of a reference being
/// loaded once for all of them.
const TOGETHER: usize = 4;

/// Sums of squared differences, for the displacements tried together.
pub(super) struct Scratch<T> {
    /// Where the pixels to be compared are, and those of every displacement.
    offsets: Vec<(usize, [usize; TOGETHER])>,
    /// Over cells: all of them, their first columns, their first rows, both.
    sums: [[Cells<T>; TOGETHER]; 4],
    /// Over a row of cells as wide as a block, by rows of cells.
    wholes: [Vec<Pixels<T>>; TOGETHER],
    /// The same over the first rows of the cells.
    parts: [Vec<Pixels<T>>; TOGETHER],
    /// Of the blocks of a row of references.
    distances: Pixels<T>,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(lattice: &Lattice, strip: usize) -> Self {
        let references = lattice.references(strip).len();
        let zeros = |rows| [(); TOGETHER].map(|()| vec![[[T::zero(); WIDE]; TILE / WIDE]; rows]);
        Self {
            offsets: vec![(0, [0; TOGETHER]); lattice.step * lattice.step],
            sums: [[[[T::zero(); WIDE]; (TILE + REACH) / WIDE]; TOGETHER]; 4],
            wholes: zeros(references + lattice.block.div_ceil(lattice.step) - 1),
            parts: zeros(references + lattice.block / lattice.step + 1),
            distances: [[T::zero(); WIDE]; TILE / WIDE],
        }
    }
}

/// What is compared: a pixel of each cell, and its counterparts.
#[derive(Clone, Copy)]
struct Pairs<'a, T> {
    here: &'a Pixels<T>,
    there: [&'a Pixels<T>; TOGETHER],
}

/// Squared differences of pairs of pixels, of the k-th cells.
#[inline(always)]
fn sum<T: Real, const FUSED: bool>(pairs: &[Pairs<'_, T>], k: usize) -> [[T; WIDE]; TOGETHER] {
    let mut sums = [[T::zero(); WIDE]; TOGETHER];
    for pair in pairs {
        let here = pair.here[k];
        for i in 0..TOGETHER {
            let difference = sub(here, pair.there[i][k]);
            for l in 0..WIDE {
                let d = difference[l];
                sums[i][l] = multiply_add::<T, FUSED>(d, d, sums[i][l]);
            }
        }
    }
    sums
}

/// `whole` neighbouring cells and the part of the next one.
#[inline(always)]
fn across<T: Real>(cells: &Cells<T>, part: &Cells<T>, whole: usize, sums: &mut [[T; WIDE]]) {
    let (cells, part) = (cells.as_flattened(), part.as_flattened());
    for (k, sums) in sums.iter_mut().enumerate() {
        let mut sum = load(part, k * WIDE + whole);
        for first in 0..whole {
            sum = add(sum, load(cells, k * WIDE + first));
        }
        *sums = sum;
    }
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

    /// Finds the nearest blocks to the references `tile` of every row of the
    /// strip. The order of `displacements` decides between equals.
    #[inline(always)]
    pub(super) fn search<const FUSED: bool>(
        &self,
        tile: &Range<usize>,
        displacements: &[Displacement],
        scratch: &mut Scratch<T>,
        nearest: &mut Nearest<T>,
    ) {
        let mut pairs = Vec::with_capacity(scratch.offsets.len());
        for (first, displacements) in (0..).step_by(TOGETHER).zip(displacements.chunks(TOGETHER)) {
            self.offsets(tile.start, displacements, &mut scratch.offsets);
            let numbers = (first, displacements.len());
            let Lattice { block, step, .. } = self.lattice;
            // The loops of the usual profiles with their lengths known to the compiler.
            if (block, step) == (8, 3) {
                self.cells::<FUSED>((8, 3), tile.len(), &mut pairs, scratch);
                self.blocks((8, 3), tile.len(), numbers, scratch, nearest);
            } else {
                self.cells::<FUSED>((block, step), tile.len(), &mut pairs, scratch);
                self.blocks((block, step), tile.len(), numbers, scratch, nearest);
            }
        }
    }

    /// Where the pixels of the first cell of a tile are, and where those they
    /// are compared with; the pixels in `part` rows and columns come first.
    #[inline(always)]
    fn offsets(
        &self,
        cell: usize,
        displacements: &[Displacement],
        offsets: &mut [(usize, [usize; TOGETHER])],
    ) {
        let Lattice { block, step, radius, .. } = self.lattice;
        let part = block % step;
        let mut offsets = offsets.iter_mut();
        for (rows, columns) in [
            (0..part, 0..part),
            (0..part, part..step),
            (part..step, 0..part),
            (part..step, part..step),
        ] {
            for y in rows {
                for x in columns.clone() {
                    let Some((here, there)) = offsets.next() else { return };
                    *here = ((y + radius) * step + x) * self.length + self.margin + cell;
                    // Where there are fewer, the others compare pixels with
                    // themselves, and nobody asks.
                    *there = [*here; TOGETHER];
                    for (there, to) in there.iter_mut().zip(displacements) {
                        let x = x + self.margin * step - radius + to.right;
                        let row = (y + to.down) * step + x % step;
                        *there = row * self.length + x / step + cell;
                    }
                }
            }
        }
    }

    /// Squared differences summed over cells, and over the cells of a block
    /// that lie side by side.
    #[inline(always)]
    fn cells<'a, const FUSED: bool>(
        &'a self,
        (block, step): (usize, usize),
        tile: usize,
        pairs: &mut Vec<Pairs<'a, T>>,
        scratch: &mut Scratch<T>,
    ) {
        let (whole, part) = (block / step, block % step);
        let Scratch { offsets, sums: [both, rows, columns, neither], wholes, parts, .. } = scratch;
        let [corner, right, below] = [part * part, part * step, part * (2 * step - part)];
        let used = (tile + block.div_ceil(step) - 1).div_ceil(WIDE).min(TILE / WIDE);
        for cell in 0..wholes[0].len() {
            let down = cell * step * step * self.length;
            self.pairs(offsets, down, pairs);
            for k in 0..used {
                let a = sum::<T, FUSED>(&pairs[..corner], k);
                let b = sum::<T, FUSED>(&pairs[corner..right], k);
                let c = sum::<T, FUSED>(&pairs[right..below], k);
                let d = sum::<T, FUSED>(&pairs[below..], k);
                for i in 0..TOGETHER {
                    let ab = add(a[i], b[i]);
                    neither[i][k] = a[i];
                    columns[i][k] = ab;
                    rows[i][k] = add(a[i], c[i]);
                    both[i][k] = add(ab, add(c[i], d[i]));
                }
            }
            for i in 0..TOGETHER {
                across(&both[i], &rows[i], whole, &mut wholes[i][cell][..used]);
                across(&columns[i], &neither[i], whole, &mut parts[i][cell][..used]);
            }
        }
    }

    /// The pixels at `offsets` and `down` from there.
    #[inline(always)]
    fn pairs<'a>(
        &'a self,
        offsets: &[(usize, [usize; TOGETHER])],
        down: usize,
        pairs: &mut Vec<Pairs<'a, T>>,
    ) {
        pairs.clear();
        for &(here, there) in offsets {
            let here = self.pixels(here + down);
            let mut pair = Pairs { here, there: [here; TOGETHER] };
            for i in 0..TOGETHER {
                pair.there[i] = self.pixels(there[i] + down);
            }
            pairs.push(pair);
        }
    }

    /// The same pixel of the cells of a tile.
    #[inline(always)]
    fn pixels(&self, at: usize) -> &Pixels<T> {
        self.values[at..].as_chunks().0.first_chunk().expect("rows are longer than tiles")
    }

    /// Distances of blocks, and which of them are among the nearest.
    #[inline(always)]
    fn blocks(
        &self,
        (block, step): (usize, usize),
        tile: usize,
        (first, count): (u32, usize),
        scratch: &mut Scratch<T>,
        nearest: &mut Nearest<T>,
    ) {
        let whole = block / step;
        let used = tile.div_ceil(WIDE).min(TILE / WIDE);
        let sums = scratch.wholes.iter().zip(&scratch.parts);
        for (number, (wholes, parts)) in (first..).zip(sums).take(count) {
            for reference in 0..self.references {
                let cells = &wholes[reference..reference + whole];
                let rest = &parts[reference + whole];
                for (k, distances) in scratch.distances[..used].iter_mut().enumerate() {
                    let mut distance = rest[k];
                    for cell in cells {
                        distance = add(distance, cell[k]);
                    }
                    *distances = distance;
                }
                let distances = scratch.distances[..used].as_flattened();
                nearest.offer(reference * TILE, distances, number);
            }
        }
    }
}
