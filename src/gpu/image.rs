//! Whole images: everything that happens to a region, on the device.
//!
//! Of an image, rectangles of regions go to the device one after another: the
//! pixels up, one submission, the pixels and the outliers down. While one is
//! computed the next is uploaded and the last is put in its place.

use super::cells::{Cells, Section, padded_rows, padded_square};
use super::choose::{self, Choose, Moment};
use super::context::MOST_GROUPS;
use super::gather::Gather;
use super::gradient::Gradient;
use super::greedy::{Greedy, Problem, Rule, Search, Shape, reason};
use super::look::Look;
use super::pace::Pace;
use super::reassemble::Reassemble;
use super::residual::{Product, Residual};
use super::shader::{Clock, Download, Staging, Step};
use super::tile::{Cut, Tile, word};
use super::{Gpu, GpuError};
use crate::denoise::impulses::{BLOCK, padded};
use crate::denoise::ladder::Ladder;
use crate::denoise::rows::read;
use crate::denoise::run::Run;
use crate::denoise::strip::{Job, Strip};
use crate::denoise::{
    Band, Conditions, DenoisePlan, Denoised, Detection, Grid, Masks, Plane, Smoothing,
};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use bytemuck::Zeroable;
use core::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Batches on their way at a time: one is computed, one uploaded.
const AHEAD: usize = 2;

/// A [`DenoisePlan`] on a device.
///
/// Everything that is the same for all images is on the device already. If the
/// device fails on the way, the processor does what is left.
#[derive(Debug)]
pub struct GpuDenoisePlan<'p> {
    plan: &'p DenoisePlan<f32>,
    gpu: Gpu,
    tables: Tables,
    /// Memory of the device, while no image is at work.
    work: Mutex<Option<Work>>,
}

/// An image that a device has denoised.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GpuDenoised {
    /// The image.
    pub denoised: Denoised<f32>,
    /// How it went.
    pub report: GpuReport,
}

/// How a device did.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct GpuReport {
    /// Submissions to the device.
    pub batches: usize,
    /// Seconds that the device computed, if it has a clock.
    pub device_seconds: Option<f64>,
    /// Why the processor had to go on, if it had to.
    pub fallback: Option<GpuError>,
}

impl GpuReport {
    /// Takes in how another part of the work went.
    pub(super) fn add(&mut self, other: Self) {
        self.batches += other.batches;
        if let Some(seconds) = other.device_seconds {
            *self.device_seconds.get_or_insert_default() += seconds;
        }
        if self.fallback.is_none() {
            self.fallback = other.fallback;
        }
    }
}

/// What is the same for all images.
#[derive(Debug)]
struct Tables {
    /// $E^T$ and $E$.
    pixels: wgpu::Buffer,
    vectors: wgpu::Buffer,
    /// The filters of the rungs, and their residual makers.
    ladder: wgpu::Buffer,
    makers: wgpu::Buffer,
}

