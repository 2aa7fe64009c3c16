//! Rows and columns that a sensor has lost.

use crate::Real;
use crate::image::{Plane, PlaneBuf};
use alloc::vec::Vec;
use core::mem::replace;
use core::ops::Range;

/// The least length of what is dead of a line: one in so many of its pixels, and so
/// many pixels.
const ONE_IN: usize = 8;
const LEAST: usize = 16;
/// How many pixels a dead line is wide at most.
const WIDEST: usize = 3;
/// The least share of pixels that differ from the next where there is a photograph
/// and no drawing: one in so many.
const VARIES_ONE_IN: usize = 8;
/// The share of dead pixels beside which there may be one of the same value: less than
/// one in so many.
const SAME_ONE_IN: usize = 3;
/// The least share of dead pixels that lie further beyond those beside them than
/// these are apart: one in so many.
const BEYOND_ONE_IN: usize = 4;

/// The pixels of dead rows and columns: three pixels wide at most, an eighth of the
/// image long or more, and of one value while the image on both sides of them goes
/// on.
///
/// To whoever looks at pixels a few at a time these are lines of a drawing. They
/// are not impulses either: [`KgBm3d`](crate::denoise::KgBm3d) takes them for known to be
/// bad; for others they make a mask.
///
/// ```
/// use kgard::denoise::{Denoiser, Masks, Plane, dead_lines};
/// let mut pixels: Vec<f32> = (0..64 * 64).map(|i| 100.0 + (i * i % 97 % 11) as f32).collect();
/// (0..64).for_each(|y| pixels[64 * y + 20] = 255.0);
/// let image = Plane::new(&pixels, 64, 64)?;
/// let dead = dead_lines(image);
/// assert_eq!(dead.samples().iter().filter(|&&dead| dead).count(), 64);
/// let masks = Masks { bad: Some(dead.as_plane()), ..Masks::default() };
/// let denoised = Denoiser::new().plan()?.denoise(image, masks)?;
/// assert!(denoised.channels[0].samples()[20] < 110.0);
/// # Ok::<(), kgard::Error>(())
/// ```
#[must_use]
pub fn dead_lines<T: Real>(image: Plane<'_, T>) -> PlaneBuf<bool> {
    let (width, height) = (image.width(), image.height());
    let mut dead = alloc::vec![false; image.area()];
    let long_enough = |run: &Range<usize>, whole: usize| run.len() >= LEAST.max(whole / ONE_IN);
    // All columns at once, in the order of memory.
    let mut starts: Vec<usize> = alloc::vec![0; width];
    for y in 1..=height {
        for x in 1..width.saturating_sub(1) {
            if y < height && image.get(x, y) == image.get(x, y - 1) {
                continue;
            }
            let run = replace(&mut starts[x], y)..y;
            if long_enough(&run, height) && stands_out(image, x, run.clone()) {
                run.for_each(|y| dead[y * width + x] = true);
            }
        }
    }
    let turned = image.turned();
    for y in 1..height.saturating_sub(1) {
        let mut start = 0;
        for x in 1..=width {
            if x < width && image.get(x, y) == image.get(x - 1, y) {
                continue;
            }
            let run = replace(&mut start, x)..x;
            if long_enough(&run, width) && stands_out(turned, y, run.clone()) {
                run.for_each(|x| dead[y * width + x] = true);
            }
        }
    }
    PlaneBuf::of(dead, width, height)
}

/// Whether column `x`, of one value in the rows `run`, differs there from what is
/// on both sides of it, and that is not a drawing: it varies down the columns and
/// across them.
fn stands_out<T: Real>(image: Plane<'_, T>, x: usize, run: Range<usize>) -> bool {
    let alive = |column: &usize| {
        let pairs = run.clone().skip(1);
        let moves = pairs.filter(|&y| image.get(*column, y) != image.get(*column, y - 1)).count();
        VARIES_ONE_IN * moves > run.len()
    };
    let Some(left) = (x.saturating_sub(WIDEST)..x).rev().find(alive) else { return false };
    let Some(right) = (x + 1..(x + 1 + WIDEST).min(image.width())).find(alive) else {
        return false;
    };
    if right - left > WIDEST + 1 {
        return false;
    }
    let value = image.get(x, run.start);
    let (mut beyond, mut differ, mut same) = (0, 0, 0);
    for y in run.clone() {
        let (left, right) = (image.get(left, y) - value, image.get(right, y) - value);
        let nearest =
            if left * right > T::zero() { left.abs().min(right.abs()) } else { T::zero() };
        beyond += usize::from(nearest > (left - right).abs());
        differ += usize::from(left != right);
        same += usize::from(left == T::zero() || right == T::zero());
    }
    // Between two lines of text it is the paper that does not vary.
    SAME_ONE_IN * same < run.len()
        && VARIES_ONE_IN * differ > run.len()
        && BEYOND_ONE_IN * beyond > run.len()
}
