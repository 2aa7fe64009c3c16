//! Blends regions into an image: `shaders/reassemble.wgsl`.

use super::kernel::{Kernel, Shader, Step};
use super::tile::Tile;
use super::{Gpu, GpuError};

pub(super) const SHADER: Shader = Shader {
    entry: "reassemble",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
        include_str!("../../shaders/shared/cells.wgsl"),
        include_str!("../../shaders/reassemble.wgsl"),
    ],
};

pub(super) struct Reassemble {
    kernel: Kernel,
    workgroup: u32,
}

impl Reassemble {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let workgroup = gpu.workgroup();
        Ok(Self { kernel: gpu.kernel(&SHADER, &[("WG", workgroup.into())])?, workgroup })
    }

    /// Buffers: tile, cells, shares, result.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        tile: &Tile,
        buffers: [&wgpu::Buffer; 4],
    ) -> Step {
        let (width, height) = tile.out();
        Step {
            bound: self.kernel.bind(device, &buffers),
            groups: (width.div_ceil(self.workgroup), height),
        }
    }
}
