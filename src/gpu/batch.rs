//! A batch of regions: what is on the device for it, what happens to it there, and
//! how it comes back.

use super::buffer::{Clock, Download, Staging};
use super::cells::{Cells, Section, padded_rows, padded_square};
use super::choose::{self, Choose, Moment};
use super::classify::{self, Classify};
use super::gather::Gather;
use super::greedy::{Greedy, Problem, Search, Shape, reason};
use super::kernel::Step;
use super::look::Look;
use super::reassemble::Reassemble;
use super::residual::{Product, Residual};
use super::tile::{Cut, Tile, word};
use super::{Gpu, GpuError};
use crate::denoise::facade::{BLOCK, Job, Ladder, REACH, Run, Strip, padded, read};
use crate::image::{Grid, Plane};
use alloc::vec::Vec;
use bytemuck::Zeroable;

/// Batches on their way at a time: one is computed, one uploaded.
pub(super) const AHEAD: usize = 2;

/// What is the same for all images.
#[derive(Debug)]
pub(super) struct Tables {
    /// $E^T$ and $E$.
    pixels: wgpu::Buffer,
    vectors: wgpu::Buffer,
    /// The filters of the rungs, and their residual makers.
    ladder: wgpu::Buffer,
    makers: wgpu::Buffer,
    /// What the classifier has learned: its networks, one after the other.
    networks: wgpu::Buffer,
}

impl Tables {
    pub(super) fn new(gpu: &Gpu, ladder: &Ladder<f32>) -> Result<Self, GpuError> {
        let n = ladder.n;
        let mut vectors = alloc::vec![0.0; n * n];
        for (j, row) in ladder.basis.pixels.chunks_exact(n).enumerate() {
            for (i, &entry) in row.iter().enumerate() {
                vectors[i * n + j] = entry;
            }
        }
        let makers: Vec<f32> =
            ladder.rungs.iter().flat_map(|rung| padded_rows(&rung.maker, n)).collect();
        Ok(Self {
            pixels: gpu.upload("basis", &padded_square(&ladder.basis.pixels, n))?,
            vectors: gpu.upload("basis", &padded_square(&vectors, n))?,
            ladder: gpu.upload("ladder", &choose::table(ladder))?,
            makers: gpu.upload("residual makers", &makers)?,
            networks: classify::networks(gpu)?,
        })
    }
}

/// The shaders that an image goes through.
pub(super) struct Kernels {
    look: Look,
    classify: Classify,
    gather: Gather,
    analysis: Residual,
    /// The smoother of the least estimated risk, before the search and after it.
    before: Choose,
    after: Choose,
    synthesis: Residual,
    greedy: Greedy,
    reassemble: Reassemble,
}

impl Kernels {
    pub(super) fn new(gpu: &Gpu, shape: &Shape) -> Result<Self, GpuError> {
        let choose = |moment| Choose::new(gpu, shape.n, moment);
        Ok(Self {
            look: Look::new(gpu)?,
            classify: Classify::new(gpu)?,
            gather: Gather::new(gpu)?,
            // The smoother is chosen without suspects.
            analysis: Residual::new(gpu, Section::Calm, Section::Coefficients)?,
            synthesis: Residual::new(gpu, Section::Filtered, Section::Residuals)?,
            before: choose(Moment::Before)?,
            after: choose(Moment::After)?,
            greedy: Greedy::new(gpu, *shape)?,
            reassemble: Reassemble::new(gpu)?,
        })
    }
}

/// Memory of the device for one batch after another. Submissions run in order, so
/// that one of everything is enough, except for what the processor reads.
#[derive(Debug)]
pub(super) struct Work {
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
    pub(super) fn held(grid: &Grid, most: usize) -> (usize, usize) {
        let (rows, columns) = if most >= grid.columns() {
            (most / grid.columns(), grid.columns())
        } else {
            (1, most)
        };
        // What is looked at above and below, two blocks and more to the sides.
        let height = (rows * grid.core() + 2 * (grid.margin() + REACH)).min(grid.height());
        let width = (columns * grid.core() + 2 * grid.margin() + 4 * BLOCK).min(grid.width());
        (height * width, height)
    }

