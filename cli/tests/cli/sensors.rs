//! What is wrong with a sensor: pixels in all of its frames, rows and columns; and units.

use crate::common::{Folder, Random};
use crate::instruments::material;
use image::{DynamicImage, GenericImageView, ImageBuffer, Luma, Rgb};
use serde_json::Value;
use tiff::encoder::{TiffEncoder, colortype::Gray32Float};

const SIZE: (u32, u32) = (120, 100);

/// A scene of its own for each number: waves, an edge, noise; in 16 bits.
fn scene(number: u64) -> Vec<f64> {
    let mut random = Random::new(17 + number);
    let (a, b, c) = (random.unit(), random.unit(), random.unit());
    let edge = 60.0 + 50.0 * c;
    (0..SIZE.0 * SIZE.1)
        .map(|i| {
            let (x, y) = (f64::from(i % SIZE.0), f64::from(i / SIZE.0));
            let wave = (x / (6.0 + 3.0 * a) + 9.0 * b).sin() * (y / (8.0 + 4.0 * b)).cos();
            let step = if x * c + y * a > edge * b { 4000.0 } else { 0.0 };
            // The sum of three is nearly normal, of deviation 300.
            let noise: f64 = (0..3).map(|_| random.unit()).sum::<f64>() * 300.0;
            20_000.0 + 8000.0 * wave + step + noise
        })
        .collect()
}

