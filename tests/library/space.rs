//! Points in space: low rank and regions, held to the dense method.

use crate::common::oracle::gauss;
use crate::common::problem::{Problem, Random};
use kgard::space::{LowRank, Regions, Space, SpaceTuner, Way};
use kgard::{
    Error, Gaussian, Kernel, Matern32, Plan, Points, Progress, Regularizer, Stop, StopRule,
};

/// The kernel that a decomposition leaves: $\kappa_P(a, P) K_{PP}^{-1} \kappa(P, b)$, in the
/// obvious way.
fn approximated<K: Kernel<f64> + Clone>(
    kernel: K,
    pivots: Points<'_, f64>,
) -> impl Fn(&[f64], &[f64]) -> f64 + Clone {
    let (p, dim) = (pivots.len(), pivots.dim());
    let pivots: Vec<f64> = pivots.coordinates().to_vec();
    let point = |i: usize| &pivots[i * dim..][..dim];
    let gram = faer::Mat::from_fn(p, p, |i, j| kernel.evaluate(point(i), point(j)));
    let inverse = {
        use faer::linalg::solvers::DenseSolveCore;
        gram.partial_piv_lu().inverse()
    };
    let pivots = pivots.clone();
    move |a: &[f64], b: &[f64]| {
        let with = |x: &[f64]| -> Vec<f64> {
            (0..p).map(|i| kernel.evaluate(x, &pivots[i * dim..][..dim])).collect()
        };
        let (ka, kb) = (with(a), with(b));
        (0..p).map(|i| (0..p).map(|j| ka[i] * inverse[(i, j)] * kb[j]).sum::<f64>()).sum()
    }
}

/// All steps of a search: the largest scores, and at the end the outliers.
struct Steps {
    studentized: bool,
    cap: usize,
    looks: bool,
    extremes: Vec<f64>,
    norms: Vec<f64>,
}

impl StopRule<f64> for &mut Steps {
    fn check(&mut self, progress: &mut Progress<'_, f64>) -> Option<kgard::StopReason> {
        self.extremes.push(progress.extreme());
        self.norms.push(progress.norm());
        None
    }
    fn cap(&self) -> usize {
        self.cap
    }
    fn studentized(&self) -> bool {
        self.studentized
    }
    fn looks_at_residuals(&self) -> bool {
        self.looks
    }
}

#[test]
fn a_search_by_bounds_is_algorithm_1_on_the_approximated_kernel() {
    for seed in 0..6 {
        let problem = Problem::new(180, 2, 25, 0.1, seed);
        let lambda = [1e-3, 0.03, 1.0][seed as usize % 3];
        let studentized = seed % 2 == 0;
        let kernel = Gaussian::new(0.7);
        let solver = LowRank::new(problem.points(), kernel, lambda).unwrap();
        let steps = |looks| Steps { studentized, cap: 60, looks, extremes: vec![], norms: vec![] };
        let (mut ours, mut dense) = (steps(false), steps(true));
        let fit = solver.fit(&problem.y, &mut ours).unwrap();
        let exact = approximated(kernel, fit.pivots());
        let plan = Plan::new(problem.points(), exact, Regularizer::rkhs(lambda)).unwrap();
        let expected = plan.fit(&problem.y, &mut dense).unwrap();

        let order =
            |outliers: &[kgard::Outlier<f64>]| outliers.iter().map(|o| o.index).collect::<Vec<_>>();
        assert_eq!(order(fit.outliers()), order(expected.outliers()), "seed {seed}");
        for (a, b) in ours.extremes.iter().zip(&dense.extremes) {
            // The kernel matrix of the pivots, which only the oracle inverts, has a condition
            // of 1e6.
            assert!((a - b).abs() < 1e-6 * (1.0 + b), "seed {seed}: {a} for {b}");
        }
        for (a, b) in ours.norms.iter().zip(&dense.norms) {
            assert!((a - b).abs() < 1e-6 * (1.0 + b), "seed {seed}: {a} for {b}");
        }
        for (a, b) in fit.fitted().iter().zip(expected.fitted()) {
            assert!((a - b).abs() < 1e-6, "seed {seed}: {a} for {b}");
        }
        for (a, b) in fit.outliers().iter().zip(expected.outliers()) {
            assert!((a.value - b.value).abs() < 1e-6);
        }
        let x = [0.321, 0.77];
        assert!((fit.predict(&x).unwrap() - expected.predict(&x).unwrap()).abs() < 1e-6);
    }
}

