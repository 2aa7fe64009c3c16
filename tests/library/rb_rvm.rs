//! RB-RVM against the formulas of its model, written down in full.

use crate::common;

use common::oracle::gauss;
use common::problem::{Problem, Random};
use kgard::baselines::rb_rvm::{RbRvm, RbRvmFit};
use kgard::{Error, Gaussian, Kernel, Laplacian, Points, Polynomial, StopReason};

/// The model of a fit in dense matrices: dictionary, covariance, posterior.
struct Dense {
    n: usize,
    /// `[K 1 I]`, column by column.
    phi: Vec<Vec<f64>>,
    gamma: Vec<f64>,
    noise: f64,
    y: Vec<f64>,
}

impl Dense {
    fn new<K: Kernel<f64>>(fit: &RbRvmFit<f64, K>, y: &[f64]) -> Self {
        let n = y.len();
        let points: Vec<&[f64]> = fit.points().iter().collect();
        let mut phi: Vec<Vec<f64>> = points
            .iter()
            .map(|a| points.iter().map(|b| fit.kernel().evaluate(a, b)).collect())
            .collect();
        phi.push(vec![1.0; n]);
        phi.extend((0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()));
        let y = y.iter().map(|y| y - fit.center()).collect();
        Self { n, phi, gamma: fit.prior_variances().to_vec(), noise: fit.noise_variance(), y }
    }

    /// `C = s^2 I + Phi Gamma Phi^T`.
    fn c(&self) -> Vec<f64> {
        let n = self.n;
        let mut c = vec![0.0; n * n];
        for i in 0..n {
            c[i * n + i] = self.noise;
            for j in 0..n {
                for (phi, gamma) in self.phi.iter().zip(&self.gamma) {
                    c[i * n + j] += gamma * phi[i] * phi[j];
                }
            }
        }
        c
    }

    fn log_likelihood(&self) -> f64 {
        let solved = gauss(self.c(), self.y.clone());
        let quadratic: f64 = self.y.iter().zip(&solved).map(|(a, b)| a * b).sum();
        let tau = std::f64::consts::TAU;
        -0.5 * (self.n as f64 * tau.ln() + log_det(self.c(), self.n) + quadratic)
    }

    fn active(&self) -> Vec<usize> {
        (0..self.gamma.len()).filter(|&m| self.gamma[m] > 0.0).collect()
    }

    /// `Sigma^-1 = Phi^T Phi / s^2 + Gamma^-1` of the columns in the model.
    fn inverse_covariance(&self) -> Vec<f64> {
        let active = self.active();
        let m = active.len();
        let mut inverse = vec![0.0; m * m];
        for (a, &i) in active.iter().enumerate() {
            for (b, &j) in active.iter().enumerate() {
                inverse[a * m + b] = dot(&self.phi[i], &self.phi[j]) / self.noise;
            }
            inverse[a * m + a] += 1.0 / self.gamma[i];
        }
        inverse
    }

    /// All weights: `Sigma Phi^T y / s^2`, and zero outside of the model.
    fn mean(&self) -> Vec<f64> {
        let active = self.active();
        let rhs = active.iter().map(|&i| dot(&self.phi[i], &self.y) / self.noise).collect();
        let solved = gauss(self.inverse_covariance(), rhs);
        let mut mean = vec![0.0; self.gamma.len()];
        for (&i, &w) in active.iter().zip(&solved) {
            mean[i] = w;
        }
        mean
    }

    /// Column `column` of Sigma, over the columns in the model.
    fn covariance_column(&self, column: usize) -> Vec<f64> {
        let m = self.active().len();
        let mut unit = vec![0.0; m];
        unit[column] = 1.0;
        gauss(self.inverse_covariance(), unit)
    }

