//! The noise of an image that has impulses still, from its calm windows.
//!
//! As in [`noise_level`](crate::denoise::noise_level), two differences of 2 x 2 pixels say which
//! windows have texture, and the third how noisy the others are. Here a window keeps sums only, so that those of parts of an image are those of the whole; and pixels
//! that look like impulses at first sight do not count, nor do the noise's own extremes, which
//! look like that as well.

use super::super::detect::rows::Rows;
use super::super::noise_level::{GROWTHS, NO_ROUGHER, ONE_IN, differences};
use crate::Real;
use crate::real::{constant, count};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

/// Columns of a window; it has the rows of a row of cores.
const WIDTH: usize = 16;
/// The standard deviation of a Gaussian, by the mean of its absolute value.
const DEVIATION_PER_MEAN: f64 = 1.253_314_137_315_500_3;
/// What is left of the noise without suspects: 0.85 where there is nothing else, a little more
/// in photographs.
const WITHOUT_SUSPECTS: f64 = 0.858;
/// Means stand in for bad pixels. What is around them is less spread, and more of it is
/// suspect: with a share b of bad pixels, what is left is less by 1 + b / 2.
const OF_BAD: f64 = 0.5;
/// Many bad pixels are one in so many.
const MANY: usize = 4;
/// Squares of pixels that are wanted at least, where there are so many.
const ENOUGH: usize = 200;

/// What a part of an image says about the noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window<T> {
    /// Mean square of the differences across and down.
    texture: T,
    /// Sum of the sizes of the others, and how many they are.
    sum: T,
    squares: usize,
    /// The least and the greatest of its pixels.
    range: (T, T),
}

/// The windows of some rows of an image. Of 2 x 2 pixels the upper ones lie in `rows`.
pub(super) fn windows<T: Real>(
    image: &Rows<T>,
    rows: Range<usize>,
    height: usize,
) -> Vec<Window<T>> {
    let width = image.pixel_row(rows.start).len();
    let lefts = || (0..width).step_by(WIDTH);
    let area = |left: usize| rows.len() * WIDTH.min(width - left);
    let mut windows = alloc::vec![Window::new(); width.div_ceil(WIDTH)];
    let mut bad = alloc::vec![0; windows.len()];
    for row in rows.clone().filter_map(|y| image.bad_row(y)) {
        for (bad, row) in bad.iter_mut().zip(row.chunks(WIDTH)) {
            *bad += row.iter().filter(|&&is_bad| is_bad).count();
        }
    }
    for y in rows.clone().take_while(|y| y + 1 < height) {
        let [upper, lower] = [y, y + 1].map(|y| Line {
            pixels: image.pixel_row(y),
            calm: image.calm_row(y),
            bad: image.bad_row(y),
        });
        for ((window, &bad), left) in windows.iter_mut().zip(&bad).zip(lefts()) {
            // Squares side by side are enough, and independent; but where many pixels are bad,
            // few are whole.
            let step = if bad * MANY < area(left) { 2 } else { 1 };
            if y % step != 0 {
                continue;
            }
            for x in (left..(left + WIDTH).min(width - 1)).step_by(step) {
                if !upper.has_suspect(x) && !lower.has_suspect(x) {
                    let ([a, b], [c, d]) = (upper.two(x), lower.two(x));
                    window.add([a, b, c, d]);
                }
            }
        }
    }
    for ((window, bad), left) in windows.iter_mut().zip(bad).zip(lefts()) {
        window.finish(count::<T>(bad) / count(area(left)));
    }
    windows.retain(|window| window.squares > 0);
    windows
}

/// A row of pixels.
struct Line<'a, T> {
    pixels: &'a [T],
    calm: &'a [T],
    bad: Option<&'a [bool]>,
}

impl<T: Real> Line<'_, T> {
    #[inline(always)]
    fn two(&self, x: usize) -> [T; 2] {
        [self.pixels[x], self.pixels[x + 1]]
    }

    /// Whether one of two pixels does not count.
    #[inline(always)]
    fn has_suspect(&self, x: usize) -> bool {
        self.pixels[x] != self.calm[x]
            || self.pixels[x + 1] != self.calm[x + 1]
            || self.bad.is_some_and(|bad| bad[x] || bad[x + 1])
    }
}

impl<T: Real> Window<T> {
    fn new() -> Self {
        let range = (T::infinity(), T::neg_infinity());
        Self { texture: T::zero(), sum: T::zero(), squares: 0, range }
    }

    /// Adds 2 x 2 pixels; the texture is a sum until it is finished.
    #[inline(always)]
    fn add(&mut self, pixels: [T; 4]) {
        let [across, down, both] = differences(pixels);
        self.texture = self.texture + (across * across + down * down);
        self.sum = self.sum + both.abs();
        self.squares += 1;
        for pixel in pixels {
            let (least, greatest) = self.range;
            self.range = (
                if pixel < least { pixel } else { least },
                if pixel > greatest { pixel } else { greatest },
            );
        }
    }

    /// When all are added, with a share of `bad` pixels.
    fn finish(&mut self, bad: T) {
        let scale = T::one() + constant::<T>(OF_BAD) * bad;
        self.texture = scale * scale * self.texture / count(self.squares.max(1));
        self.sum = scale * self.sum;
    }
}

/// The standard deviation of the noise, from all windows of an image.
pub(super) fn noise<T: Real>(all: &[Window<T>]) -> T {
    // Where pixels are clipped there is less noise, or none: such windows say nothing, unless
    // there are hardly any others, as on a white page.
    let everywhere = all.iter().fold((T::infinity(), T::neg_infinity()), |range, window| {
        (range.0.min(window.range.0), range.1.max(window.range.1))
    });
    let is_whole =
        |window: &&Window<T>| window.range.0 > everywhere.0 && window.range.1 < everywhere.1;
    let mut windows: Vec<&Window<T>> = all.iter().filter(is_whole).collect();
    if windows.len() * ONE_IN < all.len() {
        windows = all.iter().collect();
    }
    windows.sort_by(|a, b| a.texture.partial_cmp(&b.texture).unwrap_or(Ordering::Equal));

    let scale = constant::<T>(DEVIATION_PER_MEAN / WITHOUT_SUSPECTS);
    let calmest = windows.len().div_ceil(ONE_IN);
    let (mut sum, mut squares, mut taken) = (T::zero(), 0, 0);
    let mut noise = T::zero();
    for growth in 0..=GROWTHS {
        // The squares of two differences are twice the variance; suspects are missing there, too.
        let left = constant::<T>(WITHOUT_SUSPECTS) * noise;
        let calm = constant::<T>(2.0 * NO_ROUGHER) * left * left;
        while let Some(window) = windows.get(taken) {
            let is_first = growth == 0 && (taken < calmest || squares < ENOUGH);
            if !is_first && window.texture > calm {
                break;
            }
            sum = sum + window.sum;
            squares += window.squares;
            taken += 1;
        }
        noise = scale * sum / count(squares.max(1));
    }
    noise
}
