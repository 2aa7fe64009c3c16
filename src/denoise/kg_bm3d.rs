//! KG-BM3D: KGARD takes the impulses out, BM3D the noise that is left (section
//! "KGARD combined with BM3D" of the paper), and past it a second look.
//!
//! KGARD sees twelve pixels in each direction; BM3D sees all that is alike in
//! an image. So a BM3D of the repaired image, too strong at first
//! ([`PILOTS`]), tells impulses from fine texture better than KGARD could:
//! pixels that are far from it are outliers, those that are not are put back
//! as they were. What stands in for the outliers gets better with each look,
//! too.
//!
//! KGARD may have taken texture for an outlier, and what it put there would
//! lead the first pilot astray. So that pilot sees outliers not removed but
//! pulled in ([`LEFT_IN`]): it is strong enough to swallow what is left of an
//! impulse, and texture of which so much is left comes back.
//!
//! Where noise is so strong that impulses drown in it, many are missed at first, and
//! what is missed passes for noise. What the first pilot leaves of the image tells
//! both apart without a decision on any pixel ([`super::mixture`]). With impulses of
//! ±100 on 20 % of the pixels and noise of 30 the estimate of the noise was 20 to 25 %
//! too large, and is 2 to 5 % now; the result gained 0.5 dB on Lena, 0.1 on `camera`,
//! and 1.4 there with 20 % of salt and pepper in noise of 25.
//!
//! Where there is hardly any noise, a pilot that is made for it keeps whatever it
//! sees. So pilots are made for some noise at least, and the last BM3D only for the
//! noise that is there. That gave 31.0 for 25.2 dB on `camera` with 20 % of salt and
//! pepper and no noise, and 42.6 for 39.5 with 1 %.
//!
//! Where impulses are crowded, a pilot that still sees many of them is no judge of the
//! rest, and a second and third of its kind find more ([`CROWDED`]). With 30 % of
//! impulses of any value and no noise that gave 29.8 dB for 26.5. Where so many are black
//! or white, these are known to be bad from the beginning ([`salt_and_pepper`]): with
//! 40 % of them, 27 dB for 15.
//!
//! Impulses fall by chance. Outliers that are side by side more often than that are
//! drawn or written ([`Marked`]), and the first pilot sees them as they are: a page of
//! text in strokes of one pixel keeps 28 dB for 14, lines drawn on `camera` 44 for 33.
//!
//! Where impulses are of one size and stand out ([`STAND_OUT`]), the last BM3D sees their
//! pixels without that size instead of what stands in for them ([`super::usual`]): 0.1 to 0.3 dB
//! on the paper's pictures at 25 and 20 dB. Pilots that see them so lose up to 0.3.
//!
//! Dead rows and columns ([`dead_lines`]) are known to be bad from the beginning: a
//! BM3D finds lines elsewhere that are like them, and would put them back. With one
//! column in a hundred dead in `camera`, in noise of 10, this gives 33.1 dB for 24.3.
//!
//! What it gave on the paper's pictures before sizes were looked at (20 dB and 10 % impulses,
//! one seed, in dB; not clipped / stored as 8 bit):
//!
//! | | Lena | boat | Barbara |
//! | --- | --- | --- | --- |
//! | no second look | 33.99 / 33.66 | 31.80 / 31.53 | 28.44 / 28.22 |
//! | pilots of 2.2 and 1.2, outliers removed | 34.24 / 33.86 | 32.00 / 31.71 | 32.86 / 32.48 |
//! | the same, pulled in | 34.23 / 33.92 | 32.12 / 31.82 | 33.50 / 33.29 |
//! | as it is | 34.19 / 33.86 | 32.08 / 31.83 | 33.75 / 33.58 |
//! | the same, told where the impulses are | 34.44 | 32.72 | 34.06 |
//!
//! Left in by a third more, outliers cost Lena 0.15 at 25 dB. A Wiener filter
//! led by the last pilot, in place of a last BM3D, saves a fifth of the time and
//! loses 0.05. Where impulses are few, strong pilots do harm: on `camera` with 1 %
//! of them they gave 31.8, pilots of the strength used now 33.2. Telling BM3D
//! which pixels were repaired, so that they count less in matching and in
//! aggregation, changed no figure by more than 0.02 and is not done. Measuring by
//! the local misfit of the pilot instead of the noise alone lost 0.1 on Lena and
//! 0.5 on Barbara.

