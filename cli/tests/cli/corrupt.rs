//! `kgard corrupt`.

use crate::common::Folder;
use crate::pictures::{KINDS, broken, clean, decode};
use image::{ColorType, DynamicImage, GrayImage, Luma};
use kgard::interop::image::{peak, planes};

fn grey() -> DynamicImage {
    GrayImage::from_pixel(100, 80, Luma([120])).into()
}

/// What was added to each sample.
fn noise(folder: &Folder, clean: &DynamicImage, name: &str) -> Vec<f64> {
    let noisy = folder.open(name);
    assert_eq!(noisy.color(), clean.color());
    let (a, b) = (planes(clean).expect("channels"), planes(&noisy).expect("channels"));
    let pairs = a.iter().zip(&b).flat_map(|(a, b)| a.samples().iter().zip(b.samples()));
    pairs.map(|(a, b)| f64::from(b - a)).collect()
}

fn spread(noise: &[f64]) -> f64 {
    (noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64).sqrt()
}

#[test]
fn gaussian_noise() {
    let folder = Folder::new();
    folder.save("a.png", &grey());
    let json = folder.kgard("corrupt a.png -o b.png --gaussian-sigma 10 --json").json();
    assert_eq!(json["sigma"], 10.0);
    assert_eq!(json["impulses"]["count"], 0);
    assert_eq!(json["clipped"]["count"], 0);
    let found = spread(&noise(&folder, &grey(), "b.png"));
    assert!((found - 10.0).abs() < 0.4, "{found}");
    // 20 dB below 120 everywhere.
    let json = folder.kgard("corrupt a.png -o b.png --gaussian-db 20 --json").json();
    assert!((json["sigma"].as_f64().expect("a number") - 12.0).abs() < 1e-9);
    let found = spread(&noise(&folder, &grey(), "b.png"));
    assert!((found - 12.0).abs() < 0.5, "{found}");
}

#[test]
fn impulses() {
    let folder = Folder::new();
    folder.save("a.png", &grey());
    let differ = |name: &str| {
        let noise = noise(&folder, &grey(), name);
        noise.into_iter().filter(|&x| x != 0.0).map(|x| 120.0 + x).collect::<Vec<f64>>()
    };
    let json = folder.kgard("corrupt a.png -o b.png --impulses 0.1 --json").json();
    assert_eq!(json["impulses"]["count"], 800);
    assert_eq!(json["impulses"]["fraction"], 0.1);
    assert_eq!(json["impulses"]["kind"], "additive");
    assert_eq!(json["impulses"]["value"], 100.0);
    let found = differ("b.png");
    assert_eq!(found.len(), 800);
    assert!(found.iter().all(|x| [20.0, 220.0].contains(x)));
    assert!(found.contains(&20.0) && found.contains(&220.0));

    folder.kgard("corrupt a.png -o b.png --impulses 0.05 --impulse-value 30").ok();
    let found = differ("b.png");
    assert!(found.len() == 400 && found.iter().all(|x| [90.0, 150.0].contains(x)));

    let json =
        folder.kgard("corrupt a.png -o b.png --impulses 0.1 --kind salt-pepper --json").json();
    assert_eq!(json["impulses"]["kind"], "salt-pepper");
    assert_eq!(json["impulses"]["value"], serde_json::Value::Null);
    let found = differ("b.png");
    assert!(found.len() == 800 && found.iter().all(|x| [0.0, 255.0].contains(x)));

    folder.kgard("corrupt a.png -o b.png --impulses 1 --kind random").ok();
    let mut found = differ("b.png");
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    assert!((mean - 127.5).abs() < 4.0, "{mean}");
    found.sort_by(f64::total_cmp);
    found.dedup();
    assert!(found.len() > 240, "{}", found.len());
}

#[test]
fn every_kind_of_picture_keeps_its_kind_and_its_alpha() {
    let folder = Folder::new();
    for (color, formats) in KINDS {
        let mut clean = clean(color, 60, 50);
        if let Some(pixels) = clean.as_mut_rgba8() {
            pixels.pixels_mut().zip((0..=250).cycle()).for_each(|(pixel, a)| pixel.0[3] = a);
        }
        for extension in formats {
            let (a, b) = (format!("a.{extension}"), format!("b.{extension}"));
            folder.save(&a, &clean);
            let command = format!("corrupt {a} -o {b} --gaussian-db 25 --impulses 0.1 --json");
            let json = folder.kgard(&command).json();
            assert_eq!(json["bit_depth"], 8 * (color.bytes_per_pixel() / color.channel_count()));
            assert_eq!(json["channels"], color.channel_count());
            let channels = if color.has_color() { 3 } else { 1 };
            assert_eq!(json["impulses"]["count"], 300 * channels);
            let off = spread(&noise(&folder, &clean, &b)) / f64::from(peak(&clean));
            // 100/255 on a tenth of the samples, and noise of about 0.03.
            assert!((0.11..0.14).contains(&off), "{color:?} {extension}: {off}");
            if let Some(pixels) = folder.open(&b).as_rgba8() {
                assert!(pixels.pixels().zip((0..=250).cycle()).all(|(pixel, a)| pixel.0[3] == a));
            }
        }
    }
}

