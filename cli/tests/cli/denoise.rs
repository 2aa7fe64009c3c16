//! `kgard denoise`.

use crate::common::{Folder, Random};
use crate::pictures::{KINDS, broken, clean, decode, noisy};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ColorType, DynamicImage, ImageDecoder, ImageEncoder, ImageReader};
use kgard::denoise::PlaneBuf;
use kgard::interop::image::{peak, planes};
use std::io::Cursor;

/// The root of the mean squared difference, of the peak.
fn distance(a: &DynamicImage, b: &DynamicImage) -> f64 {
    let (p, q) = (planes(a).expect("channels"), planes(b).expect("channels"));
    let pairs = p.iter().zip(&q).flat_map(|(p, q)| p.samples().iter().zip(q.samples()));
    let squares: Vec<f64> = pairs.map(|(p, q)| f64::from(p - q).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() / f64::from(peak(a))
}

#[test]
fn every_kind_of_picture_comes_back_clean_and_as_it_was() {
    let folder = Folder::new();
    for (color, formats) in KINDS {
        let (clean, noisy) = (clean(color, 40, 32), noisy(color, 40, 32));
        assert!(distance(&clean, &noisy) > 0.08);
        for extension in formats {
            let (a, b) = (format!("a.{extension}"), format!("b.{extension}"));
            folder.save(&a, &noisy);
            let json = folder.kgard(&format!("denoise {a} -o {b} --json")).json();
            assert_eq!(json["bit_depth"], 8 * (color.bytes_per_pixel() / color.channel_count()));
            assert_eq!(json["channels"], color.channel_count());
            let result = folder.open(&b);
            assert_eq!(result.color(), color, "{extension}");
            let off = distance(&clean, &result);
            assert!(off < 0.02, "{color:?} {extension}: {off}");
        }
    }
}

/// The README's picture is what its folder says, and comes out well.
#[test]
fn the_example() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let folder = Folder::new();
    for name in ["camera.png", "camera-noisy.png"] {
        std::fs::copy(format!("{examples}/{name}"), folder.path(name)).expect("a copy");
    }
    folder.kgard("corrupt camera.png -o again.png --gaussian-db 20 --impulses 0.1").ok();
    assert_eq!(folder.open("again.png"), folder.open("camera-noisy.png"));
    let command = "denoise camera-noisy.png -o clean.png --reference camera.png --json";
    let json = folder.kgard(command).json();
    let psnr = json["psnr_after"].as_f64().expect("a number");
    assert!(psnr > EXAMPLE_PSNR, "{psnr}");
}

/// What it was last, rounded down.
const EXAMPLE_PSNR: f64 = 28.0;

/// Of the impulses that the map shows, and the JSON object counts.
#[test]
fn the_map() {
    let folder = Folder::new();
    for color in [ColorType::L8, ColorType::Rgb16, ColorType::Rgba8] {
        let (clean, noisy) = (clean(color, 40, 32), noisy(color, 40, 32));
        folder.save("a.png", &noisy);
        let json = folder.kgard("denoise a.png -o b.png --outliers map.png --json").json();
        let map = folder.open("map.png");
        assert_eq!(map.color(), if color.has_color() { ColorType::Rgb8 } else { ColorType::L8 });
        let map = planes(&map).expect("channels");
        let marked =
            map.iter().flat_map(PlaneBuf::samples).filter(|m| (*m - 128.0).abs() > 0.5).count();
        assert_eq!(json["outliers"]["count"], marked);
        let samples = 1280.0 * map.len() as f64;
        assert_eq!(json["outliers"]["fraction"], marked as f64 / samples);
        let (mut found, mut total) = (0, 0);
        let (a, b) = (planes(&clean).expect("channels"), planes(&noisy).expect("channels"));
        for ((map, a), b) in map.iter().zip(&a).zip(&b) {
            for ((&map, &a), &b) in map.samples().iter().zip(a.samples()).zip(b.samples()) {
                let impulse = (b - a) / peak(&clean);
                if impulse.abs() > 0.3 {
                    total += 1;
                    // The right sign, and about the size.
                    found += usize::from((map - 128.0 - 127.0 * impulse).abs() < 20.0);
                }
            }
        }
        assert!(found * 10 >= total * 9, "{color:?}: {found} of {total}");
    }
}

