//! What neighbours say about pixels: `shaders/look.wgsl`.

use super::shader::{Kernel, Shader, Step};
use super::tile::Tile;
use super::{Gpu, GpuError};

pub(super) const SHADER: Shader = Shader {
    entry: "look",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
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

    /// On the tile, the pixels, what is seen, and the judge's networks.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        tile: &Tile,
        buffers: [&wgpu::Buffer; 4],
    ) -> Step {
        let (width, height) = tile.held();
        Step {
            bound: self.kernel.bind(device, &buffers),
            groups: (width.div_ceil(self.workgroup), height),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::denoise::impulses::REACH;
    use crate::denoise::judge::SURE;
    use crate::denoise::judge::pattern::DIFFERENCES;
    use crate::denoise::judge::weights::{GLANCE, INPUTS, STUDY};

    #[test]
    fn the_networks_are_those_of_the_processor() {
        let ((low, high), (glance, study)) = (DIFFERENCES, (GLANCE, STUDY));
        for constant in [
            alloc::format!("const REACH = {REACH};"),
            alloc::format!("const INPUTS = {INPUTS}u;"),
            alloc::format!("const GLANCE = vec2({}u, {}u);", glance.0, glance.1),
            alloc::format!("const STUDY = vec2({}u, {}u);", study.0, study.1),
            alloc::format!("const SURE = {SURE:?};"),
            alloc::format!("const DIFFERENCES = vec2({low:?}, {high:?});"),
        ] {
            assert!(SHADER.parts.concat().contains(&constant), "{constant}");
        }
    }
}
