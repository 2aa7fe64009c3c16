//! How close an image is to another: PSNR and SSIM.
//!
//! ```
//! use kgard::denoise::Plane;
//! use kgard::denoise::metrics::{psnr, ssim};
//!
//! let clean: Vec<f64> = (0..400).map(|i| f64::from(i % 20) * 10.0).collect();
//! let noisy: Vec<f64> = clean.iter().zip(0..).map(|(x, i)| x + f64::from(i % 3 - 1)).collect();
//! let (clean, noisy) = (Plane::new(&clean, 20, 20)?, Plane::new(&noisy, 20, 20)?);
//!
//! assert!((psnr(clean, noisy, 255.0)? - 49.89).abs() < 0.01);
//! assert!(ssim(clean, noisy, 255.0)? > 0.99);
//! assert_eq!(psnr(clean, clean, 255.0)?, f64::INFINITY);
//! # Ok::<(), kgard::Error>(())
//! ```

use super::Plane;
use crate::real::{constant, count};
use crate::{Error, Real};
use alloc::vec::Vec;

/// Side of the window of SSIM.
const WINDOW: usize = 11;
/// Standard deviation of its weights.
const SIGMA: f64 = 1.5;
/// The constants of SSIM, of the peak.
const K1: f64 = 0.01;
const K2: f64 = 0.03;
/// What is averaged in each window: x, y, x^2, y^2 and xy.
const MOMENTS: usize = 5;

/// The mean squared error.
///
/// # Errors
/// [`Error::ImageSize`] if the sizes differ, [`Error::NotFinite`] if a sample is
/// not finite.
pub fn mse<T: Real>(reference: Plane<'_, T>, image: Plane<'_, T>) -> Result<T, Error> {
    check(reference, image)?;
    // Row by row, so that the sum of many small numbers does not lose them.
    let row = |y| {
        let pairs = reference.row(y).zip(image.row(y));
        pairs.fold(T::zero(), |sum, (a, b)| sum + (a - b) * (a - b))
    };
    let sum = (0..image.height()).map(row).fold(T::zero(), |sum, row| sum + row);
    Ok(sum / count(image.area()))
}

/// The peak signal-to-noise ratio in decibels, $10 \log_{10} (\text{peak}^2 / \text{mse})$;
/// infinite if the images are the same.
///
/// # Errors
/// As [`mse`], and [`Error::NotPositive`] if `peak` is not positive.
pub fn psnr<T: Real>(reference: Plane<'_, T>, image: Plane<'_, T>, peak: T) -> Result<T, Error> {
    Error::check_positive("peak", peak)?;
    Ok(decibels(mse(reference, image)?, peak))
}

/// The same from a mean squared error that is known, of several channels for
/// example.
#[must_use]
pub fn decibels<T: Real>(mse: T, peak: T) -> T {
    constant::<T>(10.0) * (peak * peak / mse).log10()
}

/// The structural similarity of Wang et al. (2004): 1 if the images are the
/// same.
///
/// Means, variances and covariance in windows of 11 x 11 pixels with Gaussian
/// weights of standard deviation 1.5, $K_1 = 0.01$, $K_2 = 0.03$. Averaged over the
/// windows that lie inside of the image; nothing is padded.
///
/// # Errors
/// As [`psnr`], and [`Error::TooShort`] if there is no room for a window.
pub fn ssim<T: Real>(reference: Plane<'_, T>, image: Plane<'_, T>, peak: T) -> Result<T, Error> {
    Error::check_positive("peak", peak)?;
    check(reference, image)?;
    Error::check_at_least("image's width", image.width(), WINDOW)?;
    Error::check_at_least("image's height", image.height(), WINDOW)?;
    let weights = weights::<T>();
    let c1 = (constant::<T>(K1) * peak).powi(2);
    let c2 = (constant::<T>(K2) * peak).powi(2);
    let two = constant::<T>(2.0);
    let similarity = |[x, y, xx, yy, xy]: [T; MOMENTS]| {
        let (square, product) = (x * x + y * y, x * y);
        let variances = xx + yy - square;
        (two * product + c1) * (two * (xy - product) + c2) / ((square + c1) * (variances + c2))
    };

    let windows = image.width() - WINDOW + 1;
    let mut sum = T::zero();
    let mut columns = alloc::vec![[T::zero(); MOMENTS]; image.width()];
    for top in 0..=image.height() - WINDOW {
        // The weights are separable: first down the columns, then along the row.
        columns.fill([T::zero(); MOMENTS]);
        for (y, &weight) in (top..).zip(&weights) {
            for ((moments, x), y) in columns.iter_mut().zip(reference.row(y)).zip(image.row(y)) {
                add(moments, weight, [x, y, x * x, y * y, x * y]);
            }
        }
        let row = columns.windows(WINDOW).fold(T::zero(), |sum, window| {
            let mut moments = [T::zero(); MOMENTS];
            for (&column, &weight) in window.iter().zip(&weights) {
                add(&mut moments, weight, column);
            }
            sum + similarity(moments)
        });
        sum = sum + row / count(windows);
    }
    Ok(sum / count(image.height() - WINDOW + 1))
}

/// Adds weighted moments.
#[inline(always)]
fn add<T: Real>(sums: &mut [T; MOMENTS], weight: T, moments: [T; MOMENTS]) {
    for (sum, moment) in sums.iter_mut().zip(moments) {
        *sum = *sum + weight * moment;
    }
}

/// The weights of a window along one axis; their sum is 1.
fn weights<T: Real>() -> Vec<T> {
    let bell = |i: usize| {
        let x = (i as f64 - (WINDOW / 2) as f64) / SIGMA;
        constant::<T>(-0.5 * x * x).exp()
    };
    let sum = (0..WINDOW).map(bell).fold(T::zero(), |sum, x| sum + x);
    (0..WINDOW).map(|i| bell(i) / sum).collect()
}

fn check<T: Real>(reference: Plane<'_, T>, image: Plane<'_, T>) -> Result<(), Error> {
    reference.check_size("other image", &image)?;
    reference.check_finite()?;
    image.check_finite()
}