use super::bm3d::{Bm3d, Transform, denoise_image};
use super::denoiser::{DenoisePlan, Denoised, Denoiser};
use super::mixture::{Mixture, more_likely};
use super::strewn::Marked;
use super::survey::{LEAST_IMPULSE, SMALL_ONE_IN};
use super::usual::Usual;
use super::{Conditions, Masks, Plane, PlaneBuf, dead_lines, noise_level, salt_and_pepper};
use crate::error::as_f64;
use crate::real::constant;
use crate::regression::stop::nth_smallest;
use crate::{Error, Kernel, Matern32, Real};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A BM3D that is there to judge by.
struct Pilot {
    /// How strong it is where impulses abound: the multiple of the noise that
    /// it removes.
    strength: f64,
    /// The least noise that it is made for, of the range of the samples. Made for
    /// less, it would keep whatever it sees, and judge nothing.
    least: f64,
    /// Whether it has both stages.
    wiener: bool,
}

const PILOTS: [Pilot; 3] = [
    // It only has to see what is far off, and is three times as fast.
    Pilot { strength: 2.4, least: 10.0 / 255.0, wiener: false },
    Pilot { strength: 1.5, least: 7.0 / 255.0, wiener: true },
    Pilot { strength: 1.0, least: 4.0 / 255.0, wiener: true },
];
/// How much of an outlier the first pilot sees, as a part of where an outlier
/// begins.
const LEFT_IN: f64 = 1.5;
/// The share of impulses from which on they do. With fewer, KGARD has missed
/// next to none, and a strong pilot would take texture for impulses.
const ABOUND: f64 = 0.05;
/// For each of these shares that impulses exceed at first sight, the first pilot
/// looks once more: there are so many that one look does not find nearly all.
const CROWDED: [f64; 2] = [0.16, 0.2];
/// The share of salt and pepper from which on it is known to be bad. KGARD judges
/// less of it better by itself, with what is not at an end of the range.
const STUCK: f64 = 0.12;
/// The distance of a pilot's blocks, and how far it looks.
const PILOT_STEP: usize = 5;
const PILOT_RADIUS: usize = 14;
/// The least size of impulses that residuals alone tell from noise, in its units:
/// what looks smaller may be texture.
const TOLD_APART: f64 = 2.5;
/// How much worse it is to miss an impulse than to take out a good pixel: for the first pilot,
/// and for one that has told impulses from noise itself. What it takes out is put back as it
/// was if the next one thinks better of it.
const COST_OF_MISSING: (f64, f64) = (2.0, 0.7);
/// The least and the greatest residual at which an outlier begins, in units of the noise.
const EXTREMES: (f64, f64) = (2.7, 4.0);
/// Where an outlier begins, as a part of what nearly all of them exceed.
const PART_OF_AMPLITUDE: f64 = 0.5;
/// The least size of impulses, in units of the noise, of which nearly all outliers are.
const STAND_OUT: f64 = 5.0;
/// How far what stands in for an outlier moves beyond where BM3D puts it: each
/// look goes only part of the way.
const BEYOND: f64 = 0.7;

/// Settings of KG-BM3D; all have defaults.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KgBm3d<T, K = Matern32<T>> {
    denoiser: Denoiser<T, K>,
    noise: Option<T>,
    looks: usize,
}

impl<T: Real> KgBm3d<T> {
    /// Everything automatic, for samples from 0 to `peak`.
    pub fn new(peak: T) -> Self {
        Self { denoiser: Denoiser::new(peak), noise: None, looks: PILOTS.len() }
    }
}

impl<T: Real, K: Kernel<T>> KgBm3d<T, K> {
    /// KGARD's own settings.
    pub fn kgard<L: Kernel<T>>(self, denoiser: Denoiser<T, L>) -> KgBm3d<T, L> {
        KgBm3d { denoiser, noise: self.noise, looks: self.looks }
    }

    /// The standard deviation of the noise, for BM3D; estimated after the
    /// impulses are gone unless it is given.
    pub fn noise(mut self, noise: T) -> Self {
        self.noise = Some(noise);
        self
    }

