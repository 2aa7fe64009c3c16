//! BM3D against a literal one, and the noise estimate against known noise.
#![allow(clippy::pedantic, missing_docs, unreachable_pub)]

#[path = "bm3d/literal.rs"]
mod literal;
#[path = "bm3d/pictures.rs"]
mod pictures;

use kgard::Error;
use kgard::denoise::bm3d::{Bm3d, Stage, Transform};
use kgard::denoise::{NoiseSpectrum, Plane, noise_level};
use pictures::{noise, picture, psnr};

/// A small profile, so that the literal form is quick.
fn small(block: usize, step: usize, transform: Transform) -> Bm3d<f64> {
    let stage = Stage {
        block,
        step,
        radius: 5,
        spacing: 1,
        group: 8,
        max_distance: 3000.0,
        beta: 2.0,
        transform,
    };
    let second = Stage { group: 16, max_distance: 400.0, transform: Transform::Dct, ..stage };
    Bm3d { first: stage, second, threshold: 2.7, wiener: true }
}

fn noisy(width: usize, height: usize, sigma: f64, seed: u64) -> Vec<f64> {
    let clean = picture(width, height);
    clean.iter().zip(noise(clean.len(), seed)).map(|(c, n)| c + sigma * n).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn is_the_literal_algorithm() {
    for (block, step, transform) in [
        (8, 3, Transform::Bior15),
        (8, 3, Transform::Dct),
        (8, 4, Transform::Bior15),
        (8, 8, Transform::Dct),
        (4, 1, Transform::Bior15),
        (4, 3, Transform::Dct),
        (12, 5, Transform::Dct),
        (16, 6, Transform::Bior15),
    ] {
        let settings = small(block, step, transform);
        // Not a multiple of anything; more than a strip high, with step 1
        // more than a tile wide.
        for (width, height) in [(37, 53), (83, 29)] {
            let z = noisy(width, height, 20.0, 1);
            let fast = settings.denoise(Plane::new(&z, width, height).unwrap(), 20.0).unwrap();
            let slow = literal::bm3d(&settings, &[(&z, 20.0)], width, height, None);
            let gap = largest_difference(fast.samples(), &slow[0]);
            assert!(gap < 1e-9, "{block} {step} {transform:?} {width}x{height}: {gap}");
        }
    }
}

#[test]
fn the_normal_profile_is_the_literal_one_too() {
    let (width, height) = (64, 48);
    let z = noisy(width, height, 25.0, 2);
    let settings = Bm3d::<f64>::default();
    let fast = settings.denoise(Plane::new(&z, width, height).unwrap(), 25.0).unwrap();
    let slow = literal::bm3d(&settings, &[(&z, 25.0)], width, height, None);
    assert!(largest_difference(fast.samples(), &slow[0]) < 1e-9);
}

#[test]
fn without_the_second_stage_it_is_the_basic_estimate() {
    let (width, height) = (45, 38);
    let z = noisy(width, height, 25.0, 9);
    let settings = Bm3d { wiener: false, ..small(8, 3, Transform::Dct) };
    let fast = settings.denoise(Plane::new(&z, width, height).unwrap(), 25.0).unwrap();
    let slow = literal::bm3d(&settings, &[(&z, 25.0)], width, height, None);
    assert!(largest_difference(fast.samples(), &slow[0]) < 1e-9);
    // A channel without noise stays as it is here, too.
    let plane = Plane::new(&z, width, height).unwrap();
    let both = settings.denoise_channels(&[(plane, 0.0), (plane, 25.0)], None).unwrap();
    assert_eq!(both[0].samples(), z);
    assert!(largest_difference(both[1].samples(), &slow[0]) < 1e-9);
}

#[test]
fn channels_are_filtered_in_the_groups_of_the_first() {
    let (width, height) = (41, 40);
    let (a, b) = (noisy(width, height, 15.0, 3), noisy(width, height, 30.0, 4));
    let settings = small(8, 3, Transform::Bior15);
    let plane = |z| Plane::new(z, width, height).unwrap();
    let fast = settings.denoise_channels(&[(plane(&a), 15.0), (plane(&b), 30.0)], None).unwrap();
    let slow = literal::bm3d(&settings, &[(&a, 15.0), (&b, 30.0)], width, height, None);
    for (fast, slow) in fast.iter().zip(&slow) {
        assert!(largest_difference(fast.samples(), slow) < 1e-9);
    }
    // Not the same as on their own: the second has other groups.
    let alone = settings.denoise(plane(&b), 30.0).unwrap();
    assert!(largest_difference(alone.samples(), fast[1].samples()) > 0.1);
}

/// Noise of other deviations in each coefficient, and in each channel.
#[test]
fn spectra_are_used_as_described() {
    let (width, height) = (40, 33);
    let (a, b) = (noisy(width, height, 15.0, 5), noisy(width, height, 15.0, 6));
    let plane = |z| Plane::new(z, width, height).unwrap();
    let channels = [(plane(&a), 15.0), (plane(&b), 12.0)];
    let settings = small(8, 3, Transform::Dct);
    let spectra = [0.2, 0.05].map(|slope: f64| {
        let q = |v: usize, u: usize| (-slope * (v + 2 * u) as f64).exp() * 1.5;
        NoiseSpectrum::new(std::array::from_fn(|v| std::array::from_fn(|u| q(v, u)))).unwrap()
    });
    let fast = settings.denoise_channels(&channels, Some(&spectra)).unwrap();
    let literal = spectra.map(|s| s.deviations().map(|row| row.to_vec()).to_vec());
    let slow = literal::bm3d(&settings, &[(&a, 15.0), (&b, 12.0)], width, height, Some(&literal));
    let plain = settings.denoise_channels(&channels, None).unwrap();
    for c in 0..2 {
        assert!(largest_difference(fast[c].samples(), &slow[c]) < 1e-9);
        assert!(largest_difference(fast[c].samples(), plain[c].samples()) > 1.0);
    }
    // White noise with a spectrum is white noise.
    let white = [NoiseSpectrum::white(1.0); 2];
    let fast = settings.denoise_channels(&channels, Some(&white)).unwrap();
    assert_eq!(fast[0].samples(), plain[0].samples());
}

#[test]
fn colour_is_the_opponent_transform_around_channels() {
    let (width, height) = (32, 35);
    let rgb = [6, 7, 8].map(|seed| noisy(width, height, 20.0, seed));
    let settings = small(8, 3, Transform::Bior15);
    let plane = |z| Plane::new(z, width, height).unwrap();
    let planes = [plane(&rgb[0]), plane(&rgb[1]), plane(&rgb[2])];
    let out = settings.denoise_rgb(planes, [20.0, 20.0, 20.0], None).unwrap();

    let mix = |f: [f64; 3]| -> Vec<f64> {
        (0..width * height).map(|i| (0..3).map(|c| f[c] * rgb[c][i]).sum()).collect()
    };
    let (y, u, v) = (mix([1.0 / 3.0; 3]), mix([0.5, 0.0, -0.5]), mix([0.25, -0.5, 0.25]));
    let sigma = |square: f64| 20.0 * square.sqrt();
    let channels = [(&y[..], sigma(1.0 / 3.0)), (&u[..], sigma(0.5)), (&v[..], sigma(0.375))];
    let slow = literal::bm3d(&settings, &channels, width, height, None);
    let back = |i: usize| {
        let (y, u, v) = (slow[0][i], slow[1][i], slow[2][i]);
        // From 3Y = R + G + B, 2U = R - B and 4V = R - 2G + B.
        let green = y - 4.0 * v / 3.0;
        let both = 3.0 * y - green;
        [both / 2.0 + u, green, both / 2.0 - u]
    };
    for i in 0..width * height {
        for (out, expected) in out.iter().zip(back(i)) {
            assert!((out.samples()[i] - expected).abs() < 1e-9);
        }
    }
}

#[test]
fn single_precision_is_as_good() {
    let (width, height) = (96, 80);
    let clean = picture(width, height);
    let z = noisy(width, height, 20.0, 9);
    let narrow: Vec<f32> = z.iter().map(|&v| v as f32).collect();
    let a = Bm3d::default().denoise(Plane::new(&z, width, height).unwrap(), 20.0).unwrap();
    let b = Bm3d::default().denoise(Plane::new(&narrow, width, height).unwrap(), 20.0).unwrap();
    let b: Vec<f64> = b.samples().iter().map(|&v| f64::from(v)).collect();
    let (a, b) = (psnr(&clean, a.samples()), psnr(&clean, &b));
    assert!((a - b).abs() < 0.01, "{a} {b}");
    assert!(a > psnr(&clean, &z) + 8.0, "{a}");
}

#[test]
fn profiles_suit_their_noise() {
    let (width, height) = (96, 96);
    let clean = picture(width, height);
    for sigma in [25.0, 60.0] {
        let z = noisy(width, height, sigma, 10);
        let plane = Plane::new(&z, width, height).unwrap();
        let out = Bm3d::for_noise(sigma, 255.0).denoise(plane, sigma).unwrap();
        let gain = psnr(&clean, out.samples()) - psnr(&clean, &z);
        assert!(gain > 7.0, "{sigma}: {gain}");
        let fast = Bm3d::fast().denoise(plane, sigma).unwrap();
        assert!(psnr(&clean, fast.samples()) > psnr(&clean, &z) + 6.0);
    }
    assert_eq!(Bm3d::for_noise(40.0, 255.0), Bm3d::<f64>::normal());
    assert_eq!(Bm3d::for_noise(41.0, 255.0), Bm3d::<f64>::high_noise());
}

#[test]
fn the_range_of_the_pixels_does_not_matter() {
    let (width, height) = (40, 40);
    let z = noisy(width, height, 20.0, 11);
    // A power of two, so that nothing is rounded differently.
    let scaled: Vec<f64> = z.iter().map(|v| v / 1024.0).collect();
    let a = Bm3d::for_noise(20.0, 255.0).denoise(Plane::new(&z, width, height).unwrap(), 20.0);
    let b = Bm3d::for_noise(20.0 / 1024.0, 255.0 / 1024.0)
        .denoise(Plane::new(&scaled, width, height).unwrap(), 20.0 / 1024.0);
    let b: Vec<f64> = b.unwrap().samples().iter().map(|v| v * 1024.0).collect();
    assert!(largest_difference(a.unwrap().samples(), &b) < 1e-9);
}

#[test]
fn every_size_works() {
    for (width, height) in [(1, 1), (1, 40), (7, 9), (8, 8), (9, 8), (200, 3), (65, 67)] {
        let z = noisy(width, height, 10.0, 12);
        let out = Bm3d::default().denoise(Plane::new(&z, width, height).unwrap(), 10.0).unwrap();
        assert_eq!((out.width(), out.height()), (width, height));
        // One pixel has nothing to be averaged with but itself.
        assert!(largest_difference(out.samples(), &z) < 80.0);
    }
}

#[test]
fn constant_and_noiseless_images_stay() {
    let flat = vec![37.5; 50 * 41];
    let out = Bm3d::default().denoise(Plane::new(&flat, 50, 41).unwrap(), 25.0).unwrap();
    assert!(largest_difference(out.samples(), &flat) < 1e-9);
    let black = vec![0.0; 50 * 41];
    let out = Bm3d::default().denoise(Plane::new(&black, 50, 41).unwrap(), 25.0).unwrap();
    assert_eq!(out.samples(), black);

    let z = noisy(30, 30, 10.0, 13);
    let plane = Plane::new(&z, 30, 30).unwrap();
    assert_eq!(Bm3d::default().denoise(plane, 0.0).unwrap().samples(), z);
    // A channel without noise stays, whether groups come from it or not.
    let other = noisy(30, 30, 10.0, 14);
    let second = Plane::new(&other, 30, 30).unwrap();
    let out = Bm3d::default().denoise_channels(&[(plane, 0.0), (second, 9.0)], None).unwrap();
    assert_eq!(out[0].samples(), z);
    assert!(largest_difference(out[1].samples(), &other) > 1.0);
}

#[test]
fn planes_may_be_strided() {
    let (width, height) = (33, 31);
    let z = noisy(width, height, 20.0, 15);
    let mut wide = vec![f64::NAN; 2 * (width + 5) * height];
    for y in 0..height {
        for x in 0..width {
            wide[2 * (y * (width + 5) + x)] = z[y * width + x];
        }
    }
    let strided = Plane::strided(&wide, width, height, 2 * (width + 5), 2).unwrap();
    let settings = small(8, 3, Transform::Bior15);
    let a = settings.denoise(strided, 20.0).unwrap();
    assert_eq!(a, settings.denoise(Plane::new(&z, width, height).unwrap(), 20.0).unwrap());
    assert_eq!(
        noise_level(strided, None).unwrap(),
        noise_level(Plane::new(&z, width, height).unwrap(), None).unwrap()
    );
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_change_a_bit() {
    let (width, height) = (70, 150);
    let z = noisy(width, height, 20.0, 16);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            small(8, 3, Transform::Bior15).denoise(Plane::new(&z, width, height).unwrap(), 20.0)
        })
        .unwrap()
    };
    let one = run(1);
    for threads in [2, 3, 7] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn bad_input_is_refused() {
    let mut z = noisy(20, 20, 10.0, 17);
    let settings = Bm3d::<f64>::default();
    let denoise = |settings: &Bm3d<f64>, z: &[f64], sigma| {
        settings.denoise(Plane::new(z, 20, 20).unwrap(), sigma).unwrap_err()
    };
    assert_eq!(denoise(&settings, &z, -1.0), Error::Negative { what: "sigma", value: -1.0 });
    for sigma in [f64::NAN, f64::INFINITY] {
        assert!(matches!(denoise(&settings, &z, sigma), Error::NotFinite { what: "sigma", .. }));
    }
    let change = |change: fn(&mut Bm3d<f64>)| {
        let mut settings = settings;
        change(&mut settings);
        denoise(&settings, &z, 10.0)
    };
    for wrong in [
        change(|s| s.first.block = 7),
        change(|s| s.first.block = 12),
        change(|s| s.second.step = 0),
        change(|s| s.second.step = 9),
        change(|s| s.first.radius = 5000),
        change(|s| s.second.group = 24),
        change(|s| s.second.group = 0),
        change(|s| s.first.beta = 21.0),
        change(|s| s.first.beta = f64::NAN),
    ] {
        assert!(matches!(wrong, Error::Setting { .. }), "{wrong:?}");
    }
    assert!(matches!(change(|s| s.threshold = -1.0), Error::Negative { .. }));
    assert!(matches!(change(|s| s.first.max_distance = f64::NAN), Error::Negative { .. }));
    assert!(matches!(change(|s| s.first.beta = -1.0), Error::Negative { .. }));

    let plane = Plane::new(&z, 20, 20).unwrap();
    let other = plane.crop(0, 0, 20, 19).unwrap();
    let sizes = settings.denoise_channels(&[(plane, 1.0), (other, 1.0)], None);
    assert!(matches!(sizes, Err(Error::Length { expected: 20, found: 19, .. })));
    assert!(settings.denoise_rgb([plane, other, plane], [1.0; 3], None).is_err());
    let spectra = [NoiseSpectrum::white(1.0); 2];
    assert!(settings.correlated(1.0).denoise_channels(&[(plane, 1.0)], Some(&spectra)).is_err());
    let refused = settings.denoise_channels(&[(plane, 1.0)], Some(&spectra[..1]));
    assert!(matches!(refused, Err(Error::Setting { .. })), "its first stage has wavelets");
    assert!(matches!(settings.denoise_channels(&[], None), Err(Error::Empty { .. })));

    z[37] = f64::NAN;
    assert!(matches!(denoise(&settings, &z, 1.0), Error::NotFinite { index: 37, .. }));
    assert!(noise_level(Plane::new(&z, 20, 20).unwrap(), None).is_err());
    z[37] = 1e200;
    assert!(matches!(denoise(&settings, &z, 1.0), Error::Overflow { .. }));
}

