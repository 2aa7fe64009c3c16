//! Wrong input: each kind its own error, with the numbers, and never a panic.

use kgard::kernel::{cross_gram, gram};
use kgard::linalg::{cholesky, eigen, multiply, self_product};
use kgard::{
    Error, Gaussian, Kernel, Laplacian, Matern32, Matern52, Plan, PlanRef, Points, Polynomial,
    RationalQuadratic, Regularizer, Stop, System, Workspace,
};

const X: [f64; 4] = [0.0, 0.3, 0.6, 1.0];
const Y: [f64; 4] = [1.0, 2.0, 1.5, 0.5];

fn plan() -> Plan<f64, Gaussian<f64>> {
    Plan::new(&X, Gaussian::new(0.5), Regularizer::l2(0.1)).unwrap()
}

fn says(error: Error, parts: &[&str]) {
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in {message:?}");
    }
}

#[test]
fn points() {
    let none: [f64; 0] = [];
    let refused = |points: Points<'_, f64>| {
        let one_shot = kgard::fit(
            points,
            &Y[..points.len().min(4)],
            Gaussian::new(0.5),
            Regularizer::l2(0.1),
            Stop::automatic(),
        )
        .unwrap_err();
        let planned = Plan::new(points, Gaussian::new(0.5), Regularizer::l2(0.1)).unwrap_err();
        assert_eq!(one_shot.to_string(), planned.to_string());
        planned
    };
    assert_eq!(refused(Points::from(&none)), Error::Empty { what: "list of points" });
    says(refused(Points::from(&[0.0, f64::NAN])), &["coordinate", "index 1", "NaN"]);
    says(refused(Points::from(&[f64::NEG_INFINITY])), &["index 0", "-inf"]);
    let no_dimension: [[f64; 0]; 3] = [[]; 3];
    says(refused(Points::from(&no_dimension)), &["dimension 0"]);
    assert_eq!(Points::new(&X, 3), Err(Error::Dimension { expected: 3, found: 4 }));
    assert_eq!(Points::new(&X, 0), Err(Error::Dimension { expected: 0, found: 4 }));
}

#[test]
fn kernels() {
    fn refused(kernel: impl Kernel<f64> + std::fmt::Debug + Clone + PartialEq) -> Error {
        Plan::new(&X, kernel, Regularizer::l2(0.1)).unwrap_err()
    }
    for bad in [0.0, -0.15, f64::NAN, f64::INFINITY] {
        assert!(matches!(refused(Gaussian::new(bad)), Error::NotPositive { what: "sigma", .. }));
        assert!(matches!(refused(Laplacian::new(bad)), Error::NotPositive { what: "sigma", .. }));
        assert!(matches!(refused(Matern32::new(bad)), Error::NotPositive { what: "length", .. }));
        assert!(matches!(refused(Matern52::new(bad)), Error::NotPositive { what: "length", .. }));
        for kernel in [RationalQuadratic::new(bad, 1.0), RationalQuadratic::new(1.0, bad)] {
            assert!(matches!(refused(kernel), Error::NotPositive { .. }));
        }
        assert!(matches!(refused(Polynomial::new(bad, 1.0, 2)), Error::NotPositive { .. }));
        assert!(matches!(refused(Gaussian::new(1.0).scaled(bad)), Error::NotPositive { .. }));
    }
    says(refused(Gaussian::new(-0.15)), &["sigma is -0.15", "positive"]);
    says(refused(Polynomial::new(1.0, -1.0, 2)), &["offset is -1"]);
    // Found inside of compositions, too.
    let composed = Gaussian::new(1.0).plus(Laplacian::new(0.0)).times(Gaussian::new(2.0));
    says(refused(composed), &["sigma is 0"]);
}