#[test]
fn all_keys_of_the_json_object() {
    let folder = Folder::new();
    folder.save("clean.png", &clean(ColorType::Rgb8, 40, 32));
    folder.save("a.png", &noisy(ColorType::Rgb8, 40, 32));
    let command = "denoise a.png -o b.png --reference clean.png --json";
    let run = folder.kgard(command);
    let json = run.json();
    assert_eq!(run.stderr(), "");
    let mut keys: Vec<&str> = json.as_object().expect("an object").keys().map(|k| &**k).collect();
    keys.sort_unstable();
    assert_eq!(
        keys.join(" "),
        "adapter backend bit_depth channels height input kernel lambda method noise noise_sigma outliers \
         output planes psnr_after psnr_before seconds sigma ssim_after ssim_before warnings width"
    );
    assert_eq!((&json["input"], &json["output"]), (&"a.png".into(), &"b.png".into()));
    assert_eq!(json["method"], "kg-bm3d");
    assert_eq!((&json["kernel"], &json["sigma"]), (&"matern32".into(), &0.3.into()));
    assert_eq!(json["backend"], "cpu");
    assert_eq!((json["width"].as_u64(), json["height"].as_u64()), (Some(40), Some(32)));
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    // Uniform noise of +-0.015 * 255.
    let noise = number(&json["noise_sigma"]);
    assert!((1.5..4.0).contains(&noise), "{noise}");
    assert!(number(&json["lambda"]) > 0.0);
    assert!(number(&json["psnr_after"]) > number(&json["psnr_before"]) + 8.0);
    assert!(number(&json["ssim_after"]) > number(&json["ssim_before"]) + 0.2);
    let seconds = &json["seconds"];
    assert!(number(&seconds["total"]) >= number(&seconds["kgard"]) + number(&seconds["bm3d"]));
    let names: Vec<_> = (0..3).map(|i| &json["planes"][i]["name"]).collect();
    assert_eq!(names, ["red", "green", "blue"]);
    let count: u64 = (0..3).filter_map(|i| json["planes"][i]["outliers"].as_u64()).sum();
    assert_eq!(json["outliers"]["count"], count);
    // `kgard metrics` says the same.
    let metrics = folder.kgard("metrics clean.png b.png --json").json();
    assert_eq!(metrics["images"][0]["psnr"], json["psnr_after"]);
    assert_eq!(metrics["images"][0]["ssim"], json["ssim_after"]);
}

#[test]
fn a_line_for_people() {
    let folder = Folder::new();
    folder.save("clean.png", &clean(ColorType::L8, 40, 32));
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    let run = folder.kgard("denoise a.png -o b.png --reference clean.png");
    assert_eq!(run.ok(), "");
    let line = run.stderr();
    assert!(line.starts_with("b.png: ") && line.lines().count() == 1, "{line}");
    for text in [" impulses removed (", " %), noise ", " s; PSNR ", " dB, SSIM "] {
        assert!(line.contains(text), "{line}");
    }
}

/// Each option changes the result, and none leaves a worse picture than the
/// noisy one.
#[test]
fn options() {
    let folder = Folder::new();
    let (clean, noisy) = (clean(ColorType::L8, 48, 40), noisy(ColorType::L8, 48, 40));
    folder.save("a.png", &noisy);
    folder.kgard("denoise a.png -o auto.png --method kgard").ok();
    let automatic = folder.bytes("auto.png");
    for options in [
        "--sigma 0.25",
        "--lambda 0.3",
        "--lambda 0.3 --sigma 0.1",
        "--noise-sigma 20",
        "--roi 8 --core 4",
        "--core 4",
        "--stop histogram",
        "--e0 80",
        "--stop histogram --e0 20",
        "--stop histogram:every-step",
        "--stop max:60",
        "--regularizer l2",
        "--lambda 0.3 --regularizer l2",
    ] {
        let json =
            folder.kgard(&format!("denoise a.png -o b.png --method kgard {options} --json")).json();
        assert_ne!(folder.bytes("b.png"), automatic, "{options}");
        let off = distance(&clean, &folder.open("b.png"));
        assert!(off < 0.07, "{options}: {off}");
        let sigma = json["sigma"].as_f64();
        let expected = match options {
            "--sigma 0.25" => Some(0.25),
            "--lambda 0.3 --sigma 0.1" => Some(0.1),
            _ => Some(0.3),
        };
        assert_eq!(sigma, expected, "{options}");
        // The paper's options make it the paper's method.
        let is_paper = ["--lambda", "--stop", "--e0"].iter().any(|o| options.contains(o));
        let method = if is_paper { "paper-kgard" } else { "kgard" };
        assert_eq!(json["method"], method, "{options}");
        assert_eq!(json["kernel"] == "gaussian", is_paper || options.contains("--sigma"));
        if options.contains("--noise-sigma") {
            assert_eq!(json["noise_sigma"], 20.0);
        }
    }
    for options in ["--stop auto", "--backend cpu", "--regularizer rkhs"] {
        folder.kgard(&format!("denoise a.png -o b.png --method kgard {options}")).ok();
        assert_eq!(folder.bytes("b.png"), automatic, "{options}");
    }
    // E0 is in units of the samples, its default of the peak.
    folder.kgard("denoise a.png -o b.png --stop histogram").ok();
    let default = folder.bytes("b.png");
    folder.kgard("denoise a.png -o b.png --stop histogram --e0 40").ok();
    assert_eq!(folder.bytes("b.png"), default);
    // By its own name it is the same.
    folder.kgard("denoise a.png -o b.png --method paper-kg-bm3d").ok();
    assert_eq!(folder.bytes("b.png"), default);
}

