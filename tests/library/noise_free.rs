//! The automatic rule on data without noise, and on data of few digits.

use kgard::{Gaussian, Kernel, Laplacian, Matern52, Plan, Real, Regularizer, Stop};

fn flagged<T: Real>(
    x: &[T],
    y: &[T],
    kernel: impl Kernel<T> + Clone,
    r: Regularizer<'_, T>,
) -> Vec<usize> {
    let plan = Plan::new(x, kernel, r).unwrap();
    let fit = plan.fit(y, Stop::automatic()).unwrap();
    let mut found: Vec<usize> = fit.outliers().iter().map(|o| o.index).collect();
    found.sort_unstable();
    found
}

fn each<T: Real>(x: &[f64], y: &[f64], mut check: impl FnMut(Vec<usize>, &str)) {
    let real = |x: f64| T::from(x).unwrap();
    let extent = x[x.len() - 1] - x[0];
    let x: Vec<T> = x.iter().map(|&x| real(x / extent)).collect();
    let y: Vec<T> = y.iter().map(|&y| real(y)).collect();
    for lambda in [0.1, 1.0] {
        for r in [Regularizer::l2(real(lambda)), Regularizer::rkhs(real(lambda))] {
            let name = format!("{} {r:?}", std::any::type_name::<T>());
            check(flagged(&x, &y, Gaussian::new(real(0.1)), r), &name);
            check(flagged(&x, &y, Matern52::new(real(0.2)), r), &name);
            check(flagged(&x, &y, Laplacian::new(real(0.3)), r), &name);
        }
    }
}

/// Of the number of a point, and of how many there are.
type Function = fn(f64, f64) -> f64;

fn functions() -> [(&'static str, Function); 6] {
    [
        ("sin(i/10)", |i, _| (i / 10.0).sin()),
        ("two waves", |i, n| (12.0 * i / n).sin()),
        ("a constant", |_, _| 3.7),
        ("a large constant", |_, _| -1e4),
        ("a line", |i, n| i / n),
        ("exp", |i, n| (2.0 * i / n).exp()),
    ]
}

/// Smooth data without noise: with the RKHS penalty nothing is an outlier; the
/// l2 penalty bends lines and exponentials at the border, and more than a few
/// points are never taken out of what is periodic or constant.
#[test]
fn smooth_data_have_no_outliers() {
    for n in [30_usize, 50, 100, 200] {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        for (name, f) in functions() {
            let y: Vec<f64> = x.iter().map(|&x| f(x, n as f64)).collect();
            let check = |found: Vec<usize>, what: &str| {
                let bends = what.contains("L2") && (name == "a line" || name == "exp");
                let most = if bends || n < 100 || !what.contains("L2") { 0 } else { n / 40 };
                assert!(bends || found.len() <= most, "{name}, n = {n}, {what}: {found:?}");
            };
            each::<f64>(&x, &y, check);
            each::<f32>(&x, &y, check);
        }
    }
}

/// A value that is off is still found among them.
#[test]
fn an_outlier_in_smooth_data_is_found() {
    for n in [30_usize, 50, 100, 200] {
        let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
        for (name, f) in functions() {
            let mut y: Vec<f64> = x.iter().map(|&x| f(x, n as f64)).collect();
            let size = y.iter().fold(0.0_f64, |max, y| max.max(y.abs()));
            y[n / 3] += 5.0 * size;
            let check = |found: Vec<usize>, what: &str| {
                assert!(found.contains(&(n / 3)), "{name}, n = {n}, {what}: {found:?}");
            };
            each::<f64>(&x, &y, check);
            each::<f32>(&x, &y, check);
        }
    }
}

/// Neither the unit nor a gross value keeps the rule from seeing that there is
/// no noise.
#[test]
fn smooth_data_in_any_unit_and_beside_gross_values() {
    let x: Vec<f64> = (0..100).map(|i| f64::from(i) / 99.0).collect();
    let regularizer = Regularizer::rkhs(0.1);
    for exponent in [-290, -150, -30, 0, 30, 150, 290] {
        let unit = 10.0_f64.powi(exponent);
        let mut y: Vec<f64> = x.iter().map(|x| (9.9 * x).sin() * unit).collect();
        let kernel = Gaussian::new(0.2);
        assert!(flagged(&x, &y, kernel, regularizer).is_empty(), "1e{exponent}");
        for gross in [1e3 * unit, f64::MAX] {
            y[40] = gross;
            assert_eq!(flagged(&x, &y, kernel, regularizer), [40], "1e{exponent}, {gross}");
        }
    }
}

/// One step of the last digit is no outlier, several are.
#[test]
fn the_last_digit_flickers() {
    let x: Vec<f64> = (0..60).map(|i| i as f64).collect();
    for (value, step) in [(5.0, 1.0), (2048.0, 1.0), (20.5, 0.1), (-7.0, 1.0), (0.75, 0.125)] {
        let with = |places: &[usize], steps: f64| -> Vec<f64> {
            let mut y = vec![value; 60];
            for &place in places {
                y[place] += steps * step;
            }
            y
        };
        for places in [&[30][..], &[10, 41], &[5, 6, 20, 33, 50]] {
            let check = |found: Vec<usize>, what: &str| {
                assert!(found.is_empty(), "{value} and {step}, {what}: {found:?}");
            };
            each::<f64>(&x, &with(places, 1.0), check);
            each::<f32>(&x, &with(places, 1.0), check);
            let check = |found: Vec<usize>, what: &str| {
                // The l2 penalty takes its part of a large constant, which
                // counts as noise.
                if what.contains("Rkhs") {
                    assert_eq!(found, [17], "{value} and {step}, {what}");
                }
            };
            let mut y = with(places, 1.0);
            y[17] = value + 8.0 * step;
            each::<f64>(&x, &y, check);
            each::<f32>(&x, &y, check);
            // Not a multiple, and gross.
            y[17] = value * 1.0e7 + 0.37 * step;
            let check = |found: Vec<usize>, what: &str| {
                assert_eq!(found, [17], "{value} and {step}, {what}");
            };
            each::<f64>(&x, &y, check);
            each::<f32>(&x, &y, check);
        }
    }
}

/// Where there is noise the floor does not matter: as many points are found as
/// before, and where lambda is large for the noise no longer a dozen good ones.
#[test]
fn noise_is_as_before() {
    use crate::common::problem::Problem;
    for (lambda, most_wrong) in [(0.07, 12), (1.0, 2)] {
        let (mut hit, mut wrong) = (0, 0);
        for seed in 0..20 {
            let problem = Problem::table1(40, seed);
            let regularizer = Regularizer::rkhs(lambda);
            for index in flagged(&problem.x, &problem.y, Gaussian::new(0.15), regularizer) {
                *(if problem.wrong.contains(&index) { &mut hit } else { &mut wrong }) += 1;
            }
        }
        assert_eq!(hit, 20 * 40);
        assert!(wrong <= most_wrong, "{wrong} good points, lambda {lambda}");
    }
}
