//! KG-BM3D: KGARD finds the impulses, BM3D removes the noise (section "KGARD combined with BM3D"
//! of the paper), and a loop of both under one [model](super::model) of a pixel.
//!
//! KGARD sees 12 x 12 pixels; BM3D sees all blocks of an image that are alike, and so tells
//! impulses from fine texture where KGARD cannot. The loop:
//!
//! ```text
//! KGARD                        outliers, an image without them, the noise's deviation s
//! f = BM3D(y with outliers cut at 100 units, their rms or s)            the first pilot
//! repeat
//!     s = noise level of y without impulses
//!     v = local misfit of y - f, without impulses
//!     p, E[u] = posterior of an impulse, and the mean of what it has added    (EM)
//!     z = y - p E[u]
//!     f = BM3D(z, remaining noise), or at the end BM3D(z, s), which is the result
//! ```
//!
//! The strength of a pilot follows what is left to remove: the deviation of z according to the
//! posterior (noise, uncertain decisions, and what the pilot does not know of the pixels that
//! impulses hide). While the residuals are much larger than the noise, impulses are still among
//! them, and their root mean square counts. The strength falls step by step.
//!
//! Dead rows and columns ([`dead_lines`]) and gross values are known to be bad from the
//! beginning. All of it works in [`units`](super::units) of the image's own range, so that the result
//! does not depend on the type of the file.

mod channel;
mod correlated;
mod course;
mod evidence;
mod randomness;
mod stabilised;

use self::channel::Channel;
use self::correlated::{COLOURS, Correlated};
use self::course::{COST_OF_KGARD, COST_OF_PILOT, Course};
use self::stabilised::scales;
use super::bm3d::{Bm3d, Transform, denoise_image};
use super::dead_lines;
use super::denoised::Denoised;
use super::denoiser::Denoiser;
use super::noise_law::NoiseLaw;
use super::noise_spectrum::NoiseSpectrum;
use super::plan::DenoisePlan;
use super::units::{RANGE, Units, mark_gross};
use super::watch::Watch;
use crate::image::{Masks, Plane, PlaneBuf};
use crate::real::constant;
use crate::{Error, Kernel, Matern32, Real};
use alloc::vec::Vec;

/// Rounds of the loop at least, and at most where impulses are still among the residuals.
const ROUNDS: (usize, usize) = (3, 6);
/// How often the first pilot is judged by: the model begins with nothing but KGARD's marks.
const FIRST_PASSES: usize = 3;
/// Distance of a pilot's blocks, and how far it searches for similar ones: pilots need not be
/// fine.
const PILOT_STEP: usize = 5;
const PILOT_RADIUS: usize = 14;
/// The least deviation, in units, for which a pilot is made.
const LEAST_STRENGTH: f64 = 0.3;

/// Settings of KG-BM3D; all have defaults.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KgBm3d<T, K = Matern32<T>> {
    denoiser: Denoiser<T, K>,
    noise: Option<T>,
    law: Option<NoiseLaw<T>>,
    shape: Option<NoiseSpectrum<T>>,
    refinements: usize,
    peak: T,
}

impl<T: Real> KgBm3d<T> {
    /// Everything automatic. `peak` is the greatest sample: with settings of KGARD that are given
    /// in samples, the unit is 0 to `peak`. Without such settings the result does not depend on it.
    pub fn new(peak: T) -> Self {
        Self {
            denoiser: Denoiser::new(),
            noise: None,
            law: None,
            shape: None,
            refinements: ROUNDS.1,
            peak,
        }
    }
}

impl<T: Real, K: Kernel<T>> KgBm3d<T, K> {
    /// KGARD's own settings.
    pub fn kgard<L: Kernel<T>>(self, denoiser: Denoiser<T, L>) -> KgBm3d<T, L> {
        let Self { noise, law, shape, refinements, peak, .. } = self;
        KgBm3d { denoiser, noise, law, shape, refinements, peak }
    }

    /// The standard deviation of the noise, for BM3D; estimated after the
    /// impulses are gone unless it is given.
    pub fn noise(mut self, noise: T) -> Self {
        self.noise = Some(noise);
        self
    }

    /// How the noise grows with the brightness; estimated unless this or
    /// [`noise`](Self::noise) is given.
    pub fn noise_law(mut self, law: NoiseLaw<T>) -> Self {
        self.law = Some(law);
        self
    }

    /// The spectrum of the noise, but for its size, which is that of [`noise`](Self::noise) or
    /// [`noise_law`](Self::noise_law), or estimated. Without this the spectrum is estimated, and
    /// noise of a given deviation is taken for white.
    pub fn noise_spectrum(mut self, spectrum: NoiseSpectrum<T>) -> Self {
        self.shape = Some(spectrum);
        self
    }