    /// `s^2 + phi^T Sigma phi`, the identity columns being zero at a new point.
    fn variance<K: Kernel<f64>>(&self, fit: &RbRvmFit<f64, K>, x: &[f64]) -> f64 {
        let points: Vec<&[f64]> = fit.points().iter().collect();
        let column = |&j: &usize| match j {
            j if j < self.n => fit.kernel().evaluate(x, points[j]),
            j if j == self.n => 1.0,
            _ => 0.0,
        };
        let phi: Vec<f64> = self.active().iter().map(column).collect();
        self.noise + dot(&phi, &gauss(self.inverse_covariance(), phi.clone()))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The logarithm of a determinant, by elimination.
fn log_det(mut a: Vec<f64>, n: usize) -> f64 {
    let mut sum = 0.0;
    for c in 0..n {
        let pivot = (c..n).max_by(|&i, &j| a[i * n + c].abs().total_cmp(&a[j * n + c].abs()));
        let pivot = pivot.unwrap();
        for k in 0..n {
            a.swap(c * n + k, pivot * n + k);
        }
        sum += a[c * n + c].abs().ln();
        for i in c + 1..n {
            let factor = a[i * n + c] / a[c * n + c];
            for k in c..n {
                a[i * n + k] -= factor * a[c * n + k];
            }
        }
    }
    sum
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{a} is not {b}");
}

fn never_decreases(history: &[f64]) {
    assert!(!history.is_empty());
    for (step, pair) in history.windows(2).enumerate() {
        let rounding = 1e-9 * (1.0 + pair[0].abs());
        assert!(pair[1] >= pair[0] - rounding, "step {step}: {} after {}", pair[1], pair[0]);
    }
}

fn indices<K>(fit: &RbRvmFit<f64, K>) -> Vec<usize> {
    fit.outliers().iter().map(|o| o.index).collect()
}

fn agrees_with_dense<K: Kernel<f64>>(fit: &RbRvmFit<f64, K>, y: &[f64]) {
    let dense = Dense::new(fit, y);
    let n = y.len();
    close(fit.log_likelihood(), dense.log_likelihood(), 1e-8);

    let mean = dense.mean();
    for j in 0..n {
        close(fit.coefficients()[j], mean[j], 1e-6);
    }
    close(fit.bias(), fit.center() + mean[n], 1e-6);
    assert_eq!(indices(fit), (0..n).filter(|i| dense.gamma[n + 1 + i] > 0.0).collect::<Vec<_>>());
    for outlier in fit.outliers() {
        close(outlier.value, mean[n + 1 + outlier.index], 1e-6);
    }

    let smooth = dense.active().iter().filter(|&&j| j <= n).count();
    let covariance = fit.covariance();
    assert_eq!(covariance.len(), smooth * smooth);
    for column in 0..smooth {
        let wanted = dense.covariance_column(column);
        for row in 0..smooth {
            close(covariance[row * smooth + column], wanted[row], 1e-6);
        }
    }

    let dim = fit.points().dim();
    let mut random = Random(5);
    for _ in 0..20 {
        let x: Vec<f64> = (0..dim).map(|_| 1.4 * random.uniform() - 0.2).collect();
        let (value, variance) = fit.predict_with_variance(&x).unwrap();
        assert_eq!(value, fit.predict(&x).unwrap());
        close(variance, dense.variance(fit, &x), 1e-6);
        let all = kgard::predict(fit.points(), fit.kernel(), fit.coefficients(), fit.bias(), &x);
        close(value, all.unwrap(), 1e-10);
    }
}

#[test]
fn the_oracle_itself() {
    // Two points, one kernel column: everything by hand.
    let dense = Dense {
        n: 2,
        phi: vec![vec![1.0, 0.5], vec![0.5, 1.0], vec![1.0; 2], vec![1.0, 0.0], vec![0.0, 1.0]],
        gamma: vec![2.0, 0.0, 0.0, 0.0, 3.0],
        noise: 0.5,
        y: vec![1.0, -1.0],
    };
    let (a, b, d): (f64, f64, f64) = (0.5 + 2.0, 1.0, 0.5 + 0.5 + 3.0);
    let det = a * d - b * b;
    let quadratic = (d + 2.0 * b + a) / det;
    let wanted = -0.5 * (2.0 * std::f64::consts::TAU.ln() + det.ln() + quadratic);
    close(dense.log_likelihood(), wanted, 1e-12);
    // mu = Gamma Phi^T C^-1 y.
    let z = [(d + b) / det, (-b - a) / det];
    close(dense.mean()[0], 2.0 * (z[0] + 0.5 * z[1]), 1e-12);
    close(dense.mean()[4], 3.0 * z[1], 1e-12);
}

#[test]
fn likelihood_posterior_and_predictions_are_those_of_the_dense_formulas() {
    for (n, dim, outliers, seed) in [(40, 1, 4, 1), (60, 2, 9, 2), (30, 3, 0, 3), (80, 1, 16, 4)] {
        let p = Problem::new(n, dim, outliers, 0.1, seed);
        let fit = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.4)).unwrap();
        assert_eq!(fit.stop_reason(), StopReason::Tolerance);
        agrees_with_dense(&fit, &p.y);
        // Other kernels, other options, an end in the middle.
        let fit = RbRvm::new().fit(p.points(), &p.y, Laplacian::new(0.5)).unwrap();
        agrees_with_dense(&fit, &p.y);
        let known = RbRvm::new().noise_variance(0.02);
        agrees_with_dense(&known.fit(p.points(), &p.y, Gaussian::new(0.4)).unwrap(), &p.y);
        let cut = RbRvm::new().max_iterations(9);
        let fit = cut.fit(p.points(), &p.y, Gaussian::new(0.4)).unwrap();
        assert_eq!((fit.stop_reason().name(), fit.iterations()), ("iteration_limit", 9));
        agrees_with_dense(&fit, &p.y);
    }
}

