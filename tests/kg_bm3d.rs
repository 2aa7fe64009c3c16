//! KG-BM3D, held to its parts put together literally.
#![allow(missing_docs, clippy::pedantic)]
#![cfg(feature = "std")]

mod common;

use common::problem::Random;
use kgard::Error;
use kgard::denoise::bm3d::{Bm3d, Transform};
use kgard::denoise::{Denoiser, KgBm3d, Masks, Plane, dead_lines, noise_level, salt_and_pepper};

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

/// Noise, share and size of impulses: the mixture of two distributions that is
/// most likely to have given the residuals, which count in classes.
fn mixture(residuals: &[f32], noise: f32) -> (f64, f64, f64) {
    let class = f64::from(noise) / 8.0;
    let mut sizes: Vec<f64> = residuals
        .iter()
        .map(|&r| ((f64::from(r.abs()) / class).floor().min(127.0) + 0.5) * class)
        .collect();
    sizes.sort_by(f64::total_cmp);
    let normal = |x: f64, s: f64| (-0.5 * (x / s).powi(2)).exp() / s;
    let mut s = sizes[sizes.len() / 4] / 0.318_639_363_964_375_2;
    let (mut f, mut a, mut t) = (0.1, 3.5 * s, s);
    for _ in 0..50 {
        let noise: Vec<f64> = sizes
            .iter()
            .map(|&r| {
                let noise = (1.0 - f) * 2.0 * normal(r, s);
                noise / (noise + f * (normal(r - a, t) + normal(r + a, t)))
            })
            .collect();
        let mean = |weight: &dyn Fn(f64) -> f64, value: &dyn Fn(f64) -> f64| {
            let terms = noise.iter().zip(&sizes);
            let sum: f64 = terms.map(|(&noise, &r)| weight(noise) * value(r)).sum();
            sum / noise.iter().map(|&noise| weight(noise)).sum::<f64>()
        };
        s = mean(&|noise| noise, &|r| r * r).sqrt();
        f = 1.0 - noise.iter().sum::<f64>() / noise.len() as f64;
        a = mean(&|noise| 1.0 - noise, &|r| r);
        t = (mean(&|noise| 1.0 - noise, &|r| r * r) - a * a).sqrt().max(s);
    }
    (s, f, a)
}

