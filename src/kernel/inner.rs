//! Kernels of the inner product of two points.

use super::Kernel;
use crate::{Error, Real};

/// $a^T b$: with it, the regression is linear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Linear;

/// $(\gamma \\, a^T b + c)^p$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Polynomial<T> {
    pub(crate) gamma: T,
    pub(crate) offset: T,
    pub(crate) degree: u32,
}

impl<T> Polynomial<T> {
    /// A polynomial kernel of degree `degree`, with `gamma` > 0 and
    /// `offset` >= 0.
    pub const fn new(gamma: T, offset: T, degree: u32) -> Self {
        Self { gamma, offset, degree }
    }
}

impl<T: Copy> Polynomial<T> {
    /// $\gamma$.
    pub const fn gamma(&self) -> T {
        self.gamma
    }

    /// $c$.
    pub const fn offset(&self) -> T {
        self.offset
    }

    /// $p$.
    pub const fn degree(&self) -> u32 {
        self.degree
    }
}

impl<T: Real> Kernel<T> for Linear {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        inner_product(a, b)
    }
}

impl<T: Real> Kernel<T> for Polynomial<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let base = self.gamma * inner_product(a, b) + self.offset;
        // An exponent beyond i32 overflows or vanishes either way.
        base.powi(i32::try_from(self.degree).unwrap_or(i32::MAX))
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("gamma", self.gamma)?;
        Error::check_not_negative("offset", self.offset)
    }
}

#[inline]
fn inner_product<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (&x, &y)| sum + x * y)
}