impl Tables {
    fn new(gpu: &Gpu, ladder: &Ladder<f32>) -> Result<Self, GpuError> {
        let n = ladder.n;
        let mut vectors = alloc::vec![0.0; n * n];
        for (j, row) in ladder.pixels.chunks_exact(n).enumerate() {
            for (i, &entry) in row.iter().enumerate() {
                vectors[i * n + j] = entry;
            }
        }
        let makers: Vec<f32> =
            ladder.rungs.iter().flat_map(|rung| padded_rows(&rung.maker, n)).collect();
        Ok(Self {
            pixels: gpu.upload("basis", &padded_square(&ladder.pixels, n))?,
            vectors: gpu.upload("basis", &padded_square(&vectors, n))?,
            ladder: gpu.upload("ladder", &choose::table(ladder))?,
            makers: gpu.upload("residual makers", &makers)?,
        })
    }
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
        // What does not fit is refused now, and no image waits for a compiler.
        Kernels::new(gpu, &plan.shape(false), self.settings.smoothing)?;
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
    ) -> Result<GpuDenoised, crate::Error> {
        let band = Band { rows: image, masks, top: 0, height: image.height() };
        let rows = 0..self.plan.grid(image.width(), image.height())?.rows();
        let conditions = self.plan.survey(band, rows.clone())?.conditions()?;
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
    ) -> Result<GpuDenoised, crate::Error> {
        let mut run = Run::new(self.plan, band, rows.clone(), conditions)?;
        let all = run.contributing();
        let mut report = GpuReport::default();
        // All rows of a strip are asked for, or none.
        for part in [all.start..rows.start, rows.clone(), rows.end..all.end] {
            let mut done = part.start;
            if report.fallback.is_none() {
                report.fallback = self.solve(&mut run, part.clone(), &mut done, &mut report).err();
            }
            run.solve(done..part.end)?;
        }
        Ok(GpuDenoised { denoised: run.finish()?, report })
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
        let grid = run.job().grid;
        let masked = run.band.masks.bad.is_some() || run.band.masks.keep.is_some();
        let shape = self.shape(run.band.masks.bad.is_some());
        let most = self.most_regions(&grid, &shape)?.min(rows.len() * grid.columns());
        let kernels = Kernels::new(&self.gpu, &shape, self.plan.settings.smoothing)?;
        let taken = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut work = match taken {
            Some(work) if work.suits(&grid, &shape, most, masked) => work,
            _ => Work::new(&self.gpu, &grid, &shape, most, masked)?,
        };
        work.begin(&self.gpu, &run.job())?;

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
                pending.push_back(work.submit(self, &kernels, run, cut)?);
            }
            let Some(batch) = pending.pop_front() else { break };
            let cut = batch.cut.clone();
            let whole = strip.get_or_insert_with(|| empty_strip(&run.job(), cut.rows.clone()));
            if let Some(seconds) = batch.collect(&self.gpu, &grid, whole)? {
                *report.device_seconds.get_or_insert_default() += seconds;
            }
            report.batches += 1;
            pace.learn(cut.count(), last.elapsed());
            last = Instant::now();
            if cut.columns.end == grid.columns() {
                run.add(whole);
                strip = None;
                *done = cut.rows.end;
            }
        }
        *self.work.lock().unwrap_or_else(PoisonError::into_inner) = Some(work);
        Ok(())
    }

    /// What the search is built for.
    fn shape(&self, known: bool) -> Shape {
        let n = self.plan.ladder.n;
        let detection = self.plan.settings.detection;
        let rule = match detection {
            Detection::Automatic => Rule::Extreme,
            Detection::Histogram { e0, reading } => Rule::Histogram { e0, reading },
            Detection::MaxResidual(epsilon) => Rule::MaxResidual(epsilon),
        };
        // Pixels known to be bad are taken out beyond what a search may find.
        let k = if known { n - n.isqrt() } else { n / 2 };
        Shape {
            n: word(n),
            k: word(k.max(1)),
            rule,
            studentized: rule == Rule::Extreme,
            flagged: true,
        }
    }

    /// Regions of a batch at most.
    fn most_regions(&self, grid: &Grid, shape: &Shape) -> Result<usize, GpuError> {
        let mut most = shape.most(&self.gpu)?;
        // As many pixels as can be bound, as many rows as can be dispatched.
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

/// Rows of regions that nothing is known of yet.
fn empty_strip(job: &Job<'_, f32>, rows: Range<usize>) -> Strip<f32> {
    let grid = &job.grid;
    let width = grid.width();
    Strip {
        fitted: alloc::vec![0.0; grid.covered_by(rows.clone()).len() * width],
        outliers: alloc::vec![0.0; rows.len() * grid.core() * width],
        rungs: alloc::vec![0; job.ladder.rungs.len()],
        rows,
    }
}

/// The shaders that an image goes through.
struct Kernels {
    look: Look,
    gather: Gather,
    analysis: Residual,
    choice: Choice,
    synthesis: Residual,
    greedy: Greedy,
    reassemble: Reassemble,
}

/// How smoothers are chosen.
enum Choice {
    /// By the estimated risk, before the search and after it.
    Risk { before: Choose, after: Choose },
    /// By the paper's rule.
    Paper { gradient: Gradient, given: Choose },
}

impl Kernels {
    fn new(gpu: &Gpu, shape: &Shape, smoothing: Smoothing<f32>) -> Result<Self, GpuError> {
        let choose = |moment| Choose::new(gpu, shape.n, moment);
        // What the smoother is chosen for: suspects are no part of it.
        let source = match smoothing {
            Smoothing::Automatic => Section::Calm,
            Smoothing::Paper { .. } => Section::Data,
        };
        Ok(Self {
            look: Look::new(gpu)?,
            gather: Gather::new(gpu)?,
            analysis: Residual::new(gpu, source, Section::Coefficients)?,
            synthesis: Residual::new(gpu, Section::Filtered, Section::Residuals)?,
            choice: match smoothing {
                Smoothing::Automatic => {
                    Choice::Risk { before: choose(Moment::Before)?, after: choose(Moment::After)? }
                }
                Smoothing::Paper { .. } => {
                    Choice::Paper { gradient: Gradient::new(gpu)?, given: choose(Moment::Given)? }
                }
            },
            greedy: Greedy::new(gpu, *shape)?,
            reassemble: Reassemble::new(gpu)?,
        })
    }
}

/// Memory of the device for one batch after another. Submissions run in order, so
/// that one of everything is enough, except for what the processor reads.
#[derive(Debug)]
struct Work {
    grid: Grid,
    shape: Shape,
    most: usize,
    masked: bool,
    tile: wgpu::Buffer,
    product: wgpu::Buffer,
    search: wgpu::Buffer,
    // Of held pixels.
    pixels: wgpu::Buffer,
    looks: wgpu::Buffer,
    masks: wgpu::Buffer,
    // Of regions.
    cells: Cells,
    problems: wgpu::Buffer,
    columns: wgpu::Buffer,
    // Of the result.
    shares: wgpu::Buffer,
    result: wgpu::Buffer,
    staging: [Staging; AHEAD],
    clock: Option<Clock>,
    submitted: usize,
}

impl Work {
    /// Pixels, and rows of pixels, that are held at most for `most` regions.
    fn held(grid: &Grid, most: usize) -> (usize, usize) {
        let (rows, columns) = if most >= grid.columns() {
            (most / grid.columns(), grid.columns())
        } else {
            (1, most)
        };
        // Neighbours above and below, two blocks and more to the sides.
        let height = (rows * grid.core() + 2 * grid.margin() + 2).min(grid.height());
        let width = (columns * grid.core() + 2 * grid.margin() + 4 * BLOCK).min(grid.width());
        (height * width, height)
    }

    fn new(
        gpu: &Gpu,
        grid: &Grid,
        shape: &Shape,
        most: usize,
        masked: bool,
    ) -> Result<Self, GpuError> {
        let (held, _) = Self::held(grid, most);
        let columns = usize::try_from(shape.columns()).unwrap_or(usize::MAX);
        let bytes = 8 * held as u64 + (most * size_of::<Problem>()) as u64;
        let staging = || gpu.staging(bytes);
        let cells = Cells::new(gpu, shape.n, most)?;
        Ok(Self {
            grid: *grid,
            shape: *shape,
            most,
            masked,
            tile: gpu.uniform("tile", &Tile::zeroed())?,
            product: gpu.uniform("product", &Product::new(shape.n, 0, &cells))?,
            search: gpu.uniform("search", &Search::zeroed())?,
            pixels: gpu.storage("pixels", held)?,
            looks: gpu.storage("looks", 2 * held)?,
            masks: gpu.storage("masks", if masked { held } else { 1 })?,
            cells,
            problems: gpu.storage("problems", most * size_of::<Problem>() / 4)?,
            columns: gpu.storage("columns", most * columns)?,
            shares: gpu.storage("shares", (grid.columns() + grid.rows()) * grid.region())?,
            result: gpu.storage("result", 2 * held)?,
            staging: [staging()?, staging()?],
            clock: gpu.clock()?,
            submitted: 0,
        })
    }

    /// Whether it can be used for such an image.
    fn suits(&self, grid: &Grid, shape: &Shape, most: usize, masked: bool) -> bool {
        self.grid == *grid && self.shape == *shape && self.most >= most && self.masked == masked
    }

    /// Writes what is the same for all batches of an image.
    fn begin(&self, gpu: &Gpu, job: &Job<'_, f32>) -> Result<(), GpuError> {
        let search = Search {
            cap: self.shape.n / 2,
            threshold: self.shape.rule.threshold(),
            stride: self.cells.stride,
            padding: 0,
        };
        gpu.write(&self.search, bytemuck::bytes_of(&search))?;
        gpu.write(&self.shares, bytemuck::cast_slice(&[job.across, job.down].concat()))
    }

    /// Sends a rectangle of regions on its way.
    fn submit(
        &mut self,
        plan: &GpuDenoisePlan<'_>,
        kernels: &Kernels,
        run: &Run<'_, f32>,
        cut: Cut,
    ) -> Result<Pending, GpuError> {
        let gpu = &plan.gpu;
        let job = run.job();
        let tile = Tile::new(&job, &cut, self.masked, self.cells.stride);
        let size = Product::new(self.shape.n, word(cut.count()), &self.cells);
        gpu.write(&self.tile, bytemuck::bytes_of(&tile))?;
        gpu.write(&self.product, bytemuck::bytes_of(&size))?;
        let (pixels, masks) = held(&self.grid, run.band, &cut, self.masked);
        gpu.write(&self.pixels, bytemuck::cast_slice(&pixels))?;
        if self.masked {
            gpu.write(&self.masks, bytemuck::cast_slice(&masks))?;
        }
        let steps = gpu.guarded(|device| self.steps(device, plan, kernels, &tile, size))?;
        let (width, height) = tile.out();
        let area = 8 * u64::from(width) * u64::from(height);
        let problems = (cut.count() * size_of::<Problem>()) as u64;
        let results = [(&self.result, 0, area), (&self.problems, 0, problems)];
        let staging = &self.staging[self.submitted % AHEAD];
        let download = gpu.submit(&steps, &results, staging, self.clock.as_ref())?;
        self.submitted += 1;
        Ok(Pending { cut, download })
    }

    /// What happens to a batch.
    fn steps(
        &self,
        device: &wgpu::Device,
        plan: &GpuDenoisePlan<'_>,
        kernels: &Kernels,
        tile: &Tile,
        size: Product,
    ) -> Vec<Step> {
        let Product { n, count, .. } = size;
        let Tables { pixels: basis, vectors, ladder, makers } = &plan.tables;
        let Self { tile: uniform, pixels, looks, masks, problems, columns, .. } = self;
        let cells = &self.cells.buffer;
        let chosen = [uniform, cells, basis, ladder, problems];
        let mut steps = alloc::vec![
            kernels.look.step(device, tile, [uniform, pixels, looks]),
            kernels.gather.step(device, (n, count), [uniform, pixels, looks, masks, cells]),
            kernels.analysis.step(device, size, [&self.product, basis, cells]),
        ];
        match &kernels.choice {
            Choice::Risk { before, .. } => steps.push(before.step(device, count, chosen)),
            Choice::Paper { gradient, given } => {
                steps.push(gradient.step(device, count, [uniform, pixels, problems]));
                steps.push(given.step(device, count, chosen));
            }
        }
        // The first residuals, and the outliers.
        steps.push(kernels.synthesis.step(device, size, [&self.product, vectors, cells]));
        let searched = [&self.search, makers, problems, cells, columns];
        steps.push(kernels.greedy.step(device, count, searched));
        // What is left is smoothed as suits it best.
        if let Choice::Risk { after, .. } = &kernels.choice {
            steps.push(after.step(device, count, chosen));
            steps.push(kernels.synthesis.step(device, size, [&self.product, vectors, cells]));
        }
        let result = [uniform, cells, &self.shares, &self.result];
        steps.push(kernels.reassemble.step(device, tile, result));
        steps
    }
}

/// The pixels that a rectangle of regions needs, those known to be bad
/// replaced, and the masks there: 1 for those to be kept, 2 for bad ones.
fn held(grid: &Grid, band: Band<'_, f32>, cut: &Cut, masked: bool) -> (Vec<f32>, Vec<u32>) {
    let (columns, rows) = (cut.held_columns(grid), cut.held_rows(grid));
    let (source, first) = read(grid, band.rows, band.masks, band.top, rows.clone());
    let stride = padded(grid.width());
    let mut pixels = Vec::with_capacity(columns.len() * rows.len());
    let mut masks = Vec::with_capacity(if masked { pixels.capacity() } else { 0 });
    for y in rows {
        let line = &source[(y - first.start) * stride + 1..];
        pixels.extend_from_slice(&line[columns.clone()]);
        if masked {
            let is = |mask: Option<Plane<'_, bool>>, x| {
                u32::from(mask.is_some_and(|mask| mask.get(x, y - band.top)))
            };
            let word = |x| is(band.masks.keep, x) | is(band.masks.bad, x) << 1;
            masks.extend(columns.clone().map(word));
        }
    }
    (pixels, masks)
}

