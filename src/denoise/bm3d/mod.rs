//! BM3D: groups of similar blocks, filtered together.
//!
//! Image blocks that look alike are stacked, the stack is transformed in three
//! dimensions, its small coefficients are taken for noise, and what is left is
//! put back where the blocks came from. A first stage sets small coefficients
//! to zero; a second one repeats it all, with better matches and a Wiener
//! filter, both taken from the result of the first.
//!
//! ```
//! use kgard::denoise::Plane;
//! use kgard::denoise::bm3d::Bm3d;
//!
//! let noisy: Vec<f32> = (0..32 * 32).map(|i| 100.0 + (i * 7919 % 31) as f32).collect();
//! let noisy = Plane::new(&noisy, 32, 32)?;
//! let clean = Bm3d::for_noise(9.0, 255.0).denoise(noisy, 9.0)?;
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! The file names follow the data: `lattice` says where blocks are,
//! `matching` and `nearest` find the groups, `transform` and `shrink` filter
//! them, `aggregate` puts them back; `strip` does all of that for a part of
//! the image, `stage` for the image, and `filter` does both stages.

mod aggregate;
mod colour;
mod filter;
mod lanes;
mod lattice;
mod matching;
mod nearest;
mod settings;
mod shrink;
mod stage;
mod strip;
mod transform;

pub use colour::denoise_image;
pub(super) use colour::opponents;
pub use settings::{Bm3d, Stage};
pub use transform::Transform;
