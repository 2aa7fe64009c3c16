//! A scalar that is neither `f32` nor `f64`, and a kernel of the user's own,
//! through the public interface.
use crate::common;

use common::problem::Problem;
use kgard::{Error, Gaussian, Kernel, Plan, Real, Regularizer, Stop};
use twofloat::TwoFloat;

/// A kernel that the crate does not know: $1 / (1 + |a - b|^2 / w^2)$.
#[derive(Debug, Clone, Copy)]
struct Cauchy<T>(T);

impl<T: Real> Kernel<T> for Cauchy<T> {
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let squared = a.iter().zip(b).fold(T::zero(), |s, (&a, &b)| s + (a - b) * (a - b));
        T::one() / (T::one() + squared / (self.0 * self.0))
    }
    fn check(&self) -> Result<(), Error> {
        if self.0 > T::zero() {
            Ok(())
        } else {
            Err(Error::NotPositive { what: "width", value: self.0.to_f64().unwrap() })
        }
    }
}

fn solve<T: Real, K: Kernel<T> + Clone>(
    problem: &Problem,
    kernel: K,
    rkhs: bool,
) -> (Vec<usize>, Vec<T>) {
    let x: Vec<T> = problem.x.iter().map(|&x| T::from(x).unwrap()).collect();
    let y: Vec<T> = problem.y.iter().map(|&y| T::from(y).unwrap()).collect();
    let lambda = T::from(0.125).unwrap();
    let regularizer = if rkhs { Regularizer::rkhs(lambda) } else { Regularizer::l2(lambda) };
    let plan = Plan::new(&x, kernel.clone(), regularizer).unwrap();
    let fit = plan.fit(&y, Stop::max_residual(T::one())).unwrap();
    let once = kgard::fit(&x, &y, kernel, regularizer, Stop::max_residual(T::one())).unwrap();
    let indices =
        |fit: &kgard::Fit<T, K>| -> Vec<usize> { fit.outliers().iter().map(|o| o.index).collect() };
    assert_eq!(indices(&fit), indices(&once));
    (indices(&fit), fit.coefficients().to_vec())
}

#[test]
fn double_double() {
    let problem = Problem::new(60, 1, 5, 0.1, 3);
    for rkhs in [false, true] {
        let (wide, wide_alpha) = solve::<TwoFloat, _>(&problem, Cauchy(TwoFloat::from(0.25)), rkhs);
        let (plain, plain_alpha) = solve::<f64, _>(&problem, Cauchy(0.25), rkhs);
        let mut found = plain.clone();
        assert_eq!(wide, plain);
        found.sort_unstable();
        let mut wrong = problem.wrong.clone();
        wrong.sort_unstable();
        assert_eq!(found, wrong);
        for (a, b) in wide_alpha.iter().zip(&plain_alpha) {
            assert!((f64::from(*a) - b).abs() < 1e-9);
        }
    }
}

#[test]
fn a_users_kernel_is_checked() {
    let error = Plan::new(&[0.0, 1.0], Cauchy(-1.0), Regularizer::l2(1.0)).unwrap_err();
    assert_eq!(error, Error::NotPositive { what: "width", value: -1.0 });
}

#[test]
fn closures_and_compositions() {
    let problem = Problem::new(60, 1, 5, 0.1, 3);
    let closure = |a: &[f64], b: &[f64]| (-(a[0] - b[0]).powi(2) / 0.0625).exp();
    assert_eq!(solve(&problem, closure, false), solve(&problem, Gaussian::new(0.25), false));
    let composed = Gaussian::new(0.25).scaled(0.5).plus(Cauchy(0.3).times(Gaussian::new(1.0)));
    let (found, _) = solve(&problem, composed, true);
    assert_eq!(found.len(), 5);
}
