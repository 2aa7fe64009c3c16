//! A line held to the definition: the equations of what is minimised, written
//! down in full and solved by Gaussian elimination.

use crate::common::oracle::gauss;
use crate::common::problem::Random;
use crate::line::{SPACINGS, samples};
use kgard::line::{Line, LineFit, MarkovOf};
use kgard::{Cosine, Kernel, Laplacian, Matern32, Matern52, Stop};

/// Samples with their noise, of which some are in.
#[derive(Clone)]
struct Literal<'a, K> {
    kernel: K,
    lambda: f64,
    x: &'a [f64],
    y: &'a [f64],
    s: &'a [f64],
    /// The number of unpenalised columns 1, x.
    columns: usize,
    inside: Vec<usize>,
}

impl<K: Kernel<f64> + Clone> Literal<'_, K> {
    fn column(&self, b: usize, x: f64) -> f64 {
        x.powi(b as i32)
    }

    /// K + lambda S^2 over the points that are in.
    fn system(&self) -> Vec<f64> {
        let m = self.inside.len();
        let mut a = vec![0.0; m * m];
        for (k, &i) in self.inside.iter().enumerate() {
            for (l, &j) in self.inside.iter().enumerate() {
                a[k * m + l] = self.kernel.evaluate(&[self.x[i]], &[self.x[j]]);
            }
            a[k * m + k] += self.lambda * self.s[i] * self.s[i];
        }
        a
    }

    fn bordered(&self) -> Vec<f64> {
        let (m, p) = (self.inside.len(), self.columns);
        let (a, size) = (self.system(), m + p);
        let mut all = vec![0.0; size * size];
        for k in 0..m {
            all[k * size..k * size + m].copy_from_slice(&a[k * m..][..m]);
            for b in 0..p {
                let value = self.column(b, self.x[self.inside[k]]);
                all[k * size + m + b] = value;
                all[(m + b) * size + k] = value;
            }
        }
        all
    }

    /// alpha and c: (K + lambda S^2) alpha + b c = y, b^T alpha = 0.
    fn solve(&self) -> (Vec<f64>, Vec<f64>) {
        let mut right: Vec<f64> = self.inside.iter().map(|&i| self.y[i]).collect();
        right.resize(self.inside.len() + self.columns, 0.0);
        let mut alpha = gauss(self.bordered(), right);
        let c = alpha.split_off(self.inside.len());
        (alpha, c)
    }

    fn row(&self, at: f64) -> Vec<f64> {
        let kernel = self.inside.iter().map(|&i| self.kernel.evaluate(&[self.x[i]], &[at]));
        kernel.chain((0..self.columns).map(|b| self.column(b, at))).collect()
    }

    fn predict(&self, at: f64) -> f64 {
        let (alpha, c) = self.solve();
        self.row(at).iter().zip(alpha.iter().chain(&c)).map(|(k, a)| k * a).sum()
    }

    /// The variance of the error of the function, in units of its own.
    fn variance(&self, at: f64) -> f64 {
        let row = self.row(at);
        let solved = gauss(self.bordered(), row.clone());
        let told: f64 = row.iter().zip(&solved).map(|(a, b)| a * b).sum();
        self.kernel.evaluate(&[at], &[at]) - told
    }

    /// y^T A^-1 (y - b c) / (m - p).
    fn scale(&self) -> f64 {
        let (alpha, _) = self.solve();
        let sum: f64 = self.inside.iter().zip(&alpha).map(|(&i, a)| self.y[i] * a).sum();
        sum / (self.inside.len() - self.columns) as f64
    }

    /// ln|A| + ln|b^T A^-1 b|, the columns b scaled as the line scales them.
    fn log_determinants(&self) -> f64 {
        let m = self.inside.len();
        let ends = |f: fn(f64, f64) -> f64, x: f64| self.x.iter().fold(x, |a, &b| f(a, b));
        let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, f64::NEG_INFINITY));
        let column = |b: usize, x: f64| {
            if b == 0 { 1.0 } else { (x - (low + high) / 2.0) / ((high - low) / 2.0) }
        };
        let mut gram = vec![0.0; self.columns * self.columns];
        for b in 0..self.columns {
            let right = self.inside.iter().map(|&i| column(b, self.x[i])).collect();
            let solved = gauss(self.system(), right);
            for a in 0..self.columns {
                gram[a * self.columns + b] =
                    self.inside.iter().zip(&solved).map(|(&i, s)| column(a, self.x[i]) * s).sum();
            }
        }
        log_determinant(self.system(), m) + log_determinant(gram, self.columns)
    }

    fn without(&self, i: usize) -> Self {
        let mut other = self.clone();
        other.inside.retain(|&j| j != i);
        other
    }
}