#[test]
fn far_from_zero_and_in_any_units() {
    let p = Problem::new(60, 1, 6, 0.1, 8);
    let here = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.4)).unwrap();
    for (factor, shift) in [(1.0, 1e4), (1e-8, 0.0), (1e9, -3e9)] {
        let y: Vec<f64> = p.y.iter().map(|y| factor * y + shift).collect();
        let there = RbRvm::new().fit(p.points(), &y, Gaussian::new(0.4)).unwrap();
        assert_eq!(indices(&here), indices(&there));
        for x in [0.03, 0.5, 1.2] {
            let (a, s) = here.predict_with_variance(&[x]).unwrap();
            let (b, t) = there.predict_with_variance(&[x]).unwrap();
            close(a, (b - shift) / factor, 1e-6);
            close(s, t / factor / factor, 1e-6);
        }
    }
}

#[test]
fn the_likelihood_never_decreases() {
    for outliers in [0, 10, 20, 30, 40] {
        for seed in 0..3 {
            let p = Problem::table1(outliers, seed);
            // With the noise re-estimated, and with the noise fixed.
            let free = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
            never_decreases(free.log_likelihood_history());
            assert_eq!(free.log_likelihood_history().last(), Some(&free.log_likelihood()));
            let fixed = RbRvm::new().noise_variance(0.3);
            let fixed = fixed.fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
            close(fixed.noise_variance(), 0.3, 1e-12);
            never_decreases(fixed.log_likelihood_history());
            // The published rule, which takes many more steps.
            let published = RbRvm::new().outlier_evidence(0.0);
            let published = published.fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
            never_decreases(published.log_likelihood_history());
        }
    }
}

#[test]
fn at_the_end_no_change_of_a_variance_helps() {
    let p = Problem::new(40, 1, 4, 0.1, 21);
    let fit = RbRvm::new().tolerance(1e-7).outlier_evidence(0.0).noise_variance(0.01);
    let fit = fit.fit(p.points(), &p.y, Gaussian::new(0.4)).unwrap();
    let mut dense = Dense::new(&fit, &p.y);
    let best = dense.log_likelihood();
    for m in 0..dense.gamma.len() {
        let kept = dense.gamma[m];
        for other in [0.0, 0.5 * kept, 0.9 * kept, 1.1 * kept, 2.0 * kept, 1e-3, 0.1, 3.0] {
            dense.gamma[m] = other;
            assert!(dense.log_likelihood() < best + 1e-6, "column {m}, {kept} to {other}");
        }
        dense.gamma[m] = kept;
    }
}

#[test]
fn does_not_degenerate_and_finds_all_outliers() {
    for outliers in [0, 10, 20, 30, 40] {
        for seed in 10..16 {
            let p = Problem::table1(outliers, seed);
            let fit = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
            assert_eq!(fit.stop_reason(), StopReason::Tolerance);
            let found = indices(&fit);
            assert!(p.wrong.iter().all(|j| found.contains(j)), "{outliers} outliers, {seed}");
            assert!(found.len() <= outliers + 12, "{} found of {outliers}", found.len());
            // 20 dB: the variance of the noise is 0.317.
            assert!((0.2..0.45).contains(&fit.noise_variance()), "{}", fit.noise_variance());
            assert!(fit.relevant().len() < 30);
            for outlier in fit.outliers().iter().filter(|o| p.wrong.contains(&o.index)) {
                assert!((outlier.value.abs() - 15.0).abs() < 4.0);
            }
            let mse = p.x.iter().map(|&x| {
                let t = 2.0 * std::f64::consts::PI.powi(2) * (x + 0.005);
                (fit.predict(&[x + 0.005]).unwrap() - 20.0 * t.sin() / t).powi(2)
            });
            assert!(mse.sum::<f64>() / 199.0 < 0.15);
        }
    }
}

#[test]
fn the_published_rule_takes_out_good_points() {
    // What the evidence for an outlier and the bound on the noise are for.
    let p = Problem::table1(20, 3);
    let published = RbRvm::new().outlier_evidence(0.0);
    let published = published.fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
    let ours = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
    assert!(published.outliers().len() > 3 * ours.outliers().len());
    assert!(published.noise_variance() < 0.5 * ours.noise_variance());
}

