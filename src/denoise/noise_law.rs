//! Noise as a function of brightness, from the image alone.
//!
//! Counts of photons, an amplifier and its read-out give noise of variance
//!
//! $$ \sigma^2(f) = a f + b , $$
//!
//! with the gain a and the floor b (A. Foi, M. Trimeche, V. Katkovnik, K. Egiazarian, "Practical
//! Poissonian-Gaussian noise modeling and fitting for single-image raw-data", IEEE Trans. Image
//! Processing 17(10), 2008). Windows of 8 x 8 pixels are sorted by brightness into levels of
//! equally many. At each level the windows with least texture give a variance, as in
//! [`noise_level`](super::noise_level): texture and noise are measured by different differences
//! of the same 2 x 2 pixels, so that the choice does not make the noise smaller. A line is laid
//! through the variances by weighted least squares, robustly: texture only adds to a variance.
//! Levels at which noise is cut off by the ends of the range do not count.
//!
//! The line counts as a law only where the slope is significant and positive, where it makes a
//! difference, and where the windows are as even as such noise would make them. Else the noise
//! is taken for Gaussian of one deviation.

use super::Plane;
use super::noise_level::{GROWTHS, NO_ROUGHER, differences, scale};
use crate::Real;
use crate::error::as_f64;
use crate::stats::{median, nth_smallest};
use alloc::vec::Vec;
use core::cmp::Ordering;
use num_traits::Float;

/// Side of a window, in pixels.
const WINDOW: usize = 8;
/// Levels of brightness at most, and windows to a level at least.
const LEVELS: usize = 16;
const WINDOWS_OF_LEVEL: usize = 24;
/// The calmest windows of a level that count at first: one in so many, and so many at least.
const ONE_IN: usize = 6;
const CALMEST: usize = 12;
/// Of the differences of a window the smallest count: impulses are among the others. The share in
/// quarters, and the deviation of what is left of 32 normal values of deviation one.
const QUARTERS: usize = 3;
const TRIMMED_DEVIATION: f64 = 0.624;
/// Noise of a level is cut off if an end of the range is nearer than so many deviations.
const CUT_OFF: f64 = 2.5;
/// Levels that a line needs at least.
const LEAST_LEVELS: usize = 4;
/// The relative error of a variance that does not fall with the number of pixels, and how it
/// grows with the roughness of a level beyond what is tolerated.
const SYSTEMATIC: f64 = 0.1;
const PER_ROUGHNESS: f64 = 0.7;
/// The variance of a cut deviation's square, for one value of deviation one.
const VARIANCE_OF_SCALE: f64 = 2.6;
/// Rounds of the robust fit, and the standardised residuals above and below the line at which a
/// weight has halved.
const ROUNDS: usize = 30;
const ABOVE: f64 = 1.5;
const BELOW: f64 = 3.0;
/// A variance on the line is at least this part of the median level's.
const LEAST_PART: f64 = 0.05;
/// A law has a slope of so many standard errors, makes deviations differ by this factor between
/// the levels, leaves relative residuals of this size at most, and levels of this roughness.
const SIGNIFICANT: f64 = 5.0;
const DIFFERENCE: f64 = 1.3;
const MISFIT: f64 = 0.25;
const ROUGHEST: f64 = 1.12;

/// Noise whose variance is `gain` times the brightness, plus `floor`. Plain Gaussian noise has no
/// gain.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NoiseLaw<T> {
    /// What the variance grows by with each unit of the samples.
    pub gain: T,
    /// The variance where the samples are zero. It is negative where zero is not black.
    pub floor: T,
}

impl<T: Real> NoiseLaw<T> {
    /// The law of this gain and floor.
    pub const fn new(gain: T, floor: T) -> Self {
        Self { gain, floor }
    }

    /// The deviation of the noise at a brightness.
    pub fn deviation(&self, brightness: T) -> T {
        (self.gain * brightness + self.floor).max(T::zero()).sqrt()
    }
}

/// The variance of the noise at one level of brightness.
#[derive(Debug, Clone, Copy)]
struct Level {
    brightness: f64,
    variance: f64,
    /// How many coefficients it is from.
    number: f64,
    /// The texture, as a multiple of what the noise has.
    roughness: f64,
}

/// A window: its place, its median and its texture.
#[derive(Debug, Clone, Copy)]
struct Window {
    at: (usize, usize),
    brightness: f64,
    texture: f64,
}

