//! Whole images, held to the algorithm written down literally.
#![allow(missing_docs, clippy::pedantic)]
#![cfg(feature = "std")]

mod common;
#[path = "denoise/constants.rs"]
mod constants;
#[path = "denoise/extremes.rs"]
mod extremes;
#[path = "denoise/literal.rs"]
mod literal;

use common::problem::Random;
use kgard::denoise::{
    Band, Conditions, DenoisePlan, Denoised, Denoiser, KgBm3d, Masks, PaperKgBm3d, PaperKgard,
    PaperStop, Plane, PlaneBuf, RangeSurvey, Survey, bm3d::Bm3d, metrics, noise_level, rb_rvm,
};
use kgard::regression::stop::Reading;
use kgard::{Error, Gaussian, Penalty, Points};

/// A picture with slopes, an edge, a line and some texture.
fn picture(width: usize, height: usize) -> Vec<f64> {
    let pixel = |x: f64, y: f64| {
        let edge = if x + 0.3 * y > 0.6 * width as f64 { 60.0 } else { 0.0 };
        let line = if (y - 0.5 * x).abs() < 0.8 { -40.0 } else { 0.0 };
        90.0 + 30.0 * (x / 9.0).sin() + 25.0 * (y / 7.0).cos() + edge + line + 4.0 * (1.9 * x).sin()
    };
    (0..width * height).map(|i| pixel((i % width) as f64, (i / width) as f64)).collect()
}

/// The same with noise, and impulses of either sign; which pixels they are.
fn noisy(
    width: usize,
    height: usize,
    noise: f64,
    impulses: f64,
    seed: u64,
) -> (Vec<f64>, Vec<bool>) {
    let mut random = Random(seed);
    let mut hit = vec![false; width * height];
    let mut pixels = picture(width, height);
    for (pixel, hit) in pixels.iter_mut().zip(&mut hit) {
        *pixel += noise * random.normal();
        if random.uniform() < impulses {
            *hit = true;
            *pixel += if random.uniform() < 0.5 { 100.0 } else { -100.0 };
        }
    }
    (pixels, hit)
}

fn plane<T: Copy>(samples: &[T], width: usize) -> Plane<'_, T> {
    Plane::new(samples, width, samples.len() / width).unwrap()
}

fn close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && worst < tolerance, "{what}: {worst:e}");
}

fn support(mask: &PlaneBuf<bool>) -> Vec<usize> {
    (0..mask.samples().len()).filter(|&i| mask.samples()[i]).collect()
}

#[test]
fn the_papers_algorithm_literally() {
    // Not a multiple of the core in either direction.
    let (width, height) = (21, 18);
    let (pixels, _) = noisy(width, height, 4.0, 0.05, 1);
    for (penalty, lambda) in [(Penalty::Rkhs, 0.2), (Penalty::L2, 0.5)] {
        for (region, core, epsilon) in [(6, 4, 30.0), (8, 4, 25.0), (7, 5, 40.0), (12, 8, 35.0)] {
            for stop in [
                PaperStop::MaxResidual(epsilon),
                PaperStop::Histogram { e0: epsilon, reading: Reading::Once },
                PaperStop::Histogram { e0: epsilon, reading: Reading::EveryStep },
            ] {
                let expected =
                    literal::paper(&pixels, width, (region, core), 0.3, penalty, lambda, stop);
                let denoised = PaperKgard::new(255.0)
                    .sigma(0.3)
                    .lambda(lambda)
                    .regions(region, core)
                    .penalty(penalty)
                    .stop(stop)
                    .denoise(plane(&pixels, width))
                    .unwrap();
                let what = format!("{penalty:?} {region} {core} {stop:?}");
                assert!(denoised.report.channels[0].outliers > 5, "{what}");
                assert_eq!(support(&denoised.outliers.mask[0]), expected.support, "{what}");
                close(denoised.outliers.values[0].samples(), &expected.outliers, 1e-7, &what);
                close(denoised.channels[0].samples(), &expected.image, 1e-7, &what);
            }
        }
    }
}

