//! Many fits on one plan.

use super::cells::{Cells, Section, padded, padded_rows, padded_square};
use super::greedy::{Greedy, Problem, Rule, Search, Shape, reason};
use super::pace::Pace;
use super::report::GpuReport;
use super::residual::{Product, Residual};
use super::tile::word;
use super::{Gpu, GpuError};
use crate::regression::stop;
use crate::regression::{Found, leaves_traces};
use crate::{Error, Fit, Kernel, Outlier, Plan, Stop, StopReason, StopRule};
use alloc::vec::Vec;
use std::time::Instant;

/// Capacity of a search on the device in outliers, or half of the points if that is less.
/// Problems with more are solved by the processor.
const ROOM: usize = 32;

/// A [`Plan`] on a device, for many fits at once.
#[derive(Debug)]
pub struct GpuPlan<'p, K> {
    plan: &'p Plan<f32, K>,
    gpu: Gpu,
    maker: wgpu::Buffer,
}

/// Fits computed on a device.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GpuFits<K> {
    /// The fits, in order.
    pub fits: Vec<Fit<f32, K>>,
    /// Statistics and errors of the device.
    pub report: GpuReport,
}

impl<K: Kernel<f32>> Plan<f32, K> {
    /// The same plan on a device.
    ///
    /// # Errors
    /// [`GpuError::Limit`] if it is too large for the device, or what that says.
    pub fn on(&self, gpu: &Gpu) -> Result<GpuPlan<'_, K>, GpuError> {
        let maker = gpu
            .upload("residual maker", &padded_square(self.as_ref().residual_maker(), self.len()))?;
        Ok(GpuPlan { plan: self, gpu: gpu.clone(), maker })
    }
}

impl<K: Kernel<f32> + Clone> GpuPlan<'_, K> {
    /// Fits many `y`, one after another in `ys`, each as long as the plan has
    /// points. If the device fails, the processor computes the rest; with sample weights,
    /// all of them.
    ///
    /// # Errors
    /// [`Error::Dimension`] if `ys` does not come in groups of the number of
    /// points, [`Error::NotFinite`], or what is wrong with the rule.
    pub fn fit_many(&self, ys: &[f32], stop: Stop<f32>) -> Result<GpuFits<K>, Error> {
        let n = self.plan.len();
        if !ys.len().is_multiple_of(n) {
            return Err(Error::Dimension { expected: n, found: ys.len() });
        }
        Error::check_finite("y", ys)?;
        stop.validate()?;
        let mut fits = Vec::with_capacity(ys.len() / n);
        let mut report = GpuReport::default();
        // The shaders know of no sample weights.
        if self.plan.as_ref().roots().is_empty() {
            report.fallback = self.solve(ys, stop, &mut fits, &mut report).err();
        }
        for y in ys[fits.len() * n..].chunks_exact(n) {
            fits.push(self.plan.fit(y, stop)?);
        }
        Ok(GpuFits { fits, report })
    }

    /// The fit that the device has found; `None` where its result is not reliable.
    fn finish(&self, y: &[f32], rule: Rule, searched: Searched) -> Option<Fit<f32, K>> {
        let Searched { residual, outliers, reason } = searched;
        if leaves_traces(y, &outliers) || rule == Rule::Automatic && is_coarse(y, &outliers) {
            return None;
        }
        let mut fitted: Vec<f32> = y.iter().zip(&residual).map(|(y, r)| y - r).collect();
        for outlier in &outliers {
            fitted[outlier.index] -= outlier.value;
        }
        let iterations = outliers.len();
        self.plan.assemble(Found { residual, outliers, fitted, iterations, reason }).ok()
    }

    fn solve(
        &self,
        ys: &[f32],
        stop: Stop<f32>,
        fits: &mut Vec<Fit<f32, K>>,
        report: &mut GpuReport,
    ) -> Result<(), GpuError> {
        let gpu = &self.gpu;
        let n = self.plan.len();
        let count = ys.len() / n;
        if count == 0 {
            return Ok(());
        }
        let cap = stop.cap().min(n);
        let shape = shape(n, cap, &stop);
        let greedy = Greedy::new(gpu, shape)?;
        let residual = Residual::new(gpu, Section::Data, Section::Residuals)?;
        let most = shape.most(gpu)?.min(count);

        let cells = Cells::new(gpu, shape.n, most)?;
        let search = gpu.uniform("search", &Search::new(&shape, word(cap), &cells))?;
        let product = gpu.uniform("product", &Product::new(shape.n, 0, &cells))?;
        let problems = gpu.upload("problems", &alloc::vec![Problem::default(); most])?;
        let columns = usize::try_from(shape.columns()).unwrap_or(usize::MAX);
        let columns = gpu.storage("columns", most * columns)?;
        let each = padded(shape.n) as usize;
        let staging = gpu.staging((most * (12 * each + size_of::<Problem>())) as u64)?;
        let clock = gpu.clock()?;

        let mut pace = Pace::new(most);
        while fits.len() < count {
            let start = Instant::now();
            let batch = pace.batch().min(count - fits.len());
            let size = Product::new(shape.n, word(batch), &cells);
            let ys = &ys[fits.len() * n..][..batch * n];
            gpu.write(&product, bytemuck::bytes_of(&size))?;
            gpu.write(&cells.buffer, bytemuck::cast_slice(&padded_rows(ys, n)))?;
            let steps = gpu.guarded(|device| {
                let searched = [&search, &self.maker, &problems, &cells.buffer, &columns];
                [
                    residual.step(device, size, [&product, &self.maker, &cells.buffer]),
                    greedy.step(device, size.count, searched),
                ]
            })?;
            let section =
                |section| (&cells.buffer, cells.offset(section), (4 * batch * each) as u64);
            let results = [
                section(Section::Residuals),
                section(Section::Outliers),
                section(Section::Order),
                (&problems, 0, (batch * size_of::<Problem>()) as u64),
            ];
            let download = gpu.submit(&steps, &results, &staging, clock.as_ref())?;
            let (found, seconds) =
                download.read(gpu, |bytes, seconds| (found(bytes, shape, cap, batch), seconds))?;
            for (y, found) in ys.chunks_exact(n).zip(found) {
                // The processor solves problems beyond the capacity, and those whose largest values may
                // dominate the rounding.
                let finished = found.and_then(|found| self.finish(y, shape.rule, found));
                fits.push(match finished {
                    Some(fit) => fit,
                    None => self.plan.fit(y, stop)?,
                });
            }
            report.count_batch(seconds);
            pace.learn(batch, start.elapsed());
        }
        Ok(())
    }
}

