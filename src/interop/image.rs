//! Pictures of the `image` crate.
//!
//! ```
//! # let picture = image::DynamicImage::new_rgb8(20, 16);
//! use kgard::interop::image::denoise;
//!
//! // let picture = image::open("noisy.png")?;
//! let denoised = denoise(&picture)?;
//! // denoised.image.save("clean.png")?;
//! assert_eq!(denoised.image.color(), picture.color());
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! Grey or colour, with or without alpha, 8 or 16 bits or floats: what comes
//! out is of the type that went in. Each colour channel is denoised by itself,
//! alpha is left alone. Values are never rescaled: integers are rounded and
//! clipped to their range, floats are not.

use crate::Error;
use crate::denoise::{DenoisePlan, Denoiser, Masks, PlaneBuf, Report};
use ::image::DynamicImage;
use alloc::vec::Vec;

/// A denoised picture.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DenoisedImage {
    /// The picture, of the type of the noisy one.
    pub image: DynamicImage,
    /// For each colour channel, what was added to each pixel that is an
    /// outlier; zero elsewhere.
    pub outliers: Vec<PlaneBuf<f32>>,
    /// For each colour channel, what was done.
    pub reports: Vec<Report<f32>>,
}

/// Denoises a picture, everything automatic.
///
/// # Errors
/// [`Error::NotFinite`] if a sample is not finite, with the name of its channel
/// and the index of its pixel; [`Error::Empty`] if there are no pixels.
pub fn denoise(picture: &DynamicImage) -> Result<DenoisedImage, Error> {
    denoise_with(picture, &Denoiser::new(peak(picture)).plan()?, Masks::default())
}

/// Denoises a picture by a plan, which should be one for its [`peak`]. The
/// masks are those of all channels.
///
/// ```
/// use kgard::denoise::{Denoiser, Masks};
/// use kgard::interop::image::{denoise_with, peak};
///
/// let picture = image::DynamicImage::new_luma16(20, 16);
/// let plan = Denoiser::new(peak(&picture)).regions(8, 4).plan()?;
/// let denoised = denoise_with(&picture, &plan, Masks::default())?;
/// assert_eq!(denoised.image, picture);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// # Errors
/// As [`denoise`], and [`Error::Length`] if a mask has another size.
pub fn denoise_with(
    picture: &DynamicImage,
    plan: &DenoisePlan<f32>,
    masks: Masks<'_>,
) -> Result<DenoisedImage, Error> {
    let mut channels = planes(picture)?;
    let names = channel_names(picture);
    let (mut outliers, mut reports) = (Vec::new(), Vec::new());
    for (channel, &name) in channels.iter_mut().zip(names) {
        let denoised = plan.denoise(channel.as_plane(), masks).map_err(|error| match error {
            Error::NotFinite { index, value, .. } => Error::NotFinite { what: name, index, value },
            other => other,
        })?;
        *channel = denoised.image;
        outliers.push(denoised.outliers);
        reports.push(denoised.report);
    }
    Ok(DenoisedImage { image: with_planes(picture, &channels)?, outliers, reports })
}

/// The largest value of a picture's samples by their type: 255, 65535, or 1 for
/// floats, which may be larger.
#[must_use]
pub fn peak(picture: &DynamicImage) -> f32 {
    let color = picture.color();
    match color.bytes_per_pixel() / color.channel_count() {
        1 => 255.0,
        2 => 65535.0,
        _ => 1.0,
    }
}

/// The names of the colour channels, without alpha.
#[must_use]
pub fn channel_names(picture: &DynamicImage) -> &'static [&'static str] {
    if picture.color().has_color() {
        &["red channel", "green channel", "blue channel"]
    } else {
        &["grey channel"]
    }
}

