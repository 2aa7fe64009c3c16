//! Whole images on the device.
//!
//! Rectangles of regions are processed one after another: upload of the pixels, one submission,
//! download of pixels and outliers. While one is computed the next is uploaded and the previous
//! one is added to the result.

use super::batch::{AHEAD, Kernels, Pending, Tables, Work};
use super::context::MOST_GROUPS;
use super::greedy::{Rule, Shape};
use super::pace::Pace;
use super::report::GpuReport;
use super::tile::{Cut, word};
use super::{Gpu, GpuError};
use crate::denoise::facade::{Run, Strip};
use crate::denoise::{Conditions, DenoisePlan, Denoised};
use crate::image::{Band, Grid, Masks, Plane, SampleRange};
use alloc::collections::VecDeque;
use core::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// A [`DenoisePlan`] on a device.
///
/// Everything that is the same for all images is on the device. If the device fails, the
/// processor computes the rest.
#[derive(Debug)]
pub struct GpuDenoisePlan<'p> {
    plan: &'p DenoisePlan<f32>,
    gpu: Gpu,
    tables: Tables,
    /// Buffers that no image is using.
    work: Mutex<Option<Work>>,
}

impl DenoisePlan<f32> {
    /// The same plan on a device.
    ///
    /// # Errors
    /// [`GpuError::Limit`] if regions are too large for the device, or what it
    /// says.
    pub fn on(&self, gpu: &Gpu) -> Result<GpuDenoisePlan<'_>, GpuError> {
        let tables = Tables::new(gpu, &self.ladder)?;
        let plan = GpuDenoisePlan { plan: self, gpu: gpu.clone(), tables, work: Mutex::default() };
        // Compiles the pipelines and checks the limits now, not with the first image.
        Kernels::new(gpu, &plan.shape(false))?;
        Ok(plan)
    }
}