/// A batch on its way.
struct Pending {
    cut: Cut,
    download: Download,
}

impl Pending {
    /// Waits for it and puts it in its place; the seconds that the device took.
    fn collect(
        self,
        gpu: &Gpu,
        grid: &Grid,
        strip: &mut Strip<f32>,
    ) -> Result<Option<f64>, GpuError> {
        let Self { cut, download } = self;
        let (seconds, singular) = download.read(gpu, |bytes, seconds| {
            let columns = cut.out_columns(grid);
            let rows = grid.covered_by(cut.rows.clone());
            let area = columns.len() * rows.len();
            let (result, problems) = bytes.split_at(8 * area);
            let problems: &[Problem] = bytemuck::cast_slice(problems);
            place(grid, &cut, strip, bytemuck::cast_slice(result));
            for problem in problems {
                if let Some(count) = strip.rungs.get_mut(problem.rung as usize) {
                    *count += 1;
                }
            }
            (seconds, problems.iter().any(|p| p.reason == reason::KNOWN_SINGULAR))
        })?;
        if singular {
            // The processor says it in its own words.
            return Err(GpuError::Device("too few good pixels in a region".into()));
        }
        Ok(seconds)
    }
}

/// Adds what a rectangle of regions has a share in to its rows: pixels and
/// outliers.
fn place(grid: &Grid, cut: &Cut, strip: &mut Strip<f32>, result: &[[f32; 2]]) {
    let width = grid.width();
    let columns = cut.out_columns(grid);
    let core = cut.columns.start * grid.core()..(cut.columns.end * grid.core()).min(width);
    let rows = grid.covered_by(cut.rows.clone());
    let top = cut.rows.start * grid.core();
    let end = (cut.rows.end * grid.core()).min(grid.height());
    let lines = result.chunks_exact(columns.len()).zip(strip.fitted.chunks_exact_mut(width));
    for (y, (result, sums)) in rows.zip(lines) {
        for (sum, &[share, _]) in sums[columns.clone()].iter_mut().zip(result) {
            *sum += share;
        }
        if (top..end).contains(&y) {
            let here = &result[core.start - columns.start..][..core.len()];
            let outliers = &mut strip.outliers[(y - top) * width..][core.clone()];
            for (outlier, &[_, u]) in outliers.iter_mut().zip(here) {
                *outlier = u;
            }
        }
    }
}
