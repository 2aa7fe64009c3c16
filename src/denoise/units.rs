//! Units that do not depend on the file: the samples of an image reach from 0 to 255.
//!
//! $$ x = 255\\, \frac{y - y_{\min}}{y_{\max} - y_{\min}} $$
//!
//! over all channels, without pixels that are known to be bad and without gross values
//! ([`mark_gross`]). When KGARD has taken the impulses out, the range is that of its image.
//! Samples that are multiplied or shifted by constants are the same in these units, to rounding:
//! an 8-bit picture and the same picture in a 16-bit file to the last bit.

use super::Plane;
use crate::real::constant;
use crate::stats::nth_smallest;
use crate::{Error, Real};
use alloc::vec::Vec;

/// The range of the samples in units.
pub(super) const RANGE: f64 = 255.0;

/// One in so many samples may lie below the lower and above the upper quantile.
const QUANTILE_ONE_IN: usize = 100;
/// Gross values lie beyond a quantile by so many times the distance of both.
const GROSS: f64 = 2.0;
/// The second of the neighbours of a gross value lies beyond the quantile by one part in so many
/// of what the gross value does, at most. A star or a glint has more such neighbours.
const NEIGHBOUR_ONE_IN: f64 = 8.0;

/// How samples become units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Units<T> {
    low: T,
    range: T,
}

impl<T: Real> Units<T> {
    /// Units of samples from zero to `peak`.
    pub(super) fn of_peak(peak: T) -> Self {
        Self { low: T::zero(), range: peak }
    }

    /// The units of an image, of whose channels some pixels do not count.
    pub(super) fn of_image(channels: &[(Plane<'_, T>, &[bool])]) -> Result<Self, Error> {
        let mut ends = (T::infinity(), T::neg_infinity());
        for (channel, bad) in channels {
            for sample in good(*channel, bad) {
                ends = (ends.0.min(sample), ends.1.max(sample));
            }
        }
        let (low, high) = ends;
        if low > high {
            return Ok(Self::of_peak(constant(RANGE)));
        }
        let range = high - low;
        if !range.is_finite() {
            return Err(Error::Overflow { what: "range of the image" });
        }
        Ok(Self { low, range: if range > T::zero() { range } else { constant(RANGE) } })
    }

    /// Units of the `inner` values, which are in these units themselves, by their range: the
    /// conversion from samples, and that from these units.
    pub(super) fn of_inner(self, inner: impl Iterator<Item = T>) -> (Self, Self) {
        let ends = inner
            .fold((T::infinity(), T::neg_infinity()), |ends, x| (ends.0.min(x), ends.1.max(x)));
        let range = ends.1 - ends.0;
        if !(range > T::zero()) {
            return (self, Self::of_peak(constant(RANGE)));
        }
        let whole = Self { low: self.sample(ends.0), range: self.difference(range) };
        (whole, Self { low: ends.0, range })
    }

    pub(super) fn of(self, sample: T) -> T {
        (sample - self.low) / self.range * constant(RANGE)
    }

    pub(super) fn sample(self, x: T) -> T {
        self.low + self.difference(x)
    }

    /// A difference of samples in their own unit.
    pub(super) fn difference(self, x: T) -> T {
        x / constant(RANGE) * self.range
    }

    /// The inverse of [`difference`](Self::difference).
    pub(super) fn of_difference(self, x: T) -> T {
        x / self.range * constant(RANGE)
    }
}

/// Samples that count.
fn good<'a, T: Real>(channel: Plane<'a, T>, bad: &'a [bool]) -> impl Iterator<Item = T> + 'a {
    let samples = (0..channel.height()).flat_map(move |y| channel.row(y)).zip(bad);
    samples.filter(|(sample, bad)| !**bad && sample.is_finite()).map(|(sample, _)| sample)
}

/// Marks gross values as `bad`: single pixels that lie far beyond the range of the others, such as
/// hot pixels, or a code for missing values.
pub(super) fn mark_gross<T: Real>(channel: Plane<'_, T>, bad: &mut [bool]) {
    let mut samples: Vec<T> = good(channel, bad).collect();
    if samples.is_empty() {
        return;
    }
    let rank = samples.len() / QUANTILE_ONE_IN;
    let low = nth_smallest(&mut samples, rank);
    let last = samples.len() - 1;
    let high = nth_smallest(&mut samples, last - rank);
    let far = constant::<T>(GROSS) * (high - low);
    // Nothing is far from samples that are all alike.
    if far <= T::zero() {
        return;
    }
    let (width, height) = (channel.width(), channel.height());
    let part = constant::<T>(NEIGHBOUR_ONE_IN).recip();
    for y in 0..height {
        for x in 0..width {
            let sample = channel.get(x, y);
            // How far something lies beyond the quantile on the side of the sample.
            let beyond = |s: T| if sample > high { s - high } else { low - s };
            let excess = beyond(sample);
            if bad[y * width + x] || !(excess > far) {
                continue;
            }
            let limit = part * excess;
            let mut like_it = 0;
            for v in y.saturating_sub(1)..(y + 2).min(height) {
                for u in x.saturating_sub(1)..(x + 2).min(width) {
                    let is_neighbour = (u, v) != (x, y) && channel.get(u, v).is_finite();
                    like_it += usize::from(is_neighbour && beyond(channel.get(u, v)) > limit);
                }
            }
            bad[y * width + x] |= like_it < 2;
        }
    }
}
