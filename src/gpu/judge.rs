//! Impulse or detail: `shaders/judge.wgsl`.

use super::kernel::{Kernel, Shader, Step};
use super::tile::Tile;
use super::{Gpu, GpuError};
use crate::denoise::facade::{DETAIL, OF_GLANCE, OF_STUDY, SURE};
use alloc::vec::Vec;

/// With the networks in a uniform, or, where that may not be as large, in storage.
pub(super) const UNIFORM: Shader = Shader {
    entry: "judge",
    parts: &[
        include_str!("../../shaders/shared/tile.wgsl"),
        include_str!("../../shaders/shared/around.wgsl"),
        include_str!("../../shaders/shared/sort.wgsl"),
        include_str!("../../shaders/shared/networks_uniform.wgsl"),
        include_str!("../../shaders/judge.wgsl"),
    ],
};
pub(super) const STORAGE: Shader = Shader {
    entry: "judge",
    parts: &[
        UNIFORM.parts[0],
        UNIFORM.parts[1],
        UNIFORM.parts[2],
        include_str!("../../shaders/shared/networks_storage.wgsl"),
        UNIFORM.parts[4],
    ],
};
/// Pixels along a side of the square that a workgroup judges, and how many it judges together.
const SIDE: u32 = 24;
const TOGETHER: u32 = 16;

/// Threads of a workgroup, where others have so many: one for each of the pixels that are
/// judged together, and not more than have something to do.
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
    let numbers: Vec<f32> = [&OF_GLANCE[..], &OF_STUDY]
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
    let bytes = size_of_val(&OF_GLANCE) + size_of_val(&OF_STUDY) + 6 * size_of::<f32>();
    bytes as u64 <= gpu.limits().max_uniform_buffer_binding_size
}

pub(super) struct Judge {
    kernel: Kernel,
}

impl Judge {
    pub(super) fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let shader = if fits_uniform(gpu) { &UNIFORM } else { &STORAGE };
        Ok(Self { kernel: gpu.kernel(shader, &constants(gpu.workgroup()))? })
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
            groups: (width.div_ceil(SIDE), height.div_ceil(SIDE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::denoise::facade::{DIFFERENCES, GLANCE, INPUTS, REACH, STUDY};

    #[test]
    fn the_networks_are_those_of_the_processor() {
        let ((low, high), (glance, study)) = (DIFFERENCES, (GLANCE, STUDY));
        for constant in [
            alloc::format!("const SIDE = {SIDE}u;"),
            alloc::format!("const TOGETHER = {TOGETHER}u;"),
            alloc::format!("const REACH = {REACH};"),
            alloc::format!("const INPUTS = {INPUTS}u;"),
            alloc::format!("const GLANCE = vec2({}u, {}u);", glance.0, glance.1),
            alloc::format!("const STUDY = vec2({}u, {}u);", study.0, study.1),
            alloc::format!("const DIFFERENCES = vec2({low:?}, {high:?});"),
        ] {
            assert!(UNIFORM.parts.concat().contains(&constant), "{constant}");
        }
    }
}
