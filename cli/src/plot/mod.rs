//! Pictures: SVG, or PNG with a font of our own, so that they look the same
//! on a machine without fonts.

mod axis;
mod fit;
mod frame;
mod model;
mod raster;

pub(crate) use axis::Axis;
pub(crate) use fit::{Band, FitPlot};
pub(crate) use frame::{Frame, Mark, round_number};
pub(crate) use raster::rasterise;

use crate::error::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::{
    DrawingArea, DrawingBackend, FontStyle, IntoDrawingArea, SVGBackend, WHITE,
};
use plotters::style::register_font;
use std::path::Path;
use std::sync::Once;

/// The name under which plotters and SVG viewers look for the font.
pub(crate) const FONT: &str = "sans-serif";
static FONT_BYTES: &[u8] = include_bytes!("../../font/DejaVuSans.ttf");

/// Width and height of a picture.
const SIZE: (u32, u32) = (960, 600);
/// plotters rounds to whole numbers: each of ours is so many of its.
const FINER: u32 = 4;
/// Pixels of a PNG for each of ours.
const PIXELS: u32 = 2;

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
    let (width, height) = SIZE;
    let fine = (width * FINER, height * FINER);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, fine).into_drawing_area();
        area.fill(&WHITE).map_err(|error| error.to_string())?;
        picture.draw(&area, f64::from(FINER))?;
        area.present().map_err(|error| error.to_string())?;
    }
    let size = |(width, height)| format!("width=\"{width}\" height=\"{height}\"");
    Ok(text.replacen(&size(fine), &size(SIZE), 1).into_bytes())
}

fn png(picture: &impl Picture) -> std::result::Result<Vec<u8>, String> {
    let pixels = rasterise(&svg(picture)?, SIZE, PIXELS)?;
    pixels.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::FONT_BYTES;

    #[test]
    fn font_can_be_registered() {
        use plotters::prelude::FontStyle;
        assert!(plotters::style::register_font("test", FontStyle::Normal, FONT_BYTES).is_ok());
    }
}
