//! The spectrum of the noise, from the image alone.
//!
//! Cameras make three colours of each pixel from one measurement, JPEG drops fine detail, and
//! film has grains: neighbouring pixels then have noise in common. It is described by the
//! deviation of each coefficient of the DCT of 8 x 8 pixels, which is the basis of BM3D; white
//! noise has the same in all.
//!
//! Windows of 16 x 16 pixels have four blocks each. Windows that are even show the noise alone.
//! The coefficients (v, u) with v + u even choose the windows by which those with v + u odd are
//! measured, and the other way around: noise has independent values in the two halves, so that
//! the choice does not make it smaller. As in [`noise_level`](super::noise_level) the calmest
//! few count first, then all that are not rougher than such noise.
//!
//! Texture has a falling spectrum, too. It counts as noise only where many windows have it
//! alike ([`LEAST_EVEN`]), and where coarse coefficients exceed fine ones by more than texture
//! adds to white noise ([`LEAST_RATIO`]).

use super::Plane;
use super::noise_level::{NO_ROUGHER, NORMAL_MEDIAN, ONE_IN};
use crate::error::as_f64;
use crate::real::constant;
use crate::stats::median;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::array::from_fn;
use core::cmp::Ordering;
use core::f64::consts::PI;
use num_traits::Float;

/// Side of a block, in pixels.
pub(super) const SIDE: usize = 8;
/// Side of a window, in blocks.
const BLOCKS: usize = 2;
/// Where the windows begin: at odd places, so that the blocks are not those of JPEG, in which
/// many coefficients are zero.
const STARTS: [(usize, usize); 2] = [(1, 3), (5, 7)];
/// Windows that are looked at, at most, evenly spread; and at least, for an estimate.
const WINDOWS: (usize, usize) = (8192, 48);
/// How often windows are chosen anew.
const ROUNDS: usize = 6;
/// Coefficients of more than so many deviations are not noise, and the variance of a normal
/// variable within that.
const CUT: f64 = 3.0;
const CUT_VARIANCE: f64 = 0.973_346_6;
/// How often a scale is improved.
const CUTS: usize = 4;
/// An even window has at most so many times the energy of noise, and at least this share of
/// all windows is even.
const EVEN: f64 = 1.4;
const LEAST_EVEN: f64 = 0.1;
/// The deviations of coarse coefficients (v + u from 3 to 6) over those of fine ones (9 and
/// more), root mean squares, from which on noise is not white.
const LEAST_RATIO: f64 = 1.4;
/// Below this ratio the spectrum counts as flat, only its size is another than that of its finest
/// part: JPEG makes fine coefficients rare, but those that remain are large.
const SLOPED: f64 = 2.0;
const COARSE: core::ops::RangeInclusive<usize> = 3..=6;
const FINE: core::ops::RangeInclusive<usize> = 9..=14;

/// The deviations of noise in the coefficients of the DCT of 8 x 8 pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NoiseSpectrum<T> {
    deviations: [[T; SIDE]; SIDE],
}

impl<T: Real> NoiseSpectrum<T> {
    /// The spectrum of these deviations, the rows from vertically even to fine, the columns from
    /// horizontally even to fine.
    ///
    /// # Errors
    /// [`Error::NotFinite`] and [`Error::Negative`] for deviations that are not finite or
    /// negative.
    pub fn new(deviations: [[T; SIDE]; SIDE]) -> Result<Self, Error> {
        for row in &deviations {
            Error::check_finite("deviation of the noise", row)?;
            for &deviation in row {
                Error::check_not_negative("deviation of the noise", deviation)?;
            }
        }
        Ok(Self { deviations })
    }

    /// White noise.
    pub fn white(deviation: T) -> Self {
        Self { deviations: [[deviation; SIDE]; SIDE] }
    }

