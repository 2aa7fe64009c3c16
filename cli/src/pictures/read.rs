//! From bytes to pictures.

use super::besides::left_out;
use super::format::FORMATS;
use super::raster::Raster;
use super::{Format, Picture, tiff, tiff_pages};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::note;
use image::codecs::pnm::PnmDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageReader, Limits};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{Cursor, Seek};

/// Bytes that the pixels of a picture may take: a small file can claim to be
/// a huge picture.
pub(super) const LIMIT: u64 = 2 << 30;

/// What the header of a file tells, before anything is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Without alpha.
    pub(crate) channels: u32,
}

impl Size {
    /// The size of the largest picture in the bytes of a file, whose name is for messages.
    pub(crate) fn of(bytes: &[u8], source: &str) -> Result<Self> {
        Stack::new(bytes.into(), source).map(|stack| stack.size)
    }
}

/// A file with one picture, or several: the pages of a TIFF file.
pub(crate) struct Stack<'a> {
    bytes: Cow<'a, [u8]>,
    source: String,
    pub(crate) format: Format,
    /// Of a TIFF file.
    facts: tiff::Facts,
    pages: usize,
    /// Of the largest page.
    pub(crate) size: Size,
    pub(crate) pixels: u64,
    /// What was said already.
    notes: BTreeSet<String>,
    white: White,
}

/// The greatest value of the data.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum White {
    /// That of the type of the samples, unless the data are clearly of fewer bits.
    #[default]
    Automatic,
    Level(f32),
}

impl<'a> Stack<'a> {
    /// Opens the bytes of a file, whose name is for messages.
    pub(crate) fn new(bytes: Cow<'a, [u8]>, source: &str) -> Result<Self> {
        let refused = |text: String| Error::failed(format!("{source}: {text}"));
        if bytes.is_empty() {
            return Err(refused("is empty: give a picture".into()));
        }
        let format = image::guess_format(&bytes).ok().and_then(Format::known);
        if let Some(raw) = raw(&bytes) {
            return Err(refused(format!(
                "is a raw file of a camera ({raw}): develop it first, with the camera's program, \
                 darktable or RawTherapee, and give the TIFF or PNG that comes out"
            )));
        }
        if bytes.starts_with(b"SIMPLE  =") {
            return Err(refused(
                "is a FITS file, which kgard does not read: convert it to a TIFF of floats, for \
                 example with Siril, or in Python with astropy and tifffile"
                    .into(),
            ));
        }
        let Some(format) = format else {
            return Err(refused(format!("is not a picture that kgard can read: give {FORMATS}")));
        };
        let frames = frames(&bytes);
        if frames > 1 {
            return Err(refused(format!(
                "holds {frames} pictures, and all but the first would be lost: split it into \
                 files of one (ImageMagick: magick FILE page-%03d.png), and give the folder"
            )));
        }
        let facts = tiff::Facts::of(&bytes).unwrap_or_default();
        if let Some(claimed) = facts.claimed.filter(|&claimed| claimed > facts.pages.len()) {
            return Err(refused(format!(
                "says that it holds {claimed} pictures, and has {} pages: save it again as a \
                 TIFF file with a page for each picture",
                facts.pages.len()
            )));
        }
        let pages = facts.pages.len().max(1);
        let none = Size { width: 0, height: 0, channels: 1 };
        let mut stack = Self {
            bytes,
            source: source.to_owned(),
            format,
            facts,
            pages,
            size: none,
            pixels: 0,
            notes: BTreeSet::new(),
            white: White::Automatic,
        };
        for page in 0..pages {
            let size = stack.open(page)?.size();
            let area = |size: Size| u64::from(size.width) * u64::from(size.height);
            stack.pixels += area(size);
            if area(size) * u64::from(size.channels)
                > area(stack.size) * u64::from(stack.size.channels)
            {
                stack.size = size;
            }
        }
        Ok(stack)
    }

