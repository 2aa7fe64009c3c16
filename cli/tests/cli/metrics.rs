//! `kgard metrics`.

use crate::common::Folder;
use crate::pictures::{KINDS, broken, clean, noisy};
use image::{ColorType, DynamicImage, GrayImage, Luma};

#[test]
fn known_figures() {
    let folder = Folder::new();
    let flat = |level| DynamicImage::from(GrayImage::from_pixel(20, 20, Luma([level])));
    folder.save("a.png", &flat(100));
    folder.save("b.png", &flat(110));
    let json = folder.kgard("metrics a.png b.png a.png --json").json();
    assert_eq!(json["reference"], "a.png");
    assert_eq!(json["images"][0]["image"], "b.png");
    // 20 log10(255 / 10), and (2 ab + C1) / (a^2 + b^2 + C1).
    let psnr = json["images"][0]["psnr"].as_f64().expect("a number");
    assert!((psnr - 28.130_803_6).abs() < 1e-6, "{psnr}");
    let ssim = json["images"][0]["ssim"].as_f64().expect("a number");
    let expected = (22_000.0 + 6.5025) / (22_100.0 + 6.5025);
    assert!((ssim - expected).abs() < 1e-9, "{ssim}");
    assert_eq!(json["images"][1]["psnr"], serde_json::Value::Null);
    assert_eq!(json["images"][1]["ssim"], 1.0);
    let run = folder.kgard("metrics a.png b.png a.png");
    assert_eq!(run.ok(), " PSNR/dB     SSIM\n   28.13   0.9955  b.png\n     inf   1.0000  a.png\n");
}

#[test]
fn every_kind_of_picture() {
    let folder = Folder::new();
    for (color, formats) in KINDS {
        let extension = formats[0];
        let (a, b) = (format!("a.{extension}"), format!("b.{extension}"));
        folder.save(&a, &clean(color, 24, 16));
        folder.save(&b, &noisy(color, 24, 16));
        let json = folder.kgard(&format!("metrics {a} {b} --json")).json();
        let psnr = json["images"][0]["psnr"].as_f64().expect("a number");
        // 0.45 of the peak on 5 % of pixels.
        assert!((18.0..23.0).contains(&psnr), "{color:?}: {psnr}");
    }
}

#[test]
fn pictures_smaller_than_the_window() {
    let folder = Folder::new();
    folder.save("a.png", &clean(ColorType::Rgb8, 10, 30));
    folder.save("b.png", &noisy(ColorType::Rgb8, 10, 30));
    let json = folder.kgard("metrics a.png b.png --json").json();
    assert!(json["images"][0]["psnr"].as_f64().is_some());
    assert_eq!(json["images"][0]["ssim"], serde_json::Value::Null);
    assert!(folder.kgard("metrics a.png b.png").ok().contains("        -  b.png"));
}

#[test]
fn standard_input() {
    let folder = Folder::new();
    folder.save("a.png", &clean(ColorType::L8, 20, 20));
    let bytes = folder.bytes("a.png");
    let json = folder.kgard_stdin("metrics a.png - --json", bytes.clone()).json();
    assert_eq!(json["images"][0]["image"], "standard input");
    folder.kgard_stdin("metrics - a.png", bytes).ok();
    folder.kgard("metrics - -").fails(2, &["only once"]);
    folder.kgard("metrics a.png - -").fails(2, &["only once"]);
}

#[test]
fn what_cannot_be_compared() {
    let folder = Folder::new();
    folder.save("a.png", &clean(ColorType::L8, 20, 20));
    folder.save("wide.png", &clean(ColorType::L8, 21, 20));
    folder.save("deep.png", &clean(ColorType::L16, 20, 20));
    folder.save("colour.png", &clean(ColorType::Rgba8, 20, 20));
    for (name, texts) in [
        ("wide.png", ["wide.png: has 21 x 20 pixels, 8-bit grey", "20 x 20 pixels, 8-bit grey"]),
        ("deep.png", ["deep.png: ", "16-bit grey"]),
        ("colour.png", ["colour.png: ", "8-bit RGB with alpha"]),
        ("none.png", ["none.png: cannot be read", "No such file"]),
    ] {
        folder.kgard(&format!("metrics a.png {name}")).fails(1, &texts);
    }
    for (name, bytes, text) in broken() {
        folder.write(name, bytes);
        folder.kgard(&format!("metrics a.png {name}")).fails(1, &[text]);
        folder.kgard(&format!("metrics {name} a.png")).fails(1, &[text]);
    }
    folder.kgard("metrics a.png").fails(2, &["IMAGE"]);
    let mut floats = clean(ColorType::Rgb32F, 12, 12);
    folder.save("a.exr", &floats);
    floats.as_mut_rgb32f().expect("floats").get_pixel_mut(3, 4).0[2] = f32::NAN;
    folder.save("nan.exr", &floats);
    folder
        .kgard("metrics a.exr nan.exr")
        .fails(1, &["nan.exr: the image is NaN at column 3, row 4"]);
}