/// The method, step by step.
fn literal(pixels: &[f32], looks: usize) -> (Vec<f32>, Vec<bool>) {
    let kgard = Denoiser::new(255.0).denoise(plane(pixels)).unwrap();
    let known = kgard.report.conditions;
    let (share, size) = (f64::from(known.impulses), f64::from(known.amplitude / known.noise));
    let mut extreme = 4.0;
    if share > 0.0 {
        let odds = 2.0 * (1.0 - share) / (2.0 * share);
        extreme = (size / 2.0 + odds.ln() / size).clamp(2.7, 4.0) as f32;
    }
    let u = kgard.outliers.samples();
    let mut outlier: Vec<bool> = u.iter().map(|&u| u != 0.0).collect();
    let restored = kgard.image.samples();
    let mut repaired: Vec<f32> = (0..pixels.len())
        .map(|i| if outlier[i] && looks > 0 { restored[i] } else { pixels[i] - u[i] })
        .collect();
    let mut sizes: Vec<f32> =
        pixels.iter().zip(&repaired).map(|(y, z)| (y - z).abs()).filter(|&u| u > 0.0).collect();
    sizes.sort_by(f32::total_cmp);
    let amplitude = sizes.get(sizes.len() / 10).copied().unwrap_or(0.0);
    let noise = |repaired: &[f32], outlier: &[bool]| {
        noise_level(plane(repaired), Some(plane(outlier))).unwrap()
    };
    let abound = f32::min(kgard.report.conditions.impulses / 0.05, 1.0);
    let mut sigma = noise(&repaired, &outlier);
    let sign = |i: usize| if outlier[i] { (pixels[i] - repaired[i]).signum() } else { 0.0 };
    let beside = |i: usize| {
        let (x, y) = (i % WIDTH, i / WIDTH);
        let all = [
            (x > 0).then(|| i - 1),
            (y > 0).then(|| i - WIDTH),
            (x + 1 < WIDTH).then_some(i + 1),
            (y + 1 < HEIGHT).then_some(i + WIDTH),
        ];
        all.into_iter().flatten().filter(|&j| outlier[i] && sign(i) == sign(j)).count()
    };
    let area = pixels.len();
    let number = |wanted: f32| (0..area).filter(|&i| sign(i) == wanted).count() as f64;
    let by_chance = 2.0 * (number(1.0).powi(2) + number(-1.0).powi(2)) / area as f64;
    let pairs = (0..area).map(beside).sum::<usize>() as f64 / 2.0;
    let odds = |pairs: f64| pairs / (2.0 * (number(1.0) + number(-1.0)) - pairs);
    let drawn = odds(pairs) > 2.0 * odds(by_chance);
    let mut seen: Vec<f32> = (0..area)
        .map(|i| {
            let rest = 1.5 * extreme * sigma.max(10.0);
            let rest = if drawn && beside(i) > 0 { f32::INFINITY } else { rest };
            repaired[i] + (pixels[i] - repaired[i]).clamp(-rest, rest)
        })
        .collect();
    let pilots = [(2.4, 10.0, false), (1.5, 7.0, true), (1.0, 4.0, true)];
    let mut pilots = pilots[..looks].to_vec();
    for share in [0.16, 0.2] {
        if looks > 0 && kgard.report.conditions.impulses > share {
            pilots.insert(0, pilots[0]);
        }
    }
    for (look, &(strength, least, wiener)) in pilots.iter().enumerate() {
        let strength = (1.0 + abound * (strength - 1.0)) * sigma.max(least);
        let mut bm3d = Bm3d::for_noise(strength, 255.0);
        for stage in [&mut bm3d.first, &mut bm3d.second] {
            (stage.step, stage.radius, stage.max_distance) = (5, 14, f32::INFINITY);
        }
        bm3d.first.transform = Transform::Dct;
        bm3d.wiener = wiener;
        let pilot = bm3d.denoise(plane(&seen), strength).unwrap().into_samples();
        if look == 0 && sigma >= least {
            let left: Vec<f32> = pixels.iter().zip(&pilot).map(|(y, pilot)| y - pilot).collect();
            let (s, f, a) = mixture(&left, sigma);
            if f >= 0.05 && a >= f64::max(2.5 * s, 10.0) {
                sigma = sigma.min(s as f32);
                let a = a / f64::from(sigma);
                extreme = extreme.min((a / 2.0 + (2.0 * (1.0 - f) / (0.7 * f)).ln() / a) as f32);
            }
        }
        let limit = f32::max(extreme * sigma.max(least), 0.5 * amplitude);
        for i in 0..pixels.len() {
            let is = (pixels[i] - pilot[i]).abs() > limit;
            repaired[i] = match (is, outlier[i]) {
                (false, _) => pixels[i],
                (true, false) => pilot[i],
                (true, true) => repaired[i] + 1.7 * (pilot[i] - repaired[i]),
            };
            outlier[i] = is;
        }
        sigma = f32::min(sigma, noise(&repaired, &outlier));
        seen.clone_from(&repaired);
    }
    // Impulses that stand out are taken off by the size that they have.
    if looks > 0 && known.usual > 5.0 * known.noise {
        let deviation = known.noise * (1.3 / known.alike).sqrt();
        for i in (0..area).filter(|&i| outlier[i] && pixels[i] != 0.0 && pixels[i] != 255.0) {
            let u = pixels[i] - repaired[i];
            let more = known.usual - u.abs();
            let reach = if more > 0.0 { 2.5 } else { 4.0 } * deviation;
            let weight = (4.0 * (1.0 - more.abs() / reach)).clamp(0.0, 1.0);
            repaired[i] = pixels[i] - (u + known.alike * weight * (u.signum() * more));
        }
    }
    let last = Bm3d::for_noise(sigma, 255.0).denoise(plane(&repaired), sigma).unwrap();
    (last.into_samples(), outlier)
}

#[test]
fn the_method_literally() {
    let mut random = Random(16);
    let text = page().iter().map(|x| x + 3.0 * random.normal() as f32).collect();
    let pictures =
        [(1.0, 0.1), (8.0, 0.1), (3.0, 0.3)].map(|(noise, share)| noisy(noise, share, 1).0);
    for pixels in pictures.into_iter().chain([text]) {
        for looks in 0..=3 {
            let (image, outlier) = literal(&pixels, looks);
            let ours = KgBm3d::new(255.0).looks(looks).denoise(plane(&pixels)).unwrap();
            assert_eq!(ours.channels[0].samples(), image, "{looks}");
            let found: Vec<bool> = ours.outliers[0].samples().iter().map(|&u| u != 0.0).collect();
            assert_eq!(found, outlier, "{looks}");
        }
    }
}

