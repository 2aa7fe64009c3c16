//! The model of a pixel: clean, offset or replaced.
//!
//! A sample is $y = f + n$ with noise n. With probability $\pi$ it is an impulse, of one of two
//! kinds: *offset*, $y = f + n + u$, or *replaced* by a value w, whatever f is. $\hat f$ is a
//! denoised image (a pilot) and $e = y - \hat f$ its residual. Then
//!
//! | pixel | sample | likelihood |
//! | --- | --- | --- |
//! | clean | $f + n$ | $t(e)$ |
//! | offset | $f + n + u$ | $\sum_u G(u)\\, t(e - u)$ |
//! | replaced | $w$ | $h(y)$ |
//!
//! $t$ is the density of Student's distribution with 24 degrees of freedom and the scale v of the
//! pixel, the deviation of the residuals [around it](super::misfit): noise, and texture that the
//! pilot has missed. It is not normal because v itself is known from 24 residuals only; normal
//! tails take every tenth pixel of a texture for an impulse.
//!
//! G is the histogram of the offsets and h that of the replaced values. Impulses of one size, salt
//! and pepper, flipped bits and values of any size are shapes of these two histograms, none is a
//! special case. Both, and the shares of the kinds, are estimated from the image itself by
//! expectation-maximisation (EM): each pixel counts in G and h by its probability of being of
//! that kind.
//!
//! A sample at an end of the range may have been cut off there. Its likelihood is not a density but
//! the probability of the end and what lies beyond.
//!
//! What KGARD has marked enters as the prior: the share of impulses among marked and among
//! other pixels is estimated as well. A mark and the residual see the same noise and are not
//! independent, so that the prior's log-odds count by [`WEIGHT_OF_MARKS`] only.
//!
//! The result for each pixel is the posterior probability p of an impulse and the posterior mean
//! of what it added to the sample. Of an offset pixel that is $u$, and what remains is a
//! measurement with the noise n; a replaced one says nothing of f, and all of e goes. Both are
//! weighted by their probabilities: nothing is decided by a threshold.
//!
//! All values are in [`units`](super::units): the image without impulses reaches from 0 to 255.

mod likelihood;

pub(super) use self::likelihood::LEAST_DEVIATION;
use self::likelihood::{Class, INSIDE, LEAST_DENSITY, Likelihood, OFFSETS, Table, offset};
use crate::linalg::simd::{Routine, dispatch};
use crate::linalg::vector::add_scaled;
use crate::parallel::each;
use alloc::vec::Vec;
use num_traits::{Float, ToPrimitive};

/// Offsets of at least so many deviations of the noise can be told from it.
const LEAST_OFFSET: f32 = 2.5;
/// Classes of replaced values, over the range of the samples.
const VALUES: usize = 256;
/// Pixels with which $h$ begins as a uniform distribution, and a group's prior as the mean.
const PIXELS_OF_HISTOGRAM: f64 = 20.0;
const PIXELS_OF_GROUP: f64 = 50.0;
/// Weight of the log-odds of KGARD's marks beside those of the residual: 0 ignores the marks,
/// 1 takes both for independent.
const WEIGHT_OF_MARKS: f32 = 0.25;
/// Rounds of EM. Later pilots begin with the histograms of the one before.
const ROUNDS: usize = 10;
/// The histograms are estimated from so many pixels at most, evenly spread in the order of memory.
const SAMPLED: usize = 1 << 16;
/// Pixels that are judged at a time.
const PORTION: usize = 1 << 14;
/// Bounds that keep logarithms and quotients finite.
const LEAST_SHARE: f32 = 1e-6;
const MOST_SHARE: f32 = 0.999;
/// The least part of a class of offsets, so that none vanishes for good.
const LEAST_PART: f32 = 1e-7;

/// What is known of each pixel of a channel.
#[derive(Clone, Copy)]
pub(super) struct Pixels<'a> {
    /// Sample less pilot.
    pub(super) residual: &'a [f32],
    pub(super) sample: &'a [f32],
    /// The deviation of residuals around the pixel, without impulses.
    pub(super) deviation: &'a [f32],
    /// KGARD's outliers.
    pub(super) marked: &'a [bool],
    /// Pixels of which it is known whether they are impulses: they do not count.
    pub(super) known: &'a [bool],
    /// The least and the greatest sample of the channel.
    pub(super) ends: (f32, f32),
    /// Deviation of the noise.
    pub(super) noise: f32,
}

/// What the model says about each pixel.
pub(super) struct Posterior {
    /// Probability of an impulse.
    pub(super) impulse: Vec<f32>,
    /// The mean of what an impulse has added to the sample: to be taken out.
    pub(super) added: Vec<f32>,
    /// The mean variance of what is left then.
    pub(super) variance: f32,
}

/// The parameters: shares and histograms.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// Shares of pixels that are offset, and replaced.
    offset: f32,
    replaced: f32,
    /// $G$, symmetric: the parts of the classes of offsets.
    offsets: Vec<f32>,
    /// $h$: the parts of the classes of values.
    values: Vec<f32>,
    /// The share of impulses among the pixels that KGARD has not marked, and among the others.
    groups: [f32; 2],
}

