//! Kernels of the distance between two points.
//!
//! Differences are multiplied by the reciprocal of the width, which the compiler
//! moves out of the loop over a Gram matrix; a division would stay in it. They are
//! multiplied before they are squared: no unit of the inputs makes squares overflow
//! or vanish.

use super::Kernel;
use super::shape::{matern32, matern52, rational_quadratic};
use super::tunable::{Role, Tunable, common_scale};
use crate::real::constant;
use crate::{Error, Real};

/// $\exp(-\lVert a - b \rVert^2 / \sigma^2)$, the paper's kernel.
///
/// Note that there is no factor of two: $\sigma$ here is $\sqrt 2$ times the
/// "length scale" of many other libraries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian<T> {
    pub(crate) sigma: T,
}

/// $\exp(-\lVert a - b \rVert_1 / \sigma)$, with the sum of absolute
/// differences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplacian<T> {
    pub(crate) sigma: T,
}

/// Matérn kernel of smoothness 1/2: $\exp(-\lVert a - b \rVert / \ell)$, with
/// the Euclidean distance.
///
/// Its functions are continuous and have corners everywhere. In one dimension
/// it is the [`Laplacian`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern12<T> {
    pub(crate) length: T,
}

/// Matérn kernel of smoothness 3/2:
/// $(1 + \sqrt 3 \\, d / \ell) \exp(-\sqrt 3 \\, d / \ell)$, $d = \lVert a - b \rVert$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern32<T> {
    pub(crate) length: T,
}

/// Matérn kernel of smoothness 5/2:
/// $(1 + s + s^2/3) \exp(-s)$, $s = \sqrt 5 \\, \lVert a - b \rVert / \ell$.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matern52<T> {
    pub(crate) length: T,
}

/// Rational quadratic kernel:
/// $(1 + \lVert a - b \rVert^2 / (2 \alpha \ell^2))^{-\alpha}$, a mixture of
/// Gaussians of many widths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RationalQuadratic<T> {
    pub(crate) length: T,
    pub(crate) alpha: T,
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

impl<T> Matern12<T> {
    /// A Matérn 1/2 kernel of length scale `length` > 0.
    pub const fn new(length: T) -> Self {
        Self { length }
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
        (-squared_distance(a, b, self.sigma)).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("sigma", self.sigma)
    }
}

impl<T: Real> Kernel<T> for Laplacian<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        (-distance_1(a, b, self.sigma)).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("sigma", self.sigma)
    }
}

impl<T: Real> Kernel<T> for Matern12<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        (-squared_distance(a, b, self.length).sqrt()).exp()
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)
    }
}

impl<T: Real> Kernel<T> for Matern32<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        matern32(self.reduced_distance(a, b)).0
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)
    }
}

impl<T: Real> Kernel<T> for Matern52<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        matern52(self.reduced_distance(a, b)).0
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)
    }
}

impl<T: Real> Kernel<T> for RationalQuadratic<T> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        rational_quadratic(squared_distance(a, b, self.length), self.alpha).0
    }
    fn check(&self) -> Result<(), Error> {
        Error::check_positive("length", self.length)?;
        Error::check_positive("alpha", self.alpha)
    }
}

impl<T: Real> Matern32<T> {
    /// $s = \sqrt 3 \\, d / \ell$.
    #[inline]
    fn reduced_distance(&self, a: &[T], b: &[T]) -> T {
        (constant::<T>(3.0) * squared_distance(a, b, self.length)).sqrt()
    }
}

impl<T: Real> Matern52<T> {
    /// $s = \sqrt 5 \\, d / \ell$.
    #[inline]
    fn reduced_distance(&self, a: &[T], b: &[T]) -> T {
        (constant::<T>(5.0) * squared_distance(a, b, self.length)).sqrt()
    }
}

