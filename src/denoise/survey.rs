//! What has to be known of the whole image before its regions are solved.
//!
//! Windows of the image and regions contribute a few numbers each, and suspects are counted,
//! so that a survey can be taken in parts, on several machines if need be, and put together
//! exactly.

mod windows;

use self::windows::{Window, windows};
use super::grid::Grid;
use super::rows::Rows;
use crate::error::as_f64;
use crate::linalg::simd::{Routine, dispatch};
use crate::real::{constant, count};
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// Deviations of suspects, in units of the noise, from which on they are
/// impulses rather than its extremes.
const IMPULSE: f64 = 3.5;
/// The least impulse that is worth the name, of the range of the samples.
pub(super) const LEAST_IMPULSE: f64 = 10.0 / 255.0;
/// Share of the pixels that may be impulses with more witnesses than are allowed
/// for: they are missed.
const MISSED: f64 = 4.2e-5;
/// The most witnesses that are ever allowed for.
const MOST_WITNESSES: usize = 5;
/// The least studentised residual of an outlier, in units of the noise, as a part of the
/// impulses' size, and within which limits: noise is as extreme as the lower one too often, and
/// beyond the upper one there is hardly any.
const EXTREME: f64 = 0.7;
const EXTREMES: (f64, f64) = (2.6, 4.0);
/// One in so many impulses may be smaller than what nearly all exceed, and what an
/// outlier is off by at least, as a part of that.
pub(super) const SMALL_ONE_IN: usize = 10;
pub(super) const PART_OF_AMPLITUDE: f64 = 0.6;

/// A survey of some rows of regions.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey<T> {
    grid: Grid,
    rows: Range<usize>,
    /// Mean magnitude of the gradient in each region, where somebody wants to know.
    gradients: Vec<T>,
    windows: Vec<Window<T>>,
    suspects: Histogram,
    /// The noise, where it is known.
    known_noise: Option<T>,
    /// The range of the samples.
    peak: T,
}

/// What a survey of the whole image says.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Conditions<T> {
    /// Standard deviation of the noise.
    pub noise: T,
    /// Share of the pixels that look like impulses at first sight.
    pub impulses: T,
    /// How many neighbours of an impulse may be impulses of its sign.
    pub witnesses: usize,
    /// What half of the impulses are off by; zero without impulses.
    pub amplitude: T,
    /// The least studentised residual of an outlier, in units of the noise.
    pub extreme: T,
    /// What an outlier is off by at least.
    pub size: T,
    /// Regions with a larger mean gradient are full of detail: $m + s$.
    pub detailed: T,
    /// Regions with a smaller mean gradient are smooth: $m - s / 10$.
    pub smooth: T,
}

impl<T: Real> Survey<T> {
    /// The survey of some rows of regions; gradients cost time, and only the
    /// paper's rule needs them.
    pub(super) fn of_rows(
        grid: &Grid,
        rows: Range<usize>,
        image: &Rows<T>,
        with_gradients: bool,
    ) -> Self {
        let mut survey = Self {
            grid: *grid,
            rows: rows.clone(),
            gradients: Vec::new(),
            windows: Vec::new(),
            suspects: Histogram::new(),
            known_noise: None,
            peak: T::one(),
        };
        for row in rows {
            let pixels = row * grid.core()..((row + 1) * grid.core()).min(grid.height());
            count_suspects(image, pixels.clone(), &mut survey.suspects);
            survey.windows.extend(windows(image, pixels, grid.height()));
            if with_gradients {
                survey.gradients.extend(gradients(grid, row, image));
            }
        }
        survey
    }

    /// The same with the range of the samples, and with the noise where it is
    /// known.
    pub(super) fn of(self, peak: T, known_noise: Option<T>) -> Self {
        Self { known_noise, peak, ..self }
    }

    /// Puts the surveys of consecutive rows of regions together.
    ///
    /// # Errors
    /// [`Error::Empty`] without parts, [`Error::Length`] if they belong to
    /// different images, or the next one does not begin where one ends.
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Result<Self, Error> {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().ok_or(Error::Empty { what: "survey" })?;
        for part in parts {
            if part.grid != whole.grid || part.rows.start != whole.rows.end {
                let (expected, found) = (whole.rows.end, part.rows.start);
                return Err(Error::Length { what: "survey's rows before", expected, found });
            }
            whole.rows.end = part.rows.end;
            whole.gradients.extend(part.gradients);
            whole.windows.extend(part.windows);
            whole.suspects.add(&part.suspects);
        }
        Ok(whole)
    }

