//! Tuning from the data alone.
use crate::common;

use common::problem::{Problem, Random};
use kgard::tune::{self, Penalty, SUBSET, Tuner};
use kgard::{Error, Gaussian, Matern32, Plan, Regularizer, StopReason};

fn missed<K>(fit: &kgard::Fit<f64, K>, problem: &Problem) -> usize {
    problem.wrong.iter().filter(|&&j| !fit.outliers().iter().any(|o| o.index == j)).count()
}

/// Leave-one-out, literally: the point is removed and the rest fitted anew.
/// The RKHS penalty, whose bias is free, for which the identity holds as well.
#[test]
fn residual_over_diagonal_is_leave_one_out() {
    let problem = Problem::new(25, 1, 0, 0.2, 4);
    let regularizer = Regularizer::rkhs(0.1);
    let plan = Plan::new(&problem.x, Gaussian::new(0.3), regularizer).unwrap();
    let ridge = plan.ridge(&problem.y).unwrap();
    for i in 0..25 {
        let without = |v: &[f64]| -> Vec<f64> {
            v.iter().enumerate().filter(|&(j, _)| j != i).map(|(_, &v)| v).collect()
        };
        let (x, y) = (without(&problem.x), without(&problem.y));
        let rest = Plan::new(&x, Gaussian::new(0.3), regularizer).unwrap().ridge(&y).unwrap();
        let error = problem.y[i] - rest.predict(&[problem.x[i]]).unwrap();
        let short = ridge.residual()[i] / plan.as_ref().residual_maker()[i * 25 + i];
        assert!((error - short).abs() < 1e-10);
    }
}

#[test]
fn finds_outliers_and_function_with_no_numbers() {
    for penalty in [Penalty::L2, Penalty::Rkhs] {
        for (dim, n) in [(1, 120), (2, 196)] {
            let problem = Problem::new(n, dim, n / 12, 0.1, 3);
            let tuner = Tuner::new(problem.points(), Gaussian::new, penalty).unwrap();
            let tuned = tuner.tune(&problem.y).unwrap();
            let fit = tuner.fit_tuned(&problem.y, &tuned).unwrap();
            assert_eq!(fit.stop_reason(), StopReason::Automatic);
            assert_eq!(missed(&fit, &problem), 0);
            assert!(fit.outliers().len() <= n / 12 + 4);
            assert!((tuned.noise / 0.1 - 1.0).abs() < 0.3, "{penalty:?}: noise {}", tuned.noise);
            assert!(tuned.search_lambda >= tuned.lambda);
            let truth = |p: &[f64]| p.iter().map(|v| (5.0 * v).sin()).sum::<f64>();
            let mse =
                problem.points().iter().zip(fit.fitted()).map(|(p, f)| (truth(p) - f).powi(2));
            let mse = mse.sum::<f64>() / n as f64;
            assert!(mse < 0.1 * 0.1 * 0.5, "{penalty:?}, {dim}-D: {mse}");
        }
    }
}

#[test]
fn many_points_are_judged_on_some() {
    let problem = Problem::new(1000, 1, 40, 0.1, 3);
    let tuner = Tuner::new(&problem.x, Gaussian::new, Penalty::L2).unwrap();
    let tuned = tuner.tune(&problem.y).unwrap();
    assert!(tuned.outliers.len() < SUBSET / 2);
    let fit = tuner.fit_tuned(&problem.y, &tuned).unwrap();
    assert_eq!(missed(&fit, &problem), 0);
    assert!(fit.outliers().len() < 50, "{}", fit.outliers().len());
    // The lambda fits the number of points: as good as one tuned on few.
    let mse = problem.x.iter().zip(fit.fitted()).map(|(x, f)| ((5.0 * x).sin() - f).powi(2));
    assert!(mse.sum::<f64>() / 1000.0 < 3e-4);
}

#[test]
fn what_is_given_is_kept() {
    let problem = Problem::new(100, 1, 8, 0.1, 3);
    let widths = Tuner::with_grid(&problem.x, Gaussian::new, Penalty::L2, Some(&[0.25]), None);
    let tuned = widths.unwrap().tune(&problem.y).unwrap();
    assert!((tuned.width - 0.25).abs() < 1e-12);
    let both =
        Tuner::with_grid(&problem.x, Gaussian::new, Penalty::L2, Some(&[0.25]), Some(&[0.125]));
    let tuned = both.unwrap().tune(&problem.y).unwrap();
    assert!((tuned.width - 0.25).abs() < 1e-12 && (tuned.lambda - 0.125).abs() < 1e-12);
}

