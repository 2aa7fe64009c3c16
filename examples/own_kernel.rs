//! A kernel of your own: daily temperatures repeat, and drift.
//!
//! `cargo run --example own_kernel`

mod data;

use data::Random;
use kgard::{Error, Fit, Gaussian, Kernel, Plan, Real, Regularizer, Stop};

/// $\exp(-2 \sin^2(\pi (a - b) / p) / w^2)$: functions of period $p$.
#[derive(Debug, Clone, Copy)]
struct Periodic<T> {
    period: T,
    width: T,
}

impl<T: Real> Kernel<T> for Periodic<T> {
    fn evaluate(&self, a: &[T], b: &[T]) -> T {
        let pi = T::acos(-T::one());
        let s = (pi * (a[0] - b[0]) / self.period).sin() / self.width;
        (-(s * s + s * s)).exp()
    }

    // Called once, before the kernel is used.
    fn check(&self) -> Result<(), Error> {
        for (what, value) in [("period", self.period), ("width", self.width)] {
            if !(value > T::zero()) {
                let value = value.to_f64().unwrap_or(f64::NAN);
                return Err(Error::NotPositive { what, value });
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    // Ten days, eight measurements a day, three of them with the sensor in the
    // sun.
    let mut random = Random::new(3);
    let truth = |t: f64| 15.0 + 0.3 * t + 6.0 * (core::f64::consts::TAU * (t - 0.3)).sin();
    let days: Vec<f64> = (0..80).map(|i| f64::from(i) / 8.0).collect();
    let mut measured: Vec<f64> = days.iter().map(|&t| truth(t) + 0.3 * random.normal()).collect();
    for hot in [28, 29, 51] {
        measured[hot] += 12.0;
    }

    // A day that repeats, slowly changing, plus a drift.
    let day = Periodic { period: 1.0, width: 1.0 };
    let kernel = day.times(Gaussian::new(10.0)).plus(Gaussian::new(8.0));
    let plan = Plan::new(&days, kernel, Regularizer::rkhs(0.05))?;
    let fit = plan.fit(&measured, Stop::automatic())?;
    report("a type of its own", &fit, &days);

    // The same with a closure.
    let closure = |a: &[f64], b: &[f64]| {
        let s = (core::f64::consts::PI * (a[0] - b[0])).sin();
        (-2.0 * s * s).exp()
    };
    let kernel = closure.times(Gaussian::new(10.0)).plus(Gaussian::new(8.0));
    let same =
        Plan::new(&days, kernel, Regularizer::rkhs(0.05))?.fit(&measured, Stop::automatic())?;
    report("a closure", &same, &days);

    // The next noon, which a kernel of the distance alone could not know.
    let tomorrow = fit.predict(&[10.5])?;
    println!("the next noon: {tomorrow:.1}, in truth {:.1}", truth(10.5));

    let found: Vec<usize> = fit.outliers().iter().map(|o| o.index).collect();
    assert!([28, 29, 51].iter().all(|hot| found.contains(hot)) && found.len() <= 5, "{found:?}");
    assert!((tomorrow - truth(10.5)).abs() < 1.0);
    assert!(Periodic { period: 0.0, width: 1.0 }.check().is_err());
    Ok(())
}

fn report<K>(name: &str, fit: &Fit<f64, K>, days: &[f64]) {
    for outlier in fit.outliers() {
        println!("{name}: day {:.2} is off by {:+.1}", days[outlier.index], outlier.value);
    }
}

#[test]
fn runs() -> Result<(), Error> {
    main()
}
