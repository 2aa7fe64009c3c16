//! Kernels of the differences of two points, with one length per input.
//!
//! With $z_i = (a_i - b_i) / \ell_i$ every one of them is a function of
//! $q = \sum_i |z_i|^p$ ($p = 1$ for the Laplacian, else 2), so that
//! $\partial \kappa / \partial \ln \ell_i = -p \\, |z_i|^p \\, \kappa'(q)$.

use super::rows::{self, Entry};
use super::tunable::{Role, Tunable};
use super::{Kernel, lengths::Lengths};
use crate::real::constant;
use crate::{Error, Points, Real};

/// How a kernel falls off with the distance of two points, for [`PerInput`].
///
/// $r^2 = \sum_i z_i^2$ with $z_i = (a_i - b_i) / \ell_i$.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Shape<T> {
    /// $\exp(-r^2)$; there is no factor of two, as in
    /// [`Gaussian`](crate::Gaussian).
    Gaussian,
    /// $\exp(-\sum_i |z_i|)$. In one dimension the same as
    /// [`Matern12`](Self::Matern12).
    Laplacian,
    /// $\exp(-r)$.
    Matern12,
    /// $(1 + s) \exp(-s)$, $s = \sqrt 3 \\, r$.
    Matern32,
    /// $(1 + s + s^2/3) \exp(-s)$, $s = \sqrt 5 \\, r$.
    Matern52,
    /// $(1 + r^2 / (2 \alpha))^{-\alpha}$.
    RationalQuadratic {
        /// Mixture parameter > 0: the smaller, the heavier the tail.
        alpha: T,
    },
}

impl<T: Real> Shape<T> {
    /// What a difference of `z` lengths adds to $q$.
    #[inline(always)]
    fn part(&self, z: T) -> T {
        match self {
            Self::Laplacian => z.abs(),
            _ => z * z,
        }
    }

    /// The kernel at $q$.
    #[inline(always)]
    fn at(&self, q: T) -> T {
        match *self {
            Self::Gaussian | Self::Laplacian => (-q).exp(),
            Self::Matern12 => (-q.sqrt()).exp(),
            Self::Matern32 => matern32((constant::<T>(3.0) * q).sqrt()).0,
            Self::Matern52 => matern52((constant::<T>(5.0) * q).sqrt()).0,
            Self::RationalQuadratic { alpha } => rational_quadratic(q, alpha).0,
        }
    }

    /// The kernel at $q$; $-p \\, \kappa'(q)$; and the derivative by
    /// $\ln \alpha$.
    #[inline(always)]
    fn with_slope(&self, q: T) -> (T, T, T) {
        let (zero, two) = (T::zero(), constant::<T>(2.0));
        match *self {
            Self::Gaussian => {
                let value = (-q).exp();
                (value, two * value, zero)
            }
            Self::Laplacian => {
                let value = (-q).exp();
                (value, value, zero)
            }
            Self::Matern12 => {
                let r = q.sqrt();
                let value = (-r).exp();
                // The slope has a pole at 0, where all parts are 0.
                (value, if r > zero { value / r } else { zero }, zero)
            }
            Self::Matern32 => {
                let (value, decay, _) = matern32((constant::<T>(3.0) * q).sqrt());
                (value, constant::<T>(3.0) * decay, zero)
            }
            Self::Matern52 => {
                let (value, decay, s) = matern52((constant::<T>(5.0) * q).sqrt());
                (value, constant::<T>(5.0 / 3.0) * (T::one() + s) * decay, zero)
            }
            Self::RationalQuadratic { alpha } => {
                let (value, base, by_alpha) = rational_quadratic(q, alpha);
                (value, value / base, by_alpha)
            }
        }
    }
}

/// The decay $e^{-s}$, and $s$ or, where $e^{-s}$ is zero, a zero: $s^2 e^{-s}$
/// is then zero, too, and not infinity times zero.
#[inline(always)]
fn decay<T: Real>(s: T) -> (T, T) {
    let decay = (-s).exp();
    (decay, if decay == T::zero() { T::zero() } else { s })
}

/// $(1 + s) e^{-s}$, $e^{-s}$ and $s$.
#[inline(always)]
pub(super) fn matern32<T: Real>(s: T) -> (T, T, T) {
    let (decay, s) = decay(s);
    ((T::one() + s) * decay, decay, s)
}