    /// How often to look again, at most and by default three times, and more often
    /// where impulses are crowded. With zero it is the paper's method.
    pub fn looks(mut self, looks: usize) -> Self {
        self.looks = looks.min(PILOTS.len());
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
        Ok(KgBm3dPlan {
            kgard: self.denoiser.plan()?,
            peak: self.denoiser.peak(),
            noise: self.noise,
            looks: self.looks,
        })
    }

    /// Denoises one grey image; [`plan`](Self::plan) first for many.
    ///
    /// # Errors
    /// If a setting is wrong, or a sample not finite.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<KgBm3dDenoised<T>, Error> {
        self.plan()?.denoise(&[image], Masks::default())
    }
}

/// KG-BM3D with its plans, for any number of images.
#[derive(Debug, Clone)]
pub struct KgBm3dPlan<T> {
    pub(crate) kgard: DenoisePlan<T>,
    peak: T,
    noise: Option<T>,
    looks: usize,
}

/// An image that KG-BM3D has denoised, channel by channel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct KgBm3dDenoised<T> {
    /// The channels without outliers and noise.
    pub channels: Vec<PlaneBuf<T>>,
    /// What was added to each pixel that is an outlier; zero elsewhere.
    pub outliers: Vec<PlaneBuf<T>>,
    /// The standard deviation of the noise in each channel.
    pub noise: Vec<T>,
    /// What KGARD's survey said about each channel.
    pub conditions: Vec<Conditions<T>>,
    /// The median of the regions' lambdas in the first channel.
    pub lambda: T,
}

/// An image between KGARD and BM3D.
#[derive(Debug, Clone)]
pub struct Repaired<'a, T> {
    channels: Vec<Channel<'a, T>>,
    keep: Option<Plane<'a, bool>>,
}

/// One channel at work.
#[derive(Debug, Clone)]
struct Channel<'a, T> {
    image: Plane<'a, T>,
    samples: Vec<T>,
    repaired: Vec<T>,
    /// Known to be outliers.
    bad: Vec<bool>,
    outlier: Vec<bool>,
    conditions: Conditions<T>,
    /// Where an outlier begins, in units of the noise.
    extreme: T,
    /// What nearly all outliers exceed.
    amplitude: T,
    noise: T,
    lambda: T,
}

impl<T: Real> KgBm3dPlan<T> {
    /// Denoises an image. Three channels are red, green and blue, and are
    /// filtered together; any others each by itself. Masks are for all
    /// channels.
    ///
    /// # Errors
    /// As [`DenoisePlan::denoise`]; [`Error::Empty`] without a channel,
    /// [`Error::Length`] if the channels differ in size.
    pub fn denoise(
        &self,
        image: &[Plane<'_, T>],
        masks: Masks<'_>,
    ) -> Result<KgBm3dDenoised<T>, Error> {
        self.finish(self.repair(image, masks)?)
    }

    /// The first half of [`denoise`](Self::denoise): KGARD, and the impulses taken
    /// out.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn repair<'a>(
        &self,
        image: &[Plane<'a, T>],
        masks: Masks<'a>,
    ) -> Result<Repaired<'a, T>, Error> {
        self.repair_by(image, masks, |channel, masks| self.kgard.denoise(channel, masks))
    }

