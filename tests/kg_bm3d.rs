//! KG-BM3D, held to its parts put together literally.
#![allow(missing_docs, clippy::pedantic)]
#![cfg(feature = "std")]

mod common;
#[path = "kg_bm3d/literal.rs"]
mod literal;
#[path = "kg_bm3d/real.rs"]
mod real;

use common::problem::Random;
use kgard::Error;
use kgard::denoise::bm3d::Bm3d;
use kgard::denoise::{Denoised, Denoiser, KgBm3d, Masks, Plane, dead_lines, noise_level};

const WIDTH: usize = 72;
const HEIGHT: usize = 60;

/// Stripes that look like impulses to a smoother, beside a slope.
fn picture() -> Vec<f32> {
    let pixel = |x: f32, y: f32| {
        if x > 36.0 { 120.0 + 50.0 * (1.7 * x + 0.9 * y).sin() } else { 80.0 + 2.0 * x + 0.5 * y }
    };
    (0..WIDTH * HEIGHT).map(|i| pixel((i % WIDTH) as f32, (i / WIDTH) as f32)).collect()
}

fn noisy(noise: f64, impulses: f64, seed: u64) -> (Vec<f32>, Vec<bool>) {
    let mut random = Random(seed);
    let mut hit = vec![false; WIDTH * HEIGHT];
    let mut pixels = picture();
    for (pixel, hit) in pixels.iter_mut().zip(&mut hit) {
        *pixel += (noise * random.normal()) as f32;
        if random.uniform() < impulses {
            *hit = true;
            *pixel += if random.uniform() < 0.5 { 100.0 } else { -100.0 };
        }
    }
    (pixels, hit)
}

fn plane<T: Copy>(samples: &[T]) -> Plane<'_, T> {
    Plane::new(samples, WIDTH, HEIGHT).unwrap()
}

fn error(a: &[f32], b: &[f32]) -> f32 {
    (a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>() / a.len() as f32).sqrt()
}

/// The paper's way, step by step: KGARD, its outliers subtracted, the noise of the rest, BM3D.
/// Samples are in units of the range of the image.
#[test]
fn without_refinements_outliers_are_subtracted() {
    for (noise, share) in [(1.0, 0.1), (8.0, 0.1), (3.0, 0.3)] {
        let (pixels, _) = noisy(noise, share, 1);
        let low = pixels.iter().copied().fold(f32::INFINITY, f32::min);
        let high = pixels.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let units: Vec<f32> = pixels.iter().map(|y| (y - low) / (high - low) * 255.0).collect();
        let kgard = Denoiser::new().denoise(plane(&units)).unwrap();
        let u = kgard.outliers.values[0].samples();
        let repaired: Vec<f32> = units.iter().zip(u).map(|(y, u)| y - u).collect();
        let outlier = kgard.outliers.mask[0].samples().to_vec();
        let sigma = noise_level(plane(&units), Some(plane(&outlier))).unwrap();
        let smooth = kgard.channels[0].samples();
        let range = smooth.iter().copied().fold(f32::NEG_INFINITY, f32::max)
            - smooth.iter().copied().fold(f32::INFINITY, f32::min);
        let clean = Bm3d::for_noise(sigma, range).denoise(plane(&repaired), sigma).unwrap();
        let ours = KgBm3d::new(255.0).refinements(0).denoise(plane(&pixels)).unwrap();
        for (ours, clean) in ours.channels[0].samples().iter().zip(clean.samples()) {
            let clean = low + clean / 255.0 * (high - low);
            assert!((ours - clean).abs() < 1e-2, "{ours} for {clean}");
        }
        let found: Vec<bool> = ours.outliers.mask[0].samples().to_vec();
        assert_eq!(found, outlier);
    }
}

/// The loop, step by step and pixel by pixel.
#[test]
fn the_loop_literally() {
    for (noise, share, seed) in [(8.0, 0.1, 1), (12.0, 0.2, 2), (3.0, 0.05, 3)] {
        let (mut pixels, _) = noisy(noise, share, seed);
        // Some samples are cut off.
        pixels.iter_mut().for_each(|pixel| *pixel = pixel.round().clamp(0.0, 255.0));
        let ours = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        assert_eq!(ours.report.channels[0].law.unwrap().gain, 0.0);
        let literal = literal::kg_bm3d(&pixels, WIDTH);
        let ratio = ours.report.channels[0].noise.unwrap() / literal.noise;
        assert!(
            (ratio - 1.0).abs() < 1e-3,
            "noise {noise}: {} for {}",
            ours.report.channels[0].noise.unwrap(),
            literal.noise
        );
        let distance = error(ours.channels[0].samples(), &literal.pixels);
        assert!(distance < 0.02, "noise {noise}: {distance}");
        let found = ours.outliers.mask[0].samples().iter().zip(&literal.impulses);
        let differ = found.filter(|(found, impulse)| found != impulse).count();
        assert!(differ <= 2, "noise {noise}: {differ}");
    }
}