/// $(1 + s + s^2/3) e^{-s}$, $e^{-s}$ and $s$.
#[inline(always)]
pub(super) fn matern52<T: Real>(s: T) -> (T, T, T) {
    let (decay, s) = decay(s);
    ((T::one() + s + s * s / constant(3.0)) * decay, decay, s)
}

/// $b^{-\alpha}$ with $b = 1 + q / (2 \alpha)$; $b$; and the derivative by
/// $\ln \alpha$.
#[inline(always)]
pub(super) fn rational_quadratic<T: Real>(q: T, alpha: T) -> (T, T, T) {
    let t = q / (constant::<T>(2.0) * alpha);
    let base = T::one() + t;
    let logarithm = t.ln_1p();
    let value = (-alpha * logarithm).exp();
    // t / base, also where both are infinite.
    let share = T::one() - base.recip();
    let by_alpha = if value == T::zero() { T::zero() } else { alpha * value * (share - logarithm) };
    (value, base, by_alpha)
}

/// A kernel of a [`Shape`] with one length per input, or one for all.
///
/// `L` holds the lengths: an array, which needs no allocator, or a vector. One
/// length alone is shared by all inputs.
///
/// ```
/// use kgard::kernel::{PerInput, Shape};
/// use kgard::Kernel;
/// let kernel = PerInput::new(Shape::Gaussian, [0.5, 20.0]);
/// let value: f64 = kernel.evaluate(&[0.0, 0.0], &[0.5, 20.0]);
/// assert!((value - (-2.0_f64).exp()).abs() < 1e-15);
/// ```
///
/// Parameters to learn: the lengths, then $\alpha$ of a rational quadratic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerInput<T, L> {
    pub(super) shape: Shape<T>,
    pub(super) lengths: Lengths<T, L>,
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> PerInput<T, L> {
    /// The kernel of this shape with these `lengths`, all > 0.
    pub fn new(shape: Shape<T>, lengths: L) -> Self {
        Self { shape, lengths: Lengths::new(lengths) }
    }

    /// The shape.
    pub const fn shape(&self) -> Shape<T> {
        self.shape
    }

    /// The lengths.
    pub fn lengths(&self) -> &[T] {
        self.lengths.values()
    }

    #[inline(always)]
    fn row_of(&self, shape: Shape<T>, a: &[T], points: Points<'_, T>, out: &mut [T]) {
        match self.lengths.reciprocals() {
            &[reciprocal] => rows::fill(a, points, out, &Shared { shape, reciprocal }),
            reciprocals => rows::fill(a, points, out, &Separate { shape, reciprocals }),
        }
    }

    /// [`Tunable::evaluate_row_with_gradient`] by those `count` > 0 parameters that are
    /// `learned`: a loop for each shape, in which it is a constant.
    pub(super) fn gradient_row(
        &self,
        a: &[T],
        points: Points<'_, T>,
        (learned, count): (impl Fn(usize) -> bool + Copy, usize),
        values: &mut [T],
        gradients: &mut [T],
    ) {
        let rows = points.iter().zip(values).zip(gradients.chunks_exact_mut(count));
        macro_rules! row_of {
            ($shape:expr) => {
                for ((b, value), gradient) in rows {
                    *value = self.gradient_of($shape, a, b, learned, gradient);
                }
            };
        }
        match self.shape {
            Shape::Gaussian => row_of!(Shape::Gaussian),
            Shape::Laplacian => row_of!(Shape::Laplacian),
            Shape::Matern12 => row_of!(Shape::Matern12),
            Shape::Matern32 => row_of!(Shape::Matern32),
            Shape::Matern52 => row_of!(Shape::Matern52),
            Shape::RationalQuadratic { .. } => row_of!(self.shape),
        }
    }

    /// [`Tunable::evaluate_with_gradient`] by those parameters that are
    /// `learned`, packed.
    #[inline(always)]
    pub(super) fn gradient_by(
        &self,
        a: &[T],
        b: &[T],
        learned: impl Fn(usize) -> bool,
        gradient: &mut [T],
    ) -> T {
        self.gradient_of(self.shape, a, b, learned, gradient)
    }

    #[inline(always)]
    fn gradient_of(
        &self,
        shape: Shape<T>,
        a: &[T],
        b: &[T],
        learned: impl Fn(usize) -> bool,
        gradient: &mut [T],
    ) -> T {
        let reciprocals = self.lengths.reciprocals();
        let mut q = T::zero();
        let mut filled = 0;
        if let &[reciprocal] = reciprocals {
            for (&x, &y) in a.iter().zip(b) {
                q = q + shape.part((x - y) * reciprocal);
            }
            if learned(0) {
                gradient[0] = q;
                filled = 1;
            }
        } else {
            let (b, reciprocals) = (&b[..a.len()], &reciprocals[..a.len()]);
            for i in 0..a.len() {
                let part = shape.part((a[i] - b[i]) * reciprocals[i]);
                q = q + part;
                if learned(i) {
                    gradient[filled] = part;
                    filled += 1;
                }
            }
        }
        let (value, slope, by_alpha) = shape.with_slope(q);
        for entry in &mut gradient[..filled] {
            // Not infinity times zero.
            *entry = if slope == T::zero() { slope } else { *entry * slope };
        }
        if matches!(shape, Shape::RationalQuadratic { .. }) && learned(reciprocals.len()) {
            gradient[filled] = by_alpha;
        }
        value
    }
}