#[test]
fn methods() {
    let folder = Folder::new();
    let (clean, noisy) = (clean(ColorType::Rgb8, 32, 24), noisy(ColorType::Rgb8, 32, 24));
    folder.save("a.png", &noisy);
    folder.kgard("denoise a.png -o default.png").ok();
    for (method, removes, lambda) in [
        ("kgard", true, true),
        ("kg-bm3d", true, true),
        ("bm3d", false, false),
        ("paper-kgard", true, true),
        ("paper-kg-bm3d", true, true),
        ("rb-rvm", true, false),
    ] {
        let command = format!("denoise a.png -o b.png --method {method} --json");
        let json = folder.kgard(&command).json();
        assert_eq!(json["method"], method);
        assert_eq!(json["lambda"].is_number(), lambda, "{method}");
        assert_eq!(json["outliers"]["count"].as_u64().expect("a count") > 0, removes, "{method}");
        assert!(json["noise_sigma"].as_f64().expect("a number") > 0.0, "{method}");
        if removes {
            let off = distance(&clean, &folder.open("b.png"));
            assert!(off < 0.06, "{method}: {off}");
        }
        let same = folder.bytes("b.png") == folder.bytes("default.png");
        assert_eq!(same, method == "kg-bm3d", "{method}");
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::Rgb16, 150, 130));
    let mut results = Vec::new();
    for threads in [1, 2, 3, 7] {
        let command = "denoise a.png -o b.png --outliers map.png --threads";
        folder.kgard(&format!("{command} {threads}")).ok();
        results.push((folder.bytes("b.png"), folder.bytes("map.png")));
    }
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn tiny_pictures() {
    let folder = Folder::new();
    for (width, height) in [(1, 1), (1, 200), (200, 1), (3, 5), (11, 11)] {
        folder.save("a.png", &noisy(ColorType::Rgb8, width, height));
        let command = "denoise a.png -o b.png --outliers m.png --reference a.png --json";
        let json = folder.kgard(command).json();
        assert_eq!(json["psnr_before"], serde_json::Value::Null);
        let result = folder.open("b.png");
        assert_eq!((result.width(), result.height()), (width, height));
    }
}

#[test]
fn pipes() {
    let folder = Folder::new();
    let picture = noisy(ColorType::L16, 30, 20);
    for (extension, magic) in [("png", &b"\x89PNG"[..]), ("tif", b"II*\0"), ("pgm", b"P5")] {
        folder.save(&format!("a.{extension}"), &picture);
        let bytes = folder.bytes(&format!("a.{extension}"));
        let run = folder.kgard_stdin("denoise - -o -", bytes);
        assert!(run.bytes().starts_with(magic), "{extension}");
        assert_eq!(decode(run.bytes()).color(), ColorType::L16);
        assert!(run.stderr().starts_with("standard output: "), "{}", run.stderr());
    }
    let run = folder.kgard_stdin("denoise - -o - --format tiff --json", folder.bytes("a.png"));
    assert!(run.bytes().starts_with(b"II*\0"));
    let json: serde_json::Value = serde_json::from_str(run.stderr()).expect("JSON");
    assert_eq!(json["output"], "standard output");
    // To and from a file give the same.
    folder.kgard("denoise a.png -o b.png").ok();
    let run = folder.kgard_stdin("denoise - -o -", folder.bytes("a.png"));
    assert_eq!(run.bytes(), folder.bytes("b.png"));
}

#[test]
fn formats() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::Rgb8, 40, 32));
    folder.save("deep.png", &noisy(ColorType::Rgb16, 40, 32));
    folder.save("alpha.png", &noisy(ColorType::Rgba8, 40, 32));
    folder.save("grey.png", &noisy(ColorType::La16, 40, 32));
    for (name, magic) in [
        ("b.png", &b"\x89PNG"[..]),
        ("b.jpg", b"\xff\xd8\xff"),
        ("b.jpeg", b"\xff\xd8\xff"),
        ("b.tiff", b"II*\0"),
        ("b.webp", b"RIFF"),
        ("b.ppm", b"P6"),
    ] {
        folder.kgard(&format!("denoise a.png -o {name}")).ok();
        assert!(folder.bytes(name).starts_with(magic), "{name}");
        let off = distance(&clean(ColorType::Rgb8, 40, 32), &folder.open(name));
        assert!(off < 0.02, "{name}: {off}");
    }
    folder.kgard("denoise a.png -o picture --format webp").ok();
    assert!(folder.bytes("picture").starts_with(b"RIFF"));
    // Never fewer bits, nor no alpha, without a word.
    for (input, output, kind) in [
        ("deep.png", "c.jpg", "JPEG file cannot hold 16-bit RGB pixels"),
        ("deep.png", "c.webp", "WebP file cannot hold 16-bit RGB pixels"),
        ("alpha.png", "c.jpg", "JPEG file cannot hold 8-bit RGB with alpha pixels"),
        ("grey.png", "c.pam", "PNM file cannot hold 16-bit grey with alpha pixels"),
        ("grey.png", "c.tif", "TIFF file cannot hold 16-bit grey with alpha pixels"),
        ("a.png", "c.exr", "OpenEXR file cannot hold 8-bit RGB pixels"),
    ] {
        folder.kgard(&format!("denoise {input} -o {output}")).fails(1, &[output, kind]);
        assert!(!folder.path(output).exists());
    }
}