#[test]
fn a_kernel_that_is_not_positive_definite() {
    // Distance itself: zero on the diagonal, positive beside it.
    let distance = |a: &[f64], b: &[f64]| (a[0] - b[0]).abs();
    let error = Plan::new(&X, distance, Regularizer::rkhs(0.1)).err().unwrap();
    assert!(matches!(error, Error::NotPositiveDefinite { pivot: 1, .. }));
    says(error, &["pivot 1", "raise lambda", "kernel"]);
    // The l2 penalty makes no such demand on it.
    Plan::new(&X, distance, Regularizer::l2(0.1)).unwrap();
    // One that gives no number at all.
    let broken = |_: &[f64], _: &[f64]| f64::NAN;
    for regularizer in [Regularizer::l2(0.1), Regularizer::rkhs(0.1)] {
        let error = Plan::new(&X, broken, regularizer).err().unwrap();
        assert!(matches!(error, Error::Kernel { row: 0, column: 0, value } if value.is_nan()));
        says(error, &["points 0 and 0", "NaN"]);
    }
}

#[test]
fn regularizers() {
    let refused = |regularizer: Regularizer<'_, f64>| {
        Plan::new(&X, Gaussian::new(0.5), regularizer).unwrap_err()
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for regularizer in [Regularizer::l2(bad), Regularizer::rkhs(bad)] {
            assert!(matches!(refused(regularizer), Error::NotPositive { what: "lambda", .. }));
        }
        let weights = [1.0, bad, 1.0, 1.0];
        let error = refused(Regularizer::l2(1.0).with_weights(&weights));
        assert!(matches!(error, Error::NotPositive { what: "weight", .. }));
        let identity: Vec<f64> = (0..16).map(|e| f64::from(u8::from(e % 5 == 0))).collect();
        let error = refused(Regularizer::tikhonov(&identity, bad));
        assert!(matches!(error, Error::NotPositive { .. }));
    }
    says(refused(Regularizer::l2(-2.0)), &["lambda is -2"]);
    let error = refused(Regularizer::l2(1.0).with_weights(&[1.0; 3]));
    assert_eq!(error, Error::Length { what: "weights", expected: 4, found: 3 });
    let error = refused(Regularizer::rkhs(1.0).with_weights(&[1.0; 4]));
    assert_eq!(error, Error::WeightsNeedL2);
    let error = refused(Regularizer::tikhonov(&[1.0; 15], 1.0));
    assert_eq!(error, Error::Length { what: "Tikhonov matrix", expected: 16, found: 15 });
    let error = refused(Regularizer::tikhonov(&[f64::NAN; 16], 1.0));
    assert!(matches!(error, Error::NotFinite { index: 0, .. }));
    // Differences alone leave the constants free: not positive definite.
    let singular =
        [1.0, -1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0];
    let error = refused(Regularizer::tikhonov(&singular, 1.0));
    assert!(matches!(error, Error::NotPositiveDefinite { pivot: 3, .. }));
}

#[test]
fn data() {
    let plan = plan();
    let error = plan.fit(&Y[..3], Stop::automatic()).unwrap_err();
    assert_eq!(error, Error::Length { what: "y", expected: 4, found: 3 });
    for bad in [f64::NAN, f64::INFINITY] {
        let mut y = Y;
        y[2] = bad;
        says(plan.fit(&y, Stop::automatic()).unwrap_err(), &["y at index 2"]);
        says(plan.fit_support(&y, &[2]).unwrap_err(), &["y at index 2"]);
    }
    // Finite, but too large to be added up.
    let huge = Plan::new(&X, Gaussian::new(5.0), Regularizer::l2(0.1)).unwrap();
    let error = huge.fit(&[f64::MAX, -f64::MAX, f64::MAX, -f64::MAX], Stop::automatic());
    says(error.unwrap_err(), &["residual overflows", "scale the data down"]);
    // Too large to be squared only.
    let fit = plan.fit(&[1e300, -1e300, 1e300, 1e300], Stop::residual_norm(1.0)).unwrap();
    assert!(fit.residual_norm().is_finite());
}

#[test]
fn stopping_rules() {
    let plan = plan();
    for bad in [-1.0, f64::NAN] {
        for stop in [
            Stop::residual_norm(bad),
            Stop::max_residual(bad),
            Stop::histogram(bad, kgard::regression::stop::Reading::Once),
        ] {
            assert!(matches!(plan.fit(&Y, stop), Err(Error::Negative { .. })), "{stop:?}");
        }
    }
    says(plan.fit(&Y, Stop::max_residual(-1.0)).unwrap_err(), &["epsilon is -1"]);
}

