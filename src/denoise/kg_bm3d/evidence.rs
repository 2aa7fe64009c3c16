//! Whether what was marked is impulses, or the picture.
//!
//! Impulses fall anywhere. So they are as frequent where the picture is flat, where nothing else
//! looks like them, as where it has edges, letters or stars; and in each part of the flat ground.
//! Marks that are much more frequent in structure are structure.

use alloc::vec::Vec;
use num_traits::Float;

/// A pixel is flat if the samples of the 5 x 5 around it that are not marked differ by no more
/// than so many deviations of the noise and so many units.
const RADIUS: usize = 2;
const SPREAD: f32 = 6.0;
const LEAST_SPREAD: f32 = 2.0;
/// More of the 5 x 5 are marked than by chance from so many standard errors on.
const BY_CHANCE: f32 = 3.0;
/// Flat pixels that are needed to say anything.
const LEAST_FLAT: usize = 400;
/// Marks are structure if they are so many times as frequent there as in the flat ground.
const TIMES: f64 = 2.0;
/// With so many marks in structure for each in the flat ground, the latter are strays of it.
const STRAYS: f64 = 10.0;
/// Parts of the picture, across and down, among which the marks of the flat ground are compared, and
/// the variance of their frequency, over its square, that is not chance.
const PARTS: usize = 4;
const UNEVEN: f64 = 2.0;

/// The pixels of a channel.
pub(super) struct Marks<'a> {
    pub(super) samples: &'a [f32],
    pub(super) width: usize,
    pub(super) marked: &'a [bool],
    /// Pixels that do not count.
    pub(super) known: &'a [bool],
    pub(super) noise: f32,
}

/// Which pixels may be impulses.
pub(super) enum Verdict {
    /// All: the marks are as frequent in the flat ground.
    Anywhere,
    /// Flat ones only.
    Flat(Vec<bool>),
    /// None: the marks are gathered in a part of the picture, or hardly any is in the flat ground.
    Nowhere,
}

impl Marks<'_> {
    /// What the places of the marks say. A flat pixel with marks beside it says nothing: the marks of
    /// a letter hide that it is one. Where impulses fall by chance, those that are alone are as
    /// frequent as all.
    pub(super) fn verdict(&self) -> Verdict {
        if !self.marked.contains(&true) {
            return Verdict::Anywhere;
        }
        let (even, beside) = (self.even(), self.marks_beside());
        let (mut marks, mut pixels) = ([0_usize; 2], [0_usize; 2]);
        let mut parts = [(0_usize, 0_usize); PARTS * PARTS];
        let height = self.samples.len() / self.width;
        for i in (0..even.len()).filter(|&i| !self.known[i]) {
            let is_flat = even[i] && beside[i] < 0.5;
            marks[usize::from(is_flat)] += usize::from(self.marked[i]);
            pixels[usize::from(is_flat)] += 1;
            if is_flat {
                let (x, y) = (i % self.width, i / self.width);
                let part = &mut parts[y * PARTS / height * PARTS + x * PARTS / self.width];
                part.0 += usize::from(self.marked[i]);
                part.1 += 1;
            }
        }
        if pixels[1] < LEAST_FLAT {
            return Verdict::Anywhere;
        }
        if are_gathered(&parts, marks[1] as f64 / pixels[1] as f64) {
            return Verdict::Nowhere;
        }
        let [structure, flat] = [0, 1].map(|kind| marks[kind] as f64);
        // Two standard errors more, and three marks where there are none.
        let most = (flat + 2.0 * Float::sqrt(flat) + 3.0) / pixels[1] as f64;
        if structure <= TIMES * most * pixels[0] as f64 {
            return Verdict::Anywhere;
        }
        if structure >= STRAYS * flat {
            return Verdict::Nowhere;
        }
        let around = (2 * RADIUS + 1) * (2 * RADIUS + 1) - 1;
        let expected = around as f32 * marks[1] as f32 / pixels[1] as f32;
        let by_chance = expected + BY_CHANCE * Float::sqrt(expected);
        let flat = even.into_iter().zip(beside).map(|(even, n)| even && n <= by_chance);
        Verdict::Flat(flat.collect())
    }

    /// Whether the unmarked samples around each pixel differ by noise only.
    fn even(&self) -> Vec<bool> {
        let limit = SPREAD * self.noise + LEAST_SPREAD;
        let unmarked = |otherwise: f32| {
            let values = self.samples.iter().zip(self.marked).zip(self.known);
            let value = |((&y, &is), &known): ((&f32, &bool), &bool)| {
                if is || known { otherwise } else { y }
            };
            values.map(value).collect::<Vec<f32>>()
        };
        let low = around(&unmarked(f32::INFINITY), self.width, f32::min);
        let high = around(&unmarked(f32::NEG_INFINITY), self.width, f32::max);
        high.into_iter().zip(low).map(|(high, low)| high - low <= limit).collect()
    }

    /// How many of the pixels around each are marked.
    fn marks_beside(&self) -> Vec<f32> {
        let one = |&is: &bool| f32::from(u8::from(is));
        let ones: Vec<f32> = self.marked.iter().map(one).collect();
        let sums = around(&ones, self.width, |a, b| a + b);
        sums.into_iter().zip(ones).map(|(sum, own)| sum - own).collect()
    }
}

/// Whether marks are in some parts of the picture only; the parts have marks and pixels.
fn are_gathered(parts: &[(usize, usize)], share: f64) -> bool {
    let (mut squares, mut all, mut number) = (0.0, 0.0, 0.0_f64);
    for &(marks, pixels) in parts.iter().filter(|part| part.1 > 0) {
        let expected = share * pixels as f64;
        let off = marks as f64 - expected;
        squares += off * off / Float::max(expected, f64::MIN_POSITIVE);
        all += expected;
        number += 1.0;
    }
    // Poisson's counts give as many as there are degrees of freedom.
    let degrees = number - 1.0;
    let by_chance = degrees + 5.0 * Float::sqrt(2.0 * degrees);
    all > 0.0 && squares - by_chance > UNEVEN * all
}

/// All values of the 5 x 5 around each, put together by `join`.
fn around(values: &[f32], width: usize, join: impl Fn(f32, f32) -> f32) -> Vec<f32> {
    let height = values.len() / width;
    let mut across = Vec::with_capacity(values.len());
    for row in values.chunks_exact(width) {
        across.extend((0..width).map(|x| {
            let near = &row[x.saturating_sub(RADIUS)..(x + RADIUS + 1).min(width)];
            near[1..].iter().fold(near[0], |a, &b| join(a, b))
        }));
    }
    let mut all = Vec::with_capacity(values.len());
    for y in 0..height {
        let rows = y.saturating_sub(RADIUS)..(y + RADIUS + 1).min(height);
        let start = all.len();
        all.extend_from_slice(&across[rows.start * width..][..width]);
        for v in rows.skip(1) {
            for (value, &other) in all[start..].iter_mut().zip(&across[v * width..]) {
                *value = join(*value, other);
            }
        }
    }
    all
}