#[test]
fn other_kernels_and_single_precision() {
    let problem = Problem::new(100, 1, 8, 0.1, 3);
    let fit =
        Tuner::new(&problem.x, Matern32::new, Penalty::Rkhs).unwrap().fit(&problem.y).unwrap();
    assert_eq!(missed(&fit, &problem), 0);
    let x: Vec<f32> = problem.x.iter().map(|&x| x as f32).collect();
    let y: Vec<f32> = problem.y.iter().map(|&y| y as f32).collect();
    let fit = Tuner::new(&x, Gaussian::new, Penalty::L2).unwrap().fit(&y).unwrap();
    for j in &problem.wrong {
        assert!(fit.outliers().iter().any(|o| o.index == *j));
    }
}

#[test]
fn awkward_data() {
    // Too few points, all the same, no noise, constant, duplicates.
    let tune = |x: &[f64], y: &[f64]| Tuner::new(x, Gaussian::new, Penalty::L2)?.fit(y);
    assert!(matches!(tune(&[0.0; 5], &[0.0; 5]), Err(Error::TooShort { needed: 8, .. })));
    assert!(matches!(tune(&[1.0; 20], &[0.0; 20]), Err(Error::NotPositive { .. })));
    let x: Vec<f64> = (0..40).map(|i| i as f64 / 40.0).collect();
    assert!(matches!(tune(&x, &[0.0; 3]), Err(Error::Length { .. })));
    assert!(matches!(tune(&x, &[f64::NAN; 40]), Err(Error::NotFinite { .. })));
    let flat = tune(&x, &[2.5; 40]).unwrap();
    assert!(flat.fitted().iter().all(|f| (f - 2.5).abs() < 0.1));
    let zero = tune(&x, &[0.0; 40]).unwrap();
    assert!(zero.outliers().is_empty());
    let mut clean: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
    clean[20] += 3.0;
    assert!(tune(&x, &clean).unwrap().outliers().iter().any(|o| o.index == 20));
    let mut random = Random(3);
    let double: Vec<f64> = (0..60).map(|i| (i / 2) as f64 / 30.0).collect();
    let noisy: Vec<f64> = double.iter().map(|x| (6.0 * x).sin() + 0.1 * random.normal()).collect();
    assert!(tune(&double, &noisy).unwrap().outliers().len() < 10);
}

/// Outliers of one sign side by side at the border, which the function could
/// follow; and the same in the corner of a lattice.
#[test]
fn clusters_at_the_border() {
    for (first, seed) in [(0, 1), (0, 2), (195, 3)] {
        let mut problem = Problem::table1(20, seed);
        for j in first..first + 4 {
            if !problem.wrong.contains(&j) {
                problem.y[j] += 15.0;
                problem.wrong.push(j);
            }
        }
        let tuner = Tuner::new(&problem.x, Gaussian::new, Penalty::L2).unwrap();
        let fit = tuner.fit(&problem.y).unwrap();
        assert_eq!(missed(&fit, &problem), 0, "seed {seed}");
        assert!(fit.outliers().len() < problem.wrong.len() + 5, "seed {seed}");
    }
    let mut random = Random(9);
    let x: Vec<f64> =
        (0..256).flat_map(|i| [(i / 16) as f64 / 15.0, (i % 16) as f64 / 15.0]).collect();
    let f = |p: &[f64]| 30.0 * (3.0 * p[0] + p[1]).sin();
    let mut y: Vec<f64> = x.chunks(2).map(|p| f(p) + 3.0 * random.normal()).collect();
    for j in [0, 1, 2, 90, 130, 200] {
        y[j] -= 40.0;
    }
    let points = kgard::Points::new(&x, 2).unwrap();
    let fit = Tuner::new(points, Gaussian::new, Penalty::L2).unwrap().fit(&y).unwrap();
    for j in [0, 1, 2, 90, 130, 200] {
        assert!(fit.outliers().iter().any(|o| o.index == j), "{j}");
    }
}

/// KGARD with fixed parameters is led astray; a second look is not.
#[test]
fn a_second_look_finds_what_was_hidden() {
    let mut problem = Problem::table1(0, 5);
    problem.wrong = (0..5).collect();
    for j in 0..5 {
        problem.y[j] += 15.0;
    }
    let plan = Plan::new(&problem.x, Gaussian::new(0.15), Regularizer::l2(0.2)).unwrap();
    let astray = [5, 6, 7, 8];
    let found = tune::second_look(&plan.as_ref(), &problem.y, &astray).unwrap();
    assert_eq!(found, problem.wrong);
    // Nothing to see: the support stays as it is.
    let again = tune::second_look(&plan.as_ref(), &problem.y, &found).unwrap();
    assert_eq!(again, found);
    assert!(tune::second_look(&plan.as_ref(), &problem.y, &[999]).is_err());
    assert!(tune::second_look(&plan.as_ref(), &problem.y[1..], &[]).is_err());
}
