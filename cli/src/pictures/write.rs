//! From a picture to bytes.

use super::{Format, Picture, bit_depth, described, tiff};
use crate::error::{Error, Result};
use crate::messages::note;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::openexr::OpenExrEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::pnm::{GraymapHeader, PixmapHeader, PnmEncoder, SampleEncoding};
use image::codecs::tiff::TiffEncoder;
use image::codecs::webp::WebPEncoder;
use image::{ColorType, DynamicImage, ImageEncoder, ImageError};
use std::io::{Cursor, Write};

/// Of JPEG files; the artefacts of lower ones are noise again.
const JPEG_QUALITY: u8 = 95;
/// What is lost, in words.
const EXIF_DATA: &str = "EXIF data";

impl Picture {
    /// A file with these pixels, and with the profile and the EXIF data of this
    /// picture. `name` is the file's, for messages.
    pub(crate) fn encode(
        &self,
        image: &DynamicImage,
        format: Format,
        name: &str,
    ) -> Result<Vec<u8>> {
        let mut bytes = Cursor::new(Vec::new());
        let lost = match format {
            Format::Png => self.write(PngEncoder::new(&mut bytes), image),
            Format::Jpeg => {
                self.write(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY), image)
            }
            Format::Tiff => self.write(TiffEncoder::new(&mut bytes), image),
            Format::Webp => self.write(WebPEncoder::new_lossless(&mut bytes), image),
            Format::Pnm => self.write(pnm(&mut bytes, image), image),
            Format::Exr => self.write(OpenExrEncoder::new(&mut bytes), image),
        };
        let lost = lost.map_err(|error| match error {
            ImageError::Unsupported(_) | ImageError::Parameter(_) => Error::failed(format!(
                "{name}: a {} file cannot hold {} pixels: choose another format, as in -o clean.{}",
                format.name(),
                described(image.color()),
                if bit_depth(image.color()) == 32 { "exr" } else { "png" }
            )),
            other => Error::failed(format!("{name}: cannot be encoded: {other}")),
        })?;
        let mut bytes = bytes.into_inner();
        let mut lost = lost;
        if format == Format::Tiff
            && let Some(exif) = &self.exif
            && tiff::add_metadata(&mut bytes, exif)
        {
            lost.retain(|&what| what != EXIF_DATA);
        }
        for what in lost {
            note(&format!(
                "{name}: the {what} of the input is left out, there is no place for it in \
                 this {} file",
                format.name()
            ));
        }
        Ok(bytes)
    }

    /// Encodes; tells what had to be left out.
    fn write(
        &self,
        mut encoder: impl ImageEncoder,
        image: &DynamicImage,
    ) -> std::result::Result<Vec<&'static str>, ImageError> {
        let mut lost = Vec::new();
        if let Some(profile) = &self.profile
            && (!describes(profile, image) || encoder.set_icc_profile(profile.clone()).is_err())
        {
            lost.push("colour profile");
        }
        if let Some(exif) = &self.exif
            && encoder.set_exif_metadata(exif.clone()).is_err()
        {
            lost.push(EXIF_DATA);
        }
        // Not by the methods of `DynamicImage`: they would change the type of the
        // pixels to one that the format can hold, without a word.
        let (width, height) = (image.width(), image.height());
        encoder.write_image(image.as_bytes(), width, height, image.color().into())?;
        Ok(lost)
    }
}

/// Whether an ICC profile is one for these pixels: that of a CMYK file is not,
/// once it is decoded to RGB.
fn describes(profile: &[u8], image: &DynamicImage) -> bool {
    let space: &[u8] = if image.color().has_color() { b"RGB " } else { b"GRAY" };
    profile.get(16..20) == Some(space)
}

/// PGM and PPM, which everything reads, where the encoder can write them; else
/// PAM.
fn pnm<W: Write>(writer: W, image: &DynamicImage) -> PnmEncoder<W> {
    let (width, height) = (image.width(), image.height());
    let encoding = SampleEncoding::Binary;
    let encoder = PnmEncoder::new(writer);
    match image.color() {
        ColorType::L8 | ColorType::L16 => {
            let maxwhite = (1 << bit_depth(image.color())) - 1;
            encoder.with_header(GraymapHeader { encoding, width, height, maxwhite }.into())
        }
        ColorType::Rgb8 => {
            encoder.with_header(PixmapHeader { encoding, width, height, maxval: 255 }.into())
        }
        _ => encoder,
    }
}