impl Model {
    /// The model to begin with, for a share of impulses: nothing is known of their sizes.
    pub(super) fn new(share: f32) -> Self {
        let share = share.clamp(LEAST_SHARE, 0.5);
        Self {
            offset: share / 2.0,
            replaced: share / 2.0,
            offsets: alloc::vec![1.0; OFFSETS],
            values: alloc::vec![1.0 / VALUES as f32; VALUES],
            groups: [share; 2],
        }
    }

    /// Adapts the model to an image and says what it tells of each pixel.
    pub(super) fn judge(&mut self, pixels: Pixels<'_>) -> Posterior {
        dispatch(Judgement { model: self, pixels })
    }

    /// Leaves out offsets that cannot be told from noise, and gives the others a part.
    fn keep_offsets_beyond(&mut self, least: f32) {
        for (k, part) in self.offsets.iter_mut().enumerate() {
            *part = if offset(k).abs() < least { 0.0 } else { part.max(LEAST_PART) };
        }
        normalise(&mut self.offsets);
    }

    /// The prior of the two groups, with tempered log-odds.
    fn priors(&self) -> [f32; 2] {
        let log_odds = |p: f32| {
            let p = p.clamp(LEAST_SHARE, MOST_SHARE);
            Float::ln(p / (1.0 - p))
        };
        let mean = log_odds(self.offset + self.replaced);
        self.groups.map(|group| {
            let tempered = mean + WEIGHT_OF_MARKS * (log_odds(group) - mean);
            1.0 / (1.0 + Float::exp(-tempered))
        })
    }
}

/// The kinds' likelihoods times their priors: clean, offset, replaced, of a pixel whose value has
/// the density `value` among replaced ones.
#[inline(always)]
fn weigh(model: &Model, prior: f32, likelihood: Likelihood, value: f32) -> [f32; 3] {
    let of_impulses = prior / (model.offset + model.replaced);
    [
        (1.0 - prior) * likelihood.clean,
        of_impulses * model.offset * likelihood.offset,
        of_impulses * model.replaced * value,
    ]
}

struct Judgement<'a> {
    model: &'a mut Model,
    pixels: Pixels<'a>,
}

impl Routine for Judgement<'_> {
    type Output = Posterior;
    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Posterior {
        let Self { model, pixels } = self;
        let table = Table::new(&pixels);
        let (classes, class_of) = table.classes(&pixels);
        model.keep_offsets_beyond(LEAST_OFFSET * pixels.noise.max(LEAST_DEVIATION));
        for _ in 0..ROUNDS {
            round::<FUSED>(model, &table, &pixels, &classes, &class_of);
        }
        posterior::<FUSED>(model, &table, &pixels, &classes, &class_of)
    }
}

/// One round of EM.
#[inline(always)]
fn round<const FUSED: bool>(
    model: &mut Model,
    table: &Table,
    pixels: &Pixels<'_>,
    classes: &[Class],
    class_of: &[u32],
) {
    let likelihoods: Vec<Likelihood> =
        classes.iter().map(|&class| table.likelihood::<FUSED>(class, &model.offsets)).collect();
    let far: Vec<bool> = classes.iter().map(|class| table.is_far(*class)).collect();
    let priors = model.priors();
    let per_unit = pixels.values_per_unit();
    // How often each class is an offset, by the likelihood that it had as one.
    let mut weights = alloc::vec![0.0_f32; classes.len()];
    let mut values = alloc::vec![0.0_f64; VALUES];
    let (mut offset, mut replaced, mut number) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut groups = [(0.0_f64, 0.0_f64); 2];
    let step = class_of.len().div_ceil(SAMPLED).max(1);
    for i in (0..class_of.len()).step_by(step).filter(|&i| !pixels.known[i]) {
        let class = class_of[i] as usize;
        let (group, value) = (usize::from(pixels.marked[i]), pixels.value(i, per_unit));
        let likelihood = likelihoods[class];
        let density = per_unit * model.values[value];
        let parts = weigh(model, priors[group], likelihood, density);
        let scale = (parts[0] + parts[1] + parts[2]).recip();
        let [_, is_offset, is_replaced] = parts.map(|part| part * scale);
        weights[class] += is_offset / likelihood.offset.max(LEAST_DENSITY);
        offset += f64::from(is_offset);
        if far[class] {
            values[value] += f64::from(is_replaced);
            replaced += f64::from(is_replaced);
        }
        groups[group].0 += f64::from(is_offset + is_replaced);
        groups[group].1 += 1.0;
        number += 1.0;
    }
    if number == 0.0 {
        return;
    }
    let mut offsets = alloc::vec![0.0_f32; OFFSETS];
    for (&class, &weight) in classes.iter().zip(&weights) {
        add_scaled::<f32, FUSED>(&mut offsets, weight, table.along_offsets(class));
    }
    for (sum, &part) in offsets.iter_mut().zip(&model.offsets) {
        *sum *= part;
    }
    // An offset is as often positive as negative.
    for k in 0..OFFSETS / 2 {
        let mean = 0.5 * (offsets[k] + offsets[OFFSETS - 1 - k]);
        (offsets[k], offsets[OFFSETS - 1 - k]) = (mean, mean);
    }
    if normalise(&mut offsets) {
        model.offsets = offsets;
    }
    let uniform = PIXELS_OF_HISTOGRAM / VALUES as f64;
    for (part, value) in model.values.iter_mut().zip(values) {
        *part = narrow((value + uniform) / (replaced + PIXELS_OF_HISTOGRAM));
    }
    model.offset = narrow(offset / number).max(LEAST_SHARE);
    model.replaced = narrow(replaced / number).max(LEAST_SHARE);
    let all: f64 = groups.iter().map(|group| group.0).sum::<f64>() / number;
    model.groups = groups.map(|(impulses, pixels)| {
        narrow((impulses + PIXELS_OF_GROUP * all) / (pixels + PIXELS_OF_GROUP))
    });
}

