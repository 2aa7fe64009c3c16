//! One channel in the loop of KG-BM3D.

use super::super::denoised::{ChannelReport, Denoised, Doubt};
use super::super::misfit::misfit;
use super::super::model::{LEAST_DEVIATION, Model, Pixels};
use super::super::noise_law::NoiseLaw;
use super::super::noise_level::noise_level;
use super::super::units::Units;
use super::evidence::{Marks, Verdict};
use super::randomness::Marked;
use super::stabilised::Scale;
use crate::error::as_f64;
use crate::image::{Plane, PlaneBuf};
use crate::real::{constant, count};
use crate::{Error, Real};
use alloc::vec::Vec;
use num_traits::{Float, ToPrimitive};

/// The first pilot sees KGARD's outliers no larger than this, in units: what KGARD takes for an
/// impulse may be texture, and what it put there would lead the pilot astray.
const LEFT_IN: f64 = 100.0;
/// The probability that a mark of KGARD is an impulse, before the model has said anything.
const MARKED: f32 = 0.9;
/// Residuals of more than so many deviations of the noise have impulses among them.
const SETTLED: f32 = 2.0;
/// While they have, each pilot is weaker than the one before, at least by so much.
const WEAKER: f32 = 1.5;
/// Weight of the last pilot's strength in the geometric mean that is the strength of the next.
const PART_OF_LAST: f32 = 1.0 / 3.0;
/// Residuals of a pilot as a part of the noise: a twentieth to a tenth of its variance stays in the
/// pilot.
const RESIDUAL_OF_NOISE: f32 = 0.96;

/// Marks that follow the structure are worth a warning if they are one in so many pixels.
const DOUBTFUL_ONE_IN: usize = 100;
/// The share of impulses beyond which the result is doubtful, in percent.
const MOST_IMPULSES: usize = 35;

/// A channel; samples are in units.
#[derive(Debug, Clone)]
pub(super) struct Channel<'a, T> {
    image: Plane<'a, T>,
    /// Where the noise grows with the brightness.
    scale: Option<Scale<T>>,
    samples: Vec<T>,
    /// The samples without what impulses have added, as far as that is known.
    cleaned: Vec<T>,
    /// What KGARD has found impulses to be off by.
    outliers: Vec<T>,
    /// Whether pixels are marked by KGARD, known to be impulses, and known either way.
    marked: Vec<bool>,
    bad: Vec<bool>,
    known: Vec<bool>,
    /// The probability of an impulse.
    impulse: Vec<f32>,
    model: Model,
    /// The least and the greatest sample.
    ends: (f32, f32),
    /// What KGARD reported.
    report: ChannelReport<T>,
    pub(super) noise: T,
    /// The noise where the estimate for white noise would be wrong.
    known_noise: Option<T>,
    /// For the next pilot.
    pub(super) strength: T,
    /// Root mean square of the residuals of the last pilot, without impulses.
    residual: f32,
    /// The least of these of pilots that were as strong as the noise of calm windows.
    bound: f32,
}

impl<'a, T: Real> Channel<'a, T> {
    /// A channel of which KGARD has `found` the outliers.
    pub(super) fn new(
        image: Plane<'a, T>,
        mut samples: Vec<T>,
        bad: Vec<bool>,
        keep: Option<Plane<'a, bool>>,
        found: &Denoised<T>,
        scale: Option<Scale<T>>,
        known_noise: Option<T>,
    ) -> Result<Self, Error> {
        let restored = found.channels[0].samples();
        let mut ends = (T::infinity(), T::neg_infinity());
        for (i, sample) in samples.iter_mut().enumerate() {
            // Bad pixels may hold anything; KGARD's image does not.
            if bad[i] {
                *sample = restored[i];
            } else {
                ends = (ends.0.min(*sample), ends.1.max(*sample));
            }
        }
        let width = image.width();
        let kept = |i: usize| keep.is_some_and(|keep| keep.get(i % width, i / width));
        let known: Vec<bool> = (0..samples.len()).map(|i| bad[i] || kept(i)).collect();
        let outliers = found.outliers.values[0].samples().iter().zip(&bad);
        let outliers: Vec<T> = outliers.map(|(&u, &bad)| if bad { T::zero() } else { u }).collect();
        let marked = found.outliers.mask[0].samples().iter().zip(&bad);
        let marked: Vec<bool> = marked.map(|(&marked, &bad)| marked && !bad).collect();
        let impulse = |(&marked, &bad): (&bool, &bool)| match (bad, marked) {
            (true, _) => 1.0,
            (false, true) => MARKED,
            (false, false) => 0.0,
        };
        let impulse = marked.iter().zip(&bad).map(impulse).collect();
        let share = marked.iter().filter(|&&marked| marked).count() as f32 / marked.len() as f32;
        let mut channel = Self {
            image,
            scale,
            cleaned: samples.clone(),
            samples,
            outliers,
            marked,
            bad,
            known,
            impulse,
            model: Model::new(share),
            ends: (single(ends.0), single(ends.1)),
            report: found.report.channels[0],
            noise: T::zero(),
            known_noise,
            strength: T::zero(),
            residual: f32::INFINITY,
            bound: f32::INFINITY,
        };
        channel.pull_in()?;
        Ok(channel)
    }

