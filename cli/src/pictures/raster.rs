//! The pixels of a picture, of every type of samples that is read and written.

use crate::error::{Error, Result};
use image::metadata::Orientation;
use image::{DynamicImage, ImageBuffer};
use kgard::denoise::PlaneBuf;

/// Bits of sensors and converters: data of so many bits are recognised in a file of more.
const DATA_BITS: [u32; 6] = [8, 10, 12, 14, 16, 24];

/// Pixels row by row, their samples side by side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raster {
    width: u32,
    height: u32,
    /// With alpha: 1 to 4.
    channels: u8,
    samples: Samples,
    /// The greatest value of the data, where it is not that of the type.
    white: Option<f32>,
}

/// Samples of one of the types of files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Samples {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// An expression of the vector of samples, whatever its type.
macro_rules! of_any_type {
    ($samples:expr, $all:ident => $body:expr) => {
        match $samples {
            Samples::U8($all) => $body,
            Samples::I8($all) => $body,
            Samples::U16($all) => $body,
            Samples::I16($all) => $body,
            Samples::U32($all) => $body,
            Samples::I32($all) => $body,
            Samples::F32($all) => $body,
            Samples::F64($all) => $body,
        }
    };
}

/// A type of samples.
trait Sample: Copy + Default {
    /// The greatest value; 1 for floats, which may be larger.
    const PEAK: f32;
    fn to_f32(self) -> f32;
    /// Integers are rounded, and clipped to their range.
    fn from_f32(x: f32) -> Self;
}

