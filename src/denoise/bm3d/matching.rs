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
//!
//! Where pixels are trusted with weights $t$ from 0 to 1, each squared
//! difference counts by $m = t_{P+x}\,t_{Q+x}$, and as what noise alone would
//! make it, e, for the rest: $\sum m\,((z_{P+x} - z_{Q+x})^2 - e)$, to which
//! the distance then only adds a constant.

use super::lanes::{LANES, add, load, sub};
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

/// Where a match lies, from the corner of the search window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Displacement {
    pub(super) down: usize,
    pub(super) right: usize,
}

/// All displacements but zero, by rows, the central ones first: near blocks
/// are likely to be alike, and what comes after a good match is cheap.
pub(super) fn displacements(radius: usize) -> Vec<Displacement> {
    let outwards = || (0..=2 * radius).map(|i| radius.wrapping_add_signed(zigzag(i)));
    outwards()
        .flat_map(|down| outwards().map(move |right| Displacement { down, right }))
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

/// Sums of squared differences, for one displacement.
pub(super) struct Scratch<T> {
    /// Where the pixels to be compared are.
    offsets: Vec<[usize; 2]>,
    /// Over cells: all of them, their first columns, their first rows, both.
    sums: [Cells<T>; 4],
    /// Over a row of cells as wide as a block, by rows of cells.
    wholes: Vec<[T; TILE]>,
    /// The same over the first rows of the cells.
    parts: Vec<[T; TILE]>,
}

impl<T: Real> Scratch<T> {
    pub(super) fn new(lattice: &Lattice, strip: usize) -> Self {
        let references = lattice.references(strip).len();
        let sums = [[[T::zero(); WIDE]; (TILE + REACH) / WIDE]; 4];
        let zeros = |rows| vec![[T::zero(); TILE]; rows];
        Self {
            offsets: vec![[0; 2]; lattice.step * lattice.step],
            sums,
            wholes: zeros(references + lattice.block.div_ceil(lattice.step) - 1),
            parts: zeros(references + lattice.block / lattice.step + 1),
        }
    }
}

/// What is compared: a pixel of each cell, and its counterpart.
#[derive(Clone, Copy)]
struct Pair<'a, T> {
    here: &'a Pixels<T>,
    there: &'a Pixels<T>,
    /// How far both are trusted; the pixels themselves where all are.
    trust: [&'a Pixels<T>; 2],
}

/// How far pixels are trusted when blocks are compared.
pub(super) struct TrustIn<T> {
    pub(super) phases: Phases<T>,
    /// The squared difference of pixels that differ by noise only.
    pub(super) expected: T,
}

/// Squared differences of pairs of pixels, of the k-th cells.
#[inline(always)]
fn sum<T: Real, const FUSED: bool, const TRUST: bool>(
    pairs: &[Pair<'_, T>],
    expected: T,
    k: usize,
) -> [T; WIDE] {
    let mut sum = [T::zero(); WIDE];
    for pair in pairs {
        let difference = sub(pair.here[k], pair.there[k]);
        if TRUST {
            let [here, there] = pair.trust;
            for l in 0..WIDE {
                let d = difference[l];
                let excess = multiply_add::<T, FUSED>(d, d, -expected);
                sum[l] = multiply_add::<T, FUSED>(here[k][l] * there[k][l], excess, sum[l]);
            }
        } else {
            for l in 0..WIDE {
                sum[l] = multiply_add::<T, FUSED>(difference[l], difference[l], sum[l]);
            }
        }
    }
    sum
}

/// `whole` neighbouring cells and the part of the next one.
#[inline(always)]
fn across<T: Real>(cells: &Cells<T>, part: &Cells<T>, whole: usize, sums: &mut [T; TILE]) {
    let (cells, part) = (cells.as_flattened(), part.as_flattened());
    for (k, sums) in sums.as_chunks_mut::<WIDE>().0.iter_mut().enumerate() {
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
        trust: Option<&TrustIn<T>>,
        scratch: &mut Scratch<T>,
        nearest: &mut Nearest<T>,
    ) {
        let mut pairs = Vec::with_capacity(scratch.offsets.len());
        for (number, displacement) in (0..).zip(displacements) {
            self.offsets(tile.start, displacement, &mut scratch.offsets);
            match trust {
                None => {
                    let none = (self, T::zero());
                    self.cells::<FUSED, false>(tile.len(), none, &mut pairs, scratch);
                }
                Some(TrustIn { phases, expected }) => {
                    let trust = (phases, *expected);
                    self.cells::<FUSED, true>(tile.len(), trust, &mut pairs, scratch);
                }
            }
            self.blocks(tile.len(), number, scratch, nearest);
        }
    }

    /// Where the pixels of the first cell of a tile are, and where those they
    /// are compared with; the pixels in `part` rows and columns come first.
    #[inline(always)]
    fn offsets(&self, cell: usize, to: &Displacement, offsets: &mut [[usize; 2]]) {
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
                    let to_x = x + self.margin * step - radius + to.right;
                    let here = ((y + radius) * step + x) * self.length + self.margin;
                    let there = ((y + to.down) * step + to_x % step) * self.length + to_x / step;
                    if let Some(offsets) = offsets.next() {
                        *offsets = [here + cell, there + cell];
                    }
                }
            }
        }
    }

    /// Squared differences summed over cells, and over the cells of a block
    /// that lie side by side.
    #[inline(always)]
    fn cells<'a, const FUSED: bool, const TRUST: bool>(
        &'a self,
        tile: usize,
        (trust, expected): (&'a Self, T),
        pairs: &mut Vec<Pair<'a, T>>,
        scratch: &mut Scratch<T>,
    ) {
        let Lattice { block, step, .. } = self.lattice;
        let (whole, part) = (block / step, block % step);
        let Scratch { offsets, sums: [both, rows, columns, neither], wholes, parts } = scratch;
        let [corner, right, below] = [part * part, part * step, part * (2 * step - part)];
        let used = (tile + block.div_ceil(step) - 1).div_ceil(WIDE);
        for cell in 0..wholes.len() {
            let down = cell * step * step * self.length;
            pairs.clear();
            for &[here, there] in &*offsets {
                let [here, there] = [here + down, there + down];
                let (here, there, trust) = if TRUST {
                    let trust = [trust.pixels(here), trust.pixels(there)];
                    (self.pixels(here), self.pixels(there), trust)
                } else {
                    let (here, there) = (self.pixels(here), self.pixels(there));
                    (here, there, [here, there])
                };
                pairs.push(Pair { here, there, trust });
            }
            for k in 0..used.min(TILE / WIDE) {
                let a = sum::<T, FUSED, TRUST>(&pairs[..corner], expected, k);
                let b = sum::<T, FUSED, TRUST>(&pairs[corner..right], expected, k);
                let c = sum::<T, FUSED, TRUST>(&pairs[right..below], expected, k);
                let d = sum::<T, FUSED, TRUST>(&pairs[below..], expected, k);
                let ab = add(a, b);
                neither[k] = a;
                columns[k] = ab;
                rows[k] = add(a, c);
                both[k] = add(ab, add(c, d));
            }
            across(both, rows, whole, &mut wholes[cell]);
            across(columns, neither, whole, &mut parts[cell]);
        }
    }

    /// The same pixel of the cells of a tile.
    #[inline(always)]
    fn pixels(&self, at: usize) -> &Pixels<T> {
        self.values[at..].as_chunks().0.first_chunk().expect("rows are longer than tiles")
    }

    /// Distances of blocks, and which of them are among the nearest.
    #[inline(always)]
    fn blocks(&self, tile: usize, number: u32, scratch: &Scratch<T>, nearest: &mut Nearest<T>) {
        let whole = self.lattice.block / self.lattice.step;
        for reference in 0..self.references {
            let cells = &scratch.wholes[reference..reference + whole];
            let rest = &scratch.parts[reference + whole];
            for from in (0..tile).step_by(LANES) {
                let mut distance = load(&rest[..], from);
                for cell in cells {
                    distance = add(distance, load(&cell[..], from));
                }
                nearest.offer(reference * TILE + from, &distance, number);
            }
        }
    }
}