#[test]
fn the_noise_level_is_found() {
    let (width, height) = (256, 256);
    for sigma in [2.0, 5.0, 10.0, 30.0] {
        let z = noisy(width, height, sigma, 18);
        let plane = Plane::new(&z, width, height).unwrap();
        let found = noise_level(plane, None).unwrap();
        assert!((found / sigma - 1.0).abs() < 0.05, "{sigma}: {found}");

        // A fifth of the pixels wrong, but known to be.
        let wrong: Vec<bool> = noise(z.len(), 19).iter().map(|n| n.abs() > 1.28).collect();
        let spoilt: Vec<f64> =
            z.iter().zip(&wrong).map(|(z, &wrong)| z + if wrong { 100.0 } else { 0.0 }).collect();
        let plane = Plane::new(&spoilt, width, height).unwrap();
        let known = noise_level(plane, Some(Plane::new(&wrong, width, height).unwrap())).unwrap();
        assert!((known / sigma - 1.0).abs() < 0.08, "{sigma}: {known}");
        let unknown = noise_level(plane, None).unwrap();
        assert!(unknown > 1.02 * known, "{sigma}: {unknown}, {known}");
    }
}

/// In a picture of one row or column differences along it tell the noise.
#[test]
fn the_noise_level_of_a_line_is_found() {
    let length = 20_000;
    let level = |(i, n): (usize, f64)| 100.0 + 60.0 * (i as f64 / 40.0).sin() + 10.0 * n;
    let z: Vec<f64> = noise(length, 21).into_iter().enumerate().map(level).collect();
    for (width, height) in [(length, 1), (1, length)] {
        let found = noise_level(Plane::new(&z, width, height).unwrap(), None).unwrap();
        assert!((found / 10.0 - 1.0).abs() < 0.08, "{width} x {height}: {found}");
    }
}

