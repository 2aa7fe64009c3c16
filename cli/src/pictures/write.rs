//! From pictures to bytes.

use super::raster::{Raster, Samples};
use super::{Format, Picture, tiff_pages};
use crate::error::{Error, Result};
use crate::messages::note;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::openexr::OpenExrEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::pnm::{
    ArbitraryHeader, ArbitraryTuplType, GraymapHeader, PixmapHeader, PnmEncoder, SampleEncoding,
};
use image::codecs::webp::WebPEncoder;
use image::{ColorType, DynamicImage, ImageEncoder, ImageError};
use std::collections::BTreeSet;
use std::io::{Cursor, Write};

/// Of JPEG files; the artefacts of lower ones are noise again.
const JPEG_QUALITY: u8 = 95;
/// What is lost, in words.
const PROFILE: &str = "colour profile";
const EXIF_DATA: &str = "EXIF data";

/// Pictures on their way to one file.
pub(crate) struct Writer {
    format: Format,
    /// The file's, for messages.
    name: String,
    content: Content,
    lost: BTreeSet<&'static str>,
}

enum Content {
    Pages(tiff_pages::Writer),
    /// The only picture, once it is there.
    One(Option<Vec<u8>>),
}

impl Writer {
    /// A file that is to have so many pictures.
    pub(crate) fn new(format: Format, name: &str, pages: usize) -> Result<Self> {
        let content = match format {
            Format::Tiff => Content::Pages(
                tiff_pages::Writer::new()
                    .map_err(|text| Error::failed(format!("{name}: cannot be encoded: {text}")))?,
            ),
            _ if pages > 1 => {
                return Err(Error::failed(format!(
                    "{name}: a {} file holds one picture, and there are {pages}: choose TIFF, as \
                     in -o clean.tif",
                    format.name()
                )));
            }
            _ => Content::One(None),
        };
        Ok(Self { format, name: name.to_owned(), content, lost: BTreeSet::new() })
    }

    /// Adds a picture: these pixels, and the profile and the EXIF data of `of`.
    pub(crate) fn add(&mut self, of: &Picture, image: &Raster) -> Result<()> {
        let Self { format, content, lost, .. } = self;
        let added = match content {
            Content::Pages(pages) => {
                let profile = of.profile.as_deref().filter(|profile| describes(profile, image));
                if profile.is_none() && of.profile.is_some() {
                    lost.insert(PROFILE);
                }
                pages.add(image, profile, of.exif.as_deref())
            }
            Content::One(one) => encoded(of, image, *format).map(|(bytes, missing)| {
                lost.extend(missing);
                *one = Some(bytes);
            }),
        };
        added.map_err(|problem| match problem {
            Problem::Unsupported => Error::failed(format!(
                "{}: a {} file cannot hold {} pixels: choose another format, as in -o clean.{}",
                self.name,
                self.format.name(),
                image.described(),
                match image.samples() {
                    Samples::U8(_) | Samples::U16(_) => "png",
                    Samples::F32(_) if image.has_color() => "exr",
                    _ => "tif",
                }
            )),
            Problem::Other(text) => Error::failed(format!("{}: {text}", self.name)),
        })
    }

    /// The bytes of the file; says what it has no place for.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let bytes = match self.content {
            Content::One(one) => one.unwrap_or_default(),
            Content::Pages(pages) => {
                let (bytes, has_all) = pages.finish();
                if !has_all {
                    self.lost.insert(EXIF_DATA);
                }
                bytes
            }
        };
        for what in self.lost {
            note(&format!(
                "{}: the {what} of the input is left out, there is no place for it in \
                 this {} file",
                self.name,
                self.format.name()
            ));
        }
        bytes
    }
}

/// Why a picture cannot be encoded.
pub(super) enum Problem {
    /// The format has no such pixels.
    Unsupported,
    Other(String),
}

impl Picture {
    /// A file with these pixels, and with the profile and the EXIF data of this
    /// picture. `name` is the file's, for messages.
    pub(crate) fn encode(&self, image: &Raster, format: Format, name: &str) -> Result<Vec<u8>> {
        let mut writer = Writer::new(format, name, 1)?;
        writer.add(self, image)?;
        Ok(writer.finish())
    }
}

/// A file of a format for one picture, and what it has no place for.
fn encoded(
    of: &Picture,
    image: &Raster,
    format: Format,
) -> std::result::Result<(Vec<u8>, Vec<&'static str>), Problem> {
    let common = image.common().ok_or(Problem::Unsupported)?;
    let mut bytes = Cursor::new(Vec::new());
    let lost = match format {
        Format::Png => write(of, PngEncoder::new(&mut bytes), &common),
        Format::Jpeg => write(of, JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY), &common),
        Format::Webp => write(of, WebPEncoder::new_lossless(&mut bytes), &common),
        Format::Pnm => write(of, pnm(&mut bytes, image, &common), &common),
        Format::Exr => write(of, OpenExrEncoder::new(&mut bytes), &common),
        // Has a writer of its own.
        Format::Tiff => return Err(Problem::Unsupported),
    };
    let lost = lost.map_err(|error| match error {
        ImageError::Unsupported(_) | ImageError::Parameter(_) => Problem::Unsupported,
        other => Problem::Other(format!("cannot be encoded: {other}")),
    })?;
    Ok((bytes.into_inner(), lost))
}

/// Encodes; tells what had to be left out.
fn write(
    of: &Picture,
    mut encoder: impl ImageEncoder,
    image: &DynamicImage,
) -> std::result::Result<Vec<&'static str>, ImageError> {
    let mut lost = Vec::new();
    let is_color = image.color().has_color();
    if let Some(profile) = &of.profile
        && (!is_of(profile, is_color) || encoder.set_icc_profile(profile.clone()).is_err())
    {
        lost.push(PROFILE);
    }
    if let Some(exif) = &of.exif
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

/// Whether an ICC profile is one for these pixels: that of a CMYK file is not,
/// once it is decoded to RGB.
fn describes(profile: &[u8], image: &Raster) -> bool {
    is_of(profile, image.has_color())
}

fn is_of(profile: &[u8], is_color: bool) -> bool {
    let space: &[u8] = if is_color { b"RGB " } else { b"GRAY" };
    profile.get(16..20) == Some(space)
}

/// PGM and PPM, which everything reads, where the encoder can write them; else
/// PAM.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn pnm<W: Write>(writer: W, raster: &Raster, image: &DynamicImage) -> PnmEncoder<W> {
    let (width, height) = (image.width(), image.height());
    let encoding = SampleEncoding::Binary;
    let encoder = PnmEncoder::new(writer);
    let most = raster.peak() as u32;
    match image.color() {
        ColorType::L8 | ColorType::L16 => {
            encoder.with_header(GraymapHeader { encoding, width, height, maxwhite: most }.into())
        }
        ColorType::Rgb8 => {
            encoder.with_header(PixmapHeader { encoding, width, height, maxval: most }.into())
        }
        color => {
            let depth = u32::from(color.channel_count());
            let tupltype = Some(match (color.has_color(), color.has_alpha()) {
                (false, false) => ArbitraryTuplType::Grayscale,
                (false, true) => ArbitraryTuplType::GrayscaleAlpha,
                (true, false) => ArbitraryTuplType::RGB,
                (true, true) => ArbitraryTuplType::RGBAlpha,
            });
            let header = ArbitraryHeader { width, height, depth, maxval: most, tupltype };
            encoder.with_header(header.into())
        }
    }
}
