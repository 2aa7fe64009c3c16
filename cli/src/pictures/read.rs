//! From bytes to a picture.

use super::format::FORMATS;
use super::{Format, Picture, tiff};
use crate::error::{Error, Result};
use crate::input::Source;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use std::io::Cursor;

/// Bytes that the pixels of a picture may take: a small file can claim to be
/// a huge picture.
const LIMIT: u64 = 2 << 30;

impl Picture {
    /// Reads a file, or standard input.
    pub(crate) fn read(source: Source<'_>) -> Result<Self> {
        Self::decode(&source.read()?, &source.to_string())
    }

    /// The picture in the bytes of a file, whose name is for messages.
    pub(crate) fn decode(bytes: &[u8], source: &str) -> Result<Self> {
        let refused = |text: String| Error::failed(format!("{source}: {text}"));
        if bytes.is_empty() {
            return Err(refused("is empty: give a picture".into()));
        }
        let unusable = |error: &dyn std::error::Error| {
            // One line, whatever a decoder says.
            let cause = error.to_string().replace('\n', " ");
            refused(format!("is not a usable picture: {cause}"))
        };
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| unusable(&error))?;
        let Some(format) = reader.format().and_then(Format::known) else {
            return Err(refused(format!("is not a picture that kgard can read: give {FORMATS}")));
        };
        let mut limits = Limits::default();
        limits.max_alloc = Some(LIMIT);
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(|error| unusable(&error))?;
        let (width, height) = decoder.dimensions();
        if decoder.total_bytes() > LIMIT {
            return Err(refused(format!(
                "has {width} x {height} pixels, which take more than {} GiB: cut it into parts",
                LIMIT >> 30
            )));
        }
        let mut profile = decoder.icc_profile().map_err(|error| unusable(&error))?;
        if profile.is_none() && format == Format::Tiff {
            profile = tiff::profile(bytes);
        }
        let mut exif = decoder.exif_metadata().map_err(|error| unusable(&error))?;
        let orientation = decoder.orientation().map_err(|error| unusable(&error))?;
        let mut image = DynamicImage::from_decoder(decoder).map_err(|error| unusable(&error))?;
        if image.width() == 0 || image.height() == 0 {
            return Err(refused("has no pixels: give a picture".into()));
        }
        image.apply_orientation(orientation);
        if let Some(exif) = &mut exif {
            // What it said is done.
            let _ = Orientation::remove_from_exif_chunk(exif);
        }
        Ok(Self { image, format, profile, exif })
    }
}
