//! Kernels of the distance between two points.
//!
//! Distances are multiplied by the reciprocal of the width, which the compiler
//! moves out of the loop over a Gram matrix; a division would stay in it.

use super::Kernel;
use crate::real::constant;
use crate::{Error, Real};

/// $\exp(-\lVert a - b \rVert^2 / \sigma^2)$, the paper's kernel.
///
/// Note that there is no factor of two: $\sigma$ here is $\sqrt 2$ times the
/// "length scale" of many other libraries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian<T> {
    pub(super) sigma: T,
}

/// $\exp(-\lVert a - b \rVert_1 / \sigma)$, with the sum of absolute
/// differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplacian<T> {
    pub(super) sigma: T,
}

/// Matérn kernel of smoothness 3/2:
/// $(1 + \sqrt 3 \\, d / \ell) \exp(-\sqrt 3 \\, d / \ell)$, $d = \lVert a - b \rVert$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern32<T> {
    pub(super) length: T,
}

/// Matérn kernel of smoothness 5/2:
/// $(1 + s + s^2/3) \exp(-s)$, $s = \sqrt 5 \\, \lVert a - b \rVert / \ell$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern52<T> {
    pub(super) length: T,
}

/// Rational quadratic kernel:
/// $(1 + \lVert a - b \rVert^2 / (2 \alpha \ell^2))^{-\alpha}$, a mixture of
/// Gaussians of many widths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RationalQuadratic<T> {
    pub(super) length: T,
    pub(super) alpha: T,
}

impl<T> Gaussian<T> {
    /// A Gaussian of width `sigma` > 0.
    pub const fn new(sigma: T) -> Self {
        Self { sigma }
    }
}

impl<T: Copy> Gaussian<T> {
    /// The width.
    pub const fn sigma(&self) -> T {
        self.sigma
    }
}

impl<T> Laplacian<T> {
    /// A Laplacian of width `sigma` > 0.
    pub const fn new(sigma: T) -> Self {
        Self { sigma }
    }
}

impl<T> Matern32<T> {
    /// A Matérn 3/2 kernel of length scale `length` > 0.
    pub const fn new(length: T) -> Self {
        Self { length }
    }
}

impl<T> Matern52<T> {
    /// A Matérn 5/2 kernel of length scale `length` > 0.
    pub const fn new(length: T) -> Self {
        Self { length }
    }
}

impl<T> RationalQuadratic<T> {
    /// A rational quadratic kernel of length scale `length` > 0 and mixture
    /// parameter `alpha` > 0.
    pub const fn new(length: T, alpha: T) -> Self {
        Self { length, alpha }
    }
}

impl<T: Real> Kernel<T> for Gaussian<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        (-squared_distance(a, b) * (self.sigma * self.sigma).recip()).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("sigma", self.sigma)
    }
}

impl<T: Real> Kernel<T> for Laplacian<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let distance = a.iter().zip(b).fold(T::zero(), |sum, (&x, &y)| sum + (x - y).abs());
        (-distance * self.sigma.recip()).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("sigma", self.sigma)
    }
}

impl<T: Real> Kernel<T> for Matern32<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let s = (constant::<T>(3.0) * squared_distance(a, b)).sqrt() * self.length.recip();
        (T::one() + s) * (-s).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)
    }
}

impl<T: Real> Kernel<T> for Matern52<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let s = (constant::<T>(5.0) * squared_distance(a, b)).sqrt() * self.length.recip();
        (T::one() + s + s * s / constant(3.0)) * (-s).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)
    }
}

impl<T: Real> Kernel<T> for RationalQuadratic<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let scale = constant::<T>(2.0) * self.alpha * self.length * self.length;
        (T::one() + squared_distance(a, b) * scale.recip()).powf(-self.alpha)
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)?;
        Error::check_positive("alpha", self.alpha)
    }
}

#[inline]
fn squared_distance<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (&x, &y)| sum + (x - y) * (x - y))
}