/// The law that the noise of an image follows; nothing where one deviation describes it as well, or
/// where there is too little that is even. Impulses and texture do not matter much.
///
/// ```
/// use kgard::denoise::{Plane, noise_law};
/// // Bright to the right; the noise has a variance of 0.5 times the brightness.
/// let mut state = 1_u32;
/// let mut uniform = || {
///     state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///     f64::from(state >> 8) / f64::from(1 << 24)
/// };
/// let pixels: Vec<f64> = (0..256 * 256)
///     .map(|i| {
///         let f = 20.0 + f64::from(i % 256);
///         let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
///         f + (0.5 * f).sqrt() * normal
///     })
///     .collect();
/// let law = noise_law(Plane::new(&pixels, 256, 256)?, None).expect("the gain is significant");
/// assert!((law.gain - 0.5).abs() < 0.05, "{}", law.gain);
/// # Ok::<(), kgard::Error>(())
/// ```
#[must_use]
pub fn noise_law<T: Real>(
    image: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
) -> Option<NoiseLaw<T>> {
    let levels = levels(image, ignore);
    let (law, is_significant) = fit(&levels)?;
    let narrow = |x: f64| T::from(x).filter(|x| x.is_finite());
    is_significant.then(|| Some(NoiseLaw { gain: narrow(law.gain)?, floor: narrow(law.floor)? }))?
}

/// The levels at which the noise is whole.
fn levels<T: Real>(image: Plane<'_, T>, ignore: Option<Plane<'_, bool>>) -> Vec<Level> {
    let mut windows = windows(image, ignore);
    let by = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    windows.sort_by(|a, b| by(a.brightness, b.brightness));
    let number = (windows.len() / WINDOWS_OF_LEVEL).clamp(1, LEVELS);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for y in 0..image.height() {
        for (x, sample) in image.row(y).map(as_f64).enumerate() {
            if sample.is_finite() && !ignore.is_some_and(|ignore| ignore.get(x, y)) {
                (low, high) = (low.min(sample), high.max(sample));
            }
        }
    }
    let mut levels = Vec::with_capacity(number);
    for level in 0..number {
        let part = level * windows.len() / number..(level + 1) * windows.len() / number;
        let windows = &mut windows[part];
        windows.sort_by(|a, b| by(a.texture, b.texture));
        let level = level_of(image, windows);
        let deviation = Float::sqrt(level.variance);
        let is_whole = |distance: f64| distance >= CUT_OFF * deviation;
        if deviation > 0.0 && is_whole(level.brightness - low) && is_whole(high - level.brightness)
        {
            levels.push(level);
        }
    }
    levels
}

/// What the calmest of windows say, which are sorted by their texture.
fn level_of<T: Real>(image: Plane<'_, T>, windows: &[Window]) -> Level {
    let mut sizes = Vec::new();
    let mut taken = 0;
    let take = |taken: &mut usize, sizes: &mut Vec<f64>| {
        for [_, _, both] in squares(image, windows[*taken].at) {
            sizes.push(both.abs());
        }
        *taken += 1;
    };
    while taken < windows.len().min(CALMEST.max(windows.len() / ONE_IN)) {
        take(&mut taken, &mut sizes);
    }
    let mut deviation = scale(&mut sizes);
    for _ in 0..GROWTHS {
        let calm = NO_ROUGHER * TRIMMED_DEVIATION * deviation;
        while taken < windows.len() && windows[taken].texture <= calm {
            take(&mut taken, &mut sizes);
        }
        deviation = scale(&mut sizes);
    }
    let used = &windows[..taken];
    let mut textures: Vec<f64> = used.iter().map(|window| window.texture).collect();
    Level {
        brightness: used.iter().map(|window| window.brightness).sum::<f64>() / taken.max(1) as f64,
        variance: deviation * deviation,
        number: sizes.len() as f64,
        roughness: median(&mut textures, 0) / (TRIMMED_DEVIATION * deviation),
    }
}

