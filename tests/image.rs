//! Pictures of the `image` crate: every colour type, and what is wrong with
//! some.
#![cfg(feature = "image")]
#![allow(missing_docs, clippy::pedantic)]

use image::{ColorType, DynamicImage, GrayImage, ImageBuffer, Luma, Rgb, Rgb32FImage};
use kgard::Error;
use kgard::denoise::{Denoiser, Masks, Plane, PlaneBuf};
use kgard::interop::image::{denoise, denoise_with, peak, planes, with_planes};

const TYPES: [ColorType; 10] = [
    ColorType::L8,
    ColorType::La8,
    ColorType::Rgb8,
    ColorType::Rgba8,
    ColorType::L16,
    ColorType::La16,
    ColorType::Rgb16,
    ColorType::Rgba16,
    ColorType::Rgb32F,
    ColorType::Rgba32F,
];

/// A number in 0..n that looks random.
fn scatter(i: usize, n: usize) -> usize {
    (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) as usize % n
}

/// Channel `c` of a soft picture with noise, as fractions of the peak.
fn level(x: usize, y: usize, c: usize) -> f64 {
    let noise = scatter((y * 1000 + x) * 4 + c, 9) as f64 - 4.0;
    0.5 + 0.3 * (x as f64 / 9.0 + c as f64).sin() * (y as f64 / 7.0).cos() + noise / 255.0
}

/// Where channel `c` has an impulse.
fn struck(x: usize, y: usize, c: usize) -> bool {
    scatter(y * 977 + x * 31 + c * 7, 20) == 0 && x > 0 && y > 0
}

/// A picture of this type, with impulses in its colours and noise in its alpha.
fn picture(color: ColorType, width: u32, height: u32) -> DynamicImage {
    let picture = DynamicImage::new(width, height, color);
    let channel = |c: usize| {
        let samples = (0..width as usize * height as usize).map(|i| {
            let (x, y) = (i % width as usize, i / width as usize);
            let level = level(x, y, c);
            let level = if struck(x, y, c) { (level + 0.55) % 1.0 } else { level };
            level as f32 * peak(&picture)
        });
        PlaneBuf::new(samples.collect(), width as usize, height as usize).unwrap()
    };
    let channels: Vec<_> = (0..planes(&picture).unwrap().len()).map(channel).collect();
    let mut picture = with_planes(&picture, &channels).unwrap();
    // Alpha is the last byte of each pixel, or some of its last.
    match &mut picture {
        DynamicImage::ImageLumaA8(p) => alpha(p, 2, |i| scatter(i, 256) as u8),
        DynamicImage::ImageRgba8(p) => alpha(p, 4, |i| scatter(i, 256) as u8),
        DynamicImage::ImageLumaA16(p) => alpha(p, 2, |i| scatter(i, 65536) as u16),
        DynamicImage::ImageRgba16(p) => alpha(p, 4, |i| scatter(i, 65536) as u16),
        DynamicImage::ImageRgba32F(p) => alpha(p, 4, |i| scatter(i, 100) as f32),
        _ => {}
    }
    picture
}

fn alpha<T>(samples: &mut [T], pitch: usize, value: impl Fn(usize) -> T) {
    for (i, sample) in samples.iter_mut().skip(pitch - 1).step_by(pitch).enumerate() {
        *sample = value(i);
    }
}

/// The alpha of all pixels.
fn alphas(picture: &DynamicImage) -> Vec<f32> {
    picture.to_rgba32f().pixels().map(|p| p.0[3]).collect()
}

#[test]
fn every_colour_type_comes_back_clean_and_as_it_was() {
    for color in TYPES {
        let noisy = picture(color, 48, 40);
        let denoised = denoise(&noisy).unwrap();
        assert_eq!(denoised.image.color(), color);
        assert_eq!(alphas(&denoised.image), alphas(&noisy), "{color:?}");
        let channels = planes(&denoised.image).unwrap();
        assert_eq!(channels.len(), if color.has_color() { 3 } else { 1 });
        assert_eq!(denoised.outliers.mask.len(), channels.len());
        assert_eq!(denoised.report.channels.len(), channels.len());
        for (c, (channel, mask)) in channels.iter().zip(&denoised.outliers.mask).enumerate() {
            let (mut found, mut total, mut error) = (0, 0, 0.0);
            let pixels = channel.samples().iter().zip(mask.samples());
            for (i, (&sample, &is_outlier)) in pixels.enumerate() {
                let (x, y) = (i % 48, i / 48);
                total += usize::from(struck(x, y, c));
                found += usize::from(struck(x, y, c) && is_outlier);
                error += (f64::from(sample / peak(&noisy)) - level(x, y, c)).powi(2);
            }
            let rms = (error / 1920.0).sqrt();
            assert!(found * 10 >= total * 9, "{color:?} {c}: {found} of {total}");
            // Less than a tenth of what impulses of 0.5 on 5 % of pixels are.
            assert!(rms < 0.02, "{color:?} {c}: {rms}");
        }
    }
}

/// What the types have in common gives the same result: 16 bits are 257 times
/// 8 bits, and nothing is rescaled.
#[test]
fn the_range_is_that_of_the_type() {
    let bytes = picture(ColorType::L8, 40, 30);
    let words = bytes.to_luma16();
    let DynamicImage::ImageLuma16(clean) = denoise(&words.into()).unwrap().image else {
        panic!("another type");
    };
    let reference = denoise(&bytes).unwrap();
    let reference = reference.image.as_luma8().unwrap();
    for (a, b) in reference.iter().zip(clean.iter()) {
        assert!((f32::from(*a) - f32::from(*b) / 257.0).abs() <= 0.51, "{a} {b}");
    }
}

