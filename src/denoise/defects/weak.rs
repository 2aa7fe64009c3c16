//! Rows and columns with a wrong gain or offset, which are repaired as such: their pixels keep
//! what they have seen.
//!
//! A line of a sensor with the gain $1 + g$ and the offset $b$ gives $y = (1 + g) f + b$ where the
//! lines beside it give $f$. Of the pixels of a good line as many are above their neighbours on
//! the left as below, and the same on the right; at an edge or on a slope that is so on one side, or
//! the sides differ. In each of a few parts of the line the difference of the counts, in units of the
//! square root of their sum, on the side where it is less, is a deviation, and a line that
//! deviates in most of the parts stands out ([`persistent`](super::persistent)). Pixels count
//! only where all three differ from those before them along the line: what is drawn does not
//! vary, and is not to be repaired.
//!
//! Then $y - f = b + g f$ is fitted, $f$ being the mean of the neighbours, without residuals of
//! more than three deviations; the gain is left out unless it is significant. What is left is
//! compared with other lines: a detail of the scene is not the same all along, a gain and an offset
//! are.

use super::persistent::{judge, step};
use crate::Real;
use crate::error::as_f64;
use crate::image::{Plane, PlaneBuf};
use crate::real::constant;
use crate::stats::{DEVIATION_PER_MEDIAN, nth_smallest, upper_quantile};
use alloc::vec::Vec;
use num_traits::Float;

/// Parts of a line that are judged by themselves: with eight, five have to agree.
const PARTS: usize = 8;
/// The least pixels of a part: with 16 its greatest deviation is 4.
const LEAST_OF_PART: usize = 16;
/// Lines that stand out by chance in a picture, in one direction: one in a hundred pictures, because
/// nobody has asked for a repair. What is the same all along is repaired only.
const FALSE_ALARMS: f64 = 0.01;
/// The lesser of the differences from both neighbours is at least this part of the greater: with
/// less, most of it is an edge.
const SIDES: f64 = 0.25;
/// Lines that a wrong one is compared with, at most twice as many.
const COMPARED: usize = 128;
/// After the repair the parts of a wrong line scatter no more than those of nine lines in ten.
const USUAL: f64 = 0.9;
/// Residuals of more deviations do not count for gain and offset.
const CUT: f64 = 3.0;
/// Rounds of cutting.
const ROUNDS: usize = 3;

/// A row or column whose samples are wrong by a gain and an offset.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct WrongLine {
    /// Whether it is a column.
    pub is_column: bool,
    /// Which row or column.
    pub index: usize,
    /// What its samples are multiplied by.
    pub gain: f64,
    /// And what is added to them then.
    pub offset: f64,
}

/// Rows and columns of a wrong gain or offset: those that lie above, or below, both of their
/// neighbours along most of their length, while all of them show the same picture. Offsets less than
/// the noise, or than the slope of the picture across the line, are not seen.
///
/// ```
/// use kgard::denoise::{Plane, PlaneBuf, repair_lines, wrong_lines};
/// let scene = |i: usize| 50.0 * ((i % 128) as f32 / 9.0).sin() + (i / 128) as f32;
/// let noise = |i: usize| ((i * i * 7 + i / 3) % 101) as f32 / 10.0;
/// let mut pixels: Vec<f32> = (0..128 * 160).map(|i| scene(i) + noise(i)).collect();
/// (0..160).for_each(|y| pixels[128 * y + 20] += 9.0);
/// let mut image = PlaneBuf::new(pixels, 128, 160)?;
/// let lines = wrong_lines(image.as_plane());
/// assert_eq!((lines.len(), lines[0].is_column, lines[0].index), (1, true, 20));
/// repair_lines(&mut image, &lines);
/// assert!(wrong_lines(image.as_plane()).is_empty());
/// # Ok::<(), kgard::Error>(())
/// ```
#[must_use]
pub fn wrong_lines<T: Real>(image: Plane<'_, T>) -> Vec<WrongLine> {
    let mut lines = columns(image, true);
    lines.extend(columns(image.turned(), false));
    lines
}

