//! Before, after and the impulses, side by side in one picture.

use super::job::Cleaned;
use super::map::NOTHING;
use crate::error::{Error, Result};
use crate::pictures::Raster;
use crate::plot::{FONT, rasterise};
use image::imageops::{FilterType, replace, resize};
use image::{DynamicImage, Rgb, RgbImage};
use std::fmt::Write;

/// The longer side of a panel is so many pixels at least: smaller pictures are
/// magnified, each pixel to a square.
const PANEL: u32 = 240;
/// The smallest letters.
const LETTERS: f64 = 16.0;
/// Letters of a larger picture: its side, divided by this.
const SIDE_IN_LETTERS: f64 = 18.0;
/// What the longest line of a head takes, in letters.
const HEAD_WIDTH: f64 = 13.0;
const PAPER: Rgb<u8> = Rgb([255; 3]);

/// A panel: what stands above it, in large and in small letters.
struct Panel {
    title: &'static str,
    caption: String,
    image: RgbImage,
}

/// The strip. The pictures are of one size.
pub(super) fn strip(before: &Raster, cleaned: &Cleaned) -> Result<DynamicImage> {
    let Cleaned { clean: after, outliers, report } = cleaned;
    let [noisy, clean, impulses] = report.captions();
    let panel =
        |title, caption, image: &DynamicImage| Panel { title, caption, image: shown(image) };
    let panels = [
        panel("before", noisy, &before.shown()?),
        panel("after", clean, &after.shown()?),
        panel("outliers", impulses, &stronger(&outliers.shown()?)),
    ];
    draw(&panels).ok_or_else(|| Error::failed("--compare: the picture is too large for a strip"))
}

/// The map with twice the contrast: impulses are seldom as large as the range,
/// and here nobody measures them.
fn stronger(map: &DynamicImage) -> DynamicImage {
    let mut map = map.to_rgb8();
    for sample in map.iter_mut() {
        let twice = 2 * i16::from(*sample) - i16::from(NOTHING);
        *sample = u8::try_from(twice.clamp(0, 255)).unwrap_or(NOTHING);
    }
    map.into()
}

/// In 8 bits, and large enough to be seen.
fn shown(image: &DynamicImage) -> RgbImage {
    let image = image.to_rgb8();
    let (width, height) = image.dimensions();
    match PANEL.div_ceil(width.max(height).max(1)) {
        0 | 1 => image,
        times => resize(&image, width * times, height * times, FilterType::Nearest),
    }
}

/// Nothing if there is no memory for it, or no such size.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn draw(panels: &[Panel; 3]) -> Option<DynamicImage> {
    let (width, height) = panels[0].image.dimensions();
    let side = (f64::from(width) * f64::from(height)).sqrt();
    let letters = (side / SIDE_IN_LETTERS).max(LETTERS);
    let gap = (letters / 2.0).round() as u32;
    let head = (2.9 * letters).round() as u32;
    // A narrow picture stands in the middle of what its head takes.
    let cell = width.max((HEAD_WIDTH * letters).ceil() as u32);
    let total = cell.checked_mul(3)?.checked_add(4 * gap)?;
    let below = head.checked_add(height)?.checked_add(gap)?;
    u64::from(total).checked_mul(u64::from(below)).filter(|pixels| *pixels < 1 << 30)?;

    let mut strip = RgbImage::from_pixel(total, below, PAPER);
    let left = |i: u32| gap + i * (cell + gap);
    let centres = [0, 1, 2].map(|i| f64::from(left(i)) + f64::from(cell) / 2.0);
    replace(&mut strip, &heads(panels, centres, letters, (total, head))?, 0, 0);
    for (panel, i) in panels.iter().zip(0..) {
        let x = left(i) + (cell - width) / 2;
        replace(&mut strip, &panel.image, x.into(), head.into());
    }
    Some(strip.into())
}

/// What stands above the panels.
fn heads(
    panels: &[Panel; 3],
    centres: [f64; 3],
    letters: f64,
    size: (u32, u32),
) -> Option<RgbImage> {
    let (width, height) = size;
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">
<rect width="100%" height="100%" fill="white"/>
<g font-family="{FONT}" text-anchor="middle">"#
    );
    for (panel, x) in panels.iter().zip(centres) {
        for (text, size, y, colour) in
            [(panel.title, letters, 1.3, "#111"), (&panel.caption, 0.72 * letters, 2.35, "#555")]
        {
            let y = y * letters;
            let _ = write!(
                svg,
                r#"<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{text}</text>"#
            );
        }
    }
    svg.push_str("</g></svg>");
    let pixels = rasterise(svg.as_bytes(), size, 1).ok()?;
    // On white paper nothing is transparent.
    let samples = pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    RgbImage::from_raw(width, height, samples)
}