    /// The same with KGARD done by `kgard`, wherever that is.
    pub(crate) fn repair_by<'a>(
        &self,
        image: &[Plane<'a, T>],
        masks: Masks<'a>,
        mut kgard: impl FnMut(Plane<'a, T>, Masks<'_>) -> Result<Denoised<T>, Error>,
    ) -> Result<Repaired<'a, T>, Error> {
        let first = image.first().ok_or(Error::Empty { what: "image" })?;
        for channel in image {
            Error::check_len("width of a channel", channel.width(), first.width())?;
            Error::check_len("height of a channel", channel.height(), first.height())?;
        }
        for mask in [masks.bad, masks.keep].into_iter().flatten() {
            Error::check_len("mask's width", mask.width(), first.width())?;
            Error::check_len("mask's height", mask.height(), first.height())?;
        }
        let channels = image.iter().map(|&channel| {
            let bad = known_to_be_bad(channel, masks);
            let plane = Plane::contiguous(&bad, channel.width(), channel.height());
            let found =
                kgard(channel, Masks { bad: bad.contains(&true).then_some(plane), ..masks })?;
            self.repair_channel(channel, bad, &found)
        });
        Ok(Repaired { channels: channels.collect::<Result<_, _>>()?, keep: masks.keep })
    }

    /// The second half of [`denoise`](Self::denoise): BM3D, and the second look.
    ///
    /// # Errors
    /// As [`Bm3d::denoise`].
    pub fn finish(&self, repaired: Repaired<'_, T>) -> Result<KgBm3dDenoised<T>, Error> {
        let Repaired { mut channels, keep } = repaired;
        let impulses = channels.iter().map(|channel| channel.conditions.impulses);
        let impulses = impulses.fold(T::zero(), T::max);
        let abound = (impulses / constant(ABOUND)).min(T::one());
        let again = CROWDED.iter().filter(|&&share| impulses > constant(share)).count();
        let pilots = &PILOTS[..self.looks];
        let pilots = pilots.iter().take(1).cycle().take(again).chain(pilots);
        for (look, pilot) in pilots.enumerate() {
            let strength = T::one() + abound * constant(pilot.strength - 1.0);
            let least = self.peak * constant(pilot.least);
            let sigma = |channel: &Channel<'_, T>| strength * channel.noise.max(least);
            let settings = |sigma| pilot.settings(sigma, self.peak);
            let pilots = match look {
                0 => filter(&channels, |channel| channel.pulled_in(least).into(), sigma, settings)?,
                _ => filter(&channels, Channel::as_repaired, sigma, settings)?,
            };
            for (channel, pilot) in channels.iter_mut().zip(&pilots) {
                if look == 0 && channel.noise >= least {
                    self.tell_apart(channel, pilot.samples());
                }
                channel.look_again(pilot.samples(), least, keep);
                // An estimate that rises has impulses in it that were let go; with it
                // the limit would rise, and more would be.
                channel.noise = channel.noise.min(self.noise_of(channel)?);
            }
        }
        let settings = |sigma| Bm3d::for_noise(sigma, self.peak);
        if self.looks > 0 {
            for channel in &mut channels {
                channel.measure_again(self.peak);
            }
        }
        let filtered = filter(&channels, Channel::as_repaired, |channel| channel.noise, settings)?;
        let mut result = KgBm3dDenoised {
            channels: Vec::with_capacity(channels.len()),
            outliers: Vec::with_capacity(channels.len()),
            noise: channels.iter().map(|channel| channel.noise).collect(),
            conditions: channels.iter().map(|channel| channel.conditions).collect(),
            lambda: channels[0].lambda,
        };
        for (channel, mut filtered) in channels.into_iter().zip(filtered) {
            result.outliers.push(channel.finish(&mut filtered, keep)?);
            result.channels.push(filtered);
        }
        Ok(result)
    }

    /// A channel with what KGARD has `found` taken out.
    fn repair_channel<'a>(
        &self,
        image: Plane<'a, T>,
        bad: Vec<bool>,
        found: &Denoised<T>,
    ) -> Result<Channel<'a, T>, Error> {
        // Bad pixels may hold anything; KGARD's image does not.
        let mut samples = image.to_vec();
        let restored = found.image.samples();
        for ((sample, &restored), _) in samples.iter_mut().zip(restored).zip(&bad).filter(|s| *s.1)
        {
            *sample = restored;
        }
        let outlier: Vec<bool> = found.outliers.samples().iter().map(|&u| u != T::zero()).collect();
        // The paper's method subtracts the outliers. Pilots are led by what KGARD makes of their
        // pixels: these are smooth, and not as they would be without the usual size.
        let repair = |i: usize| match (outlier[i] && !bad[i], self.looks) {
            (true, 0) => samples[i] - found.outliers.samples()[i],
            (true, _) => restored[i],
            (false, _) => samples[i],
        };
        let repaired: Vec<T> = (0..samples.len()).map(repair).collect();
        let sizes = samples.iter().zip(&repaired).map(|(&y, &z)| (y - z).abs());
        let amplitude = nearly_all_exceed(sizes.filter(|&u| u > T::zero()).collect());
        let mut channel = Channel {
            image,
            samples,
            repaired,
            bad,
            outlier,
            conditions: found.report.conditions,
            extreme: extreme(&found.report.conditions),
            amplitude,
            noise: T::zero(),
            lambda: found.report.lambda,
        };
        channel.noise = self.noise_of(&channel)?;
        Ok(channel)
    }

    /// Where impulses drown in the noise, neither KGARD nor the calm parts of the
    /// image tell how many there are; what the first pilot leaves does. Later pilots
    /// are weaker and keep some of the noise for themselves.
    fn tell_apart(&self, channel: &mut Channel<'_, T>, pilot: &[T]) {
        let residuals = channel.samples.iter().zip(pilot).zip(&channel.bad);
        let residuals = residuals.filter(|(_, bad)| !**bad).map(|((&y, &pilot), _)| y - pilot);
        let Some(Mixture { noise, share, amplitude }) = Mixture::of(residuals, channel.noise)
        else {
            return;
        };
        let least = (TOLD_APART * noise).max(LEAST_IMPULSE * as_f64(self.peak));
        // Where most of it seems to be impulses, the pilot has failed.
        if !(ABOUND..0.5).contains(&share) || amplitude < least {
            return;
        }
        if self.noise.is_none() {
            channel.noise = channel.noise.min(constant(noise));
        }
        let amplitude = amplitude / as_f64(channel.noise);
        let extreme = constant(more_likely(share, amplitude, COST_OF_MISSING.1));
        channel.extreme = channel.extreme.min(extreme);
    }

    fn noise_of(&self, channel: &Channel<'_, T>) -> Result<T, Error> {
        let (repaired, ignore) = (&channel.repaired, &channel.outlier);
        let estimate = || noise_level(channel.plane_of(repaired), Some(channel.plane_of(ignore)));
        self.noise.map_or_else(estimate, Ok)
    }
}