#[test]
fn in_three_dimensions() {
    let p = Problem::new(250, 3, 37, 0.3, 4);
    let fit = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.4)).unwrap();
    let found = indices(&fit);
    assert!(p.wrong.iter().all(|j| found.contains(j)));
    assert!(found.len() <= 49, "{}", found.len());
    assert!((0.05..0.15).contains(&fit.noise_variance()), "{}", fit.noise_variance());
    let many = fit.predict_many(p.points()).unwrap();
    assert_eq!(many.len(), 250);
    assert_eq!(many[7], fit.predict(&p.x[21..24]).unwrap());
}

#[test]
fn an_outlier_however_large() {
    for size in [1e3, 1e6, 1e12] {
        let mut p = Problem::table1(0, 6);
        p.y[30] += size;
        p.y[120] -= size;
        let fit = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
        never_decreases(fit.log_likelihood_history());
        let found = indices(&fit);
        assert!(found.contains(&30) && found.contains(&120) && found.len() < 10, "{found:?}");
        assert!((0.2..0.45).contains(&fit.noise_variance()), "{}", fit.noise_variance());
    }
}

#[test]
fn single_precision() {
    for outliers in [0, 20, 40] {
        let p = Problem::table1(outliers, 2);
        let x: Vec<f32> = p.x.iter().map(|&x| x as f32).collect();
        let y: Vec<f32> = p.y.iter().map(|&y| y as f32).collect();
        let wide = RbRvm::new().fit(p.points(), &p.y, Gaussian::new(0.15)).unwrap();
        let narrow = RbRvm::new().fit(&x, &y, Gaussian::new(0.15f32)).unwrap();
        let found: Vec<usize> = narrow.outliers().iter().map(|o| o.index).collect();
        assert!(p.wrong.iter().all(|j| found.contains(j)));
        assert!(found.len() <= outliers + 12);
        assert!((narrow.noise_variance() as f64 / wide.noise_variance()).ln().abs() < 0.2);
        for i in 0..199 {
            let difference =
                narrow.predict(&x[i..=i]).unwrap() as f64 - wide.predict(&p.x[i..=i]).unwrap();
            assert!(difference.abs() < 0.7, "{difference} at {i}");
        }
        for pair in narrow.log_likelihood_history().windows(2) {
            assert!(pair[1] >= pair[0] - 0.05, "{} after {}", pair[1], pair[0]);
        }
    }
}

#[test]
fn no_noise_at_all() {
    let x: Vec<f64> = (0..80).map(|i| i as f64 / 80.0).collect();
    let mut y: Vec<f64> = x.iter().map(|x| (7.0 * x).sin()).collect();
    y[17] += 2.0;
    y[60] -= 1.0;
    let fit = RbRvm::new().fit(&x, &y, Gaussian::new(0.3)).unwrap();
    never_decreases(fit.log_likelihood_history());
    let found = indices(&fit);
    assert!(found.contains(&17) && found.contains(&60));
    for x in [0.1, 0.2126, 0.5, 0.9] {
        assert!((fit.predict(&[x]).unwrap() - (7.0 * x).sin()).abs() < 1e-2);
    }
    let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let y: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    let fit = RbRvm::new().fit(&x, &y, Gaussian::new(0.3f32)).unwrap();
    let error = fit.predict(&[0.5]).unwrap() - 3.5f32.sin();
    assert!(error.abs() < 0.1, "{error}");
}

#[test]
fn small_and_degenerate_data() {
    // One point, two points.
    for y in [0.0f64, 5.0, -1e-3] {
        let fit = RbRvm::new().fit(&[0.5], &[y], Gaussian::new(0.2)).unwrap();
        assert_eq!(fit.predict(&[0.5]).unwrap(), y);
        assert!(fit.outliers().is_empty() && fit.log_likelihood().is_finite());
        assert!(fit.covariance().is_empty() && fit.relevant().is_empty());
    }
    let fit = RbRvm::new().fit(&[0.5, 1.0], &[1.0, 2.0], Gaussian::new(0.2)).unwrap();
    assert!(fit.predict_with_variance(&[0.7]).unwrap().1 > 0.0);
    // A constant.
    let x: Vec<f64> = (0..30).map(|i| i as f64 / 30.0).collect();
    let fit = RbRvm::new().fit(&x, &[7.0; 30], Gaussian::new(0.2)).unwrap();
    assert_eq!((fit.predict(&[0.33]).unwrap(), fit.outliers().len()), (7.0, 0));
    // A constant with wrong values.
    let mut y = [7.0; 30];
    (y[3], y[20]) = (9.0, -1.0);
    let fit = RbRvm::new().fit(&x, &y, Gaussian::new(0.2)).unwrap();
    assert_eq!(indices(&fit), [3, 20]);
    assert!((fit.predict(&[0.1]).unwrap() - 7.0).abs() < 1e-3);
    assert!((fit.outliers()[1].value + 8.0).abs() < 1e-3);
    // A straight line, and a kernel that is not bounded.
    let y: Vec<f64> = x.iter().map(|x| 3.0 * x - 1.0).collect();
    let fit = RbRvm::new().fit(&x, &y, Polynomial::new(1.0, 1.0, 2)).unwrap();
    close(fit.predict(&[0.45]).unwrap(), 0.35, 1e-2);
}

