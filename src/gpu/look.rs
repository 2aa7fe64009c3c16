//! Order statistics of the neighbours: `shaders/look.wgsl`.

use super::kernel::{Kernel, Shader, Step};
use super::tile::Tile;
use super::{Gpu, GpuError};

pub(super) const SHADER: Shader = Shader {
    entry: "look",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
        include_str!("../../shaders/shared/around.wgsl"),
        include_str!("../../shaders/shared/sort.wgsl"),
        include_str!("../../shaders/look.wgsl"),
    ],
};
/// Pixels over which the spread is averaged: a workgroup is a multiple.
const BLOCK: u32 = 16;

pub(super) struct Look {
    kernel: Kernel,
    workgroup: u32,
}

impl Look {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let workgroup = gpu.workgroup().max(BLOCK);
        Ok(Self { kernel: gpu.kernel(&SHADER, &[("WG", workgroup.into())])?, workgroup })
    }

    /// Buffers: tile, pixels, looks.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        tile: &Tile,
        buffers: [&wgpu::Buffer; 3],
    ) -> Step {
        let (width, height) = tile.held();
        Step {
            bound: self.kernel.bind(device, &buffers),
            groups: (width.div_ceil(self.workgroup), height),
        }
    }
}
