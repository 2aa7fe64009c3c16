//! What the eight neighbours say about a pixel.
//!
//! An impulse stands alone: few of its neighbours lie on its side of what the
//! pixel should be. Detail does not: a pixel of an edge, a line or a texture
//! has neighbours like itself. Two tests follow from this.
//!
//! * A pixel is *alone* as far as it exceeds all but $c$ of its neighbours
//!   (or falls below them); only pixels alone by half of what makes an outlier
//!   can be one. $c$ *witnesses* are allowed because neighbours may be impulses
//!   of the same sign by chance.
//! * A pixel is *suspect* if it is alone by several times the spread of the
//!   neighbours there. Suspects are replaced by the median of their neighbours where
//!   only statistics are wanted: how noisy the image is, how smooth a region.

use crate::Real;
use crate::linalg::simd::{Routine, dispatch};
use crate::real::{constant, count};

/// How many times the spread around it makes a pixel suspect. The spread is the
/// distance between the third and the sixth of eight neighbours, 0.95 standard
/// deviations of Gaussian noise.
const SUSPECT_AT_FIRST: f64 = 2.0;
/// How many standard deviations of the noise make a pixel suspect, where the
/// noise is known and the spread not larger.
pub(crate) const SUSPECT: f64 = 1.5;
/// By how much the spread grows with the share of impulses.
pub(crate) const WIDENING: f64 = 2.0;
/// Pixels of a row over which the spread is averaged.
pub(crate) const BLOCK: usize = 16;
/// Pixels whose neighbours are sorted at a time: eight of each have to stay in
/// registers.
const LANES: usize = 8;

/// Length of the rows that are looked at, for a width of the image: one more
/// pixel at either end, and up to a whole number of blocks.
pub(crate) const fn padded(width: usize) -> usize {
    width.next_multiple_of(BLOCK) + 2
}

/// Three rows of an image, each [`padded`].
#[derive(Clone, Copy)]
pub(super) struct Window<'a, T> {
    pub(super) above: &'a [T],
    pub(super) here: &'a [T],
    pub(super) below: &'a [T],
}

/// What is made of a row.
pub(super) struct Look<'a, T> {
    /// The row, with the median of the neighbours in place of suspects.
    pub(super) calm: &'a mut [T],
    /// How far each pixel exceeds all but some of its neighbours, or falls
    /// below them; negative if it does neither.
    pub(super) alone: &'a mut [T],
}

/// What is known of an image when it is looked at.
#[derive(Clone, Copy)]
pub(crate) enum Known<T> {
    /// Nothing.
    Nothing,
    /// How many neighbours may be like an impulse, and how much they differ
    /// from one.
    Conditions {
        /// The number of witnesses that are allowed for.
        witnesses: usize,
        /// Standard deviation of the noise.
        noise: T,
        /// Share of the pixels that are impulses.
        impulses: T,
    },
}

/// Looks at the row in the middle of `window`.
pub(super) fn look<T: Real>(window: Window<'_, T>, known: Known<T>, out: Look<'_, T>) {
    dispatch(LookAt { window, known, out });
}

struct LookAt<'a, T> {
    window: Window<'a, T>,
    known: Known<T>,
    out: Look<'a, T>,
}

impl<T: Real> Routine for LookAt<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        look_at(self.window, self.known, self.out);
    }
}

#[inline(always)]
fn look_at<T: Real>(window: Window<'_, T>, known: Known<T>, out: Look<'_, T>) {
    let Look { calm, alone } = out;
    let Window { above, here, below } = window;
    let half = constant::<T>(0.5);
    let c = if let Known::Conditions { witnesses, .. } = known { witnesses.min(7) } else { 3 };
    let load = |row: &[T], x: usize| -> [T; LANES] {
        let lanes = &row[x..][..LANES];
        core::array::from_fn(|l| lanes[l])
    };
    let blocks = calm.chunks_mut(BLOCK).zip(alone.chunks_mut(BLOCK));
    for (b, (calm, alone)) in blocks.enumerate() {
        let zeros = [T::zero(); BLOCK];
        let (mut spread, mut middle, mut by) = (zeros, zeros, zeros);
        for start in (0..BLOCK).step_by(LANES) {
            let x = b * BLOCK + start;
            let pixel = load(here, x + 1);
            let mut v = [
                load(above, x),
                load(above, x + 1),
                load(above, x + 2),
                load(here, x),
                load(here, x + 2),
                load(below, x),
                load(below, x + 1),
                load(below, x + 2),
            ];
            sort(&mut v);
            let (low, high) = (v[c], v[7 - c]);
            for l in 0..LANES {
                by[start + l] = larger(pixel[l] - high[l], low[l] - pixel[l]);
                spread[start + l] = v[5][l] - v[2][l];
                middle[start + l] = half * (v[3][l] + v[4][l]);
            }
        }
        let width = calm.len();
        let sum = spread[..width].iter().fold(T::zero(), |sum, &spread| sum + spread);
        let spread = sum / count(width);
        let limit = match known {
            Known::Nothing => constant::<T>(SUSPECT_AT_FIRST) * spread,
            Known::Conditions { noise, impulses, .. } => {
                // Impulses widen the spread: what they add is taken away.
                let spread = spread * (T::one() - constant::<T>(WIDENING) * impulses);
                larger(constant::<T>(SUSPECT) * noise, spread)
            }
        };
        let pixels = &here[b * BLOCK + 1..][..width];
        for (i, (calm, &pixel)) in calm.iter_mut().zip(pixels).enumerate() {
            *calm = if by[i] > limit { middle[i] } else { pixel };
        }
        alone.copy_from_slice(&by[..width]);
    }
}

/// Batcher's odd-even merge sort of eight values, lane by lane.
#[inline(always)]
fn sort<T: Real>(v: &mut [[T; LANES]; 8]) {
    // Written out, so that the places are constants and the values stay in
    // registers.
    macro_rules! exchange {
        ($(($low:literal, $high:literal)),*) => {$(
            for l in 0..LANES {
                let (a, b) = (v[$low][l], v[$high][l]);
                v[$low][l] = if b < a { b } else { a };
                v[$high][l] = if b < a { a } else { b };
            }
        )*};
    }
    exchange!((0, 1), (2, 3), (4, 5), (6, 7));
    exchange!((0, 2), (1, 3), (4, 6), (5, 7));
    exchange!((1, 2), (5, 6), (0, 4), (3, 7));
    exchange!((1, 5), (2, 6));
    exchange!((1, 4), (3, 6));
    exchange!((2, 4), (3, 5));
    exchange!((3, 4));
}

#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