#[test]
fn supports() {
    let plan = plan();
    let error = plan.fit_support(&Y, &[1, 4]).unwrap_err();
    assert_eq!(error, Error::Index { index: 4, len: 4 });
    let error = plan.fit_support(&Y, &[1, 2, 1]).unwrap_err();
    assert_eq!(error, Error::Duplicate { index: 1 });
    // With all points taken out nothing determines a free bias.
    let free = Plan::new(&X, Gaussian::new(0.5), Regularizer::rkhs(0.1)).unwrap();
    let error = free.fit_support(&Y, &[0, 1, 2, 3]).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { pivot: 3, .. }));
}

#[test]
fn predictions() {
    let fit = plan().fit(&Y, Stop::automatic()).unwrap();
    assert_eq!(fit.predict(&[0.1, 0.2]), Err(Error::Dimension { expected: 1, found: 2 }));
    says(fit.predict(&[f64::NAN]).unwrap_err(), &["NaN"]);
    let plane = Points::new(&[0.0, 1.0], 2).unwrap();
    assert_eq!(fit.predict_many(plane), Err(Error::Dimension { expected: 1, found: 2 }));
    assert!(kgard::predict(&X, &Gaussian::new(0.5), &[1.0; 3], 0.0, &[0.0]).is_err());
}

#[test]
fn buffers() {
    let kernel = Gaussian::new(0.5);
    let short = |memory: usize, scratch: usize, regularizer| {
        let (mut memory, mut scratch) = (vec![0.0; memory], vec![0.0; scratch]);
        PlanRef::new(&X, &kernel, regularizer, &mut memory, &mut scratch).unwrap_err()
    };
    let (l2, rkhs, scratch) =
        (PlanRef::<f64>::l2_len(4), PlanRef::<f64>::rkhs_len(4), PlanRef::<f64>::scratch_len(4));
    assert_eq!(
        short(l2 - 1, scratch, Regularizer::l2(0.1)),
        Error::TooShort { what: "memory", needed: l2, found: l2 - 1 }
    );
    assert_eq!(
        short(rkhs - 1, scratch, Regularizer::rkhs(0.1)),
        Error::TooShort { what: "memory", needed: rkhs, found: rkhs - 1 }
    );
    assert_eq!(
        short(l2, scratch - 1, Regularizer::l2(0.1)),
        Error::TooShort { what: "scratch", needed: scratch, found: scratch - 1 }
    );
    let needed = Workspace::<f64>::len(4, 2);
    let mut scalars = vec![0.0; needed - 1];
    assert_eq!(
        Workspace::new(4, &mut scalars, &mut [0; 2]).unwrap_err(),
        Error::TooShort { what: "workspace", needed, found: needed - 1 }
    );
    // A workspace for another number of points.
    let plan = plan();
    let mut scalars = vec![0.0; Workspace::<f64>::len(5, 2)];
    let mut indices = [0; 2];
    let work = Workspace::new(5, &mut scalars, &mut indices).unwrap();
    assert!(matches!(plan.as_ref().fit(&Y, Stop::automatic(), work), Err(Error::Length { .. })));
    // A support longer than the workspace.
    let mut scalars = vec![0.0; Workspace::<f64>::len(4, 1)];
    let mut indices = [0; 1];
    let work = Workspace::new(4, &mut scalars, &mut indices).unwrap();
    assert_eq!(
        plan.as_ref().fit_support(&Y, &[0, 1], work).unwrap_err(),
        Error::TooShort { what: "workspace", needed: 2, found: 1 }
    );
    assert!(matches!(PlanRef::mapped(4, &[0.0; 15], &[0.0; 16], 0.0), Err(Error::Length { .. })));
    assert!(matches!(PlanRef::mapped(4, &[0.0; 16], &[0.0; 15], 0.0), Err(Error::Length { .. })));
    assert!(matches!(PlanRef::scaled(4, &[0.0; 16], &[0.0; 3], 1.0), Err(Error::Length { .. })));
    let mut fitted = [0.0; 3];
    let mut scalars = vec![0.0; Workspace::<f64>::len(4, 1)];
    let mut indices = [0; 1];
    let work = Workspace::new(4, &mut scalars, &mut indices).unwrap();
    let fit = plan.as_ref().fit(&Y, Stop::automatic(), work).unwrap();
    assert!(fit.fitted(&mut fitted).is_err() && fit.coefficients(&mut fitted).is_err());
}

