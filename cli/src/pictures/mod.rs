//! Picture files: pixels, and what else is in a file that must not get lost.
//!
//! A picture is turned upright when it is read, so that its orientation need
//! not be carried along; its colour profile and its EXIF data are.

mod format;
mod read;
mod tiff;
mod write;

pub(crate) use format::Format;
pub(crate) use read::Size;

use crate::error::{Error, Result};
use crate::output::is_stdout;
use image::{ColorType, DynamicImage};
use kgard::denoise::PlaneBuf;
use kgard::interop::image::channel_names;
use std::path::Path;

/// A picture with what else was in its file.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) image: DynamicImage,
    pub(crate) format: Format,
    /// The ICC profile.
    profile: Option<Vec<u8>>,
    /// EXIF data that say that the picture is upright.
    exif: Option<Vec<u8>>,
}

impl Picture {
    /// A picture that is made here, with nothing else in its file.
    pub(crate) fn plain(image: DynamicImage, format: Format) -> Self {
        Self { image, format, profile: None, exif: None }
    }
}

/// Bits of a sample.
pub(crate) fn bit_depth(color: ColorType) -> u16 {
    8 * u16::from(color.bytes_per_pixel() / color.channel_count())
}

/// A colour type in words.
pub(crate) fn described(color: ColorType) -> String {
    let depth = bit_depth(color);
    let bits = if depth == 32 { "float".to_owned() } else { format!("{depth}-bit") };
    let model = if color.has_color() { "RGB" } else { "grey" };
    format!("{bits} {model}{}", if color.has_alpha() { " with alpha" } else { "" })
}

/// Refuses two pictures that cannot be compared pixel by pixel.
pub(crate) fn check_same_kind(
    what: &str,
    picture: &DynamicImage,
    reference: &DynamicImage,
) -> Result<()> {
    let kind = |picture: &DynamicImage| {
        format!("{} x {} pixels, {}", picture.width(), picture.height(), described(picture.color()))
    };
    let (found, expected) = (kind(picture), kind(reference));
    if found == expected {
        return Ok(());
    }
    Err(Error::failed(format!(
        "{what}: has {found}, and the reference has {expected}: give two of one size and kind"
    )))
}

/// Whether both are the same file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// Refuses to write over a file that is read, unless that is allowed.
pub(crate) fn check_overwrite(input: &Path, output: &Path, allowed: bool) -> Result<()> {
    if !allowed && same_file(input, output) {
        return Err(Error::failed(format!(
            "{}: is read and would be written over: choose another name, or add --overwrite",
            output.display()
        )));
    }
    Ok(())
}

/// What the library refuses about a picture, with the place of the pixel.
pub(crate) fn refused(name: &str, image: &DynamicImage, error: kgard::Error) -> Error {
    match error {
        kgard::Error::NotFinite { what, index, value } => {
            let width = image.width() as usize;
            Error::failed(format!(
                "{name}: the {what} is {value} at column {}, row {} (from 0): repair the pixel first",
                index % width,
                index / width
            ))
        }
        other => Error::failed(format!("{name}: {other}")),
    }
}

/// Refuses samples that are no numbers, by the place of the first.
pub(crate) fn check_finite(
    name: &str,
    image: &DynamicImage,
    channels: &[PlaneBuf<f32>],
) -> Result<()> {
    for (channel, what) in channels.iter().zip(channel_names(image)) {
        if let Some(index) = channel.samples().iter().position(|x| !x.is_finite()) {
            let value = f64::from(channel.samples()[index]);
            return Err(refused(name, image, kgard::Error::NotFinite { what, index, value }));
        }
    }
    Ok(())
}

/// An output's name in messages.
pub(crate) fn destination(path: &Path) -> String {
    if is_stdout(path) { "standard output".into() } else { path.display().to_string() }
}