/// Where an outlier begins for a pilot, by what is known of the image. It is less often misled
/// by details than KGARD is.
fn extreme<T: Real>(conditions: &Conditions<T>) -> T {
    let [share, amplitude] =
        [conditions.impulses, conditions.amplitude / conditions.noise].map(as_f64);
    let (least, most) = EXTREMES;
    if share > 0.0 {
        constant(more_likely(share, amplitude, COST_OF_MISSING.0).clamp(least, most))
    } else {
        constant(most)
    }
}

/// The pixels of a channel that are known to be bad, or seen to be.
fn known_to_be_bad<T: Real>(channel: Plane<'_, T>, masks: Masks<'_>) -> Vec<bool> {
    let width = channel.width();
    let stuck = salt_and_pepper(channel).into_samples();
    let share = stuck.iter().filter(|&&stuck| stuck).count() as f64 / stuck.len() as f64;
    let is = |mask: Option<Plane<'_, bool>>, i: usize| {
        mask.is_some_and(|mask| mask.get(i % width, i / width))
    };
    let mut bad = dead_lines(channel).into_samples();
    for (i, bad) in bad.iter_mut().enumerate() {
        let seen = *bad || share > STUCK && stuck[i];
        *bad = seen && !is(masks.keep, i) || is(masks.bad, i);
    }
    bad
}

/// BM3D of what is `seen` of the channels, for noise of deviation `sigma`.
fn filter<'a, 'b, T: Real>(
    channels: &'a [Channel<'b, T>],
    seen: impl Fn(&'a Channel<'b, T>) -> Cow<'a, [T]>,
    sigma: impl Fn(&Channel<'b, T>) -> T,
    settings: impl Fn(T) -> Bm3d<T>,
) -> Result<Vec<PlaneBuf<T>>, Error> {
    let seen: Vec<_> = channels.iter().map(seen).collect();
    let planes = channels.iter().zip(&seen);
    let planes = planes.map(|(channel, seen)| (channel.plane_of(seen), sigma(channel)));
    denoise_image(&planes.collect::<Vec<_>>(), settings)
}

impl Pilot {
    /// Pilots need not be fine.
    fn settings<T: Real>(&self, sigma: T, peak: T) -> Bm3d<T> {
        let mut bm3d = Bm3d::for_noise(sigma, peak);
        for stage in [&mut bm3d.first, &mut bm3d.second] {
            stage.step = PILOT_STEP;
            stage.radius = PILOT_RADIUS;
            // Blocks are alike in spite of the impulses in them.
            stage.max_distance = T::infinity();
        }
        bm3d.first.transform = Transform::Dct;
        bm3d.wiener = self.wiener;
        bm3d
    }
}