    pub(super) fn new(
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
    pub(super) fn suits(&self, grid: &Grid, shape: &Shape, most: usize, masked: bool) -> bool {
        self.grid == *grid && self.shape == *shape && self.most >= most && self.masked == masked
    }

    /// Writes what is the same for all batches of an image.
    pub(super) fn begin(&self, gpu: &Gpu, job: &Job<'_, f32>) -> Result<(), GpuError> {
        let search = Search {
            size: job.conditions.size,
            doubt: job.doubt(),
            ..Search::new(&self.shape, self.shape.n / 2, &self.cells)
        };
        gpu.write(&self.search, bytemuck::bytes_of(&search))?;
        gpu.write(&self.shares, bytemuck::cast_slice(&[&job.across[..], &job.down].concat()))
    }

    /// Sends a rectangle of regions on its way.
    pub(super) fn submit(
        &mut self,
        gpu: &Gpu,
        tables: &Tables,
        kernels: &Kernels,
        run: &Run<'_, f32>,
        cut: Cut,
    ) -> Result<Pending, GpuError> {
        let tile = Tile::new(&run.job, &cut, self.masked, self.cells.stride);
        let size = Product::new(self.shape.n, word(cut.count()), &self.cells);
        gpu.write(&self.tile, bytemuck::bytes_of(&tile))?;
        gpu.write(&self.product, bytemuck::bytes_of(&size))?;
        let (pixels, masks) = held(&self.grid, run, &cut, self.masked);
        gpu.write(&self.pixels, bytemuck::cast_slice(&pixels))?;
        if self.masked {
            gpu.write(&self.masks, bytemuck::cast_slice(&masks))?;
        }
        let steps = gpu.guarded(|device| self.steps(device, tables, kernels, &tile, size))?;
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
        tables: &Tables,
        kernels: &Kernels,
        tile: &Tile,
        size: Product,
    ) -> Vec<Step> {
        let Product { n, count, .. } = size;
        let Tables { pixels: basis, vectors, ladder, makers, networks } = tables;
        let Self { tile: uniform, pixels, looks, masks, problems, columns, .. } = self;
        let cells = &self.cells.buffer;
        let chosen = [uniform, cells, basis, ladder, problems];
        let mut steps = alloc::vec![
            kernels.look.step(device, tile, [uniform, pixels, looks]),
            kernels.classify.step(device, tile, [uniform, pixels, looks, networks]),
            kernels.gather.step(device, (n, count), [uniform, pixels, looks, masks, cells]),
            kernels.analysis.step(device, size, [&self.product, basis, cells]),
        ];
        // The first residuals, and the outliers.
        steps.push(kernels.before.step(device, count, chosen));
        steps.push(kernels.synthesis.step(device, size, [&self.product, vectors, cells]));
        let searched = [&self.search, makers, problems, cells, columns];
        steps.push(kernels.greedy.step(device, count, searched));
        // The rest is smoothed with the lambda that suits it best.
        steps.push(kernels.after.step(device, count, chosen));
        steps.push(kernels.synthesis.step(device, size, [&self.product, vectors, cells]));
        let result = [uniform, cells, &self.shares, &self.result];
        steps.push(kernels.reassemble.step(device, tile, result));
        steps
    }
}

/// The pixels that a rectangle of regions needs, those known to be bad
/// replaced, and the masks there: 1 for those to be kept, 2 for bad ones.
fn held(grid: &Grid, run: &Run<'_, f32>, cut: &Cut, masked: bool) -> (Vec<f32>, Vec<u32>) {
    let band = run.band;
    let (columns, rows) = (cut.held_columns(grid), cut.held_rows(grid));
    let (source, first) = read(grid, band, run.range(), rows.clone(), 0);
    let stride = padded(grid.width());
    let mut pixels = Vec::with_capacity(columns.len() * rows.len());
    let mut masks = Vec::with_capacity(if masked { pixels.capacity() } else { 0 });
    for y in rows {
        let line = &source[(y - first.start) * stride + REACH..];
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
pub(super) struct Pending {
    pub(super) cut: Cut,
    download: Download,
}

impl Pending {
    /// Waits for it and puts it in its place; the seconds that the device took.
    pub(super) fn collect(
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
fn place(grid: &Grid, cut: &Cut, strip: &mut Strip<f32>, result: &[[u32; 2]]) {
    let width = grid.width();
    let columns = cut.out_columns(grid);
    let core = cut.columns.start * grid.core()..(cut.columns.end * grid.core()).min(width);
    let rows = grid.covered_by(cut.rows.clone());
    let top = cut.rows.start * grid.core();
    let end = (cut.rows.end * grid.core()).min(grid.height());
    let lines = result.chunks_exact(columns.len()).zip(strip.fitted.chunks_exact_mut(width));
    for (y, (result, sums)) in rows.zip(lines) {
        for (sum, &[share, _]) in sums[columns.clone()].iter_mut().zip(result) {
            *sum += f32::from_bits(share);
        }
        if (top..end).contains(&y) {
            let here = &result[core.start - columns.start..][..core.len()];
            let mask = &mut strip.mask[(y - top) * width..][core.clone()];
            let values = &mut strip.values[(y - top) * width..][core.clone()];
            for ((is_outlier, value), &[_, bits]) in mask.iter_mut().zip(values).zip(here) {
                *is_outlier = bits != 0;
                *value = f32::from_bits(bits);
            }
        }
    }
}
