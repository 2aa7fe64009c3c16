//! Tables that people bring, whose function is a small part of the points, or whose values
//! are not noise around a smooth function: nothing given, with and without 5 % outliers.
use crate::common;

use common::problem::Random;
use kgard::kernel::AnyKernel;
use kgard::tune::{Model, Tuner};
use kgard::{Points, Real};

type Fitted = Model<f64, AnyKernel<f64>>;

/// `n` values from 0 to 1.
fn line(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64 / (n - 1) as f64).collect()
}

/// Moves 5 % of the values by 3 to 6 of their standard deviations; gives which, ascending.
fn spoil(y: &mut [f64], random: &mut Random) -> Vec<usize> {
    let n = y.len();
    let mean = y.iter().sum::<f64>() / n as f64;
    let deviation = (y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
    let mut wrong: Vec<usize> = vec![];
    while wrong.len() < n / 20 {
        let i = random.below(n);
        if !wrong.contains(&i) {
            let side = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            y[i] += side * (3.0 + 3.0 * random.uniform()) * deviation;
            wrong.push(i);
        }
    }
    wrong.sort_unstable();
    wrong
}

/// The share of the function's deviation that the model is off by, and how many good points it
/// calls outliers, after it was seen to find all others but one.
fn errors(model: &Fitted, x: &[f64], f: impl Fn(f64) -> f64, wrong: &[usize]) -> (f64, usize) {
    let found: Vec<usize> = model.outliers().iter().map(|o| o.index).collect();
    let hit = found.iter().filter(|i| wrong.contains(i)).count();
    assert!(hit + 1 >= wrong.len(), "{hit} of {}", wrong.len());
    let truth: Vec<f64> = x.iter().map(|&x| f(x)).collect();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let mut sums = (0.0, 0.0);
    for (&x, f) in x.iter().zip(&truth) {
        sums.0 += (model.predict(&[x]).unwrap() - f).powi(2);
        sums.1 += (f - mean).powi(2);
    }
    ((sums.0 / sums.1).sqrt(), found.len() - hit)
}

/// Fits with noise and without and with outliers; nothing may be worse than `error` and
/// `false_alarms`.
fn check(
    name: &str,
    x: &[f64],
    f: impl Fn(f64) -> f64,
    noise: impl Fn(f64, &mut Random) -> f64,
    (error, false_alarms): (f64, usize),
) {
    let mut random = Random(7);
    let y: Vec<f64> = x.iter().map(|&x| noise(f(x), &mut random)).collect();
    let mut spoilt = y.clone();
    let wrong = spoil(&mut spoilt, &mut random);
    for (y, wrong) in [(&y, &[][..]), (&spoilt, &wrong)] {
        let model = Tuner::new().fit(x, y).unwrap();
        let (off, alarms) = errors(&model, x, &f, wrong);
        assert!(off < error, "{name}, {} outliers: {off}", wrong.len());
        assert!(alarms <= false_alarms, "{name}, {} outliers: {alarms} more", wrong.len());
    }
}

fn bump(x: f64, at: f64, width: f64) -> f64 {
    (-((x - at) / width).powi(2)).exp()
}

fn white(deviation: f64) -> impl Fn(f64, &mut Random) -> f64 {
    move |f, random| f + deviation * random.normal()
}

#[test]
fn narrow_peaks_are_no_outliers() {
    let four = |x: f64| [0.2, 0.35, 0.6, 0.83].iter().map(|&at| 5.0 * bump(x, at, 0.01)).sum();
    check("four peaks", &line(257), four, white(0.1), (0.1, 4));
    check("four peaks, many points", &line(1000), four, white(0.1), (0.1, 5));
    let (x, f) = (line(200), |x| 10.0 * bump(x, 0.4, 0.02));
    let mut random = Random(7);
    let y: Vec<f64> = x.iter().map(|&x| f(x) + 0.1 * random.normal()).collect();
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (off, alarms) = errors(&model, &x, f, &[]);
    assert!(off < 0.1 && alarms <= 5, "one peak: {off} {alarms}");
    let lines = [(2.0, 0.1, 3.0), (3.1, 0.12, 10.0), (5.0, 0.15, 1.0), (7.5, 0.2, 25.0)];
    let x: Vec<f64> = line(400).iter().map(|x| 10.0 * x).collect();
    let f = |x| 0.05 * x + lines.iter().map(|&(at, w, h)| h * bump(x, at, w)).sum::<f64>();
    check("chromatogram", &x, f, white(0.05), (0.05, 4));
}

/// Bursts look like peaks with sharp edges, and stay outliers.
#[test]
fn bursts_are_no_peaks() {
    let mut random = Random(3);
    let x = line(200);
    let f = |x: f64| (7.0 * x).sin();
    let mut y: Vec<f64> = x.iter().map(|&x| f(x) + 0.1 * random.normal()).collect();
    let wrong: Vec<usize> = [20, 71, 122, 170].iter().flat_map(|&i| i..i + 5).collect();
    for &i in &wrong {
        y[i] += if i < 100 { 3.0 } else { -3.0 };
    }
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (off, alarms) = errors(&model, &x, f, &wrong);
    assert!(off < 0.1 && alarms <= 1, "{off} {alarms}");
}

#[test]
fn growth_over_decades() {
    let x = line(100);
    let f = |x: f64| (14.0 * x).exp();
    let y: Vec<f64> = x.iter().map(|&x| f(x)).collect();
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (off, alarms) = errors(&model, &x, f, &[]);
    assert!(off < 1e-3 && alarms == 0, "{off} {alarms}");
    let mut random = Random(7);
    let f = |x: f64| (9.0 * x).exp();
    let x = line(120);
    let y: Vec<f64> = x.iter().map(|&x| f(x) * (0.05 * random.normal()).exp()).collect();
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (off, alarms) = errors(&model, &x, f, &[]);
    assert!(off < 0.15 && alarms <= 8, "{off} {alarms}");
}

/// Values that many points have exactly: they say nothing of the noise of the others.
#[test]
fn values_that_many_points_have() {
    let limit = |y: f64| y.clamp(-1.0, 1.2);
    let f = move |x: f64| 2.0 * (7.0 * x).sin();
    // The noise is cut off as well.
    let noise = move |f: f64, random: &mut Random| limit(f + 0.05 * random.normal());
    let x = line(150);
    let mut random = Random(7);
    let y: Vec<f64> = x.iter().map(|&x| noise(f(x), &mut random)).collect();
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (off, alarms) = errors(&model, &x, |x| limit(f(x)), &[]);
    assert!(off < 0.05 && alarms <= 1, "{off} {alarms}");
    // Counts, nearly all of them zero.
    let rate = |x: f64| 0.15 + 4.0 * bump(x, 0.6, 0.08);
    let poisson = |f: f64, random: &mut Random| {
        let (mut count, mut left) = (0.0, random.uniform());
        let mut term = (-f).exp();
        while left > term {
            left -= term;
            count += 1.0;
            term *= f / count;
        }
        count
    };
    let mut random = Random(4);
    let x = line(250);
    let y: Vec<f64> = x.iter().map(|&x| poisson(rate(x), &mut random)).collect();
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (off, alarms) = errors(&model, &x, rate, &[]);
    assert!(off < 0.4 && alarms <= 5, "{off} {alarms}");
    // Yes or no, beside values that are neither.
    let mut y: Vec<f64> = x.iter().map(|&x| f64::from(u8::from(random.uniform() < x))).collect();
    let wrong = spoil(&mut y, &mut random);
    let model = Tuner::new().fit(&x, &y).unwrap();
    let (_, alarms) = errors(&model, &x, |x| x, &wrong);
    assert!(alarms <= 2, "{alarms}");
}

#[test]
fn few_samples_a_period() {
    let x: Vec<f64> = (0..120).map(f64::from).collect();
    check("3.7 samples", &x, |x| (std::f64::consts::TAU * x / 3.7).sin(), white(0.1), (0.1, 1));
}

/// One input is far away: nothing is known there, and the others are as they were.
fn gross_input<T: Real>() {
    for far in [1e4, 1e9, 1e30] {
        let mut random = Random(9);
        let number = |x: f64| T::from(x).unwrap();
        let mut x: Vec<T> = line(100).into_iter().map(number).collect();
        let y: Vec<T> =
            line(100).iter().map(|&x| number((6.0 * x).sin() + 0.1 * random.normal())).collect();
        x[50] = number(far);
        let model = Tuner::new().fit(&x, &y).unwrap();
        assert!(model.outliers().len() <= 1, "{far}");
        for at in [0.1, 0.3, 0.5, 0.9] {
            let off = model.predict(&[number(at)]).unwrap() - number((6.0 * at).sin());
            assert!(off.abs() < number(0.15), "{far} at {at}: {off:?}");
        }
    }
    // A column of a table.
    let mut random = Random(2);
    let mut x: Vec<T> = (0..300).map(|_| T::from(random.uniform()).unwrap()).collect();
    let y: Vec<T> = x.chunks(3).map(|x| x[0] + (T::from(4.0).unwrap() * x[1]).sin()).collect();
    x[31] = T::from(-1e6).unwrap();
    let model = Tuner::new().fit(Points::new(&x, 3).unwrap(), &y).unwrap();
    assert!(model.outliers().len() <= 3, "{}", model.outliers().len());
}

#[test]
fn a_gross_value_among_the_inputs() {
    gross_input::<f64>();
    gross_input::<f32>();
}
