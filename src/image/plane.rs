//! Views of images: one channel, anywhere in memory.

use crate::{Error, Real};
use alloc::vec::Vec;

/// One channel of an image: `height` rows of `width` samples.
///
/// Rows lie `stride` samples apart and the samples of a row `step` apart, so
/// that a channel of interleaved colours, a crop or a padded row needs no copy.
///
/// ```
/// use kgard::denoise::Plane;
/// // The green channel of two by two pixels, RGB.
/// let rgb = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0];
/// let green = Plane::strided(&rgb[1..], 2, 2, 6, 3)?;
/// assert_eq!(green.to_vec(), [2.0, 5.0, 8.0, 11.0]);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane<'a, T> {
    samples: &'a [T],
    width: usize,
    height: usize,
    stride: usize,
    step: usize,
}

impl<'a, T: Copy> Plane<'a, T> {
    /// A plane of `width` x `height` samples, row after row.
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no pixels, [`Error::Length`] if there are
    /// not as many samples.
    pub fn new(samples: &'a [T], width: usize, height: usize) -> Result<Self, Error> {
        let area = width.checked_mul(height).ok_or(Error::TooLarge { scalars: usize::MAX })?;
        Error::check_len("image", samples.len(), area)?;
        Self::strided(samples, width, height, width, 1)
    }

    /// The same where the lengths are known to fit.
    pub(crate) fn contiguous(samples: &'a [T], width: usize, height: usize) -> Self {
        Self { samples, width, height, stride: width, step: 1 }
    }

    /// The same with rows and columns exchanged.
    pub(crate) fn turned(self) -> Self {
        let Self { samples, width, height, stride, step } = self;
        Self { samples, width: height, height: width, stride: step, step: stride }
    }

    /// A plane whose rows are `stride` samples apart, and whose samples within
    /// a row are `step` apart.
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no pixels or no distance between them,
    /// [`Error::TooShort`] if the last pixel is not among the samples.
    pub fn strided(
        samples: &'a [T],
        width: usize,
        height: usize,
        stride: usize,
        step: usize,
    ) -> Result<Self, Error> {
        if width == 0 || height == 0 {
            return Err(Error::Empty { what: "image" });
        }
        if step == 0 || stride == 0 {
            return Err(Error::NotPositive { what: "stride", value: 0.0 });
        }
        let last = (height - 1)
            .checked_mul(stride)
            .zip((width - 1).checked_mul(step))
            .and_then(|(down, right)| down.checked_add(right)?.checked_add(1))
            .ok_or(Error::TooLarge { scalars: usize::MAX })?;
        Error::check_at_least("image", samples.len(), last)?;
        Ok(Self { samples, width, height, stride, step })
    }

    /// Pixels in a row.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Number of pixels.
    #[must_use]
    pub const fn area(&self) -> usize {
        self.width * self.height
    }

    /// The sample at column `x` and row `y`, which must be inside.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, x: usize, y: usize) -> T {
        self.samples[y * self.stride + x * self.step]
    }

    /// The samples of row `y`, from the left.
    #[must_use]
    #[inline]
    pub fn row(&self, y: usize) -> impl ExactSizeIterator<Item = T> + Clone + use<'a, T> {
        self.span(y).iter().step_by(self.step).copied()
    }

    /// The samples of row `y`, and what lies between them.
    fn span(&self, y: usize) -> &'a [T] {
        let length = (self.width - 1) * self.step + 1;
        &self.samples[y * self.stride..][..length]
    }

    /// The samples of row `y` as a slice, if they lie side by side.
    pub(crate) fn whole_row(&self, y: usize) -> Option<&'a [T]> {
        (self.step == 1).then(|| self.span(y))
    }

    /// Refuses another plane, `what`, of another size.
    pub(crate) fn check_size<S>(
        &self,
        what: &'static str,
        other: &Plane<'_, S>,
    ) -> Result<(), Error> {
        let (expected, found) = ((self.width, self.height), (other.width, other.height));
        if expected == found { Ok(()) } else { Err(Error::ImageSize { what, expected, found }) }
    }

    /// Copies the samples of row `y` from column `x` on, as many as fit.
    #[inline]
    pub fn copy_row(&self, x: usize, y: usize, out: &mut [T]) {
        let row = &self.samples[y * self.stride + x * self.step..];
        if self.step == 1 {
            out.copy_from_slice(&row[..out.len()]);
        } else {
            for (out, &sample) in out.iter_mut().zip(row.iter().step_by(self.step)) {
                *out = sample;
            }
        }
    }

    /// The part of `width` x `height` pixels whose first is at (`x`, `y`).
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no pixels, [`Error::Index`] if it reaches
    /// out of the plane.
    pub fn crop(&self, x: usize, y: usize, width: usize, height: usize) -> Result<Self, Error> {
        if width == 0 || height == 0 {
            return Err(Error::Empty { what: "image" });
        }
        for (first, part, whole) in [(x, width, self.width), (y, height, self.height)] {
            if first.checked_add(part).is_none_or(|end| end > whole) {
                return Err(Error::Index { index: first.saturating_add(part - 1), len: whole });
            }
        }
        let samples = &self.samples[y * self.stride + x * self.step..];
        Ok(Self { samples, width, height, ..*self })
    }

    /// [`to_vec`](Self::to_vec), if there is memory for it.
    pub(crate) fn copied(&self) -> Result<Vec<T>, Error> {
        let area =
            self.width.checked_mul(self.height).ok_or(Error::TooLarge { scalars: usize::MAX })?;
        let mut samples = Vec::new();
        samples.try_reserve_exact(area).map_err(|_| Error::TooLarge { scalars: area })?;
        for y in 0..self.height {
            samples.extend(self.row(y));
        }
        Ok(samples)
    }

    /// A copy, row after row.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        (0..self.height).flat_map(|y| self.row(y)).collect()
    }
}