#[test]
fn linear_algebra() {
    let mut a = [1.0; 9];
    assert!(cholesky::factor(&mut a, 2, &mut [0.0; 64]).is_err());
    assert!(cholesky::factor(&mut a, 3, &mut []).is_err());
    assert!(cholesky::invert(&mut a, 2, &mut [0.0; 64]).is_err());
    assert!(cholesky::invert(&mut a, 3, &mut []).is_err());
    assert!(cholesky::solve(&a, &mut [1.0; 2]).is_err());
    assert!(cholesky::solve_lower(&a, &mut [1.0; 2]).is_err());
    assert!(cholesky::solve_upper(&a, &mut [1.0; 4]).is_err());
    assert!(cholesky::solve_unit(&a, 0, &mut [1.0; 2]).is_err());
    assert_eq!(cholesky::solve_unit(&a, 3, &mut [1.0; 3]), Err(Error::Index { index: 3, len: 3 }));
    assert!(multiply(&a, &[1.0; 3], &mut [0.0; 2]).is_err());
    assert!(self_product(&a, 2, &mut [0.0; 4], &mut [0.0; 64]).is_err());
    assert!(self_product(&a, 3, &mut [0.0; 4], &mut [0.0; 64]).is_err());
    assert!(self_product(&a, 3, &mut [0.0; 9], &mut []).is_err());
    self_product(&[], 0, &mut [0.0; 0], &mut []).unwrap();
    assert!(eigen::symmetric(&mut a, 3, &mut [0.0; 2], &mut [0.0; 9]).is_err());
    assert!(eigen::symmetric(&mut a, 3, &mut [0.0; 3], &mut [0.0; 8]).is_err());
    eigen::symmetric::<f64>(&mut [], 0, &mut [], &mut []).unwrap();
    cholesky::factor::<f64>(&mut [], 0, &mut []).unwrap();
    // A size whose square cannot be counted.
    let error = cholesky::factor(&mut a, usize::MAX, &mut [0.0; 9]).unwrap_err();
    assert_eq!(error, Error::TooLarge { scalars: usize::MAX });
    let kernel = Gaussian::new(1.0);
    assert!(gram(&X, &kernel, &mut [0.0; 15]).is_err());
    assert!(cross_gram(&X, &[0.0, 1.0], &kernel, &mut [0.0; 7]).is_err());
    let plane = Points::new(&X, 2).unwrap();
    assert!(matches!(cross_gram(&X, plane, &kernel, &mut [0.0; 8]), Err(Error::Dimension { .. })));
}

#[test]
fn lengths_that_overflow_saturate() {
    assert_eq!(System::<f64>::l2_len(usize::MAX), usize::MAX);
    assert_eq!(System::<f64>::rkhs_len(usize::MAX), usize::MAX);
    assert_eq!(PlanRef::<f64>::tikhonov_scratch_len(usize::MAX), usize::MAX);
    assert_eq!(Workspace::<f64>::len(usize::MAX, usize::MAX), usize::MAX);
    assert_eq!(cholesky::invert_scratch_len::<f64>(usize::MAX), usize::MAX);
    let _ = cholesky::factor_scratch_len::<f64>(usize::MAX);
    let _ = eigen::symmetric_scratch_len(usize::MAX);
}

/// A machine can hold this many points but not their matrix.
#[test]
fn no_memory_is_an_error() {
    let x = vec![0.0_f32; 3_000_000];
    let error = Plan::new(&x, Gaussian::new(1.0), Regularizer::l2(1.0)).unwrap_err();
    assert!(matches!(error, Error::TooLarge { scalars: 18_000_000_000_000 }), "{error:?}");
    says(error, &["no memory", "fewer points"]);
}

