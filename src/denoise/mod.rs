//! Whole images: impulses and Gaussian noise out, the picture and the map of
//! outliers back.

mod plane;

pub use plane::{Plane, PlaneBuf};
