//! Dense linear algebra on slices.
//!
//! Matrices are row-major. Nothing here allocates; routines that need scratch
//! memory have a sibling `const fn` that tells how much. The hot ones choose
//! their instruction set when they run, so no build flags are needed.

#[cfg(feature = "alloc")]
pub(crate) mod batch;
pub mod cholesky;
pub mod eigen;
mod matrix;
pub(crate) mod simd;
pub(crate) mod tile;
pub(crate) mod vector;

pub(crate) use matrix::{mirror_lower, multiply_transposed};
pub use matrix::{multiply, self_product, self_product_scratch_len};

/// Zeros, or an error where there is no memory for them.
#[cfg(feature = "alloc")]
pub(crate) fn zeros<T: crate::Real>(len: usize) -> Result<alloc::vec::Vec<T>, crate::Error> {
    let mut zeros = alloc::vec::Vec::new();
    zeros.try_reserve_exact(len).map_err(|_| crate::Error::TooLarge { scalars: len })?;
    zeros.resize(len, T::zero());
    Ok(zeros)
}