    /// Noise of this deviation whose correlation falls with the distance d as
    /// $\exp(-d^2/\ell^2)$, with the correlation length $\ell$ in pixels: white noise blurred by a
    /// Gaussian of deviation $\ell/2$. Length zero is white noise.
    ///
    /// # Errors
    /// [`Error::Negative`] or [`Error::NotFinite`] for such a deviation or length.
    pub fn gaussian(deviation: T, length: T) -> Result<Self, Error> {
        for (what, value) in [("deviation of the noise", deviation), ("correlation length", length)]
        {
            Error::check_not_negative(what, value)?;
            Error::check_finite(what, &[value])?;
        }
        let length = Float::max(as_f64(length), 1e-3);
        let basis = dct();
        // The variance of the coefficients of a row; a block's is a product of two.
        let along: [f64; SIDE] = from_fn(|k| {
            let mut sum = 0.0;
            for i in 0..SIDE {
                for j in 0..SIDE {
                    let d = (i as f64 - j as f64) / length;
                    sum += basis[k][i] * basis[k][j] * Float::exp(-d * d);
                }
            }
            Float::sqrt(Float::max(sum, 0.0))
        });
        let deviations = from_fn(|v| from_fn(|u| deviation * constant(along[v] * along[u])));
        Ok(Self { deviations })
    }

    /// The deviations, by rows.
    pub const fn deviations(&self) -> &[[T; SIDE]; SIDE] {
        &self.deviations
    }

    /// The deviation of a pixel: the root mean square of the coefficients'.
    pub fn deviation(&self) -> T {
        let squares = self.deviations.as_flattened().iter().map(|&d| as_f64(d) * as_f64(d));
        constant(Float::sqrt(squares.sum::<f64>() / (SIDE * SIDE) as f64))
    }

    /// The same noise `factor` times as large.
    #[must_use]
    pub fn scaled(&self, factor: T) -> Self {
        Self { deviations: self.deviations.map(|row| row.map(|deviation| factor * deviation)) }
    }

    /// No deviation below `least`.
    pub(super) fn at_least(&self, least: T) -> Self {
        Self { deviations: self.deviations.map(|row| row.map(|deviation| deviation.max(least))) }
    }

    /// Whether all deviations are the same.
    pub(super) fn is_white(&self) -> bool {
        self.deviations.as_flattened().iter().all(|&d| d == self.deviations[0][0])
    }

    /// The distance in pixels at which the correlation has fallen to 1/e, from the correlation of
    /// neighbours, as if it fell as in [`gaussian`](Self::gaussian); zero for white noise.
    pub fn correlation_length(&self) -> T {
        let basis = dct();
        // What a coefficient of deviation one adds to the products of neighbours in a row.
        let neighbours: [f64; SIDE] = from_fn(|k| {
            let products = (1..SIDE).map(|i| basis[k][i - 1] * basis[k][i]);
            products.sum::<f64>() * SIDE as f64 / (SIDE - 1) as f64
        });
        let (mut variance, mut common) = (0.0, 0.0);
        for (v, row) in self.deviations.iter().enumerate() {
            for (u, &deviation) in row.iter().enumerate() {
                let power = as_f64(deviation) * as_f64(deviation);
                variance += power;
                common += power * 0.5 * (neighbours[u] + neighbours[v]);
            }
        }
        let correlation = common / variance;
        // Less than a twentieth is what is left of white noise.
        if !(correlation > 0.05) {
            return T::zero();
        }
        constant(Float::sqrt(-Float::ln(Float::min(correlation, 0.999))).recip())
    }
}

/// The spectrum of the noise of an image if it is not white; nothing if it is, or if too little of
/// the image is even. Windows with a pixel to `ignore` do not count.
#[must_use]
pub fn noise_spectrum<T: Real>(
    image: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
) -> Option<NoiseSpectrum<T>> {
    let estimate = estimate(image, ignore)?;
    (estimate.even >= LEAST_EVEN && estimate.ratio() >= LEAST_RATIO).then(|| estimate.spectrum())
}

/// The same whether it is white or not.
pub(super) fn any_spectrum<T: Real>(
    image: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
) -> Option<NoiseSpectrum<T>> {
    estimate(image, ignore).map(|estimate| estimate.spectrum())
}

/// Whether enough of an image is even for its noise to be seen.
pub(super) fn is_even<T: Real>(image: Plane<'_, T>, ignore: Option<Plane<'_, bool>>) -> bool {
    estimate(image, ignore).is_some_and(|estimate| estimate.even >= LEAST_EVEN)
}

/// A window: the coefficients of its blocks.
type Window = [[[f32; SIDE]; SIDE]; BLOCKS * BLOCKS];

/// Deviations, as `f32` in the units of the samples over `unit`.
struct Estimate {
    deviations: [[f32; SIDE]; SIDE],
    /// The share of the windows that are even.
    even: f64,
    unit: f64,
}