    /// What the first pilot sees: the outliers no larger than [`LEFT_IN`]. It is as strong
    /// as the noise or as their root mean square, whichever is larger. Impulses fall by chance:
    /// outliers that are side by side more often are a drawing, and are left as they are.
    fn pull_in(&mut self) -> Result<(), Error> {
        self.noise = self.noise_level()?;
        let most = constant::<T>(LEFT_IN);
        let (width, height) = (self.image.width(), self.image.height());
        self.weigh_evidence();
        let (marked, outliers) = (self.marked.clone(), &self.outliers);
        let is_bright = |i: usize| marked[i].then(|| outliers[i] > T::zero());
        let strewn = Marked { width, height, is_bright };
        let has_drawing = !strewn.are_strewn();
        let drawn: Vec<bool> =
            (0..marked.len()).map(|i| has_drawing && strewn.is_connected(i)).collect();
        let mut squares = T::zero();
        for i in (0..drawn.len()).filter(|&i| marked[i]) {
            if drawn[i] {
                self.marked[i] = false;
                self.impulse[i] = 0.0;
                continue;
            }
            let u = self.outliers[i];
            let left = u.max(-most).min(most);
            self.cleaned[i] = self.samples[i] - (u - left);
            squares = squares + left * left;
        }
        self.strength = self.noise.max((squares / count(self.samples.len())).sqrt());
        Ok(())
    }

    /// Drops the marks that follow the structure of the picture: those pixels are no impulses.
    fn weigh_evidence(&mut self) {
        let samples: Vec<f32> = self.samples.iter().map(|&y| single(y)).collect();
        let marks = Marks {
            samples: &samples,
            width: self.image.width(),
            marked: &self.marked,
            known: &self.known,
            noise: single(self.noise),
        };
        let flat = match marks.verdict() {
            Verdict::Anywhere => return,
            Verdict::Flat(flat) => flat,
            Verdict::Nowhere => alloc::vec![false; self.marked.len()],
        };
        let mut dropped = 0;
        for i in 0..flat.len() {
            if flat[i] || self.known[i] {
                continue;
            }
            self.known[i] = true;
            dropped += usize::from(self.marked[i]);
            self.marked[i] = false;
            self.impulse[i] = 0.0;
            self.outliers[i] = T::zero();
        }
        if dropped * DOUBTFUL_ONE_IN >= flat.len() {
            self.report.doubt = Some(Doubt::Structure);
        }
    }

    /// The paper's way: KGARD's outliers subtracted.
    pub(super) fn subtract_outliers(&mut self) {
        for (cleaned, (&y, &u)) in
            self.cleaned.iter_mut().zip(self.samples.iter().zip(&self.outliers))
        {
            *cleaned = y - u;
        }
    }

    /// Asks the model which pixels are impulses in view of a `pilot`, and takes out what they
    /// have added. The noise is estimated unless it is `told`. Impulses that were not known enlarge
    /// the misfit around them, so that what is found in one of the `passes` helps the next.
    pub(super) fn judge(
        &mut self,
        pilot: &[T],
        told: Option<T>,
        passes: usize,
    ) -> Result<(), Error> {
        let sample: Vec<f32> = self.samples.iter().map(|&y| single(y)).collect();
        let residual = self.samples.iter().zip(pilot).map(|(&y, &f)| single(y - f));
        let residual: Vec<f32> = residual.collect();
        let mut variance = 0.0;
        for _ in 0..passes {
            let windows = self.noise_of_windows()?;
            self.noise = match told.or(self.known_noise) {
                Some(known) => known,
                None => windows.min(constant(f64::from(self.bound))),
            };
            let noise = single(self.noise);
            let weight: Vec<f32> = self.impulse.iter().map(|p| 1.0 - p).collect();
            let posterior = self.model.judge(Pixels {
                residual: &residual,
                sample: &sample,
                deviation: &misfit(&residual, &weight, self.image.width(), noise),
                marked: &self.marked,
                known: &self.known,
                ends: self.ends,
                noise,
            });
            for (i, (p, added)) in posterior.impulse.into_iter().zip(posterior.added).enumerate() {
                if self.bad[i] {
                    self.cleaned[i] = pilot[i];
                } else {
                    self.impulse[i] = p;
                    self.cleaned[i] = self.samples[i] - constant(f64::from(added));
                }
            }
            variance = posterior.variance;
            self.measure(&residual, &sample);
            if self.strength >= windows {
                self.bound = self.bound.min(self.residual / RESIDUAL_OF_NOISE);
            }
        }
        let mut strength = Float::sqrt(variance);
        if !self.has_settled() {
            // Residuals may be large because the pilot has lost texture: so less each time.
            strength = strength.max(self.residual.min(single(self.strength) / WEAKER));
        }
        // Impulses that a weak pilot shows are never seen again: so not too weak at once.
        let last = single(self.strength).max(strength);
        let strength = Float::powf(strength, 1.0 - PART_OF_LAST) * Float::powf(last, PART_OF_LAST);
        self.strength = constant(f64::from(strength));
        Ok(())
    }

