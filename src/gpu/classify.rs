//! Impulse or detail: `shaders/classify.wgsl`.

use super::kernel::{Kernel, Shader, Step};
use super::tile::Tile;
use super::{Gpu, GpuError};
use crate::denoise::facade::{DETAIL, OF_LARGE, OF_SMALL, SURE};
use alloc::vec::Vec;

/// With the networks in a uniform, or, where that may not be as large, in storage.
pub(super) const UNIFORM: Shader = Shader {
    entry: "classify",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
        include_str!("../../shaders/shared/around.wgsl"),
        include_str!("../../shaders/shared/sort.wgsl"),
        include_str!("../../shaders/shared/networks_uniform.wgsl"),
        include_str!("../../shaders/classify.wgsl"),
    ],
};
pub(super) const STORAGE: Shader = Shader {
    entry: "classify",
    parts: &[
        UNIFORM.parts[0],
        UNIFORM.parts[1],
        UNIFORM.parts[2],
        include_str!("../../shaders/shared/networks_storage.wgsl"),
        UNIFORM.parts[4],
    ],
};
/// Pixels along a side of the square that a workgroup classifies, and how many it classifies together.
const SIDE: u32 = 24;
const TOGETHER: u32 = 16;

/// Threads of a workgroup, where others have so many: one for each of the pixels that are
/// classified together, and not more than have something to do.
fn threads(workgroup: u32) -> u32 {
    workgroup.clamp(TOGETHER, 2 * TOGETHER)
}

/// The pipeline constants, where workgroups of other shaders have so many threads.
pub(super) fn constants(workgroup: u32) -> [(&'static str, f64); 3] {
    [("WG", threads(workgroup).into()), ("SURE", SURE), ("DETAIL", DETAIL)]
}

/// The networks, one after the other, for the device.
pub(super) fn networks(gpu: &Gpu) -> Result<wgpu::Buffer, GpuError> {
    // The last number of each is alone in its vector.
    let numbers: Vec<f32> = [&OF_SMALL[..], &OF_LARGE]
        .iter()
        .flat_map(|numbers| numbers.iter().copied().chain([0.0; 3]))
        .collect();
    if fits_uniform(gpu) {
        gpu.uniform_of("networks", bytemuck::cast_slice(&numbers))
    } else {
        gpu.upload("networks", &numbers)
    }
}

fn fits_uniform(gpu: &Gpu) -> bool {
    let bytes = size_of_val(&OF_SMALL) + size_of_val(&OF_LARGE) + 6 * size_of::<f32>();
    bytes as u64 <= gpu.limits().max_uniform_buffer_binding_size
}

pub(super) struct Classify {
    kernel: Kernel,
}

impl Classify {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let shader = if fits_uniform(gpu) { &UNIFORM } else { &STORAGE };
        Ok(Self { kernel: gpu.kernel(shader, &constants(gpu.workgroup()))? })
    }

    /// On the tile, the pixels, what is seen, and the networks.
    pub(super) fn step(
        &self,
        device: &wgpu::Device,
        tile: &Tile,
        buffers: [&wgpu::Buffer; 4],
    ) -> Step {
        let (width, height) = tile.held();
        Step {
            bound: self.kernel.bind(device, &buffers),
            groups: (width.div_ceil(SIDE), height.div_ceil(SIDE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::denoise::facade::{DIFFERENCES, INPUTS, LARGE, REACH, SMALL};

    #[test]
    fn the_networks_are_those_of_the_processor() {
        let ((low, high), (small, large)) = (DIFFERENCES, (SMALL, LARGE));
        for constant in [
            alloc::format!("const SIDE = {SIDE}u;"),
            alloc::format!("const TOGETHER = {TOGETHER}u;"),
            alloc::format!("const REACH = {REACH};"),
            alloc::format!("const INPUTS = {INPUTS}u;"),
            alloc::format!("const SMALL = vec2({}u, {}u);", small.0, small.1),
            alloc::format!("const LARGE = vec2({}u, {}u);", large.0, large.1),
            alloc::format!("const DIFFERENCES = vec2({low:?}, {high:?});"),
        ] {
            assert!(UNIFORM.parts.concat().contains(&constant), "{constant}");
        }
    }
}