#[test]
fn impulses_that_drown_do_not_pass_for_noise() {
    for (noise, impulses, seed) in [(20.0, 0.2, 4), (25.0, 0.2, 5), (30.0, 0.15, 6)] {
        let (pixels, hit) = noisy(noise, impulses, seed);
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        let ratio = f64::from(result.report.channels[0].noise.unwrap()) / noise;
        assert!((0.9..1.21).contains(&ratio), "{noise}, {impulses}: {ratio}");
        let found = result.outliers.values[0].samples().iter().zip(&hit);
        let found = found.filter(|&(&u, &hit)| hit && u != 0.0).count() as f64;
        let impulses = hit.iter().filter(|&&hit| hit).count() as f64;
        // Of those in doubt a part is taken out, and less than a half is no outlier.
        assert!(found > 0.5 * impulses, "{noise}: {found} of {impulses}");
    }
}

#[test]
fn looking_again_helps_where_texture_looks_like_impulses() {
    let clean = picture();
    let (pixels, hit) = noisy(8.0, 0.1, 2);
    let run = |rounds| KgBm3d::new(255.0).refinements(rounds).denoise(plane(&pixels)).unwrap();
    let (paper, again) = (run(0), run(6));
    let error = |result: &Denoised<f32>| error(result.channels[0].samples(), &clean);
    assert!(error(&again) < 0.8 * error(&paper), "{} {}", error(&again), error(&paper));
    assert!(error(&again) < 6.0, "{}", error(&again));
    let found =
        again.outliers.values[0].samples().iter().zip(&hit).filter(|&(&u, &hit)| hit && u != 0.0);
    let impulses = hit.iter().filter(|&&hit| hit).count();
    assert!(found.count() as f64 > 0.97 * impulses as f64);
}

#[test]
fn noise_that_is_known_is_not_estimated() {
    let (pixels, _) = noisy(8.0, 0.05, 3);
    let known = KgBm3d::new(255.0).noise(8.0).denoise(plane(&pixels)).unwrap();
    assert_eq!(known.report.channels[0].noise, Some(8.0));
    assert!(matches!(
        KgBm3d::new(255.0).noise(-1.0).denoise(plane(&pixels)),
        Err(Error::Negative { .. })
    ));
}

#[test]
fn colours_each_have_their_own_impulses() {
    let clean = picture();
    let shift = |by: f32| -> Vec<f32> { clean.iter().map(|x| x + by).collect() };
    let truth = [shift(0.0), shift(20.0), shift(-30.0)];
    let noisy = |c: usize| -> Vec<f32> {
        let (pixels, _) = noisy(6.0, 0.08, 10 + c as u64);
        pixels.iter().zip(&clean).zip(&truth[c]).map(|((y, clean), t)| y - clean + t).collect()
    };
    let noisy = [noisy(0), noisy(1), noisy(2)];
    let plan = KgBm3d::new(255.0).plan().unwrap();
    let channels: Vec<_> = noisy.iter().map(|channel| plane(channel)).collect();
    let together = plan.denoise(&channels, Masks::default()).unwrap();
    let mut sum = [0.0, 0.0];
    for c in 0..3 {
        let alone = plan.denoise(&channels[c..=c], Masks::default()).unwrap();
        sum[0] += error(together.channels[c].samples(), &truth[c]);
        sum[1] += error(alone.channels[0].samples(), &truth[c]);
    }
    // The channels are one picture, and help each other.
    assert!(sum[0] < sum[1], "{sum:?}");
    assert!(sum[0] < 15.0, "{sum:?}");
    // Two channels are no colours.
    let two = plan.denoise(&channels[..2], Masks::default()).unwrap();
    let one = plan.denoise(&channels[1..2], Masks::default()).unwrap();
    assert!(two.channels[1] == one.channels[0]);
    assert!(matches!(plan.denoise(&[], Masks::default()), Err(Error::Empty { .. })));
    let smaller = Plane::new(&noisy[0][..WIDTH * 10], WIDTH, 10).unwrap();
    let different = plan.denoise(&[channels[0], smaller], Masks::default());
    assert!(matches!(different, Err(Error::ImageSize { .. })));
}