/// Of a positive definite matrix.
fn log_determinant(mut a: Vec<f64>, n: usize) -> f64 {
    let mut sum = 0.0;
    for c in 0..n {
        sum += a[c * n + c].ln();
        for i in c + 1..n {
            let factor = a[i * n + c] / a[c * n + c];
            for k in c..n {
                a[i * n + k] -= factor * a[c * n + k];
            }
        }
    }
    sum
}

#[track_caller]
fn close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()), "{what}: {a} instead of {b}");
}

/// Everything that a fit says, against the equations.
fn check<K, const D: usize, const B: usize>(
    fit: &LineFit<f64, K, D, B>,
    mut literal: Literal<'_, K>,
    what: &str,
) where
    K: MarkovOf<f64, D> + Clone,
{
    let support = fit.support();
    literal.inside.retain(|i| !support.contains(i));
    let (alpha, c) = literal.solve();
    let (residual, fitted) = (fit.residual(), fit.fitted());
    for (&i, alpha) in literal.inside.iter().zip(&alpha) {
        let s = literal.s[i];
        close(residual[i], literal.lambda * s * s * alpha, &format!("{what}: residual"));
        close(fitted[i], literal.y[i] - residual[i], &format!("{what}: fitted"));
    }
    for outlier in fit.outliers() {
        let function = literal.predict(literal.x[outlier.index]);
        close(fitted[outlier.index], function, &format!("{what}: function at an outlier"));
        close(outlier.value, literal.y[outlier.index] - function, &format!("{what}: value"));
        assert_eq!(residual[outlier.index], 0.0);
    }
    let scale = literal.scale();
    close(fit.noise(), (literal.lambda * scale).sqrt(), &format!("{what}: noise"));
    if B == 2 {
        close(fit.slope(), c[1], &format!("{what}: slope"));
    }
    for at in [-3.0, literal.x[0], literal.x[7] + 0.01, 5.0, 12.0] {
        let predicted = fit.predict(at).unwrap();
        close(predicted.mean, literal.predict(at), &format!("{what}: prediction"));
        let deviation = (scale * literal.variance(at).max(0.0)).sqrt();
        assert!(
            (predicted.deviation - deviation).abs() <= 1e-6 * (1.0 + deviation),
            "{what}: deviation {} instead of {deviation}",
            predicted.deviation
        );
    }
    let (errors, deviations) = (fit.left_out_errors(), fit.left_out_deviations());
    for i in (0..literal.x.len()).step_by(7) {
        let other = literal.without(i);
        if literal.y[i].is_nan() {
            assert!(errors[i].is_nan() && residual[i].is_nan(), "{what}");
            close(fitted[i], other.predict(literal.x[i]), &format!("{what}: missing sample"));
            continue;
        }
        let error = literal.y[i] - other.predict(literal.x[i]);
        close(errors[i], error, &format!("{what}: left-out error"));
        let s = literal.s[i];
        let variance = other.variance(literal.x[i]) + literal.lambda * s * s;
        close(deviations[i], (scale * variance).sqrt(), &format!("{what}: left-out deviation"));
    }
    let degrees = (literal.inside.len() - B) as f64;
    let likelihood = degrees * (1.0 + (std::f64::consts::TAU * scale).ln());
    let expected = -(likelihood + literal.log_determinants()) / 2.0;
    close(fit.log_likelihood(), expected, &format!("{what}: likelihood"));
}

