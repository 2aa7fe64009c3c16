//! However large an outlier is, the fit is the same.
use crate::common;

use common::oracle::{self, Penalty};
use common::problem::Random;
use kgard::baselines::{Ram, RbRvm};
use kgard::kernel::gram;
use kgard::{
    Fit, Gaussian, Plan, PlanRef, Real, Regularizer, Stop, System, Workspace, fit, fit_support,
};

const N: usize = 60;

fn real<T: Real>(x: f64) -> T {
    T::from(x).unwrap()
}

/// sin x with noise.
fn data<T: Real>(seed: u64) -> (Vec<T>, Vec<T>) {
    let mut random = Random(seed);
    let x = (0..N).map(|i| real(6.0 * i as f64 / N as f64)).collect();
    let y = (0..N).map(|i| real((6.0 * i as f64 / N as f64).sin() + 0.05 * random.normal()));
    (x, y.collect())
}

/// Gross values in ascending order of size, up to the largest there is.
fn sizes<T: Real>() -> Vec<T> {
    let mut sizes: Vec<T> = [1e4, 1e6, 1e9, 1e12, 1e20].map(real::<T>).to_vec();
    sizes.extend([T::max_value() / real(10.0), T::max_value(), T::min_value()]);
    sizes
}

fn kernel<T: Real>() -> Gaussian<T> {
    Gaussian::new(real(1.0))
}

fn penalties<T: Real>() -> [Regularizer<'static, T>; 3] {
    let rkhs = Regularizer::rkhs(real(0.3));
    [Regularizer::l2(real(0.1)), rkhs, rkhs.without_bias()]
}

/// The same function and the same outliers, in the same order.
#[track_caller]
fn same<T: Real, K>(a: &Fit<T, K>, b: &Fit<T, K>, y: &[T], what: &str) {
    let indices = |f: &Fit<T, K>| f.outliers().iter().map(|o| o.index).collect::<Vec<_>>();
    assert_eq!(indices(a), indices(b), "{what}");
    let tolerance = T::epsilon() * real(300.0);
    let close = |a: T, b: T| (a - b).abs() <= tolerance * (T::one() + b.abs());
    for (i, (&a, &b)) in a.fitted().iter().zip(b.fitted()).enumerate() {
        assert!(close(a, b), "{what}: {a:?} and {b:?} at {i}");
    }
    for (&a, &b) in a.residual().iter().zip(b.residual()) {
        assert!(close(a, b), "{what}: residual {a:?} and {b:?}");
    }
    for (&a, &b) in a.coefficients().iter().zip(b.coefficients()) {
        assert!(close(a, b), "{what}: coefficients {a:?} and {b:?}");
    }
    assert!(close(a.bias(), b.bias()), "{what}: bias");
    for outlier in a.outliers() {
        let expected = y[outlier.index] - a.fitted()[outlier.index];
        assert_eq!(outlier.value, expected - a.residual()[outlier.index], "{what}");
    }
}

/// In all places at once, of ascending sizes: the outliers of `y` are these
/// values, at the left end, inside and near the right end.
const PLACES: [usize; 3] = [23, 0, 55];

fn all_tiers<T: Real>() {
    let (x, y) = data::<T>(7);
    for regularizer in penalties::<T>() {
        let plan = Plan::new(&x, kernel(), regularizer).unwrap();
        for stop in [
            Stop::automatic(),
            Stop::max_residual(real(0.4)),
            Stop::residual_norm(real(0.8)),
            Stop::count(3),
            Stop::count(6).studentized(),
        ] {
            for places in [&PLACES[..1], &PLACES[1..2], &PLACES[..]] {
                let with = |sizes: &[T]| {
                    let mut y = y.clone();
                    for (&at, &size) in places.iter().zip(sizes) {
                        y[at] = size;
                    }
                    y
                };
                let tame = with(&[1e3, 1e2, -1e2].map(real));
                let expected = plan.fit(&tame, stop).unwrap();
                for size in sizes::<T>() {
                    let y = with(&[size, real(1e2), real(-1e2)]);
                    let what = format!("{size:?}, {stop:?}, {regularizer:?}");
                    let found = plan.fit(&y, stop).unwrap();
                    same(&found, &expected, &y, &what);

                    let once = fit(&x, &y, kernel(), regularizer, stop).unwrap();
                    same(&once, &expected, &y, &what);
                    let support: Vec<usize> = found.outliers().iter().map(|o| o.index).collect();
                    let given = plan.fit_support(&y, &support).unwrap();
                    same(&given, &expected, &y, &what);
                    let given = fit_support(&x, &y, kernel(), regularizer, &support).unwrap();
                    same(&given, &expected, &y, &what);

                    // In borrowed memory.
                    let k = support.len();
                    let mut scalars = vec![T::zero(); Workspace::<T>::len(N, k)];
                    let mut indices = vec![0; k];
                    let work = Workspace::new(N, &mut scalars, &mut indices).unwrap();
                    let borrowed = plan.as_ref().fit(&y, stop, work).unwrap();
                    assert_eq!(borrowed.outliers().collect::<Vec<_>>(), found.outliers());
                    assert_eq!(borrowed.residual(), found.residual());
                    let mut values = vec![T::zero(); N];
                    borrowed.fitted(&mut values).unwrap();
                    assert_eq!(values, found.fitted());
                    borrowed.coefficients(&mut values).unwrap();
                    assert_eq!(values, found.coefficients());
                }
            }
        }
    }
}

