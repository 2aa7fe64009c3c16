//! A curve through measurements of which one in ten is simply wrong.
//!
//! `cargo run --example robust_curve`

mod data;

use data::Random;
use kgard::tune::Tuner;
use kgard::{Error, Outlier};

fn main() -> Result<(), Error> {
    // A damped oscillation at irregular times, with noise, and twelve wrong
    // values.
    let mut random = Random::new(7);
    let truth = |x: f64| 3.0 * (-x / 4.0).exp() * (2.0 * x).cos();
    let mut x: Vec<f64> = (0..120).map(|_| 10.0 * random.uniform()).collect();
    x.sort_by(f64::total_cmp);
    let mut y: Vec<f64> = x.iter().map(|&x| truth(x) + 0.1 * random.normal()).collect();
    let wrong: Vec<usize> = (0..12).map(|i| 10 * i + 4).collect();
    for (i, &at) in wrong.iter().enumerate() {
        y[at] += if i % 2 == 0 { 2.5 } else { -2.5 };
    }

    // Kernel, lambda, noise and the outliers come from the data.
    let fit = Tuner::new().fit(&x, &y)?;
    println!("{}, lambda {:.3e}, noise {:.3}", fit.kernel(), fit.lambda(), fit.noise());
    println!("{} outliers:", fit.outliers().len());
    for outlier in fit.outliers() {
        println!("  at x = {:6.3}, off by {:+.2}", x[outlier.index], outlier.value);
    }

    let grid: Vec<f64> = (0..100).map(|i| 0.1 * f64::from(i)).collect();
    let curve = fit.predict_many(&grid)?;
    let error = |f: &[f64]| {
        let squares: f64 = grid.iter().zip(f).map(|(&x, f)| (f - truth(x)).powi(2)).sum();
        (squares / 100.0).sqrt()
    };

    // The same kernel and lambda, with the wrong values believed.
    let regularizer = fit.penalty().regularizer(fit.lambda());
    let ridge = kgard::fit(&x, &y, fit.kernel().clone(), regularizer, kgard::Stop::count(0))?;
    let believed = ridge.predict_many(&grid)?;
    println!("root mean square error of the curve: {:.3}", error(&curve));
    println!("without looking for outliers:        {:.3}", error(&believed));

    // Good points beside wrong ones may go with them: the price of finding all.
    let is_wrong = |outlier: &&Outlier<f64>| wrong.contains(&outlier.index);
    let found = fit.outliers().iter().filter(is_wrong).count();
    let good = fit.outliers().len() - found;
    println!("{found} of {} wrong values found, {good} good ones taken out", wrong.len());
    assert_eq!(found, wrong.len());
    assert!(good <= 3);
    assert!(error(&curve) < 0.1 && error(&curve) < 0.5 * error(&believed));
    Ok(())
}

#[test]
fn runs() -> Result<(), Error> {
    main()
}
