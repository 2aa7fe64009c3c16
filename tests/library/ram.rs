//! RAM: the conditions of its minimum, an independent solver, its stages.
use crate::common;

use common::problem::Problem;
use kgard::baselines::Ram;
use kgard::{Error, Gaussian, Plan, Regularizer, StopReason};
use proptest::prelude::*;

fn o_of<K>(fit: &kgard::Fit<f64, K>) -> Vec<f64> {
    let mut o = vec![0.0; fit.fitted().len()];
    fit.outliers().iter().for_each(|outlier| o[outlier.index] = outlier.value);
    o
}

/// The l1 stage is a convex problem: these conditions are its solution.
fn check_minimum(problem: &Problem, regularizer: Regularizer<'_, f64>, mu: f64) {
    let plan = Plan::new(problem.points(), Gaussian::new(0.2), regularizer).unwrap();
    let fit = Ram::new(mu).reweightings(0).fit(&plan, &problem.y).unwrap();
    assert_eq!(fit.stop_reason(), StopReason::Tolerance);
    let o = o_of(&fit);
    // The residual is computed anew, from what the fit says.
    for i in 0..problem.n() {
        let f = fit.predict(&problem.x[i * problem.dim..][..problem.dim]).unwrap();
        let r = problem.y[i] - o[i] - f;
        if o[i] == 0.0 {
            assert!(r.abs() <= mu / 2.0 + 1e-6);
        } else {
            assert!((r - mu / 2.0 * o[i].signum()).abs() < 1e-6);
        }
    }
}

/// The paper's alternating minimisation, literally: a ridge fit to y - o, then
/// a soft threshold of what is left.
fn literal(plan: &Plan<f64, Gaussian<f64>>, y: &[f64], thresholds: &[f64], o: &mut [f64]) {
    for _ in 0..20_000 {
        let v: Vec<f64> = y.iter().zip(&*o).map(|(y, o)| y - o).collect();
        let fit = plan.ridge(&v).unwrap();
        for i in 0..y.len() {
            let left = y[i] - fit.fitted()[i];
            o[i] = left.signum() * (left.abs() - thresholds[i]).max(0.0);
        }
    }
}

#[test]
fn equals_the_alternating_minimisation() {
    let problem = Problem::new(40, 1, 4, 0.2, 8);
    let mu = 0.8;
    for regularizer in [Regularizer::l2(0.2), Regularizer::rkhs(0.1)] {
        let plan = Plan::new(&problem.x, Gaussian::new(0.2), regularizer).unwrap();
        let mut o = vec![0.0; 40];
        let mut thresholds = vec![mu / 2.0; 40];
        literal(&plan, &problem.y, &thresholds, &mut o);
        let first = o_of(&Ram::new(mu).reweightings(0).fit(&plan, &problem.y).unwrap());
        for (a, b) in o.iter().zip(&first) {
            assert!((a - b).abs() < 1e-6);
        }
        for (t, o) in thresholds.iter_mut().zip(&o) {
            *t = mu / 2.0 / (o.abs() + 1e-5);
        }
        literal(&plan, &problem.y, &thresholds, &mut o);
        let refined = o_of(&Ram::new(mu).fit(&plan, &problem.y).unwrap());
        for (a, b) in o.iter().zip(&refined) {
            assert!((a - b).abs() < 1e-6);
        }
    }
}

#[test]
fn finds_the_outliers() {
    let problem = Problem::table1(20, 9);
    let plan = Plan::new(&problem.x, Gaussian::new(0.15), Regularizer::rkhs(0.07)).unwrap();
    let fit = Ram::new(2.5).fit(&plan, &problem.y).unwrap();
    let mut wrong = problem.wrong.clone();
    wrong.sort_unstable();
    let mut found: Vec<usize> = fit.outliers().iter().take(20).map(|o| o.index).collect();
    found.sort_unstable();
    assert_eq!(found, wrong);
    assert!(fit.outliers().windows(2).all(|pair| pair[0].value.abs() >= pair[1].value.abs()));
    // A huge mu finds none, and is plain ridge regression.
    let none = Ram::new(1e6).fit(&plan, &problem.y).unwrap();
    assert!(none.outliers().is_empty());
    assert_eq!(none.coefficients(), plan.ridge(&problem.y).unwrap().coefficients());
}

#[test]
fn limits_and_bad_input() {
    let problem = Problem::table1(20, 9);
    let plan = Plan::new(&problem.x, Gaussian::new(0.15), Regularizer::rkhs(0.07)).unwrap();
    let fit = Ram::new(2.5).max_sweeps(1).fit(&plan, &problem.y).unwrap();
    assert_eq!(fit.stop_reason(), StopReason::IterationLimit);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        for ram in [Ram::new(bad), Ram::new(1.0).delta(bad), Ram::new(1.0).tolerance(bad)] {
            assert!(matches!(ram.fit(&plan, &problem.y), Err(Error::NotPositive { .. })));
        }
    }
    assert!(matches!(Ram::new(1.0).fit(&plan, &[0.0; 3]), Err(Error::Length { .. })));
    assert!(matches!(Ram::new(1.0).fit(&plan, &[f64::NAN; 199]), Err(Error::NotFinite { .. })));
}

#[test]
fn single_precision() {
    let problem = Problem::table1(20, 9);
    let x: Vec<f32> = problem.x.iter().map(|&x| x as f32).collect();
    let y: Vec<f32> = problem.y.iter().map(|&y| y as f32).collect();
    let plan = Plan::new(&x, Gaussian::new(0.15_f32), Regularizer::rkhs(0.07)).unwrap();
    let fit = Ram::new(2.5).fit(&plan, &y).unwrap();
    assert_eq!(fit.stop_reason(), StopReason::Tolerance);
    let wide = Plan::new(&problem.x, Gaussian::new(0.15), Regularizer::rkhs(0.07)).unwrap();
    let reference = Ram::new(2.5).fit(&wide, &problem.y).unwrap();
    for (a, b) in fit.fitted().iter().zip(reference.fitted()) {
        assert!((f64::from(*a) - b).abs() < 1e-2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_minimum_is_reached(
        n in 2usize..60,
        dim in 1usize..3,
        lambda in 0.02..2.0f64,
        mu in 0.05..4.0f64,
        seed in any::<u64>(),
    ) {
        let problem = Problem::new(n, dim, n / 6, 0.2, seed);
        check_minimum(&problem, Regularizer::l2(lambda), mu);
        check_minimum(&problem, Regularizer::rkhs(lambda), mu);
    }
}