#[test]
fn masks_hold_to_the_end() {
    let clean = picture();
    let (mut pixels, _) = noisy(5.0, 0.05, 4);
    let bad: Vec<bool> = (0..pixels.len()).map(|i| i % WIDTH == 10).collect();
    let keep: Vec<bool> = (0..pixels.len()).map(|i| i / WIDTH == 30 && !bad[i]).collect();
    for (pixel, _) in pixels.iter_mut().zip(&bad).filter(|(_, bad)| **bad) {
        *pixel = f32::NAN;
    }
    let masks = Masks { bad: Some(plane(&bad)), keep: Some(plane(&keep)) };
    let plan = KgBm3d::new(255.0).plan().unwrap();
    let result = plan.denoise(&[plane(&pixels)], masks).unwrap();
    for i in 0..pixels.len() {
        let pixel = result.channels[0].samples()[i];
        assert!(!bad[i] || (pixel - clean[i]).abs() < 15.0, "{i}: {pixel} for {}", clean[i]);
        assert!(!bad[i] || result.outliers.mask[0].samples()[i]);
        assert!(!keep[i] || pixel == pixels[i] && !result.outliers.mask[0].samples()[i]);
    }
}

#[test]
fn dead_lines_are_found_and_mended() {
    let clean = picture();
    for noise in [0.5, 8.0, 20.0] {
        let (mut pixels, _) = noisy(noise, 0.0, 8);
        for pixel in &mut pixels {
            *pixel = pixel.round().clamp(0.0, 255.0);
        }
        // A column, two side by side of which the second is half dead, and a row.
        let mut dead = vec![false; pixels.len()];
        let mut kill = |x: usize, y: usize, value: f32| {
            pixels[y * WIDTH + x] = value;
            dead[y * WIDTH + x] = true;
        };
        (0..HEIGHT).for_each(|y| kill(20, y, 0.0));
        (0..HEIGHT).for_each(|y| kill(50, y, 255.0));
        (0..HEIGHT / 2).for_each(|y| kill(51, y, 0.0));
        (0..WIDTH).filter(|x| ![20, 50, 51].contains(x)).for_each(|x| kill(x, 33, 255.0));
        // Where lines cross, one of them has a gap.
        let found = dead_lines(plane(&pixels));
        assert_eq!(found.samples(), dead, "noise {noise}");
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        let outliers = result.outliers.values[0].samples();
        assert!(outliers.iter().zip(&dead).all(|(&u, &dead)| !dead || u != 0.0));
        let alive = KgBm3d::new(255.0).denoise(plane(&noisy(noise, 0.0, 8).0)).unwrap();
        let (with, without) = (
            error(result.channels[0].samples(), &clean),
            error(alive.channels[0].samples(), &clean),
        );
        // Stripes are hard to guess; dead pixels are 25 off in the mean.
        assert!(error(&pixels, &clean) > 25.0);
        assert!(with < without + 7.0, "noise {noise}: {with} and {without}");

        // The other way round it is the same; what is to be kept is.
        let turned: Vec<f32> =
            (0..pixels.len()).map(|i| pixels[(i % HEIGHT) * WIDTH + i / HEIGHT]).collect();
        let across = dead_lines(Plane::new(&turned, HEIGHT, WIDTH).unwrap());
        for i in 0..pixels.len() {
            let (x, y) = (i / HEIGHT, i % HEIGHT);
            assert_eq!(across.samples()[i], dead[y * WIDTH + x], "column {x}, row {y}");
        }
        let masks = Masks { bad: None, keep: Some(plane(&dead)) };
        let kept = KgBm3d::new(255.0).plan().unwrap().denoise(&[plane(&pixels)], masks).unwrap();
        for i in (0..pixels.len()).filter(|&i| dead[i]) {
            assert_eq!(
                (kept.channels[0].samples()[i], kept.outliers.values[0].samples()[i]),
                (pixels[i], 0.0)
            );
        }
    }
}

