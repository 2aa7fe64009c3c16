//! Files with more in them than one picture, or of unusual types: never anything lost without a
//! word.

use crate::common::Folder;
use crate::pictures::{crc32, noisy};
use image::{ColorType, ImageFormat};
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::{TiffEncoder, colortype};

fn encoded(format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    noisy(ColorType::L8, 40, 32).write_to(&mut bytes, format).expect("a file");
    bytes.into_inner()
}

fn number(tiff: &[u8], at: usize, length: usize) -> usize {
    tiff[at..at + length].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte))
}

/// Where the entry of a tag is, in a file of the `image` crate or of kgard.
fn entry(tiff: &[u8], tag: usize) -> Option<usize> {
    assert_eq!(&tiff[..4], b"II*\0");
    let directory = number(tiff, 4, 4);
    let entries = (0..number(tiff, directory, 2)).map(|i| directory + 2 + 12 * i);
    entries.into_iter().find(|&at| number(tiff, at, 2) == tag)
}

/// Pages in one file: noisy pictures of different sizes.
fn stack() -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut file).expect("an encoder");
    for (width, height) in [(40, 32), (30, 30), (40, 32)] {
        let page = noisy(ColorType::L16, width, height).into_luma16().into_raw();
        encoder.write_image::<colortype::Gray16>(width, height, &page).expect("a page");
    }
    file.into_inner()
}

/// The samples of all pages of a file.
fn pages(tiff: &[u8]) -> Vec<DecodingResult> {
    let mut decoder = Decoder::new(std::io::Cursor::new(tiff)).expect("a TIFF file");
    let mut pages = vec![decoder.read_image().expect("a page")];
    while decoder.more_images() {
        decoder.next_image().expect("a page");
        pages.push(decoder.read_image().expect("a page"));
    }
    pages
}

fn words(page: &DecodingResult) -> &[u16] {
    let DecodingResult::U16(page) = page else { panic!("{page:?}") };
    page
}

/// All pages are denoised, each as it would be by itself.
#[test]
fn all_pages() {
    let folder = Folder::new();
    folder.write("stack.tif", stack());
    let run = folder.kgard("denoise stack.tif -o out.tif --outliers map.tif");
    run.ok();
    let lines: Vec<&str> = run.stderr().lines().collect();
    assert_eq!(lines.len(), 3, "{}", run.stderr());
    assert!(lines[2].starts_with("out.tif page 3: "), "{}", run.stderr());
    let (clean, maps) = (pages(&folder.bytes("out.tif")), pages(&folder.bytes("map.tif")));
    assert_eq!((clean.len(), maps.len()), (3, 3));
    for (i, (width, height)) in [(40, 32), (30, 30), (40, 32)].into_iter().enumerate() {
        folder.save("one.tif", &noisy(ColorType::L16, width, height));
        folder.kgard("denoise one.tif -o alone.tif").ok();
        assert_eq!(words(&clean[i]), folder.open("alone.tif").into_luma16().as_raw().as_slice());
    }
    let json = folder.kgard("denoise stack.tif -o out.tif --json --reference stack.tif").json();
    let reports = json["pictures"].as_array().expect("a report for each page");
    let numbers: Vec<_> = reports.iter().map(|page| page["page"].as_u64()).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
    assert!(reports.iter().all(|page| page["psnr_after"].is_number() && page["pages"] == 3));
    let run = folder.kgard("denoise stack.tif -o out.tif --dry-run");
    assert!(run.ok().contains("40 x 32 pixels, 16-bit grey, TIFF, 3 pages"), "{}", run.stdout());
    // As one of many.
    folder.save("plain.png", &noisy(ColorType::L8, 40, 32));
    folder.kgard("denoise stack.tif plain.png -o out --outliers maps").ok();
    assert_eq!(pages(&folder.bytes("out/stack.tif")).len(), 3);
    assert_eq!(pages(&folder.bytes("maps/stack.tif")).len(), 3);
}

