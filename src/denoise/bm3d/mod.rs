//! BM3D: image denoising by sparse coding of groups of similar blocks.
mod aggregate;
mod lanes;
mod lattice;
mod matching;
mod nearest;
mod settings;
mod shrink;
mod stage;
mod strip;
mod transform;

pub use settings::{Bm3d, Stage};
pub use transform::Transform;
