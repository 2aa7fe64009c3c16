//! Kernels of the differences of two points, with one length per input.
//!
//! With $z_i = (a_i - b_i) / \ell_i$ every one of them is a function of
//! $q = \sum_i |z_i|^p$ ($p = 1$ for the Laplacian, else 2), so that
//! $\partial \kappa / \partial \ln \ell_i = -p \\, |z_i|^p \\, \kappa'(q)$.

use super::rows::{self, Entry, exp_of_minus};
use super::tunable::{Role, Tunable};
use super::{Kernel, lengths::Lengths};
#[cfg(feature = "alloc")]
use crate::linalg::simd::{Routine, dispatch};
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
    fn with_slope<const FUSED: bool>(&self, q: T) -> (T, T, T) {
        let (zero, two) = (T::zero(), constant::<T>(2.0));
        match *self {
            Self::Gaussian => {
                let value = exp_of_minus::<T, FUSED>(q);
                (value, two * value, zero)
            }
            Self::Laplacian => {
                let value = exp_of_minus::<T, FUSED>(q);
                (value, value, zero)
            }
            Self::Matern12 => {
                let r = q.sqrt();
                let value = exp_of_minus::<T, FUSED>(r);
                // The slope has a pole at 0, where all parts are 0.
                (value, if r > zero { value / r } else { zero }, zero)
            }
            Self::Matern32 => {
                let s = (constant::<T>(3.0) * q).sqrt();
                let (value, decay, _) = matern32_of(s, exp_of_minus::<T, FUSED>(s));
                (value, constant::<T>(3.0) * decay, zero)
            }
            Self::Matern52 => {
                let s = (constant::<T>(5.0) * q).sqrt();
                let (value, decay, s) = matern52_of(s, exp_of_minus::<T, FUSED>(s));
                (value, constant::<T>(5.0 / 3.0) * (T::one() + s) * decay, zero)
            }
            Self::RationalQuadratic { alpha } => {
                let (value, base, by_alpha) = rational_quadratic(q, alpha);
                (value, value / base, by_alpha)
            }
        }
    }
}

/// $s$ or, where $e^{-s}$ is zero, a zero: $s^2 e^{-s}$ is then zero, too, and not
/// infinity times zero.
#[inline(always)]
fn bounded<T: Real>(s: T, decay: T) -> T {
    if decay == T::zero() { T::zero() } else { s }
}

/// $(1 + s) e^{-s}$, $e^{-s}$ and $s$.
#[inline(always)]
pub(super) fn matern32<T: Real>(s: T) -> (T, T, T) {
    matern32_of(s, (-s).exp())
}

/// The same of $s$ and $e^{-s}$.
#[inline(always)]
fn matern32_of<T: Real>(s: T, decay: T) -> (T, T, T) {
    let s = bounded(s, decay);
    ((T::one() + s) * decay, decay, s)
}

/// $(1 + s + s^2/3) e^{-s}$, $e^{-s}$ and $s$.
#[inline(always)]
pub(super) fn matern52<T: Real>(s: T) -> (T, T, T) {
    matern52_of(s, (-s).exp())
}