#[test]
fn the_automatic_rule_ends_where_the_dense_one_does() {
    for seed in 0..8 {
        let problem = Problem::new(240, 2, [0, 3, 20, 40][seed as usize % 4], 0.1, 70 + seed);
        let kernel = Gaussian::new(0.7);
        let lambda = 0.02;
        let fit = LowRank::new(problem.points(), kernel, lambda)
            .unwrap()
            .fit(&problem.y, Stop::automatic())
            .unwrap();
        let exact = approximated(kernel, fit.pivots());
        let plan = Plan::new(problem.points(), exact, Regularizer::rkhs(lambda)).unwrap();
        let expected = plan.fit(&problem.y, Stop::automatic()).unwrap();
        assert_eq!(fit.outliers().len(), expected.outliers().len(), "seed {seed}");
        assert_eq!(fit.stop_reason(), expected.stop_reason());
    }
}

fn set(outliers: &[kgard::Outlier<f64>]) -> std::collections::BTreeSet<usize> {
    outliers.iter().map(|o| o.index).collect()
}

/// A surface with several hills, noise and outliers.
fn surface(n: usize, dim: usize, share: f64, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let mut random = Random(seed);
    let x: Vec<f64> = (0..n * dim).map(|_| random.uniform()).collect();
    let mut wrong = vec![];
    let y = x
        .chunks(dim)
        .enumerate()
        .map(|(i, p)| {
            let f = (6.0 * p[0]).sin() * (5.0 * p[1]).cos() + p.iter().sum::<f64>();
            let off = if random.uniform() < share {
                wrong.push(i);
                (1.0 + 2.0 * random.uniform()) * if random.uniform() < 0.5 { 1.0 } else { -1.0 }
            } else {
                0.0
            };
            f + 0.1 * random.normal() + off
        })
        .collect();
    (x, y, wrong)
}

#[test]
fn both_ways_find_what_the_exact_method_finds() {
    let (x, y, wrong) = surface(1500, 2, 0.08, 5);
    let points = Points::new(&x, 2).unwrap();
    let (kernel, lambda) = (Matern32::new(0.8), 0.02);
    let exact = Plan::new(points, kernel, Regularizer::rkhs(lambda)).unwrap();
    let exact = exact.fit(&y, Stop::automatic()).unwrap();
    let low_rank = LowRank::new(points, kernel, lambda).unwrap();
    assert!(low_rank.error() <= 0.01 * lambda && low_rank.rank() < 512);
    let low_rank = low_rank.fit(&y, Stop::automatic()).unwrap();
    let regions = Regions::new(points, kernel, lambda).unwrap();
    assert!(regions.count() > 4);
    let regions = regions.fit(&y, Stop::automatic()).unwrap();
    let found = set(exact.outliers());
    assert!(found.len() >= wrong.len() * 9 / 10);
    for other in [set(low_rank.outliers()), set(regions.outliers())] {
        let differ = found.symmetric_difference(&other).count();
        assert!(differ * 50 <= found.len(), "{differ} of {}", found.len());
    }
    let rms = |fitted: &[f64]| {
        let squares = exact.fitted().iter().zip(fitted).map(|(a, b)| (a - b) * (a - b));
        (squares.sum::<f64>() / y.len() as f64).sqrt()
    };
    assert!(rms(low_rank.fitted()) < 0.005, "{}", rms(low_rank.fitted()));
    assert!(rms(regions.fitted()) < 0.02, "{}", rms(regions.fitted()));
    let (value, deviation) = low_rank.predict_with_deviation(&[0.4, 0.6]).unwrap();
    let truth = (2.4f64).sin() * (3.0f64).cos() + 1.0;
    assert!(deviation > 0.001 && deviation < 0.1 && (value - truth).abs() < 4.0 * deviation);
    assert!((low_rank.noise() - 0.1).abs() < 0.02, "{}", low_rank.noise());
}