    /// Rounds of the loop at most: six by default, of which three are always done. With zero
    /// KGARD's outliers are subtracted and BM3D filters the rest, as in the paper; KGARD is still
    /// the automatic one.
    pub fn refinements(mut self, refinements: usize) -> Self {
        self.refinements = refinements.min(ROUNDS.1);
        self
    }

    /// Does once what is the same for all images.
    ///
    /// # Errors
    /// If a setting is wrong.
    pub fn plan(&self) -> Result<KgBm3dPlan<T>, Error> {
        if let Some(noise) = self.noise {
            Error::check_not_negative("noise", noise)?;
            Error::check_finite("noise", &[noise])?;
        }
        if let Some(law) = self.law {
            Error::check_positive("gain of the noise", law.gain)?;
            Error::check_finite("floor of the noise", &[law.floor])?;
        }
        let deviation = self.shape.map(|shape| shape.deviation());
        if let Some(deviation) = deviation {
            Error::check_positive("deviation of the noise's spectrum", deviation)?;
        }
        let peak = self.peak;
        Error::check_positive("peak", peak)?;
        Ok(KgBm3dPlan {
            kgard: self.denoiser.plan()?.in_units(constant::<T>(RANGE) / peak),
            units: self.denoiser.is_in_samples().then(|| Units::of_peak(peak)),
            noise: self.noise,
            law: self.law,
            shape: self.shape.zip(deviation).map(|(shape, d)| shape.scaled(d.recip())),
            refinements: self.refinements,
        })
    }

    /// Denoises one grey image; [`plan`](Self::plan) first for many.
    ///
    /// # Errors
    /// If a setting is wrong, or a sample not finite.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<Denoised<T>, Error> {
        self.plan()?.denoise(&[image], Masks::default())
    }
}

/// KG-BM3D with its plans, for any number of images.
#[derive(Debug, Clone)]
pub struct KgBm3dPlan<T> {
    /// For images in units.
    pub(crate) kgard: DenoisePlan<T>,
    /// The units, if settings in samples were given; else they follow from the image.
    units: Option<Units<T>>,
    noise: Option<T>,
    law: Option<NoiseLaw<T>>,
    shape: Option<NoiseSpectrum<T>>,
    refinements: usize,
}

/// Channels that are filtered together, their units, and their noise where it is not white and
/// independent.
#[derive(Debug, Clone)]
struct Group<'a, T> {
    units: Units<T>,
    channels: Vec<Channel<'a, T>>,
    correlated: Option<Correlated<T>>,
}

/// An image between KGARD and BM3D.
#[derive(Debug, Clone)]
pub struct Repaired<'a, T> {
    /// Three colours, or single channels.
    groups: Vec<Group<'a, T>>,
    keep: Option<Plane<'a, bool>>,
}

impl<T: Real> KgBm3dPlan<T> {
    /// Denoises an image. Three channels are red, green and blue, and are
    /// filtered together; any others each by itself. Masks are for all
    /// channels.
    ///
    /// # Errors
    /// As [`DenoisePlan::denoise`]; [`Error::Empty`] without a channel,
    /// [`Error::ImageSize`] if the channels differ in size.
    pub fn denoise(&self, image: &[Plane<'_, T>], masks: Masks<'_>) -> Result<Denoised<T>, Error> {
        self.denoise_watched(image, masks, Watch::default())
    }

    /// The same, and tells how far it has come.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn denoise_watched(
        &self,
        image: &[Plane<'_, T>],
        masks: Masks<'_>,
        progress: Watch<'_>,
    ) -> Result<Denoised<T>, Error> {
        self.finish_watched(self.repair_watched(image, masks, progress)?, progress)
    }

    /// The first half of [`denoise`](Self::denoise): KGARD.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn repair<'a>(
        &self,
        image: &[Plane<'a, T>],
        masks: Masks<'a>,
    ) -> Result<Repaired<'a, T>, Error> {
        self.repair_watched(image, masks, Watch::default())
    }

