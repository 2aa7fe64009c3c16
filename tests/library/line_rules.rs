//! Stopping rules, long series, borrowed memory, other scalars, and figures
//! that nobody here computed.

use crate::common::problem::Random;
use crate::line::{SPACINGS, samples};
use kgard::line::{Cell, Line, LineMemory, LineRef, MarkovOf, Node};
use kgard::regression::stop::Reading;
use kgard::{
    Error, Kernel, Laplacian, Matern32, Matern52, Progress, Regularizer, Stop, StopReason, fit,
};

/// 10 samples to a length of 1.
fn long(n: usize, share: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut random = Random(seed);
    let mut x: Vec<f64> = (0..n).map(|_| n as f64 / 10.0 * random.uniform()).collect();
    x.sort_by(f64::total_cmp);
    let y = samples(&x, share, &mut random);
    (x, y)
}

#[test]
fn rules_end_where_they_do_in_the_dense_method() {
    for (seed, share) in [(1, 0.0), (2, 0.02), (3, 0.1), (4, 0.25)] {
        let (x, y) = long(900, share, seed);
        let line = Line::new(&x, Matern32::new(1.0), 0.3).unwrap();
        let rules = [
            Stop::automatic(),
            Stop::automatic().at_most(7),
            Stop::residual_norm(4.0),
            Stop::residual_norm(5.0).studentized(),
            Stop::max_residual(0.4),
            Stop::max_residual(0.5).studentized(),
            Stop::histogram(0.5, Reading::Once),
            Stop::histogram(0.5, Reading::EveryStep),
        ];
        for rule in rules {
            let dense = fit(&x, &y, Matern32::new(1.0), Regularizer::rkhs(0.3), rule).unwrap();
            let order: Vec<usize> = dense.outliers().iter().map(|o| o.index).collect();
            let ours = line.fit(&y, rule).unwrap();
            assert_eq!(ours.support(), order, "{rule:?}, seed {seed}");
            assert_eq!(ours.stop_reason(), dense.stop_reason(), "{rule:?}, seed {seed}");
        }
        // A rule of the user's own sees what it sees there.
        let own = |p: &mut Progress<'_, f64>| {
            let largest = p.residual.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
            assert_eq!(largest, p.max());
            assert!(
                (p.norm().powi(2) - p.residual.iter().map(|r| r * r).sum::<f64>()).abs() < 1e-9
            );
            assert!(p.variances.is_empty() && p.outliers.iter().all(|&j| p.residual[j] == 0.0));
            largest < 0.45
        };
        let ours = line.fit(&y, own).unwrap();
        assert_eq!(ours.stop_reason(), StopReason::UserRule);
        let same = line.fit(&y, Stop::max_residual(0.45)).unwrap();
        assert_eq!(ours.support(), same.support());
    }
}

#[test]
fn the_automatic_rule_counts_right() {
    // Data with ties, steps, gross values and hardly any noise; one-sided, constant.
    let n = 1500;
    let (x, clean) = long(n, 0.0, 5);
    let mut random = Random(6);
    let mut dirty = |share: f64, change: fn(f64) -> f64| -> Vec<f64> {
        samples(&x, share, &mut random).into_iter().map(change).collect()
    };
    let mut all = vec![
        ("rounded", dirty(0.05, |y| (4.0 * y).round() / 4.0)),
        ("steps", dirty(0.05, f64::round)),
        ("gross", dirty(0.05, |y| y.powi(25))),
        ("one-sided", dirty(0.2, |y| y.abs() + y)),
        ("far away", dirty(0.1, |y| y + 1e6)),
    ];
    let mut smooth: Vec<f64> = x.iter().map(|x| (0.3 * x).sin()).collect();
    (0..n).step_by(97).for_each(|i| smooth[i] += 3.0 + i as f64);
    all.push(("smooth", smooth));
    let mut constant = vec![2.0; n];
    (0..n).step_by(97).for_each(|i| constant[i] = 3.0 + i as f64);
    all.push(("zeros", constant.iter().map(|y| y - 2.0).collect()));
    all.push(("constant", constant));
    let mut offset = clean;
    (0..n).step_by(11).for_each(|i| offset[i] += 5.0);
    all.push(("offset", offset));
    let kernel = Laplacian::new(1.0);
    let line = Line::new(&x, kernel, 0.5).unwrap();
    for (name, y) in all {
        let ours = line.fit(&y, Stop::automatic()).unwrap();
        let dense = fit(&x, &y, kernel, Regularizer::rkhs(0.5), Stop::automatic()).unwrap();
        let order: Vec<usize> = dense.outliers().iter().map(|o| o.index).collect();
        let (found, right) = (ours.support().len(), order.len());
        assert!(ours.support() == order, "{name}: {found} instead of {right}");
        assert_eq!(ours.stop_reason(), StopReason::Automatic, "{name}");
    }
}

