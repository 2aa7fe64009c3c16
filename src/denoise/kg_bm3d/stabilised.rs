//! The channels of an image as the loop sees them: with noise of the same deviation everywhere.

use super::super::noise_law::{NoiseLaw, noise_law};
use super::super::{Plane, noise_level};
use super::correlated::ignored;
use crate::stats::median;
use crate::{Error, Real};
use alloc::vec::Vec;

/// How the samples of a channel became those that the loop sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale<T> {
    law: NoiseLaw<T>,
    /// The deviation of the noise at the median brightness.
    deviation: T,
}

impl<T: Real> Scale<T> {
    fn new(channel: Plane<'_, T>, law: NoiseLaw<T>) -> Self {
        let mut samples = channel.to_vec();
        samples.retain(|sample| sample.is_finite());
        let typical = law.deviation(median(&mut samples, 0));
        Self { law, deviation: typical }
    }

    pub(super) fn of(&self, sample: T) -> T {
        self.law.stabilise(sample)
    }

    pub(super) fn back(&self, stabilised: T) -> T {
        self.law.restore(stabilised)
    }

    /// A difference at the median brightness, in samples.
    pub(super) fn difference(&self, stabilised: T) -> T {
        self.deviation * stabilised
    }

    pub(super) fn law(&self) -> NoiseLaw<T> {
        self.law
    }
}

/// The scales of channels that are filtered together, where the noise of one of them at least
/// grows with the brightness; or as it is `told`.
pub(super) fn scales<T: Real>(
    channels: &[(Plane<'_, T>, &[bool])],
    told: Option<NoiseLaw<T>>,
) -> Result<Option<Vec<Scale<T>>>, Error> {
    if let Some(law) = told {
        let scales = channels.iter().map(|&(channel, _)| Scale::new(channel, law));
        return Ok(Some(scales.collect()));
    }
    let laws: Vec<Option<NoiseLaw<T>>> = channels
        .iter()
        .map(|&(channel, bad)| noise_law(channel, Some(ignored(channel, bad))))
        .collect();
    if laws.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut scales = Vec::with_capacity(channels.len());
    for (&(channel, bad), law) in channels.iter().zip(laws) {
        let law = if let Some(law) = law {
            law
        } else {
            let deviation = noise_level(channel, Some(ignored(channel, bad)))?;
            NoiseLaw::new(T::zero(), deviation * deviation)
        };
        scales.push(Scale::new(channel, law));
    }
    Ok(Some(scales))
}
