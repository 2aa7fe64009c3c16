//! Algorithm 1, one workgroup a problem: `shaders/greedy.wgsl`.

use super::cells::{Cells, padded};
use super::context::{MOST_GROUPS, check_limit};
use super::kernel::{Kernel, Shader, Step};
use super::{Gpu, GpuError};
use crate::regression::stop::Reading;
use bytemuck::{Pod, Zeroable};

pub(super) const SHADER: Shader = Shader {
    entry: "greedy",
    parts: &[
        include_str!("../../shaders/shared/problem.wgsl"),
        include_str!("../../shaders/shared/cells.wgsl"),
        include_str!("../../shaders/greedy.wgsl"),
    ],
};
/// Points of a bar of the histogram, as in `regression::stop::histogram`.
const POINTS_PER_BAR: u32 = 10;
/// Largest size of W for all searches of a batch, in bytes.
const COLUMNS_BYTES: u64 = 64 << 20;
/// llvmpipe ends the loops of a thread after 65535 rounds in total.
const SOFTWARE_ROUNDS: u64 = 60_000;
/// Bytes of workgroup memory beside the arrays.
const SINGLES: u64 = 64;

/// One problem of a batch.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
pub(super) struct Problem {
    /// Index of the residual maker.
    pub(super) rung: u32,
    /// The studentised residual at which the search ends.
    pub(super) limit: f32,
    /// How many outliers were found.
    pub(super) count: u32,
    /// Why the search ended: one of [`reason`].
    pub(super) reason: u32,
}

/// Parameters of all problems.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct Search {
    pub(super) cap: u32,
    pub(super) threshold: f32,
    pub(super) stride: u32,
    /// With [`Rule::Extreme`]: least magnitude of an outlier, and the relative distance to the
    /// threshold within which a part of an outlier is removed.
    pub(super) size: f32,
    pub(super) doubt: f32,
}

#[allow(clippy::cast_possible_truncation)]
impl Search {
    /// For at most `cap` outliers of each problem in `cells`.
    pub(super) fn new(shape: &Shape, cap: u32, cells: &Cells) -> Self {
        let threshold = shape.rule.threshold();
        Self { cap, threshold, stride: cells.stride, size: 0.0, doubt: 0.0 }
    }
}

/// Why a search ended: the shader's numbers.
pub(super) mod reason {
    pub(in crate::gpu) const MET: u32 = 0;
    pub(in crate::gpu) const CAP: u32 = 1;
    pub(in crate::gpu) const KNOWN_SINGULAR: u32 = 3;
}

/// Stopping rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// The studentised residual against each problem's own limit.
    Extreme,
    MaxResidual(f32),
    ResidualNorm(f32),
    Histogram {
        e0: f32,
        reading: Reading,
    },
    Automatic,
    Never,
}

impl Rule {
    /// The shader's number.
    fn number(self) -> u32 {
        match self {
            Self::Extreme => 0,
            Self::MaxResidual(_) => 1,
            Self::ResidualNorm(_) => 2,
            Self::Histogram { reading: Reading::Once, .. } => 3,
            Self::Histogram { reading: Reading::EveryStep, .. } => 4,
            Self::Automatic => 5,
            Self::Never => 6,
        }
    }

    /// The value it compares with.
    fn threshold(self) -> f32 {
        match self {
            Self::MaxResidual(epsilon)
            | Self::ResidualNorm(epsilon)
            | Self::Histogram { e0: epsilon, .. } => epsilon,
            Self::Extreme | Self::Automatic | Self::Never => 0.0,
        }
    }
}

/// The pipeline constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shape {
    /// Points of a problem.
    pub(super) n: u32,
    /// Largest number of outliers.
    pub(super) k: u32,
    pub(super) rule: Rule,
    pub(super) studentized: bool,
    /// Whether the points have flags, and only those with one matter.
    pub(super) flagged: bool,
}

impl Shape {
    /// Entries of the scratch arrays that some rules need.
    fn scratch(&self) -> (u32, u32) {
        match self.rule {
            Rule::Histogram { .. } => (self.n / POINTS_PER_BAR + 1, 1),
            Rule::Automatic => (1, self.n),
            _ => (1, 1),
        }
    }