/// An ICC profile, as far as anybody looks here.
fn profile(space: [u8; 4]) -> Vec<u8> {
    let mut profile = vec![0; 200];
    profile[..4].copy_from_slice(&200_u32.to_be_bytes());
    profile[16..20].copy_from_slice(&space);
    profile[36..40].copy_from_slice(b"acsp");
    profile
}

/// EXIF data with an orientation, and the year of the picture.
fn exif(orientation: u8) -> Vec<u8> {
    let mut exif = b"MM\0*\0\0\0\x08\0\x02".to_vec();
    exif.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
    exif.extend([0x01, 0x32, 0, 2, 0, 0, 0, 4]);
    exif.extend(b"1999");
    exif.extend([0; 4]);
    exif
}

fn metadata(bytes: &[u8]) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().expect("a format");
    let mut decoder = reader.into_decoder().expect("a picture");
    let profile = decoder.icc_profile().expect("no error");
    (profile, decoder.exif_metadata().expect("no error"))
}

fn with_metadata(mut encoder: impl ImageEncoder, picture: &DynamicImage, space: [u8; 4]) {
    encoder.set_icc_profile(profile(space)).expect("a profile");
    encoder.set_exif_metadata(exif(6)).expect("EXIF data");
    let color = picture.color().into();
    encoder
        .write_image(picture.as_bytes(), picture.width(), picture.height(), color)
        .expect("a picture");
}

#[test]
fn profile_and_orientation_are_not_lost() {
    let folder = Folder::new();
    let picture = noisy(ColorType::Rgb8, 40, 32);
    let (mut png, mut jpeg) = (Vec::new(), Vec::new());
    with_metadata(PngEncoder::new(&mut png), &picture, *b"RGB ");
    with_metadata(JpegEncoder::new_with_quality(&mut jpeg, 100), &picture, *b"RGB ");
    folder.write("a.png", png);
    folder.write("a.jpg", jpeg);
    let upright = clean(ColorType::Rgb8, 40, 32).rotate90();
    for input in ["a.png", "a.jpg"] {
        for output in ["b.png", "b.jpg", "b.webp", "b.tif", "b.ppm"] {
            let run = folder.kgard(&format!("denoise {input} -o {output}"));
            run.ok();
            let result = folder.open(output);
            assert_eq!((result.width(), result.height()), (32, 40));
            let off = distance(&upright, &result);
            assert!(off < 0.025, "{input} {output}: {off}");
            let (mut found_profile, mut found_exif) = metadata(&folder.bytes(output));
            if output == "b.tif" {
                // The decoder does not find them, but kgard does.
                folder.kgard("denoise b.tif -o c.png").ok();
                let (profile, kept) = metadata(&folder.bytes("c.png"));
                found_profile = profile;
                let kept = kept.expect("EXIF data");
                assert!(kept.windows(4).any(|year| year == b"1999"));
                found_exif = Some(exif(1));
            }
            // What cannot be kept is said to be lost.
            for (kept, what) in
                [(found_profile.is_some(), "colour profile"), (found_exif.is_some(), "EXIF data")]
            {
                assert_ne!(kept, run.stderr().contains(what), "{output}: {}", run.stderr());
            }
            assert!(found_profile.is_none_or(|found| found == profile(*b"RGB ")));
            assert!(found_exif.is_none_or(|found| found == exif(1)));
            if ["b.png", "b.jpg", "b.webp"].contains(&output) {
                assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
            }
        }
    }
    // A profile of other colours than those of the picture is worse than none.
    let mut png = Vec::new();
    with_metadata(PngEncoder::new(&mut png), &picture, *b"CMYK");
    folder.write("a.png", png);
    let run = folder.kgard("denoise a.png -o b.png");
    run.ok();
    assert!(run.stderr().contains("colour profile"), "{}", run.stderr());
    assert_eq!(metadata(&folder.bytes("b.png")).0, None);
}

