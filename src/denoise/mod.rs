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
//! let denoised = Denoiser::new().denoise(Plane::new(&pixels, 64, 64)?)?;
//!
//! assert!(denoised.outliers.count(0) >= 40);
//! assert!((denoised.channels[0].samples()[101 * 5] - (pixels[101 * 5] - 100.0)).abs() < 10.0);
//! # Ok::<(), kgard::Error>(())
//! ```

mod blend;
pub mod bm3d;
mod conditions;
mod defects;
mod denoised;
mod denoiser;
mod detect;
#[cfg(feature = "gpu")]
pub(crate) mod facade;
mod kg_bm3d;
mod misfit;
mod model;
mod noise_law;
mod noise_level;
mod noise_spectrum;
mod paper;
mod pipeline;
mod plan;
mod rb_rvm;
mod smooth;
mod stabilise;
mod strip;
mod survey;
mod units;
mod watch;

pub use crate::image::{Band, Grid, Masks, Plane, PlaneBuf, RangeSurvey, SampleRange, metrics};
pub use conditions::Conditions;
pub use defects::{DefectMap, DefectSurvey, WrongLine, dead_lines, repair_lines, wrong_lines};
pub use denoised::{ChannelReport, Denoised, Doubt, OutlierMap, Report};
pub use denoiser::{Denoiser, KERNEL_WIDTH};
pub use kg_bm3d::{KgBm3d, KgBm3dPlan, Repaired};
pub use noise_law::{NoiseLaw, noise_law};
pub use noise_level::noise_level;
pub use noise_spectrum::{NoiseSpectrum, noise_spectrum};
pub use paper::{PaperKgBm3d, PaperKgBm3dPlan, PaperKgard, PaperPlan, PaperStop};
pub use plan::DenoisePlan;
pub use rb_rvm::rb_rvm;
pub use survey::Survey;
pub use watch::{Step, Watch};