/// What cannot hold or show several pages, or has to be one picture.
#[test]
fn no_place_for_pages() {
    let folder = Folder::new();
    folder.write("stack.tif", stack());
    folder.save("one.tif", &noisy(ColorType::L16, 40, 32));
    for (command, text) in [
        ("denoise stack.tif -o out.png", "out.png: a PNG file holds one picture, and there are 3"),
        ("denoise stack.tif -o out.tif --outliers map.png", "--outliers map.png: a PNG file"),
        ("denoise stack.tif -o out.tif --compare strip.png", "--compare shows one"),
        ("denoise stack.tif -o out.tif --reference one.tif", "the reference has 1: give as many"),
        ("denoise stack.tif -o out.tif --bad one.tif", "stack.tif page 2: has 30 x 30 pixels"),
        ("denoise one.tif -o out.tif --bad stack.tif", "stack.tif: holds 3 pictures, and here"),
        ("metrics stack.tif stack.tif", "stack.tif: holds 3 pictures, and here it has to be one"),
    ] {
        folder.kgard(command).fails(1, &[text]);
    }
    assert_eq!(folder.names(), ["one.tif", "stack.tif"]);
}

/// Frames of animations, and pictures one after another.
#[test]
fn frames() {
    let folder = Folder::new();
    let png = encoded(ImageFormat::Png);
    let mut chunk = b"acTL\0\0\0\x05\0\0\0\0".to_vec();
    chunk.extend(crc32(&chunk).to_be_bytes());
    folder.write("film.png", [&png[..33], &[0, 0, 0, 8], &chunk, &png[33..]].concat());
    let pgm = encoded(ImageFormat::Pnm);
    folder.write("two.pgm", [&pgm[..], &pgm[..]].concat());
    for (name, count) in [("film.png", 5), ("two.pgm", 2)] {
        for command in [format!("denoise {name} -o out.png"), format!("metrics {name} {name}")] {
            let text =
                format!("{name}: holds {count} pictures, and all but the first would be lost");
            folder.kgard(&command).fails(1, &[&text, "split it"]);
        }
    }
    // In a batch the others are done.
    folder.write("plain.png", png);
    let run = folder.kgard("denoise film.png plain.png -o out");
    assert_eq!(run.code(), 1);
    assert!(run.stderr().contains("film.png: holds 5 pictures"), "{}", run.stderr());
    assert!(folder.path("out/plain.png").exists() && !folder.path("out/film.png").exists());
}

