//! The noise of an image that has impulses still, from its calm windows.
//!
//! As in [`noise_level`](crate::denoise::noise_level): of every 2 x 2 pixels a b / c d the
//! differences across and down, and of both,
//!
//! $$ \frac{(a - b) + (c - d)}{2}, \quad \frac{(a - c) + (b - d)}{2}, \quad \frac{(a - b) - (c - d)}{2}, $$
//!
//! are independent in white noise. The first two say which windows have texture, the third how
//! noisy the others are, and choosing by the former does not make the latter smaller. Here a
//! window keeps sums only, so that those of parts of an image are those of the whole; and pixels
//! that look like impulses at first sight do not count, nor do the noise's own extremes, which
//! look like that as well.

use super::super::rows::Rows;
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
/// The share of the windows that count at first: one in so many.
const ONE_IN: usize = 24;
/// Squares of pixels that are wanted at least, where there are so many.
const ENOUGH: usize = 200;
/// How often windows are chosen anew, by the noise found so far.
const GROWTHS: usize = 3;
/// The texture of windows that count then, as a multiple of what noise alone has.
const NO_ROUGHER: f64 = 1.1;

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

/// What is added up of a window.
#[derive(Clone, Copy)]
struct Sums<T> {
    texture: T,
    sum: T,
    squares: usize,
    range: (T, T),
    bad: usize,
}

/// The windows of some rows of an image. Of 2 x 2 pixels the upper ones lie in `rows`.
pub(super) fn windows<T: Real>(
    image: &Rows<T>,
    rows: Range<usize>,
    height: usize,
) -> Vec<Window<T>> {
    let width = image.pixel_row(rows.start).len();
    let nothing = Sums {
        texture: T::zero(),
        sum: T::zero(),
        squares: 0,
        range: (T::infinity(), T::neg_infinity()),
        bad: 0,
    };
    let mut sums = alloc::vec![nothing; width.div_ceil(WIDTH)];
    let lefts = || (0..width).step_by(WIDTH);
    let area = |left: usize| rows.len() * WIDTH.min(width - left);
    for bad in rows.clone().filter_map(|y| image.bad_row(y)) {
        for (sums, bad) in sums.iter_mut().zip(bad.chunks(WIDTH)) {
            sums.bad += bad.iter().filter(|&&is_bad| is_bad).count();
        }
    }
    for y in rows.clone().take_while(|y| y + 1 < height) {
        let [upper, lower] = [y, y + 1].map(|y| Line {
            pixels: image.pixel_row(y),
            calm: image.calm_row(y),
            bad: image.bad_row(y),
        });
        for (sums, left) in sums.iter_mut().zip(lefts()) {
            // Squares side by side are enough, and independent; but where many pixels are bad,
            // few are whole.
            let step = if sums.bad * MANY < area(left) { 2 } else { 1 };
            if y % step != 0 {
                continue;
            }
            for x in (left..(left + WIDTH).min(width - 1)).step_by(step) {
                if !upper.has_suspect(x) && !lower.has_suspect(x) {
                    let ([a, b], [c, d]) = (upper.two(x), lower.two(x));
                    sums.add([a, b, c, d]);
                }
            }
        }
    }
    sums.iter().zip(lefts()).filter_map(|(sums, left)| sums.window(area(left))).collect()
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

impl<T: Real> Sums<T> {
    #[inline(always)]
    fn add(&mut self, [a, b, c, d]: [T; 4]) {
        let (upper, lower) = (a - b, c - d);
        let (across, down, both) = (upper + lower, (a - c) + (b - d), upper - lower);
        self.texture = self.texture + (across * across + down * down);
        self.sum = self.sum + both.abs();
        self.squares += 1;
        for pixel in [a, b, c, d] {
            let (least, greatest) = self.range;
            self.range = (
                if pixel < least { pixel } else { least },
                if pixel > greatest { pixel } else { greatest },
            );
        }
    }

    /// What they say, if there is anything in so many pixels.
    fn window(&self, area: usize) -> Option<Window<T>> {
        let &Self { texture, sum, squares, range, bad } = self;
        let half = constant::<T>(0.5);
        let bad = count::<T>(bad) / count(area);
        let scale = half * (T::one() + constant::<T>(OF_BAD) * bad);
        let texture = scale * scale * texture / count(squares.max(1));
        (squares > 0).then_some(Window { texture, sum: scale * sum, squares, range })
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