#[test]
fn a_batch() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    folder.save("b.tif", &noisy(ColorType::Rgb16, 40, 32));
    let run = folder.kgard("denoise a.png b.tif -o out --outliers maps");
    assert_eq!(run.ok(), "");
    assert_eq!(run.stderr().lines().count(), 2, "{}", run.stderr());
    assert_eq!(folder.names(), ["a.png", "b.tif", "maps", "out"]);
    folder.kgard("denoise a.png -o alone.png --outliers map.png").ok();
    assert_eq!(folder.bytes("out/a.png"), folder.bytes("alone.png"));
    assert_eq!(folder.bytes("maps/a.png"), folder.bytes("map.png"));
    assert_eq!(folder.open("out/b.tif").color(), ColorType::Rgb16);
    assert_eq!(folder.open("maps/b.png").color(), ColorType::Rgb8);
    // One picture and a folder is a batch, too.
    let json = folder.kgard("denoise b.tif -o out --format png --json").json();
    assert_eq!(json["pictures"][0]["method"], "kg-bm3d");
    assert_eq!(json["failed"], serde_json::json!([]));
    assert_eq!(folder.open("out/b.png").color(), ColorType::Rgb16);
}

#[test]
fn a_batch_goes_on_after_a_failure() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    folder.save("z.png", &noisy(ColorType::L8, 24, 20));
    for (name, bytes, _) in broken() {
        folder.write(name, bytes);
    }
    let run = folder.kgard("denoise a.png short.png none.png text.png z.png -o out");
    assert_eq!((run.code(), run.stdout()), (1, ""));
    let stderr = run.stderr();
    assert_eq!(stderr.lines().count(), 6, "{stderr}");
    assert!(stderr.contains("\nfailed: short.png: is not a usable picture"), "{stderr}");
    let last = "\nerror: 3 of 5 pictures failed: short.png, none.png, text.png\n";
    assert!(stderr.ends_with(last), "{stderr}");
    let written = || {
        let entries = std::fs::read_dir(folder.path("out")).expect("a folder");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(written(), ["a.png", "z.png"]);
    let run = folder.kgard("denoise short.png z.png -o out --json");
    assert_eq!(run.code(), 1);
    let json: serde_json::Value = serde_json::from_str(run.stdout()).expect("JSON");
    assert_eq!(json["pictures"][0]["input"], "z.png");
    assert_eq!(json["failed"][0]["input"], "short.png");
    // Two of one name: the first is done.
    std::fs::create_dir(folder.path("more")).expect("a folder");
    folder.save("more/z.png", &noisy(ColorType::L8, 12, 12));
    let run = folder.kgard("denoise z.png more/z.png -o out");
    assert_eq!(run.code(), 1);
    assert!(run.stderr().contains("failed: more/z.png: another picture"), "{}", run.stderr());
    assert_eq!(folder.open("out/z.png").width(), 24);
    // Into the folder where they are.
    let run = folder.kgard("denoise more/z.png -o more");
    assert_eq!(run.code(), 1);
    assert!(run.stderr().contains("--overwrite"), "{}", run.stderr());
    folder.kgard("denoise more/z.png -o more --overwrite").ok();
}

#[test]
fn the_input_is_not_written_over() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    folder.save("clean.png", &clean(ColorType::L8, 40, 32));
    let before = (folder.bytes("a.png"), folder.bytes("clean.png"));
    for command in [
        "denoise a.png -o a.png",
        "denoise a.png -o ./a.png",
        "denoise a.png -o b.png --outliers a.png",
        "denoise a.png -o clean.png --reference clean.png",
        "denoise a.png -o clean.png --reference clean.png --overwrite",
        "denoise a.png -o b.png --outliers clean.png --reference clean.png",
    ] {
        folder.kgard(command).fails(1, &["would be written over"]);
        assert_eq!((folder.bytes("a.png"), folder.bytes("clean.png")), before, "{command}");
        assert_eq!(folder.names(), ["a.png", "clean.png"], "{command}");
    }
    folder.kgard("denoise a.png -o b.png --outliers b.png").fails(2, &["cannot be one file"]);
    let run = folder.kgard("denoise a.png -o a.png --outliers ./a.png --overwrite");
    run.fails(1, &["would be written over"]);
    folder.kgard("denoise a.png -o a.png --overwrite").ok();
    assert_ne!(folder.bytes("a.png"), before.0);
    // Other old files are replaced, as by the other commands.
    folder.write("b.png", "old");
    folder.kgard("denoise a.png -o b.png").ok();
    assert_eq!(folder.open("b.png").width(), 40);
}

