//! Kernels whose parameters can be learned.

use super::Kernel;
use crate::real::constant;
use crate::{Error, Points, Real};

/// A kernel with parameters to learn: all positive, learned on a logarithmic
/// scale.
///
/// Parameters are numbered from 0. The methods that take such a number panic
/// if it is not below [`parameters`](Self::parameters).
///
/// ```
/// use kgard::kernel::{Role, Tunable};
/// use kgard::Matern52;
///
/// let mut kernel = Matern52::new(0.5);
/// assert_eq!(kernel.role(0), Role::SharedLength);
/// kernel.set_log_parameters(&[2.0_f64.ln()]);
/// let mut gradient = [0.0];
/// let value = kernel.evaluate_with_gradient(&[0.0], &[1.0], &mut gradient);
/// // A longer kernel falls off more slowly.
/// assert!(value < 1.0 && gradient[0] > 0.0);
/// ```
pub trait Tunable<T: Real>: Kernel<T> + Clone {
    /// Number of parameters that are learned.
    fn parameters(&self) -> usize;

    /// What a parameter is.
    fn role(&self, parameter: usize) -> Role;

    /// The value of a parameter.
    fn parameter(&self, parameter: usize) -> T;

    /// Replaces the value of a parameter.
    fn set_parameter(&mut self, parameter: usize, value: T);

    /// Stretches the inputs by `scales`, one factor > 0 per input:
    /// $\kappa'(a, b) = \kappa(a / s, b / s)$, coordinate by coordinate. Lengths
    /// and periods along input $i$ are multiplied by $s_i$.
    ///
    /// With points standardised as $z = (x - m) / s$, this turns a kernel of $z$
    /// into that kernel of $x$; with $1 / s$ it goes back.
    ///
    /// # Errors
    /// If the kernel has one length for all inputs, cannot have several, and the
    /// scales differ; or if it needs more inputs than there are scales.
    fn rescale(&mut self, scales: &[T]) -> Result<(), Error>;

    /// Moves the inputs by `by`, one number per input:
    /// $\kappa'(a, b) = \kappa(a - m, b - m)$. A kernel of the difference
    /// $a - b$ stays as it is.
    ///
    /// With points standardised as $z = (x - m) / s$, [`rescale`](Self::rescale)
    /// by $s$ and then this by $m$ turn a kernel of $z$ into that kernel of $x$.
    ///
    /// # Errors
    /// If the kernel cannot be moved. Kernels without a method of their own
    /// refuse, since nothing is known of them.
    fn translate(&mut self, by: &[T]) -> Result<(), Error> {
        if by.iter().all(|&by| by == T::zero()) {
            return Ok(());
        }
        Err(Error::Unsupported { what: "a kernel that cannot be moved with its inputs" })
    }

    /// The kernel of $z = (x - m) / s$ that this kernel of $x$ is: to learn on
    /// standardised points. [`rescale`](Self::rescale) by the `scales` $s$ and
    /// [`translate`](Self::translate) by the `centres` $m$ lead back.
    ///
    /// # Errors
    /// As [`rescale`](Self::rescale) and [`translate`](Self::translate).
    #[cfg(feature = "alloc")]
    fn standardised(&self, centres: &[T], scales: &[T]) -> Result<Self, Error> {
        let mut kernel = self.clone();
        let back: alloc::vec::Vec<T> = centres.iter().map(|&m| -m).collect();
        kernel.translate(&back)?;
        let shrunk: alloc::vec::Vec<T> = scales.iter().map(|s| s.recip()).collect();
        kernel.rescale(&shrunk)?;
        Ok(kernel)
    }

    /// Writes the logarithms of all parameters to `out`, of length
    /// [`parameters`](Self::parameters).
    fn log_parameters(&self, out: &mut [T]) {
        for (parameter, out) in out.iter_mut().enumerate() {
            *out = self.parameter(parameter).ln();
        }
    }

    /// Replaces all parameters by the exponentials of `logarithms`.
    fn set_log_parameters(&mut self, logarithms: &[T]) {
        for (parameter, &logarithm) in logarithms.iter().enumerate() {
            self.set_parameter(parameter, logarithm.exp());
        }
    }

    /// $\kappa(a, b)$, and in `gradient`, of length
    /// [`parameters`](Self::parameters), its derivatives by the logarithms of
    /// the parameters.
    ///
    /// Unless a kernel has its own method, these are central differences, with
    /// errors of about $\varepsilon^{2/3}$.
    fn evaluate_with_gradient(&self, a: &[T], b: &[T], gradient: &mut [T]) -> T {
        let step = T::epsilon().cbrt();
        let mut moved = self.clone();
        for (parameter, gradient) in gradient.iter_mut().enumerate() {
            let value = self.parameter(parameter);
            moved.set_parameter(parameter, value * step.exp());
            let above = moved.evaluate(a, b);
            moved.set_parameter(parameter, value * (-step).exp());
            let below = moved.evaluate(a, b);
            moved.set_parameter(parameter, value);
            *gradient = (above - below) / (constant::<T>(2.0) * step);
        }
        self.evaluate(a, b)
    }

    /// The same for all `points` $b$, one after another in `values` and `gradients`.
    ///
    /// A kernel that has decisions to make makes them here once for the whole row.
    fn evaluate_row_with_gradient(
        &self,
        a: &[T],
        points: Points<'_, T>,
        values: &mut [T],
        gradients: &mut [T],
    ) {
        let parameters = self.parameters();
        if parameters == 0 {
            return self.evaluate_row(a, points, values);
        }
        let gradients = gradients.chunks_exact_mut(parameters);
        for ((b, value), gradient) in points.iter().zip(values).zip(gradients) {
            *value = self.evaluate_with_gradient(a, b, gradient);
        }
    }
}

/// What a parameter of a [`Tunable`] kernel is, and in which unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A length along one input, in the unit of that input.
    Length {
        /// Which input, from 0.
        input: usize,
    },
    /// One length for all inputs, in their common unit.
    SharedLength,
    /// A period, in the unit of its input: a kernel repeats itself after it, and
    /// says nothing of how far to look for another one.
    Period,
    /// A number without a unit: a weight, an exponent, a width relative to a
    /// period.
    Pure,
}

/// The one scale that all inputs have.
pub(super) fn common_scale<T: Real>(scales: &[T]) -> Result<T, Error> {
    let &first = scales.first().ok_or(Error::Empty { what: "scales" })?;
    if scales.iter().all(|&scale| scale == first) {
        Ok(first)
    } else {
        Err(Error::Unsupported { what: "a kernel with one length for inputs of different scales" })
    }
}