/// The automatic rule in regions sees all points together: the outliers are those of the exact
/// search, to one in a hundred.
#[test]
fn regions_end_where_the_exact_search_does() {
    let (x, y, _) = surface(2400, 2, 0.1, 3);
    let points = Points::new(&x, 2).unwrap();
    let (kernel, lambda) = (Matern32::new(0.8), 0.02);
    let exact = Plan::new(points, kernel, Regularizer::rkhs(lambda)).unwrap();
    let exact = set(exact.fit(&y, Stop::automatic()).unwrap().outliers());
    let regions = Regions::new(points, kernel, lambda).unwrap();
    let found = set(regions.fit(&y, Stop::automatic()).unwrap().outliers());
    let differ = exact.symmetric_difference(&found).count();
    assert!(differ * 100 <= exact.len(), "{differ} of {}", exact.len());
}

/// Value and deviation of every way, by the equations written down in full.
#[test]
fn deviations_are_those_of_the_definition() {
    let (x, y, _) = surface(70, 2, 0.1, 4);
    let points = Points::new(&x, 2).unwrap();
    let (kernel, lambda) = (Matern32::new(0.8), 0.05);
    let space = Space::new(points, kernel, lambda).unwrap();
    assert_eq!(space.way(), Way::Exact);
    let space = space.fit(&y, Stop::max_residual(0.4)).unwrap();
    let regions = Regions::new(points, kernel, lambda).unwrap();
    assert_eq!(regions.count(), 1);
    let regions = regions.fit(&y, Stop::max_residual(0.4)).unwrap();
    let out = set(space.outliers());
    assert!(!out.is_empty() && out == set(regions.outliers()));

    let inside: Vec<usize> = (0..y.len()).filter(|i| !out.contains(i)).collect();
    let m = inside.len();
    let point = |i: usize| &x[2 * i..][..2];
    let mut bordered = vec![1.0; (m + 1) * (m + 1)];
    bordered[m * (m + 1) + m] = 0.0;
    for (k, &i) in inside.iter().enumerate() {
        for (l, &j) in inside.iter().enumerate() {
            let diagonal = if k == l { lambda } else { 0.0 };
            bordered[k * (m + 1) + l] = kernel.evaluate(point(i), point(j)) + diagonal;
        }
    }
    let data: Vec<f64> = inside.iter().map(|&i| y[i]).chain([0.0]).collect();
    let alpha = gauss(bordered.clone(), data.clone());
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let noise = (lambda * inner(&data, &alpha) / (m as f64 - 1.0)).sqrt();
    assert!((space.noise() - noise).abs() < 1e-9 && (regions.noise() - noise).abs() < 1e-9);
    let grid = [0.1, 0.2, 0.5, 0.5, 0.9, 0.3, 2.0, -1.0];
    let ways = [
        space.predict_with_deviations(Points::new(&grid, 2).unwrap()).unwrap(),
        regions.predict_with_deviations(Points::new(&grid, 2).unwrap()).unwrap(),
    ];
    for (k, at) in grid.chunks(2).enumerate() {
        let row: Vec<f64> =
            inside.iter().map(|&i| kernel.evaluate(point(i), at)).chain([1.0]).collect();
        let told = inner(&row, &gauss(bordered.clone(), row.clone()));
        let deviation = noise * ((kernel.evaluate(at, at) - told) / lambda).sqrt();
        for way in &ways {
            assert!((way[k].mean - inner(&row, &alpha)).abs() < 1e-9, "{at:?}");
            assert!((way[k].deviation - deviation).abs() < 1e-9, "{at:?}");
        }
    }
}

