//! PSNR and SSIM against scikit-image, whose figures tests/data/metrics.py
//! wrote down.

use kgard::denoise::Plane;
use kgard::denoise::metrics::{decibels, mse, psnr, ssim};
use kgard::{Error, Real};

/// A plane and a noisy one, as the script makes them.
fn planes<T: Real>(width: i64, height: i64, peak: i64, noise: i64) -> (Vec<T>, Vec<T>) {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let pixel = |(x, y): (i64, i64)| {
        let clean = (x * 7 + y * 13 + (x * y) % 31 * 5) * (peak / 255) % (peak + 1);
        let scatter = (x * 7919 + y * 104_729 + x * y * 31) % (2 * noise + 1) - noise;
        (T::from(clean).unwrap(), T::from((clean + scatter).clamp(0, peak)).unwrap())
    };
    pixels.map(pixel).unzip()
}

/// Compares with every line of the figures, in the scalar `T`.
fn agrees<T: Real>(tolerance: f64) {
    let figures = include_str!("../data/metrics.csv");
    assert_eq!(figures.lines().count(), 7);
    for line in figures.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [width, height, peak, noise] = [0, 1, 2, 3].map(|i| cells[i].parse().unwrap());
        let [expected_psnr, expected_ssim]: [f64; 2] = [4, 5].map(|i| cells[i].parse().unwrap());
        let (clean, noisy) = planes::<T>(width, height, peak, noise);
        let plane = |samples| Plane::new(samples, width as usize, height as usize).unwrap();
        let (clean, noisy) = (plane(&clean), plane(&noisy));
        let peak = T::from(peak).unwrap();
        let found = psnr(clean, noisy, peak).unwrap().to_f64().unwrap();
        assert!((found / expected_psnr - 1.0).abs() < tolerance, "{line}: PSNR {found}");
        let found = ssim(clean, noisy, peak).unwrap().to_f64().unwrap();
        assert!((found - expected_ssim).abs() < tolerance, "{line}: SSIM {found}");
    }
}

#[test]
fn double_precision_agrees_with_scikit_image() {
    agrees::<f64>(1e-12);
}

#[test]
fn single_precision_agrees_with_scikit_image() {
    agrees::<f32>(1e-4);
}

#[test]
fn the_same_image() {
    let (clean, _) = planes::<f64>(20, 15, 255, 1);
    let plane = Plane::new(&clean, 20, 15).unwrap();
    assert_eq!(mse(plane, plane).unwrap(), 0.0);
    assert_eq!(psnr(plane, plane, 255.0).unwrap(), f64::INFINITY);
    assert!((ssim(plane, plane, 255.0).unwrap() - 1.0).abs() < 1e-14);
    let black = vec![0.0; 300];
    let black = Plane::new(&black, 20, 15).unwrap();
    assert_eq!(ssim(black, black, 255.0).unwrap(), 1.0);
}

/// Known without a computer.
#[test]
fn by_hand() {
    let (black, white) = (vec![0.0; 121], vec![1.0; 121]);
    let (black, white) = (Plane::new(&black, 11, 11).unwrap(), Plane::new(&white, 11, 11).unwrap());
    assert_eq!(mse(black, white).unwrap(), 1.0);
    assert_eq!(psnr(black, white, 10.0).unwrap(), 20.0);
    assert_eq!(decibels(0.01, 1.0), 20.0);
    // Of constant images only the means count: C1 / (1 + C1).
    let expected = 1e-4 / (1.0 + 1e-4_f64);
    assert!((ssim(black, white, 1.0).unwrap() - expected).abs() < 1e-14);
}

/// A strided view has the figures of its copy.
#[test]
fn views() {
    let (clean, noisy) = planes::<f64>(64, 48, 255, 40);
    let view = |samples| Plane::strided(samples, 20, 16, 128, 2).unwrap();
    let copy = |samples| view(samples).to_vec();
    let (a, b) = (copy(&clean), copy(&noisy));
    let (a, b) = (Plane::new(&a, 20, 16).unwrap(), Plane::new(&b, 20, 16).unwrap());
    assert_eq!(ssim(view(&clean), view(&noisy), 255.0), ssim(a, b, 255.0));
    assert_eq!(psnr(view(&clean), view(&noisy), 255.0), psnr(a, b, 255.0));
}

#[test]
fn what_cannot_be_compared() {
    let (a, mut b) = (vec![0.0; 240], vec![0.0; 240]);
    b[17] = f64::NAN;
    let plane = |width, height| Plane::new(&a, width, height).unwrap();
    let wide = Error::ImageSize { what: "other image", expected: (20, 12), found: (12, 20) };
    assert_eq!(psnr(plane(20, 12), plane(12, 20), 1.0), Err(wide));
    assert_eq!(ssim(plane(20, 12), plane(12, 20), 1.0), Err(wide));
    let small = Error::TooShort { what: "image's height", needed: 11, found: 10 };
    assert_eq!(ssim(plane(24, 10), plane(24, 10), 1.0), Err(small));
    assert!(psnr(plane(24, 10), plane(24, 10), 1.0).is_ok());
    for peak in [0.0, -1.0, f64::NAN] {
        assert!(matches!(
            psnr(plane(20, 12), plane(20, 12), peak),
            Err(Error::NotPositive { what: "peak", .. })
        ));
        assert!(ssim(plane(20, 12), plane(20, 12), peak).is_err());
    }
    let nan = Plane::new(&b, 20, 12).unwrap();
    for result in [mse(nan, plane(20, 12)), ssim(plane(20, 12), nan, 1.0)] {
        assert!(matches!(result, Err(Error::NotFinite { index: 17, .. })), "{result:?}");
    }
}