/// The device's result for a problem.
struct Searched {
    residual: Vec<f32>,
    outliers: Vec<Outlier<f32>>,
    reason: StopReason,
}

/// The device's result for each problem; `None` where its capacity was exceeded.
fn found(bytes: &[u8], shape: Shape, cap: usize, batch: usize) -> Vec<Option<Searched>> {
    let n = shape.n as usize;
    let each = padded(shape.n) as usize;
    let (sections, problems) = bytes.split_at(12 * batch * each);
    let sections: &[f32] = bytemuck::cast_slice(sections);
    let (residuals, rest) = sections.split_at(batch * each);
    let (outliers, order) = rest.split_at(batch * each);
    let problems: &[Problem] = bytemuck::cast_slice(problems);
    let found = problems.iter().enumerate().map(|(i, problem)| {
        let count = problem.count as usize;
        let values = &outliers[i * each..][..n];
        // Indices are whole numbers, whatever they are stored as.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let outlier = |&j: &f32| {
            let index = j as usize;
            Outlier { index, value: values[index] }
        };
        let outliers: Vec<_> = order[i * each..][..count].iter().map(outlier).collect();
        let residual = residuals[i * each..][..n].to_vec();
        let finite = residual.iter().all(|r| r.is_finite());
        let short = problem.reason == reason::CAP && count < cap;
        let reason = match problem.reason {
            reason::MET => met(shape.rule),
            reason::CAP => StopReason::Cap,
            _ => StopReason::Exhausted,
        };
        (finite && !short).then_some(Searched { residual, outliers, reason })
    });
    found.collect()
}

/// Whether at any step the remaining data were within rounding of zero, which the device does
/// not check.
fn is_coarse(y: &[f32], outliers: &[Outlier<f32>]) -> bool {
    // Zero where a point has been removed, as residuals are.
    let mut left = alloc::vec![1.0; y.len()];
    let mut found = stop::resolution(y, &left) > 0.0;
    for outlier in outliers {
        left[outlier.index] = 0.0;
        found = found || stop::resolution(y, &left) > 0.0;
    }
    found
}

/// The pipeline constants of a search of `n` points.
fn shape(n: usize, cap: usize, stop: &Stop<f32>) -> Shape {
    let rule = match stop.rule {
        stop::Rule::ResidualNorm(epsilon) => Rule::ResidualNorm(epsilon),
        stop::Rule::MaxResidual(epsilon) => Rule::MaxResidual(epsilon),
        stop::Rule::Histogram { floor, reading, .. } => Rule::Histogram { e0: floor, reading },
        stop::Rule::Automatic => Rule::Automatic,
        stop::Rule::Never => Rule::Never,
    };
    let k = cap.min(ROOM.max(n / 2));
    Shape { n: word(n), k: word(k.max(1)), rule, studentized: stop.studentized(), flagged: false }
}

/// The stop reason of a rule.
fn met(rule: Rule) -> StopReason {
    match rule {
        Rule::MaxResidual(_) => StopReason::MaxResidual,
        Rule::ResidualNorm(_) => StopReason::ResidualNorm,
        Rule::Histogram { .. } => StopReason::Histogram,
        Rule::Extreme | Rule::Automatic | Rule::Never => StopReason::Automatic,
    }
}