    /// The root mean square of the residuals, weighted by the probability that pixels are clean.
    fn measure(&mut self, residual: &[f32], sample: &[f32]) {
        let (mut squares, mut weights) = (0.0, 0.0);
        for ((e, p), y) in residual.iter().zip(&self.impulse).zip(sample) {
            // Where samples were cut off there is less noise.
            let counts = *y > self.ends.0 && *y < self.ends.1;
            let clean = f64::from(if counts { 1.0 - p } else { 0.0 });
            squares += clean * f64::from(*e) * f64::from(*e);
            weights += clean;
        }
        let mean = Float::sqrt(squares / Float::max(weights, 1.0));
        self.residual = mean.to_f32().unwrap_or(f32::MAX);
    }

    /// Whether the residuals of the last pilot are little more than noise.
    pub(super) fn has_settled(&self) -> bool {
        self.residual < SETTLED * single(self.noise).max(LEAST_DEVIATION)
    }

    pub(super) fn cleaned(&self) -> Plane<'_, T> {
        self.plane_of(&self.cleaned)
    }

    /// The noise without impulses: that of calm windows, or of the residuals if that is less. Where
    /// impulses are not much larger than the noise, many are less likely than not, and pass for
    /// noise in the windows; the residuals count by the probability that they are clean. A pilot
    /// that is weaker than the noise keeps some of it, and its residuals say nothing.
    pub(super) fn noise_level(&self) -> Result<T, Error> {
        match self.known_noise {
            Some(known) => Ok(known),
            None => Ok(self.noise_of_windows()?.min(constant(f64::from(self.bound)))),
        }
    }

    fn noise_of_windows(&self) -> Result<T, Error> {
        let ignore: Vec<bool> = self.impulse.iter().map(|&p| p > 0.5).collect();
        noise_level(self.plane_of(&self.samples), Some(self.plane_of(&ignore)))
    }

    /// The deviation of the noise in samples.
    fn noise_in_samples(&self, units: Units<T>) -> T {
        let noise = units.difference(self.noise);
        self.scale.map_or(noise, |scale| scale.difference(noise))
    }

    /// How the noise depends on the brightness, if it is `noise` on average.
    fn law(&self, noise: T) -> NoiseLaw<T> {
        let Some(scale) = self.scale else { return NoiseLaw::new(T::zero(), noise * noise) };
        // The law was estimated as that of white noise.
        let factor = self.known_noise.map_or(T::one(), |_| noise / scale.difference(T::one()));
        let law = scale.law();
        NoiseLaw::new(factor * factor * law.gain, factor * factor * law.floor)
    }

    /// The result in samples, with the pixels to be kept as they were. The noise is reported as
    /// it was `told`, or as estimated.
    pub(super) fn finish(
        self,
        filtered: PlaneBuf<T>,
        units: Units<T>,
        keep: Option<Plane<'_, bool>>,
        told: Option<T>,
        correlation_length: T,
    ) -> Denoised<T> {
        let (width, height) = (self.image.width(), self.image.height());
        let mut pixels = filtered;
        let mut mask = alloc::vec![false; width * height];
        let mut values = alloc::vec![T::zero(); width * height];
        for (i, pixel) in pixels.samples_mut().iter_mut().enumerate() {
            let (x, y) = (i % width, i / width);
            let was = self.image.get(x, y);
            *pixel = units.sample(*pixel);
            if let Some(scale) = &self.scale {
                *pixel = scale.back(*pixel);
            }
            if keep.is_some_and(|keep| keep.get(x, y)) {
                *pixel = was;
            } else if self.impulse[i] > 0.5 {
                mask[i] = true;
                values[i] = was - *pixel;
            }
        }
        let noise = self.noise_in_samples(units);
        let impulses = mask.iter().filter(|&&is_outlier| is_outlier).count();
        let too_many = 100 * impulses > MOST_IMPULSES * mask.len();
        let report = ChannelReport {
            doubt: self.report.doubt.or(too_many.then_some(Doubt::ManyImpulses)),
            outliers: impulses,
            noise: Some(told.unwrap_or(noise)),
            law: Some(self.law(noise)),
            correlation_length: Some(correlation_length),
            ..self.report
        };
        let mask = PlaneBuf::of(mask, width, height);
        let values = PlaneBuf::of(values, width, height);
        Denoised::of_channel(pixels, mask, values, report)
    }

    /// As large as the image.
    fn plane_of<'s, S: Copy>(&self, samples: &'s [S]) -> Plane<'s, S> {
        Plane::contiguous(samples, self.image.width(), self.image.height())
    }
}

/// A value for the model, which computes in single precision.
fn single<T: Real>(x: T) -> f32 {
    as_f64(x).to_f32().unwrap_or(f32::MAX)
}
