//! How far residuals of a pilot spread around each pixel: noise, and texture that it missed.
//!
//! $$ v_i^2 = \max\Bigl(\sigma^2,\\;
//!    \frac{\sum_j w_j e_j^2 + \nu \sigma^2}{\sum_j w_j + \nu}\Bigr), $$
//!
//! over the 5 x 5 pixels around i but i itself, with the weights w of pixels that are no impulses.
//! Beyond the border there is nothing. Residuals beyond [`FAR`] deviations count in a first estimate only.

use crate::parallel::each;
use alloc::vec::Vec;
use num_traits::Float;

/// Pixels to each side.
const RADIUS: usize = 2;
/// $\nu$: the pixels for which the noise counts beside those around.
const NOISE_COUNTS: f32 = 1.0;

/// Residuals of so many deviations are hardly those of clean pixels. Beyond that of a first estimate
/// they do not count in the second: they may be impulses that have not been found yet.
pub(super) const FAR: f32 = 3.0;

/// $v$ of all pixels of an image of this `width`.
pub(super) fn misfit(residual: &[f32], weight: &[f32], width: usize, noise: f32) -> Vec<f32> {
    let first = weighted(residual, weight, width, noise);
    let trim = |((&e, &w), &v): ((&f32, &f32), &f32)| if e.abs() > FAR * v { 0.0 } else { w };
    let trimmed: Vec<f32> = residual.iter().zip(weight).zip(&first).map(trim).collect();
    weighted(residual, &trimmed, width, noise)
}

/// The same without trimming.
fn weighted(residual: &[f32], weight: &[f32], width: usize, noise: f32) -> Vec<f32> {
    let squares: Vec<f32> = residual.iter().zip(weight).map(|(e, w)| w * e * e).collect();
    let mut both = each([&squares[..], weight].into_iter(), |values| around(values, width));
    let (weights, sums) = (both.pop().unwrap_or_default(), both.pop().unwrap_or_default());
    let variance = noise * noise;
    let deviation = |(sum, weight): (f32, f32)| {
        let mean = (sum + NOISE_COUNTS * variance) / (weight + NOISE_COUNTS);
        Float::sqrt(mean.max(variance))
    };
    sums.into_iter().zip(weights).map(deviation).collect()
}

/// The sums over the pixels around each, without itself.
fn around(values: &[f32], width: usize) -> Vec<f32> {
    let mut across = Vec::with_capacity(values.len());
    for row in values.chunks_exact(width) {
        across.extend((0..width).map(|x| {
            row[x.saturating_sub(RADIUS)..(x + RADIUS + 1).min(width)].iter().sum::<f32>()
        }));
    }
    let height = values.len() / width;
    let mut sums: Vec<f32> = Vec::with_capacity(values.len());
    for y in 0..height {
        let start = sums.len();
        sums.extend(values[start..start + width].iter().map(|value| -value));
        for v in y.saturating_sub(RADIUS)..(y + RADIUS + 1).min(height) {
            for (sum, value) in sums[start..].iter_mut().zip(&across[v * width..]) {
                *sum += value;
            }
        }
    }
    // Differences of sums may fall below zero by rounding.
    for sum in &mut sums {
        *sum = sum.max(0.0);
    }
    sums
}
