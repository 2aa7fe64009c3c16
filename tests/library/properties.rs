//! What must not change a result: the order of the points, where they lie, the direction of an
//! axis, and the unit and offset of the target.

use crate::common::problem::{Problem, Random};
use kgard::kernel::AnyKernel;
use kgard::line::Line;
use kgard::tune::{Model, Tuner};
use kgard::{Error, Fit, Gaussian, Matern32, Plan, Points, Regularizer, Stop};
use proptest::prelude::*;

/// A random order of 0 to n - 1.
fn order(n: usize, seed: u64) -> Vec<usize> {
    let mut random = Random(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, random.below(i + 1));
    }
    order
}

/// The same points in another order.
fn reordered(problem: &Problem, order: &[usize]) -> Problem {
    let dim = problem.dim;
    let place = |old: usize| order.iter().position(|&i| i == old).expect("a place");
    Problem {
        dim,
        x: order.iter().flat_map(|&i| problem.x[i * dim..][..dim].to_vec()).collect(),
        y: order.iter().map(|&i| problem.y[i]).collect(),
        wrong: problem.wrong.iter().map(|&i| place(i)).collect(),
    }
}

fn fit(
    problem: &Problem,
    regularizer: Regularizer<'_, f64>,
) -> Result<Fit<f64, Gaussian<f64>>, Error> {
    let points = Points::new(&problem.x, problem.dim)?;
    Plan::new(points, Gaussian::new(0.4), regularizer)?.fit(&problem.y, Stop::automatic())
}

fn tuned(problem: &Problem) -> Model<f64, AnyKernel<f64>> {
    let points = Points::new(&problem.x, problem.dim).expect("points");
    Tuner::new().fit(points, &problem.y).expect("a model")
}

/// Indices of the outliers in the problem of which `order` gave the fitted one.
fn found<'a>(
    outliers: impl IntoIterator<Item = &'a kgard::Outlier<f64>>,
    order: &[usize],
) -> Vec<usize> {
    let mut found: Vec<usize> = outliers.into_iter().map(|outlier| order[outlier.index]).collect();
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_the_points(
        n in 8usize..60,
        dim in 1usize..4,
        share in 0.0..0.2f64,
        rkhs: bool,
        seed in any::<u64>(),
    ) {
        let problem = Problem::new(n, dim, (share * n as f64) as usize, 0.1, seed);
        let order = order(n, seed);
        let other = reordered(&problem, &order);
        let regularizer = if rkhs { Regularizer::rkhs(0.1) } else { Regularizer::l2(0.1) };
        let [a, b] = [&problem, &other].map(|problem| fit(problem, regularizer).unwrap());
        let straight: Vec<usize> = (0..n).collect();
        prop_assert_eq!(found(a.outliers(), &straight), found(b.outliers(), &order));
        for (i, &old) in order.iter().enumerate() {
            prop_assert!((b.fitted()[i] - a.fitted()[old]).abs() < 1e-9, "{i} {old}");
        }
    }

    #[test]
    fn the_order_of_the_points_of_a_line(n in 8usize..120, share in 0.0..0.2f64, seed in any::<u64>()) {
        let problem = Problem::new(n, 1, (share * n as f64) as usize, 0.1, seed);
        let order = order(n, seed);
        let other = reordered(&problem, &order);
        let [a, b] = [&problem, &other].map(|problem| {
            let line = Line::new(&problem.x, Matern32::new(0.4), 0.05).unwrap();
            line.fit(&problem.y, Stop::automatic()).unwrap()
        });
        let straight: Vec<usize> = (0..n).collect();
        prop_assert_eq!(found(&a.outliers(), &straight), found(&b.outliers(), &order));
        let (a, b) = (a.fitted(), b.fitted());
        for (i, &old) in order.iter().enumerate() {
            prop_assert!((b[i] - a[old]).abs() < 1e-9, "{i} {old}");
        }
    }

    /// By a power of two nothing but exponents changes.
    #[test]
    fn the_unit_of_the_target(
        n in 4usize..50,
        dim in 1usize..3,
        share in 0.0..0.2f64,
        power in -200i32..200,
        rkhs: bool,
        seed in any::<u64>(),
    ) {
        let problem = Problem::new(n, dim, (share * n as f64) as usize, 0.1, seed);
        let unit = 2.0_f64.powi(power);
        let mut other = problem.clone();
        other.y.iter_mut().for_each(|y| *y *= unit);
        let regularizer = if rkhs { Regularizer::rkhs(0.1) } else { Regularizer::l2(0.1) };
        let [a, b] = [&problem, &other].map(|problem| fit(problem, regularizer).unwrap());
        for (a, b) in a.fitted().iter().zip(b.fitted()) {
            prop_assert_eq!((a * unit).to_bits(), b.to_bits());
        }
        for (a, b) in a.outliers().iter().zip(b.outliers()) {
            prop_assert_eq!(a.index, b.index);
            prop_assert_eq!((a.value * unit).to_bits(), b.value.to_bits());
        }
        prop_assert_eq!(a.outliers().len(), b.outliers().len());
    }

    /// Kernels of a distance do not see where the points lie, nor which way an axis points.
    #[test]
    fn the_place_of_the_points(n in 4usize..50, dim in 1usize..4, step in -64i32..64, seed in any::<u64>()) {
        let mut problem = Problem::new(n, dim, n / 8, 0.1, seed);
        // On a grid of 2^-10 nothing is rounded by the shift.
        problem.x.iter_mut().for_each(|x| *x = (*x * 1024.0).round() / 1024.0);
        let mut other = problem.clone();
        other.x.iter_mut().for_each(|x| *x = f64::from(step) - *x);
        let [a, b] = [&problem, &other].map(|problem| fit(problem, Regularizer::rkhs(0.1)).unwrap());
        prop_assert_eq!(a.fitted(), b.fitted());
        prop_assert_eq!(a.outliers(), b.outliers());
    }
}

/// The tuner: order, unit, offset, place and direction, all at once.
#[test]
fn nothing_of_this_changes_what_is_tuned() {
    for (n, dim, seed) in [(40, 1, 1), (70, 1, 2), (60, 2, 3), (80, 3, 4)] {
        let problem = Problem::new(n, dim, n / 12, 0.1, seed);
        let order = order(n, seed);
        let mut other = reordered(&problem, &order);
        other.x.iter_mut().for_each(|x| *x = 7.0 - 1000.0 * *x);
        other.y.iter_mut().for_each(|y| *y = 1e5 - 30.0 * *y);
        let (a, b) = (tuned(&problem), tuned(&other));
        let straight: Vec<usize> = (0..n).collect();
        let what = format!("n = {n}, {dim} inputs");
        assert_eq!(found(a.outliers(), &straight), found(b.outliers(), &order), "{what}");
        for i in 0..n {
            let at = &problem.x[i * dim..][..dim];
            let there: Vec<f64> = at.iter().map(|x| 7.0 - 1000.0 * x).collect();
            let (here, there) = (a.predict(at).unwrap(), b.predict(&there).unwrap());
            let back = (1e5 - there) / 30.0;
            // Half of the noise: the climb ends where the likelihood is flat, and kernels that
            // describe the data equally well differ by so much.
            assert!((here - back).abs() < 0.05, "{what}, {i}: {here} {back}");
        }
    }
}
