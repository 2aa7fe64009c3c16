//! What the likelihood is climbed by: the logarithms of the kernel's parameters
//! and of $\lambda$, and the coefficients of uneven noise, each with a weak
//! Gaussian prior and bounds.

use crate::Real;
use crate::kernel::{Role, Tunable};
use crate::real::{constant, count};
use alloc::vec;
use alloc::vec::Vec;

/// Spread of $\log \ell$ around that of the square root of the number of inputs:
/// the robust deviation of an input is one.
const LENGTH_SPREAD: f64 = 1.7;
/// With several inputs some matter little, so that lengths are longer by so much.
const SEVERAL_INPUTS: f64 = 0.5;
/// $\lambda$ is expected around this, with this spread of its logarithm.
const LAMBDA: f64 = 0.1;
const LAMBDA_SPREAD: f64 = 3.0;
/// Prior variance of slopes, relative to that of the process: a robust deviation
/// of the input moves the function by 0.45 of its own deviation.
const SLOPE_VARIANCE: f64 = 0.2;
/// Spread of the logarithms of weights and exponents around where they begin.
const PURE_SPREAD: f64 = 2.0;
/// Spread of the noise's coefficients around zero.
const UNEVEN_SPREAD: f64 = 0.5;
/// Bounds of lengths, in robust deviations of the input, and of $\lambda$.
const LENGTHS: (f64, f64) = (5e-3, 1e3);
const LARGEST_LAMBDA: f64 = 1e3;
/// Bounds of weights and exponents, and of the noise's coefficients.
const PURE_RANGE: f64 = 10.0;
const UNEVEN_RANGE: f64 = 2.0;

/// Parameters of a model of standardised data.
#[derive(Debug, Clone)]
pub(super) struct State<T, K> {
    pub(super) kernel: K,
    pub(super) log_lambda: T,
    /// Prior variance of the slopes, relative to that of the process.
    pub(super) slope_variance: T,
    /// $\gamma$, the coefficients of the noise's log variance; none where the
    /// noise is even.
    pub(super) gamma: Vec<T>,
}

impl<T: Real, K: Tunable<T>> State<T, K> {
    /// Even noise, and the $\lambda$ that is given or else expected.
    pub(super) fn of(kernel: K, lambda: Option<T>) -> Self {
        let lambda = lambda.unwrap_or_else(|| constant(LAMBDA));
        let slope_variance = constant(SLOPE_VARIANCE);
        Self { kernel, log_lambda: lambda.ln(), slope_variance, gamma: vec![] }
    }

    /// The same with noise that may depend on so many features, and does not yet.
    pub(super) fn with_uneven_noise(&self, features: usize) -> Self {
        Self { gamma: vec![T::zero(); features], ..self.clone() }
    }

    pub(super) fn lambda(&self) -> T {
        self.log_lambda.exp()
    }

    /// All lengths that are learned, at once.
    pub(super) fn set_lengths(&mut self, length: T) {
        for i in 0..self.kernel.parameters() {
            if is_length(self.kernel.role(i)) {
                self.kernel.set_parameter(i, length);
            }
        }
    }
}

/// What uneven noise of `features` coefficients costs in the description: the
/// logarithm of how much narrower than their prior they become by `n` points.
pub(super) fn cost_of_uneven_noise<T: Real>(features: usize, n: usize) -> T {
    let narrower = constant::<T>(UNEVEN_SPREAD) * (count::<T>(n) * constant(0.5)).sqrt();
    count::<T>(features) * narrower.ln().max(T::zero())
}

fn is_length(role: Role) -> bool {
    matches!(role, Role::Length { .. } | Role::SharedLength)
}

/// The smallest $\lambda$ with which $K + \lambda I$ can be factored and means
/// something: rounding in sums over `n` points.
pub(super) fn smallest_lambda<T: Real>(n: usize) -> T {
    (constant::<T>(30.0) * T::epsilon() * count(n)).max(constant(1e-9))
}

/// One variable of the climb.
#[derive(Clone, Copy)]
struct Variable<T> {
    start: T,
    mean: T,
    spread: T,
    low: T,
    high: T,
}

/// The variables of a state, and the way back.
pub(super) struct Variables<T> {
    variables: Vec<Variable<T>>,
    /// Which variable each parameter of the kernel is; with `tied` several are one.
    of_parameter: Vec<usize>,
}

