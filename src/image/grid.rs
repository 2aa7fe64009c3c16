//! How an image is divided into overlapping regions (section
//! "Implementation" of the paper's image denoising).
//!
//! Regions of `N` x `N` pixels lie `L` pixels apart, so that their cores, the
//! `L` x `L` pixels in the middle, cover the image without overlap. Where a
//! region reaches out of the image, the pixels at its border are repeated.

use super::Plane;
use crate::Error;
use crate::Real;
use crate::real::count;
use alloc::vec::Vec;
use core::ops::Range;

/// The division of an image into regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Grid {
    width: usize,
    height: usize,
    region: usize,
    core: usize,
}

impl Grid {
    /// Regions of `region` x `region` pixels with cores of `core` x `core`.
    ///
    /// # Errors
    /// [`Error::Empty`] for an image without pixels; [`Error::Regions`] unless
    /// `region` > `core` > 0 and their difference is even.
    pub fn new(width: usize, height: usize, region: usize, core: usize) -> Result<Self, Error> {
        if width == 0 || height == 0 {
            return Err(Error::Empty { what: "image" });
        }
        if core == 0 || region <= core || !(region - core).is_multiple_of(2) || region > MAX_REGION
        {
            return Err(Error::Regions { region, core });
        }
        Ok(Self { width, height, region, core })
    }

    /// Side of a region, the paper's `N`.
    #[must_use]
    pub const fn region(&self) -> usize {
        self.region
    }

    /// Side of a core, the paper's `L`.
    #[must_use]
    pub const fn core(&self) -> usize {
        self.core
    }

    /// Pixels by which a region exceeds its core on each side.
    #[must_use]
    pub const fn margin(&self) -> usize {
        (self.region - self.core) / 2
    }

    /// Regions from left to right.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.width.div_ceil(self.core)
    }

    /// Regions from top to bottom.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.height.div_ceil(self.core)
    }

    /// Pixels in a row of the image.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Rows of the image.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The rows of the image that a row of regions covers.
    #[must_use]
    pub fn covered(&self, row: usize) -> Range<usize> {
        // Rows that do not exist cover nothing.
        let core = row.saturating_mul(self.core).min(self.height);
        let end = core.saturating_add(self.core + self.margin()).min(self.height);
        core.saturating_sub(self.margin())..end
    }

    /// The rows of the image that rows of regions cover, one after another.
    pub(crate) fn covered_by(&self, rows: Range<usize>) -> Range<usize> {
        self.covered(rows.start).start..self.covered(rows.end - 1).end
    }

    /// Copies a row of regions out of `image`, one after another. `image` holds
    /// the rows of the image from `top` on, as far as the regions need them.
    pub(crate) fn gather<T: Copy>(
        &self,
        image: Plane<'_, T>,
        top: usize,
        row: usize,
        out: &mut [T],
    ) {
        let n = self.region;
        let margin = self.margin();
        for (column, region) in out.chunks_exact_mut(n * n).enumerate() {
            let left = column * self.core;
            let inside = left >= margin && left - margin + n <= self.width;
            for (i, line) in region.chunks_exact_mut(n).enumerate() {
                let y = self.pixel(row, i, self.height) - top;
                if inside {
                    image.copy_row(left - margin, y, line);
                } else {
                    for (j, pixel) in line.iter_mut().enumerate() {
                        *pixel = image.get(self.pixel(column, j, self.width), y);
                    }
                }
            }
        }
    }

    /// Where pixel `i` of region number `r` is, along an axis of `length`
    /// pixels; outside of the image the pixel at its border stands for it.
    pub(crate) fn pixel(&self, r: usize, i: usize, length: usize) -> usize {
        (r * self.core + i).saturating_sub(self.margin()).min(length - 1)
    }

    /// For each column (or row) of regions and each of its `N` pixels, the
    /// share that the region has in the result there, blended over the regions that cover the
    /// pixel.
    pub(crate) fn shares<T: Real>(&self, length: usize) -> Vec<T> {
        let (n, margin) = (self.region, self.margin());
        let regions = length.div_ceil(self.core);
        // The share falls linearly to the border of a region.
        let ramp = |i: usize| {
            let inside = count::<T>(2 * i.min(n - 1 - i) + 1);
            (inside / count(4 * margin)).min(T::one())
        };
        let mut total = alloc::vec![T::zero(); length];
        let pixel =
            |r: usize, i: usize| (r * self.core + i).checked_sub(margin).filter(|&p| p < length);
        for r in 0..regions {
            for i in 0..n {
                if let Some(p) = pixel(r, i) {
                    total[p] = total[p] + ramp(i);
                }
            }
        }
        let share = |r, i| pixel(r, i).map_or(T::zero(), |p| ramp(i) / total[p]);
        (0..regions).flat_map(|r| (0..n).map(move |i| (r, i))).map(|(r, i)| share(r, i)).collect()
    }
}

/// The largest region: 64 x 64 pixels already make a plan of 128 MB.
const MAX_REGION: usize = 64;

/// The points of a region of `side` x `side` pixels, row after row: the paper's
/// $x_i = (i - 1) / (N - 1)$ in both directions.
pub(crate) fn lattice<T: Real>(side: usize) -> Vec<T> {
    let step = |i: usize| count::<T>(i) / count(side - 1);
    (0..side * side).flat_map(|i| [step(i / side), step(i % side)]).collect()
}