/// All whole windows without pixels to be ignored.
fn windows<T: Real>(image: Plane<'_, T>, ignore: Option<Plane<'_, bool>>) -> Vec<Window> {
    let mut windows = Vec::new();
    let mut samples = [0.0; WINDOW * WINDOW];
    for top in (0..image.height()).step_by(WINDOW).take_while(|y| y + WINDOW <= image.height()) {
        for left in (0..image.width()).step_by(WINDOW).take_while(|x| x + WINDOW <= image.width()) {
            for (i, sample) in samples.iter_mut().enumerate() {
                *sample = as_f64(image.get(left + i % WINDOW, top + i / WINDOW));
            }
            let is_ignored = |i: usize| {
                ignore.is_some_and(|ignore| ignore.get(left + i % WINDOW, top + i / WINDOW))
            };
            if samples.iter().enumerate().any(|(i, s)| !s.is_finite() || is_ignored(i)) {
                continue;
            }
            let mut sizes = [0.0; WINDOW * WINDOW / 2];
            let both = squares(image, (left, top));
            for (sizes, [across, down, _]) in sizes.as_chunks_mut::<2>().0.iter_mut().zip(both) {
                *sizes = [across.abs(), down.abs()];
            }
            let kept = sizes.len() * QUARTERS / 4;
            nth_smallest(&mut sizes, kept);
            let squares = sizes[..kept].iter().map(|size| size * size).sum::<f64>();
            windows.push(Window {
                at: (left, top),
                brightness: median(&mut samples, 0),
                texture: Float::sqrt(squares / kept as f64),
            });
        }
    }
    windows
}

/// The differences of the 2 x 2 pixels of a window.
fn squares<T: Real>(
    image: Plane<'_, T>,
    (left, top): (usize, usize),
) -> impl Iterator<Item = [f64; 3]> {
    (0..WINDOW * WINDOW / 4).map(move |i| {
        let (x, y) = (left + 2 * (i % (WINDOW / 2)), top + 2 * (i / (WINDOW / 2)));
        let pixels = [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)];
        differences(pixels.map(|(x, y)| as_f64(image.get(x, y))))
    })
}

/// The line through the variances, and whether it is a law.
fn fit(levels: &[Level]) -> Option<(NoiseLaw<f64>, bool)> {
    if levels.len() < LEAST_LEVELS {
        return None;
    }
    let middle = |of: fn(&Level) -> f64| {
        let mut values: Vec<f64> = levels.iter().map(of).collect();
        median(&mut values, 0)
    };
    let typical = middle(|level| level.variance);
    let roughness = middle(|level| level.roughness);
    // Relative errors of the variances.
    let precision = |level: &Level| {
        let systematic = SYSTEMATIC + PER_ROUGHNESS * Float::max(level.roughness - NO_ROUGHER, 0.0);
        (VARIANCE_OF_SCALE / level.number + systematic * systematic).recip()
    };
    let mut law = NoiseLaw { gain: 0.0, floor: typical };
    let on_line = |law: NoiseLaw<f64>, level: &Level| {
        Float::max(law.gain * level.brightness + law.floor, LEAST_PART * typical)
    };
    let mut trust: Vec<f64> = levels.iter().map(|_| 1.0).collect();
    let mut error = f64::INFINITY;
    for _ in 0..ROUNDS {
        // Sums of weighted least squares.
        let (mut w, mut wx, mut wxx, mut wy, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (level, trust) in levels.iter().zip(&trust) {
            let fitted = on_line(law, level);
            let weight = trust * precision(level) / (fitted * fitted);
            let (x, y) = (level.brightness, level.variance);
            w += weight;
            wx += weight * x;
            wxx += weight * x * x;
            wy += weight * y;
            wxy += weight * x * y;
        }
        let determinant = w * wxx - wx * wx;
        if !(determinant > 1e-12 * w * wxx) {
            return None;
        }
        let gain = (w * wxy - wx * wy) / determinant;
        law = NoiseLaw { gain, floor: (wy - gain * wx) / w };
        error = Float::sqrt(w / determinant);
        for (level, trust) in levels.iter().zip(&mut trust) {
            let fitted = on_line(law, level);
            let residual = (level.variance - fitted) / fitted * Float::sqrt(precision(level));
            let half = if residual > 0.0 { ABOVE } else { BELOW };
            *trust = (1.0 + (residual / half) * (residual / half)).recip();
        }
    }
    let lines = || levels.iter().map(|level| law.gain * level.brightness + law.floor);
    let (least, greatest) =
        lines().fold((f64::INFINITY, 0.0_f64), |ends, v| (ends.0.min(v), ends.1.max(v)));
    let (mut squares, mut weights) = (0.0, 0.0);
    for (level, trust) in levels.iter().zip(&trust) {
        let fitted = on_line(law, level);
        let residual = (level.variance - fitted) / fitted;
        squares += trust * residual * residual;
        weights += trust;
    }
    let misfit = Float::sqrt(squares / weights);
    let is_law = law.gain > SIGNIFICANT * error
        && greatest > DIFFERENCE * DIFFERENCE * Float::max(least, LEAST_PART * typical)
        && misfit < MISFIT
        && roughness < ROUGHEST;
    Some((law, is_law))
}