#[test]
fn the_noise_level_of_clipped_noise_is_found() {
    // Half the picture is black, where clipping leaves half of the noise.
    let (width, height) = (256, 256);
    let clean = picture(width, height);
    let z: Vec<f64> = (0..)
        .zip(clean.iter().zip(noise(clean.len(), 20)))
        .map(|(i, (c, n))| (if i < width * height / 2 { 0.0 } else { *c } + 15.0 * n).max(0.0))
        .collect();
    let found = noise_level(Plane::new(&z, width, height).unwrap(), None).unwrap();
    assert!((found / 15.0 - 1.0).abs() < 0.08, "{found}");
}

#[test]
fn no_noise_is_found_where_there_is_none() {
    for (width, height) in [(1, 1), (1, 30), (30, 1), (2, 2), (64, 48)] {
        let flat = vec![5.0; width * height];
        assert_eq!(noise_level(Plane::new(&flat, width, height).unwrap(), None), Ok(0.0));
    }
    let clean = picture(128, 128);
    let found = noise_level(Plane::new(&clean, 128, 128).unwrap(), None).unwrap();
    assert!(found < 0.3, "{found}");
    let all = vec![true; 128 * 128];
    let ignored = noise_level(
        Plane::new(&clean, 128, 128).unwrap(),
        Some(Plane::new(&all, 128, 128).unwrap()),
    );
    assert_eq!(ignored, Ok(0.0));
}