macro_rules! integers {
    ($($kind:ty),*) => {$(
        // The conversion of a float to an integer clips.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless)]
        impl Sample for $kind {
            const PEAK: f32 = <$kind>::MAX as f32;

            fn to_f32(self) -> f32 {
                self as f32
            }

            fn from_f32(x: f32) -> Self {
                x.round() as Self
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, u32, i32);

impl Sample for f32 {
    const PEAK: f32 = 1.0;

    fn to_f32(self) -> f32 {
        self
    }

    fn from_f32(x: f32) -> Self {
        x
    }
}

impl Sample for f64 {
    const PEAK: f32 = 1.0;

    #[allow(clippy::cast_possible_truncation)]
    fn to_f32(self) -> f32 {
        self as f32
    }

    fn from_f32(x: f32) -> Self {
        x.into()
    }
}

impl Raster {
    /// Nothing if there are not as many samples as that takes.
    pub(crate) fn new(width: u32, height: u32, channels: u8, samples: Samples) -> Option<Self> {
        let expected = (width as usize).checked_mul(height as usize)?;
        let expected = expected.checked_mul(usize::from(channels))?;
        let found = of_any_type!(&samples, all => all.len());
        let is_right = found == expected && (1..=4).contains(&channels);
        is_right.then_some(Self { width, height, channels, samples, white: None })
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    /// Channels with alpha.
    pub(crate) fn channels(&self) -> u8 {
        self.channels
    }

    pub(crate) fn samples(&self) -> &Samples {
        &self.samples
    }

    pub(crate) fn has_color(&self) -> bool {
        self.channels > 2
    }

    fn has_alpha(&self) -> bool {
        self.channels.is_multiple_of(2)
    }

    /// Bits of a sample.
    pub(crate) fn bit_depth(&self) -> u16 {
        match self.samples {
            Samples::U8(_) | Samples::I8(_) => 8,
            Samples::U16(_) | Samples::I16(_) => 16,
            Samples::U32(_) | Samples::I32(_) | Samples::F32(_) => 32,
            Samples::F64(_) => 64,
        }
    }

    pub(crate) fn is_float(&self) -> bool {
        matches!(self.samples, Samples::F32(_) | Samples::F64(_))
    }

    /// Its type in words.
    pub(crate) fn described(&self) -> String {
        let bits = self.bit_depth();
        let bits = match self.samples {
            Samples::F32(_) => "float".to_owned(),
            Samples::F64(_) => "double-precision float".to_owned(),
            Samples::I8(_) | Samples::I16(_) | Samples::I32(_) => format!("signed {bits}-bit"),
            Samples::U8(_) | Samples::U16(_) | Samples::U32(_) => format!("{bits}-bit"),
        };
        let model = if self.has_color() { "RGB" } else { "grey" };
        format!("{bits} {model}{}", if self.has_alpha() { " with alpha" } else { "" })
    }

    /// The names of the colour channels, without alpha.
    pub(crate) fn channel_names(&self) -> &'static [&'static str] {
        if self.has_color() {
            &["red channel", "green channel", "blue channel"]
        } else {
            &["grey channel"]
        }
    }

    /// The greatest value of the samples: the white level, or that of their type; 1 for floats,
    /// which may be larger.
    pub(crate) fn peak(&self) -> f32 {
        fn of<S: Sample>(_: &[S]) -> f32 {
            S::PEAK
        }
        self.white.unwrap_or_else(|| of_any_type!(&self.samples, all => of(all)))
    }

    /// The least value of the type.
    pub(crate) fn floor(&self) -> f32 {
        match self.samples {
            Samples::I8(_) => i8::MIN.into(),
            Samples::I16(_) => i16::MIN.into(),
            #[allow(clippy::cast_precision_loss)]
            Samples::I32(_) => i32::MIN as f32,
            _ => 0.0,
        }
    }

    /// The same with a white level.
    pub(crate) fn with_white(mut self, white: f32) -> Self {
        self.white = Some(white);
        self
    }

    /// Integers from 0 to `white` in place of those to the end of the type, to which a decoder has
    /// stretched them.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn unstretched(mut self, white: u16) -> Self {
        let back = |x: u32, peak: u32| (x * u32::from(white) + peak / 2) / peak;
        match &mut self.samples {
            Samples::U8(all) => all.iter_mut().for_each(|x| *x = back((*x).into(), 255) as u8),
            Samples::U16(all) => all.iter_mut().for_each(|x| *x = back((*x).into(), 65535) as u16),
            _ => return self,
        }
        self.with_white(white.into())
    }

    /// The bits of data that reach exactly to the greatest number of so many bits, which the type
    /// exceeds: such as 12 bits in a file of 16.
    pub(crate) fn fewer_bits(&self) -> Option<u32> {
        let pitch = usize::from(self.channels);
        let colours = self.channel_names().len();
        let greatest = |all: &mut dyn Iterator<Item = u32>| {
            let colour = |(i, _): &(usize, u32)| i % pitch < colours;
            all.enumerate().filter(colour).map(|(_, sample)| sample).max()
        };
        let greatest = match &self.samples {
            Samples::U16(all) => greatest(&mut all.iter().map(|&x| x.into())),
            Samples::U32(all) => greatest(&mut all.iter().copied()),
            _ => None,
        }?;
        let fewer = DATA_BITS.into_iter().filter(|&bits| bits < self.bit_depth().into());
        fewer.into_iter().find(|&bits| greatest == (1 << bits) - 1)
    }

    /// The colour channels, without alpha.
    pub(crate) fn planes(&self) -> std::result::Result<Vec<PlaneBuf<f32>>, kgard::Error> {
        let pitch = usize::from(self.channels);
        let (width, height) = (self.width as usize, self.height as usize);
        let channel = |i: usize| {
            let samples = of_any_type!(&self.samples, all => {
                all.iter().skip(i).step_by(pitch).map(|x| x.to_f32()).collect()
            });
            PlaneBuf::new(samples, width, height)
        };
        (0..self.channel_names().len()).map(channel).collect()
    }

    /// A picture of the same type with these colour channels and this alpha. Integers are rounded,
    /// and clipped to the range of the data; a sample that did not change stays bit for bit.
    pub(crate) fn with_planes(
        &self,
        planes: &[PlaneBuf<f32>],
    ) -> std::result::Result<Self, kgard::Error> {
        let mut result = self.clone();
        let pitch = usize::from(self.channels);
        // White is where a sensor clips; floats have no such end.
        let most = self.white.filter(|_| !self.is_float()).unwrap_or(f32::INFINITY);
        for (i, plane) in planes.iter().enumerate() {
            if plane.width() != self.width as usize || plane.height() != self.height as usize {
                let expected = (self.width as usize, self.height as usize);
                let found = (plane.width(), plane.height());
                return Err(kgard::Error::ImageSize { what: "channel", expected, found });
            }
            of_any_type!(&mut result.samples, all => {
                let places = all.iter_mut().skip(i).step_by(pitch);
                for (place, &x) in places.zip(plane.samples()) {
                    if place.to_f32().to_bits() != x.to_bits() {
                        *place = Sample::from_f32(x.min(most));
                    }
                }
            });
        }
        Ok(result)
    }

    /// Turned and mirrored as the metadata of a file say.
    pub(super) fn oriented(self, orientation: Orientation) -> Self {
        let (width, height) = (self.width as usize, self.height as usize);
        let swaps = matches!(
            orientation,
            Orientation::Rotate90
                | Orientation::Rotate270
                | Orientation::Rotate90FlipH
                | Orientation::Rotate270FlipH
        );
        let (columns, rows) = if swaps { (height, width) } else { (width, height) };
        // From where a pixel comes.
        let from = |x: usize, y: usize| match orientation {
            Orientation::NoTransforms => (x, y),
            Orientation::FlipHorizontal => (width - 1 - x, y),
            Orientation::Rotate180 => (width - 1 - x, height - 1 - y),
            Orientation::FlipVertical => (x, height - 1 - y),
            Orientation::Rotate90FlipH => (y, x),
            Orientation::Rotate90 => (y, height - 1 - x),
            Orientation::Rotate270FlipH => (width - 1 - y, height - 1 - x),
            Orientation::Rotate270 => (width - 1 - y, x),
        };
        if orientation == Orientation::NoTransforms {
            return self;
        }
        let pitch = usize::from(self.channels);
        let mut turned = self.clone();
        (turned.width, turned.height) =
            if swaps { (self.height, self.width) } else { (self.width, self.height) };
        macro_rules! turn {
            ($($kind:ident),*) => {
                match (&self.samples, &mut turned.samples) {
                    $((Samples::$kind(old), Samples::$kind(new)) => {
                        for (i, pixel) in new.chunks_exact_mut(pitch).enumerate() {
                            let (x, y) = from(i % columns, i / columns);
                            let at = pitch * (y * width + x);
                            pixel.copy_from_slice(&old[at..at + pitch]);
                        }
                    })*
                    _ => {}
                }
            };
        }
        turn!(U8, I8, U16, I16, U32, I32, F32, F64);
        debug_assert_eq!(rows * columns, width * height);
        turned
    }

    /// The picture that the `image` crate knows, if it has this type of samples.
    pub(crate) fn common(&self) -> Option<DynamicImage> {
        let (width, height) = (self.width, self.height);
        macro_rules! picture {
            ($all:expr, $kind:ident) => {
                ImageBuffer::from_raw(width, height, $all.clone()).map(DynamicImage::$kind)
            };
        }
        match (&self.samples, self.channels) {
            (Samples::U8(all), 1) => picture!(all, ImageLuma8),
            (Samples::U8(all), 2) => picture!(all, ImageLumaA8),
            (Samples::U8(all), 3) => picture!(all, ImageRgb8),
            (Samples::U8(all), 4) => picture!(all, ImageRgba8),
            (Samples::U16(all), 1) => picture!(all, ImageLuma16),
            (Samples::U16(all), 2) => picture!(all, ImageLumaA16),
            (Samples::U16(all), 3) => picture!(all, ImageRgb16),
            (Samples::U16(all), 4) => picture!(all, ImageRgba16),
            (Samples::F32(all), 3) => picture!(all, ImageRgb32F),
            (Samples::F32(all), 4) => picture!(all, ImageRgba32F),
            _ => None,
        }
    }

    /// The picture in 16 bits, for eyes and for masks: from the least value of the type, or of
    /// floats below zero, to white, or to the greatest of the floats above it.
    pub(crate) fn shown(&self) -> Result<DynamicImage> {
        let (mut low, mut high) = (self.floor(), self.peak());
        if self.is_float() {
            let all = of_any_type!(&self.samples, all => {
                all.iter().map(|x| x.to_f32()).filter(|x| x.is_finite()).collect::<Vec<f32>>()
            });
            low = all.iter().copied().fold(low, f32::min);
            high = all.iter().copied().fold(high, f32::max);
        }
        let level = |x: f32| u16::from_f32((x - low) / (high - low) * u16::PEAK);
        let levels = of_any_type!(&self.samples, all => {
            all.iter().map(|x| level(x.to_f32())).collect::<Vec<u16>>()
        });
        let shown = Self::new(self.width, self.height, self.channels, Samples::U16(levels));
        let shown = shown.and_then(|shown| shown.common());
        shown.ok_or_else(|| Error::failed("the picture is too large to be shown"))
    }
}

impl From<DynamicImage> for Raster {
    fn from(image: DynamicImage) -> Self {
        let (width, height) = (image.width(), image.height());
        let (channels, samples) = match image {
            DynamicImage::ImageLuma8(all) => (1, Samples::U8(all.into_raw())),
            DynamicImage::ImageLumaA8(all) => (2, Samples::U8(all.into_raw())),
            DynamicImage::ImageRgb8(all) => (3, Samples::U8(all.into_raw())),
            DynamicImage::ImageRgba8(all) => (4, Samples::U8(all.into_raw())),
            DynamicImage::ImageLuma16(all) => (1, Samples::U16(all.into_raw())),
            DynamicImage::ImageLumaA16(all) => (2, Samples::U16(all.into_raw())),
            DynamicImage::ImageRgb16(all) => (3, Samples::U16(all.into_raw())),
            DynamicImage::ImageRgba16(all) => (4, Samples::U16(all.into_raw())),
            DynamicImage::ImageRgb32F(all) => (3, Samples::F32(all.into_raw())),
            other => (4, Samples::F32(other.into_rgba32f().into_raw())),
        };
        Self { width, height, channels, samples, white: None }
    }
}
