//! The two stages, on any number of channels.

use super::Bm3d;
use super::lattice::Samples;
use super::stage;
use super::strip::Channel;
use crate::denoise::{NoiseSpectrum, Plane, PlaneBuf};
use crate::{Error, Real};
use alloc::vec::Vec;

impl<T: Real> Bm3d<T> {
    /// Removes white Gaussian noise of deviation `sigma`.
    ///
    /// With `sigma` zero the result is the image itself.
    ///
    /// # Errors
    /// [`Error::NotFinite`] for a NaN or an infinity in the image or `sigma`,
    /// [`Error::Negative`] if `sigma` is, [`Error::Setting`] for settings out
    /// of their range, [`Error::Overflow`] for pixels or noise so large, or
    /// so small, that their squares are out of the range of the type.
    pub fn denoise(&self, plane: Plane<'_, T>, sigma: T) -> Result<PlaneBuf<T>, Error> {
        let mut channels = self.denoise_channels(&[(plane, sigma)], None)?;
        channels.pop().ok_or(Error::Empty { what: "image" })
    }

    /// Removes noise from several channels of one image, each with its own
    /// deviation. Blocks are matched in the first channel, and all are
    /// filtered in the groups found there.
    ///
    /// Noise that is not white has `spectra`, one for each channel, whose deviations are multiples
    /// of the channel's; blocks have to be 8 x 8 and their transform the DCT then, as in
    /// [`correlated`](Self::correlated).
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise); [`Error::Empty`] without a channel,
    /// [`Error::Length`] if they differ in size or in number from the spectra.
    pub fn denoise_channels(
        &self,
        channels: &[(Plane<'_, T>, T)],
        spectra: Option<&[NoiseSpectrum<T>]>,
    ) -> Result<Vec<PlaneBuf<T>>, Error> {
        self.check()?;
        let &[(first, _), ..] = channels else {
            return Err(Error::Empty { what: "image" });
        };
        let (width, height) = (first.width(), first.height());
        for &(plane, sigma) in channels {
            check_size(&plane, width, height)?;
            plane.check_finite()?;
            Error::check_finite("sigma", &[sigma])?;
            Error::check_not_negative("sigma", sigma)?;
        }
        if let Some(spectra) = spectra {
            Error::check_len("list of spectra", spectra.len(), channels.len())?;
            self.check_spectral()?;
        }
        let samples = |values| Samples { values, width, height };
        let spectrum = |i: usize| spectra.map(|spectra| &spectra[i]);

        let noisy: Vec<Vec<T>> =
            channels.iter().map(|(plane, _)| plane.copied()).collect::<Result<_, _>>()?;
        // Channels without noise stay as they are.
        let (loud, sigmas): (Vec<usize>, Vec<T>) = (0..)
            .zip(channels)
            .filter(|(_, (_, sigma))| *sigma > T::zero())
            .map(|(i, (_, sigma))| (i, *sigma))
            .unzip();
        let mut first = Vec::with_capacity(loud.len());
        for (&i, &sigma) in loud.iter().zip(&sigmas) {
            let noisy = samples(&noisy[i]);
            let level = self.threshold * sigma;
            first.push(Channel { noisy, basic: None, level, spectrum: spectrum(i) });
        }
        let basic = stage::run(&self.first, samples(&noisy[0]), &first)?;
        let filtered = if self.wiener {
            let mut second = Vec::with_capacity(loud.len());
            for ((&channel, basic), &sigma) in first.iter().zip(&basic).zip(&sigmas) {
                let basic = Some(samples(basic));
                second.push(Channel { basic, level: sigma * sigma, ..channel });
            }
            let guide = if loud.first() == Some(&0) { &basic[0] } else { &noisy[0] };
            stage::run(&self.second, samples(guide), &second)?
        } else {
            basic
        };
        drop(first);

        let mut results = noisy;
        for (i, filtered) in loud.into_iter().zip(filtered) {
            results[i] = filtered;
        }
        let mut planes = Vec::with_capacity(results.len());
        for result in results {
            if !result.iter().all(|value| value.is_finite()) {
                return Err(Error::Overflow { what: "denoised image" });
            }
            planes.push(PlaneBuf::new(result, width, height)?);
        }
        Ok(planes)
    }
}

/// Refuses planes of another size than `width` x `height`.
pub(super) fn check_size<T: Real>(
    plane: &Plane<'_, T>,
    width: usize,
    height: usize,
) -> Result<(), Error> {
    Error::check_len("width of a channel", plane.width(), width)?;
    Error::check_len("height of a channel", plane.height(), height)
}
