//! BM3D against the crate `bm3d_core`, one thread each, taking turns.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release --manifest-path benches/rivals/Cargo.toml [PNG...]
//! ```
//!
//! Without arguments the picture is tests/data/bm3d_camera.png (CC0).

use bm3d_core::{Bm3dConfig, RingRemovalMode, bm3d_ring_artifact_removal};
use kgard::denoise::Plane;
use kgard::denoise::bm3d::Bm3d;
use std::fs::File;
use std::io::BufReader;
use std::time::{Duration, Instant};

#[allow(dead_code)]
#[path = "../../../tests/bm3d/pictures.rs"]
mod pictures;

/// Turns of each contender; the fastest counts.
const TURNS: usize = 5;

fn main() {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    if paths.is_empty() {
        paths.push(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/bm3d_camera.png").into());
    }
    println!(
        "| picture | sigma | kgard | fast profile | bm3d_core | kgard / bm3d_core | fast / bm3d_core |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for path in paths {
        let (clean, width, height) = grey(&path);
        for sigma in [10.0, 25.0] {
            let noise = pictures::noise(clean.len(), 1);
            let noisy: Vec<f32> =
                clean.iter().zip(noise).map(|(c, n)| (c + sigma * n) as f32).collect();
            let plane = Plane::new(&noisy, width, height).unwrap();
            let ours =
                |settings: Bm3d<f32>| settings.denoise(plane, sigma as f32).unwrap().into_samples();
            // It takes the deviation as a part of the range.
            let least = noisy.iter().copied().fold(f32::MAX, f32::min);
            let greatest = noisy.iter().copied().fold(f32::MIN, f32::max);
            let sigma_random = sigma as f32 / (greatest - least);
            let config = Bm3dConfig { sigma_random, ..Bm3dConfig::default() };
            let array = ndarray::ArrayView2::from_shape((height, width), &noisy).unwrap();
            let theirs = || {
                let mode = RingRemovalMode::Generic;
                let image = bm3d_ring_artifact_removal(array, mode, &config).unwrap();
                image.into_raw_vec()
            };
            let contenders: [&dyn Fn() -> Vec<f32>; 3] =
                [&|| ours(Bm3d::normal()), &|| ours(Bm3d::fast()), &theirs];
            let mut best = [Duration::MAX; 3];
            let mut quality = [0.0; 3];
            for _ in 0..TURNS {
                for (i, contender) in contenders.iter().enumerate() {
                    let start = Instant::now();
                    let image = contender();
                    best[i] = best[i].min(start.elapsed());
                    let image: Vec<f64> = image.into_iter().map(f64::from).collect();
                    quality[i] = pictures::psnr(&clean, &image);
                }
            }
            let cell =
                |i: usize| format!("{:.2} dB, {:.0} ms", quality[i], 1e3 * best[i].as_secs_f64());
            let ratio = |i: usize| best[i].as_secs_f64() / best[2].as_secs_f64();
            let name = path.rsplit('/').next().unwrap();
            println!(
                "| {name} | {sigma} | {} | {} | {} | {:.2} | {:.2} |",
                cell(0),
                cell(1),
                cell(2),
                ratio(0),
                ratio(1)
            );
        }
    }
}

/// The pixels of a grey picture of 8 bits.
fn grey(path: &str) -> (Vec<f64>, usize, usize) {
    let file = BufReader::new(File::open(path).expect("the picture can be opened"));
    let mut reader = png::Decoder::new(file).read_info().expect("it is a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("it is not too large")];
    let info = reader.next_frame(&mut bytes).expect("it is whole");
    assert_eq!(info.color_type, png::ColorType::Grayscale, "a grey picture is needed");
    let pixels = bytes[..info.buffer_size()].iter().map(|&b| f64::from(b)).collect();
    (pixels, info.width as usize, info.height as usize)
}
