//! The paper's choice of lambda: `shaders/gradient.wgsl`.

use super::shader::{Kernel, Shader, Step};
use super::{Gpu, GpuError};

pub(super) const SHADER: Shader = Shader {
    entry: "gradient",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
        include_str!("../../shaders/shared/problem.wgsl"),
        include_str!("../../shaders/gradient.wgsl"),
    ],
};

pub(super) struct Gradient {
    kernel: Kernel,
}

impl Gradient {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        Ok(Self { kernel: gpu.kernel(&SHADER, &[("WG", gpu.workgroup().into())])? })
    }

    /// Buffers: tile, pixels, and the problems whose rungs are chosen.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        count: u32,
        buffers: [&wgpu::Buffer; 3],
    ) -> Step {
        Step { bound: self.kernel.bind(device, &buffers), groups: (count, 1) }
    }
}