#[test]
fn ten_thousand_removals_are_a_fresh_pass() {
    let (x, y) = long(60_000, 0.25, 8);
    let line = Line::new(&x, Matern52::new(1.0), 0.1).unwrap();
    let found = line.fit(&y, Stop::count(10_000).studentized()).unwrap();
    let fresh = line.fit_support(&y, found.support()).unwrap();
    let worst = |a: Vec<f64>, b: Vec<f64>| {
        a.iter()
            .zip(&b)
            .map(|(a, b)| if a.is_nan() { 0.0 } else { (a - b).abs() })
            .fold(0.0, f64::max)
    };
    assert!(worst(found.residual(), fresh.residual()) < 1e-11);
    assert!(worst(found.fitted(), fresh.fitted()) < 1e-11);
    assert!(worst(found.variances(), fresh.variances()) < 1e-11);
    assert!((found.log_likelihood() / fresh.log_likelihood() - 1.0).abs() < 1e-12);
    assert_eq!(fresh.stop_reason(), StopReason::GivenSupport);
}

/// The same in memory of the caller.
fn borrowed<T: kgard::Real, K: MarkovOf<T, D> + Clone, const D: usize>(
    x: &[T],
    y: &[T],
    kernel: K,
    lambda: T,
    stop: Stop<T>,
) -> Result<(Vec<usize>, Vec<T>), Error> {
    let n = x.len();
    let line = LineRef::<T, K, D, 1>::new(x, kernel, lambda)?;
    let mut cells = vec![Cell::default(); n];
    let mut nodes = vec![Node::default(); LineRef::<T, K, D, 1>::nodes(n)];
    let mut indices = vec![0; n];
    let mut scalars = vec![T::zero(); LineRef::<T, K, D, 1>::scalars(n, n)];
    let memory = LineMemory::new(&mut cells, &mut nodes, &mut indices, &mut scalars);
    let fit = line.fit(y, stop, memory)?;
    let mut fitted = vec![T::zero(); n];
    fit.fitted(&mut fitted)?;
    Ok((fit.outliers().map(|o| o.index).collect(), fitted))
}

#[test]
fn borrowed_memory_gives_the_same() {
    for (seed, spacing) in SPACINGS.into_iter().enumerate() {
        let mut random = Random(seed as u64);
        let x = spacing.points(700, &mut random);
        let y = samples(&x, 0.1, &mut random);
        for stop in [Stop::automatic(), Stop::max_residual(0.4), Stop::count(100)] {
            let kernel = Matern32::new(0.5);
            let owned = Line::new(&x, kernel, 0.1).unwrap().fit(&y, stop).unwrap();
            let (support, fitted) = borrowed(&x, &y, kernel, 0.1, stop).unwrap();
            assert_eq!(support, owned.support(), "{spacing:?}");
            assert_eq!(fitted, owned.fitted(), "{spacing:?}");
        }
    }
}

