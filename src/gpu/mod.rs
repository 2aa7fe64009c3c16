//! Compute shaders, on any GPU (feature `gpu`).
//!
//! The regions of an image, or many fits on one plan, are small problems that do
//! not depend on one another: a device solves them side by side, one workgroup
//! each, in 32-bit floats. What comes out is what the processor's `f32` path gives,
//! but for rounding.
//!
//! ```no_run
//! use kgard::denoise::{Denoiser, Masks, Plane};
//! use kgard::gpu::Gpu;
//!
//! let gpu = Gpu::new()?;
//! println!("on {}", gpu.adapter());
//! let pixels = vec![100.0_f32; 4096 * 4096];
//! let plan = Denoiser::new(255.0).plan()?;
//! let result = plan.on(&gpu)?.denoise(Plane::new(&pixels, 4096, 4096)?, Masks::default())?;
//! if let Some(error) = &result.report.fallback {
//!     eprintln!("the processor had to finish it: {error}");
//! }
//! # Ok::<(), kgard::gpu::GpuError>(())
//! ```
//!
//! # What can go wrong
//!
//! No adapter, or one that is too small, is an error where the device is opened or
//! a plan is put on it. From then on a lost device or a full one costs time only:
//! the processor does what is left, and [`GpuReport::fallback`] says why. Nothing
//! in here panics.
//!
//! # How it is divided
//!
//! Batches are cut so that no buffer exceeds the device's limits and none takes
//! longer than about a tenth of a second; two are on their way at a time. The
//! limits of WebGPU are enough (256 threads and 16 KiB of memory a workgroup,
//! bindings of 128 MiB), and so are `wgpu::Limits::downlevel_defaults()`.

mod backend;
mod batch;
mod cells;
mod choose;
mod context;
mod error;
mod fit;
mod gather;
mod gradient;
mod gram;
mod greedy;
mod image;
mod judge;
mod kg_bm3d;
mod look;
mod pace;
mod reassemble;
mod report;
mod residual;
mod shader;
#[cfg(test)]
mod tests;
mod tile;

pub use backend::Backend;
pub use context::{Adapter, Gpu, adapters};
pub use error::GpuError;
pub use fit::{GpuFits, GpuPlan};
pub use gram::{DeviceKernel, Formula};
pub use image::{GpuDenoisePlan, GpuDenoised};
pub use kg_bm3d::GpuKgBm3dPlan;
pub use report::GpuReport;