impl Estimate {
    /// Coarse over fine.
    fn ratio(&self) -> f64 {
        let mean = |band: core::ops::RangeInclusive<usize>| {
            let (mut sum, mut number) = (0.0, 0.0);
            for (v, row) in self.deviations.iter().enumerate() {
                for (u, &deviation) in row.iter().enumerate() {
                    if band.contains(&(v + u)) {
                        sum += f64::from(deviation) * f64::from(deviation);
                        number += 1.0;
                    }
                }
            }
            sum / number
        };
        let (coarse, fine) = (mean(COARSE), mean(FINE));
        if coarse > 0.0 { Float::sqrt(coarse / fine) } else { 0.0 }
    }

    /// The spectrum: flat, if fine coefficients are not much smaller than coarse ones.
    fn spectrum<T: Real>(&self) -> NoiseSpectrum<T> {
        let in_samples = |deviation: f32| constant(f64::from(deviation) * self.unit);
        let spectrum = NoiseSpectrum { deviations: self.deviations.map(|row| row.map(in_samples)) };
        if self.ratio() < SLOPED { NoiseSpectrum::white(spectrum.deviation()) } else { spectrum }
    }
}

/// Which of the two halves of the coefficients one belongs to; the mean belongs to none.
fn half(v: usize, u: usize) -> Option<usize> {
    (v + u > 0).then_some((v + u) % 2)
}

fn estimate<T: Real>(image: Plane<'_, T>, ignore: Option<Plane<'_, bool>>) -> Option<Estimate> {
    let (windows, unit) = windows(image, ignore)?;
    let mut deviations = [[1.0_f32; SIDE]; SIDE];
    let calmest = windows.len().div_ceil(ONE_IN);
    let mut even = 0.0;
    for round in 0..ROUNDS {
        let mut next = deviations;
        even = 0.0;
        for chosen_by in [0, 1] {
            let weights = weights(&deviations, chosen_by);
            let mut order: Vec<(f32, usize)> =
                windows.iter().enumerate().map(|(i, w)| (energy(w, &weights), i)).collect();
            order.sort_unstable_by(|a, b| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal));
            let up_to = |limit: f64| order.partition_point(|(e, _)| f64::from(*e) <= limit);
            let taken = if round == 0 { calmest } else { up_to(NO_ROUGHER).max(calmest) };
            even += 0.5 * up_to(EVEN) as f64 / windows.len() as f64;
            let mut sizes = Vec::with_capacity(taken * BLOCKS * BLOCKS);
            for (v, row) in next.iter_mut().enumerate() {
                for (u, deviation) in row.iter_mut().enumerate() {
                    if half(v, u) != Some(1 - chosen_by) {
                        continue;
                    }
                    sizes.clear();
                    for &(_, i) in &order[..taken] {
                        sizes.extend(windows[i].iter().map(|block| block[v][u].abs()));
                    }
                    let last = (round > 0).then_some(f64::from(*deviation));
                    #[allow(clippy::cast_possible_truncation)]
                    {
                        *deviation = scale(&mut sizes, last) as f32;
                    }
                }
            }
        }
        deviations = next;
    }
    // The mean cannot be told from the picture: as the coarsest that can.
    deviations[0][0] = 0.5 * (deviations[0][1] + deviations[1][0]);
    // A drawing has flat windows without anything; that is no noise.
    let is_noise = deviations.as_flattened().iter().all(|d| d.is_finite() && *d > 0.0);
    is_noise.then_some(Estimate { deviations, even, unit })
}

/// Weights of squares whose sum is one in noise of these deviations, and zero for the other half.
fn weights(deviations: &[[f32; SIDE]; SIDE], chosen_by: usize) -> [[f32; SIDE]; SIDE] {
    let number = (0..SIDE * SIDE).filter(|i| half(i / SIDE, i % SIDE) == Some(chosen_by)).count();
    let all = (number * BLOCKS * BLOCKS) as f32;
    from_fn(|v| {
        from_fn(|u| {
            let counts = half(v, u) == Some(chosen_by);
            let d = deviations[v][u].max(f32::MIN_POSITIVE.sqrt());
            if counts { (all * d * d).recip() } else { 0.0 }
        })
    })
}

