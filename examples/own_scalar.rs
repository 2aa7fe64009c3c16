//! A scalar of your own: the same fit in single, double and twice double
//! precision.
//!
//! Any type with `num_traits::Float` will do; here it is `TwoFloat`, with 31
//! digits. Wide kernels make matrices that are nearly singular: what that costs
//! in digits is what this example shows.
//!
//! `cargo run --example own_scalar`

use kgard::{Error, Gaussian, Plan, Real, Regularizer, Stop};
use twofloat::TwoFloat;

/// The outliers, and the value of the function at 0.5.
fn fit<T: Real>(lambda: f64) -> Result<(Vec<usize>, T), Error> {
    let scalar = |x: f64| T::from(x).expect("an ordinary number");
    let x: Vec<T> = (0..40).map(|i| scalar(f64::from(i) / 40.0)).collect();
    let mut y: Vec<T> = x.iter().map(|&x| (scalar(6.0) * x).sin()).collect();
    for wrong in [9, 30] {
        y[wrong] = y[wrong] + scalar(2.0);
    }
    let plan = Plan::new(&x, Gaussian::new(scalar(0.3)), Regularizer::rkhs(scalar(lambda)))?;
    let fit = plan.fit(&y, Stop::max_residual(scalar(0.5)))?;
    let mut found: Vec<usize> = fit.outliers().iter().map(|outlier| outlier.index).collect();
    found.sort_unstable();
    Ok((found, fit.predict(&[scalar(0.5)])?))
}

fn main() -> Result<(), Error> {
    for lambda in [1e-2, 1e-5, 1e-9] {
        let (reference, exact) = fit::<TwoFloat>(lambda)?;
        let (double, value) = fit::<f64>(lambda)?;
        assert_eq!(reference, [9, 30]);
        assert_eq!(double, reference);
        let lost = (f64::from(exact) - value).abs();
        print!("lambda {lambda:e}: f(0.5) = {:.15}, f64 differs by {lost:.1e}, ", f64::from(exact));
        match fit::<f32>(lambda) {
            Ok((_, value)) => {
                let lost = (f64::from(exact) - f64::from(value)).abs();
                println!("f32 by {lost:.1e}");
                assert!(lost < 1e-3 || lambda < 1e-4);
            }
            // It says what to do.
            Err(error) => println!("f32: {error}"),
        }
        assert!(lost < 1e-6);
    }
    Ok(())
}

#[test]
fn runs() -> Result<(), Error> {
    main()
}
