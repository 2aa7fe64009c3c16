//! What cameras and screens give: noise that pixels and channels share, and pictures with nothing
//! wrong in them.

use super::common::problem::Random;
use kgard::denoise::bm3d::{Bm3d, denoise_image};
use kgard::denoise::{Doubt, KgBm3d, Masks, NoiseSpectrum, Plane, PlaneBuf, noise_spectrum};

const SIDE: usize = 192;

fn of(pixel: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    (0..SIDE * SIDE).map(|i| pixel((i % SIDE) as f32, (i / SIDE) as f32)).collect()
}

/// Slopes, a disc with an edge, and a third of soft stripes.
fn picture() -> Vec<f32> {
    of(|x, y| {
        let disc = if (x - 60.0).hypot(y - 110.0) < 35.0 { 45.0 } else { 0.0 };
        let stripes = if x > 128.0 { 18.0 * (0.9 * x + 0.4 * y).sin() } else { 0.0 };
        100.0 + 30.0 * (x / 31.0).sin() + 25.0 * (y / 27.0).cos() + disc + stripes
    })
}

fn white(deviation: f64, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..SIDE * SIDE).map(|_| (deviation * random.normal()) as f32).collect()
}

fn at(samples: &[f32], x: isize, y: isize) -> f32 {
    let fold = |i: isize| {
        let i = i.unsigned_abs();
        if i < SIDE { i } else { 2 * SIDE - 2 - i }
    };
    samples[fold(y) * SIDE + fold(x)]
}

/// The sum of what is around each pixel, by weights of the displacement.
fn blurred(samples: &[f32], weight: impl Fn(isize, isize, usize, usize) -> f32) -> Vec<f32> {
    (0..SIDE * SIDE)
        .map(|i| {
            let (x, y) = (i % SIDE, i / SIDE);
            let mut sum = 0.0;
            for dy in -3_isize..=3 {
                for dx in -3_isize..=3 {
                    let w = weight(dx, dy, x, y);
                    sum += w * at(samples, x as isize + dx, y as isize + dy);
                }
            }
            sum
        })
        .collect()
}

/// White noise blurred by a Gaussian of one pixel, of deviation 12.
fn grain(seed: u64) -> Vec<f32> {
    let weight = |d: isize| (-0.5 * (d * d) as f32).exp();
    let squares: f32 = (-3..=3).map(|d| weight(d) * weight(d)).sum();
    let noise = white(12.0, seed);
    blurred(&noise, |dx, dy, _, _| weight(dx) * weight(dy) / squares)
}

/// Red, green and blue of a mosaic of Bayer's, bilinearly.
fn demosaiced(mosaic: &[f32]) -> [Vec<f32>; 3] {
    let is = |colour: usize, x: isize, y: isize| match (x.rem_euclid(2), y.rem_euclid(2)) {
        (0, 0) => colour == 0,
        (1, 1) => colour == 2,
        _ => colour == 1,
    };
    [0, 1, 2].map(|colour| {
        let weight = |dx: isize, dy: isize, x: usize, y: usize| {
            let (x, y) = (x as isize, y as isize);
            if dx.abs() > 1 || dy.abs() > 1 || !is(colour, x + dx, y + dy) {
                return 0.0;
            }
            if is(colour, x, y) {
                return if (dx, dy) == (0, 0) { 1.0 } else { 0.0 };
            }
            let same = (-1..=1)
                .flat_map(|v| (-1..=1).map(move |u| (u, v)))
                .filter(|&(u, v)| is(colour, x + u, y + v))
                .count();
            1.0 / same as f32
        };
        blurred(mosaic, weight)
    })
}

fn sum(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| (a + b).round().clamp(0.0, 255.0)).collect()
}

fn plane(samples: &[f32]) -> Plane<'_, f32> {
    Plane::new(samples, SIDE, SIDE).unwrap()
}

fn psnr(channels: &[PlaneBuf<f32>], clean: &[&[f32]]) -> f32 {
    let errors = channels
        .iter()
        .zip(clean)
        .flat_map(|(a, b)| a.samples().iter().zip(*b).map(|(a, b)| (a - b) * (a - b)));
    let mean = errors.sum::<f32>() / (clean.len() * SIDE * SIDE) as f32;
    10.0 * (255.0 * 255.0 / mean.max(1e-9)).log10()
}

