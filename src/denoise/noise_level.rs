//! The deviation of the noise, from the image alone.
//!
//! Of every 2 x 2 pixels a b / c d, the diagonal Haar coefficient
//!
//! $$ h = \frac{a - b - c + d}{2} $$
//!
//! has the deviation of the noise and sees little of the picture (D. L. Donoho,
//! "De-noising by soft-thresholding", IEEE Trans. Information Theory 41(3), 1995,
//! takes the median of |h| for the scale). Texture is taken for noise, though:
//! over a whole photograph this reads a tenth too much and more. So only windows
//! with little texture count, as told by the other two differences of the same
//! pixels. In white noise those are independent of h, and choosing by them does
//! not make the estimate smaller than it should be: first the calmest few windows,
//! then all that are not rougher than such noise makes them.
//!
//! In an image of one row or column the four pixels follow each other, and h sees no slope.
//!
//! The scale is the deviation of the coefficients within [`CUT`] times itself. It
//! varies less than the median does, and does not go in steps where the pixels do.

use super::Plane;
use crate::real::{constant, count};
use crate::stats::median;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Side of a window, in pixels.
const WINDOW: usize = 16;

/// The share of windows that count at first: one in so many.
pub(super) const ONE_IN: usize = 24;

/// Coefficients that are wanted at least, where there are so many.
const ENOUGH: usize = 1500;

/// How often the windows are chosen anew, by the noise found so far.
pub(super) const GROWTHS: usize = 3;

/// The texture of windows that count then, as a multiple of what noise alone has.
pub(super) const NO_ROUGHER: f64 = 1.1;

/// Coefficients larger than this many deviations are not noise.
const CUT: f64 = 2.0;

/// The variance of a normal variable of deviation one within [`CUT`].
const CUT_VARIANCE: f64 = 0.773_741_303_549_923_2;

/// How often the cut is moved: each time the error is less than half.
const ROUNDS: usize = 12;

/// The least part of a window that must be known for it to count: one in so
/// many coefficients.
const KNOWN_ONE_IN: usize = 4;

/// The median of |x| for a normal variable of deviation one.
pub(super) const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;

/// The deviation of white Gaussian noise in an image, in the unit of its
/// pixels.
///
/// Pixels where `ignore` is true do not count: impulses and whatever has been
/// put in their place. The estimate of an image without 2 x 2 pixels, or four in a line, is zero.
///
/// # Errors
/// [`Error::NotFinite`] for a NaN or an infinity, [`Error::ImageSize`] if
/// `ignore` has another size, [`Error::Overflow`] for pixels so large that
/// their squares are not finite.
pub fn noise_level<T: Real>(
    plane: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
) -> Result<T, Error> {
    plane.check_finite()?;
    if let Some(ignore) = &ignore {
        plane.check_size("mask", ignore)?;
    }
    let mut windows = windows(plane, ignore, extremes(plane, ignore));
    // Where noise was clipped there is less of it; but not all can be left out.
    if windows.iter().any(|window| !window.clipped) {
        windows.retain(|window| !window.clipped);
    }
    windows.sort_unstable_by(|a, b| a.texture.partial_cmp(&b.texture).unwrap_or(Ordering::Equal));
    let mut sizes = Vec::new();
    let mut taken = 0;
    let take = |taken: &mut usize, sizes: &mut Vec<T>| {
        cells(plane, ignore, windows[*taken].at, |[_, _, h], _| sizes.push(h.abs()));
        *taken += 1;
    };
    let calmest = windows.len().div_ceil(ONE_IN);
    while taken < windows.len() && (taken < calmest || sizes.len() < ENOUGH) {
        take(&mut taken, &mut sizes);
    }
    let mut noise = scale(&mut sizes);
    for _ in 0..GROWTHS {
        // The squares of two coefficients are twice the variance.
        let calm = constant::<T>(2.0 * NO_ROUGHER) * noise * noise;
        while taken < windows.len() && windows[taken].texture <= calm {
            take(&mut taken, &mut sizes);
        }
        noise = scale(&mut sizes);
    }
    if !noise.is_finite() {
        return Err(Error::Overflow { what: "noise level" });
    }
    Ok(noise)
}