#[test]
fn errors_are_errors() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>(_: E) {}
    is_error(Error::WeightsNeedL2);
}

/// A lambda next to nothing: either what is predicted is what was fitted, or
/// the error says that lambda has to be raised.
fn tiny_lambda<T: kgard::Real>(fine: i32) {
    let real = |x: f64| T::from(x).unwrap();
    for n in [1_usize, 2, 20, 60] {
        let x: Vec<T> = (0..n).map(|i| real(6.0 * i as f64 / n as f64)).collect();
        let noise = |i: usize| 0.01 * ((i * 7919 % 13) as f64 / 6.0 - 1.0);
        let y: Vec<T> = (0..n).map(|i| x[i].sin() + real(noise(i))).collect();
        let weights: Vec<T> = (0..n).map(|i| real(1.0 + (i % 3) as f64)).collect();
        let mut refused = 0;
        for exponent in 0..35 {
            let lambda = real(10.0).powi(-exponent);
            let mut psi = vec![T::zero(); n * n];
            (0..n).for_each(|i| psi[i * n + i] = lambda.sqrt() * real(1.0 + (i % 2) as f64));
            for i in 1..n {
                psi[i * n + i - 1] = lambda.sqrt() / real(2.0);
            }
            for regularizer in [
                Regularizer::l2(lambda),
                Regularizer::l2(lambda).without_bias(),
                Regularizer::l2(lambda).with_weights(&weights),
                Regularizer::rkhs(lambda),
                Regularizer::rkhs(lambda).without_bias(),
                Regularizer::tikhonov(&psi, lambda),
            ] {
                let fits = [
                    Plan::new(&x, Gaussian::new(T::one()), regularizer).and_then(|p| p.ridge(&y)),
                    kgard::fit(&x, &y, Gaussian::new(T::one()), regularizer, Stop::count(0)),
                ];
                for fit in fits {
                    let fit = match fit {
                        Ok(fit) => fit,
                        Err(Error::NotPositiveDefinite { .. }) => {
                            assert!(exponent > fine, "1e-{exponent}, {regularizer:?}");
                            refused += 1;
                            continue;
                        }
                        Err(error) => panic!("{error}: 1e-{exponent}, {regularizer:?}"),
                    };
                    let size = fit.residual().iter().fold(T::zero(), |m, r| m.max(r.abs()));
                    for (x, &fitted) in x.iter().zip(fit.fitted()) {
                        let error = (fit.predict(&[*x]).unwrap() - fitted).abs();
                        let bound = real(0.05) + size;
                        assert!(error <= bound, "n {n}, 1e-{exponent}, {regularizer:?}: {error:?}");
                    }
                }
            }
        }
        assert!(refused > 0 || n < 20);
    }
}

#[test]
fn a_tiny_lambda_is_no_silent_garbage() {
    tiny_lambda::<f64>(8);
    tiny_lambda::<f32>(1);
}

