//! Writes the gallery: for each kind of picture a part of it before and after `kgard denoise`, side
//! by side, and a page that shows them with their figures: `cargo xtask gallery`.

#[path = "../pictures/material.rs"]
#[allow(dead_code)]
mod material;

use image::{DynamicImage, GenericImage, GenericImageView, Rgb, RgbImage};
use material::Material;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Side of a part, in pixels.
const SIDE: u32 = 144;
/// White between the two.
const GAP: u32 = 8;
/// One in so many samples of the clean part is darker than black, and as many are lighter than white.
const CLIPPED_ONE_IN: usize = 200;

/// The kinds that are shown: name, left and upper edge of the part, options.
const SHOWN: [(&str, u32, u32, &str); 12] = [
    ("microscopy20", 40, 40, ""),
    ("photons30", 60, 30, ""),
    ("demosaiced", 60, 30, ""),
    ("jpeg85", 60, 30, ""),
    ("grain", 60, 30, ""),
    ("white", 60, 30, ""),
    ("twelve-bits", 60, 30, ""),
    ("dim", 60, 30, "--impulses-only"),
    ("columns", 30, 30, ""),
    ("stars", 40, 40, ""),
    ("screenshot-smooth", 0, 0, ""),
    ("cloth1", 20, 20, ""),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, directory] = &arguments[..] else {
        eprintln!("usage: gallery KGARD DIR");
        return ExitCode::from(2);
    };
    match gallery(program, Path::new(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn gallery(program: &str, directory: &Path) -> Result<(), String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let pictures = directory.join("gallery");
    std::fs::create_dir_all(&pictures).map_err(|error| text(&error))?;
    let mut page = String::from(
        "# Gallery\n\nParts of pictures before and after `kgard denoise`, everything automatic \
         unless options are given. Made by `cargo xtask gallery` from formulas and the bundled \
         photograph (CC0), with seeds; PSNR is of the whole picture, relative to the white \
         level.\n",
    );
    let all = material::all(0);
    for (name, x, y, options) in SHOWN {
        let material = all.iter().find(|material| material.name == name).ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|material| material.name).collect();
            format!("{name}: is not among {}", names.join(", "))
        })?;
        let (after, before, psnr) = denoised(program, material, options)?;
        let part = pair(material, &after, (x, y));
        part.save(pictures.join(format!("{name}.png"))).map_err(|error| text(&error))?;
        let command = if options.is_empty() { String::new() } else { format!(", `{options}`") };
        let what = &material.what;
        let _ = write!(
            page,
            "\n## {name}\n\n{what}{command}: {before} to {psnr} dB\n\n\
             ![{name} before and after](gallery/{name}.png)\n"
        );
        println!("{name}: {before} to {psnr} dB");
    }
    std::fs::write(directory.join("gallery.md"), page).map_err(|error| text(&error))
}

/// The picture that the program makes, and PSNR before and after.
fn denoised(
    program: &str,
    material: &Material,
    options: &str,
) -> Result<(DynamicImage, String, String), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = |name: &str| folder.path().join(format!("{name}.{}", material.extension()));
    for (name, picture) in [("noisy", &material.noisy), ("clean", &material.clean)] {
        picture.save(path(name)).map_err(|error| error.to_string())?;
    }
    let output = Command::new(program)
        .arg("denoise")
        .arg(path("noisy"))
        .arg("-o")
        .arg(path("out"))
        .arg("--reference")
        .arg(path("clean"))
        .arg("--json")
        .args(options.split_whitespace())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{}: {}", material.name, String::from_utf8_lossy(&output.stderr)));
    }
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    // Of equal pictures it is infinite, which JSON has no number for.
    let decibels =
        |key: &str| report[key].as_f64().map_or("infinite".into(), |psnr| format!("{psnr:.2}"));
    let after = image::open(path("out")).map_err(|error| error.to_string())?;
    Ok((after, decibels("psnr_before"), decibels("psnr_after")))
}

/// A part of both, from the darkest to the lightest of the clean one.
fn pair(material: &Material, after: &DynamicImage, (x, y): (u32, u32)) -> DynamicImage {
    let width = SIDE.min(after.width() - x);
    let height = SIDE.min(after.height() - y);
    let part = |picture: &DynamicImage| picture.crop_imm(x, y, width, height).into_rgb32f();
    let mut levels: Vec<f32> = part(&material.clean).into_raw();
    levels.sort_by(f32::total_cmp);
    let at = levels.len() / CLIPPED_ONE_IN;
    let (low, high) = (levels[at], levels[levels.len() - 1 - at]);
    let shown = |picture: &DynamicImage| {
        let part = part(picture);
        RgbImage::from_fn(width, height, |x, y| {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let level = |sample: f32| (255.0 * (sample - low) / (high - low)).round() as u8;
            Rgb(part.get_pixel(x, y).0.map(level))
        })
    };
    let mut both = RgbImage::from_pixel(2 * width + GAP, height, Rgb([255; 3]));
    for (picture, left) in [(&material.noisy, 0), (after, width + GAP)] {
        let _ = both.copy_from(&shown(picture), left, 0);
    }
    let both = DynamicImage::from(both);
    let is_grey =
        both.pixels().all(|(_, _, pixel)| pixel.0[0] == pixel.0[1] && pixel.0[1] == pixel.0[2]);
    if is_grey { both.into_luma8().into() } else { both }
}
