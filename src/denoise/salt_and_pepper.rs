//! Pixels at the ends of the range.

use super::strewn::Marked;
use super::{Plane, PlaneBuf};
use crate::Real;
use crate::real::constant;
use crate::regression::stop::nth_smallest;
use alloc::vec::Vec;

/// How far a pixel must be from those around it, of the range of the image.
const FAR: f64 = 0.25;
/// How many of those around it must not be at an end of the range themselves, and how
/// far away they are looked for.
const WANTED: usize = 3;
const FARTHEST: usize = 3;

/// The pixels of an image that are black or white, as far as it has such, while those
/// around them that are neither are far from it: salt and pepper, and no highlight or
/// shadow. None if such pixels are not strewn but side by side more often than by
/// chance, as in a drawing or a page of text.
///
/// It takes no statistics but for the range of the image, and so works where most
/// pixels are impulses. [`KgBm3d`](super::KgBm3d) does not need it where there are few.
///
/// ```
/// use kgard::denoise::{Plane, salt_and_pepper};
/// let mut pixels: Vec<f32> = (0..256).map(|i| (60 + i / 4) as f32).collect();
/// pixels[100] = 0.0;
/// pixels[150] = 255.0;
/// let bad = salt_and_pepper(Plane::new(&pixels, 16, 16)?);
/// let bad: Vec<usize> = (0..256).filter(|&i| bad.samples()[i]).collect();
/// assert_eq!(bad, [100, 150]);
/// # Ok::<(), kgard::Error>(())
/// ```
#[must_use]
pub fn salt_and_pepper<T: Real>(image: Plane<'_, T>) -> PlaneBuf<bool> {
    let (width, height) = (image.width(), image.height());
    let (mut black, mut white) = (T::infinity(), T::neg_infinity());
    for sample in (0..height).flat_map(|y| image.row(y)).filter(|sample| sample.is_finite()) {
        (black, white) = (black.min(sample), white.max(sample));
    }
    let far = (white - black) * constant(FAR);
    let is_grey = |sample: T| sample > black && sample < white;
    let mut around = Vec::new();
    let mut bad = Vec::with_capacity(image.area());
    for y in 0..height {
        for x in 0..width {
            let pixel = image.get(x, y);
            let is_end = pixel == black || pixel == white;
            bad.push(
                is_end && {
                    greys(image, (x, y), is_grey, &mut around);
                    let middle = around.len() / 2;
                    around.len() >= WANTED
                        && (nth_smallest(&mut around, middle) - pixel).abs() > far
                },
            );
        }
    }
    let is_bright = |i: usize| bad[i].then(|| image.get(i % width, i / width) == white);
    if !(Marked { width, height, is_bright }).are_strewn() {
        bad.fill(false);
    }
    PlaneBuf::of(bad, width, height)
}

/// The pixels nearest to one that are neither black nor white: those of the least
/// square that has enough of them.
fn greys<T: Real>(
    image: Plane<'_, T>,
    (x, y): (usize, usize),
    is_grey: impl Fn(T) -> bool,
    out: &mut Vec<T>,
) {
    for radius in 1..=FARTHEST {
        out.clear();
        for v in y.saturating_sub(radius)..(y + radius + 1).min(image.height()) {
            for u in x.saturating_sub(radius)..(x + radius + 1).min(image.width()) {
                out.extend(Some(image.get(u, v)).filter(|&sample| is_grey(sample)));
            }
        }
        if out.len() >= WANTED {
            return;
        }
    }
}