#[test]
fn channels_have_noise_of_their_own() {
    let folder = Folder::new();
    let clean = clean(ColorType::Rgb16, 40, 40);
    folder.save("a.png", &clean);
    folder.kgard("corrupt a.png -o b.png --impulses 0.1").ok();
    let noise = noise(&folder, &clean, "b.png");
    let struck = |channel: usize, i: usize| noise[channel * 1600 + i] != 0.0;
    let both = (0..1600).filter(|&i| struck(0, i) && struck(1, i)).count();
    assert!(both < 50, "{both}");
}

#[test]
fn the_range_is_clipped_in_integers_and_not_in_floats() {
    let folder = Folder::new();
    folder.save("a.png", &DynamicImage::from(GrayImage::from_pixel(50, 40, Luma([250]))));
    let json = folder.kgard("corrupt a.png -o b.png --impulses 0.5 --json").json();
    let clipped = json["clipped"]["count"].as_u64().expect("a number");
    let white = folder.open("b.png").as_bytes().iter().map(|&x| u64::from(x == 255)).sum::<u64>();
    assert!(clipped > 400 && clipped == white, "{clipped} {white}");
    folder.save("a.exr", &clean(ColorType::Rgb32F, 50, 40));
    let json =
        folder.kgard("corrupt a.exr -o b.exr --impulses 0.5 --impulse-value 3 --json").json();
    assert_eq!(json["clipped"]["count"], 0);
    let samples = planes(&folder.open("b.exr")).expect("channels");
    assert!(samples[0].samples().iter().any(|&x| x > 3.0));
    assert!(samples[0].samples().iter().any(|&x| x < -2.0));
}

#[test]
fn a_seed_is_always_the_same_noise() {
    let folder = Folder::new();
    folder.save("a.png", &grey());
    let command = "corrupt a.png -o - --gaussian-db 20 --impulses 0.1";
    let first = folder.kgard(command).bytes().to_vec();
    assert_eq!(folder.kgard(command).bytes(), first);
    assert_eq!(folder.kgard(&format!("{command} --seed 1")).bytes(), first);
    assert_ne!(folder.kgard(&format!("{command} --seed 2")).bytes(), first);
    // Never to change, or published noisy pictures could not be made again.
    let sum = decode(&first).as_bytes().iter().map(|&x| u64::from(x)).sum::<u64>();
    assert_eq!(sum, PINNED);
}

const PINNED: u64 = 958_363;

#[test]
fn pipes() {
    let folder = Folder::new();
    folder.save("a.tif", &clean(ColorType::L16, 30, 20));
    let run = folder.kgard_stdin("corrupt - -o - --gaussian-sigma 5 --json", folder.bytes("a.tif"));
    assert!(run.bytes().starts_with(b"II*\0"), "a TIFF");
    assert_eq!(decode(run.bytes()).color(), ColorType::L16);
    let json: serde_json::Value = serde_json::from_str(run.stderr()).expect("JSON");
    assert_eq!(json["input"], "standard input");
    assert_eq!(json["output"], "standard output");
}

#[test]
fn what_is_refused() {
    let folder = Folder::new();
    folder.save("a.png", &grey());
    let before = folder.bytes("a.png");
    for (command, code, text) in [
        ("corrupt a.png -o b.png", 2, "no noise is asked for"),
        ("corrupt a.png --impulses 0.1", 2, "--output"),
        ("corrupt a.png -o b.png --impulses 1.5", 2, "0 to 1"),
        ("corrupt a.png -o b.png --impulses -1", 2, "--impulses"),
        ("corrupt a.png -o b.png --gaussian-db x", 2, "not a number"),
        ("corrupt a.png -o b.png --gaussian-db 1e9", 2, "-300"),
        ("corrupt a.png -o b.png --gaussian-sigma nan", 2, "zero or more"),
        ("corrupt a.png -o b.png --gaussian-db 1 --gaussian-sigma 1", 2, "cannot be used with"),
        (
            "corrupt a.png -o b.png --impulses 0.1 --kind random --impulse-value 3",
            2,
            "--impulse-value",
        ),
        ("corrupt a.png -o b --impulses 0.1", 2, "clean.png"),
        ("corrupt a.png -o b.gif --impulses 0.1", 2, "clean.png"),
        ("corrupt a.png -o a.png --impulses 0.1", 1, "--overwrite"),
        ("corrupt a.png -o none/b.png --impulses 0.1", 1, "cannot be written"),
        ("corrupt none.png -o b.png --impulses 0.1", 1, "none.png: cannot be read"),
    ] {
        folder.kgard(command).fails(code, &[text]);
        assert_eq!(folder.names(), ["a.png"], "{command}");
        assert_eq!(folder.bytes("a.png"), before, "{command}");
    }
    folder.kgard("corrupt a.png -o ./a.png --impulses 0.1 --overwrite").ok();
    assert_ne!(folder.bytes("a.png"), before);
    for (name, bytes, text) in broken() {
        folder.write(name, bytes);
        folder.kgard(&format!("corrupt {name} -o out.png --impulses 0.1")).fails(1, &[text]);
        assert!(!folder.path("out.png").exists(), "{name}");
    }
    let mut floats = clean(ColorType::Rgb32F, 12, 12);
    floats.as_mut_rgb32f().expect("floats").get_pixel_mut(3, 4).0[2] = f32::NAN;
    folder.save("nan.exr", &floats);
    let run = folder.kgard("corrupt nan.exr -o out.exr --impulses 0.1");
    run.fails(1, &["nan.exr: the blue channel is NaN at column 3, row 4"]);
}