/// KG-BM3D as the paper has it: outliers subtracted, then BM3D, with its s given or estimated.
#[test]
fn the_papers_kg_bm3d_is_its_two_steps() {
    let (width, height) = (60, 44);
    let (pixels, _) = noisy(width, height, 6.0, 0.08, 2);
    let kgard = PaperKgard::new(255.0).lambda(0.3);
    let found = kgard.denoise(plane(&pixels, width)).unwrap();
    let repaired = pixels.iter().zip(found.outliers.values[0].samples());
    let repaired: Vec<f64> = repaired.map(|(y, u)| y - u).collect();
    let repaired = plane(&repaired, width);
    let estimated = noise_level(repaired, Some(found.outliers.mask[0].as_plane())).unwrap();
    for (method, s) in [
        (PaperKgBm3d::new(255.0).kgard(kgard.clone()), estimated),
        (PaperKgBm3d::new(255.0).kgard(kgard).noise(9.0), 9.0),
    ] {
        let denoised = method.denoise(plane(&pixels, width)).unwrap();
        let expected = Bm3d::for_noise(s, 255.0).denoise(repaired, s).unwrap();
        assert_eq!(denoised.channels[0], expected);
        assert_eq!(denoised.outliers, found.outliers);
        assert_eq!(denoised.report.channels[0].noise, Some(s));
    }
}

/// What is refused, and what a mask and a report hold where there is nothing.
#[test]
fn the_papers_settings_are_checked() {
    let pixels = vec![100.0; 20 * 15];
    let image = plane(&pixels, 20);
    let settings = || PaperKgard::new(255.0);
    for (wrong, says) in [
        (settings().lambda(0.0), "lambda is 0"),
        (settings().sigma(-1.0), "sigma is -1"),
        (settings().regions(12, 7), "even number"),
        (settings().stop(PaperStop::MaxResidual(-2.0)), "epsilon is -2"),
        (settings().stop(PaperStop::Histogram { e0: f64::NAN, reading: Reading::Once }), "E0"),
    ] {
        let error = wrong.denoise(image).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert!(PaperKgBm3d::new(255.0).kgard(wrong).denoise(image).is_err());
    }
    assert!(PaperKgBm3d::new(255.0).noise(-1.0).denoise(image).is_err());
    assert!(PaperKgBm3d::new(255.0).plan().unwrap().denoise(&[]).is_err());
    // The l2 penalty holds for the bias as well, the RKHS norm has a free one.
    let flat = settings().penalty(Penalty::Rkhs).stop(PaperStop::MaxResidual(40.0));
    let flat = flat.denoise(image).unwrap();
    close(flat.channels[0].samples(), &pixels, 1e-9, "flat");
    assert_eq!(flat.outliers.count(0), 0);
    assert_eq!(flat.report.channels[0].noise, None);
}

#[test]
fn the_automatic_algorithm_literally() {
    for (width, height, noise, impulses, seed) in [
        (41, 30, 6.0, 0.08, 1),
        (24, 24, 12.0, 0.15, 2),
        (37, 9, 2.0, 0.02, 3),
        (16, 50, 0.5, 0.0, 4),
        (48, 40, 7.0, 0.12, 5),
        (64, 40, 13.0, 0.08, 6),
    ] {
        let (mut pixels, _) = noisy(width, height, noise, impulses, seed);
        if seed == 5 {
            // Some impulses are cut off.
            for pixel in &mut pixels {
                *pixel = pixel.round().clamp(0.0, 255.0);
            }
        }
        // In units: the samples reach from 0 to 255.
        let low = pixels.iter().copied().fold(f64::INFINITY, f64::min);
        let factor = (pixels.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low) / 255.0;
        let units: Vec<f64> = pixels.iter().map(|y| (y - low) / factor).collect();
        let mut expected = literal::automatic(&units, width, 12, 8, 255.0);
        expected.image.iter_mut().for_each(|x| *x = low + factor * *x);
        expected.outliers.iter_mut().for_each(|u| *u *= factor);
        let denoised = Denoiser::new().denoise(plane(&pixels, width)).unwrap();
        let conditions = denoised.report.channels[0].conditions.unwrap();
        let what = format!("{width} x {height}");
        close(&[conditions.noise], &[factor * expected.noise], 1e-9, &what);
        close(&[conditions.limit], &[expected.limit], 1e-9, &what);
        close(&[conditions.size], &[factor * expected.size], 1e-9, &what);
        assert_eq!(conditions.witnesses, expected.witnesses, "{what}");
        close(denoised.outliers.values[0].samples(), &expected.outliers, 1e-6, &what);
        close(denoised.channels[0].samples(), &expected.image, 1e-6, &what);

        // Single precision finds the same outliers, but for borderline cases.
        let single: Vec<f32> = pixels.iter().map(|&x| x as f32).collect();
        let single = Denoiser::<f32>::new().denoise(plane(&single, width)).unwrap();
        let (a, b) = (support(&denoised.outliers.mask[0]), support(&single.outliers.mask[0]));
        let differ = a.iter().filter(|i| !b.contains(i)).count()
            + b.iter().filter(|i| !a.contains(i)).count();
        assert!(100 * differ <= a.len(), "{what}: {differ} of {}", a.len());
        if differ == 0 {
            let image: Vec<f64> = single.channels[0].samples().iter().map(|&x| x.into()).collect();
            close(&image, denoised.channels[0].samples(), 0.02, &what);
        }
    }
}

