//! The result of every method, on the processor and on a device.

use super::conditions::Conditions;
use super::noise_law::NoiseLaw;
use crate::image::PlaneBuf;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::fmt;

/// A denoised image.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Denoised<T> {
    /// The channels without outliers and noise, in the order of the input.
    pub channels: Vec<PlaneBuf<T>>,
    /// The outliers of all channels.
    pub outliers: OutlierMap<T>,
    /// What the method estimated and counted.
    pub report: Report<T>,
}

/// Which pixels are outliers, and by how much: one plane for each channel.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct OutlierMap<T> {
    /// Whether a pixel is an outlier. Pixels known to be bad are.
    pub mask: Vec<PlaneBuf<bool>>,
    /// The outliers' values $u$ in units of the samples: the noisy sample is the clean one plus
    /// noise plus $u$. Zero where the mask is false; an outlier's value may be zero as well.
    pub values: Vec<PlaneBuf<T>>,
}

/// What a method estimated and counted.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report<T> {
    /// For each channel.
    pub channels: Vec<ChannelReport<T>>,
}

/// What a method estimated and counted in one channel. What a method does not have is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ChannelReport<T> {
    /// Number of outliers.
    pub outliers: usize,
    /// The median of the regions' $\lambda$.
    pub lambda: Option<T>,
    /// Standard deviation of the noise; at the median brightness, where it depends on that.
    pub noise: Option<T>,
    /// Variance of the noise as a function of the brightness.
    pub law: Option<NoiseLaw<T>>,
    /// The distance in pixels at which the noise's correlation has fallen to 1/e; zero for white
    /// noise.
    pub correlation_length: Option<T>,
    /// Why the result may be wrong, if there is a reason.
    pub doubt: Option<Doubt>,
    /// Estimates of KGARD's survey.
    pub conditions: Option<Conditions<T>>,
}

/// Why a result may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Doubt {
    /// What looks like impulses follows the structure of the picture, and was left alone there.
    Structure,
    /// More impulses than the method is made for.
    ManyImpulses,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structure => {
                "what looks like impulses follows letters, lines or stars, and was left alone there"
            }
            Self::ManyImpulses => "more than a third of the pixels look like impulses",
        })
    }
}

impl<T: Real> OutlierMap<T> {
    /// A map of these masks and values, one of each for a channel.
    ///
    /// # Errors
    /// [`Error::Length`] if they differ in number, [`Error::ImageSize`] if a mask and its values
    /// differ in size.
    pub fn new(mask: Vec<PlaneBuf<bool>>, values: Vec<PlaneBuf<T>>) -> Result<Self, Error> {
        Error::check_len("list of masks", mask.len(), values.len())?;
        for (mask, values) in mask.iter().zip(&values) {
            values.as_plane().check_size("mask of outliers", &mask.as_plane())?;
        }
        Ok(Self { mask, values })
    }

    /// The map of an image of this size without outliers.
    #[must_use]
    pub fn empty(channels: usize, width: usize, height: usize) -> Self {
        let area = width * height;
        let mask = PlaneBuf::of(alloc::vec![false; area], width, height);
        let values = PlaneBuf::of(alloc::vec![T::zero(); area], width, height);
        Self { mask: alloc::vec![mask; channels], values: alloc::vec![values; channels] }
    }

    /// The number of outliers in a channel.
    #[must_use]
    pub fn count(&self, channel: usize) -> usize {
        self.mask[channel].samples().iter().filter(|&&is_outlier| is_outlier).count()
    }
}

impl<T> ChannelReport<T> {
    /// Of a channel with so many outliers.
    pub(crate) fn new(outliers: usize) -> Self {
        Self {
            outliers,
            lambda: None,
            noise: None,
            law: None,
            correlation_length: None,
            doubt: None,
            conditions: None,
        }
    }
}

impl<T> Denoised<T> {
    /// The image of one channel.
    pub(crate) fn of_channel(
        image: PlaneBuf<T>,
        mask: PlaneBuf<bool>,
        values: PlaneBuf<T>,
        report: ChannelReport<T>,
    ) -> Self {
        Self {
            channels: alloc::vec![image],
            outliers: OutlierMap { mask: alloc::vec![mask], values: alloc::vec![values] },
            report: Report { channels: alloc::vec![report] },
        }
    }

    /// An image without channels.
    pub(crate) fn empty() -> Self {
        Self {
            channels: Vec::new(),
            outliers: OutlierMap { mask: Vec::new(), values: Vec::new() },
            report: Report { channels: Vec::new() },
        }
    }

    /// Adds the channels of another image of the same size.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.channels.append(&mut other.channels);
        self.outliers.mask.append(&mut other.outliers.mask);
        self.outliers.values.append(&mut other.outliers.values);
        self.report.channels.append(&mut other.report.channels);
    }
}