#[test]
fn lines_that_are_not_dead_are_left_alone() {
    let found =
        |pixels: &[f32]| dead_lines(plane(pixels)).samples().iter().filter(|&&dead| dead).count();
    let (photograph, _) = noisy(8.0, 0.05, 9);
    assert_eq!(found(&photograph), 0);
    assert_eq!(found(&vec![7.0; WIDTH * HEIGHT]), 0);
    let with = |mut pixels: Vec<f32>, columns: std::ops::Range<usize>, rows: usize| {
        for y in 0..rows {
            pixels[y * WIDTH..][columns.clone()].fill(255.0);
        }
        pixels
    };
    assert_eq!(found(&with(photograph.clone(), 30..31, HEIGHT)), HEIGHT);
    assert_eq!(found(&with(photograph.clone(), 30..33, HEIGHT)), 3 * HEIGHT);
    // Short, wide, or the frame of the picture.
    assert_eq!(found(&with(photograph.clone(), 30..31, 15)), 0);
    assert_eq!(found(&with(photograph.clone(), 30..34, HEIGHT)), 0);
    assert_eq!(found(&with(photograph.clone(), 0..1, HEIGHT)), 0);
    assert_eq!(found(&with(photograph, WIDTH - 1..WIDTH, HEIGHT)), 0);
    // Drawn on something even, or on a slope without noise.
    assert_eq!(found(&with(vec![7.0; WIDTH * HEIGHT], 30..31, HEIGHT)), 0);
    let slope: Vec<f32> = (0..WIDTH * HEIGHT).map(|i| (i / WIDTH) as f32).collect();
    assert_eq!(found(&with(slope, 30..31, HEIGHT)), 0);
}

/// Strokes of one pixel, black on white.
fn page() -> Vec<f32> {
    let mut random = Random(12);
    let mut pixels = vec![255.0; WIDTH * HEIGHT];
    for line in (3..HEIGHT - 7).step_by(9) {
        for letter in (3..WIDTH - 6).step_by(6) {
            let (foot, arm) = (random.uniform() < 0.5, random.uniform() < 0.5);
            for t in 0..6 {
                pixels[(line + t) * WIDTH + letter] = 0.0;
                if foot {
                    pixels[(line + 5) * WIDTH + letter + t / 2] = 0.0;
                }
                if arm {
                    pixels[(line + t) * WIDTH + letter + 3] = 0.0;
                }
            }
        }
    }
    pixels
}

#[test]
fn a_page_of_text_is_not_salt_and_pepper() {
    let page = page();
    assert!(!dead_lines(plane(&page)).samples().contains(&true));
    for noise in [0.0, 10.0] {
        let mut random = Random(13);
        let spoil = |x: &f32| (x + (noise * random.normal()) as f32).round().clamp(0.0, 255.0);
        let pixels: Vec<f32> = page.iter().map(spoil).collect();
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        // It was 50 when each stroke was a row of impulses.
        let error = error(result.channels[0].samples(), &page);
        assert!(error < 15.0, "noise {noise}: {error}");
    }
}

/// Strokes of many greys on paper as bright as anything: nearly half of it lies beside them.
#[test]
fn paper_between_small_print_is_not_salt() {
    let mut random = Random(16);
    let page: Vec<f32> = (0..WIDTH * HEIGHT)
        .map(|i| {
            let (x, y) = (i % WIDTH, i / WIDTH);
            let in_word = y % 16 < 7 && x % 40 < 30;
            let is_stroke = in_word && (x % 8 == 0 || y % 16 == 3 && x % 16 < 8);
            if is_stroke { (15.0 + 120.0 * random.uniform() as f32).round() } else { 245.0 }
        })
        .collect();
    let result = KgBm3d::new(255.0).denoise(plane(&page)).unwrap();
    let error = error(result.channels[0].samples(), &page);
    // Where the paper was taken for salt it was 50 and more.
    assert!(error < 6.0, "{error}");
}

#[test]
fn crowded_salt_and_pepper() {
    let clean = picture();
    for (share, most) in [(0.3, 10.0), (0.5, 16.0)] {
        let (mut pixels, _) = noisy(3.0, 0.0, 14);
        let mut random = Random(15);
        let mut hit = vec![false; pixels.len()];
        for (pixel, hit) in pixels.iter_mut().zip(&mut hit) {
            *pixel = pixel.round();
            if random.uniform() < share {
                (*pixel, *hit) = (if random.uniform() < 0.5 { 0.0 } else { 255.0 }, true);
            }
        }
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        let error = error(result.channels[0].samples(), &clean);
        assert!(error < most, "{share}: {error}");
        // What is to be kept is no salt.
        let masks = Masks { bad: None, keep: Some(plane(&hit)) };
        let kept = KgBm3d::new(255.0).plan().unwrap().denoise(&[plane(&pixels)], masks).unwrap();
        assert!((0..hit.len()).all(|i| !hit[i] || kept.channels[0].samples()[i] == pixels[i]));
    }
}

