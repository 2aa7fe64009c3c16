//! Sizes and values at the ends of their ranges: errors or finite results, no panic.

use kgard::Error;
use kgard::denoise::bm3d::Bm3d;
use kgard::denoise::{
    Denoised, Denoiser, Grid, KgBm3d, PaperKgBm3d, Plane, noise_law, noise_level,
};

/// An image with noise whose largest samples are about `size`.
fn image(size: f32) -> Vec<f32> {
    (0..24 * 20).map(|i| size * ((i * 7919 % 1000) as f32 / 1000.0 - 0.3)).collect()
}

#[test]
fn rows_that_do_not_exist_cover_nothing() {
    let huge = usize::MAX;
    for (width, height) in [(24, 20), (huge, huge)] {
        let grid = Grid::new(width, height, 12, 8).expect("a grid");
        let plan = Denoiser::<f32>::new().plan().expect("a plan");
        for row in [0, 1, 2, 3, 4, huge / 8, huge / 2, huge - 1, huge] {
            let covered = grid.covered(row);
            assert!(covered.start <= covered.end && covered.end <= height, "{row}: {covered:?}");
            for rows in [row..huge, 0..row, row..row] {
                let pixels = plan.pixels_for(&grid, rows);
                assert!(pixels.end <= height);
            }
        }
    }
    let grid = Grid::new(24, 20, 12, 8).expect("a grid");
    assert_eq!([grid.covered(0), grid.covered(1), grid.covered(2)], [0..10, 6..18, 14..20]);
    assert_eq!(grid.covered(7).len(), 2);
}

/// Results are finite, or there is an error, however large the samples are.
#[test]
fn finite_or_an_error() {
    for exponent in [-45, -38, -20, 0, 17, 18, 19, 20, 30, 37, 38] {
        let size = 10.0_f32.powi(exponent);
        let samples = image(size);
        let plane = Plane::new(&samples, 24, 20).expect("a plane");
        let finite = |what: &str, result: Result<Vec<f32>, Error>| match result {
            Ok(values) => assert!(values.iter().all(|x| x.is_finite()), "{what} at {size:e}"),
            // Squares of f32 end at 1e38 and begin at 1e-45.
            Err(Error::Overflow { .. }) if !(-18..=16).contains(&exponent) => {}
            Err(error) => panic!("{what} at {size:e}: {error}"),
        };
        let numbers = |d: Denoised<f32>| {
            let planes = d.channels.into_iter().chain(d.outliers.values);
            let noise = d.report.channels.into_iter().filter_map(|channel| channel.noise);
            planes.flat_map(|plane| plane.into_samples()).chain(noise).collect()
        };
        finite("kgard", Denoiser::new().denoise(plane).map(numbers));
        for peak in [255.0, size] {
            if !(peak > 0.0) {
                continue;
            }
            finite("kg_bm3d", KgBm3d::new(peak).denoise(plane).map(numbers));
            let paper = PaperKgBm3d::new(peak).denoise(plane);
            // A subnormal peak leaves no E0 to speak of.
            if exponent > -38 {
                finite("paper-kg-bm3d", paper.map(numbers));
            }
        }
        let bm3d = Bm3d::for_noise(0.1 * size, size).denoise(plane, 0.1 * size);
        finite("bm3d", bm3d.map(|plane| plane.into_samples()));
        finite("noise_level", noise_level(plane, None).map(|noise| vec![noise]));
        let law = noise_law(plane, None).map(|law| vec![law.gain, law.floor]);
        finite("noise_law", Ok(law.unwrap_or_default()));
    }
}

/// What a window cannot reach makes no difference.
#[test]
fn bm3d_radius_beyond_the_image() {
    let samples = image(255.0);
    let plane = Plane::new(&samples, 24, 20).expect("a plane");
    let mut bm3d = Bm3d::for_noise(20.0, 255.0);
    let run = |bm3d: &Bm3d<f32>| bm3d.denoise(plane, 20.0).expect("an image");
    (bm3d.first.radius, bm3d.second.radius) = (24, 24);
    let all = run(&bm3d);
    (bm3d.first.radius, bm3d.second.radius) = (1024, 1024);
    assert_eq!(run(&bm3d), all);
}