#[test]
fn wrong_files_leave_nothing_behind() {
    let folder = Folder::new();
    for (name, bytes, text) in broken() {
        folder.write(name, bytes.clone());
        let before = folder.names();
        folder.kgard(&format!("denoise {name} -o b.png --outliers m.png")).fails(1, &[text]);
        assert_eq!(folder.names(), before, "{name}");
        let text = text.replace(name, "standard input");
        folder.kgard_stdin("denoise - -o -", bytes).fails(1, &[&text]);
    }
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    folder.save("wide.png", &clean(ColorType::L8, 41, 32));
    let mut floats = noisy(ColorType::Rgb32F, 12, 12);
    floats.as_mut_rgb32f().expect("floats").get_pixel_mut(3, 4).0[1] = f32::INFINITY;
    folder.save("inf.exr", &floats);
    let before = folder.names();
    for (command, texts) in [
        ("denoise none.png -o b.png", &["none.png: cannot be read"][..]),
        ("denoise a.png -o none/b.png", &["none/b.png: cannot be written"]),
        ("denoise a.png -o b.png --outliers none/m.png", &["none/m.png: cannot be written"]),
        ("denoise a.png -o b.png --reference none.png", &["none.png: cannot be read"]),
        ("denoise a.png -o b.png --reference wide.png", &["a.png: has 40 x 32", "has 41 x 32"]),
        ("denoise inf.exr -o b.exr", &["inf.exr: the green channel is inf at column 3, row 4"]),
    ] {
        folder.kgard(command).fails(1, texts);
        assert_eq!(folder.names(), before, "{command}");
    }
}

#[test]
fn wrong_usage() {
    let folder = Folder::new();
    folder.save("a.png", &noisy(ColorType::L8, 40, 32));
    for (options, text) in [
        ("a.png", "--output"),
        ("-o b.png", "INPUT"),
        ("a.png -o b", "clean.png"),
        ("a.png -o b.gif", "clean.png"),
        ("a.png -o b.png --format gif", "--format"),
        ("a.png -o b.png --method magic", "--method"),
        ("a.png -o b.png --backend magic", "--backend"),
        ("a.png -o b.png --sigma 0", "positive"),
        ("a.png -o b.png --lambda -1", "positive"),
        ("a.png -o b.png --noise-sigma nan", "zero or more"),
        ("a.png -o b.png --roi 11", "--roi and --core: regions of 11 pixels with cores of 8"),
        ("a.png -o b.png --core 12", "regions of 12 pixels with cores of 12"),
        ("a.png -o b.png --core 0", "regions of 12 pixels with cores of 0"),
        ("a.png -o b.png --roi 18446744073709551615", "--roi"),
        ("a.png -o b.png --stop never", "max:E"),
        ("a.png -o b.png --stop max:-1", "zero or more"),
        ("a.png -o b.png --stop max:4 --e0 3", "--e0"),
        ("a.png -o b.png --stop auto --e0 3", "--e0"),
        ("a.png -o b.png --stop auto --lambda 1", "paper-kg-bm3d: drop it"),
        ("a.png -o b.png --stop auto --method paper-kgard", "--stop histogram"),
        ("a.png -o b.png --method kgard --noise-sigma 5 --lambda 1", "--method paper-kg-bm3d"),
        ("a.png -o b.png --noise-gain 2 --stop max:40", "paper-kg-bm3d"),
        ("a.png -o b.png --bad m.png --stop max:40", "kgard without --lambda, --e0 and --stop"),
        ("a.png -o b.png --backend gpu --e0 40", "no GPU path"),
        ("a.png -o b.png --e0 x", "not a number"),
        ("a.png -o b.png --regularizer l1", "--regularizer"),
        ("a.png -o b.png --threads 0", "--threads"),
        ("a.png -o b.png --outliers m.jpg", ".png"),
        ("a.png -o b.png --outliers -", "--outliers"),
        ("- -o b.png --reference -", "only once"),
        (". -o b.png", "this is the name of a picture"),
        ("*.png -o b.png", "this is the name of a picture"),
        ("a.png a.png -o out --outliers m.png", "m.png: several"),
        ("a.png a.png -o out --compare m.png", "m.png: several"),
        ("a.png a.png -o out --compare out", "folders of their own"),
        ("a.png -o b.png --compare -", "--compare"),
        ("a.png -o b.png --compare c.gif", "--compare"),
        ("a.png -o b.png --compare c.exr", "8 bits"),
        ("a.png -o b.png --quiet --verbose", "--quiet"),
        ("a.png a.png -o -", "several"),
        ("a.png - -o out", "several"),
        ("a.png a.png -o out --reference a.png", "--reference"),
    ] {
        folder.kgard(&format!("denoise {options}")).fails(2, &[text]);
        assert_eq!(folder.names(), ["a.png"], "{options}");
    }
}

/// A mask of the size of a picture, bright where `is` says so.
fn mask(width: u32, height: u32, is: impl Fn(u32, u32) -> bool) -> DynamicImage {
    image::GrayImage::from_fn(width, height, |x, y| image::Luma([if is(x, y) { 255 } else { 0 }]))
        .into()
}