impl<T: Real> Variables<T> {
    /// The variables of `state` for `n` points of `dim` inputs. With `tied`, one
    /// length for all inputs; with `fixed_lambda` that one stays.
    pub(super) fn new<K: Tunable<T>>(
        state: &State<T, K>,
        dim: usize,
        n: usize,
        tied: bool,
        fixed_lambda: bool,
    ) -> Self {
        let c = constant::<T>;
        let several = if dim > 1 { SEVERAL_INPUTS } else { 0.0 };
        let length = c(0.5) * count::<T>(dim.max(1)).ln() + c(several);
        let mut variables = vec![];
        let mut of_parameter = vec![];
        let mut shared = None;
        for i in 0..state.kernel.parameters() {
            let start = state.kernel.parameter(i).ln();
            let role = state.kernel.role(i);
            if let Some(at) = shared.filter(|_| tied && is_length(role)) {
                of_parameter.push(at);
                continue;
            }
            if is_length(role) {
                shared.get_or_insert(variables.len());
            }
            of_parameter.push(variables.len());
            variables.push(if is_length(role) {
                let (low, high) = (c(LENGTHS.0).ln(), c(LENGTHS.1).ln());
                Variable { start, mean: length, spread: c(LENGTH_SPREAD), low, high }
            } else {
                let (low, high) = (start - c(PURE_RANGE), start + c(PURE_RANGE));
                Variable { start, mean: start, spread: c(PURE_SPREAD), low, high }
            });
        }
        let start = state.log_lambda;
        let (low, high) = if fixed_lambda {
            (start, start)
        } else {
            (smallest_lambda::<T>(n).ln(), c(LARGEST_LAMBDA).ln())
        };
        let (mean, spread) = (c(LAMBDA).ln(), c(LAMBDA_SPREAD));
        variables.push(Variable { start, mean, spread, low, high });
        let (low, high) = (c(-UNEVEN_RANGE), c(UNEVEN_RANGE));
        variables.extend(state.gamma.iter().map(|&start| {
            let (mean, spread) = (T::zero(), c(UNEVEN_SPREAD));
            Variable { start, mean, spread, low, high }
        }));
        Self { variables, of_parameter }
    }

    pub(super) fn start(&self) -> Vec<T> {
        self.variables.iter().map(|v| v.start.max(v.low).min(v.high)).collect()
    }

    pub(super) fn bounds(&self) -> Vec<(T, T)> {
        self.variables.iter().map(|v| (v.low, v.high)).collect()
    }

    fn lambda_at(&self, gammas: usize) -> usize {
        self.variables.len() - gammas - 1
    }

    /// Writes the variables `x` into a state.
    pub(super) fn write<K: Tunable<T>>(&self, x: &[T], state: &mut State<T, K>) {
        for (i, &at) in self.of_parameter.iter().enumerate() {
            state.kernel.set_parameter(i, x[at].exp());
        }
        let at = self.lambda_at(state.gamma.len());
        state.log_lambda = x[at];
        state.gamma.copy_from_slice(&x[at + 1..]);
    }

    /// The gradient by the variables, from those by the kernel's parameters and
    /// $\lambda$, and by the noise's coefficients.
    pub(super) fn gather(&self, by_parameter: &[T], by_gamma: &[T], gradient: &mut [T]) {
        gradient.fill(T::zero());
        for (&at, &g) in self.of_parameter.iter().zip(by_parameter) {
            gradient[at] = gradient[at] + g;
        }
        let at = self.lambda_at(by_gamma.len());
        gradient[at] = by_parameter.last().copied().unwrap_or_else(T::zero);
        gradient[at + 1..].copy_from_slice(by_gamma);
    }

    /// Minus the logarithm of the prior, and its gradient added to `gradient`.
    pub(super) fn prior(&self, x: &[T], gradient: &mut [T]) -> T {
        let mut sum = T::zero();
        for ((v, &x), g) in self.variables.iter().zip(x).zip(gradient) {
            if v.low == v.high {
                *g = T::zero();
                continue;
            }
            let z = (x - v.mean) / v.spread;
            sum = sum + constant::<T>(0.5) * z * z;
            *g = *g + z / v.spread;
        }
        sum
    }
}
