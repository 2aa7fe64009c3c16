//! An image at work: its rows of regions are solved, in any portions and by
//! anyone, and put together.

use super::denoiser::{Band, DenoisePlan, Denoised, Report};
use super::grid::Grid;
use super::impulses::Known;
use super::judge::Judge;
use super::rows::Rows;
use super::strip::{Job, Strip};
use super::survey::Conditions;
use super::{Plane, PlaneBuf};
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// Rows of regions that are worked on as one.
const ROWS_AT_A_TIME: usize = 4;
/// How often a thread does so before the results are put together.
const CHUNKS_PER_THREAD: usize = 2;

/// Some rows of regions of an image on their way to be pixels.
pub(crate) struct Run<'a, T> {
    plan: &'a DenoisePlan<T>,
    pub(crate) band: Band<'a, T>,
    conditions: &'a Conditions<T>,
    grid: Grid,
    rows: Range<usize>,
    /// Shares of the columns and the rows of regions in the result.
    across: Vec<T>,
    down: Vec<T>,
    sheet: Sheet<T>,
}

impl<'a, T: Real> Run<'a, T> {
    /// For the pixels in the cores of `rows` of regions.
    pub(crate) fn new(
        plan: &'a DenoisePlan<T>,
        band: Band<'a, T>,
        rows: Range<usize>,
        conditions: &'a Conditions<T>,
    ) -> Result<Self, Error> {
        let grid = plan.check(band, &rows)?;
        let blended = plan.settings.blended;
        let last = (rows.end * grid.core()).min(grid.height());
        let pixels = rows.start * grid.core()..last;
        Ok(Self {
            plan,
            band,
            conditions,
            across: grid.shares(grid.width(), blended),
            down: grid.shares(grid.height(), blended),
            sheet: Sheet::new(grid.width(), pixels, plan.ladder.rungs.len()),
            grid,
            rows,
        })
    }

    /// The rows of regions that have to be solved.
    pub(crate) fn contributing(&self) -> Range<usize> {
        self.plan.contributing(&self.grid, self.rows.clone())
    }

    /// What is the same for all regions.
    pub(crate) fn job(&self) -> Job<'_, T> {
        Job {
            grid: self.grid,
            settings: &self.plan.settings,
            ladder: &self.plan.ladder,
            conditions: self.conditions,
            across: &self.across,
            down: &self.down,
        }
    }

    /// Solves rows of regions, on all cores.
    pub(crate) fn solve(&mut self, rows: Range<usize>) -> Result<(), Error> {
        let band = self.band;
        let known = self.job().known();
        let judge = Judge::new(&self.plan.networks, &known);
        // As many at a time as keep all threads busy, and no more, so that their
        // memory does not grow with the image.
        for wave in chunks(rows).collect::<Vec<_>>().chunks(CHUNKS_PER_THREAD * threads()) {
            let job = self.job();
            let strips = each(wave.iter().cloned(), |rows| {
                let image = pixels(&self.grid, band, rows.clone(), Some(known), judge.as_ref());
                job.run(rows, &image, band.masks, band.top)
            });
            for strips in strips {
                for strip in strips? {
                    self.add(&strip);
                }
            }
        }
        Ok(())
    }

    /// Takes rows of regions that were solved; all of them among those asked
    /// for, or none.
    pub(crate) fn add(&mut self, strip: &Strip<T>) {
        let ours = self.rows.contains(&strip.rows.start);
        self.sheet.add(&self.grid, strip, ours);
    }

    /// The result, when all have been added.
    pub(crate) fn finish(self) -> Result<Denoised<T>, Error> {
        let Self { plan, band, conditions, mut sheet, .. } = self;
        if let Some(keep) = band.masks.keep {
            sheet.restore(band.rows, keep, band.top);
        }
        let lambda = sheet.median_rung().map_or(T::zero(), |rung| plan.ladder.rungs[rung].lambda);
        let outliers = sheet.outliers.iter().filter(|&&u| u != T::zero()).count();
        let (width, height) = (sheet.width, sheet.rows.len());
        Ok(Denoised {
            image: PlaneBuf::new(sheet.pixels, width, height)?,
            outliers: PlaneBuf::new(sheet.outliers, width, height)?,
            report: Report { conditions: *conditions, outliers, lambda },
        })
    }
}

