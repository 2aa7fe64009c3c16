//! What the eight neighbours say about a pixel.
//!
//! An impulse stands alone: few of its neighbours lie on its side of what the
//! pixel should be. Detail does not: a pixel of an edge, a line or a texture
//! has neighbours like itself. Two tests follow from this, and a weight.
//!
//! * A pixel is *alone* as far as it exceeds all but $c$ of its neighbours
//!   (or falls below them); only pixels alone by half of what makes an outlier
//!   can be one. $c$ *witnesses* are allowed because neighbours may be impulses
//!   of the same sign by chance.
//! * A pixel is *suspect* if it is alone by more than the spread of the
//!   neighbours there. Suspects are replaced by the median of their neighbours where
//!   only statistics are wanted: how noisy the image is, how smooth a region.
//!
//! How much of a residual a candidate needs follows from the pattern around it: see
//! [`classifier`](super::classifier).

use super::classifier::pattern::Candidates;
use super::classifier::{Classifier, Doubtful};
use super::sort::{LANES, sort_8};
use super::window::{BLOCK, Known, MOST_WITNESSES, REACH, Window, larger};
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
/// What is made of a row.
pub(crate) struct Look<'a, T> {
    /// The row, with the median of the neighbours in place of suspects.
    pub(crate) calm: &'a mut [T],
    /// What each pixel is worth as a candidate for an outlier; the zeros that are there
    /// stay where it is none. This row begins at `start`, other rows wait for the classifier.
    pub(crate) worth: &'a mut [T],
    pub(crate) start: usize,
}

/// Looks at the row in the middle of `window`.
pub(crate) fn look<T: Real>(
    window: Window<'_, T>,
    known: Option<Known<T>>,
    classifier: Option<(&Classifier<'_, T>, &mut Doubtful<T>)>,
    out: Look<'_, T>,
) {
    dispatch(LookAt { window, known, classifier, out });
}

struct LookAt<'a, T> {
    window: Window<'a, T>,
    known: Option<Known<T>>,
    classifier: Option<(&'a Classifier<'a, T>, &'a mut Doubtful<T>)>,
    out: Look<'a, T>,
}

impl<T: Real> Routine for LookAt<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        look_at::<T, FUSED>(self.window, self.known, self.classifier, self.out);
    }
}

#[inline(always)]
fn look_at<T: Real, const FUSED: bool>(
    window: Window<'_, T>,
    known: Option<Known<T>>,
    mut classifier: Option<(&Classifier<'_, T>, &mut Doubtful<T>)>,
    out: Look<'_, T>,
) {
    let Look { calm, worth, start: row } = out;
    let [_, _, above, here, below, _, _] = window;
    let half = constant::<T>(0.5);
    let c = known.map_or(3, |known| known.witnesses.min(MOST_WITNESSES));
    let load = |row: &[T], x: usize| -> [T; LANES] {
        let lanes = &row[x..][..LANES];
        core::array::from_fn(|l| lanes[l])
    };
    let mut candidates = Candidates::new();
    for (b, calm) in calm.chunks_mut(BLOCK).enumerate() {
        let [mut spread, mut middle, mut by] = [[T::zero(); BLOCK]; 3];
        for start in (0..BLOCK).step_by(LANES) {
            // The column left of the pixels.
            let x = b * BLOCK + start + REACH - 1;
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
            sort_8(&mut v);
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
            None => constant::<T>(SUSPECT_AT_FIRST) * spread,
            Some(Known { noise, .. }) => larger(constant::<T>(SUSPECT) * noise, spread),
        };
        let pixels = &here[b * BLOCK + REACH..][..width];
        for (i, (calm, &pixel)) in calm.iter_mut().zip(pixels).enumerate() {
            *calm = if by[i] > limit { middle[i] } else { pixel };
        }
        let Some(Known { alone_enough, off_enough, .. }) = known else { continue };
        for i in 0..width {
            let x = b * BLOCK + i;
            let pixel = here[x + REACH];
            let off_by = (pixel - middle[i]).abs();
            if !(by[i] > alone_enough && off_by > off_enough) {
                continue;
            }
            worth[row + x] = T::one();
            let Some((classifier, doubtful)) = &mut classifier else { continue };
            let side = if pixel < middle[i] { -T::one() } else { T::one() };
            candidates.add(x, side);
            if candidates.is_full() {
                classifier.classify::<FUSED>(window, &mut candidates, (worth, row), doubtful);
            }
        }
    }
    if let Some((classifier, doubtful)) = classifier {
        classifier.classify::<FUSED>(window, &mut candidates, (worth, row), doubtful);
    }
}
