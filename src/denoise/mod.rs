//! Whole images: impulses and Gaussian noise out, the picture and the map of
//! outliers back (Algorithm 2 of the paper, and past it).
//!
//! ```
//! use kgard::denoise::{Denoiser, Plane};
//!
//! // A smooth 64 x 64 image with a wrong pixel in every hundred.
//! let mut pixels: Vec<f32> = (0..64 * 64)
//!     .map(|i| 100.0 + 50.0 * ((i % 64) as f32 / 20.0).sin() + ((i * 7919) % 13) as f32 - 6.0)
//!     .collect();
//! for wrong in pixels.iter_mut().step_by(101) {
//!     *wrong += 100.0;
//! }
//!
//! let denoised = Denoiser::new(255.0).denoise(Plane::new(&pixels, 64, 64)?)?;
//!
//! assert!(denoised.report.outliers >= 40);
//! assert!((denoised.image.samples()[101 * 5] - (pixels[101 * 5] - 100.0)).abs() < 10.0);
//! # Ok::<(), kgard::Error>(())
//! ```

mod basis;
pub mod bm3d;
mod dead_lines;
pub(crate) mod denoiser;
mod grid;
pub(crate) mod impulses;
pub(crate) mod judge;
mod kg_bm3d;
pub(crate) mod ladder;
pub mod metrics;
mod misfit;
mod model;
mod noise_level;
mod parallel;
mod plane;
mod rb_rvm;
mod region;
pub(crate) mod rows;
pub(crate) mod run;
mod sort;
mod strewn;
pub(crate) mod strip;
mod survey;
mod units;
pub(crate) mod usual;

pub use dead_lines::dead_lines;
pub use denoiser::{
    Band, DenoisePlan, Denoised, Denoiser, Detection, KERNEL_WIDTH, Masks, Report, Smoothing,
};
pub use grid::Grid;
pub use kg_bm3d::{KgBm3d, KgBm3dDenoised, KgBm3dPlan, Repaired};
pub use ladder::Penalty;
pub use noise_level::noise_level;
pub use plane::{Plane, PlaneBuf};
pub use rb_rvm::{RbRvmDenoised, rb_rvm};
pub use survey::{Conditions, Survey};
