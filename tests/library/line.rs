//! Algorithm 1 on a line, held to the dense method.

use crate::common::problem::Random;
use kgard::line::{Line, MarkovOf};
use kgard::{
    Cosine, Kernel, Laplacian, Matern32, Matern52, Plan, Progress, Regularizer, Stop, StopRule,
};

/// How points lie on the line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spacing {
    Random,
    Regular,
    /// Every third point twice or more.
    Duplicates,
    /// Clusters within 1e-9.
    Clustered,
    /// Gaps of 1e6 lengths.
    Gapped,
    Unsorted,
}

pub(crate) const SPACINGS: [Spacing; 6] = [
    Spacing::Random,
    Spacing::Regular,
    Spacing::Duplicates,
    Spacing::Clustered,
    Spacing::Gapped,
    Spacing::Unsorted,
];

impl Spacing {
    pub(crate) fn points(self, n: usize, random: &mut Random) -> Vec<f64> {
        let mut x: Vec<f64> = match self {
            Self::Regular => (0..n).map(|i| i as f64 * 10.0 / n as f64).collect(),
            _ => (0..n).map(|_| 10.0 * random.uniform()).collect(),
        };
        if !matches!(self, Self::Unsorted) {
            x.sort_by(f64::total_cmp);
        }
        for i in 1..n {
            match self {
                Self::Duplicates if i % 3 == 0 => x[i] = x[i - 1],
                Self::Clustered if i % 4 != 0 => x[i] = x[i - 1] + 1e-9,
                Self::Gapped if i >= n / 2 => x[i] += 1e6,
                _ => {}
            }
        }
        x
    }
}

/// A smooth function with noise and a share of outliers.
pub(crate) fn samples(x: &[f64], share: f64, random: &mut Random) -> Vec<f64> {
    let value = |x: f64| (1.3 * x).sin() + 0.5 * (0.4 * x).cos();
    x.iter()
        .map(|&x| {
            let wrong = random.uniform() < share;
            let sign = if random.uniform() < 0.4 { -1.0 } else { 1.0 };
            let off = if wrong { sign * (1.0 + 3.0 * random.uniform()) } else { 0.0 };
            value(x) + 0.1 * random.normal() + off
        })
        .collect()
}

fn plan<K: Kernel<f64>>(
    x: &[f64],
    kernel: K,
    lambda: f64,
    bias: bool,
    weights: &[f64],
) -> Plan<f64, K> {
    let regularizer = Regularizer::rkhs(lambda);
    let regularizer =
        if weights.is_empty() { regularizer } else { regularizer.with_sample_weights(weights) };
    let regularizer = if bias { regularizer } else { regularizer.without_bias() };
    Plan::new(x, kernel, regularizer).unwrap()
}

#[track_caller]
fn close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len());
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance, "{what} {i}: {a} instead of {b}");
    }
}

/// A rule that is never met and looks at everything.
struct Never {
    studentized: bool,
    cap: usize,
    /// The two largest scores of every step.
    clear: Vec<f64>,
}

impl StopRule<f64> for Never {
    fn check(&mut self, progress: &mut Progress<'_, f64>) -> Option<kgard::StopReason> {
        let mut scores: Vec<f64> = if self.studentized {
            progress
                .residual
                .iter()
                .zip(progress.variances)
                .map(|(r, v)| r.abs() / v.sqrt())
                .collect()
        } else {
            progress.residual.iter().map(|r| r.abs()).collect()
        };
        scores.sort_by(|a, b| b.total_cmp(a));
        self.clear.push((scores[0] - scores[1]) / scores[0]);
        None
    }
    fn cap(&self) -> usize {
        self.cap
    }
    fn studentized(&self) -> bool {
        self.studentized
    }
}