    /// What it says, if it is complete.
    ///
    /// # Errors
    /// [`Error::Length`] if rows are missing.
    pub fn conditions(&self) -> Result<Conditions<T>, Error> {
        Error::check_len("survey's first row", self.rows.start, 0)?;
        Error::check_len("survey's rows", self.rows.end, self.grid.rows())?;
        let noise = self.known_noise.unwrap_or_else(|| self.noise());
        let (beyond, exceeded) = self.impulses(noise);
        let [small, amplitude] = if beyond > 0.0 { exceeded } else { [0.0; 2] };
        let share = self.share(beyond);
        let (detailed, smooth) = self.gradient_bounds();
        Ok(Conditions {
            noise,
            impulses: constant(share),
            witnesses: witnesses(share),
            amplitude: constant(amplitude),
            extreme: constant(extreme(amplitude / as_f64(noise))),
            size: constant(PART_OF_AMPLITUDE * small),
            detailed,
            smooth,
        })
    }

    /// The noise. The spread is larger around impulses, so that less of the noise is suspect;
    /// and some impulses are not: with a share f of them it seems larger by 1 + f, measured.
    fn noise(&self) -> T {
        let noise = windows::noise(&self.windows);
        let share = self.share(self.impulses(noise).0);
        noise / constant(1.0 + share)
    }

    /// How many suspects are too large for noise, and what nearly all and half of them exceed.
    fn impulses(&self, noise: T) -> (f64, [f64; 2]) {
        let least = (IMPULSE * as_f64(noise)).max(LEAST_IMPULSE * as_f64(self.peak));
        self.suspects.tail(least, [SMALL_ONE_IN, 2])
    }

    /// The share of so many pixels, if they are impulses.
    fn share(&self, pixels: f64) -> f64 {
        (pixels / (self.grid.width() * self.grid.height()) as f64).min(0.5)
    }

    /// The paper's bounds on the mean gradients, $m + s$ and $m - s / 10$.
    fn gradient_bounds(&self) -> (T, T) {
        let n = count::<T>(self.gradients.len().max(1));
        let gradients = || self.gradients.iter().copied();
        let mean = gradients().fold(T::zero(), |sum, g| sum + g) / n;
        let squares = gradients().fold(T::zero(), |sum, g| sum + (g - mean) * (g - mean));
        let deviation = (squares / n).sqrt();
        (mean + deviation, mean - deviation / constant(10.0))
    }
}

/// Counts the pixels of rows that look like impulses at first sight, by what they are off by.
fn count_suspects<T: Real>(image: &Rows<T>, rows: Range<usize>, suspects: &mut Histogram) {
    for y in rows {
        let bad = image.bad_row(y);
        let pixels = image.pixel_row(y).iter().zip(image.calm_row(y));
        for (x, (&pixel, &calm)) in pixels.enumerate() {
            if pixel != calm && !bad.is_some_and(|bad| bad[x]) {
                suspects.count(as_f64((pixel - calm).abs()));
            }
        }
    }
}

/// Mean magnitude of the gradient over each region of a row, by central
/// differences; the image goes on beyond its border as it is there.
pub(super) fn gradients<T: Real>(grid: &Grid, row: usize, image: &Rows<T>) -> Vec<T> {
    let (width, n) = (grid.width(), grid.region());
    let mut sums = alloc::vec![T::zero(); grid.columns()];
    let mut magnitudes = alloc::vec![T::zero(); width];
    for i in 0..n {
        let y = grid.pixel(row, i, grid.height());
        let (above, below) = (y.saturating_sub(1), (y + 1).min(grid.height() - 1));
        let rows = (image.pixel_row(above), image.pixel_row(y), image.pixel_row(below));
        dispatch(Gradient { rows, out: &mut magnitudes });
        for (column, sum) in sums.iter_mut().enumerate() {
            for j in 0..n {
                *sum = *sum + magnitudes[grid.pixel(column, j, width)];
            }
        }
    }
    for sum in &mut sums {
        *sum = *sum / count(n * n);
    }
    sums
}

/// $\lvert \nabla I \rvert$ along a row.
struct Gradient<'a, T> {
    rows: (&'a [T], &'a [T], &'a [T]),
    out: &'a mut [T],
}