#[test]
fn impulses_side_by_side_are_found() {
    let (width, height) = (160, 120);
    let mut pixels: Vec<f64> = noisy(width, height, 8.0, 0.08, 11).0;
    let level = picture(width, height);
    let mut clumped = vec![];
    // A pixel with four like it around: it is not alone among its neighbours.
    for (y, x) in (6..110).step_by(17).flat_map(|y| (8..150).step_by(19).map(move |x| (y, x))) {
        let middle = y * width + x;
        for i in [middle - width - 1, middle - width + 1, middle, middle + 1, middle + width] {
            pixels[i] = level[i] + 100.0 + if i % 2 == 0 { 5.0 } else { -5.0 };
        }
        clumped.push(middle);
    }
    // KGARD's candidates are alone; in view of a pilot it does not matter what is beside a pixel.
    let denoised = KgBm3d::new(255.0).denoise(plane(&pixels, width)).unwrap();
    let mask = denoised.outliers.mask[0].samples();
    let found = clumped.iter().filter(|&&i| mask[i]).count();
    assert!(5 * found > 3 * clumped.len(), "{found} of {}", clumped.len());
}

/// Pixels of a line have two neighbours like themselves: where impulses are allowed as many,
/// the pattern has to tell.
#[test]
fn lines_are_kept_among_impulses() {
    let (width, height) = (192, 160);
    let is_line = |x: usize, y: usize| if y < 70 { x % 24 == 5 } else { y % 20 == 11 };
    for (share, seed) in [(0.03, 1), (0.06, 2), (0.1, 3)] {
        let mut random = Random(seed);
        let (mut pixels, mut hit, mut lines) = (vec![], vec![], vec![]);
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let smooth = 90.0 + 20.0 * (x as f64 / 60.0).sin() + 15.0 * (y as f64 / 50.0).cos();
            let line = if is_line(x, y) { 90.0 } else { 0.0 };
            let is_hit = random.uniform() < share;
            let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            let impulse = if is_hit { sign * 100.0 } else { 0.0 };
            pixels.push((smooth + line + 4.0 * random.normal() + impulse) as f32);
            hit.push(is_hit);
            lines.push(is_line(x, y) && !is_hit);
        }
        let denoised = Denoiser::new().denoise(plane(&pixels, width)).unwrap();
        assert!(denoised.report.channels[0].conditions.unwrap().witnesses >= 2);
        let flagged = |of: &[bool]| {
            let mask = denoised.outliers.mask[0].samples().iter().zip(of);
            let flagged = mask.filter(|&(&is_outlier, &of)| of && is_outlier).count();
            flagged as f64 / of.iter().filter(|&&of| of).count() as f64
        };
        // 0.15, 0.44 and 0.38: lines look like impulses in a row.
        assert!(flagged(&lines) < 0.45, "{share}: {} of the lines", flagged(&lines));
        assert!(flagged(&hit) > 0.95, "{share}: {} of the impulses", flagged(&hit));
    }
}