fn default(channels: &[&[f32]]) -> kgard::denoise::Denoised<f32> {
    let planes: Vec<_> = channels.iter().map(|channel| plane(channel)).collect();
    KgBm3d::new(255.0).plan().unwrap().denoise(&planes, Masks::default()).unwrap()
}

/// BM3D told the best of single deviations.
fn best_single(channels: &[&[f32]], clean: &[&[f32]]) -> f32 {
    let told = |sigma: f32| {
        let loud: Vec<_> = channels.iter().map(|channel| (plane(channel), sigma)).collect();
        psnr(&denoise_image(&loud, None, |s| Bm3d::for_noise(s, 255.0)).unwrap(), clean)
    };
    [6.0, 9.0, 12.0, 15.0, 20.0].into_iter().map(told).fold(0.0, f32::max)
}

/// The same with the noise taken for white, as its finest differences show it.
fn as_white(channels: &[&[f32]], clean: &[&[f32]]) -> f32 {
    let planes: Vec<_> = channels.iter().map(|channel| plane(channel)).collect();
    let sigma = kgard::denoise::noise_level(planes[0], None).unwrap();
    psnr(
        &KgBm3d::new(255.0)
            .noise(sigma)
            .plan()
            .unwrap()
            .denoise(&planes, Masks::default())
            .unwrap()
            .channels,
        clean,
    )
}

#[test]
fn grain_is_seen_and_removed() {
    let clean = picture();
    let noisy = sum(&clean, &grain(1));
    let result = default(&[&noisy]);
    let report = result.report.channels[0];
    let (noise, length) = (report.noise.unwrap(), report.correlation_length.unwrap());
    assert!((noise - 12.0).abs() < 1.5, "{noise}");
    // A Gaussian blur of one pixel gives exp(-d^2 / 4).
    assert!((length - 2.0).abs() < 0.4, "{length}");
    let psnr = psnr(&result.channels, &[&clean]);
    let (single, white) = (best_single(&[&noisy], &[&clean]), as_white(&[&noisy], &[&clean]));
    assert!(psnr > white + 1.5, "{psnr} dB, as white noise {white}");
    assert!(psnr > single, "{psnr} dB, the best single deviation {single}");
}

#[test]
fn a_demosaiced_picture() {
    let clean = picture();
    let tints = [1.0, 0.9, 0.8].map(|t| clean.iter().map(|f| t * f).collect::<Vec<f32>>());
    let mosaic: Vec<f32> = (0..SIDE * SIDE)
        .map(|i| match (i % SIDE % 2, i / SIDE % 2) {
            (0, 0) => tints[0][i],
            (1, 1) => tints[2][i],
            _ => tints[1][i],
        })
        .collect();
    let noise = white(12.0, 3);
    let noisy: Vec<f32> = mosaic.iter().zip(&noise).map(|(f, n)| f + n).collect();
    let noisy = demosaiced(&noisy).map(|c| sum(&c, &[0.0; SIDE * SIDE]));
    let (noisy, clean) = (noisy.each_ref().map(|c| &c[..]), tints.each_ref().map(|c| &c[..]));
    let result = default(&noisy);
    let psnr = psnr(&result.channels, &clean);
    let (single, white) = (best_single(&noisy, &clean), as_white(&noisy, &clean));
    assert!(psnr > white + 1.5, "{psnr} dB, as white noise {white}");
    assert!(psnr > single, "{psnr} dB, the best single deviation {single}");
    assert!(result.report.channels.iter().all(|c| c.correlation_length.unwrap() > 0.5));
}

/// The same noise in all channels: the differences of colour have none.
#[test]
fn noise_of_the_luminance() {
    let clean = picture();
    let (noise, blue) = (white(12.0, 4), clean.iter().map(|f| 0.8 * f).collect::<Vec<f32>>());
    let clean = [&clean[..], &clean[..], &blue[..]];
    let noisy = clean.map(|c| sum(c, &noise));
    let noisy = noisy.each_ref().map(|c| &c[..]);
    let psnr = psnr(&default(&noisy).channels, &clean);
    let single = best_single(&noisy, &clean);
    assert!(psnr > single + 0.5, "{psnr} dB, the best single deviation {single}");
}

