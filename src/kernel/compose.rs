//! Kernels made of kernels.

use super::Kernel;
use crate::{Error, Real};

/// The sum of two kernels, from [`Kernel::plus`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum<A, B>(pub A, pub B);

/// The product of two kernels, from [`Kernel::times`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Product<A, B>(pub A, pub B);

/// A kernel times a positive number, from [`Kernel::scaled`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled<K, T> {
    /// The kernel.
    pub kernel: K,
    /// The factor.
    pub by: T,
}

impl<T: Real, A: Kernel<T>, B: Kernel<T>> Kernel<T> for Sum<A, B> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        self.0.evaluate(a, b) + self.1.evaluate(a, b)
    }
    fn check(&self) -> Result<(), Error> {
        self.0.check()?;
        self.1.check()
    }
    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.0.check_dim(dim)?;
        self.1.check_dim(dim)
    }
}

impl<T: Real, A: Kernel<T>, B: Kernel<T>> Kernel<T> for Product<A, B> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        self.0.evaluate(a, b) * self.1.evaluate(a, b)
    }
    fn check(&self) -> Result<(), Error> {
        self.0.check()?;
        self.1.check()
    }
    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.0.check_dim(dim)?;
        self.1.check_dim(dim)
    }
}

impl<T: Real, K: Kernel<T>> Kernel<T> for Scaled<K, T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        self.by * self.kernel.evaluate(a, b)
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("scale of a kernel", self.by)?;
        self.kernel.check()
    }
    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.kernel.check_dim(dim)
    }
}