#[test]
fn integers_are_rounded_and_clipped_and_floats_are_not() {
    let values = [-3.0, 0.4, 0.5, 254.6, 255.4, 1e9, 70000.0, -0.0];
    let plane = PlaneBuf::new(values.to_vec(), 4, 2).unwrap();
    let result = with_planes(&DynamicImage::new_luma8(4, 2), std::slice::from_ref(&plane)).unwrap();
    assert_eq!(result.as_bytes(), [0, 0, 1, 255, 255, 255, 255, 0]);
    let result =
        with_planes(&DynamicImage::new_luma16(4, 2), std::slice::from_ref(&plane)).unwrap();
    let samples = result.as_luma16().unwrap().as_raw().clone();
    assert_eq!(samples, [0, 0, 1, 255, 255, 65535, 65535, 0]);
    let floats = DynamicImage::ImageRgb32F(Rgb32FImage::new(4, 2));
    let result = with_planes(&floats, &[plane.clone(), plane.clone(), plane.clone()]).unwrap();
    assert_eq!(planes(&result).unwrap()[2], plane);
}

#[test]
fn any_size() {
    for (width, height) in [(1, 1), (2, 1), (1, 3), (5, 7), (2000, 1), (1, 2000), (3, 700)] {
        for color in [ColorType::L8, ColorType::Rgba16, ColorType::Rgb32F] {
            let mut flat = DynamicImage::new(width, height, color);
            let level = 0.25 * peak(&flat).min(1024.0);
            let n = (width * height) as usize;
            let plane = PlaneBuf::new(vec![level; n], width as usize, height as usize).unwrap();
            let channels = vec![plane; planes(&flat).unwrap().len()];
            flat = with_planes(&flat, &channels).unwrap();
            let denoised = denoise(&flat).unwrap();
            let reports = &denoised.report.channels;
            assert!(reports.iter().all(|r| r.outliers == 0), "{width} x {height}: {reports:?}");
            for (a, b) in planes(&denoised.image).unwrap().iter().zip(&planes(&flat).unwrap()) {
                for (a, b) in a.samples().iter().zip(b.samples()) {
                    assert!((a - b).abs() <= 1e-5 * level, "{width} x {height} {color:?}: {a} {b}");
                }
            }
            denoise(&picture(color, width, height)).unwrap();
        }
    }
}

#[test]
fn masks_are_those_of_all_channels() {
    let mut noisy = picture(ColorType::Rgb32F, 24, 24);
    noisy.as_mut_rgb32f().unwrap().put_pixel(5, 6, Rgb([f32::NAN, 0.5, f32::INFINITY]));
    let (mut bad, mut keep) = (vec![false; 576], vec![false; 576]);
    bad[6 * 24 + 5] = true;
    keep[..24].fill(true);
    let masks = Masks {
        bad: Some(Plane::new(&bad, 24, 24).unwrap()),
        keep: Some(Plane::new(&keep, 24, 24).unwrap()),
    };
    let plan = Denoiser::new().plan().unwrap();
    let with = |masks| denoise_with(&noisy, |channels| plan.denoise_all(channels, masks));
    let denoised = with(masks).unwrap();
    let clean = denoised.image.as_rgb32f().unwrap();
    let Rgb(pixel) = clean.get_pixel(5, 6);
    for (c, &x) in pixel.iter().enumerate() {
        assert!((f64::from(x) - level(5, 6, c)).abs() < 0.1, "{c}: {x}");
    }
    for x in 0..24 {
        assert_eq!(clean.get_pixel(x, 0), noisy.as_rgb32f().unwrap().get_pixel(x, 0));
    }
    let small = Masks { bad: None, keep: Some(Plane::new(&keep[..552], 24, 23).unwrap()) };
    let error = with(small).unwrap_err();
    assert_eq!(error, Error::ImageSize { what: "mask", expected: (24, 24), found: (24, 23) });
}

#[test]
fn what_is_refused() {
    let mut floats = picture(ColorType::Rgb32F, 10, 8);
    floats.as_mut_rgb32f().unwrap().get_pixel_mut(3, 4).0[1] = f32::NAN;
    let error = denoise(&floats).unwrap_err();
    assert!(matches!(error, Error::NotFinite { what: "green channel", index: 43, .. }), "{error}");
    assert!(error.to_string().starts_with("green channel at index 43 is NaN"), "{error}");
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let error = denoise(&DynamicImage::new_luma8(width, height)).unwrap_err();
        assert_eq!(error, Error::Empty { what: "image" });
    }
    let grey: GrayImage = ImageBuffer::from_pixel(3, 2, Luma([7]));
    let grey = DynamicImage::from(grey);
    let plane = |width, height| PlaneBuf::new(vec![0.0; width * height], width, height).unwrap();
    for wrong in [vec![], vec![plane(3, 2); 3]] {
        assert!(matches!(with_planes(&grey, &wrong), Err(Error::Length { .. })));
    }
    for wrong in [plane(2, 3), plane(3, 3)] {
        let error = with_planes(&grey, &[wrong]).unwrap_err();
        assert!(matches!(error, Error::ImageSize { what: "channel", expected: (3, 2), .. }));
    }
}
