//! A kernel that repeats itself.

use super::Kernel;
use super::lengths::Lengths;
use super::tunable::{Role, Tunable};
use crate::real::constant;
use crate::{Error, Real};

/// Periodic kernel: $\exp(-2 \sum_i \sin^2(\pi (a_i - b_i) / P_i) / w^2)$.
///
/// $P_i$ is the period along input $i$, in its unit. The width $w$ has no unit:
/// it is the length of a Gaussian kernel $\exp(-r^2 / (2 w^2))$ on the chord of a
/// circle of radius 1, and functions wiggle about $1 / w$ times in a period.
///
/// `L` holds the periods: an array, which needs no allocator, or a vector. One
/// period alone is shared by all inputs.
///
/// ```
/// use kgard::{Kernel, Periodic};
/// let daily = Periodic::new(24.0).with_width(0.5);
/// assert!((daily.evaluate(&[3.0], &[51.0]) - 1.0_f64).abs() < 1e-15);
/// assert!((daily.evaluate(&[3.0], &[15.0]) - (-8.0_f64).exp()).abs() < 1e-15);
/// ```
///
/// Parameters to learn: the periods, then the width. A likelihood has many local
/// maxima along a period, so that it has to be nearly right at the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Periodic<T, L = [T; 1]> {
    pub(super) periods: Lengths<T, L>,
    pub(super) width: T,
}

impl<T: Real> Periodic<T> {
    /// A kernel with the period `period` > 0 along all inputs, of width 1.
    pub fn new(period: T) -> Self {
        Self::per_input([period])
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Periodic<T, L> {
    /// A kernel with these `periods`, all > 0, of width 1.
    pub fn per_input(periods: L) -> Self {
        Self { periods: Lengths::new(periods), width: T::one() }
    }

    /// The same kernel of another `width` > 0.
    #[must_use]
    pub fn with_width(self, width: T) -> Self {
        Self { width, ..self }
    }

    /// The periods.
    pub fn periods(&self) -> &[T] {
        self.periods.values()
    }

    /// The width.
    pub const fn width(&self) -> T
    where
        T: Copy,
    {
        self.width
    }

    /// $\sum_i \sin^2(\theta_i) / w^2$, with $\theta_i$ as it is and less all
    /// whole periods told to `each`.
    #[inline(always)]
    fn sum(&self, a: &[T], b: &[T], mut each: impl FnMut(usize, T, T)) -> T {
        let reciprocals = self.periods.reciprocals();
        let mut sum = T::zero();
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            let turns = (x - y) * reciprocals[i.min(reciprocals.len() - 1)];
            // Exact, and what is left is small, whatever the sine does with the rest.
            let part = pi::<T>() * (turns - turns.round());
            let s = part.sin() / self.width;
            sum = sum + s * s;
            each(i, pi::<T>() * turns, part);
        }
        sum
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
        let two = constant::<T>(2.0);
        let periods = self.periods.values().len();
        // d(sin^2 theta / w^2) / d ln P = -theta sin(2 theta) / w^2.
        let slope = |whole: T, part: T| whole * ((two * part).sin() / self.width / self.width);
        let mut filled = 0;
        let mut shared = T::zero();
        let sum = self.sum(a, b, |i, whole, part| {
            if periods == 1 {
                shared = shared + if learned(0) { slope(whole, part) } else { T::zero() };
            } else if learned(i) {
                gradient[filled] = slope(whole, part);
                filled += 1;
            }
        });
        if periods == 1 && learned(0) {
            gradient[0] = shared;
            filled = 1;
        }
        let value = (-two * sum).exp();
        if learned(periods) {
            gradient[filled] = two * sum;
            filled += 1;
        }
        for entry in &mut gradient[..filled] {
            // Not infinity times zero.
            *entry = if value == T::zero() { value } else { two * *entry * value };
        }
        value
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Kernel<T> for Periodic<T, L> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        (-constant::<T>(2.0) * self.sum(a, b, |_, _, _| {})).exp()
    }

    fn check(&self) -> Result<(), Error> {
        Error::check_positive("width", self.width)?;
        self.periods.check("period")
    }

    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.periods.check_dim(dim)
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Tunable<T> for Periodic<T, L> {
    fn parameters(&self) -> usize {
        self.periods.values().len() + 1
    }

    fn role(&self, parameter: usize) -> Role {
        assert!(parameter < self.parameters());
        if parameter < self.periods.values().len() { Role::Period } else { Role::Pure }
    }

    fn parameter(&self, parameter: usize) -> T {
        assert!(parameter < self.parameters());
        self.periods.values().get(parameter).copied().unwrap_or(self.width)
    }

    fn set_parameter(&mut self, parameter: usize, value: T) {
        assert!(parameter < self.parameters());
        if parameter == self.periods.values().len() {
            self.width = value;
        } else {
            self.periods.set(parameter, value);
        }
    }

    fn rescale(&mut self, scales: &[T]) -> Result<(), Error> {
        self.periods.rescale(scales)
    }

    fn translate(&mut self, _: &[T]) -> Result<(), Error> {
        Ok(())
    }

    #[inline]
    fn evaluate_with_gradient(&self, a: &[T], b: &[T], gradient: &mut [T]) -> T {
        self.gradient_by(a, b, |_| true, gradient)
    }
}

#[inline(always)]
fn pi<T: Real>() -> T {
    constant(core::f64::consts::PI)
}