    /// With a white level.
    pub(crate) fn with_white(self, white: White) -> Self {
        Self { white, ..self }
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// The name of the file in messages.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// What one of the pictures is called in messages.
    pub(crate) fn name(&self, page: usize) -> String {
        if self.pages == 1 {
            self.source.clone()
        } else {
            format!("{} page {}", self.source, page + 1)
        }
    }

    /// The only picture.
    pub(crate) fn only(mut self) -> Result<Picture> {
        if self.pages > 1 {
            return Err(Error::failed(format!(
                "{}: holds {} pictures, and here it has to be one: split it into files of one \
                 (ImageMagick: magick FILE page-%03d.tif)",
                self.source, self.pages
            )));
        }
        self.page(0)
    }

    /// Opens one of the pictures.
    fn open(&mut self, page: usize) -> Result<Opened<'_>> {
        let name = self.name(page);
        let mut wanted = tiff::Reading::Usual;
        if let Some(facts) = self.facts.pages.get(page) {
            if let Some(what) = &facts.unread {
                return Err(Error::failed(format!(
                    "{name}: holds {what}, which kgard does not read: convert it to 8 or 16 bits, \
                     or to floats"
                )));
            }
            wanted = facts.reading;
            if self.pages > 1 || wanted == tiff::Reading::Palette {
                tiff::show_page(self.bytes.to_mut(), facts);
            }
        }
        Opened::new(&self.bytes, &name, self.format, wanted)
    }

    /// Decodes one of the pictures, each once and the last one last.
    pub(crate) fn page(&mut self, page: usize) -> Result<Picture> {
        let name = self.name(page);
        let mut notes = conversions(&self.bytes, &self.facts);
        let format = self.format;
        let facts = self.facts.pages.get(page).cloned();
        let decoded = self.open(page)?.decode(facts.as_ref(), &name, &mut notes)?;
        let Decoded { raster, orientation, profile, mut exif } = decoded;
        if exif.is_none() && format == Format::Tiff {
            exif = tiff::metadata(&self.bytes);
        }
        if let Some(exif) = &mut exif {
            // What it said is done.
            let _ = Orientation::remove_from_exif_chunk(exif);
        }
        let of_header = self.white_of_header();
        if page + 1 == self.pages {
            // Pages are read one after another: nothing is needed any more.
            self.bytes = Cow::Borrowed(&[]);
        }
        let mut raster = raster.oriented(orientation);
        if let Some(white) = of_header {
            raster = raster.unstretched(white);
        }
        match self.white {
            White::Level(white) => raster = raster.with_white(white),
            White::Automatic => {
                if let Some(bits) = raster.fewer_bits().filter(|_| of_header.is_none()) {
                    let white = (1_u32 << bits) - 1;
                    notes.push(format!(
                        "the samples reach to {white}: taken for data of {bits} bits in a file of \
                         {}; if they are not, give --white-level",
                        raster.bit_depth()
                    ));
                    #[allow(clippy::cast_precision_loss)]
                    let white = white as f32;
                    raster = raster.with_white(white);
                }
            }
        }
        for text in notes {
            if self.notes.insert(text.clone()) {
                note(&format!("{}: {text}", self.source));
            }
        }
        Ok(Picture { image: raster, format, profile, exif })
    }

    /// The greatest sample by the header of a PNM file, where that is not that of the type; the
    /// decoder stretches samples to that of the type.
    fn white_of_header(&self) -> Option<u16> {
        if self.format != Format::Pnm {
            return None;
        }
        let decoder = PnmDecoder::new(Cursor::new(&self.bytes[..])).ok()?;
        let (_, header) = decoder.into_inner();
        let most = u16::try_from(header.maximal_sample()).ok()?;
        (most > 1 && most != 255 && most != 65535).then_some(most)
    }
}

