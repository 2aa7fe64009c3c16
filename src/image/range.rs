//! The range of the samples of an image: the unit in which the automatic methods work.
//!
//! $$ x = 255\\, \frac{y - y_{\min}}{y_{\max} - y_{\min}} $$
//!
//! The range comes from the image, not from the type of its file, so that samples that are
//! multiplied or shifted by constants are the same in these units: an 8-bit image with all its
//! levels, in whatever file, to the last bit.
//!
//! Gross values, such as hot pixels in a dim image, must not set the unit: the ends lie within
//! two interquantile distances (1 % to 99 %) of the quantiles. The quantiles are those of pixels on
//! a lattice, whose place depends on the size of the image only, so that parts of an image
//! give exactly the range of the whole ([`RangeSurvey::merge`]).

use super::{Grid, Plane};
use crate::real::{constant, count};
use crate::stats::nth_smallest;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// The range of the samples in units.
pub(crate) const UNITS: f64 = 255.0;
/// Adding and subtracting this rounds units to multiples of its own last digit: 0.002 in single
/// precision, 4e-12 in double precision.
const GRAIN: f64 = 24_576.0;
/// Pixels of the lattice, about.
const LATTICE: usize = 4096;
/// One in so many samples may lie below the lower and above the upper quantile.
const QUANTILE_ONE_IN: usize = 100;
/// Interquantile distances by which the ends may lie beyond the quantiles: 2, as for the gross
/// values that KG-BM3D looks for.
const GROSS: f64 = 2.0;

/// The ends of the range of an image.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(deserialize = "T: serde::Deserialize<'de>"))
)]
#[non_exhaustive]
pub struct SampleRange<T> {
    /// The least sample.
    pub low: T,
    /// The greatest sample.
    pub high: T,
}

impl<T: Real> SampleRange<T> {
    /// The range from `low` to `high`, where it is known.
    ///
    /// # Errors
    /// [`Error::NotPositive`] unless `low` < `high` and both are finite.
    pub fn new(low: T, high: T) -> Result<Self, Error> {
        Error::check_finite("range of the samples", &[low, high])?;
        Error::check_positive("width of the samples' range", high - low)?;
        Ok(Self { low, high })
    }

    /// Samples that are in units already.
    pub(crate) fn units() -> Self {
        Self { low: T::zero(), high: constant(UNITS) }
    }

    fn width(self) -> T {
        self.high - self.low
    }

    /// A sample in units.
    #[inline(always)]
    pub(crate) fn of(self, sample: T) -> T {
        let grain = constant::<T>(GRAIN);
        let x = (sample - self.low) / self.width() * constant(UNITS);
        // To the nearest multiple of the grain: what rounding has made of equal values is equal,
        // and whole numbers are whole, so that ties are decided alike.
        (x + grain) - grain
    }

    /// A difference of samples in units.
    pub(crate) fn of_difference(self, difference: T) -> T {
        difference / (self.width() / constant(UNITS))
    }

    /// The inverse of [`of`](Self::of).
    #[inline(always)]
    pub(crate) fn sample(self, x: T) -> T {
        self.low + self.difference(x)
    }

    /// The inverse of [`of_difference`](Self::of_difference).
    #[inline(always)]
    pub(crate) fn difference(self, x: T) -> T {
        x * (self.width() / constant(UNITS))
    }
}

/// What some rows of an image say about its range.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeSurvey<T> {
    grid: Grid,
    rows: Range<usize>,
    ends: (T, T),
    lattice: Vec<T>,
}

