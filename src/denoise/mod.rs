//! Whole images: impulses and Gaussian noise out, the picture and the map of
//! outliers back.

pub mod bm3d;
mod plane;

pub use plane::{Plane, PlaneBuf};