/// The colour channels as they are, without alpha.
///
/// # Errors
/// [`Error::Empty`] if there are no pixels, [`Error::Unsupported`] if the
/// samples are of a type that is not known here.
pub fn planes(picture: &DynamicImage) -> Result<Vec<PlaneBuf<f32>>, Error> {
    if let Some(flat) = picture.as_flat_samples_u8() {
        split(picture, flat.samples)
    } else if let Some(flat) = picture.as_flat_samples_u16() {
        split(picture, flat.samples)
    } else if let Some(flat) = picture.as_flat_samples_f32() {
        split(picture, flat.samples)
    } else {
        Err(UNKNOWN)
    }
}

/// A picture of the type of this one, with these colour channels and its alpha:
/// integers rounded and clipped to their range, floats as they are.
///
/// # Errors
/// [`Error::Length`] if the number of channels or their sizes differ,
/// [`Error::Unsupported`] as [`planes`].
pub fn with_planes(
    picture: &DynamicImage,
    planes: &[PlaneBuf<f32>],
) -> Result<DynamicImage, Error> {
    Error::check_len("list of channels", planes.len(), channel_names(picture).len())?;
    for plane in planes {
        Error::check_len("channel's width", plane.width(), picture.width() as usize)?;
        Error::check_len("channel's height", plane.height(), picture.height() as usize)?;
    }
    let mut result = picture.clone();
    let pitch = usize::from(picture.color().channel_count());
    match &mut result {
        DynamicImage::ImageLuma8(samples) => join(samples, pitch, planes),
        DynamicImage::ImageLumaA8(samples) => join(samples, pitch, planes),
        DynamicImage::ImageRgb8(samples) => join(samples, pitch, planes),
        DynamicImage::ImageRgba8(samples) => join(samples, pitch, planes),
        DynamicImage::ImageLuma16(samples) => join(samples, pitch, planes),
        DynamicImage::ImageLumaA16(samples) => join(samples, pitch, planes),
        DynamicImage::ImageRgb16(samples) => join(samples, pitch, planes),
        DynamicImage::ImageRgba16(samples) => join(samples, pitch, planes),
        DynamicImage::ImageRgb32F(samples) => join(samples, pitch, planes),
        DynamicImage::ImageRgba32F(samples) => join(samples, pitch, planes),
        _ => return Err(UNKNOWN),
    }
    Ok(result)
}

const UNKNOWN: Error = Error::Unsupported { what: "the type of the picture's samples" };

/// A type of samples.
trait Sample: Copy {
    fn to_f32(self) -> f32;
    fn from_f32(x: f32) -> Self;
}

// The conversion of a float to an integer clips.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl Sample for u8 {
    fn to_f32(self) -> f32 {
        self.into()
    }

    fn from_f32(x: f32) -> Self {
        x.round() as Self
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
impl Sample for u16 {
    fn to_f32(self) -> f32 {
        self.into()
    }

    fn from_f32(x: f32) -> Self {
        x.round() as Self
    }
}

impl Sample for f32 {
    fn to_f32(self) -> f32 {
        self
    }

    fn from_f32(x: f32) -> Self {
        x
    }
}

/// Interleaved samples into channels.
fn split(picture: &DynamicImage, samples: &[impl Sample]) -> Result<Vec<PlaneBuf<f32>>, Error> {
    let pitch = usize::from(picture.color().channel_count());
    let channel = |i: usize| {
        let samples = samples.iter().skip(i).step_by(pitch).map(|x| x.to_f32()).collect();
        PlaneBuf::new(samples, picture.width() as usize, picture.height() as usize)
    };
    (0..channel_names(picture).len()).map(channel).collect()
}

/// Channels into interleaved samples; what else is among them stays.
fn join(samples: &mut [impl Sample], pitch: usize, planes: &[PlaneBuf<f32>]) {
    for (i, plane) in planes.iter().enumerate() {
        let places = samples.iter_mut().skip(i).step_by(pitch);
        for (place, &x) in places.zip(plane.samples()) {
            *place = Sample::from_f32(x);
        }
    }
}