/// What the adapted model says about each pixel.
#[inline(always)]
fn posterior<const FUSED: bool>(
    model: &Model,
    table: &Table,
    pixels: &Pixels<'_>,
    classes: &[Class],
    class_of: &[u32],
) -> Posterior {
    // Likelihoods, and mean and variance of the offset, of each class.
    let by_class: Vec<(Likelihood, f32, f32)> = classes
        .iter()
        .map(|&class| {
            let likelihood = table.likelihood::<FUSED>(class, &model.offsets);
            let (mut first, mut second) = (0.0, 0.0);
            for (k, (&part, &l)) in model.offsets.iter().zip(table.along_offsets(class)).enumerate()
            {
                let u = offset(k);
                first += part * l * u;
                second += part * l * u * u;
            }
            let total = likelihood.offset.max(LEAST_DENSITY);
            let mean = first / total;
            (likelihood, mean, (second / total - mean * mean).max(0.0))
        })
        .collect();
    let priors = model.priors();
    let per_unit = pixels.values_per_unit();
    let noise = pixels.noise.max(LEAST_DEVIATION);
    let noise = noise * noise;
    let judge = |i: usize| {
        if pixels.known[i] {
            return [0.0; 3];
        }
        let class = class_of[i] as usize;
        let (likelihood, mean, spread) = by_class[class];
        let prior = priors[usize::from(pixels.marked[i])];
        let density = per_unit * model.values[pixels.value(i, per_unit)];
        let parts = weigh(model, prior, likelihood, density);
        let impulses = parts[1] + parts[2];
        let impulse = impulses / (parts[0] + impulses);
        // An offset leaves a measurement, as far as it is known; other impulses leave nothing,
        // and neither does one that was cut off.
        let measured = if classes[class].kind == INSIDE {
            parts[1] / impulses.max(LEAST_DENSITY) * noise / (noise + spread)
        } else {
            0.0
        };
        let residual = pixels.residual[i];
        let added = residual - measured * (residual - mean);
        let v = pixels.deviation[i];
        let if_clean = (1.0 - impulse) * pixels.noise * pixels.noise;
        let if_impulse = impulse * (measured * noise + (1.0 - measured) * v * v);
        let undecided = impulse * (1.0 - impulse) * added * added;
        [impulse, impulse * added, if_clean + if_impulse + undecided]
    };
    let of_pixels = in_portions(class_of.len(), judge);
    let known = pixels.known.iter().filter(|&&known| known).count();
    let variance: f64 = of_pixels.iter().map(|of| f64::from(of[2])).sum();
    Posterior {
        impulse: of_pixels.iter().map(|of| of[0]).collect(),
        added: of_pixels.iter().map(|of| of[1]).collect(),
        variance: narrow(variance / (class_of.len() - known).max(1) as f64),
    }
}

/// What `of` makes of each pixel, on all cores.
fn in_portions<R: Copy + Send>(pixels: usize, of: impl Fn(usize) -> R + Sync + Send) -> Vec<R> {
    let portions = (0..pixels).step_by(PORTION).map(|start| start..(start + PORTION).min(pixels));
    each(portions, |portion| portion.map(&of).collect::<Vec<R>>()).concat()
}

impl Pixels<'_> {
    /// Classes of replaced values to the unit: they divide the range of the samples.
    fn values_per_unit(&self) -> f32 {
        let (least, greatest) = self.ends;
        (VALUES - 1) as f32 / (greatest - least).max(LEAST_DEVIATION)
    }

    /// The class of the value of a pixel.
    #[inline(always)]
    fn value(&self, i: usize, per_unit: f32) -> usize {
        let place = per_unit * (self.sample[i] - self.ends.0) + 0.5;
        place.to_usize().unwrap_or(0).min(VALUES - 1)
    }
}

/// Divides by the sum, unless there is nothing.
fn normalise(parts: &mut [f32]) -> bool {
    let sum: f32 = parts.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        for part in &mut *parts {
            *part /= sum;
        }
        return true;
    }
    false
}

#[allow(clippy::cast_possible_truncation)]
fn narrow(x: f64) -> f32 {
    x as f32
}

#[cfg(test)]
mod tests;
