//! Pictures: SVG, or PNG with a font of our own, so that they look the same
//! on a machine without fonts.

mod fit;
mod frame;
mod model;

pub(crate) use fit::FitPlot;
pub(crate) use frame::{Frame, Mark, round_number};

use crate::error::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::{
    BitMapBackend, DrawingArea, DrawingBackend, FontStyle, IntoDrawingArea, SVGBackend, WHITE,
};
use plotters::style::register_font;
use std::path::Path;
use std::sync::Once;

/// The name under which plotters and SVG viewers look for the font.
pub(crate) const FONT: &str = "sans-serif";
static FONT_BYTES: &[u8] = include_bytes!("../../font/DejaVuSans.ttf");

/// Width and height of a picture.
const SIZE: (u32, u32) = (960, 600);
/// Pixels of a PNG per unit, and how many are drawn for each along an edge.
const SCALE: u32 = 2;
const FINER: u32 = 2;

/// Something to look at.
pub(crate) trait Picture {
    /// Draws itself with every size multiplied by `scale`.
    fn draw<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        scale: f64,
    ) -> std::result::Result<(), String>;
}

/// The kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Svg,
    Png,
}

impl Format {
    /// By the name of the file.
    pub(crate) fn of(option: &str, path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Error::usage(format!(
                "{option} {}: the name must end in .svg or .png",
                path.display()
            ))),
        }
    }

    /// The bytes of the file.
    pub(crate) fn render(self, picture: &impl Picture) -> Result<Vec<u8>> {
        static REGISTER: Once = Once::new();
        REGISTER.call_once(|| {
            // It can fail only if the font is no font.
            let _ = register_font(FONT, FontStyle::Normal, FONT_BYTES);
        });
        let bytes = match self {
            Self::Svg => svg(picture),
            Self::Png => png(picture),
        };
        bytes.map_err(|why| Error::failed(format!("the picture cannot be drawn: {why}")))
    }
}

fn svg(picture: &impl Picture) -> std::result::Result<Vec<u8>, String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        picture.draw(&area, 1.0)?;
        area.present().map_err(|error| error.to_string())?;
    }
    Ok(text.into_bytes())
}

/// Drawn larger and averaged: plotters leaves edges rough.
fn png(picture: &impl Picture) -> std::result::Result<Vec<u8>, String> {
    let (width, height) = (SIZE.0 * SCALE, SIZE.1 * SCALE);
    let fine = (width * FINER, height * FINER);
    let mut pixels = vec![0; fine.0 as usize * fine.1 as usize * 3];
    {
        let area = BitMapBackend::with_buffer(&mut pixels, fine).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        picture.draw(&area, f64::from(SCALE * FINER))?;
        area.present().map_err(|error| error.to_string())?;
    }
    let smooth = averaged(&pixels, width as usize, height as usize, FINER as usize);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&smooth).map_err(|error| error.to_string())?;
    writer.finish().map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The mean of each square of `finer` x `finer` pixels.
#[allow(clippy::cast_possible_truncation)]
fn averaged(pixels: &[u8], width: usize, height: usize, finer: usize) -> Vec<u8> {
    let at = |x: usize, y: usize, c: usize| u32::from(pixels[(y * width * finer + x) * 3 + c]);
    let count = (finer * finer) as u32;
    let mut smooth = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        for x in 0..width {
            for c in 0..3 {
                let square = (0..finer * finer)
                    .map(|i| at(x * finer + i % finer, y * finer + i / finer, c))
                    .sum::<u32>();
                smooth.push(((square + count / 2) / count) as u8);
            }
        }
    }
    smooth
}

#[cfg(test)]
mod tests {
    use super::{FONT_BYTES, averaged};

    #[test]
    fn averages() {
        let mut fine = vec![0; 4 * 2 * 3];
        fine[0] = 255;
        fine[3] = 255;
        fine[12 + 9] = 8;
        assert_eq!(averaged(&fine, 2, 1, 2), [128, 0, 0, 2, 0, 0]);
    }

    #[test]
    fn font_can_be_registered() {
        use plotters::prelude::FontStyle;
        assert!(plotters::style::register_font("test", FontStyle::Normal, FONT_BYTES).is_ok());
    }
}