fn energy(window: &Window, weights: &[[f32; SIDE]; SIDE]) -> f32 {
    let mut sums = [0.0_f32; SIDE];
    for block in window {
        for (row, weights) in block.iter().zip(weights) {
            for l in 0..SIDE {
                sums[l] += weights[l] * row[l] * row[l];
            }
        }
    }
    sums.iter().sum()
}

/// The deviation of normal values of these sizes, robustly; beginning with that of the `last` round.
fn scale(sizes: &mut [f32], last: Option<f64>) -> f64 {
    let mut scale = match last {
        Some(last) if last > 0.0 => last,
        _ => f64::from(median(sizes, 0)) / NORMAL_MEDIAN,
    };
    for _ in 0..CUTS {
        let within = CUT * scale;
        let (mut sum, mut number) = (0.0, 0.0);
        for size in sizes.iter().map(|&size| f64::from(size)).filter(|&size| size < within) {
            sum += size * size;
            number += 1.0;
        }
        scale = Float::sqrt(sum / (Float::max(number, 1.0) * CUT_VARIANCE));
    }
    scale
}

/// The windows that count, and the unit of their coefficients.
fn windows<T: Real>(
    image: Plane<'_, T>,
    ignore: Option<Plane<'_, bool>>,
) -> Option<(Vec<Window>, f64)> {
    let (width, height) = (image.width(), image.height());
    let is_ignored = |x: usize, y: usize| ignore.is_some_and(|ignore| ignore.get(x, y));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for y in 0..height {
        for (x, sample) in image.row(y).enumerate() {
            let sample = as_f64(sample);
            if sample.is_finite() && !is_ignored(x, y) {
                (low, high) = (low.min(sample), high.max(sample));
            }
        }
    }
    let unit = high - low;
    if !(unit > 0.0 && unit.is_finite()) {
        return None;
    }
    let side = BLOCKS * SIDE;
    let mut places = Vec::new();
    for (left, top) in STARTS {
        let rows = (top..height).step_by(side).take_while(|y| y + side <= height);
        places.extend(rows.flat_map(|y| {
            (left..width).step_by(side).take_while(|x| x + side <= width).map(move |x| (x, y))
        }));
    }
    let step = places.len().div_ceil(WINDOWS.0).max(1);
    let basis = dct().map(|row| {
        row.map(|x| {
            #[allow(clippy::cast_possible_truncation)]
            {
                x as f32
            }
        })
    });
    let mut windows = Vec::with_capacity(places.len() / step + 1);
    for &(left, top) in places.iter().step_by(step) {
        let mut samples = [[0.0_f32; BLOCKS * SIDE]; BLOCKS * SIDE];
        let mut counts = true;
        for (y, row) in samples.iter_mut().enumerate() {
            for (x, value) in row.iter_mut().enumerate() {
                let sample = as_f64(image.get(left + x, top + y));
                // Where noise was cut off there is less of it.
                counts &= sample > low && sample < high && !is_ignored(left + x, top + y);
                #[allow(clippy::cast_possible_truncation)]
                {
                    *value = ((sample - low) / unit) as f32;
                }
            }
        }
        if !counts {
            continue;
        }
        windows.push(from_fn(|block| {
            let (x, y) = (block % BLOCKS * SIDE, block / BLOCKS * SIDE);
            transform(&basis, &from_fn(|i| from_fn(|j| samples[y + i][x + j])))
        }));
    }
    (windows.len() >= WINDOWS.1).then_some((windows, unit))
}

/// The orthonormal DCT, by rows.
fn dct() -> [[f64; SIDE]; SIDE] {
    let n = SIDE as f64;
    from_fn(|k| {
        let norm = Float::sqrt(if k == 0 { 1.0 } else { 2.0 } / n);
        from_fn(|j| norm * Float::cos(PI * (j as f64 + 0.5) * k as f64 / n))
    })
}

/// F B Fᵀ.
fn transform(f: &[[f32; SIDE]; SIDE], block: &[[f32; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE] {
    let mut rows = [[0.0_f32; SIDE]; SIDE];
    for v in 0..SIDE {
        for i in 0..SIDE {
            for l in 0..SIDE {
                rows[v][l] += f[v][i] * block[i][l];
            }
        }
    }
    from_fn(|v| from_fn(|u| (0..SIDE).map(|l| f[u][l] * rows[v][l]).sum()))
}