/// A picture whose header was read.
enum Opened<'a> {
    /// What the `image` crate reads.
    Usual(Box<dyn ImageDecoder + 'a>),
    /// What it does not.
    Rare(Box<tiff_pages::Rare<'a>>),
}

impl<'a> Opened<'a> {
    fn new(bytes: &'a [u8], name: &str, format: Format, wanted: tiff::Reading) -> Result<Self> {
        let opened = if wanted == tiff::Reading::Usual {
            let mut reader = ImageReader::new(Cursor::new(bytes));
            reader.set_format(format.codec());
            let mut limits = Limits::default();
            limits.max_alloc = Some(LIMIT);
            reader.limits(limits);
            let decoder = reader.into_decoder().map_err(|error| unusable(name, &error))?;
            Self::Usual(Box::new(decoder))
        } else {
            Self::Rare(Box::new(tiff_pages::Rare::new(bytes).map_err(|text| broken(name, &text))?))
        };
        let Size { width, height, .. } = opened.size();
        let total = match &opened {
            Self::Usual(decoder) => decoder.total_bytes(),
            Self::Rare(decoder) => decoder.total_bytes(),
        };
        let refused = |text: String| Error::failed(format!("{name}: {text}"));
        if total > LIMIT {
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
        match self {
            Self::Usual(decoder) => {
                let (width, height) = decoder.dimensions();
                let channels = if decoder.color_type().has_color() { 3 } else { 1 };
                Size { width, height, channels }
            }
            Self::Rare(decoder) => decoder.size(),
        }
    }

    /// Its pixels; adds to the notes what becomes something else.
    fn decode(
        self,
        facts: Option<&tiff::Page>,
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<Decoded> {
        let unusable = |error: ImageError| unusable(name, &error);
        let profile = facts.and_then(|facts| facts.profile.clone());
        match self {
            Self::Usual(mut decoder) => {
                match decoder.original_color_type() {
                    ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16 => {
                        notes.push("CMYK is converted to RGB, without its colour profile".into());
                    }
                    ExtendedColorType::L1 | ExtendedColorType::L2 | ExtendedColorType::L4 => {
                        notes.push("samples of less than 8 bits become 8 bits".into());
                    }
                    _ => {}
                }
                Ok(Decoded {
                    profile: decoder.icc_profile().map_err(unusable)?.or(profile),
                    exif: decoder.exif_metadata().map_err(unusable)?,
                    orientation: decoder.orientation().map_err(unusable)?,
                    raster: DynamicImage::from_decoder(decoder).map_err(unusable)?.into(),
                })
            }
            Self::Rare(decoder) => {
                let colours = facts.and_then(|facts| facts.colours.as_deref());
                if colours.is_some() {
                    notes.push(PALETTE.into());
                }
                let orientation = facts.and_then(|facts| Orientation::from_exif(facts.orientation));
                Ok(Decoded {
                    raster: decoder.read(colours).map_err(|text| broken(name, &text))?,
                    orientation: orientation.unwrap_or(Orientation::NoTransforms),
                    profile,
                    exif: None,
                })
            }
        }
    }
}

/// What a decoder gives.
struct Decoded {
    raster: Raster,
    orientation: Orientation,
    profile: Option<Vec<u8>>,
    exif: Option<Vec<u8>>,
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

/// Pictures of a PNG, WebP or PNM file, whose decoders give the first: frames of an animation, or
/// one after another.
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
        [b'P', b'5' | b'6' | b'7', ..] => pnm_pictures(bytes).unwrap_or(1),
        _ => 1,
    }
}

/// Pictures one after another in a binary PNM file.
fn pnm_pictures(mut bytes: &[u8]) -> Option<usize> {
    let mut pictures = 0;
    while matches!(bytes, [b'P', b'5' | b'6' | b'7', ..]) {
        let decoder = PnmDecoder::new(Cursor::new(bytes)).ok()?;
        let length = usize::try_from(decoder.total_bytes()).ok()?;
        let (mut rest, _) = decoder.into_inner();
        let start = usize::try_from(rest.stream_position().ok()?).ok()?;
        pictures += 1;
        bytes = bytes.get(start.checked_add(length)?..)?;
    }
    Some(pictures)
}

const PALETTE: &str = "palette colours become RGB";

/// What the decoder turns into something else.
fn conversions(bytes: &[u8], facts: &tiff::Facts) -> Vec<String> {
    let mut texts = Vec::new();
    // The colour type in the header of a PNG file.
    if bytes.starts_with(b"\x89PNG") && bytes.get(25) == Some(&3) {
        texts.push(PALETTE.into());
    }
    texts.extend(left_out(bytes));
    if facts.besides > 0 {
        texts.push(format!("reduced copies and masks ({}) are left out", facts.besides));
    }
    texts
}

fn unusable(source: &str, error: &dyn std::error::Error) -> Error {
    broken(source, &error.to_string())
}

fn broken(source: &str, cause: &str) -> Error {
    // One line, whatever a decoder says.
    let mut cause = cause.replace('\n', " ");
    if cause.contains("non-deep rgb channels") {
        cause = "it has no channels R, G and B: save it as an RGB picture".into();
    }
    Error::failed(format!("{source}: is not a usable picture: {cause}"))
}

impl Picture {
    /// Reads a file of one picture, or standard input.
    pub(crate) fn read(source: Source<'_>) -> Result<Self> {
        Self::decode(&source.read()?, &source.to_string())
    }

    /// The picture in the bytes of a file, whose name is for messages.
    pub(crate) fn decode(bytes: &[u8], source: &str) -> Result<Self> {
        Stack::new(bytes.into(), source)?.only()
    }
}