impl<T: Real> RangeSurvey<T> {
    /// Of the pixels in the cores of `rows` of regions. `image` begins with row `top` of the whole;
    /// pixels known to be bad do not count.
    pub(crate) fn of_rows(
        grid: &Grid,
        rows: Range<usize>,
        image: Plane<'_, T>,
        bad: Option<Plane<'_, bool>>,
        top: usize,
    ) -> Self {
        let step = ((grid.width() * grid.height()) / LATTICE).isqrt().max(1);
        let mut ends = (T::infinity(), T::neg_infinity());
        let mut lattice = Vec::new();
        for y in rows.start * grid.core()..(rows.end * grid.core()).min(grid.height()) {
            let is_bad = |x: usize| bad.is_some_and(|bad| bad.get(x, y - top));
            if let (None, Some(row)) = (bad, image.whole_row(y - top)) {
                ends = together(ends, ends_of(row));
            } else {
                let good = (0..grid.width()).filter(|&x| !is_bad(x));
                let good = good.map(|x| image.get(x, y - top));
                ends = good.fold(ends, |ends, sample| together(ends, (sample, sample)));
            }
            if y % step == 0 {
                let columns = (0..grid.width()).step_by(step).filter(|&x| !is_bad(x));
                lattice.extend(columns.map(|x| image.get(x, y - top)));
            }
        }
        Self { grid: *grid, rows, ends, lattice }
    }

    /// The range surveys of consecutive rows of regions as one.
    ///
    /// # Errors
    /// [`Error::Empty`] without parts, [`Error::Length`] if they belong to different images, or
    /// one does not begin where the one before ends.
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Result<Self, Error> {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().ok_or(Error::Empty { what: "range survey" })?;
        for part in parts {
            if part.grid != whole.grid || part.rows.start != whole.rows.end {
                let (expected, found) = (whole.rows.end, part.rows.start);
                return Err(Error::Length { what: "range survey's rows before", expected, found });
            }
            whole.rows.end = part.rows.end;
            whole.ends = together(whole.ends, part.ends);
            whole.lattice.extend(part.lattice);
        }
        Ok(whole)
    }

    /// The range, if the survey is complete.
    ///
    /// # Errors
    /// [`Error::Length`] if rows are missing, [`Error::Overflow`] if the samples differ by more
    /// than the largest number.
    pub fn range(mut self) -> Result<SampleRange<T>, Error> {
        Error::check_len("range survey's first row", self.rows.start, 0)?;
        Error::check_len("range survey's rows", self.rows.end, self.grid.rows())?;
        let (mut low, mut high) = self.ends;
        if let Some(last) = self.lattice.len().checked_sub(1) {
            let rank = self.lattice.len() / QUANTILE_ONE_IN;
            let below = nth_smallest(&mut self.lattice, rank);
            let above = nth_smallest(&mut self.lattice, last - rank);
            let gross = constant::<T>(GROSS) * (above - below);
            // Nothing is far from samples that are all alike.
            if gross > T::zero() {
                (low, high) = (low.max(below - gross), high.min(above + gross));
            }
        }
        // No pixel counts, or all have one value, or differ by less than a unit can be: any does.
        if !(high - low > constant::<T>(UNITS) * T::min_positive_value()) {
            let low = if low.is_finite() { low } else { T::zero() };
            let unit = low.abs() * T::epsilon() * count(1 << 10);
            return Ok(SampleRange { low, high: low + unit.max(constant(UNITS)) });
        }
        if !(high - low).is_finite() {
            return Err(Error::Overflow { what: "range of the image" });
        }
        Ok(SampleRange { low, high })
    }
}

/// The ends of both.
#[inline(always)]
fn together<T: Real>(a: (T, T), b: (T, T)) -> (T, T) {
    (if b.0 < a.0 { b.0 } else { a.0 }, if b.1 > a.1 { b.1 } else { a.1 })
}

/// The ends of a row, in lanes, so that a comparison does not wait for the one before.
fn ends_of<T: Real>(row: &[T]) -> (T, T) {
    const LANES: usize = 16;
    let none = (T::infinity(), T::neg_infinity());
    let mut lanes = [none; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for samples in whole {
        for (lane, &sample) in lanes.iter_mut().zip(samples) {
            *lane = together(*lane, (sample, sample));
        }
    }
    let rest = rest.iter().map(|&sample| (sample, sample));
    lanes.into_iter().chain(rest).fold(none, together)
}
