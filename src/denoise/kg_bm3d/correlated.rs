//! Noise that neighbouring pixels or the channels of a pixel have in common.

use super::super::bm3d::opponents;
use super::super::noise_spectrum::{NoiseSpectrum, any_spectrum, is_even, noise_spectrum};
use super::super::{Plane, noise_level};
use crate::error::as_f64;
use crate::real::constant;
use crate::{Error, Real};
use alloc::vec::Vec;
use num_traits::Float;

/// Red, green and blue are filtered together.
pub(super) const COLOURS: usize = 3;
/// The noise of luminance, or of a difference of colour, over what it would be if the noise of the
/// channels were independent: from this factor or its inverse on it is not.
const DEPENDENT: f64 = 1.25;
/// The least factor that counts, so that no noise is taken for none where rounding hides it.
const LEAST_PART: f64 = 0.05;

/// The noise of channels that are filtered together.
#[derive(Debug, Clone)]
pub(super) struct Correlated<T> {
    /// The deviation of each channel, where the estimate for white noise would be wrong.
    pub(super) deviations: Option<Vec<T>>,
    /// What BM3D is told of the channels it filters, if it is told anything:
    /// [`denoise_image`](super::denoise_image).
    pub(super) spectra: Option<Vec<NoiseSpectrum<T>>>,
    /// The correlation length in each channel, in pixels.
    pub(super) lengths: Vec<T>,
}

impl<T: Real> Correlated<T> {
    /// The noise of channels of this `shape`, which has a deviation of one, and of the deviation
    /// `told`, or estimated.
    pub(super) fn of_shape(
        channels: &[(Plane<'_, T>, &[bool])],
        shape: NoiseSpectrum<T>,
        told: Option<T>,
    ) -> Result<Self, Error> {
        let deviation = |&(channel, bad): &(Plane<'_, T>, &[bool])| {
            let ignored = ignored(channel, bad);
            match (told, any_spectrum(channel, Some(ignored))) {
                (Some(told), _) => Ok(told),
                (None, Some(spectrum)) => Ok(spectrum.deviation()),
                (None, None) => noise_level(channel, Some(ignored)),
            }
        };
        Ok(Self {
            deviations: Some(channels.iter().map(deviation).collect::<Result<_, _>>()?),
            spectra: (!shape.is_white()).then(|| alloc::vec![shape; channels.len()]),
            lengths: alloc::vec![shape.correlation_length(); channels.len()],
        })
    }

    /// The noise of channels, if it is not white and independent.
    pub(super) fn estimate(channels: &[(Plane<'_, T>, &[bool])]) -> Result<Option<Self>, Error> {
        let &[red, green, blue] = channels else {
            let &[(channel, bad)] = channels else { return Ok(None) };
            let Some(spectrum) = noise_spectrum(channel, Some(ignored(channel, bad))) else {
                return Ok(None);
            };
            let deviation = spectrum.deviation();
            let shape = spectrum.scaled(deviation.recip()).at_least(constant(LEAST_PART));
            return Ok(Some(Self {
                deviations: Some(alloc::vec![deviation]),
                spectra: (!spectrum.is_white()).then(|| alloc::vec![shape]),
                lengths: alloc::vec![spectrum.correlation_length()],
            }));
        };
        let rgb = [red, green, blue];
        let (width, height) = (red.0.width(), red.0.height());
        let any: Vec<bool> =
            (0..width * height).map(|i| rgb.iter().any(|(_, bad)| bad[i])).collect();
        let mixed = |deviations| opponents(rgb.map(|(channel, _)| channel.to_vec()), deviations);
        let whole = Plane::contiguous(&any[..], width, height);

        let least = constant::<T>(LEAST_PART);
        let is_white = |channel| noise_spectrum(channel, Some(whole)).is_none();
        let parts = mixed([T::one(); COLOURS]);
        let mut parts_and_channels = rgb
            .iter()
            .map(|(channel, _)| *channel)
            .chain(parts.iter().map(|(part, _)| Plane::contiguous(&part[..], width, height)));
        if !parts_and_channels.all(is_white) {
            let spectra =
                rgb.map(|(channel, bad)| any_spectrum(channel, Some(ignored(channel, bad))));
            if let [Some(red), Some(green), Some(blue)] = spectra {
                let spectra = [red, green, blue];
                let deviations = spectra.map(|spectrum| spectrum.deviation());
                let of_part = |(samples, independent): (Vec<T>, T)| {
                    let part = Plane::contiguous(&samples[..], width, height);
                    let spectrum = any_spectrum(part, Some(whole));
                    spectrum.map_or(NoiseSpectrum::white(least), |spectrum| {
                        spectrum.scaled(independent.recip()).at_least(least)
                    })
                };
                return Ok(Some(Self {
                    deviations: Some(deviations.to_vec()),
                    spectra: Some(mixed(deviations).into_iter().map(of_part).collect()),
                    lengths: spectra.map(|spectrum| spectrum.correlation_length()).to_vec(),
                }));
            }
            return Ok(None);
        }
        let mut deviations = [T::zero(); COLOURS];
        for (deviation, (channel, bad)) in deviations.iter_mut().zip(rgb) {
            *deviation = noise_level(channel, Some(ignored(channel, bad)))?;
        }
        let mut ratios = [T::one(); COLOURS];
        for (ratio, (samples, independent)) in ratios.iter_mut().zip(mixed(deviations)) {
            if !(independent > T::zero()) {
                return Ok(None);
            }
            let part = Plane::contiguous(&samples, width, height);
            *ratio = (noise_level(part, Some(whole))? / independent).max(least);
        }
        let differs = |ratio: &T| Float::abs(Float::ln(as_f64(*ratio))) > Float::ln(DEPENDENT);
        let depends = ratios.iter().any(differs) && {
            // Texture is common to the channels as well.
            is_even(Plane::contiguous(&parts[0].0, width, height), Some(whole))
        };
        Ok(depends.then(|| Self {
            deviations: None,
            spectra: Some(ratios.map(NoiseSpectrum::white).to_vec()),
            lengths: alloc::vec![T::zero(); COLOURS],
        }))
    }
}

/// Pixels that do not count, as a plane.
pub(super) fn ignored<'b, T: Real>(channel: Plane<'_, T>, bad: &'b [bool]) -> Plane<'b, bool> {
    Plane::contiguous(bad, channel.width(), channel.height())
}