/// What is written has the type of what is read, and is the same picture.
#[test]
fn rare_samples() {
    let folder = Folder::new();
    let bytes: Vec<f32> =
        noisy(ColorType::L8, 60, 50).into_luma8().iter().map(|&x| x.into()).collect();
    macro_rules! save {
        ($name:expr, $kind:ident, $of:expr) => {{
            let mut file = std::io::Cursor::new(Vec::new());
            let mut encoder = TiffEncoder::new(&mut file).expect("an encoder");
            let samples: Vec<_> = bytes.iter().map($of).collect();
            encoder.write_image::<colortype::$kind>(60, 50, &samples).expect("a page");
            folder.write($name, file.into_inner());
        }};
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    {
        save!("a8.tif", Gray8, |&x| x as u8);
        save!("i8.tif", GrayI8, |&x| (x - 128.0) as i8);
        save!("i16.tif", GrayI16, |&x| (100.0 * x - 12000.0) as i16);
        save!("u32.tif", Gray32, |&x| (1e7 * f64::from(x)) as u32);
        save!("i32.tif", GrayI32, |&x| (1e6 * (f64::from(x) - 100.0)) as i32);
        save!("f32.tif", Gray32Float, |&x| 7.5 * x - 300.0);
        save!("f64.tif", Gray64Float, |&x| 1e-9 * f64::from(x));
    }
    let clean = |name: &str, options: &str| {
        folder.kgard(&format!("denoise {name} -o out.tif {options}")).ok();
        pages(&folder.bytes("out.tif")).remove(0)
    };
    let DecodingResult::U8(expected) = clean("a8.tif", "") else { panic!("bytes") };
    let check = |name: &str, levels: Vec<f64>| {
        assert_eq!(levels.len(), expected.len(), "{name}");
        let error = |(level, &x): (f64, &u8)| (level - f64::from(x)).powi(2);
        let error: f64 = levels.into_iter().zip(&expected).map(error).sum();
        // What is left is the rounding to bytes, a twelfth.
        assert!((error / expected.len() as f64) < 0.15, "{name}: {error}");
    };
    let DecodingResult::I8(all) = clean("i8.tif", "") else { panic!("i8") };
    check("i8", all.iter().map(|&x| f64::from(x) + 128.0).collect());
    let DecodingResult::I16(all) = clean("i16.tif", "") else { panic!("i16") };
    check("i16", all.iter().map(|&x| (f64::from(x) + 12000.0) / 100.0).collect());
    let DecodingResult::U32(all) = clean("u32.tif", "") else { panic!("u32") };
    check("u32", all.iter().map(|&x| f64::from(x) / 1e7).collect());
    let DecodingResult::I32(all) = clean("i32.tif", "") else { panic!("i32") };
    check("i32", all.iter().map(|&x| f64::from(x) / 1e6 + 100.0).collect());
    let DecodingResult::F32(all) = clean("f32.tif", "") else { panic!("f32") };
    check("f32", all.iter().map(|&x| (f64::from(x) + 300.0) / 7.5).collect());
    let DecodingResult::F64(all) = clean("f64.tif", "") else { panic!("f64") };
    check("f64", all.iter().map(|&x| 1e9 * x).collect());
    // No other format holds them.
    let run = folder.kgard("denoise i16.tif -o out.png");
    run.fails(1, &["a PNG file cannot hold signed 16-bit grey pixels", "clean.tif"]);
    // What is not changed stays to the last bit, though the methods compute in single precision.
    let DecodingResult::U32(before) = pages(&folder.bytes("u32.tif")).remove(0) else { panic!() };
    let DecodingResult::U32(same) = clean("u32.tif", "--strength 0") else { panic!("u32") };
    assert_eq!(same, before);
}

#[test]
fn raw_files() {
    let folder = Folder::new();
    let mut nef = encoded(ImageFormat::Tiff);
    let photometric = entry(&nef, 262).expect("a photometric interpretation");
    nef[photometric + 8..photometric + 10].copy_from_slice(&32803_u16.to_le_bytes());
    folder.write("a.nef", nef);
    folder.write("a.raf", b"FUJIFILMCCD-RAW 0201");
    folder.write("a.cr3", b"\0\0\0\x18ftypcrx \0\0\0\x01");
    folder.write("a.cr2", b"II*\0\x10\0\0\0CR\x02\0\0\0\0\0");
    for name in ["a.nef", "a.raf", "a.cr3", "a.cr2"] {
        let run = folder.kgard(&format!("denoise {name} -o out.png"));
        run.fails(1, &[name, "is a raw file of a camera", "develop it first"]);
    }
}

#[test]
fn what_is_not_read() {
    let folder = Folder::new();
    let tiff = encoded(ImageFormat::Tiff);
    let format = entry(&tiff, 339).expect("a sample format");
    let mut odd = tiff.clone();
    odd[format + 8] = 3;
    folder.write("odd.tif", odd);
    let run = folder.kgard("denoise odd.tif -o out.tif");
    run.fails(1, &["odd.tif: holds floats of 8 bits", "convert it"]);
    folder.write("a.fits", format!("{:<2880}", "SIMPLE  =                    T"));
    folder.kgard("denoise a.fits -o out.tif").fails(1, &["a.fits: is a FITS file", "TIFF"]);
}

/// 12 bits in a file of 16: recognised where it is clear, and said.
#[test]
fn white_levels() {
    let folder = Folder::new();
    let wide = noisy(ColorType::L16, 60, 50).into_luma16();
    let narrow = |most: u16| {
        let scaled = |x: &u16| u16::try_from(u32::from(*x) * u32::from(most) / 65535).unwrap_or(0);
        let mut samples: Vec<u16> = wide.iter().map(scaled).collect();
        // Something is white.
        samples[700] = most;
        image::ImageBuffer::from_raw(60, 50, samples).expect("a picture")
    };
    folder.save("a.png", &image::DynamicImage::ImageLuma16(narrow(4095)));
    let before = |options: &str| {
        let run = folder.kgard(&format!("denoise a.png -o b.png --reference a.png {options}"));
        run.ok();
        let text = run.stderr().to_owned();
        assert!(folder.open("b.png").into_luma16().iter().all(|&x| x <= 4095));
        text
    };
    let text = before("");
    assert!(text.contains("note: a.png: the samples reach to 4095: taken for data of 12 bits"));
    assert_eq!(before("--white-level 4095").matches("note: ").count(), 0);
    folder.save("a.png", &image::DynamicImage::ImageLuma16(narrow(4000)));
    assert_eq!(before("").matches("note: ").count(), 0);
    // PSNR is relative to white: a factor of 16 is 24 dB.
    let psnr = |options: &str| {
        folder.save("c.png", &image::DynamicImage::ImageLuma16(narrow(3000)));
        let run =
            folder.kgard(&format!("denoise a.png -o b.png --reference c.png --json {options}"));
        run.json()["psnr_before"].as_f64().expect("a number")
    };
    let difference = psnr("") - psnr("--white-level 4095");
    assert!((difference - 24.08).abs() < 0.02, "{difference}");
    // The header of a PGM file says what white is, and keeps it.
    let samples = narrow(1023).into_raw();
    let bytes: Vec<u8> = samples.iter().flat_map(|x| x.to_be_bytes()).collect();
    folder.write("a.pgm", [b"P5 60 50 1023\n".as_slice(), &bytes].concat());
    folder.kgard("denoise a.pgm -o b.pgm --strength 0").ok();
    let written = folder.bytes("b.pgm");
    let (header, pixels) = written.split_at(written.len() - bytes.len());
    let header: Vec<&str> =
        std::str::from_utf8(header).expect("a header").split_whitespace().collect();
    assert_eq!(header, ["P5", "60", "50", "1023"]);
    assert_eq!(pixels, bytes);
}

#[test]
fn resolution_stays() {
    let folder = Folder::new();
    let mut tiff = encoded(ImageFormat::Tiff);
    let place = |tiff: &[u8]| number(tiff, entry(tiff, 282).expect("a resolution") + 8, 4);
    let at = place(&tiff);
    tiff[at..at + 8].copy_from_slice(&[44, 1, 0, 0, 1, 0, 0, 0]);
    folder.write("a.tif", &tiff);
    // There, and by way of EXIF data of a PNG file.
    let run = folder.kgard("denoise a.tif -o b.tif");
    run.ok();
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    folder.kgard("denoise a.tif -o c.png").ok();
    folder.kgard("denoise c.png -o d.tif").ok();
    for name in ["b.tif", "d.tif"] {
        let clean = folder.bytes(name);
        let at = place(&clean);
        assert_eq!((number(&clean, at, 4), number(&clean, at + 4, 4)), (300, 1), "{name}");
        assert_eq!(folder.open(name).color(), ColorType::L8);
    }
}

#[test]
fn a_folder_says_what_it_skipped() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).expect("a folder");
    folder.save("in/a.png", &noisy(ColorType::L8, 40, 32));
    for name in ["in/notes.txt", "in/b.cr2", "in/.hidden"] {
        folder.write(name, "x");
    }
    let run = folder.kgard("denoise in -o out");
    run.ok();
    let text = "skipped 2 files with other names than pictures have: b.cr2, notes.txt\n";
    assert!(run.stderr().contains(text), "{}", run.stderr());
    assert!(!folder.kgard("-q denoise in -o out").stderr().contains("skipped"));
}