/// Takes gain and offset of these lines out of their samples.
pub fn repair_lines<T: Real>(image: &mut PlaneBuf<T>, lines: &[WrongLine]) {
    let (width, height) = (image.width(), image.height());
    for line in lines {
        let (gain, offset) = (constant::<T>(line.gain), constant::<T>(line.offset));
        let length = if line.is_column { height } else { width };
        for i in 0..length {
            let (x, y) = if line.is_column { (line.index, i) } else { (i, line.index) };
            if let Some(sample) = image.samples_mut().get_mut(y * width + x).filter(|_| x < width) {
                *sample = (*sample - offset) / gain;
            }
        }
    }
}

/// Columns of a wrong gain or offset.
fn columns<T: Real>(image: Plane<'_, T>, is_column: bool) -> Vec<WrongLine> {
    let (width, height) = (image.width(), image.height());
    if width < 3 || height < PARTS * LEAST_OF_PART {
        return Vec::new();
    }
    let views: Vec<Vec<i8>> = (0..PARTS)
        .map(|part| {
            let rows = (part * height / PARTS).max(1)..(part + 1) * height / PARTS;
            // Pixels above those on the left, less those below; the same on the right; and all.
            let mut balances = alloc::vec![(0_i32, 0_i32, 0_i32); width];
            for y in rows {
                for (x, balance) in balances.iter_mut().enumerate().take(width - 1).skip(1) {
                    let three = [x, x - 1, x + 1].map(|x| (image.get(x, y), image.get(x, y - 1)));
                    if three.iter().any(|(here, before)| here == before) {
                        continue;
                    }
                    let [sample, left, right] = three.map(|(here, _)| here);
                    balance.0 += i32::from(sample > left) - i32::from(sample < left);
                    balance.1 += i32::from(sample > right) - i32::from(sample < right);
                    balance.2 += 1;
                }
            }
            balances.into_iter().map(deviation).collect()
        })
        .collect();
    let verdict = judge(&views, FALSE_ALARMS);
    let stands_out = |x: usize| verdict.mask.get(x).is_some_and(|&out| out);
    // Columns that deviate side by side are a pattern.
    let is_alone = |x: &usize| stands_out(*x) && !stands_out(x - 1) && !stands_out(x + 1);
    let mut candidates: Vec<(usize, Law)> = (1..width - 1)
        .filter(is_alone)
        .filter(|&x| has_two_sides(image, x))
        .filter_map(|x| Law::of(image, x).map(|law| (x, law)))
        .collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    // A detail is not the same all along.
    let others = (1..width - 1).step_by((width / COMPARED).max(1));
    let mut scatters: Vec<f64> =
        others.filter_map(|x| Law::of(image, x)).map(|law| law.scatter).collect();
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rank = (scatters.len() as f64 * USUAL) as usize;
    let usual = if rank < scatters.len() { nth_smallest(&mut scatters, rank) } else { 0.0 };
    candidates.retain(|(_, law)| law.scatter <= usual);
    let line = |(index, Law { gain, offset, .. })| WrongLine { is_column, index, gain, offset };
    candidates.into_iter().map(line).collect()
}

/// The deviation of a part of a column by its balances: that to the side where it is less, if they
/// have one sign.
fn deviation((left, right, count): (i32, i32, i32)) -> i8 {
    let least = if (left > 0) == (right > 0) { left.abs().min(right.abs()) } else { 0 };
    step(f64::from(least * left.signum()) / Float::sqrt(f64::from(count.max(1))))
}

