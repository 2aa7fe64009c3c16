//! A picture in, a picture without impulses and noise out.
//!
//! `cargo run --release --example denoise_image --features image,rayon`

use image::{DynamicImage, ImageReader};
use kgard::denoise::metrics::psnr;
use kgard::denoise::{KgBm3d, Masks, PlaneBuf};
use kgard::interop::image::{denoise, peak, planes, with_planes};
use std::error::Error;

const NOISY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/camera-noisy.png");
const CLEAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/camera.png");

/// KGARD finds the impulses, BM3D removes the noise.
fn remove_noise(picture: &DynamicImage) -> Result<DynamicImage, kgard::Error> {
    let channels = planes(picture)?;
    let views: Vec<_> = channels.iter().map(PlaneBuf::as_plane).collect();
    let denoised = KgBm3d::new(peak(picture)).plan()?.denoise(&views, Masks::default())?;
    let impulses = denoised.outliers.iter().flat_map(PlaneBuf::samples);
    let count = impulses.filter(|&&u| u != 0.0).count();
    println!("KG-BM3D: {count} impulses, noise of deviation {:.1}", denoised.noise[0]);
    with_planes(picture, &denoised.channels)
}

fn main() -> Result<(), Box<dyn Error>> {
    let noisy = open(NOISY)?;
    let clean = open(CLEAN)?;

    // KGARD alone: three lines, and fast.
    let quick = denoise(&noisy)?;
    println!("KGARD: {} impulses", quick.reports[0].outliers);
    // With BM3D it takes longer and looks better.
    let best = remove_noise(&noisy)?;

    let quality = |picture: &DynamicImage| -> Result<f32, kgard::Error> {
        psnr(planes(&clean)?[0].as_plane(), planes(picture)?[0].as_plane(), 255.0)
    };
    let [before, quick, best] = [quality(&noisy)?, quality(&quick.image)?, quality(&best)?];
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
