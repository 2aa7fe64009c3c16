//! The minimum of a smooth function of a few variables: BFGS with a box.
//!
//! Each evaluation costs $O(n^3)$, so the line search takes the first step
//! that lowers the function enough, and the end comes when the next step
//! promises less than a tolerance. The gradient costs as much again: only points from which
//! another step is made have theirs computed.

use crate::Real;
use crate::real::constant;
use alloc::vec;
use alloc::vec::Vec;

/// The longest step, in each variable: a factor of about seven of a parameter
/// that is seen through its logarithm.
const LONGEST: f64 = 2.0;
/// Part of the promised decrease that must come (Armijo's condition).
const ENOUGH: f64 = 1e-4;

/// How long to go on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort<T> {
    /// Evaluations at the most.
    pub(super) evaluations: usize,
    /// Decrease of the function that is not worth a step.
    pub(super) tolerance: T,
}

/// A function with a gradient; none where they are not defined.
pub(super) trait Function<T> {
    /// The value at `x`.
    fn value(&mut self, x: &[T]) -> Option<T>;
    /// Writes the gradient at `x`, where the value was asked for last. Once.
    fn gradient(&mut self, x: &[T], out: &mut [T]) -> Option<()>;
}

/// Minimises `f` from `x` within `bounds`; leaves the best point in `x` and
/// gives its value.
pub(super) fn minimize<T: Real>(
    f: &mut impl Function<T>,
    x: &mut [T],
    bounds: &[(T, T)],
    effort: Effort<T>,
) -> Option<T> {
    let n = x.len();
    for (x, &(low, high)) in x.iter_mut().zip(bounds) {
        *x = x.max(low).min(high);
    }
    let mut gradient = vec![T::zero(); n];
    let mut value = f.value(x)?;
    f.gradient(x, &mut gradient)?;
    let mut left = effort.evaluations.saturating_sub(1);
    let mut inverse = identity(n, T::one());
    let mut first = true;
    while left > 0 {
        let free: Vec<bool> = (0..n)
            .map(|i| {
                let (low, high) = bounds[i];
                !(x[i] <= low && gradient[i] > T::zero() || x[i] >= high && gradient[i] < T::zero())
            })
            .collect();
        let mut step = vec![T::zero(); n];
        for i in (0..n).filter(|&i| free[i]) {
            step[i] = (0..n)
                .filter(|&j| free[j])
                .fold(T::zero(), |s, j| s - inverse[i * n + j] * gradient[j]);
        }
        let mut promise = -dot(&step, &gradient);
        if !(promise > T::zero()) {
            inverse = identity(n, T::one());
            for i in 0..n {
                step[i] = if free[i] { -gradient[i] } else { T::zero() };
            }
            promise = -dot(&step, &gradient);
        }
        // Of a quadratic, a Newton step gains half of what the slope promises.
        if !(promise > constant::<T>(2.0) * effort.tolerance) {
            break;
        }
        let longest = step.iter().fold(T::zero(), |m: T, s| m.max(s.abs()));
        let limit = if first { T::one() } else { constant(LONGEST) };
        let mut length = if longest > limit { limit / longest } else { T::one() };
        let mut next = None;
        while left > 0 {
            let trial: Vec<T> = (0..n)
                .map(|i| (x[i] + length * step[i]).max(bounds[i].0).min(bounds[i].1))
                .collect();
            left -= 1;
            let found = f.value(&trial);
            if let Some(found) = found
                && found <= value - constant::<T>(ENOUGH) * length * promise
            {
                next = Some((trial, found));
                break;
            }
            // The minimum of the parabola through both values and the slope.
            let shorter = match found {
                Some(found) => {
                    let bend = found - value + length * promise;
                    (length * promise / (constant::<T>(2.0) * bend)).max(constant(0.1))
                }
                None => constant(0.25),
            };
            length = length * shorter.min(constant(0.5));
            if length * promise < effort.tolerance {
                break;
            }
        }
        let Some((trial, found)) = next else { break };
        let gained = value - found;
        let mut trial_gradient = vec![T::zero(); n];
        if left == 0
            || gained < effort.tolerance
            || f.gradient(&trial, &mut trial_gradient).is_none()
        {
            x.copy_from_slice(&trial);
            value = found;
            break;
        }
        let moved: Vec<T> = trial.iter().zip(&*x).map(|(&a, &b)| a - b).collect();
        let change: Vec<T> = trial_gradient.iter().zip(&gradient).map(|(&a, &b)| a - b).collect();
        let curvature = dot(&moved, &change);
        if curvature > constant::<T>(1e-10) * dot(&moved, &moved) {
            if first {
                inverse = identity(n, curvature / dot(&change, &change));
            }
            update(&mut inverse, &moved, &change, curvature);
            first = false;
        }
        x.copy_from_slice(&trial);
        gradient = trial_gradient;
        value = found;
    }
    Some(value)
}