impl GpuDenoisePlan<'_> {
    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Denoises an image.
    ///
    /// # Errors
    /// As [`DenoisePlan::denoise`]: those of the input. Those of the device are in
    /// the report.
    pub fn denoise(
        &self,
        image: Plane<'_, f32>,
        masks: Masks<'_>,
    ) -> Result<(Denoised<f32>, GpuReport), crate::Error> {
        let band = Band { rows: image, masks, top: 0, height: image.height() };
        let rows = 0..self.plan.grid(image.width(), image.height())?.rows();
        let range = self.plan.range(band, rows)?.range()?;
        self.denoise_in(range, band, None)
    }

    /// Denoises the channels of an image, each by itself.
    ///
    /// # Errors
    /// As [`DenoisePlan::denoise_all`].
    pub fn denoise_all(
        &self,
        image: &[Plane<'_, f32>],
        masks: Masks<'_>,
    ) -> Result<(Denoised<f32>, GpuReport), crate::Error> {
        let first = image.first().ok_or(crate::Error::Empty { what: "image" })?;
        let (mut denoised, mut report) = (Denoised::empty(), GpuReport::default());
        for channel in image {
            first.check_size("channel", channel)?;
            let (part, work) = self.denoise(*channel, masks)?;
            denoised.append(part);
            report.add(work);
        }
        Ok((denoised, report))
    }

    /// The same for samples that are in units already.
    pub(super) fn denoise_units(
        &self,
        image: Plane<'_, f32>,
        masks: Masks<'_>,
        noise: Option<f32>,
    ) -> Result<(Denoised<f32>, GpuReport), crate::Error> {
        let band = Band { rows: image, masks, top: 0, height: image.height() };
        self.denoise_in(SampleRange::units(), band, noise)
    }

    fn denoise_in(
        &self,
        range: SampleRange<f32>,
        band: Band<'_, f32>,
        noise: Option<f32>,
    ) -> Result<(Denoised<f32>, GpuReport), crate::Error> {
        let rows = 0..self.plan.grid(band.rows.width(), band.height)?.rows();
        let survey = self.plan.survey(band, rows.clone(), range)?;
        let conditions = survey.with_known_noise(noise).conditions()?;
        self.process(band, rows, &conditions)
    }

    /// Denoises some rows of regions; see [`DenoisePlan::process`].
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn process(
        &self,
        band: Band<'_, f32>,
        rows: Range<usize>,
        conditions: &Conditions<f32>,
    ) -> Result<(Denoised<f32>, GpuReport), crate::Error> {
        let mut run = Run::new(self.plan, band, rows.clone(), conditions)?;
        let all = run.contributing();
        let mut report = GpuReport::default();
        // A strip is requested as a whole or not at all.
        for part in [all.start..rows.start, rows.clone(), rows.end..all.end] {
            let mut done = part.start;
            if report.fallback.is_none() {
                report.fallback = self.solve(&mut run, part.clone(), &mut done, &mut report).err();
            }
            run.solve(done..part.end)?;
        }
        Ok((run.finish()?, report))
    }

    /// Solves `rows` of regions; `done` is how far they are part of the result.
    fn solve(
        &self,
        run: &mut Run<'_, f32>,
        rows: Range<usize>,
        done: &mut usize,
        report: &mut GpuReport,
    ) -> Result<(), GpuError> {
        if rows.is_empty() {
            return Ok(());
        }
        let grid = run.job.grid;
        let masked = run.band.masks.bad.is_some() || run.band.masks.keep.is_some();
        let shape = self.shape(run.band.masks.bad.is_some());
        let most = self.most_regions(&grid, &shape)?.min(rows.len() * grid.columns());
        let kernels = Kernels::new(&self.gpu, &shape)?;
        let taken = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut work = match taken {
            Some(work) if work.suits(&grid, &shape, most, masked) => work,
            _ => Work::new(&self.gpu, &grid, &shape, most, masked)?,
        };
        work.begin(&self.gpu, &run.job)?;

        let mut pace = Pace::new(most);
        let mut pending: VecDeque<Pending> = VecDeque::with_capacity(AHEAD);
        let mut strip: Option<Strip<f32>> = None;
        let mut at = (rows.start, 0);
        let mut last = Instant::now();
        loop {
            while pending.len() < AHEAD
                && let Some(cut) = Cut::next(&grid, &rows, at, pace.batch())
            {
                at = cut.end(&grid);
                pending.push_back(work.submit(&self.gpu, &self.tables, &kernels, run, cut)?);
            }
            let Some(batch) = pending.pop_front() else { break };
            let cut = batch.cut.clone();
            let rungs = run.job.ladder.rungs.len();
            let whole = strip.get_or_insert_with(|| Strip::empty(&grid, cut.rows.clone(), rungs));
            report.count_batch(batch.collect(&self.gpu, &grid, whole)?);
            pace.learn(cut.count(), last.elapsed());
            last = Instant::now();
            if cut.columns.end == grid.columns() {
                run.sheet.add(&grid, whole);
                strip = None;
                *done = cut.rows.end;
            }
        }
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
        Ok(())
    }

    /// The constants of the search pipeline.
    fn shape(&self, known: bool) -> Shape {
        let n = self.plan.ladder.n;
        // Pixels known to be bad do not count towards the cap of a search.
        let k = if known { n - n.isqrt() } else { n / 2 };
        Shape {
            n: word(n),
            k: word(k.max(1)),
            rule: Rule::Extreme,
            studentized: true,
            flagged: true,
        }
    }

    /// Largest number of regions in a batch.
    fn most_regions(&self, grid: &Grid, shape: &Shape) -> Result<usize, GpuError> {
        let mut most = shape.most(&self.gpu)?;
        // Limited by the size of bindings and by the number of workgroups.
        let fits = |most| {
            let (held, rows) = Work::held(grid, most);
            8 * held as u64 <= self.gpu.largest_binding() && rows <= MOST_GROUPS as usize
        };
        while most > 1 && !fits(most) {
            most /= 2;
        }
        Ok(most)
    }
}
