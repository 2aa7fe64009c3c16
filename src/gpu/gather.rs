//! Copies regions from an image: `shaders/gather.wgsl`.

use super::cells::padded;
use super::kernel::{Kernel, Shader, Step};
use super::{Gpu, GpuError};

pub(super) const SHADER: Shader = Shader {
    entry: "gather",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
        include_str!("../../shaders/shared/cells.wgsl"),
        include_str!("../../shaders/gather.wgsl"),
    ],
};

pub(super) struct Gather {
    kernel: Kernel,
    workgroup: u32,
}

impl Gather {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let workgroup = gpu.workgroup();
        Ok(Self { kernel: gpu.kernel(&SHADER, &[("WG", workgroup.into())])?, workgroup })
    }

    /// `count` regions of `n` pixels; buffers: tile, pixels, looks, masks, cells.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        (n, count): (u32, u32),
        buffers: [&wgpu::Buffer; 5],
    ) -> Step {
        Step {
            bound: self.kernel.bind(device, &buffers),
            groups: (padded(n).div_ceil(self.workgroup), count),
        }
    }
}