/// Kernels whose only parameter is a length for all inputs, with the value and
/// its derivative by the logarithm of the length.
macro_rules! one_length {
    ($($kernel:ident.$length:ident: |$self:ident, $a:ident, $b:ident| $value_and_slope:expr;)+) => {$(
        impl<T: Real> Tunable<T> for $kernel<T> {
            fn parameters(&self) -> usize {
                1
            }

            fn role(&self, parameter: usize) -> Role {
                assert_eq!(parameter, 0);
                Role::SharedLength
            }

            fn parameter(&self, parameter: usize) -> T {
                assert_eq!(parameter, 0);
                self.$length
            }

            fn set_parameter(&mut self, parameter: usize, value: T) {
                assert_eq!(parameter, 0);
                self.$length = value;
            }

            fn rescale(&mut self, scales: &[T]) -> Result<(), Error> {
                self.$length = self.$length * common_scale(scales)?;
                Ok(())
            }

            fn translate(&mut self, _: &[T]) -> Result<(), Error> {
                Ok(())
            }

            #[inline]
            fn evaluate_with_gradient(&$self, $a: &[T], $b: &[T], gradient: &mut [T]) -> T {
                let (value, slope) = $value_and_slope;
                // A zero, not infinity times zero, where the kernel has vanished.
                gradient[0] = if value == T::zero() { T::zero() } else { slope };
                value
            }
        }
    )+};
}

one_length! {
    Gaussian.sigma: |self, a, b| {
        let q = squared_distance(a, b, self.sigma);
        let value = (-q).exp();
        (value, constant::<T>(2.0) * q * value)
    };
    Laplacian.sigma: |self, a, b| {
        let q = distance_1(a, b, self.sigma);
        let value = (-q).exp();
        (value, q * value)
    };
    Matern12.length: |self, a, b| {
        let r = squared_distance(a, b, self.length).sqrt();
        let value = (-r).exp();
        (value, r * value)
    };
    Matern32.length: |self, a, b| {
        let (value, decay, s) = matern32(self.reduced_distance(a, b));
        (value, s * s * decay)
    };
    Matern52.length: |self, a, b| {
        let (value, decay, s) = matern52(self.reduced_distance(a, b));
        (value, s * s * (T::one() + s) * decay / constant(3.0))
    };
}

/// Parameters to learn: the length, then $\alpha$.
impl<T: Real> Tunable<T> for RationalQuadratic<T> {
    fn parameters(&self) -> usize {
        2
    }

    fn role(&self, parameter: usize) -> Role {
        [Role::SharedLength, Role::Pure][parameter]
    }

    fn parameter(&self, parameter: usize) -> T {
        [self.length, self.alpha][parameter]
    }

    fn set_parameter(&mut self, parameter: usize, value: T) {
        *[&mut self.length, &mut self.alpha][parameter] = value;
    }

    fn rescale(&mut self, scales: &[T]) -> Result<(), Error> {
        self.length = self.length * common_scale(scales)?;
        Ok(())
    }

    fn translate(&mut self, _: &[T]) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn evaluate_with_gradient(&self, a: &[T], b: &[T], gradient: &mut [T]) -> T {
        let q = squared_distance(a, b, self.length);
        let (value, base, by_alpha) = rational_quadratic(q, self.alpha);
        // q / base is at most 2 alpha, also where both are infinite.
        let share = constant::<T>(2.0) * self.alpha * (T::one() - base.recip());
        gradient[0] = value * share;
        gradient[1] = by_alpha;
        value
    }
}

/// $\lVert a - b \rVert_1 / \ell$.
#[inline]
fn distance_1<T: Real>(a: &[T], b: &[T], length: T) -> T {
    let reciprocal = length.recip();
    a.iter().zip(b).fold(T::zero(), |sum, (&x, &y)| sum + ((x - y) * reciprocal).abs())
}

/// $\lVert a - b \rVert^2 / \ell^2$.
#[inline]
fn squared_distance<T: Real>(a: &[T], b: &[T], length: T) -> T {
    let reciprocal = length.recip();
    a.iter().zip(b).fold(T::zero(), |sum, (&x, &y)| {
        let z = (x - y) * reciprocal;
        sum + z * z
    })
}
