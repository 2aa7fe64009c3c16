//! A map of a sensor's defects, from several of its frames.
//!
//! In each frame a pixel $y_j$ is compared with the median $m_j$ of its eight neighbours:
//!
//! $$ z_j = \frac{y_j - m_j}{s_j}, \qquad s_j = 1.4826 \operatorname{median} |y_i - m_i| $$
//!
//! over the 24 pixels $i$ around it, and at least over the whole frame where that is calm. A detail
//! of the scene stands out in one frame, a defect in most of them ([`persistent`](super::persistent)).

use super::persistent::{judge, step};
use crate::error::as_f64;
use crate::image::{Plane, PlaneBuf};
use crate::parallel::each;
use crate::stats::{DEVIATION_PER_MEDIAN, nth_smallest};
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// Pixels that may be marked by chance in a map.
const FALSE_ALARMS: f64 = 1.0;
/// Pixels around one, in each direction, whose residuals tell what is usual there.
const REACH: usize = 2;
/// Rows that a thread takes at a time.
const ROWS: usize = 64;

/// Frames of one sensor, of different scenes or dark, of which the pixels that are wrong in most
/// of them are looked for: hot, dead and stuck ones.
///
/// ```
/// use kgard::denoise::{DefectSurvey, Plane};
/// let mut survey = DefectSurvey::new(64, 64)?;
/// for frame in 0..5_usize {
///     let scene = |i: usize| ((i % 64 + 9 * frame) as f32 / 7.0).sin() * (i as f32 / 640.0).cos();
///     let noise = |i: usize| ((i * i + 31 * i * frame) % 101) as f32 / 10.0;
///     let mut pixels: Vec<f32> = (0..64 * 64).map(|i| 100.0 * scene(i) + noise(i)).collect();
///     pixels[1234] += 90.0;
///     survey.add(Plane::new(&pixels, 64, 64)?)?;
/// }
/// let map = survey.map()?;
/// assert!(map.mask.samples()[1234]);
/// assert!(map.mask.samples().iter().filter(|&&bad| bad).count() < 4);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DefectSurvey {
    width: usize,
    height: usize,
    frames: Vec<Vec<i8>>,
}

/// Pixels that are wrong in most frames.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DefectMap {
    /// Whether a pixel is a defect: for [`Masks::bad`](super::super::Masks).
    pub mask: PlaneBuf<bool>,
    /// Deviations from which on a pixel is a defect, in units of what is usual around it; none if
    /// there are too few frames for any deviation to be clear.
    pub threshold: Option<f64>,
    /// The share of the variance of deviations that is the same in all frames: near 0 for
    /// different scenes, near 1 for a fixed pattern of the sensor, or the same scene.
    pub shared: f64,
}

impl DefectSurvey {
    /// The least number of frames: in a single one a defect is the same as a detail.
    pub const LEAST: usize = 2;

    /// No frame yet, of a sensor of this size.
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no pixels.
    pub fn new(width: usize, height: usize) -> Result<Self, Error> {
        if width == 0 || height == 0 {
            return Err(Error::Empty { what: "image" });
        }
        Ok(Self { width, height, frames: Vec::new() })
    }

    /// How many frames there are.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// Adds a frame; a byte for each pixel is kept of it.
    ///
    /// # Errors
    /// [`Error::ImageSize`] if it has another size, [`Error::NotFinite`] if a sample is not finite.
    pub fn add<T: Real + Send + Sync>(&mut self, frame: Plane<'_, T>) -> Result<(), Error> {
        let (expected, found) = ((self.width, self.height), (frame.width(), frame.height()));
        if expected != found {
            return Err(Error::ImageSize { what: "frame", expected, found });
        }
        frame.check_finite()?;
        self.frames.push(deviations(frame));
        Ok(())
    }

    /// The defects.
    ///
    /// # Errors
    /// [`Error::TooShort`] with fewer than [`LEAST`](Self::LEAST) frames.
    pub fn map(&self) -> Result<DefectMap, Error> {
        Error::check_at_least("list of frames", self.frames.len(), Self::LEAST)?;
        let verdict = judge(&self.frames, FALSE_ALARMS);
        Ok(DefectMap {
            mask: PlaneBuf::of(verdict.mask, self.width, self.height),
            threshold: verdict.threshold,
            shared: verdict.shared,
        })
    }
}

/// The deviations of all pixels of a frame.
fn deviations<T: Real + Send + Sync>(frame: Plane<'_, T>) -> Vec<i8> {
    let (width, height) = (frame.width(), frame.height());
    let bands = || (0..height).step_by(ROWS).map(|y| y..(y + ROWS).min(height));
    let residuals: Vec<f64> = each(bands(), |rows| {
        let pixels = rows.flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| residual(frame, x, y)).collect::<Vec<f64>>()
    })
    .concat();
    let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    let middle = sizes.len() / 2;
    let usual = nth_smallest(&mut sizes, middle);
    // Where most of a frame is flat, the least difference there is.
    let least = residuals.iter().map(|r| r.abs()).filter(|&r| r > 0.0).fold(f64::MAX, f64::min);
    let floor = usual.max(least);
    each(bands(), |rows| {
        let pixels = rows.flat_map(|y| (0..width).map(move |x| (x, y)));
        let around = |(x, y): (usize, usize)| {
            let mut sizes = [0.0; (2 * REACH + 1) * (2 * REACH + 1)];
            let mut count = 0;
            for v in window(y, REACH, height) {
                for u in window(x, REACH, width).filter(|&u| (u, v) != (x, y)) {
                    sizes[count] = residuals[v * width + u].abs();
                    count += 1;
                }
            }
            let usual =
                if count == 0 { floor } else { nth_smallest(&mut sizes[..count], count / 2) };
            step(residuals[y * width + x] / (DEVIATION_PER_MEDIAN * usual.max(floor)))
        };
        pixels.map(around).collect::<Vec<i8>>()
    })
    .concat()
}

/// What a pixel differs by from the median of its neighbours.
fn residual<T: Real>(frame: Plane<'_, T>, x: usize, y: usize) -> f64 {
    let mut neighbours = [0.0; 8];
    let mut count = 0;
    for v in window(y, 1, frame.height()) {
        for u in window(x, 1, frame.width()).filter(|&u| (u, v) != (x, y)) {
            neighbours[count] = as_f64(frame.get(u, v));
            count += 1;
        }
    }
    if count == 0 {
        return 0.0;
    }
    neighbours[..count].sort_unstable_by(f64::total_cmp);
    let middle = f64::midpoint(neighbours[(count - 1) / 2], neighbours[count / 2]);
    as_f64(frame.get(x, y)) - middle
}

fn window(at: usize, reach: usize, end: usize) -> Range<usize> {
    at.saturating_sub(reach)..(at + reach + 1).min(end)
}