    /// The same, and tells how far it has come.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn repair_watched<'a>(
        &self,
        image: &[Plane<'a, T>],
        masks: Masks<'a>,
        progress: Watch<'_>,
    ) -> Result<Repaired<'a, T>, Error> {
        let mut course = Course::new(image.len(), ROUNDS.0, progress);
        self.repair_by(image, masks, |channel, masks, noise| {
            course.begin(1, COST_OF_KGARD);
            self.kgard.denoise_units(channel, masks, noise)
        })
    }

    /// The same with KGARD done by `kgard`, wherever that is; it is told the noise in units where
    /// its own estimate, for white noise, would be wrong.
    pub(crate) fn repair_by<'a>(
        &self,
        image: &[Plane<'a, T>],
        masks: Masks<'a>,
        mut kgard: impl FnMut(Plane<'_, T>, Masks<'_>, Option<T>) -> Result<Denoised<T>, Error>,
    ) -> Result<Repaired<'a, T>, Error> {
        let first = image.first().ok_or(Error::Empty { what: "image" })?;
        for channel in image {
            first.check_size("channel", channel)?;
        }
        for mask in [masks.bad, masks.keep].into_iter().flatten() {
            first.check_size("mask", &mask)?;
        }
        let together = if image.len() == COLOURS { COLOURS } else { 1 };
        let mut group = |image: &[Plane<'a, T>]| {
            let bad: Vec<Vec<bool>> = image.iter().map(|&c| known_to_be_bad(c, masks)).collect();
            let planes: Vec<_> = image.iter().zip(&bad).map(|(&c, bad)| (c, &bad[..])).collect();
            // What is given in samples is not known in others.
            let scales = if self.units.is_some() { None } else { scales(&planes, self.law)? };
            let seen: Vec<Vec<T>> = (0..image.len())
                .map(|i| match &scales {
                    None => image[i].to_vec(),
                    Some(scales) => {
                        image[i].to_vec().into_iter().map(|y| scales[i].of(y)).collect()
                    }
                })
                .collect();
            let (width, height) = (image[0].width(), image[0].height());
            let planes = seen.iter().map(|samples| Plane::contiguous(&samples[..], width, height));
            let planes: Vec<_> = planes.zip(&bad).map(|(c, bad)| (c, &bad[..])).collect();
            let units = self.units.map_or_else(|| Units::of_image(&planes), Ok)?;
            let correlated = self.correlated(&planes)?;
            let deviations = correlated.as_ref().and_then(|c| c.deviations.as_ref());
            let deviation = |i: usize| deviations.map(|deviations| deviations[i]);
            let mut found = Vec::with_capacity(image.len());
            for (i, (seen, bad)) in seen.into_iter().zip(&bad).enumerate() {
                let samples: Vec<T> = seen.into_iter().map(|y| units.of(y)).collect();
                let seen = Plane::contiguous(&bad[..], width, height);
                let known = Masks { bad: bad.contains(&true).then_some(seen), keep: masks.keep };
                let plane = Plane::contiguous(&samples, width, height);
                let noise = deviation(i).map(|deviation| units.of_difference(deviation));
                let result = kgard(plane, known, noise)?;
                found.push((samples, result));
            }
            let restored = found.iter().flat_map(|(_, found)| found.channels[0].samples());
            let (whole, inner) = units.of_inner(restored.copied());
            let channels =
                (0..).zip(image).zip(bad).zip(found).map(|(((i, &channel), bad), found)| {
                    let (mut samples, mut found) = found;
                    let scale = scales.as_ref().map(|scales| scales[i]);
                    let in_samples = |x| {
                        let x = units.difference(x);
                        scale.map_or(x, |scale| scale.difference(x))
                    };
                    if let Some(conditions) = &mut found.report.channels[0].conditions {
                        *conditions = conditions.in_samples(in_samples);
                    }
                    for x in samples.iter_mut().chain(found.channels[0].samples_mut()) {
                        *x = inner.of(*x);
                    }
                    for u in found.outliers.values[0].samples_mut() {
                        *u = inner.of_difference(*u);
                    }
                    let told = deviation(i).map(|deviation| whole.of_difference(deviation));
                    Channel::new(channel, samples, bad, masks.keep, &found, scale, told)
                });
            let channels = channels.collect::<Result<_, Error>>()?;
            Ok(Group { units: whole, channels, correlated })
        };
        let groups = image.chunks(together).map(&mut group).collect::<Result<_, Error>>()?;
        Ok(Repaired { groups, keep: masks.keep })
    }

    /// The second half of [`denoise`](Self::denoise): BM3D, and the loop.
    ///
    /// # Errors
    /// As [`Bm3d::denoise`].
    pub fn finish(&self, repaired: Repaired<'_, T>) -> Result<Denoised<T>, Error> {
        self.finish_watched(repaired, Watch::default())
    }

    /// The same, and tells how far it has come.
    ///
    /// # Errors
    /// As [`Bm3d::denoise`].
    pub fn finish_watched(
        &self,
        repaired: Repaired<'_, T>,
        progress: Watch<'_>,
    ) -> Result<Denoised<T>, Error> {
        let mut result = Denoised::empty();
        let channels = repaired.groups.iter().map(|group| group.channels.len()).sum();
        let mut course = Course::new(channels, ROUNDS.0, progress).after_kgard();
        for Group { units, mut channels, correlated } in repaired.groups {
            let one = self.law.map(|_| T::one());
            let told = self.noise.or(one).map(|noise| units.of_difference(noise));
            let filtered = self.refine(&mut channels, correlated.as_ref(), told, &mut course)?;
            for (i, (channel, filtered)) in channels.into_iter().zip(filtered).enumerate() {
                let length = correlated.as_ref().map_or(T::zero(), |c| c.lengths[i]);
                result.append(channel.finish(filtered, units, repaired.keep, self.noise, length));
            }
        }
        course.end();
        Ok(result)
    }

    /// The noise of channels, where it is told or seen not to be white and independent.
    fn correlated(
        &self,
        channels: &[(Plane<'_, T>, &[bool])],
    ) -> Result<Option<Correlated<T>>, Error> {
        let told = self.noise.or(self.law.map(|_| T::one()));
        if self.shape.is_none() && told.is_some() {
            return Ok(None);
        }
        // Bad pixels may hold anything; others are refused by what follows.
        let usable = |&(channel, bad): &(Plane<'_, T>, &[bool])| {
            let samples = channel.to_vec().into_iter().zip(bad);
            samples.map(|(y, &bad)| if bad && !y.is_finite() { T::zero() } else { y }).collect()
        };
        let usable: Vec<Vec<T>> = channels.iter().map(usable).collect();
        let channels: Vec<_> = usable
            .iter()
            .zip(channels)
            .map(|(samples, &(channel, bad))| {
                (Plane::contiguous(&samples[..], channel.width(), channel.height()), bad)
            })
            .collect();
        match self.shape {
            Some(shape) => Correlated::of_shape(&channels, shape, told).map(Some),
            None => Correlated::estimate(&channels),
        }
    }

    /// The loop on channels that are filtered together. The noise is estimated unless it is `told`.
    fn refine(
        &self,
        channels: &mut [Channel<'_, T>],
        correlated: Option<&Correlated<T>>,
        told: Option<T>,
        course: &mut Course<'_>,
    ) -> Result<Vec<PlaneBuf<T>>, Error> {
        let range = constant(RANGE);
        for round in 1..=self.refinements {
            let strength =
                |channel: &Channel<'_, T>| channel.strength.max(constant(LEAST_STRENGTH));
            course.begin(channels.len(), COST_OF_PILOT);
            let pilots = filter(channels, correlated, strength, |sigma| pilot(sigma, range))?;
            for (channel, pilot) in channels.iter_mut().zip(&pilots) {
                channel.judge(pilot.samples(), told, if round == 1 { FIRST_PASSES } else { 1 })?;
            }
            if round >= ROUNDS.0 && channels.iter().all(Channel::has_settled) {
                break;
            }
        }
        course.last(channels.len());
        for channel in &mut *channels {
            if self.refinements == 0 {
                channel.subtract_outliers();
            }
            channel.noise = told.map_or_else(|| channel.noise_level(), Ok)?;
        }
        filter(channels, correlated, |channel| channel.noise, |sigma| Bm3d::for_noise(sigma, range))
    }
}

/// The pixels of a channel that are known to be bad, or seen to be.
fn known_to_be_bad<T: Real>(channel: Plane<'_, T>, masks: Masks<'_>) -> Vec<bool> {
    let width = channel.width();
    let is = |mask: Option<Plane<'_, bool>>, i: usize| {
        mask.is_some_and(|mask| mask.get(i % width, i / width))
    };
    let mut bad = dead_lines(channel).into_samples();
    for (i, bad) in bad.iter_mut().enumerate() {
        *bad = *bad && !is(masks.keep, i) || is(masks.bad, i);
    }
    mark_gross(channel, &mut bad);
    bad
}

/// BM3D of the cleaned channels, for noise of deviation `sigma`.
fn filter<'b, T: Real>(
    channels: &[Channel<'b, T>],
    correlated: Option<&Correlated<T>>,
    sigma: impl Fn(&Channel<'b, T>) -> T,
    settings: impl Fn(T) -> Bm3d<T>,
) -> Result<Vec<PlaneBuf<T>>, Error> {
    let planes = channels.iter().map(|channel| (channel.cleaned(), sigma(channel)));
    let spectra = correlated.and_then(|correlated| correlated.spectra.as_deref());
    let lengths = correlated.iter().flat_map(|correlated| correlated.lengths.iter().copied());
    let length = lengths.fold(T::zero(), T::max);
    let settings = |sigma| {
        let settings = settings(sigma);
        if spectra.is_some() { settings.correlated(length) } else { settings }
    };
    denoise_image(&planes.collect::<Vec<_>>(), spectra, settings)
}

/// A BM3D to judge by.
fn pilot<T: Real>(sigma: T, range: T) -> Bm3d<T> {
    let mut bm3d = Bm3d::for_noise(sigma, range);
    for stage in [&mut bm3d.first, &mut bm3d.second] {
        stage.step = PILOT_STEP;
        stage.radius = PILOT_RADIUS;
        // Blocks are alike in spite of the impulses in them.
        stage.max_distance = T::infinity();
    }
    bm3d.first.transform = Transform::Dct;
    bm3d
}