/// A blotch is detail unless somebody says that it is none.
#[test]
fn marked_pixels() {
    let folder = Folder::new();
    let blotch = |x: u32, y: u32| (10..16).contains(&x) && (12..15).contains(&y);
    let caption = |x: u32, y: u32| y > 28 && x < 20;
    folder.save("bad.png", &mask(40, 32, blotch));
    folder.save("keep.png", &mask(40, 32, caption));
    let truth = clean(ColorType::Rgb8, 40, 32).into_rgb8();
    let mut spoilt = noisy(ColorType::Rgb8, 40, 32).into_rgb8();
    for (_, _, pixel) in spoilt.enumerate_pixels_mut().filter(|(x, y, _)| blotch(*x, *y)) {
        *pixel = image::Rgb([255, 0, 20]);
    }
    folder.save("a.png", &spoilt.clone().into());
    for method in ["kgard", "kg-bm3d"] {
        let off = |masks: &str| {
            let command = format!("denoise a.png -o b.png --outliers map.png --method {method}");
            folder.kgard(&format!("{command} {masks}")).ok();
            let result = folder.open("b.png").into_rgb8();
            let marked = truth.enumerate_pixels().filter(|(x, y, _)| blotch(*x, *y));
            let off = |a: u8, b: u8| f64::from(a.abs_diff(b));
            let sum: f64 = marked
                .map(|(x, y, t)| {
                    (0..3).map(|c| off(t.0[c], result.get_pixel(x, y).0[c])).sum::<f64>()
                })
                .sum();
            (sum / 54.0, result)
        };
        let (without, _) = off("");
        let (with, result) = off("--bad bad.png --keep keep.png");
        assert!(without > 40.0 && with < 10.0, "{method}: {without} and {with}");
        let map = folder.open("map.png").into_rgb8();
        for (x, y, pixel) in spoilt.enumerate_pixels() {
            let (pixel, map) = (pixel.0, map.get_pixel(x, y).0);
            if caption(x, y) {
                assert_eq!((result.get_pixel(x, y).0, map), (pixel, [128; 3]), "{method} {x} {y}");
            }
            assert!(!blotch(x, y) || !map.contains(&128), "{method} {x} {y}");
        }
    }
}

#[test]
fn masks_of_a_batch_and_masks_that_do_not_fit() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).expect("a folder");
    folder.save("in/a.png", &noisy(ColorType::L8, 40, 32));
    folder.save("in/b.png", &noisy(ColorType::L8, 24, 32));
    folder.save("m.png", &mask(40, 32, |x, _| x == 7));
    for (options, done) in [("--dry-run", false), ("", true)] {
        let run = folder.kgard(&format!("denoise in -o out --bad m.png {options}"));
        assert_eq!(run.code(), 1);
        let text = "failed: in/b.png: has 24 x 32 pixels, and m.png has 40 x 32";
        assert!(run.stderr().contains(text), "{}", run.stderr());
        assert_eq!(folder.path("out/a.png").exists(), done);
    }
    folder.kgard("denoise in/a.png -o a.png --bad none.png").fails(1, &["none.png"]);
    folder.kgard("denoise in/a.png -o m.png --keep m.png").fails(1, &["m.png"]);
    folder.kgard("denoise in/a.png -o a.png --bad -").fails(2, &["--bad -", "file"]);
    for method in ["bm3d", "rb-rvm", "paper-kgard", "paper-kg-bm3d"] {
        let command = format!("denoise in/a.png -o a.png --keep m.png --method {method}");
        folder.kgard(&command).fails(2, &["--keep", method, "kg-bm3d"]);
    }
}

/// What is bad may be no number at all.
#[test]
fn a_bad_pixel_that_is_not_finite() {
    let folder = Folder::new();
    let mut picture = noisy(ColorType::Rgb32F, 40, 32).into_rgb32f();
    picture.get_pixel_mut(9, 5).0 = [f32::NAN; 3];
    folder.save("a.exr", &picture.into());
    folder.save("m.png", &mask(40, 32, |x, y| (x, y) == (9, 5)));
    folder.save("other.png", &mask(40, 32, |x, y| (x, y) == (9, 6)));
    folder.kgard("denoise a.exr -o b.exr").fails(1, &["NaN"]);
    folder.kgard("denoise a.exr -o b.exr --bad other.png").fails(1, &["NaN"]);
    folder.kgard("denoise a.exr -o b.exr --bad m.png").ok();
    let off = distance(&clean(ColorType::Rgb32F, 40, 32), &folder.open("b.exr"));
    assert!(off < 0.02, "{off}");
}