#[test]
fn every_point_many_times() {
    let p = Problem::new(40, 1, 0, 0.1, 12);
    let x: Vec<f64> = p.x.iter().flat_map(|&x| [x; 3]).collect();
    let mut random = Random(3);
    let mut y: Vec<f64> = x.iter().map(|x| (5.0 * x).sin() + 0.1 * random.normal()).collect();
    for wrong in [10, 50, 51, 90] {
        y[wrong] += 3.0;
    }
    let fit = RbRvm::new().fit(&x, &y, Gaussian::new(0.3)).unwrap();
    never_decreases(fit.log_likelihood_history());
    agrees_with_dense(&fit, &y);
    let found = indices(&fit);
    assert!([10, 50, 51, 90].iter().all(|j| found.contains(j)), "{found:?}");
    assert!(found.len() < 12, "{found:?}");
    // All points the same: nothing but a constant can be learnt.
    let fit = RbRvm::new().fit(&[0.5; 9], &y[..9], Gaussian::new(0.3)).unwrap();
    assert!(fit.predict(&[0.5]).unwrap().is_finite());
}

#[test]
fn bad_input() {
    let (x, y) = ([0.0, 0.3, 0.6, 1.0], [1.0, 2.0, 1.5, 0.5]);
    let kernel = Gaussian::new(0.5);
    let new = RbRvm::<f64>::new;
    let none: [f64; 0] = [];
    let error = |result: Result<RbRvmFit<f64, Gaussian<f64>>, Error>| result.unwrap_err();
    assert_eq!(error(new().fit(&none, &none, kernel)), Error::Empty { what: "list of points" });
    assert_eq!(
        error(new().fit(&x, &y[..3], kernel)),
        Error::Length { what: "y", expected: 4, found: 3 }
    );
    let nan = [1.0, f64::NAN, 0.0, 0.0];
    assert!(matches!(
        error(new().fit(&x, &nan, kernel)),
        Error::NotFinite { what: "y", index: 1, .. }
    ));
    assert!(matches!(error(new().fit(&nan, &y, kernel)), Error::NotFinite { index: 1, .. }));
    let flat: [[f64; 0]; 4] = [[]; 4];
    assert!(matches!(error(new().fit(&flat, &y, kernel)), Error::Dimension { .. }));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            error(new().fit(&x, &y, Gaussian::new(bad))),
            Error::NotPositive { what: "sigma", .. }
        ));
        assert!(matches!(
            error(new().noise_variance(bad).fit(&x, &y, kernel)),
            Error::NotPositive { what: "noise variance", .. }
        ));
    }
    for bad in [-1e-3, f64::NAN] {
        assert!(matches!(
            error(new().tolerance(bad).fit(&x, &y, kernel)),
            Error::Negative { what: "tolerance", .. }
        ));
        assert!(matches!(
            error(new().outlier_evidence(bad).fit(&x, &y, kernel)),
            Error::Negative { what: "outlier evidence", .. }
        ));
    }
    let nowhere = |_: &[f64], _: &[f64]| f64::NAN;
    assert!(matches!(new().fit(&x, &y, nowhere).err(), Some(Error::Kernel { .. })));
    let huge = |_: &[f64], _: &[f64]| 1e200;
    assert!(matches!(new().fit(&x, &y, huge).err(), Some(Error::Overflow { .. })));
    let apart = [f64::MAX, -f64::MAX, 0.0, 1.0];
    assert!(matches!(error(new().fit(&x, &apart, kernel)), Error::Overflow { .. }));

    let fit = new().fit(&x, &y, kernel).unwrap();
    assert!(matches!(fit.predict(&[0.0, 1.0]), Err(Error::Dimension { expected: 1, found: 2 })));
    assert!(matches!(fit.predict_with_variance(&[f64::NAN]), Err(Error::NotFinite { .. })));
    let plane = Points::new(&x, 2).unwrap();
    assert!(matches!(fit.predict_many(plane), Err(Error::Dimension { .. })));
}