fn all<K, const D: usize, const B: usize>(kernel: K)
where
    K: MarkovOf<f64, D> + Clone,
{
    for (seed, spacing) in SPACINGS.into_iter().enumerate() {
        for lambda in [0.01, 1.0, 1e3] {
            let mut random = Random(seed as u64);
            let n = 70;
            let x = spacing.points(n, &mut random);
            // The slope of 1e6 lengths is another test than this.
            if B == 2 && x[n - 1] > 1e3 {
                continue;
            }
            let mut y = samples(&x, 0.1, &mut random);
            let s: Vec<f64> = (0..n).map(|_| 0.5 + 1.5 * random.uniform()).collect();
            let ones = vec![1.0; n];
            for (weighted, gaps) in [(false, false), (true, false), (true, true)] {
                if gaps {
                    (0..n).filter(|i| i % 7 == 0 && i % 3 != 1).for_each(|i| y[i] = f64::NAN);
                }
                let s = if weighted { &s } else { &ones };
                let what = format!("{spacing:?}, {lambda}, B = {B}, {weighted}, {gaps}");
                let line = Line::<_, _, D, B>::with_columns(&x, kernel.clone(), lambda).unwrap();
                let line = line.with_deviations(s).unwrap();
                let inside = (0..n).filter(|&i| !y[i].is_nan()).collect();
                let literal =
                    Literal { kernel: kernel.clone(), lambda, x: &x, y: &y, s, columns: B, inside };
                for k in [0, 12, n / 2] {
                    let stop = Stop::count(k);
                    let fit = line.fit_with_gaps(&y, stop).unwrap();
                    check(&fit, literal.clone(), &what);
                    let fit = line.fit_with_gaps(&y, stop.studentized()).unwrap();
                    check(&fit, literal.clone(), &what);
                    let given = line.fit_support(&y, fit.support()).unwrap();
                    check(&given, literal.clone(), &what);
                }
            }
        }
    }
}

#[test]
fn without_a_bias() {
    all::<_, 1, 0>(Laplacian::new(0.8));
    all::<_, 2, 0>(Matern32::new(0.8));
    all::<_, 3, 0>(Matern52::new(0.8));
}

#[test]
fn with_a_bias() {
    all::<_, 1, 1>(Laplacian::new(0.8));
    all::<_, 2, 1>(Matern32::new(0.8));
    all::<_, 3, 1>(Matern52::new(0.8));
}

#[test]
fn with_a_trend() {
    all::<_, 1, 2>(Laplacian::new(0.8));
    all::<_, 2, 2>(Matern32::new(0.8));
    all::<_, 3, 2>(Matern52::new(0.8));
}

#[test]
fn sums() {
    let sum = |l| Matern32::new(l).plus(Laplacian::new(3.0 * l).scaled(0.3));
    all::<_, 3, 1>(sum(0.5));
    all::<_, 4, 2>(sum(0.5).plus(Laplacian::new(0.1).scaled(0.2)));
    let wave = Matern32::new(2.0).times(Cosine::new(1.9)).scaled(0.5);
    all::<_, 6, 2>(wave.plus(Matern32::new(1.0)));
}

/// The greedy selection by the definition, weights and trend included.
#[test]
fn selections() {
    for seed in 0..6 {
        let mut random = Random(seed);
        let x = SPACINGS[seed as usize % 4].points(60, &mut random);
        let y = samples(&x, 0.15, &mut random);
        let s: Vec<f64> = (0..60).map(|_| 0.5 + 1.5 * random.uniform()).collect();
        let (kernel, lambda) = (Matern32::new(0.8), 0.1);
        let mut literal =
            Literal { kernel, lambda, x: &x, y: &y, s: &s, columns: 2, inside: (0..60).collect() };
        let mut expected = Vec::new();
        for _ in 0..12 {
            let (alpha, _) = literal.solve();
            // |r_i| / s_i with r = lambda s^2 alpha.
            let score = |k: &usize| (alpha[*k] * s[literal.inside[*k]]).abs();
            let worst = (0..alpha.len()).max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
            expected.push(literal.inside[worst]);
            literal = literal.without(expected[expected.len() - 1]);
        }
        let line = Line::with_trend(&x, kernel, lambda).unwrap().with_deviations(&s).unwrap();
        assert_eq!(line.fit(&y, Stop::count(12)).unwrap().support(), expected, "seed {seed}");
    }
}
