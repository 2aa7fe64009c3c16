//! Colour images: matched by luminance, filtered in opponent colours.
//!
//! $$ \begin{pmatrix} Y \\\\ U \\\\ V \end{pmatrix} = \begin{pmatrix} 1/3 & 1/3 & 1/3 \\\\ 1/2 & 0 & -1/2 \\\\ 1/4 & -1/2 & 1/4 \end{pmatrix} \begin{pmatrix} R \\\\ G \\\\ B \end{pmatrix} $$
//!
//! as in C-BM3D (Dabov, Foi, Katkovnik, Egiazarian, "Color image denoising via
//! sparse 3D collaborative filtering with grouping constraint in
//! luminance-chrominance space", ICIP 2007). The deviation of the noise in a
//! channel follows from the norm of its row.

use super::Bm3d;
use crate::denoise::{NoiseSpectrum, Plane, PlaneBuf};
use crate::real::constant;
use crate::{Error, Real};
use alloc::vec::Vec;

/// Rows of the transform.
const OPPONENT: [[f64; 3]; 3] =
    [[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0], [0.5, 0.0, -0.5], [0.25, -0.5, 0.25]];

/// Rows of its inverse.
const INVERSE: [[f64; 3]; 3] =
    [[1.0, 1.0, 2.0 / 3.0], [1.0, 0.0, -4.0 / 3.0], [1.0, -1.0, 2.0 / 3.0]];

impl<T: Real> Bm3d<T> {
    /// Removes Gaussian noise from red, green and blue, given its
    /// deviation in each. Noise that is not white, or not independent in the three channels, has
    /// `spectra`: of luminance and of the two differences of colour, as multiples of what white
    /// and independent noise would have there.
    ///
    /// # Errors
    /// As [`denoise_channels`](Self::denoise_channels).
    pub fn denoise_rgb(
        &self,
        rgb: [Plane<'_, T>; 3],
        sigmas: [T; 3],
        spectra: Option<&[NoiseSpectrum<T>]>,
    ) -> Result<[PlaneBuf<T>; 3], Error> {
        let (width, height) = (rgb[0].width(), rgb[0].height());
        for plane in &rgb {
            super::filter::check_size(plane, width, height)?;
            plane.check_finite()?;
        }
        // A negative or infinite deviation would not survive the squares.
        for sigma in sigmas {
            Error::check_finite("sigma", &[sigma])?;
            Error::check_not_negative("sigma", sigma)?;
        }
        let mut planes = rgb.map(|plane| plane.to_vec());
        if sigmas.iter().any(|&sigma| sigma > T::zero()) {
            mix(&mut planes, &OPPONENT);
            let opponents = planes.each_ref().map(|values| Plane::new(values, width, height));
            let mut channels = Vec::with_capacity(3);
            for (plane, row) in opponents.into_iter().zip(&OPPONENT) {
                channels.push((plane?, deviation(row, sigmas)));
            }
            let denoised = self.denoise_channels(&channels, spectra)?;
            for (plane, denoised) in planes.iter_mut().zip(denoised) {
                *plane = denoised.into_samples();
            }
            mix(&mut planes, &INVERSE);
        }
        let [red, green, blue] = planes.map(|values| PlaneBuf::new(values, width, height));
        Ok([red?, green?, blue?])
    }
}

/// Removes noise from all channels of an image, each with its deviation: three
/// are red, green and blue, and are filtered together; any others each by
/// itself. The settings follow from a deviation, of three channels the first. Noise that is not
/// white has a spectrum for each channel, as [`Bm3d::denoise_channels`] and [`Bm3d::denoise_rgb`]
/// describe them.
///
/// # Errors
/// As [`Bm3d::denoise_channels`].
pub fn denoise_image<T: Real>(
    channels: &[(Plane<'_, T>, T)],
    spectra: Option<&[NoiseSpectrum<T>]>,
    settings: impl Fn(T) -> Bm3d<T>,
) -> Result<Vec<PlaneBuf<T>>, Error> {
    if let &[(red, a), (green, b), (blue, c)] = channels {
        return Ok(settings(a).denoise_rgb([red, green, blue], [a, b, c], spectra)?.into());
    }
    let mut denoised = Vec::with_capacity(channels.len());
    for (i, &channel) in channels.iter().enumerate() {
        let spectrum = spectra.map(|spectra| core::slice::from_ref(&spectra[i]));
        denoised.extend(settings(channel.1).denoise_channels(&[channel], spectrum)?);
    }
    Ok(denoised)
}

/// Luminance and the two differences of colour, with the part of the variance that white and
/// independent noise of these deviations has in each.
pub(in crate::denoise) fn opponents<T: Real>(rgb: [Vec<T>; 3], sigmas: [T; 3]) -> [(Vec<T>, T); 3] {
    let mut planes = rgb;
    mix(&mut planes, &OPPONENT);
    let deviations = OPPONENT.map(|row| deviation(&row, sigmas));
    let mut deviations = deviations.into_iter();
    planes.map(|plane| (plane, deviations.next().unwrap_or_else(T::zero)))
}

/// The deviation of a weighted sum of independent noise.
fn deviation<T: Real>(row: &[f64; 3], sigmas: [T; 3]) -> T {
    let parts = row.iter().zip(sigmas).map(|(&factor, sigma)| {
        let part = constant::<T>(factor) * sigma;
        part * part
    });
    parts.fold(T::zero(), |sum, part| sum + part).sqrt()
}

/// Replaces every pixel by `matrix` times it.
fn mix<T: Real>([a, b, c]: &mut [Vec<T>; 3], matrix: &[[f64; 3]; 3]) {
    let matrix = matrix.map(|row| row.map(constant::<T>));
    for ((a, b), c) in a.iter_mut().zip(b).zip(c) {
        let pixel = matrix.map(|[x, y, z]| x * *a + y * *b + z * *c);
        [*a, *b, *c] = pixel;
    }
}