impl<T: Real> Routine for Gradient<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { rows: (above, here, below), out } = self;
        let width = out.len();
        let half = constant::<T>(0.5);
        let magnitude = |left: usize, x: usize, right: usize| {
            let (across, down) = (half * (here[right] - here[left]), half * (below[x] - above[x]));
            (across * across + down * down).sqrt()
        };
        for (x, out) in out.iter_mut().enumerate().take(width - 1).skip(1) {
            *out = magnitude(x - 1, x, x + 1);
        }
        for x in [0, width - 1] {
            out[x] = magnitude(x.saturating_sub(1), x, (x + 1).min(width - 1));
        }
    }
}

/// The least number that all but a few impulses have at most of neighbours
/// that are impulses of the same sign, if a `share` of all pixels are impulses.
fn witnesses(share: f64) -> usize {
    let p = share / 2.0;
    let mut term = num_traits::Float::powi(1.0 - p, 8);
    let mut beyond = 1.0 - term;
    let mut allowed = 0;
    while share * beyond > MISSED && allowed < MOST_WITNESSES {
        allowed += 1;
        term *= p / (1.0 - p) * (9 - allowed) as f64 / allowed as f64;
        beyond -= term;
    }
    allowed.max(1)
}

/// Where impulses of about the size `amplitude`, in units of the noise, begin. Equally likely
/// as noise they are at half their size and a little more; but what is as extreme is often a
/// detail.
fn extreme(amplitude: f64) -> f64 {
    let (least, most) = EXTREMES;
    if amplitude > 0.0 { (EXTREME * amplitude).clamp(least, most) } else { most }
}

/// Counts of positive numbers by size, eight classes to the octave.
#[derive(Debug, Clone, PartialEq)]
struct Histogram {
    counts: Vec<u64>,
}

const CLASSES_PER_OCTAVE: usize = 8;
const OCTAVES_BELOW_ONE: usize = 40;
const CLASSES: usize = 1024;
/// Where the classes of an octave begin: $2^{k / 8}$.
const BEGINNINGS: [f64; 7] = [
    1.090_507_732_665_257_7,
    1.189_207_115_002_721,
    1.296_839_554_651_009_6,
    core::f64::consts::SQRT_2,
    1.542_210_825_407_940_7,
    1.681_792_830_507_429,
    1.834_008_086_409_342_4,
];

impl Histogram {
    fn new() -> Self {
        Self { counts: alloc::vec![0; CLASSES] }
    }

    /// $\lfloor 8 \log_2 v \rfloor$, from the lowest octave on: the exponent is the octave, and
    /// the fraction is compared with where classes begin.
    fn class(value: f64) -> usize {
        const FRACTION: u32 = 52;
        const ONE: u64 = 1.0_f64.to_bits();
        let exponent = |bits: u64| usize::try_from(bits >> FRACTION).unwrap_or(0);
        let bits = value.to_bits();
        let lowest = exponent(ONE) - OCTAVES_BELOW_ONE;
        let Some(octave) = exponent(bits).checked_sub(lowest) else { return 0 };
        let fraction = f64::from_bits(bits & ((1 << FRACTION) - 1) | ONE);
        let within = BEGINNINGS.iter().filter(|&&beginning| fraction >= beginning).count();
        (octave * CLASSES_PER_OCTAVE + within).min(CLASSES - 1)
    }

    fn count(&mut self, value: f64) {
        self.counts[Self::class(value)] += 1;
    }

    fn add(&mut self, other: &Self) {
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
    }

    /// How many values lie beyond `limit`, and what all but one in so many of those
    /// exceed.
    fn tail(&self, limit: f64, one_in: [usize; 2]) -> (f64, [f64; 2]) {
        let first = Self::class(limit) + 1;
        let tail = &self.counts[first.min(CLASSES)..];
        let total: u64 = tail.iter().sum();
        let exceeded = one_in.map(|one_in| {
            let mut below = 0;
            let class = tail.iter().position(|count| {
                below += count;
                below * one_in as u64 >= total
            });
            let octaves = (first + class.unwrap_or(0)) as f64 / CLASSES_PER_OCTAVE as f64;
            num_traits::Float::exp2(octaves - OCTAVES_BELOW_ONE as f64)
        });
        (total as f64, exceeded)
    }
}