#[test]
fn impulses_are_found_and_noise_is_removed() {
    let (width, height) = (160, 120);
    let clean = picture(width, height);
    let (pixels, hit) = noisy(width, height, 8.0, 0.1, 7);
    let denoised = Denoiser::new().denoise(plane(&pixels, width)).unwrap();
    let flagged = denoised.outliers.mask[0].samples();
    let found = flagged.iter().zip(&hit).filter(|&(&f, &h)| f && h).count();
    let wrong = flagged.iter().zip(&hit).filter(|&(&f, &h)| f && !h).count();
    let impulses = hit.iter().filter(|&&h| h).count();
    assert!(found as f64 > 0.99 * impulses as f64, "{found} of {impulses}");
    assert!((wrong as f64) < 0.005 * (width * height) as f64, "{wrong}");
    let noise = denoised.report.channels[0].conditions.unwrap().noise;
    assert!((noise / 8.0 - 1.0).abs() < 0.1, "{noise}");
    let error = |image: &[f64]| {
        let sum: f64 = image.iter().zip(&clean).map(|(a, b)| (a - b) * (a - b)).sum();
        (sum / clean.len() as f64).sqrt()
    };
    assert!(
        error(denoised.channels[0].samples()) < 4.5,
        "{}",
        error(denoised.channels[0].samples())
    );
    // Told which they are it is hardly better.
    let masks = Masks { bad: Some(plane(&hit, width)), keep: None };
    let plan = Denoiser::new().noise(8.0).plan().unwrap();
    let oracle = plan.denoise(plane(&pixels, width), masks).unwrap();
    let told = support(&oracle.outliers.mask[0]);
    assert!((0..hit.len()).filter(|&i| hit[i]).all(|i| told.contains(&i)));
    assert!(error(denoised.channels[0].samples()) < 1.06 * error(oracle.channels[0].samples()));
}

#[test]
fn the_noise_is_read_with_impulses_and_without() {
    let (width, height) = (320, 240);
    let reading = |pixels: &[f64]| {
        Denoiser::new().denoise(plane(pixels, width)).unwrap().report.channels[0]
            .conditions
            .unwrap()
            .noise
    };
    for noise in [6.0, 15.0] {
        for share in [0.0, 0.02, 0.05, 0.1, 0.15] {
            let (pixels, _) = noisy(width, height, noise, share, 21);
            let found = reading(&pixels);
            assert!((found / noise - 1.0).abs() < 0.06, "{share}: {found} for {noise}");
        }
        // Nothing but noise.
        let mut random = Random(22);
        let pixels: Vec<f64> =
            (0..width * height).map(|_| 100.0 + noise * random.normal()).collect();
        let found = reading(&pixels);
        assert!((found / noise - 1.0).abs() < 0.04, "{found} for {noise}");
        // Where the light was too much there is no noise, and that says nothing.
        let (mut pixels, _) = noisy(width, height, noise, 0.05, 23);
        for (i, pixel) in pixels.iter_mut().enumerate() {
            *pixel = (*pixel + if i % width < width / 3 { 400.0 } else { 0.0 }).clamp(0.0, 255.0);
        }
        let found = reading(&pixels);
        assert!((found / noise - 1.0).abs() < 0.06, "{found} for {noise}");
    }
}