/// Whether a column differs from both of its neighbours by about as much, in the median: at an
/// edge it does not.
fn has_two_sides<T: Real>(image: Plane<'_, T>, x: usize) -> bool {
    let [left, right] = [x - 1, x + 1].map(|beside| {
        let difference = |y| as_f64(image.get(x, y) - image.get(beside, y));
        let mut all: Vec<f64> = (0..image.height()).map(difference).collect();
        let middle = all.len() / 2;
        nth_smallest(&mut all, middle)
    });
    left * right > 0.0 && SIDES * left.abs().max(right.abs()) <= left.abs().min(right.abs())
}

/// Gain and offset of a column.
#[derive(Debug, Clone, Copy)]
struct Law {
    gain: f64,
    offset: f64,
    /// The sum of squares of the mean residuals of the parts.
    scatter: f64,
}

/// A pixel of a column.
#[derive(Debug, Clone, Copy)]
struct Pixel {
    /// The part of the column.
    part: usize,
    /// Its neighbours, and those beyond them, whose noise is that of neither.
    beside: f64,
    beyond: f64,
    /// What it differs by from its neighbours.
    difference: f64,
}

impl Law {
    fn of<T: Real>(image: Plane<'_, T>, x: usize) -> Option<Self> {
        let (width, height) = (image.width(), image.height());
        let sample = |x: usize, y: usize| as_f64(image.get(x, y));
        let pixel = |y: usize| {
            let beside = f64::midpoint(sample(x - 1, y), sample(x + 1, y));
            let beyond = match (x.checked_sub(2), Some(x + 2).filter(|&x| x < width)) {
                (Some(left), Some(right)) => f64::midpoint(sample(left, y), sample(right, y)),
                (Some(only), None) | (None, Some(only)) => sample(only, y),
                (None, None) => 0.0,
            };
            let difference = sample(x, y) - beside;
            Pixel { part: y * PARTS / height, beside, beyond, difference }
        };
        let finite = |pixel: &Pixel| pixel.difference.is_finite() && pixel.beyond.is_finite();
        let pixels: Vec<Pixel> = (0..height).map(pixel).filter(finite).collect();
        let mut differences: Vec<f64> = pixels.iter().map(|pixel| pixel.difference).collect();
        let middle = differences.len() / 2;
        if differences.is_empty() {
            return None;
        }
        let (mut gain, mut offset) = (0.0, nth_smallest(&mut differences, middle));
        let mut kept = Vec::new();
        for _ in 0..ROUNDS {
            let off = |pixel: &Pixel| pixel.difference - offset - gain * pixel.beside;
            let mut sizes: Vec<f64> = pixels.iter().map(|pixel| off(pixel).abs()).collect();
            let limit = CUT * DEVIATION_PER_MEDIAN * nth_smallest(&mut sizes, middle);
            kept = pixels.iter().copied().filter(|pixel| off(pixel).abs() <= limit).collect();
            (gain, offset) = fitted(&kept);
        }
        let mut sums = [(0.0, 0.0); PARTS];
        for pixel in &kept {
            let sum = &mut sums[pixel.part];
            sum.0 += pixel.difference - offset - gain * pixel.beside;
            sum.1 += 1.0;
        }
        let means = sums.into_iter().filter(|sum| sum.1 > 0.0).map(|(sum, count)| sum / count);
        let scatter = means.map(|mean| mean * mean).sum();
        (1.0 + gain > 0.0).then_some(Self { gain: 1.0 + gain, offset, scatter })
    }
}