#[test]
fn white_noise_has_no_spectrum() {
    let clean = picture();
    for sigma in [3.0, 10.0, 25.0] {
        let noisy = sum(&clean, &white(sigma, 5));
        assert!(noise_spectrum(plane(&noisy), None).is_none(), "{sigma}");
        let result = default(&[&noisy]);
        assert_eq!(result.report.channels[0].correlation_length, Some(0.0));
    }
}

/// A spectrum that is told is used; the size of the noise is estimated.
#[test]
fn a_spectrum_that_is_told() {
    let clean = picture();
    let noisy = sum(&clean, &grain(6));
    let shape = NoiseSpectrum::gaussian(1.0_f32, 2.0).unwrap();
    assert!((shape.deviation() - 1.0).abs() < 1e-5);
    assert!((shape.correlation_length() - 2.0).abs() < 0.3, "{}", shape.correlation_length());
    let told = KgBm3d::new(255.0).noise_spectrum(shape).denoise(plane(&noisy)).unwrap();
    let found = default(&[&noisy]);
    let (a, b) = (psnr(&told.channels, &[&clean]), psnr(&found.channels, &[&clean]));
    assert!(a > b - 0.3, "{a} dB, estimated {b}");
    let white = KgBm3d::new(255.0).noise_spectrum(NoiseSpectrum::white(1.0)).noise(12.0);
    let plain = KgBm3d::new(255.0).noise(12.0);
    let [white, plain] = [white, plain].map(|method| method.denoise(plane(&noisy)).unwrap());
    assert!((psnr(&white.channels, &[&clean]) - psnr(&plain.channels, &[&clean])).abs() < 1.0);
    assert!(NoiseSpectrum::gaussian(1.0, f32::NAN).is_err());
    assert!(NoiseSpectrum::new([[-1.0; 8]; 8]).is_err());
}

/// Letters of lines, dots in a corner and an icon, on two even grounds.
fn screen() -> Vec<f32> {
    let mut pixels = of(|x, _| if x < 50.0 { 238.0 } else { 255.0 });
    let mut ink = |x: usize, y: usize| pixels[y * SIDE + x] = 0.0;
    for line in (10..SIDE - 40).step_by(14) {
        for letter in (8..SIDE - 10).step_by(7) {
            // A letter is four of the strokes of an eight.
            for (stroke, (x, y, dx, dy)) in
                [(0, 0, 1, 0), (0, 4, 1, 0), (0, 8, 1, 0), (0, 0, 0, 1), (4, 0, 0, 1)]
                    .into_iter()
                    .enumerate()
            {
                if (letter * 7 + line * 3 + stroke) % 3 != 0 {
                    for step in 0..5 {
                        ink(letter + x + dx * step, line + y + dy * step);
                    }
                }
            }
        }
    }
    for i in 0..8 {
        for j in 0..8 {
            if (i + j) % 2 == 0 {
                ink(4 + i, SIDE - 12 + j);
            }
        }
        ink(60 + 5 * i, SIDE - 20);
        ink(60 + 5 * i, SIDE - 14);
    }
    pixels
}

#[test]
fn a_clean_screen_stays_bit_for_bit() {
    let pixels = screen();
    let result = default(&[&pixels]);
    assert_eq!(result.channels[0].samples(), pixels);
    assert_eq!(result.report.channels[0].outliers, 0);
    assert_eq!(result.report.channels[0].doubt, Some(Doubt::Structure));
}

/// Impulses on the same picture are found all the same, and on a photograph nothing is in doubt.
#[test]
fn impulses_are_still_impulses() {
    let clean = picture();
    let mut random = Random(7);
    let mut hit = vec![false; clean.len()];
    let mut noisy = sum(&clean, &white(5.0, 8));
    for (y, hit) in noisy.iter_mut().zip(&mut hit) {
        *hit = random.uniform() < 0.08;
        if *hit {
            *y += if random.uniform() < 0.5 { 90.0 } else { -90.0 };
        }
    }
    let result = default(&[&noisy]);
    assert_eq!(result.report.channels[0].doubt, None);
    let found = result.outliers.mask[0].samples().iter().zip(&hit);
    let found = found.filter(|(found, hit)| **found && **hit).count();
    let all = hit.iter().filter(|hit| **hit).count();
    assert!(found * 100 > all * 97, "{found} of {all}");
}
