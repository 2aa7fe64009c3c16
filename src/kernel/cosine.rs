//! A kernel of waves.

use super::Kernel;
use super::lengths::Lengths;
use super::tunable::{Role, Tunable};
use crate::real::constant;
use crate::{Error, Real};

/// Cosine kernel: $\prod_i \cos(2 \pi (a_i - b_i) / P_i)$.
///
/// Its functions are waves of the period $P_i$ along input $i$, of any phase. Times a
/// kernel that decays, such as a [`Gaussian`](crate::Gaussian), it describes functions
/// that swing around their mean and whose phase is lost after a length: the spectrum of
/// the product is that of the other kernel, moved to the frequencies $\pm 1 / P$
/// (Wilson and Adams, "Gaussian process kernels for pattern discovery and extrapolation",
/// 2013).
///
/// `L` holds the periods: an array, which needs no allocator, or a vector. One period
/// alone is shared by all inputs.
///
/// ```
/// use kgard::{Cosine, Gaussian, Kernel};
/// let tides = Gaussian::new(100.0).times(Cosine::new(12.4));
/// assert!(tides.evaluate(&[0.0], &[6.2]) < -0.99_f64);
/// ```
///
/// Parameters to learn: the periods. A likelihood has many local maxima along a period,
/// so that it has to be nearly right at the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosine<T, L = [T; 1]> {
    pub(super) periods: Lengths<T, L>,
}

impl<T: Real> Cosine<T> {
    /// A kernel with the period `period` > 0 along all inputs.
    pub fn new(period: T) -> Self {
        Self::per_input([period])
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Cosine<T, L> {
    /// A kernel with these `periods`, all > 0.
    pub fn per_input(periods: L) -> Self {
        Self { periods: Lengths::new(periods) }
    }

    /// The periods.
    pub fn periods(&self) -> &[T] {
        self.periods.values()
    }

    /// The angle $2 \pi (a_i - b_i) / P_i$ along input `i`: as it is, and less all whole
    /// turns, whose cosine is exact however far the points are apart.
    #[inline(always)]
    pub(crate) fn angle(&self, i: usize, difference: T) -> (T, T) {
        let reciprocals = self.periods.reciprocals();
        let turns = difference * reciprocals[i.min(reciprocals.len() - 1)];
        let circle = constant::<T>(core::f64::consts::TAU);
        (circle * turns, circle * (turns - turns.round()))
    }

    /// [`Tunable::evaluate_with_gradient`], if the periods are learned.
    #[inline(always)]
    pub(super) fn gradient_by(
        &self,
        a: &[T],
        b: &[T],
        learned: impl Fn(usize) -> bool,
        gradient: &mut [T],
    ) -> T {
        if !learned(0) {
            return self.evaluate(a, b);
        }
        if let (&[x], &[y]) = (a, b) {
            let (whole, part) = self.angle(0, x - y);
            let (sin, cos) = part.sin_cos();
            gradient[0] = whole * sin;
            return cos;
        }
        let value = self.evaluate(a, b);
        let periods = self.periods.values().len();
        gradient[..periods].fill(T::zero());
        for (i, (&x, &y)) in a.iter().zip(b).enumerate() {
            // d cos(theta) / d ln P = theta sin(theta), times the other factors.
            let (whole, part) = self.angle(i, x - y);
            let others = (0..a.len())
                .filter(|&j| j != i)
                .fold(T::one(), |product, j| product * self.angle(j, a[j] - b[j]).1.cos());
            let at = i.min(periods - 1);
            gradient[at] = gradient[at] + whole * part.sin() * others;
        }
        value
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Kernel<T> for Cosine<T, L> {
    #[inline]
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let differences = a.iter().zip(b).map(|(&x, &y)| x - y).enumerate();
        differences.fold(T::one(), |product, (i, d)| product * self.angle(i, d).1.cos())
    }

    fn check(&self) -> Result<(), Error> {
        self.periods.check("period")
    }

    fn check_dim(&self, dim: usize) -> Result<(), Error> {
        self.periods.check_dim(dim)
    }
}

impl<T: Real, L: AsRef<[T]> + AsMut<[T]> + Clone> Tunable<T> for Cosine<T, L> {
    fn parameters(&self) -> usize {
        self.periods.values().len()
    }

    fn role(&self, parameter: usize) -> Role {
        assert!(parameter < self.parameters());
        Role::Period
    }

    fn parameter(&self, parameter: usize) -> T {
        self.periods.values()[parameter]
    }

    fn set_parameter(&mut self, parameter: usize, value: T) {
        self.periods.set(parameter, value);
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
