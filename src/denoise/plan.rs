//! What is the same for all images: the smoothers of a region, the classifier, the division into
//! regions.

use super::detect::classifier::Networks;
use super::detect::window::REACH;
use super::smooth::ladder::Ladder;
use crate::error::as_f64;
use crate::image::{Band, Grid};
use crate::{Error, Penalty, Real};
use core::ops::Range;

/// Everything but the kernel.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(crate) struct Settings<T> {
    pub(super) region: usize,
    pub(super) core: usize,
    pub(super) penalty: Penalty,
    pub(super) noise: Option<T>,
}

/// A denoiser with its plans, for any number of images.
#[derive(Debug, Clone)]
pub struct DenoisePlan<T> {
    pub(super) settings: Settings<T>,
    pub(crate) ladder: Ladder<T>,
    pub(super) networks: Networks<T>,
}

impl<T: Real> DenoisePlan<T> {
    /// The same plan for samples that are `factor` times as large.
    pub(super) fn in_units(mut self, factor: T) -> Self {
        self.settings.noise = self.settings.noise.map(|noise| noise * factor);
        self
    }

    /// The division of an image of this size into regions.
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no pixels.
    pub fn grid(&self, width: usize, height: usize) -> Result<Grid, Error> {
        Grid::new(width, height, self.settings.region, self.settings.core)
    }

    /// The rows of pixels that a [`Band`] must have for `rows` of regions to be
    /// surveyed and processed.
    #[must_use]
    pub fn pixels_for(&self, grid: &Grid, rows: Range<usize>) -> Range<usize> {
        let rows = contributing(grid, rows);
        let (first, last) = (grid.covered(rows.start), grid.covered(rows.end.max(1) - 1));
        // A row for the noise, some that are looked at, and one for bad pixels in them.
        let more = 1 + REACH + 1;
        first.start.saturating_sub(more)..last.end.saturating_add(more).min(grid.height())
    }

    /// Whether the band has what `rows` of regions need.
    pub(super) fn check(&self, band: Band<'_, T>, rows: &Range<usize>) -> Result<Grid, Error> {
        let grid = self.grid(band.rows.width(), band.height)?;
        if rows.is_empty() {
            return Err(Error::Empty { what: "range of regions" });
        }
        if rows.end > grid.rows() {
            return Err(Error::Index { index: rows.end - 1, len: grid.rows() });
        }
        let needed = self.pixels_for(&grid, rows.clone());
        if needed.start < band.top {
            return Err(Error::Index { index: needed.start, len: band.rows.height() });
        }
        Error::check_at_least("band", band.top.saturating_add(band.rows.height()), needed.end)?;
        for mask in [band.masks.bad, band.masks.keep].into_iter().flatten() {
            band.rows.check_size("mask", &mask)?;
        }
        for y in needed.filter(|&y| !band.rows.row_is_finite(y - band.top)) {
            let finite = |(x, sample): (usize, T)| {
                sample.is_finite() || band.masks.bad.is_some_and(|bad| bad.get(x, y - band.top))
            };
            if let Some(x) = band.rows.row(y - band.top).enumerate().position(|s| !finite(s)) {
                let value = as_f64(band.rows.get(x, y - band.top));
                let index = y * grid.width() + x;
                return Err(Error::NotFinite { what: "image", index, value });
            }
        }
        Ok(grid)
    }
}

/// The rows of regions that have a share in the cores of `rows`: regions overlap.
pub(super) fn contributing(grid: &Grid, rows: Range<usize>) -> Range<usize> {
    let more = grid.margin().div_ceil(grid.core());
    rows.start.saturating_sub(more)..rows.end.saturating_add(more).min(grid.rows())
}
