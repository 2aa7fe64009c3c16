//! Compute shaders, on any GPU (feature `gpu`).
//!
//! The regions of an image, or many fits on one plan, are small independent problems: a device
//! solves them in parallel, one workgroup each, in 32-bit floats. The results are those of the
//! processor's `f32` path, up to rounding.
//!
//! ```no_run
//! use kgard::denoise::{Denoiser, Masks, Plane};
//! use kgard::gpu::Gpu;
//!
//! let gpu = Gpu::new()?;
//! println!("on {}", gpu.adapter());
//! let pixels = vec![100.0_f32; 4096 * 4096];
//! let plan = Denoiser::new().plan()?;
//! let image = Plane::new(&pixels, 4096, 4096)?;
//! let (denoised, report) = plan.on(&gpu)?.denoise(image, Masks::default())?;
//! # let _ = denoised;
//! if let Some(error) = &report.fallback {
//!     eprintln!("the processor had to finish it: {error}");
//! }
//! # Ok::<(), kgard::gpu::GpuError>(())
//! ```
//!
//! # Errors
//!
//! A missing adapter, or limits that are too small, are errors when the device is opened or a
//! plan is uploaded. If a device is lost or out of memory later, the processor computes the
//! rest, and [`GpuReport::fallback`] says why. Nothing in here panics.
//!
//! # Batches
//!
//! Batches are sized so that no buffer exceeds the device's limits and none takes
//! longer than about a tenth of a second; two are in flight at a time. The
//! limits of WebGPU are enough (256 threads and 16 KiB of memory a workgroup,
//! bindings of 128 MiB), and so are `wgpu::Limits::downlevel_defaults()`.

mod backend;
mod batch;
mod buffer;
mod cells;
mod choose;
mod classify;
mod context;
mod error;
mod fit;
mod gather;
mod gram;
mod greedy;
mod image;
mod kernel;
mod kg_bm3d;
mod look;
mod pace;
mod reassemble;
mod report;
mod residual;

#[cfg(test)]
mod tests;
mod tile;

pub use backend::Backend;
pub use context::{Adapter, Gpu, adapters};
pub use error::GpuError;
pub use fit::{GpuFits, GpuPlan};
pub use gram::{DeviceKernel, Formula};
pub use image::GpuDenoisePlan;
pub use kg_bm3d::GpuKgBm3dPlan;
pub use report::GpuReport;
