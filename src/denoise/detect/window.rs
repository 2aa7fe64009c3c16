//! The pixels around one, and what is known of the image when they are looked at.

use crate::Real;

/// Pixels of a row over which the spread is averaged.
pub(crate) const BLOCK: usize = 16;
/// The most witnesses that can be allowed: an impulse differs from one of the eight neighbours.
pub(crate) const MOST_WITNESSES: usize = 7;

/// How far a pixel is looked around, in rows and in columns.
pub(crate) const REACH: usize = 3;
/// Length of the rows that are looked at, for a width of the image: [`REACH`] more
/// pixels at either end, and up to a whole number of blocks.
pub(crate) const fn padded(width: usize) -> usize {
    width.next_multiple_of(BLOCK) + 2 * REACH
}

/// Where a pixel at `at`, which may be [`REACH`] outside, has its twin in an image of
/// `length` pixels: reflected, so that no pixel is its own neighbour, unless there is
/// no other.
pub(crate) fn reflected(at: isize, length: usize) -> usize {
    let last = length - 1;
    let at = at.unsigned_abs();
    if at > last { (2 * last).saturating_sub(at) } else { at }
}

/// Seven rows of an image, each [`padded`]; the one that is looked at is in the middle.
pub(crate) type Window<'a, T> = [&'a [T]; 2 * REACH + 1];

/// What is known of an image when it is looked at for the second time.
#[derive(Clone, Copy)]
pub(crate) struct Known<T> {
    /// How many neighbours of an impulse may be like it.
    pub(crate) witnesses: usize,
    /// Standard deviation of the noise.
    pub(crate) noise: T,
    /// Share of the pixels that are impulses.
    pub(crate) impulses: T,
    /// How alone a pixel must be to be an outlier.
    pub(crate) alone_enough: T,
    /// How much it must differ from the median of its neighbours.
    pub(crate) off_enough: T,
    /// What nearly all impulses are off by; zero if that is not known.
    pub(crate) amplitude: T,
}

#[inline(always)]
pub(crate) fn larger<T: Real>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