#[test]
fn any_size_in_f64() {
    all_tiers::<f64>();
}

#[test]
fn any_size_in_f32() {
    all_tiers::<f32>();
}

/// Against the literal algorithm, which gets an ordinary value in place of the
/// gross one: what it is does not matter.
#[test]
fn as_the_literal_algorithm() {
    let mut random = Random(3);
    for seed in 0..20 {
        let (x, mut y) = data::<f64>(100 + seed);
        let at = random.below(N);
        y[at] = 50.0;
        let mut k = vec![0.0; N * N];
        gram(&x, &kernel(), &mut k).unwrap();
        let p: Vec<f64> = (0..N * N).map(|i| if i % (N + 1) == 0 { 0.1 } else { 0.0 }).collect();
        let literal = oracle::kgard(&k, &y, &Penalty::Quadratic { p, d_c: 0.1 }, true, 4);
        assert!(literal.iter().skip(1).all(|s| s.support[0] == at));
        let plan = Plan::new(&x, kernel(), Regularizer::l2(0.1)).unwrap();
        for size in [1e12, -1e20, f64::MAX] {
            y[at] = size;
            for state in &literal[1..] {
                let found = plan.fit(&y, Stop::count(state.support.len())).unwrap();
                let support: Vec<usize> = found.outliers().iter().map(|o| o.index).collect();
                assert_eq!(support, state.support, "seed {seed}, {size}");
                for (a, b) in found.coefficients().iter().zip(&state.alpha) {
                    assert!((a - b).abs() < 1e-9, "seed {seed}, {size}: {a} for {b}");
                }
                for (a, b) in found.residual().iter().zip(&state.residual) {
                    assert!((a - b).abs() < 1e-10, "seed {seed}, {size}: {a} for {b}");
                }
            }
        }
    }
}

/// Gross values of sizes so different that each hides the next one behind its
/// rounding.
#[test]
fn one_behind_the_other() {
    let (x, mut y) = data::<f32>(11);
    for (at, size) in [(40, f32::MAX), (20, 1e25), (30, -1e14), (10, 1e5)] {
        y[at] = size;
    }
    for regularizer in penalties() {
        let plan = Plan::new(&x, kernel(), regularizer).unwrap();
        for stop in [Stop::automatic(), Stop::max_residual(0.4), Stop::count(4)] {
            let found = plan.fit(&y, stop).unwrap();
            let order: Vec<usize> = found.outliers().iter().map(|o| o.index).collect();
            assert_eq!(order[..4], [40, 20, 30, 10], "{stop:?}, {regularizer:?}");
            assert!(order.len() < 7, "{order:?}: {stop:?}, {regularizer:?}");
            for (f, x) in found.fitted().iter().zip(&x) {
                assert!((f - x.sin()).abs() < 0.15, "{f} for {}", x.sin());
            }
        }
    }
}

