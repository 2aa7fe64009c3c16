//! An image at work: its rows of regions are solved, in any portions and by
//! anyone, and put together.

use super::denoiser::{DenoisePlan, Denoised, Report};
use super::detect::classifier::Judge;
use super::detect::neighbourhood::Known;
use super::detect::rows::Rows;
use super::strip::{Job, Strip};
use super::survey::Conditions;
use crate::image::{Band, Grid, Plane, PlaneBuf, zeros};
use crate::parallel::{in_order, threads};
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// Rows of regions that are worked on as one: many share more of what is around them, few
/// keep all threads busy.
const ROWS_AT_A_TIME: (usize, usize) = (4, 8);
/// How many such portions there are for a thread, where that allows.
const PER_THREAD: usize = 8;

/// Some rows of regions of an image on their way to be pixels.
pub(crate) struct Run<'a, T> {
    plan: &'a DenoisePlan<T>,
    pub(crate) band: Band<'a, T>,
    /// What is the same for all regions.
    pub(crate) job: Job<'a, T>,
    pub(crate) sheet: Sheet<T>,
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
        let job = Job::new(plan, grid, conditions);
        let sheet = Sheet::new(&grid, rows, plan.ladder.rungs.len())?;
        Ok(Self { plan, band, job, sheet })
    }

    /// The rows of regions that have to be solved.
    pub(crate) fn contributing(&self) -> Range<usize> {
        self.plan.contributing(&self.job.grid, self.sheet.ours.clone())
    }

    /// Solves rows of regions, on all cores.
    pub(crate) fn solve(&mut self, rows: Range<usize>) -> Result<(), Error> {
        let Self { plan, band, job, sheet } = self;
        let known = job.known();
        let judge = Judge::new(&plan.networks, &known);
        let work = |rows: Range<usize>| {
            let image = pixels(&job.grid, *band, rows.clone(), Some(known), judge.as_ref());
            job.run(rows, &image, band.masks, band.top)
        };
        let mut outcome = Ok(());
        in_order(chunks(rows), work, |strips| match strips {
            Ok(strips) => strips.iter().for_each(|strip| sheet.add(&job.grid, strip)),
            Err(error) => outcome = outcome.and(Err(error)),
        });
        outcome
    }

    /// The result, when all have been added.
    pub(crate) fn finish(self) -> Result<Denoised<T>, Error> {
        let Self { plan, band, job, mut sheet } = self;
        if let Some(keep) = band.masks.keep {
            sheet.restore(band.rows, keep, band.top);
        }
        let lambda = sheet.median_rung().map_or(T::zero(), |rung| plan.ladder.rungs[rung].lambda);
        let outliers = sheet.outliers.iter().filter(|&&u| u != T::zero()).count();
        let (width, height) = (sheet.width, sheet.rows.len());
        if !sheet.pixels.iter().chain(&sheet.outliers).all(|x| x.is_finite()) {
            return Err(Error::Overflow { what: "denoised image" });
        }
        Ok(Denoised {
            image: PlaneBuf::new(sheet.pixels, width, height)?,
            outliers: PlaneBuf::new(sheet.outliers, width, height)?,
            report: Report { conditions: *job.conditions, outliers, lambda },
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
pub(crate) struct Sheet<T> {
    /// Rows of regions whose cores it consists of, and its rows of pixels.
    ours: Range<usize>,
    rows: Range<usize>,
    width: usize,
    pixels: Vec<T>,
    outliers: Vec<T>,
    rungs: Vec<usize>,
}

impl<T: Real> Sheet<T> {
    fn new(grid: &Grid, ours: Range<usize>, rungs: usize) -> Result<Self, Error> {
        let (width, core) = (grid.width(), grid.core());
        let rows = ours.start * core..(ours.end * core).min(grid.height());
        let (pixels, outliers) = (zeros(width, rows.len())?, zeros(width, rows.len())?);
        Ok(Self { ours, rows, width, pixels, outliers, rungs: alloc::vec![0; rungs] })
    }

    /// Adds what a strip has a share in; its outliers, too, if its rows are among ours: all of
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
    let (least, most) = ROWS_AT_A_TIME;
    let many = (rows.len() / (PER_THREAD * threads())).clamp(least, most);
    rows.step_by(many).map(move |row| row..(row + many).min(end))
}
