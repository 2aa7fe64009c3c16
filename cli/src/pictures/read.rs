//! From bytes to a picture.

use super::format::FORMATS;
use super::{Format, Picture, tiff};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::note;
use image::metadata::Orientation;
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageReader, Limits};
use std::io::Cursor;

/// Bytes that the pixels of a picture may take: a small file can claim to be
/// a huge picture.
const LIMIT: u64 = 2 << 30;

/// What the header of a file tells, before anything is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
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
    /// Of a TIFF file.
    facts: tiff::Facts,
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
        if let Some(raw) = raw(bytes) {
            return Err(refused(format!(
                "is a raw file of a camera ({raw}): develop it first, with the camera's program, \
                 darktable or RawTherapee, and give the TIFF or PNG that comes out"
            )));
        }
        let Some(format) = reader.format().and_then(Format::known) else {
            return Err(refused(format!("is not a picture that kgard can read: give {FORMATS}")));
        };
        let facts = tiff::Facts::of(bytes).unwrap_or_default();
        if let Some(what) = &facts.unread {
            return Err(refused(format!(
                "holds {what}, which kgard does not read: convert it to 8 or 16 bits, or to RGB \
                 floats"
            )));
        }
        let pages = facts.pages.max(frames(bytes));
        if pages > 1 {
            return Err(refused(format!(
                "holds {pages} pictures, and all but the first would be lost: split it into files \
                 of one (ImageMagick: magick FILE page-%03d.tif), and give the folder"
            )));
        }
        let mut limits = Limits::default();
        limits.max_alloc = Some(LIMIT);
        reader.limits(limits);
        let decoder = Box::new(reader.into_decoder().map_err(|error| unusable(source, &error))?);
        let opened = Self { format, decoder, facts };
        let Size { width, height, .. } = opened.size();
        if opened.decoder.total_bytes() > LIMIT {
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
        Size { width, height, channels }
    }
}

/// The kind of raw data of a camera, if it is that.
fn raw(bytes: &[u8]) -> Option<&'static str> {
    const HEADS: [(usize, &[u8], &str); 7] = [
        (0, b"FUJIFILMCCD-RAW", "RAF"),
        (0, b"IIRO", "ORF"),
        (0, b"IIRS", "ORF"),
        (0, b"MMOR", "ORF"),
        (0, b"IIU\0", "RW2"),
        (0, b"FOVb", "X3F"),
        (4, b"ftypcrx ", "CR3"),
    ];
    let head = HEADS
        .iter()
        .find(|(at, head, _)| bytes.get(*at..).is_some_and(|bytes| bytes.starts_with(head)));
    let of_tiff = || tiff::Facts::of(bytes)?.raw.then_some("DNG, CR2, NEF, ARW or similar");
    head.map(|head| head.2).or_else(of_tiff)
}

/// Frames of an animation, if it is one: of a PNG or WebP file, whose decoders give the
/// first.
fn frames(bytes: &[u8]) -> usize {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => {
            let mut at = 8;
            // The number of frames stands before the pixels, if anywhere.
            while let Some([a, b, c, d, kind @ ..]) = bytes.get(at..at + 12) {
                if kind.starts_with(b"acTL") {
                    let frames = [kind[4], kind[5], kind[6], kind[7]];
                    return u32::from_be_bytes(frames) as usize;
                }
                if kind.starts_with(b"IDAT") {
                    break;
                }
                at = at.saturating_add(12 + u32::from_be_bytes([*a, *b, *c, *d]) as usize);
                if at > bytes.len() {
                    break;
                }
            }
            1
        }
        [b'R', b'I', b'F', b'F', ..] if bytes.get(12..16) == Some(b"VP8X") => {
            let animated = bytes.get(20).is_some_and(|flags| flags & 2 != 0);
            if animated { bytes.windows(4).filter(|four| four == b"ANMF").count() } else { 1 }
        }
        _ => 1,
    }
}

/// What the decoder turns into something else.
fn conversions(bytes: &[u8], original: ExtendedColorType, facts: &tiff::Facts) -> Vec<String> {
    let mut texts = Vec::new();
    // The colour type in the header of a PNG file.
    if bytes.starts_with(b"\x89PNG") && bytes.get(25) == Some(&3) {
        texts.push("palette colours become RGB".into());
    }
    match original {
        ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16 => {
            texts.push("CMYK is converted to RGB, without its colour profile".into());
        }
        ExtendedColorType::L1 | ExtendedColorType::L2 | ExtendedColorType::L4 => {
            texts.push("samples of less than 8 bits become 8 bits".into());
        }
        _ => {}
    }
    if facts.besides > 0 {
        texts.push(format!("reduced copies and masks ({}) are left out", facts.besides));
    }
    texts
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
        let Opened { format, mut decoder, facts } = opened;
        for text in conversions(bytes, decoder.original_color_type(), &facts) {
            note(&format!("{source}: {text}"));
        }
        let unusable = |error: ImageError| unusable(source, &error);
        let mut profile = decoder.icc_profile().map_err(unusable)?;
        profile = profile.or(facts.profile);
        let mut exif = decoder.exif_metadata().map_err(unusable)?;
        if exif.is_none() && format == Format::Tiff {
            exif = tiff::metadata(bytes);
        }
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