/// The pixels that rows of regions read.
pub(super) fn pixels<T: Real>(
    grid: &Grid,
    band: Band<'_, T>,
    rows: Range<usize>,
    known: Option<Known<T>>,
    judge: Option<&Judge<'_, T>>,
) -> Rows<T> {
    let (first, last) = (grid.covered(rows.start), grid.covered(rows.end - 1));
    let range = first.start.saturating_sub(1)..(last.end + 1).min(grid.height());
    Rows::new(grid, band.rows, band.masks, band.top, range, known, judge)
}

/// The result, as it is put together.
struct Sheet<T> {
    width: usize,
    rows: Range<usize>,
    pixels: Vec<T>,
    outliers: Vec<T>,
    rungs: Vec<usize>,
}

impl<T: Real> Sheet<T> {
    fn new(width: usize, rows: Range<usize>, rungs: usize) -> Self {
        let zeros = alloc::vec![T::zero(); width * rows.len()];
        Self { width, rows, pixels: zeros.clone(), outliers: zeros, rungs: alloc::vec![0; rungs] }
    }

    /// Adds what a strip has a share in; its outliers, too, if its rows are
    /// `ours`.
    fn add(&mut self, grid: &Grid, strip: &Strip<T>, ours: bool) {
        let covered = grid.covered_by(strip.rows.clone());
        for (y, line) in covered.zip(strip.fitted.chunks_exact(self.width)) {
            if self.rows.contains(&y) {
                let sums = &mut self.pixels[(y - self.rows.start) * self.width..][..self.width];
                for (sum, &share) in sums.iter_mut().zip(line) {
                    *sum = *sum + share;
                }
            }
        }
        if ours {
            let first = (strip.rows.start * grid.core() - self.rows.start) * self.width;
            let outliers = &mut self.outliers[first..];
            let count = strip.outliers.len().min(outliers.len());
            outliers[..count].copy_from_slice(&strip.outliers[..count]);
            for (sum, &rung) in self.rungs.iter_mut().zip(&strip.rungs) {
                *sum += rung;
            }
        }
    }

    /// Puts the pixels back that are to be left alone.
    fn restore(&mut self, image: Plane<'_, T>, keep: Plane<'_, bool>, top: usize) {
        let lines = self.pixels.chunks_exact_mut(self.width);
        let lines = lines.zip(self.outliers.chunks_exact_mut(self.width));
        for (y, (pixels, outliers)) in self.rows.clone().zip(lines) {
            for x in (0..self.width).filter(|&x| keep.get(x, y - top)) {
                pixels[x] = image.get(x, y - top);
                outliers[x] = T::zero();
            }
        }
    }

    fn median_rung(&self) -> Option<usize> {
        let total: usize = self.rungs.iter().sum();
        let mut below = 0;
        self.rungs.iter().position(|&count| {
            below += count;
            2 * below >= total
        })
    }
}

/// Rows of regions, a few at a time.
pub(super) fn chunks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(ROWS_AT_A_TIME).map(move |row| row..(row + ROWS_AT_A_TIME).min(end))
}

/// What `f` makes of each item, in order; on all cores where there are any.
pub(super) fn each<I: Send, R: Send>(
    items: impl Iterator<Item = I>,
    f: impl Fn(I) -> R + Send + Sync,
) -> Vec<R> {
    #[cfg(feature = "rayon")]
    {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        items.collect::<Vec<_>>().into_par_iter().map(f).collect()
    }
    #[cfg(not(feature = "rayon"))]
    items.map(f).collect()
}

/// Threads that [`each`] works on.
fn threads() -> usize {
    #[cfg(feature = "rayon")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "rayon"))]
    1
}