/// A kernel with one length for all inputs.
struct Shared<T> {
    shape: Shape<T>,
    reciprocal: T,
}

impl<T: Real> Entry<T> for Shared<T> {
    #[inline(always)]
    fn entry(&self, a: &[T], b: &[T]) -> T {
        let mut q = T::zero();
        for (&x, &y) in a.iter().zip(b) {
            q = q + self.shape.part((x - y) * self.reciprocal);
        }
        self.shape.at(q)
    }
}

/// A kernel with a length for each input.
struct Separate<'a, T> {
    shape: Shape<T>,
    reciprocals: &'a [T],
}

impl<T: Real> Entry<T> for Separate<'_, T> {
    #[inline(always)]
    fn entry(&self, a: &[T], b: &[T]) -> T {
        let (b, reciprocals) = (&b[..a.len()], &self.reciprocals[..a.len()]);
        let mut q = T::zero();
        for i in 0..a.len() {
            q = q + self.shape.part((a[i] - b[i]) * reciprocals[i]);
        }
        self.shape.at(q)
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Kernel<T> for PerInput<T, L> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        match self.lengths.reciprocals() {
            &[reciprocal] => Shared { shape: self.shape, reciprocal }.entry(a, b),
            reciprocals => Separate { shape: self.shape, reciprocals }.entry(a, b),
        }
    }

    fn evaluate_row(&self, a: &[T], points: Points<'_, T>, out: &mut [T]) {
        // A loop for each shape, in which it is a constant.
        match self.shape {
            Shape::Gaussian => self.row_of(Shape::Gaussian, a, points, out),
            Shape::Laplacian => self.row_of(Shape::Laplacian, a, points, out),
            Shape::Matern12 => self.row_of(Shape::Matern12, a, points, out),
            Shape::Matern32 => self.row_of(Shape::Matern32, a, points, out),
            Shape::Matern52 => self.row_of(Shape::Matern52, a, points, out),
            Shape::RationalQuadratic { .. } => self.row_of(self.shape, a, points, out),
        }
    }

    fn check(&self) -> Result<(), Error> {
        if let Shape::RationalQuadratic { alpha } = self.shape {
            Error::check_positive("alpha", alpha)?;
        }
        self.lengths.check("length")
    }

    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.lengths.check_dim(dim)
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Tunable<T> for PerInput<T, L> {
    fn parameters(&self) -> usize {
        let alpha = matches!(self.shape, Shape::RationalQuadratic { .. });
        self.lengths.values().len() + usize::from(alpha)
    }

    fn role(&self, parameter: usize) -> Role {
        assert!(parameter < self.parameters());
        self.lengths.role(parameter).unwrap_or(Role::Pure)
    }

    fn parameter(&self, parameter: usize) -> T {
        match (self.lengths.values().get(parameter), self.shape) {
            (Some(&length), _) => length,
            (None, Shape::RationalQuadratic { alpha }) if parameter + 1 == self.parameters() => {
                alpha
            }
            _ => panic!("no parameter {parameter}"),
        }
    }

    fn set_parameter(&mut self, parameter: usize, value: T) {
        assert!(parameter < self.parameters());
        match &mut self.shape {
            Shape::RationalQuadratic { alpha } if parameter == self.lengths.values().len() => {
                *alpha = value;
            }
            _ => self.lengths.set(parameter, value),
        }
    }

    fn rescale(&mut self, scales: &[T]) -> Result<(), Error> {
        self.lengths.rescale(scales)
    }

    fn translate(&mut self, _: &[T]) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn evaluate_with_gradient(&self, a: &[T], b: &[T], gradient: &mut [T]) -> T {
        self.gradient_by(a, b, |_| true, gradient)
    }
}
