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
//! out is of the type that went in. Red, green and blue are filtered together;
//! alpha is left alone. Values are never rescaled: integers are rounded and
//! clipped to their range, floats are not.

use crate::Error;
use crate::denoise::{Denoised, KgBm3d, OutlierMap, Report};
use crate::image::{Masks, Plane, PlaneBuf};
use ::image::DynamicImage;
use alloc::vec::Vec;

/// A denoised picture.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DenoisedImage {
    /// The picture, of the type of the noisy one.
    pub image: DynamicImage,
    /// The outliers of each colour channel.
    pub outliers: OutlierMap<f32>,
    /// What was estimated and counted in each colour channel.
    pub report: Report<f32>,
}

/// Denoises a picture with the default method, [`KgBm3d`], everything automatic.
///
/// # Errors
/// [`Error::NotFinite`] if a sample is not finite, with the name of its channel
/// and the index of its pixel; [`Error::Empty`] if there are no pixels.
pub fn denoise(picture: &DynamicImage) -> Result<DenoisedImage, Error> {
    let plan = KgBm3d::new(peak(picture)).plan()?;
    denoise_with(picture, |channels| plan.denoise(channels, Masks::default()))
}

/// Denoises a picture with any method, which is given its colour channels.
///
/// ```
/// use kgard::denoise::{Denoiser, Masks};
/// use kgard::interop::image::denoise_with;
///
/// let picture = image::DynamicImage::new_luma16(20, 16);
/// // KGARD alone: faster than the default method.
/// let plan = Denoiser::new().plan()?;
/// let denoised = denoise_with(&picture, |channels| plan.denoise_all(channels, Masks::default()))?;
/// assert_eq!(denoised.image, picture);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// # Errors
/// As [`denoise`], and those of the method.
pub fn denoise_with(
    picture: &DynamicImage,
    method: impl FnOnce(&[Plane<'_, f32>]) -> Result<Denoised<f32>, Error>,
) -> Result<DenoisedImage, Error> {
    let channels = planes(picture)?;
    let views: Vec<Plane<'_, f32>> = channels.iter().map(PlaneBuf::as_plane).collect();
    let denoised = method(&views).map_err(|error| match error {
        Error::NotFinite { what: "image", index, value } => {
            // Which channel it is.
            let is_it = |channel: &PlaneBuf<f32>| !channel.samples()[index].is_finite();
            let channel = channels.iter().position(is_it).unwrap_or(0);
            Error::NotFinite { what: channel_names(picture)[channel], index, value }
        }
        other => other,
    })?;
    let Denoised { channels, outliers, report } = denoised;
    Ok(DenoisedImage { image: with_planes(picture, &channels)?, outliers, report })
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
/// [`Error::Length`] if the number of channels differs, [`Error::ImageSize`] if their sizes do,
/// [`Error::Unsupported`] as [`planes`].
pub fn with_planes(
    picture: &DynamicImage,
    planes: &[PlaneBuf<f32>],
) -> Result<DynamicImage, Error> {
    Error::check_len("list of channels", planes.len(), channel_names(picture).len())?;
    for plane in planes {
        let expected = (picture.width() as usize, picture.height() as usize);
        let found = (plane.width(), plane.height());
        if found != expected {
            return Err(Error::ImageSize { what: "channel", expected, found });
        }
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
