//! Kernels: the functions whose span the regression searches.
//!
//! [`Kernel`] is an open trait, and a closure is a kernel:
//!
//! ```
//! use kgard::{Gaussian, Kernel};
//! let periodic = |a: &[f64], b: &[f64]| {
//!     let s = (core::f64::consts::PI * (a[0] - b[0])).sin();
//!     (-2.0 * s * s).exp()
//! };
//! let seasonal = Gaussian::new(3.0).times(periodic);
//! assert!((seasonal.evaluate(&[0.0], &[1.0]) - (-1.0f64 / 9.0).exp()).abs() < 1e-12);
//! ```

mod compose;
mod gram;
mod inner;
mod lengths;
mod radial;
#[cfg(feature = "serde")]
pub(crate) mod serial;
mod shape;
mod tunable;

pub use compose::{Product, Scaled, Sum};
pub use gram::{cross_gram, gram};
pub use inner::{Linear, Polynomial};
pub use radial::{Gaussian, Laplacian, Matern32, Matern52, RationalQuadratic};
pub use shape::{PerInput, Shape};
pub use tunable::{Role, Tunable};

use crate::{Error, Real};

/// A positive definite function of two points.
///
/// Both slices hold the coordinates of one point and have the same length.
/// Closures `Fn(&[T], &[T]) -> T` are kernels.
///
/// A kernel that is not positive definite is harmless with the l2 penalty, and
/// is reported as [`Error::NotPositiveDefinite`] with the RKHS penalty as soon
/// as it matters.
pub trait Kernel<T: Real> {
    /// $\kappa(a, b)$.
    fn evaluate(&self, a: &[T], b: &[T]) -> T;

    /// Checks the kernel's own parameters; called once, before they are used.
    ///
    /// # Errors
    /// Whatever is wrong with them.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Checks that the kernel takes points of `dim` coordinates; called once,
    /// before it is used.
    ///
    /// # Errors
    /// If it has lengths for another number of inputs, or looks at an input that
    /// there is not.
    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        let _ = dim;
        Ok(())
    }

    /// The sum of two kernels.
    fn plus<K: Kernel<T>>(self, other: K) -> Sum<Self, K>
    where
        Self: Sized,
    {
        Sum(self, other)
    }

    /// The product of two kernels.
    fn times<K: Kernel<T>>(self, other: K) -> Product<Self, K>
    where
        Self: Sized,
    {
        Product(self, other)
    }

    /// The kernel times a positive number.
    fn scaled(self, by: T) -> Scaled<Self, T>
    where
        Self: Sized,
    {
        Scaled { kernel: self, by }
    }
}

impl<T: Real, F: Fn(&[T], &[T]) -> T> Kernel<T> for F {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        self(a, b)
    }
}