#[test]
fn clean_images_are_left_alone() {
    let size = 64;
    // Half a page of one-pixel strokes: where there is no even spot at all, they
    // look like noise, as the checkerboard does.
    let text = |x: usize, y: usize| x < 40 && (x % 5 == 1 && y % 7 < 5 || y % 7 == 2 && x % 5 < 3);
    type Pattern<'a> = &'a dyn Fn(usize, usize) -> f64;
    let patterns: [(&str, Pattern<'_>); 5] = [
        ("constant", &|_, _| 77.25),
        ("checkerboard", &|x, y| if (x + y) % 2 == 0 { 255.0 } else { 0.0 }),
        ("text", &|x, y| if text(x, y) { 10.0 } else { 240.0 }),
        ("line", &|x, _| if x == 30 { 0.0 } else { 200.0 }),
        ("slope", &|x, y| (2 * x + y) as f64),
    ];
    for (name, pattern) in patterns {
        let pixels: Vec<f64> = (0..size * size).map(|i| pattern(i % size, i / size)).collect();
        let denoised = Denoiser::new().denoise(plane(&pixels, size)).unwrap();
        assert_eq!(denoised.report.channels[0].outliers, 0, "{name}");
        let smoothed = if name == "checkerboard" { 256.0 } else { 1.0 };
        close(denoised.channels[0].samples(), &pixels, smoothed, name);
        if name == "constant" {
            assert_eq!(denoised.channels[0].samples(), pixels, "{name}");
        }
    }
}

/// All of an image, in bands of so many rows of regions, as if on as many
/// machines.
fn in_bands(
    plan: &DenoisePlan<f32>,
    image: Plane<'_, f32>,
    bad: Plane<'_, bool>,
    rows: usize,
) -> (Vec<f32>, Vec<f32>, Conditions<f32>) {
    let grid = plan.grid(image.width(), image.height()).unwrap();
    let bands: Vec<_> = (0..grid.rows())
        .step_by(rows)
        .map(|first| {
            let rows = first..(first + rows).min(grid.rows());
            let pixels = plan.pixels_for(&grid, rows.clone());
            let (top, count) = (pixels.start, pixels.len());
            let masks =
                Masks { bad: Some(bad.crop(0, top, bad.width(), count).unwrap()), keep: None };
            let part = image.crop(0, top, image.width(), count).unwrap();
            (Band { rows: part, masks, top, height: image.height() }, rows)
        })
        .collect();
    let ranges = bands.iter().map(|(band, rows)| plan.range(*band, rows.clone()).unwrap());
    let range = RangeSurvey::merge(ranges).unwrap().range().unwrap();
    let surveys = bands.iter().map(|(band, rows)| plan.survey(*band, rows.clone(), range).unwrap());
    let conditions = Survey::merge(surveys).unwrap().conditions().unwrap();
    let (mut pixels, mut outliers) = (Vec::new(), Vec::new());
    for (band, rows) in bands {
        let part = plan.process(band, rows, &conditions).unwrap();
        pixels.extend_from_slice(part.channels[0].samples());
        outliers.extend_from_slice(part.outliers.values[0].samples());
    }
    (pixels, outliers, conditions)
}

#[test]
fn bands_give_the_whole_image_bit_for_bit() {
    let (width, height) = (75, 101);
    let (pixels, _) = noisy(width, height, 8.0, 0.1, 5);
    let pixels: Vec<f32> = pixels.iter().map(|&x| x as f32).collect();
    // Dead pixels, and a dead column of them.
    let bad: Vec<bool> = (0..pixels.len()).map(|i| i % 97 == 0 || i % width == 40).collect();
    let (image, bad) = (plane(&pixels, width), plane(&bad, width));
    for denoiser in [
        Denoiser::new(),
        Denoiser::new().regions(12, 4),
        Denoiser::new().regions(16, 4),
        Denoiser::new().penalty(Penalty::L2),
    ] {
        let plan = denoiser.plan().unwrap();
        let whole = plan.denoise(image, Masks { bad: Some(bad), keep: None }).unwrap();
        for rows in [1, 2, 3, 5, 8] {
            let (pixels, outliers, conditions) = in_bands(&plan, image, bad, rows);
            assert_eq!(conditions, whole.report.channels[0].conditions.unwrap(), "{rows}");
            assert_eq!(pixels, whole.channels[0].samples(), "{rows}");
            assert_eq!(outliers, whole.outliers.values[0].samples(), "{rows}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_change_a_bit() {
    let (width, height) = (200, 150);
    let (pixels, _) = noisy(width, height, 8.0, 0.1, 6);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Denoiser::new().denoise(plane(&pixels, width)).unwrap())
    };
    let one = on(1);
    for threads in [2, 3, 7] {
        assert_eq!(on(threads), one);
    }
}

#[test]
fn rb_rvm_is_one_fit_per_region() {
    use kgard::baselines::rb_rvm::RbRvm;
    let (width, height) = (13, 9);
    let (pixels, _) = noisy(width, height, 3.0, 0.1, 13);
    let kernel = Gaussian::new(0.4);
    let denoised = rb_rvm(plane(&pixels, width), &kernel, 8, 6).unwrap();
    let at = |i: usize| i as f64 / 7.0;
    let points: Vec<f64> = (0..64).flat_map(|i| [at(i / 8), at(i % 8)]).collect();
    for (column, row) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)] {
        let pixel = |i: usize| {
            let x = (column * 6 + i % 8).saturating_sub(1).min(width - 1);
            let y = (row * 6 + i / 8).saturating_sub(1).min(height - 1);
            y * width + x
        };
        let y: Vec<f64> = (0..64).map(|i| pixels[pixel(i)]).collect();
        let fit = RbRvm::new().fit(Points::new(&points, 2).unwrap(), &y, kernel).unwrap();
        for i in 0..64 {
            let (x, y) = (column * 6 + i % 8, row * 6 + i / 8);
            let core = (1..7).contains(&(i % 8)) && (1..7).contains(&(i / 8));
            if core && x <= width && y <= height {
                let expected = fit.predict(&points[2 * i..][..2]).unwrap();
                assert_eq!(denoised.channels[0].samples()[pixel(i)], expected);
                let outlier = fit.outliers().iter().find(|o| o.index == i);
                assert_eq!(denoised.outliers.mask[0].samples()[pixel(i)], outlier.is_some());
                let outlier = outlier.map_or(0.0, |o| o.value);
                assert_eq!(denoised.outliers.values[0].samples()[pixel(i)], outlier);
            }
        }
    }
    let noise = denoised.report.channels[0].noise.unwrap();
    assert!((1.0..9.0).contains(&noise), "{noise}");
    assert!(rb_rvm(plane(&pixels, width), &kernel, 8, 5).is_err());
}