#[test]
fn the_size_of_an_outlier_does_not_matter() {
    let (x, mut y, _) = surface(600, 2, 0.0, 9);
    let points = Points::new(&x, 2).unwrap();
    let solver = LowRank::new(points, Gaussian::new(0.6), 0.02).unwrap();
    let clean = y[77];
    let mut fits = vec![];
    for size in [1e2, 1e12, f64::MAX] {
        y[77] = size;
        y[401] = -size;
        let fit = solver.fit(&y, Stop::automatic()).unwrap();
        assert_eq!(fit.stop_reason(), kgard::StopReason::Automatic);
        assert!(set(fit.outliers()).contains(&77) && set(fit.outliers()).contains(&401));
        fits.push(fit);
    }
    y[77] = clean;
    for fit in &fits[1..] {
        assert_eq!(set(fit.outliers()), set(fits[0].outliers()));
        for (a, b) in fit.fitted().iter().zip(fits[0].fitted()) {
            assert!((a - b).abs() < 1e-9, "{a} for {b}");
        }
    }
}

#[test]
fn units_and_offsets_do_not_matter() {
    let (x, y, _) = surface(500, 3, 0.05, 12);
    let points = Points::new(&x, 3).unwrap();
    let solver = LowRank::new(points, Gaussian::new(1.0), 0.02).unwrap();
    let fit = solver.fit(&y, Stop::automatic()).unwrap();
    for (factor, offset) in [(1e-200, 0.0), (1e200, 0.0), (1.0, 1e6)] {
        let other: Vec<f64> = y.iter().map(|y| y * factor + offset).collect();
        let other = solver.fit(&other, Stop::automatic()).unwrap();
        assert_eq!(set(fit.outliers()), set(other.outliers()), "{factor} {offset}");
    }
    let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let y: Vec<f32> = y.iter().map(|&y| y as f32).collect();
    let points = Points::new(&single, 3).unwrap();
    let solver = LowRank::new(points, Gaussian::new(1.0f32), 0.02).unwrap();
    let found: std::collections::BTreeSet<usize> =
        solver.fit(&y, Stop::automatic()).unwrap().outliers().iter().map(|o| o.index).collect();
    assert!(found.symmetric_difference(&set(fit.outliers())).count() <= 1);
}

#[test]
fn data_without_noise_and_constants_have_no_outliers() {
    let (x, _, _) = surface(800, 2, 0.0, 3);
    let points = Points::new(&x, 2).unwrap();
    let smooth: Vec<f64> = points.iter().map(|p| (3.0 * p[0]).sin() + p[1]).collect();
    let solver = LowRank::new(points, Gaussian::new(0.6), 1e-3).unwrap();
    assert!(solver.fit(&smooth, Stop::automatic()).unwrap().outliers().is_empty());
    let constant = vec![7.25; 800];
    let fit = solver.fit(&constant, Stop::automatic()).unwrap();
    assert!(fit.outliers().is_empty() && (fit.predict(&[0.2, 0.9]).unwrap() - 7.25).abs() < 1e-9);
    let mut steps: Vec<f64> = smooth.iter().map(|y| (y * 8.0).round() / 8.0).collect();
    assert!(solver.fit(&steps, Stop::automatic()).unwrap().outliers().len() <= 1);
    steps[9] += 3.0;
    assert!(set(solver.fit(&steps, Stop::automatic()).unwrap().outliers()).contains(&9));
}

#[test]
fn the_way_is_chosen_by_number_and_rank() {
    let (x, y, wrong) = surface(3500, 2, 0.02, 31);
    let points = Points::new(&x, 2).unwrap();
    let smooth = Space::new(points, Gaussian::new(0.8), 0.05).unwrap();
    let Way::LowRank { rank, .. } = smooth.way() else { panic!("{:?}", smooth.way()) };
    assert!(rank < 200, "{rank}");
    let fit = smooth.fit(&y, Stop::automatic()).unwrap();
    let found = set(fit.outliers());
    let right = wrong.iter().filter(|i| found.contains(i)).count();
    let false_alarms = found.len() - right;
    assert!(
        right * 100 >= wrong.len() * 97 && false_alarms * 100 <= y.len(),
        "{right}, {false_alarms} false"
    );
    let rough = Space::new(points, Matern32::new(0.15), 0.05).unwrap();
    assert!(matches!(rough.way(), Way::Regions { .. }));
    let found = set(rough.fit(&y, Stop::automatic()).unwrap().outliers());
    let right = wrong.iter().filter(|i| found.contains(i)).count();
    assert!(right * 10 >= wrong.len() * 9, "{right} of {}", wrong.len());
    let few = Points::new(&x[..600], 2).unwrap();
    assert!(matches!(Space::new(few, Gaussian::new(0.8), 0.05).unwrap().way(), Way::Exact));
}