impl<T: Real> Plane<'_, T> {
    /// Refuses NaNs and infinities.
    pub(crate) fn check_finite(&self) -> Result<(), Error> {
        for y in (0..self.height).filter(|&y| !self.row_is_finite(y)) {
            if let Some(x) = self.row(y).position(|sample| !sample.is_finite()) {
                let value = crate::error::as_f64(self.get(x, y));
                return Err(Error::NotFinite { what: "image", index: y * self.width + x, value });
            }
        }
        Ok(())
    }

    /// Whether all samples of row `y` are finite, and what lies between them: a quick test of
    /// what is nearly always so.
    pub(crate) fn row_is_finite(&self, y: usize) -> bool {
        // No end before the last, so that many are tested at a time.
        self.span(y).iter().fold(true, |all, sample| all & sample.is_finite())
    }
}

/// Zeros for `width` x `height` samples, if there is memory for them: images are
/// the large things that are allocated.
pub(crate) fn zeros<T: Real>(width: usize, height: usize) -> Result<Vec<T>, Error> {
    let area = width.checked_mul(height).ok_or(Error::TooLarge { scalars: usize::MAX })?;
    let mut samples = Vec::new();
    samples.try_reserve_exact(area).map_err(|_| Error::TooLarge { scalars: area })?;
    samples.resize(area, T::zero());
    Ok(samples)
}

/// A plane that owns its samples, row after row.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PlaneBuf<T> {
    samples: Vec<T>,
    width: usize,
    height: usize,
}

impl<T: Copy> PlaneBuf<T> {
    /// Takes `width` x `height` samples, row after row.
    ///
    /// # Errors
    /// As [`Plane::new`].
    pub fn new(samples: Vec<T>, width: usize, height: usize) -> Result<Self, Error> {
        Plane::new(&samples, width, height)?;
        Ok(Self { samples, width, height })
    }

    /// The same where the lengths are known to fit.
    pub(crate) fn of(samples: Vec<T>, width: usize, height: usize) -> Self {
        Self { samples, width, height }
    }

    /// The view of all of it.
    #[must_use]
    pub fn as_plane(&self) -> Plane<'_, T> {
        let Self { ref samples, width, height } = *self;
        Plane { samples, width, height, stride: width, step: 1 }
    }

    /// Pixels in a row.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The samples, row after row.
    #[must_use]
    pub fn samples(&self) -> &[T] {
        &self.samples
    }

    /// The samples, to be changed in place.
    pub fn samples_mut(&mut self) -> &mut [T] {
        &mut self.samples
    }

    /// The samples without the plane.
    #[must_use]
    pub fn into_samples(self) -> Vec<T> {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::{Plane, zeros};
    use crate::Error;

    #[test]
    fn no_memory_is_an_error() {
        assert_eq!(zeros::<f32>(3, 2).map(|samples| samples.len()), Ok(6));
        let scalars = 1 << 60;
        assert_eq!(zeros::<f32>(1 << 30, 1 << 30), Err(Error::TooLarge { scalars }));
        let uncountable = Error::TooLarge { scalars: usize::MAX };
        assert_eq!(zeros::<f32>(usize::MAX, 2), Err(uncountable));
        // Rows that overlap: more pixels than samples.
        let samples = [0.0_f32; 64];
        let view = Plane { samples: &samples, width: 1 << 30, height: 1 << 30, stride: 1, step: 1 };
        assert_eq!(view.copied(), Err(Error::TooLarge { scalars }));
        let view = Plane::strided(&samples, 3, 2, 2, 2).map(|view| view.copied());
        assert_eq!(view, Ok(Ok(alloc::vec![0.0; 6])));
    }
}