/// The deviation of normal values, of which these are the sizes, robustly.
pub(super) fn scale<T: Real>(sizes: &mut [T]) -> T {
    if sizes.is_empty() {
        return T::zero();
    }
    let mut scale = median(sizes, 0) / constant(NORMAL_MEDIAN);
    for _ in 0..ROUNDS {
        let within = constant::<T>(CUT) * scale;
        let (mut sum, mut number) = (T::zero(), 0);
        for &size in &*sizes {
            if size < within {
                sum = sum + size * size;
                number += 1;
            }
        }
        if number == 0 {
            break;
        }
        scale = (sum / (count::<T>(number) * constant(CUT_VARIANCE))).sqrt();
    }
    scale
}

/// A part of the image.
struct Window<T> {
    at: (usize, usize),
    /// Mean square of the differences across and down.
    texture: T,
    /// Whether a pixel has the least or the greatest value of the image.
    clipped: bool,
}

fn windows<T: Real>(
    plane: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
    (least, greatest): (T, T),
) -> Vec<Window<T>> {
    let mut windows = Vec::new();
    let mut rejected = Vec::new();
    let (across, down) = Cell::of(plane).window();
    for y in (0..plane.height()).step_by(down) {
        for x in (0..plane.width()).step_by(across) {
            let (mut sum, mut known, mut clipped) = (T::zero(), 0, false);
            cells(plane, ignore, (x, y), |[across, down, _], pixels| {
                sum = sum + across * across + down * down;
                known += 1;
                clipped |= pixels.iter().any(|&pixel| pixel == least || pixel == greatest);
            });
            let window = Window { at: (x, y), texture: sum / count(known), clipped };
            if known * KNOWN_ONE_IN >= WINDOW * WINDOW / 4 {
                windows.push(window);
            } else if known > 0 {
                rejected.push(window);
            }
        }
    }
    if windows.is_empty() { rejected } else { windows }
}

/// Four pixels: a square, or in an image of one row or column a part of that.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cell {
    Square,
    Row,
    Column,
}

impl Cell {
    fn of<T: Real>(plane: Plane<'_, T>) -> Self {
        match (plane.width(), plane.height()) {
            (_, 1) => Self::Row,
            (1, _) => Self::Column,
            _ => Self::Square,
        }
    }

    /// Columns and rows.
    fn size(self) -> (usize, usize) {
        match self {
            Self::Square => (2, 2),
            Self::Row => (4, 1),
            Self::Column => (1, 4),
        }
    }

    /// Those of a window, which always has as many pixels.
    fn window(self) -> (usize, usize) {
        match self {
            Self::Square => (WINDOW, WINDOW),
            Self::Row => (WINDOW * WINDOW, 1),
            Self::Column => (1, WINDOW * WINDOW),
        }
    }
}

/// Haar's differences across, down and both of the 2 x 2 pixels of a window
/// that are all known, with the pixels.
fn cells<T: Real>(
    plane: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
    (left, top): (usize, usize),
    mut visit: impl FnMut([T; 3], [T; 4]),
) {
    let cell = Cell::of(plane);
    let ((across, down), (columns, rows)) = (cell.window(), cell.size());
    for y in (top..top + down).step_by(rows).take_while(|y| y + rows <= plane.height()) {
        for x in (left..left + across).step_by(columns).take_while(|x| x + columns <= plane.width())
        {
            let at = [0, 1, 2, 3].map(|i| (x + i % columns, y + i / columns));
            if ignore.is_some_and(|ignore| at.iter().any(|&(x, y)| ignore.get(x, y))) {
                continue;
            }
            let pixels = at.map(|(x, y)| plane.get(x, y));
            visit(differences(pixels), pixels);
        }
    }
}

/// Haar's differences across, down and both of 2 x 2 pixels.
#[inline(always)]
pub(super) fn differences<T: Real>([a, b, c, d]: [T; 4]) -> [T; 3] {
    let half = constant::<T>(0.5);
    [(a - b) + (c - d), (a - c) + (b - d), (a - b) - (c - d)].map(|difference| half * difference)
}

/// The least and the greatest pixel that counts.
fn extremes<T: Real>(plane: Plane<'_, T>, ignore: Option<Plane<'_, bool>>) -> (T, T) {
    let mut extremes = (T::infinity(), T::neg_infinity());
    for y in 0..plane.height() {
        for (x, pixel) in plane.row(y).enumerate() {
            if !ignore.is_some_and(|ignore| ignore.get(x, y)) {
                extremes = (extremes.0.min(pixel), extremes.1.max(pixel));
            }
        }
    }
    extremes
}