#[test]
fn wrong_input_is_an_error() {
    let x = [0.0, 1.0, 2.0, 3.0];
    let points = Points::new(&x, 2).unwrap();
    let of = |lambda| LowRank::new(points, Gaussian::new(1.0), lambda);
    assert!(matches!(of(0.0), Err(Error::NotPositive { .. })));
    assert!(matches!(of(f64::NAN), Err(Error::NotPositive { .. })));
    let solver = of(0.1).unwrap();
    assert!(matches!(solver.fit(&[1.0], Stop::automatic()), Err(Error::Length { .. })));
    assert!(matches!(
        solver.fit(&[1.0, f64::NAN], Stop::automatic()),
        Err(Error::NotFinite { .. })
    ));
    let fit = solver.fit(&[1.0, 2.0], Stop::automatic()).unwrap();
    assert!(fit.predict(&[1.0]).is_err() && fit.predict(&[f64::NAN, 0.0]).is_err());
    let (x, y, _) = surface(400, 2, 0.0, 1);
    let points = Points::new(&x, 2).unwrap();
    assert!(matches!(
        LowRank::of_rank(points, Matern32::new(0.1), 0.01, 20),
        Err(Error::RankTooHigh { rank: 20, .. })
    ));
    let regions = Regions::new(points, Matern32::new(0.1), 0.01).unwrap();
    for rule in [Stop::residual_norm(1.0), Stop::count(3), Stop::automatic().at_most(5)] {
        assert!(matches!(regions.fit(&y, rule), Err(Error::Unsupported { .. })));
    }
    let not_positive = |a: &[f64], b: &[f64]| (a[0] - b[0]).abs() + 1.0;
    assert!(LowRank::new(points, not_positive, 0.01).is_err());
    // All points at one place.
    let same = vec![0.5; 800];
    let points = Points::new(&same, 2).unwrap();
    let y: Vec<f64> = (0..400).map(|i| if i == 7 { 50.0 } else { f64::from(i % 5) }).collect();
    for fit in [
        LowRank::new(points, Gaussian::new(0.6), 0.1)
            .unwrap()
            .fit(&y, Stop::automatic())
            .unwrap()
            .outliers()
            .to_vec(),
        Regions::new(points, Gaussian::new(0.6), 0.1)
            .unwrap()
            .fit(&y, Stop::automatic())
            .unwrap()
            .outliers()
            .to_vec(),
    ] {
        assert!(set(&fit).contains(&7));
    }
}

#[test]
fn many_points_with_nothing_to_choose() {
    // Inputs in different units.
    let (mut x, y, wrong) = surface(4000, 2, 0.05, 77);
    for p in x.chunks_mut(2) {
        p[1] = 1e5 + 300.0 * p[1];
    }
    let points = Points::new(&x, 2).unwrap();
    let tuned = SpaceTuner::new().fit(points, &y).unwrap();
    assert!(tuned.tuned_to < 4000 && tuned.lambda > 0.0);
    let found = set(tuned.fit.outliers());
    let right = wrong.iter().filter(|i| found.contains(i)).count();
    assert!(right * 100 >= wrong.len() * 98, "{right} of {}", wrong.len());
    assert!(found.len() <= right + 6, "{} false", found.len() - right);
    let at = tuned.fit.predict(&[0.3, 1e5 + 210.0]).unwrap();
    assert!((at - ((1.8f64).sin() * (3.5f64).cos() + 1.0)).abs() < 0.06, "{at}");
}
