//! A picture in, a picture without impulses and noise out.
//!
//! `cargo run --release --example denoise_image --features image,rayon`

use image::{DynamicImage, ImageReader};
use kgard::denoise::metrics::psnr;
use kgard::denoise::{Denoiser, Masks};
use kgard::interop::image::{denoise, denoise_with, planes};
use std::error::Error;

const NOISY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/camera-noisy.png");
const CLEAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/camera.png");

fn main() -> Result<(), Box<dyn Error>> {
    let noisy = open(NOISY)?;
    let clean = open(CLEAN)?;

    // The default, KG-BM3D: KGARD finds the impulses, BM3D removes the noise.
    let best = denoise(&noisy)?;
    let report = best.report.channels[0];
    let noise = report.noise.unwrap_or_default();
    println!("KG-BM3D: {} impulses, noise of deviation {noise:.1}", report.outliers);
    // KGARD alone is faster.
    let plan = Denoiser::new().plan()?;
    let quick = denoise_with(&noisy, |channels| plan.denoise_all(channels, Masks::default()))?;
    println!("KGARD: {} impulses", quick.report.channels[0].outliers);

    let quality = |picture: &DynamicImage| -> Result<f32, kgard::Error> {
        psnr(planes(&clean)?[0].as_plane(), planes(picture)?[0].as_plane(), 255.0)
    };
    let [before, quick, best] = [quality(&noisy)?, quality(&quick.image)?, quality(&best.image)?];
    println!("PSNR {before:.1} dB before, {quick:.1} by KGARD, {best:.1} by KG-BM3D");
    assert!(quick > before + 8.0 && best > quick);
    Ok(())
}

fn open(path: &str) -> Result<DynamicImage, Box<dyn Error>> {
    Ok(ImageReader::open(path)?.with_guessed_format()?.decode()?)
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
