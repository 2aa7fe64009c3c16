//! Where the reference blocks lie, and how the image goes on beyond its edges.
//!
//! References stand at the multiples of the step. The image is continued by
//! its mirror image, by less than a step, so that the last of them ends where
//! the image does; an image smaller than a block is continued to a block.

use crate::Real;
use alloc::vec::Vec;
use core::ops::Range;

/// Rows of references that are searched and filtered together. More would
/// save recomputing what strips share, fewer fit the cache and share out
/// better.
const STRIP: usize = 8;

/// The references of one stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lattice {
    pub(super) block: usize,
    pub(super) step: usize,
    pub(super) radius: usize,
    /// References in a row, and rows of them.
    pub(super) across: usize,
    pub(super) down: usize,
}

impl Lattice {
    pub(super) fn new(
        (width, height): (usize, usize),
        block: usize,
        step: usize,
        radius: usize,
    ) -> Self {
        let references = |length: usize| length.saturating_sub(block).div_ceil(step) + 1;
        let (across, down) = (references(width), references(height));
        // Farther there are no blocks.
        let radius = radius.min(step * (across.max(down) - 1));
        Self { block, step, radius, across, down }
    }

    /// How far from its reference a match may lie, in columns and in rows.
    pub(super) fn reach(&self) -> (usize, usize) {
        let within = |references: usize| self.radius.min(self.step * (references - 1));
        (within(self.across), within(self.down))
    }

    /// Width of the continued image.
    pub(super) const fn width(&self) -> usize {
        self.block + self.step * (self.across - 1)
    }

    /// Height of the continued image.
    pub(super) const fn height(&self) -> usize {
        self.block + self.step * (self.down - 1)
    }

    /// Number of strips.
    pub(super) const fn strips(&self) -> usize {
        self.down.div_ceil(STRIP)
    }

    /// The rows of references of a strip.
    pub(super) fn references(&self, strip: usize) -> Range<usize> {
        strip * STRIP..((strip + 1) * STRIP).min(self.down)
    }

    /// The rows of pixels that the blocks of a strip can come from.
    pub(super) fn rows(&self, strip: usize) -> Range<usize> {
        let references = self.references(strip);
        let top = (references.start * self.step).saturating_sub(self.radius);
        let bottom = (references.end - 1) * self.step + self.block + self.radius;
        top..bottom.min(self.height())
    }
}

/// A channel: its samples row after row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Samples<'a, T> {
    pub(super) values: &'a [T],
    pub(super) width: usize,
    pub(super) height: usize,
}

impl<T: Real> Samples<'_, T> {
    /// Row `y` of the continued image.
    pub(super) fn continued_row(&self, y: usize, row: &mut Vec<T>, length: usize) {
        let from = mirror(y, self.height) * self.width;
        row.clear();
        row.extend_from_slice(&self.values[from..from + self.width.min(length)]);
        row.extend((self.width..length).map(|x| self.values[from + mirror(x, self.width)]));
    }
}

/// Where the sample `i` of a row of `n`, continued by its mirror image, is:
/// 0 1 2 | 2 1 0 | 0 1 2 ...
pub(super) const fn mirror(i: usize, n: usize) -> usize {
    let i = i % (2 * n);
    if i < n { i } else { 2 * n - 1 - i }
}

#[cfg(test)]
mod tests {
    use super::Lattice;
    use crate::denoise::bm3d::matching::displacements;

    /// The work grows with the number of displacements: of those that lead out of the image
    /// there are none.
    #[test]
    fn the_window_is_cut_to_the_image() {
        let count = |size, radius| {
            let lattice = Lattice::new(size, 8, 3, radius);
            let all = displacements(lattice.radius, lattice.reach(), 1);
            let reach = lattice.reach();
            let is_inside = |d: &super::super::matching::Displacement| {
                d.right.abs_diff(lattice.radius) <= reach.0
                    && d.down.abs_diff(lattice.radius) <= reach.1
            };
            assert!(all.iter().all(is_inside));
            all.len() + 1
        };
        assert_eq!(count((60, 60), 19), 39 * 39);
        // 18 steps of 3 pixels from the first reference to the last.
        assert_eq!(count((60, 60), 1024), 109 * 109);
        assert_eq!(count((1, 200_000), 19), 39);
        assert_eq!(count((8, 8), 19), 1);
    }
}
