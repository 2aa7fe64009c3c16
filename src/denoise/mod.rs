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

pub mod bm3d;
mod defects;
pub(crate) mod denoiser;
pub(crate) mod detect;
mod kg_bm3d;
mod misfit;
mod model;
mod noise_law;
mod noise_level;
pub(crate) mod pipeline;
mod rb_rvm;
pub(crate) mod smooth;
mod stabilise;
pub(crate) mod strip;
mod survey;
mod units;

pub use crate::image::{Band, Grid, Masks, Plane, PlaneBuf, metrics};
pub use defects::dead_lines;
pub use denoiser::{DenoisePlan, Denoised, Denoiser, Detection, KERNEL_WIDTH, Report, Smoothing};
pub use kg_bm3d::{KgBm3d, KgBm3dDenoised, KgBm3dPlan, Repaired};
pub use noise_law::{NoiseLaw, noise_law};
pub use noise_level::noise_level;
pub use rb_rvm::{RbRvmDenoised, rb_rvm};
pub use smooth::ladder::Penalty;
pub use survey::{Conditions, Survey};