/// Finite data and parameters, however large or small: finite results or an
/// error that names what has become too large.
#[test]
fn no_infinity_out_of_finite_numbers() {
    let x: Vec<f64> = (0..30).map(|i| i as f64 / 30.0).collect();
    for exponent in [-300, -150, -20, 0, 20, 150, 300, 308] {
        let y: Vec<f64> = x.iter().map(|x| (5.0 * x).sin() * 10f64.powi(exponent)).collect();
        for lambda in [1e-9, 1e-3, 1.0, 1e9, 1e300] {
            for regularizer in [Regularizer::l2(lambda), Regularizer::rkhs(lambda)] {
                let Ok(plan) = Plan::new(&x, Gaussian::new(0.3), regularizer) else { continue };
                for stop in [Stop::automatic(), Stop::count(0), Stop::count(3)] {
                    let fit = match plan.fit(&y, stop) {
                        Ok(fit) => fit,
                        Err(Error::Overflow { .. }) => continue,
                        Err(error) => panic!("{error}: 1e{exponent}, {lambda}"),
                    };
                    let numbers = fit.coefficients().iter().chain(fit.residual());
                    assert!(numbers.chain(fit.fitted()).all(|x| x.is_finite()));
                    assert!(fit.bias().is_finite());
                    match fit.predict(&[0.35]) {
                        Ok(f) => assert!(f.is_finite()),
                        Err(error) => assert!(matches!(error, Error::Overflow { .. }), "{error}"),
                    }
                }
            }
        }
    }
    // A prediction far away from the data.
    let plan = Plan::new(&x, Polynomial::new(1.0, 1.0, 3), Regularizer::l2(0.1)).unwrap();
    let y: Vec<f64> = x.iter().map(|x| (5.0 * x).sin()).collect();
    let fit = plan.ridge(&y).unwrap();
    assert!(matches!(fit.predict(&[1e200]), Err(Error::Overflow { .. })));
    assert!(matches!(fit.predict_many(&[0.5, 1e200]), Err(Error::Overflow { .. })));
    let fit = kgard::fit(&x, &y, Matern32::new(0.3), Regularizer::l2(0.1), Stop::count(0)).unwrap();
    assert_eq!(fit.predict(&[1e200]), Ok(fit.bias()));
    let fit = kgard::fit(&x, &y, Matern52::new(0.3), Regularizer::l2(0.1), Stop::count(0)).unwrap();
    assert_eq!(fit.predict(&[1e200]), Ok(fit.bias()));
}

/// All points taken out: nothing is left to be looked at, and nothing panics.
#[test]
fn a_second_look_at_nothing() {
    let x: Vec<f64> = (0..12).map(|i| i as f64).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    let all: Vec<usize> = (0..12).collect();
    for regularizer in [Regularizer::l2(0.1), Regularizer::rkhs(0.1).without_bias()] {
        let plan = Plan::new(&x, Gaussian::new(2.0), regularizer).unwrap();
        for k in 0..=12 {
            let found = kgard::tune::second_look(&plan.as_ref(), &y, &all[..k]).unwrap();
            assert!(found.iter().all(|index| all.contains(index)));
        }
    }
    let plan = Plan::new(&x, Gaussian::new(2.0), Regularizer::rkhs(0.1)).unwrap();
    let error = kgard::tune::second_look(&plan.as_ref(), &y, &all).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { .. }));
}

/// Extreme data and options come to an end.
#[test]
fn the_rb_rvm_ends() {
    let x: Vec<f64> = (0..30).map(|i| i as f64 / 30.0).collect();
    for scale in [1e-300, 1e-30, 1.0, 1e30, 1e300] {
        for limit in [0, 1, 17] {
            let y: Vec<f64> =
                x.iter().enumerate().map(|(i, x)| scale * (x + (i % 7) as f64)).collect();
            let method = kgard::baselines::RbRvm::new().max_iterations(limit).tolerance(0.0);
            match method.fit(&x, &y, Gaussian::new(0.2)) {
                // The last step may be two tries of the noise.
                Ok(fit) => assert!(fit.iterations() <= limit + 2),
                Err(error) => assert!(matches!(error, Error::Overflow { .. }), "{error}"),
            }
        }
    }
}

/// There is no memory for so many points.
#[test]
fn a_singular_value_of_too_many_points() {
    let x = vec![0.5; 1 << 24];
    let error = kgard::theory::sigma_max(&x, &Gaussian::new(1.0)).unwrap_err();
    assert_eq!(error, Error::TooLarge { scalars: 1 << 48 });
    let large: f64 = kgard::theory::sigma_max(&[1e100, 2e100], &kgard::Linear).unwrap();
    assert!((large / 5e200 - 1.0).abs() < 1e-12);
    let small: f64 = kgard::theory::sigma_max(&[3.0, 4.0], &kgard::Linear).unwrap();
    // K K^T + 1 1^T for K = [9 12; 12 16].
    let expected = 627.0_f64.mul_add(0.5, (313.5_f64 * 313.5 - 25.0).sqrt());
    assert!((small * small - expected).abs() < 1e-9 * expected, "{small} {expected}");
}