/// The same of $s$ and $e^{-s}$.
#[inline(always)]
fn matern52_of<T: Real>(s: T, decay: T) -> (T, T, T) {
    let s = bounded(s, decay);
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

    /// [`Tunable::evaluate_row_with_gradient`] by those parameters that are `learned`. The
    /// gradient of each point is `count` numbers of `gradients`, and that of this kernel is
    /// `own` > 0 of these from number `first` on.
    #[cfg(feature = "alloc")]
    pub(super) fn gradient_row(
        &self,
        a: &[T],
        points: Points<'_, T>,
        learned: impl Fn(usize) -> bool + Copy,
        values: &mut [T],
        gradients: &mut [T],
        (count, first, own): (usize, usize, usize),
    ) {
        if matches!(self.shape, Shape::RationalQuadratic { .. }) {
            let rows = points.iter().zip(values).zip(gradients.chunks_exact_mut(count));
            for ((b, value), gradient) in rows {
                *value = self.gradient_by(a, b, learned, &mut gradient[first..]);
            }
            return;
        }
        let mut slopes = [T::zero(); BLOCK];
        let (dim, coordinates) = (points.dim(), points.coordinates());
        let blocks = values.chunks_mut(BLOCK).zip(gradients.chunks_mut(BLOCK * count));
        for ((values, gradients), b) in blocks.zip(coordinates.chunks(BLOCK * dim)) {
            let slopes = &mut slopes[..values.len()];
            let rows = b.chunks_exact(dim).zip(&mut *values);
            match (a, self.lengths.reciprocals()) {
                (&[a], &[reciprocal]) if count == 1 => {
                    for ((&b, q), gradient) in b.iter().zip(&mut *values).zip(&mut *gradients) {
                        *q = self.shape.part((a - b) * reciprocal);
                        *gradient = *q;
                    }
                }
                _ => {
                    for ((b, q), gradient) in rows.zip(gradients.chunks_exact_mut(count)) {
                        *q = self.parts(a, b, learned, &mut gradient[first..]).0;
                    }
                }
            }
            dispatch(ValuesAndSlopes { shape: self.shape, values, slopes });
            for (&slope, gradient) in slopes.iter().zip(gradients.chunks_exact_mut(count)) {
                for entry in &mut gradient[first..first + own] {
                    // Not infinity times zero.
                    *entry = if slope == T::zero() { slope } else { *entry * slope };
                }
            }
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
        let (q, filled) = self.parts(a, b, &learned, gradient);
        let (value, slope, by_alpha) = self.shape.with_slope::<false>(q);
        for entry in &mut gradient[..filled] {
            // Not infinity times zero.
            *entry = if slope == T::zero() { slope } else { *entry * slope };
        }
        let lengths = self.lengths.reciprocals().len();
        if matches!(self.shape, Shape::RationalQuadratic { .. }) && learned(lengths) {
            gradient[filled] = by_alpha;
        }
        value
    }

    /// $q$; what the inputs whose lengths are learned add to it goes to the front of `out`,
    /// and how many these are comes with it.
    #[inline(always)]
    fn parts(
        &self,
        a: &[T],
        b: &[T],
        learned: impl Fn(usize) -> bool,
        out: &mut [T],
    ) -> (T, usize) {
        let reciprocals = self.lengths.reciprocals();
        let mut q = T::zero();
        let mut filled = 0;
        if let &[reciprocal] = reciprocals {
            for (&x, &y) in a.iter().zip(b) {
                q = q + self.shape.part((x - y) * reciprocal);
            }
            if learned(0) {
                out[0] = q;
                filled = 1;
            }
        } else {
            let (b, reciprocals) = (&b[..a.len()], &reciprocals[..a.len()]);
            for i in 0..a.len() {
                let part = self.shape.part((a[i] - b[i]) * reciprocals[i]);
                q = q + part;
                if learned(i) {
                    out[filled] = part;
                    filled += 1;
                }
            }
        }
        (q, filled)
    }
}

/// Points of a row whose slopes are held at a time.
#[cfg(feature = "alloc")]
const BLOCK: usize = 64;

/// Replaces every $q$ by the kernel there, and computes $-p \\, \kappa'(q)$.
#[cfg(feature = "alloc")]
struct ValuesAndSlopes<'a, T> {
    shape: Shape<T>,
    values: &'a mut [T],
    slopes: &'a mut [T],
}

#[cfg(feature = "alloc")]
impl<T: Real> Routine for ValuesAndSlopes<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { shape, values, slopes } = self;
        macro_rules! with {
            ($shape:expr) => {
                for (value, slope) in values.iter_mut().zip(slopes) {
                    (*value, *slope, _) = $shape.with_slope::<FUSED>(*value);
                }
            };
        }
        // A loop for each shape, in which it is a constant.
        match shape {
            Shape::Gaussian => with!(Shape::Gaussian),
            Shape::Laplacian => with!(Shape::Laplacian),
            Shape::Matern12 => with!(Shape::Matern12),
            Shape::Matern32 => with!(Shape::Matern32),
            Shape::Matern52 => with!(Shape::Matern52),
            Shape::RationalQuadratic { .. } => with!(shape),
        }
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