impl<T: Real> Channel<'_, T> {
    /// As large as the image.
    fn plane_of<'s, S: Copy>(&self, samples: &'s [S]) -> Plane<'s, S> {
        Plane::contiguous(samples, self.image.width(), self.image.height())
    }

    /// The image with what stands in for outliers.
    fn as_repaired(&self) -> Cow<'_, [T]> {
        Cow::Borrowed(&self.repaired)
    }

    /// Puts in place of outliers what they would be without the size that they usually have, as
    /// far as there is one: what stands in for them says which are of that size. Where impulses
    /// drown in the noise, too many of them are none.
    fn measure_again(&mut self, peak: T) {
        let usual = Usual::new(&self.conditions, peak);
        if usual.size <= constant::<T>(STAND_OUT) * self.conditions.noise {
            return;
        }
        for (i, repaired) in self.repaired.iter_mut().enumerate() {
            if self.outlier[i] && !self.bad[i] {
                let y = self.samples[i];
                *repaired = y - usual.of(y, y - *repaired);
            }
        }
    }

    /// The image with its outliers no farther off than [`LEFT_IN`] allows, for a pilot
    /// that is made for the `least` noise. Outliers that are connected where by chance
    /// they would not be may be a drawing, and are left where they are.
    fn pulled_in(&self, least: T) -> Vec<T> {
        let most = constant::<T>(LEFT_IN) * self.extreme * self.noise.max(least);
        let (samples, repaired) = (&self.samples, &self.repaired);
        let outliers = Marked {
            width: self.image.width(),
            height: self.image.height(),
            is_bright: |i: usize| {
                (self.outlier[i] && !self.bad[i]).then(|| samples[i] > repaired[i])
            },
        };
        let drawn = !outliers.are_strewn();
        let pull = |i: usize| {
            let off = samples[i] - repaired[i];
            let drawn = drawn && outliers.is_connected(i);
            repaired[i] + if drawn { off } else { off.max(-most).min(most) }
        };
        (0..samples.len()).map(pull).collect()
    }

    /// Which pixels are outliers, and what stands in for them, in view of a
    /// denoised image that was made for the `least` noise.
    fn look_again(&mut self, pilot: &[T], least: T, keep: Option<Plane<'_, bool>>) {
        let width = self.image.width();
        let by_size = self.amplitude * constant(PART_OF_AMPLITUDE);
        let limit = (self.extreme * self.noise.max(least)).max(by_size);
        let further = T::one() + constant(BEYOND);
        for (i, &pilot) in pilot.iter().enumerate() {
            let was = self.outlier[i];
            let keep = keep.is_some_and(|keep| keep.get(i % width, i / width));
            let is = self.bad[i] || !keep && (self.samples[i] - pilot).abs() > limit;
            self.outlier[i] = is;
            self.repaired[i] = match (is, was) {
                (false, _) => self.samples[i],
                (true, false) => pilot,
                (true, true) => self.repaired[i] + further * (pilot - self.repaired[i]),
            };
        }
    }

    /// The outliers, and the pixels to be left alone put back.
    fn finish(
        self,
        filtered: &mut PlaneBuf<T>,
        keep: Option<Plane<'_, bool>>,
    ) -> Result<PlaneBuf<T>, Error> {
        let (width, height) = (self.image.width(), self.image.height());
        let mut outliers = alloc::vec![T::zero(); width * height];
        for (i, pixel) in filtered.samples_mut().iter_mut().enumerate() {
            if keep.is_some_and(|keep| keep.get(i % width, i / width)) {
                *pixel = self.samples[i];
            } else if self.outlier[i] {
                let u = self.samples[i] - *pixel;
                // A bad pixel that happens to be right is one all the same.
                outliers[i] = if u == T::zero() { T::min_positive_value() } else { u };
            }
        }
        PlaneBuf::new(outliers, width, height)
    }
}

/// What all but a few of the values exceed; zero if there are none.
fn nearly_all_exceed<T: Real>(mut values: Vec<T>) -> T {
    if values.is_empty() {
        return T::zero();
    }
    let small = values.len() / SMALL_ONE_IN;
    nth_smallest(&mut values, small)
}