/// Pixels of all frames: hot ones, dead ones, and stuck ones.
fn defects() -> Vec<(usize, Option<f64>)> {
    let mut random = Random::new(5);
    let mut places = std::collections::BTreeMap::new();
    while places.len() < 120 {
        let at = random.below((SIZE.0 * SIZE.1) as usize);
        let stuck = match places.len() % 4 {
            0 => Some(0.0),
            1 => Some(45_000.0),
            // Hot: 6000 more, 20 deviations.
            _ => None,
        };
        places.insert(at, stuck);
    }
    places.into_iter().collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn frame(samples: &[f64]) -> DynamicImage {
    let samples = samples.iter().map(|&x| x.round().clamp(0.0, 65535.0) as u16).collect();
    let frame: ImageBuffer<Luma<u16>, _> =
        ImageBuffer::from_raw(SIZE.0, SIZE.1, samples).expect("a frame");
    frame.into()
}

/// Frames with the defects, 0.png to 7.png, in a folder.
fn frames(folder: &Folder, count: u64, of: impl Fn(u64) -> Vec<f64>) {
    std::fs::create_dir(folder.path("frames")).expect("a folder");
    for number in 0..count {
        let mut samples = of(number);
        for &(at, stuck) in &defects() {
            samples[at] = stuck.unwrap_or(samples[at] + 6000.0);
        }
        folder.save(&format!("frames/{number}.png"), &frame(&samples));
    }
}

/// How many defects a map has, and how many other pixels.
fn score(folder: &Folder, map: &str) -> (usize, usize) {
    let map = folder.open(map).into_luma8();
    let all = map.iter().filter(|&&x| x > 0).count();
    assert!(map.iter().all(|&x| x == 0 || x == 255));
    let found = defects().iter().filter(|(at, _)| map.as_raw()[*at] == 255).count();
    (found, all - found)
}

#[test]
fn defects_of_frames() {
    let folder = Folder::new();
    frames(&folder, 8, scene);
    let run = folder.kgard("defects frames -o map.png --json");
    let json = run.json();
    let (found, others) = score(&folder, "map.png");
    assert!(found >= 118 && others <= 3, "{found} of 120, {others} others; {json}");
    assert_eq!(json["defects"]["count"].as_u64(), Some((found + others) as u64));
    assert_eq!((json["frames"].as_u64(), json["shared"].is_number()), (Some(8), true));
    // The map is a mask for `--bad`: what it marks is repaired.
    folder.save("clean.png", &frame(&scene(3)));
    let psnr = |options: &str| {
        let command = format!("denoise frames/3.png -o out.png --impulses-only {options}");
        let run = folder.kgard(&format!("{command} --reference clean.png --json"));
        run.json()["psnr_after"].as_f64().expect("a number")
    };
    assert!(psnr("--bad map.png") > 38.0, "{}", psnr("--bad map.png"));
    let run = folder.kgard("denoise frames/3.png -o out.png --bad map.png --json");
    let outliers = run.json()["outliers"]["count"].as_u64().expect("a count");
    assert!(outliers >= (found + others) as u64);
}

#[test]
fn defects_of_dark_frames_and_pages() {
    let folder = Folder::new();
    // A fixed pattern is no defect, though it is the same in all frames.
    let mut random = Random::new(99);
    let mut normal = || (0..3).map(|_| random.unit()).sum::<f64>();
    let pattern: Vec<f64> = (0..SIZE.0 * SIZE.1).map(|_| 200.0 * normal()).collect();
    frames(&folder, 6, |number| {
        let mut random = Random::new(number);
        let noise = |fixed: &f64| 3000.0 + fixed + 200.0 * random.unit();
        pattern.iter().map(noise).collect()
    });
    let run = folder.kgard("defects frames/*.png -o map.tif");
    run.ok();
    assert!(run.stderr().contains("right for dark frames"), "{}", run.stderr());
    let (found, others) = score(&folder, "map.tif");
    assert!(found >= 118 && others <= 3, "{found} of 120, {others} others");
}

#[test]
fn frames_that_tell_nothing() {
    let folder = Folder::new();
    for number in 0..2 {
        folder.save(&format!("{number}.png"), &frame(&scene(number)));
    }
    folder.save("small.png", &DynamicImage::new_luma16(30, 20));
    for (command, code, text) in [
        ("defects 0.png -o map.png", 1, "one frame: in a single picture a defect is the same"),
        ("defects 0.png small.png -o map.png", 1, "small.png: has 30 x 20 pixels"),
        ("defects 0.png 1.png -o map.jpg", 2, "choose PNG, TIFF or PNM"),
        ("defects 0.png 1.png -o 1.png", 1, "1.png: is read and would be written over"),
        ("defects 0.png none.png -o map.png", 1, "none.png: cannot be read"),
    ] {
        folder.kgard(command).fails(code, &[text]);
    }
    // Two frames are few, and a clean sensor has no defects.
    folder.kgard("defects 0.png 1.png -o map.png").ok();
    let marked = folder.open("map.png").into_luma8().iter().filter(|&&x| x > 0).count();
    assert!(marked <= 3, "{marked}");
}

/// A picture on its way through the program, with the truth beside it.
fn report(picture: &material::Material, options: &str) -> (Folder, Value) {
    let folder = Folder::new();
    folder.save("noisy.png", &picture.noisy);
    folder.save("clean.png", &picture.clean);
    let run = format!("denoise noisy.png -o out.png --reference clean.png --json {options}");
    let json = folder.kgard(&run).json();
    (folder, json)
}

/// Columns of another gain or offset are repaired as such, beside dead ones.
#[test]
fn columns() {
    let (folder, json) = report(&material::columns(0), "");
    let lines = json["lines"].as_array().expect("lines");
    let found: Vec<_> = lines.iter().map(|line| line["index"].as_u64()).collect();
    // That at 150 goes along an edge, which could pass for it; that at 90 is drowned where it is dark.
    assert!(found.contains(&Some(221)), "{json}");
    assert!(found.iter().all(|&x| [Some(90), Some(150), Some(221)].contains(&x)), "{json}");
    assert!(lines.iter().all(|line| line["kind"] == "column"));
    // As well as the rest of the picture.
    let (out, clean) = (folder.open("out.png").into_luma8(), folder.open("clean.png").into_luma8());
    let error = |x: u32| {
        let off = |y| f64::from(out.get_pixel(x, y).0[0]) - f64::from(clean.get_pixel(x, y).0[0]);
        ((0..out.height()).map(|y| off(y) * off(y)).sum::<f64>() / f64::from(out.height())).sqrt()
    };
    for x in [40, 221] {
        let beside = f64::midpoint(error(x - 3), error(x + 3));
        assert!(error(x) < 2.0 * beside + 1.0, "column {x}: {} to {beside}", error(x));
    }
    // Nothing of the kind where there is nothing of the kind.
    for picture in [
        material::white(0),
        material::clean_photograph(),
        material::drawing(),
        material::screenshot(true),
    ] {
        let (_, json) = report(&picture, "--strength 0");
        assert!(json["lines"].is_null(), "{}: {}", picture.name, json["lines"]);
    }
}

/// Hot pixels of a dim photograph in a file of 16 bits. Some are smaller than the edges that they
/// lie on: 97 in a hundred are found.
#[test]
fn dim_hot_pixels() {
    let picture = material::dim_photograph(0);
    for (options, least) in [("--impulses-only", 0.96), ("--method kgard", 0.96)] {
        let (folder, _) = report(&picture, &format!("--outliers map.png {options}"));
        let map = folder.open("map.png").into_luma8();
        let found = picture.impulses.iter().filter(|&&i| map.as_raw()[i] != 128).count();
        let share = found as f64 / picture.impulses.len() as f64;
        assert!(share >= least, "{options}: {share}");
    }
}

/// Every pixel that is not an impulse stays bit for bit, whatever the samples are.
#[test]
fn impulses_only() {
    let soft = |x: u32, y: u32| 0.5 + 0.3 * (f64::from(x) / 9.0).sin() * (f64::from(y) / 7.0).cos();
    let mut random = Random::new(8);
    let mut planted = Vec::new();
    let mut noisy = |x: u32, y: u32| {
        let mut level = soft(x, y) + 0.02 * random.unit();
        if random.below(25) == 0 {
            level += if level > 0.5 { -0.4 } else { 0.4 };
            planted.push((x, y));
        }
        level
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let pictures: [(&str, DynamicImage); 4] = [
        ("png", ImageBuffer::from_fn(90, 70, |x, y| Luma([(255.0 * noisy(x, y)) as u8])).into()),
        ("tif", ImageBuffer::from_fn(90, 70, |x, y| Luma([(65535.0 * noisy(x, y)) as u16])).into()),
        (
            "png",
            ImageBuffer::from_fn(90, 70, |x, y| {
                Rgb([0; 3].map(|_: u16| (65535.0 * noisy(x, y)) as u16))
            })
            .into(),
        ),
        (
            "tif",
            ImageBuffer::from_fn(90, 70, |x, y| Rgb([0; 3].map(|_| (0.01 * noisy(x, y)) as f32)))
                .into(),
        ),
    ];
    let folder = Folder::new();
    for (end, before) in pictures {
        folder.save(&format!("a.{end}"), &before);
        for options in ["", "--strength 0.5", "--method kgard"] {
            let command = format!("denoise a.{end} -o b.{end} --impulses-only --outliers map.png");
            folder.kgard(&format!("{command} {options}")).ok();
            let after = folder.open(&format!("b.{end}"));
            assert_eq!(after.color(), before.color());
            let map = folder.open("map.png");
            let channels = usize::from(before.color().channel_count());
            let size = before.as_bytes().len() / (90 * 70 * channels);
            let samples = before.as_bytes().chunks(size).zip(after.as_bytes().chunks(size));
            let (mut same, mut marked) = (0, 0);
            for (level, (a, b)) in map.as_bytes().iter().zip(samples) {
                marked += usize::from(*level != 128);
                same += usize::from(a == b);
                assert!(*level != 128 || a == b, "{end} {options}");
            }
            // As many as there are, about.
            let all = 90 * 70 * channels;
            assert!((all / 32..all / 20).contains(&marked), "{end} {options}: {marked} of {all}");
            assert!(same < all - marked / 2, "{end} {options}: {same} the same");
        }
        assert_eq!(before.dimensions(), (90, 70));
    }
    assert!(planted.len() > 1000);
}

/// The container of the data does not matter: 12 bits in 16, any factor, floats of any range.
#[test]
fn units() {
    let all = material::all(0);
    let find = |name: &str| all.iter().find(|picture| picture.name == name).expect("a picture");
    let narrow = find("twelve-bits");
    let (_, full) = report(find("twelve-bits-full"), "--white-level 65520");
    let (folder, twelve) = report(narrow, "--white-level 4095");
    let psnr = |json: &Value| json["psnr_after"].as_f64().expect("a number");
    assert!((psnr(&full) - psnr(&twelve)).abs() < 0.05, "{full}\n{twelve}");
    assert_eq!(full["outliers"]["count"], twelve["outliers"]["count"]);
    let samples = |name: &str| folder.open(name).into_luma16();
    let (noisy, clean) = (samples("noisy.png"), samples("clean.png"));
    for (factor, offset) in [(1e-6, 0.0), (3.5e4, -1e6), (1.0 / 4095.0, 0.0)] {
        for (name, picture) in [("noisy.tif", &noisy), ("clean.tif", &clean)] {
            let samples: Vec<f32> =
                picture.iter().map(|&x| f32::from(x) * factor + offset).collect();
            let mut file = std::io::Cursor::new(Vec::new());
            let mut encoder = TiffEncoder::new(&mut file).expect("an encoder");
            let (width, height) = picture.dimensions();
            encoder.write_image::<Gray32Float>(width, height, &samples).expect("a page");
            folder.write(name, file.into_inner());
        }
        let white = 4095.0 * factor;
        let command = format!(
            "denoise noisy.tif -o out.tif --reference clean.tif --json --white-level {white}"
        );
        let json = folder.kgard(&command).json();
        assert!((psnr(&json) - psnr(&twelve)).abs() < 0.05, "{factor} {offset}: {json}");
        let count = |json: &Value| json["outliers"]["count"].as_f64().expect("a count");
        assert!((count(&json) - count(&twelve)).abs() < 0.002 * count(&twelve), "{json}");
    }
}