    /// Entries of the list of points.
    fn list(&self) -> u32 {
        if self.flagged { self.n } else { 1 }
    }

    /// Bytes of workgroup memory.
    pub(super) fn workgroup_bytes(&self, workgroup: u32) -> u64 {
        let (bars, scores) = self.scratch();
        let k = u64::from(padded(self.k));
        let points = 2 * u64::from(padded(self.n)) + 2 * u64::from(padded(self.list()));
        let scalars = points + 5 * k + u64::from(2 * workgroup + bars + scores);
        4 * scalars + SINGLES
    }

    /// Entries of the columns of one problem.
    pub(super) fn columns(&self) -> u64 {
        u64::from(padded(self.n)) * u64::from(self.k)
    }

    /// Threads of a workgroup: the device's default, or as many as keep the loops of a thread within
    /// the limit of software adapters.
    fn workgroup(&self, gpu: &Gpu) -> Result<u32, GpuError> {
        let mut workgroup = gpu.workgroup();
        if gpu.adapter().software {
            let most = gpu.most_threads();
            while self.rounds(workgroup) > SOFTWARE_ROUNDS && 2 * workgroup <= most {
                workgroup *= 2;
            }
            let rounds = self.rounds(workgroup);
            check_limit("rounds of the loops in a shader", rounds, SOFTWARE_ROUNDS)?;
        }
        Ok(workgroup)
    }

    /// Upper bound of the rounds of all loops of a thread, at full capacity.
    fn rounds(&self, workgroup: u32) -> u64 {
        let (k, threads) = (u64::from(self.k), u64::from(workgroup));
        let blocks = u64::from(self.n).div_ceil(4).div_ceil(threads);
        let points = u64::from(self.n).div_ceil(threads);
        let step = (blocks + 1) * (k / 8 + 4) + k / threads + 16;
        let rule = match self.rule {
            Rule::Extreme | Rule::Never => 0,
            Rule::MaxResidual(_) | Rule::ResidualNorm(_) => 2 * points + 24,
            Rule::Histogram { .. } => 4 * points + u64::from(3 * self.n / POINTS_PER_BAR) + 32,
            Rule::Automatic => 35 * points + 96,
        };
        k * (step + rule + k / (2 * threads) + 2) + 5 * points + threads
    }

    /// Largest number of problems in a batch.
    pub(super) fn most(&self, gpu: &Gpu) -> Result<usize, GpuError> {
        let columns = 4 * self.columns();
        let largest = gpu.largest_binding();
        check_limit("bytes of a buffer", columns, largest)?;
        let most = COLUMNS_BYTES.min(largest).max(columns) / columns;
        let most = most.min(largest / Cells::bytes(self.n));
        Ok(usize::try_from(most.min(MOST_GROUPS.into())).unwrap_or(1))
    }

    pub(super) fn constants(&self, workgroup: u32) -> [(&'static str, f64); 9] {
        let (bars, scores) = self.scratch();
        [
            ("WG", workgroup.into()),
            ("N", self.n.into()),
            ("K", self.k.into()),
            ("RULE", self.rule.number().into()),
            ("STUDENTIZED", f64::from(u8::from(self.studentized))),
            ("FLAGGED", f64::from(u8::from(self.flagged))),
            ("LIST", self.list().into()),
            ("BARS", bars.into()),
            ("SCORES", scores.into()),
        ]
    }
}

pub(super) struct Greedy {
    kernel: Kernel,
}

impl Greedy {
    pub(super) fn new(gpu: &Gpu, shape: Shape) -> Result<Self, GpuError> {
        let workgroup = shape.workgroup(gpu)?;
        let allowed = gpu.limits().max_compute_workgroup_storage_size;
        let needed = shape.workgroup_bytes(workgroup);
        check_limit("bytes of workgroup memory", needed, allowed.into())?;
        Ok(Self { kernel: gpu.kernel(&SHADER, &shape.constants(workgroup))? })
    }

    /// Buffers: search, residual makers, problems, cells, columns of W.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        count: u32,
        buffers: [&wgpu::Buffer; 5],
    ) -> Step {
        Step { bound: self.kernel.bind(device, &buffers), groups: (count, 1) }
    }
}
