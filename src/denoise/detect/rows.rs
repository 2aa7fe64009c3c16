//! A band of image rows in memory of its own, ready to be looked at.

use super::classifier::{Classifier, Doubtful};
use super::neighbourhood::{Look, look};
use super::window::{Known, REACH, padded, reflected};
use crate::Real;
use crate::image::{Band, Grid, Plane, SampleRange};
use crate::real::count;
use alloc::vec::Vec;
use core::ops::Range;

/// Consecutive rows of an image with what their neighbourhoods say.
pub(crate) struct Rows<T> {
    pub(crate) range: Range<usize>,
    width: usize,
    /// The pixels; those known to be bad are replaced by their neighbours' mean.
    pixels: Vec<T>,
    calm: Vec<T>,
    worth: Vec<T>,
    /// Which pixels are known to be bad; empty without a mask.
    bad: Vec<bool>,
}

impl<T: Real> Rows<T> {
    /// Reads the rows `range` of `band`, which reaches [`REACH`] rows and one further than that
    /// where the image does, in `units` of the image's range.
    pub(crate) fn new(
        grid: &Grid,
        band: Band<'_, T>,
        units: SampleRange<T>,
        range: Range<usize>,
        known: Option<Known<T>>,
        classifier: Option<&Classifier<'_, T>>,
    ) -> Self {
        let (width, height) = (grid.width(), grid.height());
        let padded = padded(width);
        let (mut source, read) = read(grid, band, units, range.clone(), REACH);
        for line in source.chunks_exact_mut(padded) {
            for i in 1..=REACH {
                line[REACH - i] = line[REACH + reflected(-i.cast_signed(), width)];
                let right = (width + i - 1).cast_signed();
                line[REACH + width + i - 1] = line[REACH + reflected(right, width)];
            }
        }
        let area = range.len() * width;
        let mut rows = Self {
            range: range.clone(),
            width,
            pixels: Vec::with_capacity(area),
            calm: alloc::vec![T::zero(); area],
            worth: alloc::vec![T::zero(); area],
            bad: Vec::new(),
        };
        if let Some(bad) = band.masks.bad {
            rows.bad.extend(range.clone().flat_map(|y| bad.row(y - band.top)));
        }
        let line = |y: usize| &source[(y - read.start) * padded..][..padded];
        let mut doubtful = Doubtful::new();
        for (y, start) in range.zip((0..area).step_by(width)) {
            rows.pixels.extend_from_slice(&line(y)[REACH..][..width]);
            let row =
                |i: usize| line(reflected((y + i).cast_signed() - REACH.cast_signed(), height));
            let classifier = classifier.map(|classifier| (classifier, &mut doubtful));
            let calm = &mut rows.calm[start..][..width];
            let out = Look { calm, worth: &mut rows.worth, start };
            look(core::array::from_fn(row), known, classifier, out);
        }
        if let Some(classifier) = classifier {
            classifier.classify_doubtful(&mut doubtful, &mut rows.worth);
        }
        rows
    }

    /// The pixels.
    pub(crate) fn pixels(&self) -> Plane<'_, T> {
        self.plane(&self.pixels)
    }

    /// The pixels without those that look like impulses at first sight.
    pub(crate) fn calm(&self) -> Plane<'_, T> {
        self.plane(&self.calm)
    }

    /// What the pixels are worth as candidates for outliers.
    pub(crate) fn worth(&self) -> Plane<'_, T> {
        self.plane(&self.worth)
    }

    /// Row `y` of the image.
    pub(crate) fn pixel_row(&self, y: usize) -> &[T] {
        &self.pixels[(y - self.range.start) * self.width..][..self.width]
    }

    /// Row `y` of the image without suspects.
    pub(crate) fn calm_row(&self, y: usize) -> &[T] {
        &self.calm[(y - self.range.start) * self.width..][..self.width]
    }

    /// Which pixels of row `y` are known to be bad, if any are.
    pub(crate) fn bad_row(&self, y: usize) -> Option<&[bool]> {
        let start = (y - self.range.start) * self.width;
        self.bad.get(start..start + self.width)
    }

    fn plane<'a>(&self, samples: &'a [T]) -> Plane<'a, T> {
        Plane::contiguous(samples, self.width, self.range.len())
    }
}

/// The rows `range` of an image in `units`, `more` that are looked at on either side, and one for
/// what replaces pixels known to be bad in them, each [`padded`]; and which rows they are.
pub(crate) fn read<T: Real>(
    grid: &Grid,
    band: Band<'_, T>,
    units: SampleRange<T>,
    range: Range<usize>,
    more: usize,
) -> (Vec<T>, Range<usize>) {
    let width = grid.width();
    let padded = padded(width);
    let more = more + 1;
    let read = range.start.saturating_sub(more)..(range.end + more).min(grid.height());
    let mut source = alloc::vec![T::zero(); read.len() * padded];
    for (line, y) in source.chunks_exact_mut(padded).zip(read.clone()) {
        let line = &mut line[REACH..][..width];
        band.rows.copy_row(0, y - band.top, line);
        for sample in line {
            *sample = units.of(*sample);
        }
    }
    if let Some(bad) = band.masks.bad {
        replace_bad(&mut source, width, |x, line| bad.get(x, line + read.start - band.top));
    }
    (source, read)
}

/// Replaces pixels known to be bad, whatever they hold, by the mean of the good
/// ones around them; where there are none, by what lies to their left.
fn replace_bad<T: Real>(source: &mut [T], width: usize, is_bad: impl Fn(usize, usize) -> bool) {
    let padded = padded(width);
    let lines = source.len() / padded;
    for y in 0..lines {
        for x in (0..width).filter(|&x| is_bad(x, y)) {
            let (mut sum, mut good) = (T::zero(), 0);
            for v in y.saturating_sub(1)..(y + 2).min(lines) {
                for u in x.saturating_sub(1)..(x + 2).min(width) {
                    if !is_bad(u, v) {
                        sum = sum + source[v * padded + u + REACH];
                        good += 1;
                    }
                }
            }
            let left = if x > 0 { source[y * padded + x + REACH - 1] } else { T::zero() };
            source[y * padded + x + REACH] = if good > 0 { sum / count(good) } else { left };
        }
    }
}