/// A picture with ramps, noise and impulses, and where these are.
fn impulses_in_a_ramp(folder: &Folder) -> (image::GrayImage, Vec<(u32, u32)>) {
    let mut random = Random::new(5);
    let mut picture = image::GrayImage::from_fn(96, 80, |x, y| {
        let noise = 6.0 * (random.unit() + random.unit() + random.unit());
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let level = (60.0 + f64::from(x) + 0.5 * f64::from(y) + noise) as u8;
        image::Luma([level])
    });
    let places: Vec<(u32, u32)> = (0..60).map(|k| (7 + (k * 37) % 83, 5 + (k * 53) % 71)).collect();
    for (k, &(x, y)) in places.iter().enumerate() {
        picture.put_pixel(x, y, image::Luma([if k % 2 == 0 { 255 } else { 0 }]));
    }
    picture.save(folder.path("ramp.png")).expect("written");
    (picture, places)
}

#[test]
fn impulses_only_leaves_every_other_pixel_as_it_is() {
    let folder = Folder::new();
    let (before, places) = impulses_in_a_ramp(&folder);
    for method in ["kg-bm3d", "kgard"] {
        let run = format!(
            "denoise ramp.png -o out.png --outliers map.png --impulses-only --method {method}"
        );
        folder.kgard(&run).ok();
        let after = image::open(folder.path("out.png")).expect("a picture").into_luma8();
        let map = image::open(folder.path("map.png")).expect("a map").into_luma8();
        let mut changed = 0;
        for (x, y, pixel) in before.enumerate_pixels() {
            if map.get_pixel(x, y).0[0] == 128 {
                assert_eq!(after.get_pixel(x, y), pixel, "{method}: {x} {y}");
            } else {
                changed += usize::from(after.get_pixel(x, y) != pixel);
            }
        }
        assert!(changed >= 50, "{method}: {changed} of {} impulses", places.len());
        let repaired = places.iter().filter(|&&(x, y)| {
            let truth = 60.0 + f64::from(x) + 0.5 * f64::from(y);
            (f64::from(after.get_pixel(x, y).0[0]) - truth).abs() < 20.0
        });
        assert!(repaired.count() >= 54);
    }
    folder
        .kgard("denoise ramp.png -o out.png --impulses-only --method bm3d")
        .fails(2, &["bm3d", "kgard"]);
}

#[test]
fn colour_has_a_strength_of_its_own() {
    let folder = Folder::new();
    let pixel = |x: u32, y: u32| {
        let noise = |k: u32| u8::try_from((x * 7919 + y * 104_729 + k * 31 * (x ^ y)) % 41);
        image::Rgb([0, 1, 2].map(|k| 90 + noise(k).expect("less than 41")))
    };
    let before = image::RgbImage::from_fn(64, 64, pixel);
    before.save(folder.path("noisy.png")).expect("a picture is written");
    let result = |options: &str| {
        folder.kgard(&format!("denoise noisy.png -o out.png --noise-sigma 12 {options}")).ok();
        image::open(folder.path("out.png")).expect("a picture").into_rgb8()
    };
    let (whole, same) = (result(""), result("--strength 1 --strength-colour 1"));
    assert_eq!(whole, same);
    // Brightness as it was, colours clean.
    let colour = result("--strength 0 --strength-colour 1");
    let sum = |pixel: &image::Rgb<u8>| pixel.0.iter().map(|&x| i32::from(x)).sum::<i32>();
    for ((b, c), w) in before.pixels().zip(colour.pixels()).zip(whole.pixels()) {
        assert!((sum(b) - sum(c)).abs() <= 3, "{b:?} {c:?}");
        let difference = |p: &image::Rgb<u8>| i32::from(p.0[0]) - i32::from(p.0[2]);
        assert!((difference(c) - difference(w)).abs() <= 2, "{c:?} {w:?}");
    }
}

#[test]
fn strength_is_the_share_of_the_change() {
    let folder = Folder::new();
    let (before, _) = impulses_in_a_ramp(&folder);
    let result = |strength: &str| {
        folder.kgard(&format!("denoise ramp.png -o out.png --strength {strength}")).ok();
        image::open(folder.path("out.png")).expect("a picture").into_luma8()
    };
    let (none, half, whole) = (result("0"), result("0.5"), result("1"));
    assert_eq!(none, before);
    assert_ne!(whole, before);
    for ((b, h), w) in before.pixels().zip(half.pixels()).zip(whole.pixels()) {
        let middle = 0.5 * (f64::from(b.0[0]) + f64::from(w.0[0]));
        assert!((f64::from(h.0[0]) - middle).abs() <= 1.0, "{b:?} {h:?} {w:?}");
    }
    for wrong in ["-0.1", "1.5", "much", "nan"] {
        let run = folder.kgard(&format!("denoise ramp.png -o out.png --strength {wrong}"));
        run.fails(2, &["--strength", "from 0 to 1"]);
    }
}
