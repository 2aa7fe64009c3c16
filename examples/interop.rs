//! Matrices and images of ndarray, nalgebra and faer in and out, without
//! copies where the layout allows.
//!
//! kgard takes slices: points are coordinates one after another, planes have a
//! distance between rows and one between samples.
//!
//! `cargo run --example interop`

use kgard::denoise::{Denoiser, Plane, PlaneBuf};
use kgard::{Error, Fit, Gaussian, Plan, Points, Regularizer, Stop};
use nalgebra::{DMatrix, DVector};
use ndarray::{Array2, Array3, Axis, s};

const N: u16 = 60;
const WRONG: usize = 23;

fn coordinate(i: u16, axis: usize) -> f64 {
    let (row, column) = (i / 10, i % 10);
    f64::from(if axis == 0 { row } else { column }) / 10.0
}

fn value(i: u16) -> f64 {
    let smooth = (5.0 * coordinate(i, 0)).sin() + coordinate(i, 1);
    if usize::from(i) == WRONG { smooth + 4.0 } else { smooth }
}

fn fit(points: Points<'_, f64>, y: &[f64]) -> Result<Fit<f64, Gaussian<f64>>, Error> {
    let plan = Plan::new(points, Gaussian::new(0.5), Regularizer::l2(0.1))?;
    let fit = plan.fit(y, Stop::max_residual(1.0))?;
    assert_eq!(fit.outliers().len(), 1);
    assert_eq!(fit.outliers()[0].index, WRONG);
    Ok(fit)
}

/// ndarray is row-major: a point a row, as kgard has it.
fn with_ndarray() -> Result<Array2<f64>, Error> {
    let x = Array2::from_shape_fn((N.into(), 2), |(i, axis)| coordinate(index(i), axis));
    let y = ndarray::Array1::from_shape_fn(usize::from(N), |i| value(index(i)));
    let points = Points::new(x.as_slice().expect("row-major"), 2)?;
    let fit = fit(points, y.as_slice().expect("contiguous"))?;
    let fitted = Array2::from_shape_vec((6, 10), fit.fitted().to_vec()).expect("60 values");
    println!("ndarray: mean of the fitted values by row {:.3}", fitted.mean_axis(Axis(1)).unwrap());
    Ok(fitted)
}

/// nalgebra is column-major: a point a column.
fn with_nalgebra() -> Result<DVector<f64>, Error> {
    let x = DMatrix::from_fn(2, N.into(), |axis, i| coordinate(index(i), axis));
    let y = DVector::from_fn(N.into(), |i, _| value(index(i)));
    let fit = fit(Points::new(x.as_slice(), 2)?, y.as_slice())?;
    let residual = DVector::from_column_slice(fit.residual());
    println!("nalgebra: norm of the residual {:.4}", residual.norm());
    Ok(DVector::from_column_slice(fit.fitted()))
}

/// faer pads its columns, so that a matrix of points is gathered once.
fn with_faer() -> Result<faer::Col<f64>, Error> {
    let x = faer::Mat::<f64>::from_fn(2, usize::from(N), |axis, i| coordinate(index(i), axis));
    let y = faer::Col::<f64>::from_fn(usize::from(N), |i| value(index(i)));
    let coordinates: Vec<f64> = x.col_iter().flat_map(|point| point.iter().copied()).collect();
    let y = y.try_as_col_major().expect("a column is contiguous").as_slice();
    let fit = fit(Points::new(&coordinates, 2)?, y)?;
    let alpha = faer::Col::<f64>::from_fn(usize::from(N), |i| fit.coefficients()[i]);
    println!("faer: norm of the coefficients {:.4}", alpha.norm_l2());
    Ok(faer::Col::from_fn(usize::from(N), |i| fit.fitted()[i]))
}

/// A channel of an image (height, width, colour), and a part of it, are views
/// of its memory.
fn strided_planes() -> Result<PlaneBuf<f32>, Error> {
    let mut rgb = Array3::from_shape_fn((40, 50, 3), |(y, x, colour)| {
        let (x, y) = (f32::from(index(x)), f32::from(index(y)));
        100.0 + 40.0 * (x / 15.0 + y / 20.0).sin() + 10.0 * f32::from(index(colour))
    });
    rgb[[20, 30, 1]] = 255.0;
    let green = rgb.slice(s![5..37, 10.., 1]);
    let (height, width) = green.dim();
    let strides = green.strides();
    let [stride, step] = [strides[0], strides[1]].map(isize::unsigned_abs);
    // From the first sample of the view on.
    let first = (5 * 50 + 10) * 3 + 1;
    let memory = &rgb.as_slice().expect("row-major")[first..];
    let plane = Plane::strided(memory, width, height, stride, step)?;
    assert!((0..height).all(|y| plane.row(y).eq(green.row(y).iter().copied())));

    let mut denoised = Denoiser::new().denoise(plane)?;
    let values = denoised.outliers.values.swap_remove(0);
    let outliers = Array2::from_shape_vec((height, width), values.into_samples());
    let outliers = outliers.expect("as many as pixels");
    println!(
        "planes: {} outlier, {:+.0} at [15, 20]",
        denoised.report.channels[0].outliers,
        outliers[[15, 20]]
    );
    assert!(outliers[[15, 20]] > 50.0);
    Ok(denoised.channels.swap_remove(0))
}

fn main() -> Result<(), Error> {
    let (a, b, c) = (with_ndarray()?, with_nalgebra()?, with_faer()?);
    // The same numbers in, the same bits out.
    assert!(a.iter().eq(b.iter()) && a.iter().eq(c.iter()));
    let image = strided_planes()?;
    assert_eq!((image.width(), image.height()), (40, 32));
    Ok(())
}

fn index(i: usize) -> u16 {
    u16::try_from(i).expect("small")
}

#[test]
fn runs() -> Result<(), Error> {
    main()
}