#[test]
fn any_size_and_any_layout() {
    for (width, height) in [(1, 1), (1, 40), (40, 1), (2, 2), (5, 3), (12, 12), (13, 25), (8, 8)] {
        let (pixels, _) = noisy(width, height, 3.0, 0.0, 9);
        let denoised = Denoiser::new().denoise(plane(&pixels, width)).unwrap();
        let image = &denoised.channels[0];
        assert_eq!((image.width(), image.height()), (width, height));
        close(denoised.channels[0].samples(), &pixels, 60.0, &format!("{width} x {height}"));
    }
    // The middle channel of three, rows with a gap between.
    let (width, height) = (30, 20);
    let (pixels, _) = noisy(width, height, 5.0, 0.1, 10);
    let (step, stride) = (3, 3 * width + 7);
    let mut wide = vec![f64::NAN; stride * height];
    for (i, &pixel) in pixels.iter().enumerate() {
        wide[i / width * stride + i % width * step + 1] = pixel;
    }
    let strided = Plane::strided(&wide[1..], width, height, stride, step).unwrap();
    let denoiser = Denoiser::new();
    assert_eq!(
        denoiser.denoise(strided).unwrap(),
        denoiser.denoise(plane(&pixels, width)).unwrap()
    );
}

/// The result does not depend on the file's type: samples may be multiplied and shifted.
#[test]
fn the_unit_of_the_samples_does_not_matter() {
    let (width, height) = (80, 60);
    // As in an 8-bit file; the noise-free part of an image, and a hot pixel, are seen as well.
    for (noise, share, hot, seed) in
        [(8.0, 0.1, false, 11), (0.0, 0.05, false, 12), (5.0, 0.02, true, 13)]
    {
        let (mut pixels, _) = noisy(width, height, noise, share, seed);
        pixels.iter_mut().for_each(|x| *x = x.round().clamp(0.0, 255.0));
        if hot {
            pixels[1234] = 40_000.0;
        }
        let run = |of: &dyn Fn(f64) -> f64| {
            let samples: Vec<f64> = pixels.iter().map(|&x| of(x)).collect();
            Denoiser::new().denoise(plane(&samples, width)).unwrap()
        };
        let bytes = run(&|x| x);
        assert!(bytes.outliers.count(0) > 50);
        for (factor, offset) in [
            (257.0, 0.0),
            (16.0, 0.0),
            (1.0 / 255.0, 0.0),
            (1e-30, 0.0),
            (3.7e20, 0.0),
            (1.0, 1000.0),
            (0.01, -3.0),
        ] {
            let other = run(&|x| factor * x + offset);
            let what = format!("{noise} {hot}: x {factor} + {offset}");
            assert_eq!(other.outliers.mask, bytes.outliers.mask, "{what}");
            let back: Vec<f64> =
                other.channels[0].samples().iter().map(|x| (x - offset) / factor).collect();
            close(&back, bytes.channels[0].samples(), 1e-6, &what);
            let [a, b] = [&other, &bytes].map(|d| d.report.channels[0].noise.unwrap());
            close(&[a / factor], &[b], 1e-9, &what);
        }
        // Whole numbers in single precision to the last bit.
        let single = |factor: f32| {
            let samples: Vec<f32> = pixels.iter().map(|&x| factor * x as f32).collect();
            Denoiser::new().denoise(plane(&samples, width)).unwrap()
        };
        let (bytes, words) = (single(1.0), single(257.0));
        assert_eq!(words.outliers.mask, bytes.outliers.mask, "{noise} {hot}");
        for (a, b) in words.channels[0].samples().iter().zip(bytes.channels[0].samples()) {
            assert!((a / 257.0 - b).abs() <= 1e-4 * b.abs().max(1.0), "{noise} {hot}: {a} {b}");
        }
    }
}