#[test]
fn the_method_literally_where_impulses_drown() {
    let (pixels, _) = noisy(30.0, 0.2, 1);
    let (image, outlier) = literal(&pixels, 3);
    let ours = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
    // Sums over classes and over pixels differ in the last digits of the noise.
    assert!(error(ours.channels[0].samples(), &image) < 1e-2);
    let found = ours.outliers[0].samples().iter().map(|&u| u != 0.0);
    let differ = found.zip(&outlier).filter(|(found, outlier)| found != *outlier).count();
    assert!(differ <= 2, "{differ}");
}

#[test]
fn impulses_that_drown_do_not_pass_for_noise() {
    for (noise, impulses, seed) in [(25.0, 0.2, 5), (30.0, 0.15, 6), (30.0, 0.2, 7)] {
        let (pixels, hit) = noisy(noise, impulses, seed);
        let result = KgBm3d::new(255.0).denoise(plane(&pixels)).unwrap();
        let ratio = f64::from(result.noise[0]) / noise;
        assert!((0.9..1.1).contains(&ratio), "{noise}, {impulses}: {ratio}");
        let found = result.outliers[0].samples().iter().zip(&hit);
        let found = found.filter(|&(&u, &hit)| hit && u != 0.0).count() as f64;
        let impulses = hit.iter().filter(|&&hit| hit).count() as f64;
        assert!(found > 0.75 * impulses, "{noise}: {found} of {impulses}");
    }
}

#[test]
fn looking_again_helps_where_texture_looks_like_impulses() {
    let clean = picture();
    let (pixels, hit) = noisy(8.0, 0.1, 2);
    let run = |looks| KgBm3d::new(255.0).looks(looks).denoise(plane(&pixels)).unwrap();
    let (paper, again) = (run(0), run(3));
    let error =
        |result: &kgard::denoise::KgBm3dDenoised<f32>| error(result.channels[0].samples(), &clean);
    assert!(error(&again) < 0.8 * error(&paper), "{} {}", error(&again), error(&paper));
    assert!(error(&again) < 6.0, "{}", error(&again));
    let found = again.outliers[0].samples().iter().zip(&hit).filter(|&(&u, &hit)| hit && u != 0.0);
    let impulses = hit.iter().filter(|&&hit| hit).count();
    assert!(found.count() as f64 > 0.97 * impulses as f64);
}

#[test]
fn noise_that_is_known_is_not_estimated() {
    let (pixels, _) = noisy(8.0, 0.05, 3);
    let known = KgBm3d::new(255.0).noise(8.0).denoise(plane(&pixels)).unwrap();
    assert_eq!(known.noise, [8.0]);
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
    assert_eq!(two.channels[1], one.channels[0]);
    assert!(matches!(plan.denoise(&[], Masks::default()), Err(Error::Empty { .. })));
    let smaller = Plane::new(&noisy[0][..WIDTH * 10], WIDTH, 10).unwrap();
    let different = plan.denoise(&[channels[0], smaller], Masks::default());
    assert!(matches!(different, Err(Error::Length { .. })));
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
        assert!(!bad[i] || result.outliers[0].samples()[i] != 0.0);
        assert!(!keep[i] || pixel == pixels[i] && result.outliers[0].samples()[i] == 0.0);
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
        let outliers = result.outliers[0].samples();
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
                (kept.channels[0].samples()[i], kept.outliers[0].samples()[i]),
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
    assert!(!salt_and_pepper(plane(&page)).samples().contains(&true));
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

#[test]
fn paper_between_small_print_is_not_salt() {
    // Strokes of many greys on paper that is as bright as anything: nearly half of it lies
    // beside them.
    let mut random = Random(16);
    let page: Vec<f32> = (0..WIDTH * HEIGHT)
        .map(|i| {
            let (x, y) = (i % WIDTH, i / WIDTH);
            let in_word = y % 16 < 7 && x % 40 < 30;
            let is_stroke = in_word && (x % 8 == 0 || y % 16 == 3 && x % 16 < 8);
            if is_stroke { (15.0 + 120.0 * random.uniform() as f32).round() } else { 245.0 }
        })
        .collect();
    assert!(!salt_and_pepper(plane(&page)).samples().contains(&true));
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
        // What is left is far from black and white.
        assert_eq!(salt_and_pepper(plane(&pixels)).samples(), hit);
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
