//! Whole images: impulses and Gaussian noise out, the picture and the map of
//! outliers back.

pub mod bm3d;
mod noise_level;
mod plane;

pub use noise_level::noise_level;
pub use plane::{Plane, PlaneBuf};
