//! The rows of regions put together: each pixel is the weighted mean of the regions that cover it,
//! each outlier that of the region in whose core it lies.

use crate::image::{Grid, Plane, zeros};
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// The contribution of rows of regions to the rows of pixels they cover.
pub(crate) struct Strip<T> {
    /// Which rows of regions they are.
    pub(crate) rows: Range<usize>,
    /// Their share of the denoised pixels, rows [`Grid::covered_by`].
    pub(crate) fitted: Vec<T>,
    /// Which pixels in their cores are outliers, and the values of these.
    pub(crate) mask: Vec<bool>,
    pub(crate) values: Vec<T>,
    /// Number of regions that were smoothed by each rung.
    pub(crate) rungs: Vec<usize>,
}

impl<T: Real> Strip<T> {
    /// Rows of regions of which nothing is known yet.
    pub(crate) fn empty(grid: &Grid, rows: Range<usize>, rungs: usize) -> Self {
        let cores = rows.len() * grid.core() * grid.width();
        Self {
            fitted: alloc::vec![T::zero(); grid.covered_by(rows.clone()).len() * grid.width()],
            mask: alloc::vec![false; cores],
            values: alloc::vec![T::zero(); cores],
            rungs: alloc::vec![0; rungs],
            rows,
        }
    }

    /// Writes pixel `j` of the region at `column` down as an outlier, if it is in the core. The
    /// strip has one row of regions.
    pub(super) fn record(&mut self, grid: &Grid, column: usize, j: usize, value: T) {
        let inside = |at: usize| at.checked_sub(grid.margin()).filter(|&at| at < grid.core());
        let (y, x) = (j / grid.region(), j % grid.region());
        if let (Some(y), Some(x)) = (inside(y), inside(x)) {
            let x = column * grid.core() + x;
            if x < grid.width() && self.rows.start * grid.core() + y < grid.height() {
                self.mask[y * grid.width() + x] = true;
                self.values[y * grid.width() + x] = value;
            }
        }
    }

    /// Adds the pixels of a row of regions, one region after another, by their `shares` across and
    /// down. The strip has that one row.
    pub(super) fn add(&mut self, grid: &Grid, regions: &[T], (across, down): (&[T], &[T])) {
        let (side, width, row) = (grid.region(), grid.width(), self.rows.start);
        let covered = grid.covered(row);
        for (column, region) in regions.chunks_exact(side * side).enumerate() {
            let left = column * grid.core();
            // Pixels before `first` are outside of the image.
            let first = grid.margin().saturating_sub(left);
            let last = side.min(width + grid.margin() - left);
            let shares = &across[column * side..][first..last];
            for (y, line) in covered.clone().zip(self.fitted.chunks_exact_mut(width)) {
                let i = y + grid.margin() - row * grid.core();
                let down = down[row * side + i];
                let line = &mut line[left + first - grid.margin()..][..last - first];
                let source = &region[i * side..][first..last];
                for ((out, &pixel), &share) in line.iter_mut().zip(source).zip(shares) {
                    *out = *out + down * share * pixel;
                }
            }
        }
    }
}

/// The result, as it is put together.
pub(crate) struct Sheet<T> {
    /// Rows of regions whose cores it consists of, and its rows of pixels.
    pub(super) ours: Range<usize>,
    rows: Range<usize>,
    pub(super) width: usize,
    pub(super) pixels: Vec<T>,
    pub(super) mask: Vec<bool>,
    pub(super) values: Vec<T>,
    rungs: Vec<usize>,
}

impl<T: Real> Sheet<T> {
    pub(super) fn new(grid: &Grid, ours: Range<usize>, rungs: usize) -> Result<Self, Error> {
        let (width, core) = (grid.width(), grid.core());
        let rows = ours.start * core..(ours.end * core).min(grid.height());
        let (pixels, values) = (zeros(width, rows.len())?, zeros(width, rows.len())?);
        Ok(Self {
            ours,
            rows,
            width,
            mask: alloc::vec![false; pixels.len()],
            pixels,
            values,
            rungs: alloc::vec![0; rungs],
        })
    }

    /// Adds the contribution of a strip; its outliers, too, if its rows are among ours: all of
    /// them, or none.
    pub(crate) fn add(&mut self, grid: &Grid, strip: &Strip<T>) {
        let covered = grid.covered_by(strip.rows.clone());
        for (y, line) in covered.zip(strip.fitted.chunks_exact(self.width)) {
            if self.rows.contains(&y) {
                let sums = &mut self.pixels[(y - self.rows.start) * self.width..][..self.width];
                for (sum, &share) in sums.iter_mut().zip(line) {
                    *sum = *sum + share;
                }
            }
        }
        if self.ours.contains(&strip.rows.start) {
            let first = (strip.rows.start * grid.core() - self.rows.start) * self.width;
            let count = strip.mask.len().min(self.mask.len() - first);
            self.mask[first..][..count].copy_from_slice(&strip.mask[..count]);
            self.values[first..][..count].copy_from_slice(&strip.values[..count]);
            for (sum, &rung) in self.rungs.iter_mut().zip(&strip.rungs) {
                *sum += rung;
            }
        }
    }

    /// Puts the pixels back that are to be left alone.
    pub(super) fn restore(&mut self, image: Plane<'_, T>, keep: Plane<'_, bool>, top: usize) {
        for (i, y) in self.rows.clone().enumerate() {
            for x in (0..self.width).filter(|&x| keep.get(x, y - top)) {
                let at = i * self.width + x;
                self.pixels[at] = image.get(x, y - top);
                self.mask[at] = false;
                self.values[at] = T::zero();
            }
        }
    }

    /// The median of the regions' rungs.
    pub(super) fn median_rung(&self) -> Option<usize> {
        let total: usize = self.rungs.iter().sum();
        let mut below = 0;
        self.rungs.iter().position(|&count| {
            below += count;
            2 * below >= total
        })
    }
}
