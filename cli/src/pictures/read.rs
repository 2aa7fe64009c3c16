//! From bytes to a picture.

use super::format::FORMATS;
use super::{Format, Picture, tiff};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::memory::{available, check_picture};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};
use std::io::Cursor;

/// Bytes that the pixels of a picture may take: a small file can claim to be
/// a huge picture.
const LIMIT: u64 = 2 << 30;

/// What the header of a file tells, before anything is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Bytes of the decoded samples.
    pub(crate) bytes: u64,
    /// Without alpha.
    pub(crate) channels: u32,
}

impl Size {
    /// The size of the picture in the bytes of a file, whose name is for messages.
    pub(crate) fn of(bytes: &[u8], source: &str) -> Result<Self> {
        Opened::new(bytes, source).map(|opened| opened.size())
    }
}

/// A file whose header was read.
struct Opened<'a> {
    format: Format,
    decoder: Box<dyn ImageDecoder + 'a>,
}

impl<'a> Opened<'a> {
    fn new(bytes: &'a [u8], source: &str) -> Result<Self> {
        let refused = |text: String| Error::failed(format!("{source}: {text}"));
        if bytes.is_empty() {
            return Err(refused("is empty: give a picture".into()));
        }
        let mut reader = ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| unusable(source, &error))?;
        let Some(format) = reader.format().and_then(Format::known) else {
            return Err(refused(format!("is not a picture that kgard can read: give {FORMATS}")));
        };
        let mut limits = Limits::default();
        limits.max_alloc = Some(LIMIT);
        reader.limits(limits);
        let decoder = Box::new(reader.into_decoder().map_err(|error| unusable(source, &error))?);
        let opened = Self { format, decoder };
        let Size { width, height, bytes, .. } = opened.size();
        if bytes > LIMIT {
            return Err(refused(format!(
                "has {width} x {height} pixels, which take more than {} GiB: cut it into parts",
                LIMIT >> 30
            )));
        }
        if width == 0 || height == 0 {
            return Err(refused("has no pixels: give a picture".into()));
        }
        Ok(opened)
    }

    fn size(&self) -> Size {
        let (width, height) = self.decoder.dimensions();
        let channels = if self.decoder.color_type().has_color() { 3 } else { 1 };
        Size { width, height, bytes: self.decoder.total_bytes(), channels }
    }
}

fn unusable(source: &str, error: &dyn std::error::Error) -> Error {
    // One line, whatever a decoder says.
    let cause = error.to_string().replace('\n', " ");
    Error::failed(format!("{source}: is not a usable picture: {cause}"))
}

impl Picture {
    /// Reads a file, or standard input.
    pub(crate) fn read(source: Source<'_>) -> Result<Self> {
        Self::decode(&source.read()?, &source.to_string())
    }

    /// The picture in the bytes of a file, whose name is for messages.
    pub(crate) fn decode(bytes: &[u8], source: &str) -> Result<Self> {
        let opened = Opened::new(bytes, source)?;
        check_picture(source, opened.size(), available())?;
        let Opened { format, mut decoder, .. } = opened;
        let unusable = |error: ImageError| unusable(source, &error);
        let mut profile = decoder.icc_profile().map_err(unusable)?;
        if profile.is_none() && format == Format::Tiff {
            profile = tiff::profile(bytes);
        }
        let mut exif = decoder.exif_metadata().map_err(unusable)?;
        let orientation = decoder.orientation().map_err(unusable)?;
        let mut image = DynamicImage::from_decoder(decoder).map_err(unusable)?;
        image.apply_orientation(orientation);
        if let Some(exif) = &mut exif {
            // What it said is done.
            let _ = Orientation::remove_from_exif_chunk(exif);
        }
        Ok(Self { image, format, profile, exif })
    }
}