/// Slope and intercept of the differences. The noise of the neighbours is in the differences as
/// well, so that least squares would see a slope; the pixels beyond stand in for them (instrumental
/// variables).
fn fitted(pixels: &[Pixel]) -> (f64, f64) {
    let n = pixels.len() as f64;
    let mean = |of: fn(&Pixel) -> f64| pixels.iter().map(of).sum::<f64>() / n;
    let (beside, beyond) = (mean(|p| p.beside), mean(|p| p.beyond));
    let level = mean(|p| p.difference);
    let sum = |of: &dyn Fn(&Pixel) -> f64| pixels.iter().map(of).sum::<f64>();
    let spread = sum(&|p| (p.beyond - beyond) * (p.beyond - beyond));
    let common = sum(&|p| (p.beside - beside) * (p.beyond - beyond));
    let product = sum(&|p| (p.difference - level) * (p.beyond - beyond));
    let slope = if common > 0.0 { product / common } else { 0.0 };
    let left = |p: &Pixel| p.difference - level - slope * (p.beside - beside);
    let variance = sum(&|p| left(p) * left(p)) / n;
    // In units of its own deviation.
    let deviation = Float::sqrt(variance * spread) / common.max(f64::MIN_POSITIVE);
    let is_significant = slope.abs() > upper_quantile(FALSE_ALARMS / 2.0) * deviation;
    let slope = if is_significant { slope } else { 0.0 };
    (slope, level - slope * beside)
}

#[cfg(test)]
mod tests {
    use super::{repair_lines, wrong_lines};
    use crate::image::PlaneBuf;
    use alloc::vec::Vec;

    const SIZE: (usize, usize) = (200, 256);

    /// A scene with an edge that stands upright, noise and impulses.
    fn picture(noise: f64, impulses: bool) -> PlaneBuf<f64> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut uniform = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let pixels = (0..SIZE.0 * SIZE.1).map(|i| {
            let (x, y) = ((i % SIZE.0) as f64, (i / SIZE.0) as f64);
            let wave = 60.0 * (x / 17.0).sin() * (y / 23.0).cos();
            let edge = if x > 130.0 { 50.0 } else { 0.0 };
            let normal = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let impulse = if impulses && uniform() < 0.1 { 100.0 } else { 0.0 };
            100.0 + wave + edge + noise * normal + impulse
        });
        PlaneBuf::of(pixels.collect::<Vec<f64>>(), SIZE.0, SIZE.1)
    }

    #[test]
    fn columns_and_rows_are_repaired() {
        for (noise, impulses) in [(2.0, false), (10.0, false), (10.0, true)] {
            let good = picture(noise, impulses);
            assert_eq!(wrong_lines(good.as_plane()), []);
            let mut bad = good.clone();
            // More than the picture's slope, of 3.5 at most.
            let offset = (2.0 * noise).max(6.0);
            for y in 0..SIZE.1 {
                bad.samples_mut()[SIZE.0 * y + 50] += offset;
                let dim = &mut bad.samples_mut()[SIZE.0 * y + 90];
                *dim = 0.8 * *dim + 3.0;
            }
            for x in 0..SIZE.0 {
                bad.samples_mut()[SIZE.0 * 77 + x] -= offset;
            }
            let lines = wrong_lines(bad.as_plane());
            let found: Vec<_> = lines.iter().map(|line| (line.is_column, line.index)).collect();
            assert_eq!(found, [(true, 50), (true, 90), (false, 77)], "{noise} {impulses}");
            assert!((lines[0].offset - offset).abs() < 0.25 * offset, "{lines:?}");
            assert!((lines[1].gain - 0.8).abs() < 0.05, "{lines:?}");
            let error = |picture: &PlaneBuf<f64>| {
                let pairs = picture.samples().iter().zip(good.samples());
                pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
            };
            let before = error(&bad);
            repair_lines(&mut bad, &lines);
            assert!(error(&bad) < 0.1 * before, "{} of {before}", error(&bad));
        }
    }

    /// What is drawn stays: lines of one value, and what does not vary beside them.
    #[test]
    fn drawings_stay() {
        let mut drawing = PlaneBuf::of(alloc::vec![255.0; SIZE.0 * SIZE.1], SIZE.0, SIZE.1);
        let mut framed = picture(5.0, false);
        for y in 0..SIZE.1 {
            drawing.samples_mut()[SIZE.0 * y + 40] = 0.0;
            framed.samples_mut()[SIZE.0 * y + 40] = 0.0;
        }
        assert_eq!(wrong_lines(drawing.as_plane()), []);
        assert_eq!(wrong_lines(framed.as_plane()), []);
    }
}
