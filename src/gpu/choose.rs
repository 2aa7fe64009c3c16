//! The smoother of the least estimated risk: `shaders/choose.wgsl`.

use super::cells::{padded, padded_rows};
use super::context::check_limit;
use super::kernel::{Kernel, Shader, Step};
use super::{Gpu, GpuError};
use crate::denoise::facade::Ladder;
use alloc::vec::Vec;

pub(super) const PARTS: &[&str] = &[
    include_str!("../../shaders/shared/tile.wgsl"),
    include_str!("../../shaders/shared/problem.wgsl"),
    include_str!("../../shaders/shared/cells.wgsl"),
    include_str!("../../shaders/choose.wgsl"),
];
/// Number of rungs: `RUNGS` in the shader.
const RUNGS: usize = 8;
/// Largest workgroup: each thread has three sums for every rung.
pub(super) const MOST_THREADS: u32 = 32;
/// Regions with more pixels are large.
const MANY: u32 = 256;

/// The entry points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before the search, without suspects.
    Before,
    /// After the search, without outliers.
    After,
}

impl Moment {
    pub(super) const fn entry(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

pub(super) struct Choose {
    kernel: Kernel,
}

impl Choose {
    pub(super) fn new(gpu: &Gpu, n: u32, moment: Moment) -> Result<Self, GpuError> {
        // Large regions need all threads, or a software adapter ends their loops.
        let workgroup = if n > MANY { MOST_THREADS } else { gpu.workgroup().min(MOST_THREADS) };
        let allowed = gpu.limits().max_compute_workgroup_storage_size;
        let needed = workgroup_bytes(n, workgroup);
        check_limit("bytes of workgroup memory", needed, allowed.into())?;
        let shader = Shader { entry: moment.entry(), parts: PARTS };
        let kernel = gpu.kernel(&shader, &[("WG", workgroup.into()), ("N", n.into())])?;
        Ok(Self { kernel })
    }

    /// On the tile, the cells, the basis, the ladder and the problems.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        count: u32,
        [tile, cells, basis, ladder, problems]: [&wgpu::Buffer; 5],
    ) -> Step {
        let buffers = [tile, cells, basis, ladder, problems];
        Step { bound: self.kernel.bind(device, &buffers), groups: (count, 1) }
    }
}

/// Bytes of workgroup memory.
pub(super) fn workgroup_bytes(n: u32, workgroup: u32) -> u64 {
    let parts = 16 * RUNGS as u64 * u64::from(workgroup);
    12 * u64::from(padded(n)) + parts + 4 * u64::from(workgroup) + 8 * RUNGS as u64 + 16
}

/// The ladder as the shader reads it: the rungs' numbers, the sums of the
/// eigenvectors, the rungs' filters.
pub(super) fn table(ladder: &Ladder<f32>) -> Vec<f32> {
    let n = ladder.n;
    let mut rows = ladder.basis.sums.clone();
    rows.resize(n, 0.0);
    let mut table = Vec::new();
    for rung in &ladder.rungs {
        table.extend([rung.freedom, rung.rho, rung.ones, 0.0]);
        rows.extend_from_slice(&rung.g);
    }
    table.resize(4 * RUNGS, 0.0);
    rows.resize(n * (1 + RUNGS), 0.0);
    table.extend(padded_rows(&rows, n));
    table
}
