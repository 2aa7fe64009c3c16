//! Theorem 1: its quantities against their definitions, and its promise.
use crate::common;

use common::problem::Random;
use kgard::theory::{identification, sigma_max};
use kgard::{Error, Gaussian, Plan, Regularizer, Stop};
use proptest::prelude::*;

fn grid(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 / (n - 1) as f64).collect()
}

#[test]
fn sigma_max_equals_faers_singular_value() {
    for (n, sigma) in [(2, 0.3), (30, 0.1), (77, 0.05)] {
        let x = grid(n);
        let design = faer::Mat::from_fn(n, n + 1, |i, j| {
            if j == n { 1.0 } else { (-(x[i] - x[j]).powi(2) / (sigma * sigma)).exp() }
        });
        let theirs = design.singular_values().unwrap()[0];
        let ours = sigma_max(&x, &Gaussian::new(sigma)).unwrap();
        assert!((ours / theirs - 1.0).abs() < 1e-12);
    }
}

#[test]
fn quantities() {
    let found = identification(5.0, &[3.0, 4.0], &[0.0, 40.0, -30.0], 2.0).unwrap();
    // sqrt(2 lambda) |theta| = 10, |u| = 50, min |u| = 30.
    let gamma = (20.0_f64 / 80.0).sqrt();
    assert_eq!(found.gamma, Some(gamma));
    assert!((found.bound - gamma * 2.0_f64.sqrt()).abs() < 1e-12);
    assert!((found.lambda_limit - 18.0).abs() < 1e-12);
    assert!(!found.holds);
    assert!(identification(0.5, &[3.0, 4.0], &[0.0, 40.0, -30.0], 2.0).unwrap().holds);
    // Beyond the limit there is no gamma, and nothing is promised.
    let beyond = identification(0.1, &[3.0, 4.0], &[30.0], 18.1).unwrap();
    assert_eq!((beyond.gamma, beyond.bound, beyond.holds), (None, 0.0, false));
    assert_eq!(identification(1.0, &[0.0], &[30.0], 1.0).unwrap().lambda_limit, f64::INFINITY);
}

#[test]
fn bad_input() {
    assert!(matches!(identification(1.0, &[1.0], &[1.0], 0.0), Err(Error::NotPositive { .. })));
    assert!(matches!(identification(-1.0, &[1.0], &[1.0], 1.0), Err(Error::Negative { .. })));
    assert!(matches!(identification(1.0, &[1.0], &[0.0], 1.0), Err(Error::Empty { .. })));
    assert!(matches!(identification(1.0, &[f64::NAN], &[1.0], 1.0), Err(Error::NotFinite { .. })));
    assert!(sigma_max(&[0.0, f64::NAN], &Gaussian::new(1.0)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Wherever the condition holds, the outliers are selected first.
    #[test]
    fn the_promise_is_kept(
        n in 10usize..60,
        outliers in 1usize..6,
        size in 10.0..1e4f64,
        position in 0.05..0.95f64,
        seed in any::<u64>(),
    ) {
        let mut random = Random(seed);
        let x = grid(n);
        let kernel = Gaussian::new(0.1);
        let mut k = vec![0.0; n * n];
        kgard::kernel::gram(&x, &kernel, &mut k).unwrap();
        let theta: Vec<f64> =
            (0..=n).map(|_| if random.uniform() < 0.1 { 0.5 * random.normal() } else { 0.0 }).collect();
        let mut u = vec![0.0; n];
        for _ in 0..outliers {
            u[random.below(n)] = size * if random.uniform() < 0.5 { -1.0 } else { 1.0 };
        }
        let y: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| k[i * n + j] * theta[j]).sum::<f64>() + theta[n] + u[i])
            .collect();
        let sigma = sigma_max(&x, &kernel).unwrap();
        let limit = identification(sigma, &theta, &u, 1.0).unwrap().lambda_limit.min(1e8);
        let lambda = limit * position;
        let certain = identification(sigma, &theta, &u, lambda).unwrap();
        prop_assume!(certain.holds);
        let count = u.iter().filter(|u| **u != 0.0).count();
        let plan = Plan::new(&x, kernel, Regularizer::l2(lambda)).unwrap();
        let fit = plan.fit(&y, Stop::count(count)).unwrap();
        prop_assert!(fit.outliers().iter().all(|o| u[o.index] != 0.0));
    }
}
