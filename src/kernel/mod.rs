//! Kernels: the functions whose span the regression searches.
//!
//! [`Kernel`] is an open trait, and a closure is a kernel:
//!
//! ```
//! use kgard::{Gaussian, Kernel};
//! let bounded = |a: &[f64], b: &[f64]| 1.0 / (1.0 + (a[0] - b[0]).abs());
//! let kernel = Gaussian::new(3.0).times(bounded);
//! assert!((kernel.evaluate(&[0.0], &[1.0]) - 0.5 * (-1.0f64 / 9.0).exp()).abs() < 1e-12);
//! ```
//!
//! [`AnyKernel`] is a kernel that is chosen when the program runs, by a text:
//! `"matern52 + periodic(1)"`.

#[cfg(feature = "alloc")]
mod any;
mod compose;
mod cosine;
#[cfg(feature = "alloc")]
mod dot;
mod gram;
mod inner;
mod lengths;
mod periodic;
mod radial;
mod rows;
#[cfg(feature = "serde")]
pub(crate) mod serial;
mod shape;
mod tunable;

#[cfg(feature = "alloc")]
pub use any::{AnyKernel, ParseKernelError};
pub use compose::{Product, Scaled, Sum};
pub use cosine::Cosine;
pub use gram::{cross_gram, gram};
pub use inner::{Linear, Polynomial};
pub use periodic::Periodic;
pub use radial::{Gaussian, Laplacian, Matern12, Matern32, Matern52, RationalQuadratic};
pub use shape::{PerInput, Shape};
pub use tunable::{Role, Tunable};

use crate::{Error, Points, Real};

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

    /// $\kappa(a, b)$ for all `points` $b$, one after another in `out`, of the
    /// same length: a row of a Gram matrix.
    ///
    /// A kernel that has decisions to make, such as which formula is meant, makes
    /// them here once for the whole row.
    #[inline]
    fn evaluate_row(&self, a: &[T], points: Points<'_, T>, out: &mut [T]) {
        rows::fill(a, points, out, &rows::Evaluated(self));
    }

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