/// Selections, residual, diagonal and values of both methods after `k` outliers, for
/// samples of these weights, or of one.
#[allow(clippy::too_many_arguments)]
fn compare<K, const D: usize, const B: usize>(
    line: &Line<f64, K, D, B>,
    (x, y, weights): (&[f64], &[f64], &[f64]),
    kernel: K,
    lambda: f64,
    k: usize,
    tolerance: f64,
    what: &str,
) where
    K: MarkovOf<f64, D> + Clone,
{
    let plan = plan(x, kernel, lambda, B == 1, weights);
    let n = y.len();
    let clean = line.fit(y, Stop::count(0)).unwrap();
    let h = plan.as_ref();
    let diagonal: Vec<f64> = (0..n).map(|i| h.residual_maker()[i * n + i]).collect();
    close(&clean.variances(), &diagonal, tolerance, &format!("{what}: diagonal"));
    for studentized in [false, true] {
        let mut rule = Never { studentized, cap: k, clear: Vec::new() };
        let dense = plan.fit(y, Borrowed(&mut rule)).unwrap();
        let stop = Stop::count(k);
        let fit = line.fit(y, if studentized { stop.studentized() } else { stop }).unwrap();
        let clear = rule.clear.iter().take_while(|&&gap| gap > 100.0 * tolerance).count().min(k);
        let order: Vec<usize> = dense.outliers().iter().map(|o| o.index).collect();
        assert_eq!(fit.support()[..clear], order[..clear], "{what}: order");
        if clear < k {
            continue;
        }
        close(&fit.residual(), dense.residual(), tolerance, &format!("{what}: residual"));
        close(&fit.fitted(), dense.fitted(), tolerance, &format!("{what}: fitted"));
        let values: Vec<f64> = dense.outliers().iter().map(|o| o.value).collect();
        let found: Vec<f64> = fit.outliers().iter().map(|o| o.value).collect();
        close(&found, &values, tolerance, &format!("{what}: values"));
        let rough = 10.0 * tolerance + 1e-13 / lambda;
        close(&[fit.bias()], &[dense.bias()], rough, &format!("{what}: bias"));
        if weights.is_empty() {
            close(&[fit.residual_norm()], &[dense.residual_norm()], tolerance * 10.0, what);
        }
        for x in [-1.0, x[n / 3], x[n / 2] + 1e-3, x[order[0]], 4.2, 11.0] {
            let (ours, theirs) = (fit.predict(x).unwrap().mean, dense.predict(&[x]).unwrap());
            close(&[ours], &[theirs], rough, &format!("{what}: prediction at {x}"));
        }
    }
}

/// A rule by reference.
struct Borrowed<'a>(&'a mut Never);

impl StopRule<f64> for Borrowed<'_> {
    fn check(&mut self, progress: &mut Progress<'_, f64>) -> Option<kgard::StopReason> {
        self.0.check(progress)
    }
    fn cap(&self) -> usize {
        self.0.cap
    }
    fn studentized(&self) -> bool {
        self.0.studentized
    }
}

fn all_spacings<K, const D: usize>(kernel: impl Fn(f64) -> K)
where
    K: MarkovOf<f64, D> + Clone,
{
    for (i, spacing) in SPACINGS.into_iter().enumerate() {
        for (j, lambda) in [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e3].into_iter().enumerate() {
            let mut random = Random((100 * i + j) as u64);
            let n = 150 + 10 * i;
            let x = spacing.points(n, &mut random);
            let y = samples(&x, 0.1, &mut random);
            // The dense method's own rounding grows as 1 / lambda.
            let tolerance = f64::max(1e-9, 1e-14 / lambda);
            let what = format!("{spacing:?}, lambda {lambda}");
            let k = [20, n / 2][j % 2];
            let line = Line::new(&x, kernel(0.7), lambda).unwrap();
            compare(&line, (&x, &y, &[]), kernel(0.7), lambda, k, tolerance, &what);
            let line = Line::without_bias(&x, kernel(0.7), lambda).unwrap();
            compare(&line, (&x, &y, &[]), kernel(0.7), lambda, k, tolerance, &what);
            let s: Vec<f64> = (0..n).map(|_| 0.5 + 1.5 * random.uniform()).collect();
            let weights: Vec<f64> = s.iter().map(|s| 1.0 / (s * s)).collect();
            let line = Line::new(&x, kernel(0.7), lambda).unwrap().with_deviations(&s).unwrap();
            // A sample of weight 4 is as close as one without at a quarter of lambda.
            let what = format!("{what}, weighted");
            let tolerance = 4.0 * tolerance;
            compare(&line, (&x, &y, &weights), kernel(0.7), lambda, k, tolerance, &what);
        }
    }
}

#[test]
fn matern12_is_the_dense_method() {
    all_spacings(Laplacian::new);
}

#[test]
fn matern32_is_the_dense_method() {
    all_spacings(Matern32::new);
}

#[test]
fn matern52_is_the_dense_method() {
    all_spacings(Matern52::new);
}

#[test]
fn sums_are_the_dense_method() {
    all_spacings(|l| Matern32::new(l).plus(Laplacian::new(3.0 * l).scaled(0.3)));
    all_spacings(|l| Matern52::new(2.0 * l).scaled(2.0).plus(Matern32::new(l).scaled(0.1)));
}

#[test]
fn waves_are_the_dense_method() {
    all_spacings(|l| Laplacian::new(5.0 * l).times(Cosine::new(1.7)));
    all_spacings(|l| Matern32::new(3.0 * l).times(Cosine::new(2.3)));
    all_spacings(|l| {
        let wave = |period: f64| Laplacian::new(9.0 * l).times(Cosine::new(period));
        Matern32::new(l).plus(wave(2.0).scaled(0.5)).plus(wave(1.0).scaled(0.2))
    });
}
