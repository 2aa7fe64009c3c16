//! Tuning from the data alone.
use crate::common;

use common::problem::{Problem, Random};
use kgard::kernel::AnyKernel;
use kgard::tune::{self, Model, Trend, Tuner};
use kgard::{Error, Gaussian, Kernel, Outlier, Penalty, Plan, Points, Real, Regularizer};
use nalgebra::{DMatrix, DVector};

fn kernel(text: &str) -> AnyKernel<f64> {
    text.parse().unwrap()
}

fn missed(outliers: &[Outlier<f64>], wrong: &[usize]) -> usize {
    wrong.iter().filter(|&&j| !outliers.iter().any(|o| o.index == j)).count()
}

fn indices<T: Real, K: kgard::Tunable<T>>(model: &Model<T, K>) -> Vec<usize> {
    let mut indices: Vec<usize> = model.outliers().iter().map(|o| o.index).collect();
    indices.sort_unstable();
    indices
}

/// Noise that is the same in every test.
fn noisy_sine(n: usize, noise: f64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random(5);
    let x: Vec<f64> = (0..n).map(|i| i as f64 / 10.0).collect();
    let y = x.iter().map(|x| x.sin() + noise * random.normal()).collect();
    (x, y)
}

fn largest_error(model: &Model<f64, AnyKernel<f64>>, x: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    x.iter().map(|&x| (model.predict(&[x]).unwrap() - f(x)).abs()).fold(0.0, f64::max)
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
            let tuner = Tuner::new().penalty(penalty);
            let model = tuner.fit(problem.points(), &problem.y).unwrap();
            assert_eq!(missed(model.outliers(), &problem.wrong), 0);
            assert!(model.outliers().len() <= n / 12 + 4);
            assert!((model.noise() / 0.1 - 1.0).abs() < 0.3, "{penalty:?}: {}", model.noise());
            let truth = |p: &[f64]| p.iter().map(|v| (5.0 * v).sin()).sum::<f64>();
            let fitted = problem.points().iter().zip(model.fitted());
            let mse = fitted.map(|(p, f)| (truth(p) - f).powi(2)).sum::<f64>() / n as f64;
            assert!(mse < 0.1 * 0.1 * 0.5, "{penalty:?}, {dim}-D: {mse}");
            // Fitted values, residuals, outliers and predictions are one thing.
            for (i, p) in problem.points().iter().enumerate() {
                let outlier = model.outliers().iter().find(|o| o.index == i);
                let off = outlier.map_or(0.0, |o| o.value) + model.residual()[i];
                assert!((problem.y[i] - model.fitted()[i] - off).abs() < 1e-9);
                assert!((model.predict(p).unwrap() - model.fitted()[i]).abs() < 1e-6);
            }
        }
    }
}

/// A single value, however large, changes nothing but itself.
#[test]
fn size_of_an_outlier_does_not_matter() {
    let (x, clean) = noisy_sine(60, 0.1);
    let with = |value: f64| {
        let mut y = clean.clone();
        y[20] = value;
        Tuner::new().fit(&x, &y).unwrap()
    };
    let first = with(1e2);
    assert!(indices(&first).contains(&20));
    assert!(largest_error(&first, &x, f64::sin) < 0.3);
    for value in [1e6, 1e12, 1e20, f64::MAX] {
        let other = with(value);
        assert_eq!(indices(&other), indices(&first), "{value}");
        let apart = largest_error(&other, &x, |x| first.predict(&[x]).unwrap());
        assert!(apart < 1e-5, "{value}: {apart}");
        let off = other.outliers().iter().find(|o| o.index == 20).unwrap().value;
        assert!((off / value - 1.0).abs() < 0.1);
    }
}

#[test]
fn size_of_an_outlier_does_not_matter_in_f32() {
    let (x, clean) = noisy_sine(60, 0.1);
    let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    for value in [1e2_f32, 1e6, 1e12, f32::MAX] {
        let mut y: Vec<f32> = clean.iter().map(|&y| y as f32).collect();
        y[20] = value;
        let model = Tuner::new().fit(&x, &y).unwrap();
        assert!(indices(&model).contains(&20));
        for &x in &x {
            assert!((model.predict(&[x]).unwrap() - x.sin()).abs() < 0.3, "{value}");
        }
    }
}