#[test]
fn what_is_clean_stays_clean() {
    for (name, pixels) in [("constant", vec![33.0; WIDTH * HEIGHT]), ("picture", picture())] {
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        let error = error(result.channels[0].samples(), &pixels);
        assert!(error < 1.5, "{name}: {error}");
        assert!(name != "constant" || error == 0.0);
    }
    for (width, height) in [(1, 1), (3, 50), (9, 7)] {
        let pixels = vec![5.0_f32; width * height];
        let plane = Plane::new(&pixels, width, height).unwrap();
        assert_eq!(KgBm3d::new(255.0).denoise(plane).unwrap().channels[0].samples(), pixels);
    }
}

/// The flags do not depend on the type of the file, and the pixels to rounding only.
#[test]
fn containers_do_not_matter() {
    let (pixels, _) = noisy(8.0, 0.1, 17);
    let bytes: Vec<f32> = pixels.iter().map(|y| y.round().clamp(0.0, 255.0)).collect();
    let of_bytes = KgBm3d::new(255.0).denoise(plane(&bytes)).unwrap();
    let containers = [
        ("words", 65535.0, 257.0, 1.0, 0.0),
        ("12 bits in words", 65535.0, 16.0, 1.0, 0.0),
        ("floats", 1.0, 1.0, 255.0, 0.0),
        ("floats of any range", 1.0, 1e4, 1.0, -3e5),
        ("an offset", 65535.0, 1.0, 1.0, 1000.0),
    ];
    for (name, peak, times, over, offset) in containers {
        let factor = times / over;
        let samples: Vec<f32> = bytes.iter().map(|y| times * y / over + offset).collect();
        let result = KgBm3d::new(peak).denoise(plane(&samples)).unwrap();
        let flags =
            |result: &Denoised<f32>| -> Vec<bool> { result.outliers.mask[0].samples().to_vec() };
        assert_eq!(flags(&result), flags(&of_bytes), "{name}");
        let back: Vec<f32> =
            result.channels[0].samples().iter().map(|x| (x - offset) / factor).collect();
        let error = error(&back, of_bytes.channels[0].samples());
        assert!(error < 0.02, "{name}: {error}");
        let noise = result.report.channels[0].noise.unwrap()
            / factor
            / of_bytes.report.channels[0].noise.unwrap();
        assert!((noise - 1.0).abs() < 1e-3, "{name}: {noise}");
    }
}

/// Pixels of any value spoil nothing but themselves, and not even that.
#[test]
fn gross_values_do_no_harm() {
    let clean = picture();
    let (pixels, _) = noisy(8.0, 0.05, 18);
    let without = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
    for gross in [1e10, -1e10, 1e30, 5000.0] {
        let mut pixels = pixels.clone();
        let places = [0, 1, 20 * WIDTH + 20, 40 * WIDTH + 50];
        places.iter().for_each(|&i| pixels[i] = gross);
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        assert!(places.iter().all(|&i| result.outliers.mask[0].samples()[i]), "{gross}");
        let error = |result: &Denoised<f32>| error(result.channels[0].samples(), &clean);
        assert!(error(&result) < error(&without) + 0.3, "{gross}: {}", error(&result));
    }
}

/// A star is as bright as a hot pixel, but its neighbours are bright as well.
#[test]
fn stars_are_no_gross_values() {
    let mut random = Random(19);
    let mut sky: Vec<f32> =
        (0..WIDTH * HEIGHT).map(|_| 100.0 + 5.0 * random.normal() as f32).collect();
    let stars = [(40, 30)];
    for (x, y) in stars {
        for (v, u) in (y - 6..y + 7).flat_map(|v| (x - 6..x + 7).map(move |u| (v, u))) {
            let square = (u as f32 - x as f32).powi(2) + (v as f32 - y as f32).powi(2);
            sky[v * WIDTH + u] += 5000.0 * (-0.5 * square / 1.5_f32.powi(2)).exp();
        }
    }
    sky[25 * WIDTH + 20] = 5000.0;
    let result = KgBm3d::new(65535.0).denoise(plane(&sky)).unwrap();
    let pixels = result.channels[0].samples();
    for (x, y) in stars {
        let i = y * WIDTH + x;
        assert!((pixels[i] / sky[i] - 1.0).abs() < 0.05, "{} for {}", pixels[i], sky[i]);
    }
    assert!((pixels[25 * WIDTH + 20] - 100.0).abs() < 20.0, "{}", pixels[25 * WIDTH + 20]);
}
