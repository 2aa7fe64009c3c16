//! Samples that the `image` crate does not read, and pages that it does not write: floats of
//! one channel, signed integers, integers of 32 bits.

use super::raster::{Raster, Samples};
use super::read::{LIMIT, Size};
use super::tiff::add_metadata;
use super::write::Problem;
use std::cell::RefCell;
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::rc::Rc;
use tiff::TiffError;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::encoder::{TiffEncoder, colortype};
use tiff::tags::Tag;

/// A page whose header was read.
pub(super) struct Rare<'a> {
    decoder: Decoder<Cursor<&'a [u8]>>,
    width: u32,
    height: u32,
    channels: u8,
    bits: u8,
}

impl<'a> Rare<'a> {
    /// The first page of a file.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, String> {
        let text = |error: TiffError| error.to_string();
        let mut limits = Limits::default();
        limits.decoding_buffer_size = usize::try_from(LIMIT).unwrap_or(usize::MAX);
        let decoder = Decoder::new(Cursor::new(bytes)).map_err(text)?;
        let mut decoder = decoder.with_limits(limits);
        let (width, height) = decoder.dimensions().map_err(text)?;
        let (channels, bits) = match decoder.colortype().map_err(text)? {
            tiff::ColorType::Gray(bits) => (1, bits),
            tiff::ColorType::GrayA(bits)
            | tiff::ColorType::Multiband { bit_depth: bits, num_samples: 2 } => (2, bits),
            tiff::ColorType::RGB(bits) => (3, bits),
            tiff::ColorType::RGBA(bits) => (4, bits),
            other => return Err(format!("its pixels are {other:?}")),
        };
        Ok(Self { decoder, width, height, channels, bits })
    }

    pub(super) fn size(&self) -> Size {
        let channels = if self.channels > 2 { 3 } else { 1 };
        Size { width: self.width, height: self.height, channels }
    }

    pub(super) fn total_bytes(&self) -> u64 {
        let bytes = u64::from(self.channels) * u64::from(self.bits).div_ceil(8);
        u64::from(self.width).saturating_mul(self.height.into()).saturating_mul(bytes)
    }

    /// Its pixels; numbers of `colours` become these.
    pub(super) fn read(mut self, colours: Option<&[u16]>) -> Result<Raster, String> {
        let mut result = DecodingResult::U8(Vec::new());
        let layout =
            self.decoder.read_image_to_buffer(&mut result).map_err(|error| error.to_string())?;
        if layout.planes > 1 {
            return Err("its channels are stored one after another: save it with the channels of \
                        a pixel side by side (planar configuration 1)"
                .into());
        }
        let mut channels = self.channels;
        let samples = match (result, colours) {
            (DecodingResult::U8(all), Some(colours)) => {
                channels = 3;
                let count = colours.len() / 3;
                let colour = |&number: &u8| {
                    let number = usize::from(number).min(count.saturating_sub(1));
                    // Of 16 bits, which are those of 8 twice, or shifted.
                    [0, 1, 2].map(|c| {
                        colours.get(c * count + number).map_or(0, |&level| level.to_be_bytes()[0])
                    })
                };
                Samples::U8(all.iter().flat_map(colour).collect())
            }
            (DecodingResult::U8(all), None) => Samples::U8(all),
            (DecodingResult::I8(all), None) => Samples::I8(all),
            (DecodingResult::U16(all), None) => Samples::U16(all),
            (DecodingResult::I16(all), None) => Samples::I16(all),
            (DecodingResult::U32(all), None) => Samples::U32(all),
            (DecodingResult::I32(all), None) => Samples::I32(all),
            (DecodingResult::F32(all), None) => Samples::F32(all),
            (DecodingResult::F64(all), None) => Samples::F64(all),
            _ => return Err("its samples are of an unusual type".into()),
        };
        let raster = Raster::new(self.width, self.height, channels, samples);
        raster.ok_or_else(|| "it has fewer samples than pixels".into())
    }
}

/// Pages on their way to a file.
pub(super) struct Writer {
    file: File,
    encoder: TiffEncoder<File>,
    exif: Vec<Option<Vec<u8>>>,
}

/// Bytes that an encoder, which does not give back its writer, leaves readable.
#[derive(Clone, Default)]
struct File(Rc<RefCell<Cursor<Vec<u8>>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.borrow_mut().seek(to)
    }
}

impl Writer {
    pub(super) fn new() -> Result<Self, String> {
        let file = File::default();
        let encoder = TiffEncoder::new(file.clone()).map_err(|error| error.to_string())?;
        Ok(Self { file, encoder, exif: Vec::new() })
    }

    /// Adds a page.
    pub(super) fn add(
        &mut self,
        image: &Raster,
        profile: Option<&[u8]>,
        exif: Option<&[u8]>,
    ) -> Result<(), Problem> {
        let other = |error: TiffError| Problem::Other(format!("cannot be encoded: {error}"));
        macro_rules! page {
            ($kind:ident, $all:expr) => {{
                let page =
                    self.encoder.new_image::<colortype::$kind>(image.width(), image.height());
                let mut page = page.map_err(other)?;
                if let Some(profile) = profile {
                    page.encoder().write_tag(Tag::IccProfile, profile).map_err(other)?;
                }
                page.write_data($all).map_err(other)?;
            }};
        }
        match (image.samples(), image.channels()) {
            (Samples::U8(all), 1) => page!(Gray8, all),
            (Samples::U8(all), 3) => page!(RGB8, all),
            (Samples::U8(all), 4) => page!(RGBA8, all),
            (Samples::I8(all), 1) => page!(GrayI8, all),
            (Samples::U16(all), 1) => page!(Gray16, all),
            (Samples::U16(all), 3) => page!(RGB16, all),
            (Samples::U16(all), 4) => page!(RGBA16, all),
            (Samples::I16(all), 1) => page!(GrayI16, all),
            (Samples::U32(all), 1) => page!(Gray32, all),
            (Samples::U32(all), 3) => page!(RGB32, all),
            (Samples::U32(all), 4) => page!(RGBA32, all),
            (Samples::I32(all), 1) => page!(GrayI32, all),
            (Samples::F32(all), 1) => page!(Gray32Float, all),
            (Samples::F32(all), 3) => page!(RGB32Float, all),
            (Samples::F32(all), 4) => page!(RGBA32Float, all),
            (Samples::F64(all), 1) => page!(Gray64Float, all),
            (Samples::F64(all), 3) => page!(RGB64Float, all),
            (Samples::F64(all), 4) => page!(RGBA64Float, all),
            _ => return Err(Problem::Unsupported),
        }
        self.exif.push(exif.map(<[u8]>::to_vec));
        Ok(())
    }

    /// The file, and whether all EXIF data have a place in it.
    pub(super) fn finish(self) -> (Vec<u8>, bool) {
        let Self { file, encoder, exif } = self;
        drop(encoder);
        let mut bytes = file.0.take().into_inner();
        let has_none = exif.iter().all(Option::is_none);
        let has_all = has_none || add_metadata(&mut bytes, &exif);
        (bytes, has_all)
    }
}
