//! Picture files: pixels, and what else is in a file that must not get lost.
//!
//! A picture is turned upright when it is read, so that its orientation need
//! not be carried along; its colour profile and its EXIF data are.

mod besides;
mod format;
mod raster;
mod read;
mod tiff;
mod tiff_pages;
mod write;

pub(crate) use format::Format;
pub(crate) use raster::Raster;
pub(crate) use read::{Size, Stack, White};
pub(crate) use write::Writer;

use crate::error::{Error, Result};
use crate::output::is_stdout;
use kgard::denoise::PlaneBuf;
use std::path::Path;

/// A picture with what else was in its file.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) image: Raster,
    pub(crate) format: Format,
    /// The ICC profile.
    profile: Option<Vec<u8>>,
    /// EXIF data that say that the picture is upright.
    exif: Option<Vec<u8>>,
}

impl Picture {
    /// A picture that is made here, with nothing else in its file.
    pub(crate) fn plain(image: impl Into<Raster>, format: Format) -> Self {
        Self { image: image.into(), format, profile: None, exif: None }
    }
}

/// Refuses two pictures that cannot be compared pixel by pixel.
pub(crate) fn check_same_kind(what: &str, picture: &Raster, reference: &Raster) -> Result<()> {
    let kind = |picture: &Raster| {
        format!("{} x {} pixels, {}", picture.width(), picture.height(), picture.described())
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
pub(crate) fn refused(name: &str, image: &Raster, error: kgard::Error) -> Error {
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
pub(crate) fn check_finite(name: &str, image: &Raster, channels: &[PlaneBuf<f32>]) -> Result<()> {
    for (channel, what) in channels.iter().zip(image.channel_names()) {
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