/// Units and offsets of inputs and target change nothing but themselves.
#[test]
fn units_do_not_matter() {
    let problem = Problem::new(90, 1, 8, 0.1, 11);
    let first = Tuner::new().fit(&problem.x, &problem.y).unwrap();
    let scale = |v: &[f64], a: f64, b: f64| -> Vec<f64> { v.iter().map(|v| a * v + b).collect() };
    let units = [
        (1e-8, 0.0, 1.0, 0.0),
        (1.0, 1e4, 1.0, 0.0),
        (1e30, 1e31, 1e-30, 0.0),
        (1e-300, 0.0, 1e200, 0.0),
        (-3.0, 7.0, 1e6, 1e8),
        (1e300, 0.0, 1e-200, 0.0),
    ];
    for (a, b, c, d) in units {
        let (x, y) = (scale(&problem.x, c, d), scale(&problem.y, a, b));
        let other = Tuner::new().fit(&x, &y).unwrap();
        assert_eq!(indices(&other), indices(&first), "{a} {b} {c} {d}");
        assert!((other.noise() / (a.abs() * first.noise()) - 1.0).abs() < 1e-3);
        for (f, g) in other.fitted().iter().zip(first.fitted()) {
            let apart = ((f - b) / a - g).abs();
            assert!(apart < 1e-4, "{a} {b} {c} {d}: {apart}");
        }
    }
}

#[test]
fn inputs_of_different_units() {
    let mut random = Random(3);
    let x: Vec<f64> =
        (0..150).flat_map(|_| [random.uniform(), 1000.0 * random.uniform()]).collect();
    let truth = |p: &[f64]| (6.0 * p[0]).sin() + (p[1] / 200.0).cos();
    let mut y: Vec<f64> = x.chunks(2).map(|p| truth(p) + 0.05 * random.normal()).collect();
    let wrong: Vec<usize> = (0..15).map(|i| 10 * i + 3).collect();
    for &i in &wrong {
        y[i] += 2.0;
    }
    let model = Tuner::new().fit(Points::new(&x, 2).unwrap(), &y).unwrap();
    assert_eq!(missed(model.outliers(), &wrong), 0);
    assert!(model.outliers().len() <= 17);
    for p in x.chunks(2) {
        assert!((model.predict(p).unwrap() - truth(p)).abs() < 0.15);
    }
}