/// $H \leftarrow (I - \rho s t^T) H (I - \rho t s^T) + \rho s s^T$, $\rho = 1 / s^T t$.
fn update<T: Real>(inverse: &mut [T], s: &[T], t: &[T], curvature: T) {
    let n = s.len();
    let along: Vec<T> = inverse.chunks_exact(n).map(|row| dot(row, t)).collect();
    let quadratic = dot(&along, t);
    let weight = (curvature + quadratic) / (curvature * curvature);
    for i in 0..n {
        for j in 0..n {
            inverse[i * n + j] = inverse[i * n + j] + weight * s[i] * s[j]
                - (along[i] * s[j] + s[i] * along[j]) / curvature;
        }
    }
}

fn identity<T: Real>(n: usize, scale: T) -> Vec<T> {
    let mut identity = vec![T::zero(); n * n];
    for i in 0..n {
        identity[i * n + i] = scale;
    }
    identity
}

fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |s, (&a, &b)| s + a * b)
}

#[cfg(test)]
mod tests {
    use super::{Effort, Function, minimize};

    const PATIENT: Effort<f64> = Effort { evaluations: 200, tolerance: 1e-14 };

    /// Value and gradient in one, with the number of gradients that were asked for.
    struct Counted<F> {
        f: F,
        values: usize,
        gradients: usize,
    }

    fn counted<F: Fn(&[f64], &mut [f64]) -> Option<f64>>(f: F) -> Counted<F> {
        Counted { f, values: 0, gradients: 0 }
    }

    impl<F: Fn(&[f64], &mut [f64]) -> Option<f64>> Function<f64> for Counted<F> {
        fn value(&mut self, x: &[f64]) -> Option<f64> {
            self.values += 1;
            (self.f)(x, &mut [0.0; 2][..x.len()])
        }

        fn gradient(&mut self, x: &[f64], out: &mut [f64]) -> Option<()> {
            self.gradients += 1;
            (self.f)(x, out).map(|_| ())
        }
    }

    #[test]
    fn rosenbrock() {
        let f = |x: &[f64], g: &mut [f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            g[0] = -2.0 * a - 400.0 * x[0] * b;
            g[1] = 200.0 * b;
            Some(a * a + 100.0 * b * b)
        };
        let mut x = [-1.2, 1.0];
        let mut calls = counted(f);
        let least = minimize(&mut calls, &mut x, &[(-5.0, 5.0); 2], PATIENT).unwrap();
        assert!(least < 1e-10 && (x[0] - 1.0).abs() < 1e-4, "{least} at {x:?}");
        assert!(calls.gradients < calls.values, "{} {}", calls.gradients, calls.values);
        // With a wall before it, the minimum is at the wall.
        let mut x = [-1.2, 1.0];
        minimize(&mut counted(f), &mut x, &[(-5.0, 0.5), (-5.0, 5.0)], PATIENT).unwrap();
        assert!((x[0] - 0.5).abs() < 1e-9 && (x[1] - 0.25).abs() < 1e-4, "{x:?}");
        // A last step needs no gradient.
        let mut calls = counted(f);
        let two = Effort { evaluations: 2, tolerance: 1e-14 };
        minimize(&mut calls, &mut [-1.2, 1.0], &[(-5.0, 5.0); 2], two).unwrap();
        assert_eq!((calls.values, calls.gradients), (2, 1));
    }

    #[test]
    fn turns_back_where_the_function_ends() {
        let f = |x: &[f64], g: &mut [f64]| {
            g[0] = 1.0 - 1.0 / x[0];
            (x[0] > 0.0).then(|| x[0] - x[0].ln())
        };
        let mut x = [3.0];
        minimize(&mut counted(f), &mut x, &[(-100.0, 100.0)], PATIENT).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-5, "{x:?}");
        assert_eq!(minimize(&mut counted(f), &mut [-1.0], &[(-100.0, 100.0)], PATIENT), None);
    }
}
