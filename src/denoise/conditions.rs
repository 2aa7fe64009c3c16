//! The estimates of a survey, under which the regions of an image are solved.

use crate::Real;
use crate::image::SampleRange;

/// What a survey of the whole image says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Conditions<T> {
    /// The range of the samples.
    pub range: SampleRange<T>,
    /// Standard deviation of the noise.
    pub noise: T,
    /// Share of the pixels that look like impulses at first sight.
    pub impulses: T,
    /// Largest number of an impulse's neighbours that may be impulses of its sign.
    pub witnesses: usize,
    /// Median magnitude of the impulses; zero without impulses.
    pub amplitude: T,
    /// The least studentised residual of an outlier, in deviations of the noise.
    pub limit: T,
    /// The least magnitude of an outlier.
    pub size: T,
}

impl<T: Real> Conditions<T> {
    /// The same with all magnitudes converted by `of`.
    pub(super) fn in_samples(self, of: impl Fn(T) -> T) -> Self {
        let Self { noise, amplitude, size, .. } = self;
        let [noise, amplitude, size] = [noise, amplitude, size].map(of);
        Self { noise, amplitude, size, ..self }
    }

    /// The same for samples in units.
    pub(super) fn in_units(self) -> Self {
        let range = self.range;
        Self { range: SampleRange::units(), ..self.in_samples(|x| range.of_difference(x)) }
    }
}