/// Any unit of measurement gives the same fit, in that unit.
fn any_unit<T: Real>(exponents: std::ops::RangeInclusive<i32>) {
    let (x, mut y) = data::<T>(5);
    y[17] = real(4.0);
    y[41] = real(-3.0);
    for regularizer in penalties::<T>() {
        let plan = Plan::new(&x, kernel(), regularizer).unwrap();
        let expected = plan.fit(&y, Stop::automatic()).unwrap();
        assert_eq!(expected.outliers().len(), 2, "{regularizer:?}");
        for exponent in exponents.clone().step_by(3) {
            let unit = real::<T>(2.0).powi(exponent);
            let scaled: Vec<T> = y.iter().map(|&y| y * unit).collect();
            let stop = Stop::max_residual(real::<T>(0.4) * unit);
            for stop in [Stop::automatic(), stop, stop.studentized()] {
                let found = plan.fit(&scaled, stop).unwrap();
                let tolerance = real::<T>(1000.0) * T::epsilon();
                for (a, b) in found.outliers().iter().zip(expected.outliers()) {
                    assert_eq!(a.index, b.index, "2^{exponent}, {stop:?}");
                    assert!((a.value / unit - b.value).abs() < tolerance, "2^{exponent}");
                }
                assert_eq!(found.outliers().len(), 2, "2^{exponent}, {stop:?}");
                for (&a, &b) in found.fitted().iter().zip(expected.fitted()) {
                    assert!((a / unit - b).abs() < tolerance, "2^{exponent}, {stop:?}");
                }
            }
        }
    }
}

#[test]
fn any_unit_in_f32() {
    any_unit::<f32>(-100..=120);
}

#[test]
fn any_unit_in_f64() {
    any_unit::<f64>(-960..=1015);
}

fn baselines<T: Real>() {
    let (x, y) = data::<T>(9);
    let tolerance = T::epsilon().sqrt() * real(4.0);
    for regularizer in penalties::<T>() {
        let plan = Plan::new(&x, kernel(), regularizer).unwrap();
        let fit = |size: T| {
            let mut y = y.clone();
            y[23] = size;
            (Ram::new(real(0.8)).fit(&plan, &y).unwrap(), y)
        };
        let (expected, _) = fit(real(1e9));
        for size in sizes::<T>().into_iter().filter(|s| s.abs() >= real(1e9)) {
            let (found, y) = fit(size);
            assert_eq!(found.outliers()[0].index, 23);
            assert_eq!(found.stop_reason(), kgard::StopReason::Tolerance);
            assert!(found.iterations() < 2 * expected.iterations(), "{}", found.iterations());
            for (i, (&a, &b)) in found.fitted().iter().zip(expected.fitted()).enumerate() {
                assert!((a - b).abs() < tolerance, "RAM, {size:?}: {a:?} for {b:?}");
                assert!((a - x[i].sin()).abs() < real(0.1));
            }
            let outlier = found.outliers()[0].value;
            assert!((outlier - (y[23] - found.fitted()[23])).abs() <= T::one());
        }
    }
    let fit = |size: T| {
        let mut y = y.clone();
        y[23] = size;
        RbRvm::new().fit(&x, &y, kernel()).unwrap()
    };
    // From below and from above the search takes different ways.
    let expected = [fit(real(-1e9)), fit(real(1e9))];
    for size in sizes::<T>().into_iter().filter(|s| s.abs() >= real(1e9)) {
        let found = fit(size);
        let expected = &expected[usize::from(size > T::zero())];
        assert!(found.outliers().iter().any(|o| o.index == 23));
        for (i, (&a, &b)) in found.fitted().iter().zip(expected.fitted()).enumerate() {
            assert!((a - b).abs() < tolerance, "RB-RVM, {size:?}: {a:?} for {b:?}");
            assert!((a - x[i].sin()).abs() < real(0.3));
        }
    }
}

#[test]
fn baselines_in_f64() {
    baselines::<f64>();
}

#[test]
fn baselines_in_f32() {
    baselines::<f32>();
}

/// A maker of the user's own is asked for more than one residual.
#[test]
fn with_a_system_in_scratch() {
    let (x, mut y) = data::<f32>(13);
    y[30] = 1e30;
    let mut memory = vec![0.0; System::<f32>::l2_len(N)];
    let mut scratch = vec![0.0; PlanRef::<f32>::scratch_len(N)];
    let plan =
        PlanRef::new(&x, &kernel(), Regularizer::l2(0.1), &mut memory, &mut scratch).unwrap();
    let mut scalars = vec![0.0; Workspace::<f32>::len(N, 1)];
    let mut indices = [0; 1];
    let work = Workspace::new(N, &mut scalars, &mut indices).unwrap();
    let found = plan.fit(&y, Stop::max_residual(0.4), work).unwrap();
    let mut fitted = vec![0.0; N];
    found.fitted(&mut fitted).unwrap();
    for (f, x) in fitted.iter().zip(&x) {
        assert!((f - x.sin()).abs() < 0.1);
    }
    assert_eq!(found.outliers().next().unwrap().value, 1e30);
}
