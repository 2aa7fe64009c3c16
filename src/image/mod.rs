//! What pictures are to the processor and to the device: planes of samples, masks of pixels,
//! the range of the samples, the grid of regions, and measures of how close two pictures are.

pub(crate) mod grid;
mod masks;
pub mod metrics;
mod plane;
pub(crate) mod range;

pub use grid::Grid;
pub use masks::{Band, Masks};
pub(crate) use plane::zeros;
pub use plane::{Plane, PlaneBuf};
pub use range::{RangeSurvey, SampleRange};
