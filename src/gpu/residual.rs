//! Many vectors times one matrix: `shaders/residual.wgsl`.

use super::cells::{Cells, Section};
use super::context::MOST_GROUPS;
use super::kernel::{Kernel, Shader, Step};
use super::{Gpu, GpuError};
use bytemuck::{Pod, Zeroable};

pub(super) const SHADER: Shader =
    Shader { entry: "residual", parts: &[include_str!("../../shaders/residual.wgsl")] };
/// Rows and vectors of a thread's tile: `SIDE` in the shader.
const SIDE: u32 = 8;

/// Number and length of the vectors.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct Product {
    pub(super) n: u32,
    pub(super) count: u32,
    pub(super) stride: u32,
    pub(super) padding: u32,
}

impl Product {
    /// `count` vectors of `n` entries in `cells`.
    pub(super) fn new(n: u32, count: u32, cells: &Cells) -> Self {
        Self { n, count, stride: cells.stride, padding: 0 }
    }
}

/// The product of one matrix with the vectors of one section, for another.
pub(super) struct Residual {
    kernel: Kernel,
    workgroup: u32,
}

impl Residual {
    pub(super) fn new(gpu: &Gpu, source: Section, target: Section) -> Result<Self, GpuError> {
        let workgroup = gpu.workgroup();
        let constants = [
            ("WG", workgroup.into()),
            ("SOURCE", f64::from(source as u8)),
            ("TARGET", f64::from(target as u8)),
        ];
        Ok(Self { kernel: gpu.kernel(&SHADER, &constants)?, workgroup })
    }

    /// `matrix` is transposed.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        size: Product,
        [product, matrix, cells]: [&wgpu::Buffer; 3],
    ) -> Step {
        let threads = size.count.div_ceil(SIDE) * size.n.div_ceil(SIDE);
        let groups = threads.div_ceil(self.workgroup);
        let down = groups.div_ceil(MOST_GROUPS).max(1);
        Step {
            bound: self.kernel.bind(device, &[product, matrix, cells]),
            groups: (groups.div_ceil(down), down),
        }
    }
}