#[test]
fn nothing_is_wrong_with_data_without_noise() {
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    let of = |f: &dyn Fn(f64) -> f64| -> Vec<f64> { x.iter().map(|&x| f(x)).collect() };
    type Exact = (&'static str, fn(f64) -> f64, f64);
    let exact: [Exact; 5] = [
        ("sine", f64::sin, 1e-4),
        ("line", |x| 2.0 * x + 1.0, 1e-6),
        ("square", |x| x * x, 1e-3),
        ("constant", |_| 3.0, 0.0),
        ("zero", |_| 0.0, 0.0),
    ];
    for (name, f, tolerance) in exact {
        let model = Tuner::new().fit(&x, &of(&f)).unwrap();
        assert!(model.outliers().is_empty(), "{name}: {:?}", model.outliers());
        assert!(largest_error(&model, &x, f) <= tolerance, "{name}");
    }
    // Digits of a display, and the last one of them flickering.
    let rounded = Tuner::new().fit(&x, &of(&|x| (10.0 * x.sin()).round())).unwrap();
    assert!(rounded.outliers().is_empty());
    let mut flicker = vec![1000.0; 100];
    for i in [17, 50, 80] {
        flicker[i] += if i == 50 { 1.0 } else { -1.0 };
    }
    assert!(Tuner::new().fit(&x, &flicker).unwrap().outliers().is_empty());
    // What stands out of a constant does so by more than a digit.
    let mut spike = vec![3.0; 100];
    spike[17] = 5.0;
    let model = Tuner::new().fit(&x, &spike).unwrap();
    assert_eq!(indices(&model), [17]);
    assert_eq!((model.outliers()[0].value, model.predict(&[1.7]).unwrap()), (2.0, 3.0));
}

/// Friedman's function with five inputs that matter and five that do not.
#[test]
fn many_inputs() {
    let mut random = Random(8);
    let truth = |p: &[f64]| {
        10.0 * (std::f64::consts::PI * p[0] * p[1]).sin()
            + 20.0 * (p[2] - 0.5).powi(2)
            + 10.0 * p[3]
            + 5.0 * p[4]
    };
    let draw = |n: usize, random: &mut Random| -> Vec<f64> {
        (0..10 * n).map(|_| random.uniform()).collect()
    };
    let x = draw(200, &mut random);
    let mut y: Vec<f64> = x.chunks(10).map(|p| truth(p) + random.normal()).collect();
    for i in 0..20 {
        y[10 * i + 1] += if i % 2 == 0 { 15.0 } else { -15.0 };
    }
    let model = Tuner::new().fit(Points::new(&x, 10).unwrap(), &y).unwrap();
    let test = draw(300, &mut random);
    let values: Vec<f64> = test.chunks(10).map(truth).collect();
    let mean = values.iter().sum::<f64>() / 300.0;
    let (mut error, mut spread) = (0.0, 0.0);
    for (p, v) in test.chunks(10).zip(&values) {
        error += (model.predict(p).unwrap() - v).powi(2);
        spread += (v - mean).powi(2);
    }
    let relative = (error / spread).sqrt();
    assert!(relative < 0.25, "{relative}");
    let relevance = model.relevance();
    assert!((relevance.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let least = relevance[..5].iter().copied().fold(1.0, f64::min);
    let most = relevance[5..].iter().copied().fold(0.0, f64::max);
    assert!(least > 3.0 * most, "{relevance:?}");
}

/// The posterior of a Gaussian process by dense matrices: universal kriging with
/// a constant.
#[test]
fn uncertainty_is_the_posterior() {
    let problem = Problem::new(30, 1, 0, 0.1, 2);
    let given = kernel("matern52(0.4)");
    let tuner = Tuner::with_kernel(given.clone()).lambda(0.05).trend(Trend::None);
    let tuner = tuner.standardize(false).outliers(false).uneven_noise(false);
    let model = tuner.fit(&problem.x, &problem.y).unwrap();
    let n = problem.n();
    let at = |a: f64, b: f64| given.evaluate(&[a], &[b]);
    let c = DMatrix::from_fn(n, n, |i, j| {
        at(problem.x[i], problem.x[j]) + if i == j { 0.05 } else { 0.0 }
    });
    let inverse = c.try_inverse().unwrap();
    let y = DVector::from_column_slice(&problem.y);
    let one = DVector::from_element(n, 1.0);
    let information = one.dot(&(&inverse * &one));
    let bias = one.dot(&(&inverse * &y)) / information;
    let v = y - &one * bias;
    let variance = v.dot(&(&inverse * &v)) / (n - 1) as f64;
    let uncertainty = model.uncertainty().unwrap();
    for x in [-0.2, 0.11, 0.5, 0.77, 1.6] {
        let k = DVector::from_fn(n, |i, _| at(x, problem.x[i]));
        let prediction = uncertainty.at(&[x]).unwrap();
        let mean = bias + k.dot(&(&inverse * &v));
        let unknown = 1.0 - one.dot(&(&inverse * &k));
        let explained = k.dot(&(&inverse * &k)) - unknown * unknown / information;
        let of_f = variance * (at(x, x) - explained);
        assert!((prediction.value - mean).abs() < 1e-9, "{x}");
        assert!((prediction.deviation / of_f.sqrt() - 1.0).abs() < 1e-8, "{x}");
        assert!((prediction.noise / (0.05 * variance).sqrt() - 1.0).abs() < 1e-9);
        let (low, high) = prediction.interval(0.95).unwrap();
        let half = 1.959_96 * prediction.total_deviation();
        assert!((high - low - 2.0 * half).abs() < 1e-2 * half);
    }
    let prediction = uncertainty.at(&[0.5]).unwrap();
    for level in [0.0, 1.0, f64::NAN] {
        assert!(matches!(prediction.interval(level), Err(Error::NotPositive { .. })));
    }
}

/// Of new measurements, 95 % lie in the intervals for 95 %.
#[test]
fn intervals_cover_what_they_say() {
    let (mut inside, mut all) = (0.0, 0.0);
    for seed in 0..8 {
        let problem = Problem::new(120, 1, 8, 0.2, seed);
        let model = Tuner::new().fit(&problem.x, &problem.y).unwrap();
        let uncertainty = model.uncertainty().unwrap();
        let mut random = Random(seed + 100);
        for _ in 0..100 {
            let x = random.uniform();
            let y = (5.0 * x).sin() + 0.2 * random.normal();
            let (low, high) = uncertainty.at(&[x]).unwrap().interval(0.95).unwrap();
            all += 1.0;
            inside += f64::from(u8::from(low <= y && y <= high));
        }
    }
    let share = inside / all;
    assert!((share - 0.95_f64).abs() < 0.03, "{share}");
}

/// Rows that are known to be noisy count less, and are no outliers for it.
#[test]
fn weights_are_inverse_variances() {
    let mut random = Random(9);
    let x: Vec<f64> = (0..120).map(|i| f64::from(i) / 20.0).collect();
    let deviation = |i: usize| if i.is_multiple_of(3) { 1.0 } else { 0.05 };
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| x.sin() + deviation(i) * random.normal()).collect();
    let weights: Vec<f64> = (0..120).map(|i| 700.0 / deviation(i).powi(2)).collect();
    let model = Tuner::new().fit_weighted(&x, &y, &weights).unwrap();
    assert!(model.outliers().len() <= 1, "{:?}", model.outliers());
    assert!(largest_error(&model, &x, f64::sin) < 0.1);
    let refused = |weights: &[f64]| Tuner::new().fit_weighted(&x, &y, weights).unwrap_err();
    assert!(matches!(refused(&weights[1..]), Error::Length { .. }));
    assert!(matches!(refused(&[0.0; 120]), Error::NotPositive { .. }));
}

/// What is linear goes on where there are no data.
#[test]
fn trends_go_on() {
    let mut random = Random(4);
    let x: Vec<f64> = (0..80).map(|i| f64::from(i) / 8.0).collect();
    let y: Vec<f64> =
        x.iter().map(|x| 5.0 + 3.0 * x + (2.0 * x).sin() + 0.1 * random.normal()).collect();
    let at = |trend: Trend| {
        let model = Tuner::new().trend(trend).fit(&x, &y).unwrap();
        (model.predict(&[15.0]).unwrap(), model.slopes())
    };
    for trend in [Trend::Automatic, Trend::Free] {
        let (far, slopes) = at(trend);
        assert!((far - 50.0).abs() < 4.0, "{trend:?}: {far}");
        assert!((slopes[0] - 3.0).abs() < 0.5, "{trend:?}: {slopes:?}");
    }
    assert!(at(Trend::None).1.is_empty());
}

/// More points than parameters are tuned to: every point is judged all the same.
#[test]
fn many_points() {
    let problem = Problem::new(900, 1, 40, 0.1, 3);
    assert!(problem.n() > tune::MOST);
    let model = Tuner::new().fit(&problem.x, &problem.y).unwrap();
    assert_eq!(missed(model.outliers(), &problem.wrong), 0);
    assert!(model.outliers().len() <= 45);
    assert!(largest_error(&model, &problem.x, |x| (5.0 * x).sin()) < 0.1);
}

/// Many wrong points at a time, at both ends and in bursts.
#[test]
fn outliers_in_bursts() {
    let mut random = Random(12);
    let x: Vec<f64> = (0..160).map(|i| f64::from(i) / 16.0).collect();
    let mut y: Vec<f64> = x.iter().map(|x| x.sin() + 0.1 * random.normal()).collect();
    let wrong: Vec<usize> = [0, 40, 90, 155].iter().flat_map(|&start| start..start + 5).collect();
    for &i in &wrong {
        y[i] += 2.0;
    }
    let model = Tuner::new().fit(&x, &y).unwrap();
    assert_eq!(missed(model.outliers(), &wrong), 0);
    assert!(model.outliers().len() <= wrong.len() + 2);
}

#[test]
fn kernels_of_the_users_are_tuned() {
    let mut random = Random(1);
    let x: Vec<f64> = (0..150).map(|i| f64::from(i) / 25.0).collect();
    let f = |x: f64| (std::f64::consts::TAU * x).sin() + 0.2 * x;
    let mut y: Vec<f64> = x.iter().map(|&x| f(x) + 0.1 * random.normal()).collect();
    y[70] += 2.0;
    let tuner = Tuner::with_kernel(kernel("periodic(1) + matern52"));
    let model = tuner.fit(&x, &y).unwrap();
    assert_eq!(indices(&model), [70]);
    assert!(model.kernel().to_string().starts_with("periodic(1"), "{}", model.kernel());
    // It has learned the period's shape, and goes on with it.
    for x in [6.1, 6.4, 6.7] {
        assert!((model.predict(&[x]).unwrap() - f(x)).abs() < 0.3, "{x}");
    }
    // A concrete kernel of the library, and what is given stays.
    let model = Tuner::with_kernel(Gaussian::new(1.0)).fit(&x, &y).unwrap();
    assert!(model.kernel().sigma() != 1.0);
    let model = Tuner::with_kernel(kernel("gaussian(0.5)")).lambda(0.03).fit(&x, &y).unwrap();
    assert_eq!(model.kernel().to_string(), "gaussian(0.5)");
    assert!((model.lambda() - 0.03).abs() < 1e-12);
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let y = x.clone();
    let fit = |x: &[f64], y: &[f64]| Tuner::new().fit(x, y).unwrap_err();
    assert!(matches!(fit(&x[..7], &y[..7]), Error::TooShort { needed: 8, found: 7, .. }));
    assert!(matches!(fit(&x, &y[1..]), Error::Length { .. }));
    let mut bad = y.clone();
    bad[3] = f64::NAN;
    assert!(matches!(fit(&x, &bad), Error::NotFinite { index: 3, .. }));
    assert!(matches!(fit(&bad, &y), Error::NotFinite { index: 3, .. }));
    let lambda = Tuner::new().lambda(-1.0).fit(&x, &y).unwrap_err();
    assert!(matches!(lambda, Error::NotPositive { what: "lambda", .. }));
    let model = Tuner::new().fit(&x, &y).unwrap();
    assert!(matches!(model.predict(&[1.0, 2.0]), Err(Error::Dimension { .. })));
    assert!(matches!(model.predict(&[f64::INFINITY]), Err(Error::NotFinite { .. })));
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
        let fit = Tuner::new().fit(&problem.x, &problem.y).unwrap();
        assert_eq!(missed(fit.outliers(), &problem.wrong), 0, "seed {seed}");
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
    let fit = Tuner::new().fit(points, &y).unwrap();
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

/// Outliers of one size say nothing of the noise's own tails: these stay, where a limit
/// that only counts outliers flags one or two of them a data set.
#[test]
fn tails_of_the_noise_are_no_outliers() {
    let mut false_alarms = 0;
    for seed in 0..12 {
        let mut random = Random(100 + seed);
        let x: Vec<f64> = (0..150).map(|i| f64::from(i) / 15.0).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 3.0 * x.sin() + 0.3 * random.normal()).collect();
        let wrong: Vec<usize> = (0..150).filter(|i| i % 6 == (i / 6) % 5).collect();
        for &i in &wrong {
            y[i] += if random.uniform() < 0.5 { -6.0 } else { 6.0 };
        }
        let model = Tuner::new().fit(&x, &y).unwrap();
        assert_eq!(missed(model.outliers(), &wrong), 0, "{seed}");
        false_alarms += model.outliers().len() - wrong.len();
    }
    assert!(false_alarms <= 4, "{false_alarms} of {}", 12 * 125);
}

/// Functions that swing around their mean are waves to the tuner, and the better for it.
#[test]
fn waves_are_found() {
    let sinc = |x: f64| if x == 0.0 { 1.0 } else { (20.0 * x).sin() / (20.0 * x) };
    let (mut with, mut without) = (0.0, 0.0);
    for seed in 0..6 {
        let mut random = Random(seed);
        let x: Vec<f64> = (0..199).map(|i| f64::from(i) / 100.0 - 0.99).collect();
        let y: Vec<f64> = x.iter().map(|&x| sinc(x) + 0.03 * random.normal()).collect();
        let error = |model: &Model<f64, AnyKernel<f64>>| {
            let at = |i: u32| f64::from(i) / 100.0 - 0.985;
            (0..198).map(|i| (model.predict(&[at(i)]).unwrap() - sinc(at(i))).powi(2)).sum::<f64>()
        };
        let model = Tuner::new().fit(&x, &y).unwrap();
        assert!(model.kernel().to_string().contains("cosine"), "{}", model.kernel());
        with += error(&model);
        without += error(&Tuner::with_kernel(kernel("gaussian")).fit(&x, &y).unwrap());
    }
    assert!(with < 0.97 * without, "{with} {without}");
}

/// A converter's last digit is no outlier, however odd its step; a sentinel is one, however
/// often it comes.
#[test]
fn the_last_digit_of_a_constant_flickers() {
    let level = |steps: f64| 3.3 / 1024.0 * steps;
    let x: Vec<f64> = (0..80).map(f64::from).collect();
    let often = |i: usize| i * i % 10 == 4; // two in ten
    let flicker = |up: f64| (0..80).map(|i| if often(i) { up } else { level(500.0) }).collect();
    let fit = |y: &Vec<f64>| indices(&Tuner::new().fit(&x, y).unwrap());
    assert_eq!(fit(&flicker(level(501.0))), [0_usize; 0]);
    let sentinels: Vec<usize> = (0..80).filter(|&i| often(i)).collect();
    assert_eq!(fit(&flicker(-999.0)), sentinels);
    let mut y: Vec<f64> = flicker(level(501.0));
    y[30] = 1e9;
    assert_eq!(fit(&y), [30]);
    // The step of 0.1 is not exact in binary.
    let tenths = |wrong: f64| (0..80).map(|i| if i == 20 { wrong } else { 7.1 }).collect();
    assert_eq!(fit(&tenths(7.2)), [0_usize; 0]);
    assert_eq!(fit(&tenths(8.1)), [20]);
}