/// Flipped and turned images. Regions and blocks of pixels begin at the upper left: sides of
/// multiples of 16 are flipped onto themselves, and only rounding differs. Rows and columns differ
/// in the blocks over which the spread is averaged (16 x 1 pixels) and in the windows for the
/// noise (16 x 8), so that a few borderline pixels of a transposed image are decided otherwise.
#[test]
fn flipped_and_turned_images() {
    let (width, height) = (160, 96);
    let (pixels, _) = noisy(width, height, 8.0, 0.08, 14);
    let straight = Denoiser::new().denoise(plane(&pixels, width)).unwrap();
    let turned = |of: &[f64], wide: usize, at: &dyn Fn(usize, usize) -> usize| -> Vec<f64> {
        (0..of.len()).map(|i| of[at(i % wide, i / wide)]).collect()
    };
    type At<'a> = &'a dyn Fn(usize, usize) -> usize;
    let flips: [(&str, At<'_>); 2] = [
        ("left to right", &|x, y| y * width + width - 1 - x),
        ("upside down", &|x, y| (height - 1 - y) * width + x),
    ];
    for (name, at) in flips {
        let flipped = Denoiser::new().denoise(plane(&turned(&pixels, width, at), width)).unwrap();
        let expected = turned(straight.channels[0].samples(), width, at);
        let clean = plane(&expected, width);
        let close = metrics::psnr(clean, flipped.channels[0].as_plane(), 255.0).unwrap();
        assert!(close > 90.0, "{name}: {close} dB");
    }
    let at = |x: usize, y: usize| x * width + y;
    let other = Denoiser::new().denoise(plane(&turned(&pixels, height, &at), height)).unwrap();
    let expected = turned(straight.channels[0].samples(), height, &at);
    let close =
        metrics::psnr(plane(&expected, height), other.channels[0].as_plane(), 255.0).unwrap();
    assert!(close > 50.0, "transposed: {close} dB");
}

#[test]
fn masks() {
    let (width, height) = (50, 40);
    let clean = picture(width, height);
    let (mut pixels, _) = noisy(width, height, 2.0, 0.0, 12);
    // Bad pixels hold anything; here are a dead column and a blotch.
    let bad: Vec<bool> = (0..pixels.len())
        .map(|i| i % width == 20 || (i % width).abs_diff(35) + (i / width).abs_diff(20) < 3)
        .collect();
    for (pixel, _) in pixels.iter_mut().zip(&bad).filter(|(_, bad)| **bad) {
        *pixel = f64::NAN;
    }
    let keep: Vec<bool> = (0..pixels.len()).map(|i| i / width < 5 && !bad[i]).collect();
    let plan = Denoiser::new().plan().unwrap();
    let masks = Masks { bad: Some(plane(&bad, width)), keep: Some(plane(&keep, width)) };
    let denoised = plan.denoise(plane(&pixels, width), masks).unwrap();
    for i in 0..pixels.len() {
        let pixel = denoised.channels[0].samples()[i];
        assert!(pixel.is_finite());
        assert!(!bad[i] || denoised.outliers.mask[0].samples()[i], "{i}");
        assert!(!keep[i] || !denoised.outliers.mask[0].samples()[i], "{i}");
        assert!(!bad[i] || (pixel - clean[i]).abs() < 40.0, "{i}: {pixel} for {}", clean[i]);
        assert!(!keep[i] || pixel == pixels[i], "{i}");
    }
    // Everything bad is no image, but no panic either.
    let all = vec![true; pixels.len()];
    let masks = Masks { bad: Some(plane(&all, width)), keep: None };
    plan.denoise(plane(&vec![f64::NAN; pixels.len()], width), masks).unwrap();
}

#[test]
fn what_stands_in_for_bad_pixels_is_no_noise() {
    let (width, height) = (160, 120);
    let (pixels, _) = noisy(width, height, 8.0, 0.0, 13);
    let plan = Denoiser::new().plan().unwrap();
    let noise = |is_bad: &dyn Fn(usize) -> bool| {
        let bad: Vec<bool> = (0..pixels.len()).map(is_bad).collect();
        let masks = Masks { bad: Some(plane(&bad, width)), keep: None };
        plan.denoise(plane(&pixels, width), masks).unwrap().report.channels[0]
            .conditions
            .unwrap()
            .noise
    };
    let truth = noise(&|_| false);
    let mut random = Random(14);
    let dice: Vec<f64> = pixels.iter().map(|_| random.uniform()).collect();
    for (share, error) in [(0.05, 0.1), (0.1, 0.1), (0.2, 0.1), (0.3, 0.1), (0.5, 0.2)] {
        let found = noise(&|i| dice[i] < share);
        assert!((found / truth - 1.0).abs() < error, "{share}: {found} for {truth}");
    }
    // A hole tells nothing.
    let found = noise(&|i| i % width < 60);
    assert!((found / truth - 1.0).abs() < 0.1, "{found} for {truth}");
}

#[test]
fn wrong_input_is_refused() {
    let pixels = vec![1.0; 400];
    let image = plane(&pixels, 20);
    let denoiser = || Denoiser::new();
    let refused = |result: Result<Denoised<f64>, Error>| result.unwrap_err();
    for (region, core) in [(12, 12), (8, 12), (11, 8), (12, 0), (0, 0), (1000, 8)] {
        let error = refused(denoiser().regions(region, core).denoise(image));
        assert_eq!(error, Error::Regions { region, core });
        assert!(error.to_string().contains("even"));
    }
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let same = |error| matches!(error, Error::NotPositive { .. });
        assert!(same(refused(denoiser().kernel(Gaussian::new(value)).denoise(image))));
    }
    for value in [-1.0, f64::NAN] {
        let same = |error| matches!(error, Error::Negative { .. });
        assert!(same(refused(denoiser().noise(value).denoise(image))));
    }
    let hostile = |a: &[f64], b: &[f64]| if a == b { -1.0 } else { 0.0 };
    let error = refused(denoiser().kernel(hostile).denoise(image));
    assert!(matches!(error, Error::NotPositiveDefinite { .. }), "{error}");
    for value in [f64::NAN, f64::NEG_INFINITY] {
        let mut pixels = pixels.clone();
        pixels[123] = value;
        let error = refused(denoiser().denoise(plane(&pixels, 20)));
        assert!(matches!(error, Error::NotFinite { what: "image", index: 123, .. }), "{error}");
    }
    let plan = denoiser().plan().unwrap();
    let small = [true; 380];
    let masks = Masks { bad: Some(plane(&small, 20)), keep: None };
    let error = plan.denoise(image, masks).unwrap_err();
    assert_eq!(
        error.to_string(),
        "mask is 20 x 19 pixels, the image 20 x 20: they must be of one size"
    );
    let other = plane(&pixels[..380], 20);
    assert!(matches!(
        plan.denoise_all(&[image, other], Masks::default()),
        Err(Error::ImageSize { what: "channel", .. })
    ));
    assert!(matches!(plan.denoise_all(&[], Masks::default()), Err(Error::Empty { .. })));
    assert!(matches!(Plane::<f64>::new(&[], 0, 3), Err(Error::Empty { .. })));
    assert!(matches!(Plane::new(&pixels, usize::MAX, 2), Err(Error::TooLarge { .. })));
    assert!(matches!(Plane::strided(&pixels, 20, 20, 30, 1), Err(Error::TooShort { .. })));
    assert!(Survey::<f64>::merge([]).is_err());
    assert!(RangeSurvey::<f64>::merge([]).is_err());
    // A part of a survey is not enough.
    let band = Band { rows: image, masks: Masks::default(), top: 0, height: 20 };
    assert!(plan.range(band, 0..1).unwrap().range().is_err());
    let part = |rows| plan.range(band, rows).unwrap();
    assert!(RangeSurvey::merge([part(0..1), part(2..3)]).is_err());
    let range = part(0..3).range().unwrap();
    assert!(plan.survey(band, 0..1, range).unwrap().conditions().is_err());
    assert!(plan.survey(band, 0..9, range).is_err());
    assert!(plan.survey(Band { top: 5, ..band }, 0..1, range).is_err());
}