#[test]
fn single_precision() {
    let (x, y) = long(2000, 0.05, 9);
    let narrow = |v: &[f64]| v.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let (x, y) = (narrow(&x), narrow(&y));
    let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
    let exact = Line::new(&wide(&x), Matern32::new(1.0), 0.1).unwrap();
    let exact = exact.fit(&wide(&y), Stop::automatic()).unwrap();
    let (support, fitted) =
        borrowed(&x, &y, Matern32::new(1.0_f32), 0.1, Stop::automatic()).unwrap();
    let sorted = |mut s: Vec<usize>| {
        s.sort_unstable();
        s
    };
    assert_eq!(sorted(support), sorted(exact.support().to_vec()));
    for (a, b) in fitted.iter().zip(exact.fitted()) {
        assert!((f64::from(*a) - b).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn one_gross_value_is_one_outlier() {
    let (x, mut y) = long(2000, 0.03, 10);
    let line = Line::new(&x, Matern32::new(1.0), 0.1).unwrap();
    let before = line.fit(&y, Stop::automatic()).unwrap();
    let already = before.support().contains(&1234);
    for gross in [1e6, 1e20, -1e150] {
        y[1234] = gross;
        let fit = line.fit(&y, Stop::automatic()).unwrap();
        assert_eq!(fit.support()[0], 1234);
        let others: Vec<usize> = fit.support().iter().copied().filter(|&i| i != 1234).collect();
        let expected: Vec<usize> =
            before.support().iter().copied().filter(|&i| i != 1234).collect();
        assert_eq!(others, expected, "{already}");
        assert!((fit.outliers()[0].value / gross - 1.0).abs() < 1e-5);
        // What it was leaves no trace.
        y[1234] = 0.0;
        let same = line.fit_support(&y, fit.support()).unwrap();
        for (a, b) in fit.fitted().iter().zip(same.fitted()) {
            assert!((a - b).abs() < 1e-11, "{gross}: {a} {b}");
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let x = [0.0, 1.0, 2.0, 3.0];
    let kernel = Matern32::new(1.0);
    let line = Line::new(&x, kernel, 0.1).unwrap();
    let none: [f64; 0] = [];
    assert_eq!(Line::new(&none, kernel, 0.1).unwrap_err(), Error::Empty { what: "list of points" });
    assert!(matches!(
        Line::new(&[0.0, f64::NAN], kernel, 0.1),
        Err(Error::NotFinite { index: 1, .. })
    ));
    assert!(matches!(Line::new(&x, kernel, 0.0), Err(Error::NotPositive { what: "lambda", .. })));
    assert!(matches!(Line::new(&x, Matern32::new(-1.0), 0.1), Err(Error::NotPositive { .. })));
    assert!(matches!(line.fit(&x[..3], Stop::count(0)), Err(Error::Length { found: 3, .. })));
    let y = [0.0, f64::NAN, 1.0, f64::INFINITY];
    assert!(matches!(line.fit(&y, Stop::count(0)), Err(Error::NotFinite { index: 1, .. })));
    assert!(matches!(
        line.fit_with_gaps(&y, Stop::count(0)),
        Err(Error::NotFinite { index: 3, .. })
    ));
    let missing = [f64::NAN; 4];
    assert!(matches!(line.fit_with_gaps(&missing, Stop::count(0)), Err(Error::Empty { .. })));
    assert!(matches!(line.fit_support(&x, &[4]), Err(Error::Index { index: 4, len: 4 })));
    assert!(matches!(line.fit_support(&x, &[1, 1]), Err(Error::Duplicate { index: 1 })));
    assert!(line.clone().with_deviations(&[1.0; 3]).is_err());
    assert!(line.clone().with_deviations(&[1.0, 0.0, 1.0, 1.0]).is_err());
    assert!(line.fit(&x, Stop::count(0)).unwrap().predict(f64::NAN).is_err());
    assert!(matches!(line.fit(&x, Stop::max_residual(-1.0)), Err(Error::Negative { .. })));
    let huge = [1e308, -1e308, 1e308, -1e308];
    assert!(matches!(line.fit(&huge, Stop::max_residual(0.1)), Err(Error::Overflow { .. })));
    let short = LineRef::<_, _, 2, 1>::new(&x, kernel, 0.1).unwrap();
    let (mut cells, mut nodes, mut indices) = ([Cell::default(); 4], [Node::default(); 1], [0; 2]);
    let mut scalars = [0.0; 6];
    let memory = LineMemory::new(&mut cells[..3], &mut nodes, &mut indices, &mut scalars);
    assert!(matches!(
        short.fit(&x, Stop::count(0), memory),
        Err(Error::TooShort { needed: 4, .. })
    ));
    let own = |_: &mut Progress<'_, f64>| true;
    let memory = LineMemory::new(&mut cells, &mut nodes, &mut indices, &mut scalars);
    assert!(matches!(short.fit(&x, own, memory), Err(Error::TooShort { needed: 14, .. })));
}

#[test]
fn small_and_degenerate() {
    let kernel = Matern32::new(1.0);
    // With a bias the last point cannot leave.
    for n in [1, 2, 3, 129] {
        let x: Vec<f64> = (0..n).map(|i| (i / 2) as f64).collect();
        let y: Vec<f64> = (0..n).map(|i| (i * i % 7) as f64).collect();
        let fit = Line::new(&x, kernel, 0.1).unwrap().fit(&y, Stop::max_residual(0.0)).unwrap();
        assert!(fit.support().len() < n && fit.residual_norm() < 1e-9, "n = {n}");
        let fit = Line::with_trend(&x, kernel, 0.1).unwrap().fit(&y, Stop::max_residual(0.0));
        assert!(fit.unwrap().fitted().iter().all(|f| f.is_finite()), "n = {n}");
        let fit = Line::without_bias(&x, kernel, 0.1).unwrap().fit(&y, Stop::max_residual(0.0));
        assert!(fit.unwrap().residual_norm() < 1e-9, "n = {n}");
    }
    // Constants, and points all in one place.
    let fit =
        Line::new(&[1.0; 50], kernel, 0.1).unwrap().fit(&[2.5; 50], Stop::automatic()).unwrap();
    assert_eq!(fit.support().len(), 0);
    assert!(fit.fitted().iter().all(|f| (f - 2.5).abs() < 1e-12));
    assert!((fit.bias() - 2.5).abs() < 1e-12);
}

/// tinygp's figures; `data/line.py` tells how they were made.
#[test]
fn others_agree() {
    let mut rows = include_str!("../data/line.csv").lines().map(|line| line.split(','));
    let names: Vec<&str> = rows.next().unwrap().collect();
    let rows: Vec<Vec<f64>> = rows.map(|row| row.map(|c| c.parse().unwrap()).collect()).collect();
    let column = |name: &str| -> Vec<f64> {
        let at = names.iter().position(|n| *n == name).unwrap();
        rows.iter().map(|row| row[at]).collect()
    };

    fn check<K: MarkovOf<f64, D> + Clone, const D: usize>(
        kernel: K,
        name: &str,
        column: impl Fn(&str) -> Vec<f64>,
    ) {
        let lambda = 0.05;
        let (x, y, s) = (column("x"), column("y"), column("s"));
        let line = Line::without_bias(&x, kernel, lambda).unwrap().with_deviations(&s).unwrap();
        let fit = line.fit(&y, Stop::count(0)).unwrap();
        let (n, noise) = (x.len() as f64, fit.noise());
        // Their function has the variance 1, ours that of the best likelihood.
        let scale = noise / lambda.sqrt();
        let (means, deviations) =
            (column(&format!("{name}_mean")), column(&format!("{name}_deviation")));
        for ((at, mean), deviation) in column("at").into_iter().zip(means).zip(deviations) {
            let ours = fit.predict(at).unwrap();
            assert!((ours.mean - mean).abs() < 1e-9, "{name}: {} {mean}", ours.mean);
            let ours = ours.deviation / scale;
            assert!((ours - deviation).abs() < 1e-8, "{name}: {ours} {deviation} at {at}");
        }
        let squares = n * scale * scale;
        let tau = std::f64::consts::TAU;
        let determinant = -2.0 * fit.log_likelihood() - n * (1.0 + (tau * scale * scale).ln());
        let log = -(squares + determinant + n * tau.ln()) / 2.0;
        let theirs = column(&format!("{name}_log"))[0];
        assert!((log - theirs).abs() < 1e-9, "{name}: {log} {theirs}");
    }

    check(Laplacian::new(0.4), "matern12", column);
    check(Matern32::new(0.4), "matern32", column);
    check(Matern52::new(0.4), "matern52", column);
    check(Matern52::new(2.0).plus(Matern32::new(0.4).scaled(0.25)), "sum", column);
}
