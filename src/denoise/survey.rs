//! What has to be known of the whole image before its regions are solved.
//!
//! Every region contributes two numbers of its own and a few counts, so that a
//! survey can be taken in parts, on several machines if need be, and put
//! together exactly.

use super::grid::Grid;
use super::rows::Rows;
use crate::error::as_f64;
use crate::linalg::simd::{Routine, dispatch};
use crate::real::{constant, count};
use crate::regression::stop::nth_smallest;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// The standard deviation of a Gaussian, by the mean of its absolute value.
const DEVIATION_PER_MEAN: f64 = 1.253_314_137_315_500_3;
/// One in so many cores is assumed to be free of texture.
const SMOOTH_SHARE: usize = 5;
/// The least part of a core's pixels that tell its noise: one in so many.
const USED_ONE_IN: usize = 4;
/// What the noise is, by what is left of it without suspects.
const WITHOUT_SUSPECTS: f64 = 1.19;
/// How far below the noise the estimates of the smoothest share of the cores
/// are, times the side of a core: small cores scatter more.
const SCATTER: f64 = 0.56;
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
/// Limits of an outlier's studentised residual, in units of the noise: as small
/// as pays where impulses drown in noise, as large as is needed otherwise.
const EXTREME: (f64, f64) = (2.6, 4.0);
/// How much worse it is to miss an impulse than to take out a good pixel.
const COST_OF_MISSING: f64 = 8.0;
/// One in so many impulses may be smaller than what nearly all exceed, and what an
/// outlier is off by at least, as a part of that.
pub(super) const SMALL_ONE_IN: usize = 10;
pub(super) const PART_OF_AMPLITUDE: f64 = 0.6;

/// One region's part of a survey.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell<T> {
    /// Mean magnitude of the gradient in the region.
    gradient: T,
    /// Standard deviation of the noise in the core, if it is smooth.
    noise: T,
}

/// A survey of some rows of regions.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey<T> {
    grid: Grid,
    rows: Range<usize>,
    cells: Vec<Cell<T>>,
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
        let mut suspects = Histogram::new();
        let mut cells = Vec::with_capacity(rows.len() * grid.columns());
        for row in rows.clone() {
            let noise = noise(grid, row, image, &mut suspects);
            let mut gradient =
                if with_gradients { gradients(grid, row, image) } else { Vec::new() };
            gradient.resize(noise.len(), T::zero());
            let row = gradient.into_iter().zip(noise);
            cells.extend(row.map(|(gradient, noise)| Cell { gradient, noise }));
        }
        Self { grid: *grid, rows, cells, suspects, known_noise: None, peak: T::one() }
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
            whole.cells.extend(part.cells);
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
        let pixels = (self.grid.width() * self.grid.height()) as f64;
        let least = (IMPULSE * as_f64(noise)).max(LEAST_IMPULSE * as_f64(self.peak));
        let (beyond, [small, amplitude]) = self.suspects.tail(least, [SMALL_ONE_IN, 2]);
        let share = (beyond / pixels).min(0.5);
        let (detailed, smooth) = self.gradient_bounds();
        Ok(Conditions {
            noise,
            impulses: constant(share),
            witnesses: witnesses(share),
            extreme: constant(extreme(share, amplitude / as_f64(noise))),
            size: constant(if beyond > 0.0 { PART_OF_AMPLITUDE * small } else { 0.0 }),
            detailed,
            smooth,
        })
    }

    /// The noise of the smoothest cores.
    fn noise(&self) -> T {
        let levels = self.cells.iter().map(|cell| cell.noise).filter(|level| level.is_finite());
        let mut levels: Vec<T> = levels.collect();
        if levels.is_empty() {
            return T::zero();
        }
        let smooth = (levels.len() - 1) / SMOOTH_SHARE;
        let scatter = SCATTER / self.grid.core() as f64;
        let bias = WITHOUT_SUSPECTS / (1.0 - scatter);
        nth_smallest(&mut levels, smooth) * constant(bias)
    }

    /// The paper's bounds on the mean gradients, $m + s$ and $m - s / 10$.
    fn gradient_bounds(&self) -> (T, T) {
        let n = count::<T>(self.cells.len());
        let mean = self.cells.iter().fold(T::zero(), |sum, c| sum + c.gradient) / n;
        let square = |c: &Cell<T>| (c.gradient - mean) * (c.gradient - mean);
        let deviation = (self.cells.iter().fold(T::zero(), |sum, c| sum + square(c)) / n).sqrt();
        (mean + deviation, mean - deviation / constant(10.0))
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

/// What the noise in a core follows from.
#[derive(Clone, Copy)]
struct CoreSum<T> {
    /// Of the magnitudes that the filter leaves.
    sum: T,
    /// How many they are.
    used: usize,
    /// How many pixels the core has, and how many of them are known to be bad.
    pixels: usize,
    bad: usize,
}

/// The noise in each core of a row: the mean magnitude of what a filter leaves
/// that takes away planes and saddles (Immerkaer 1996), on pixels that are
/// neither bad nor suspects; infinite if these are too few. Counts the suspects on
/// the way.
fn noise<T: Real>(grid: &Grid, row: usize, image: &Rows<T>, suspects: &mut Histogram) -> Vec<T> {
    let (width, core) = (grid.width(), grid.core());
    let nothing = CoreSum { sum: T::zero(), used: 0, pixels: 0, bad: 0 };
    let mut sums = alloc::vec![nothing; grid.columns()];
    let mut bent = alloc::vec![T::zero(); width + 2];
    let mut left = alloc::vec![T::zero(); width];
    for y in row * core..((row + 1) * core).min(grid.height()) {
        let (above, below) = (y.saturating_sub(1), (y + 1).min(grid.height() - 1));
        let (pixels, calm) = (image.pixel_row(y), image.calm_row(y));
        let rows = (image.calm_row(above), calm, image.calm_row(below));
        dispatch(Filter { rows, bent: &mut bent, out: &mut left });
        let bad = image.bad_row(y);
        for (column, core_sum) in sums.iter_mut().enumerate() {
            let at = column * core..((column + 1) * core).min(width);
            let bad = bad.map(|bad| &bad[at.clone()]);
            let pixels = pixels[at.clone()].iter().zip(&calm[at.clone()]);
            core_sum.pixels += at.len();
            for (i, (&left, (&pixel, &calm))) in left[at].iter().zip(pixels).enumerate() {
                if bad.is_some_and(|bad| bad[i]) {
                    core_sum.bad += 1;
                } else if pixel == calm {
                    core_sum.sum = core_sum.sum + left;
                    core_sum.used += 1;
                } else {
                    suspects.count(as_f64((pixel - calm).abs()));
                }
            }
        }
    }
    // The filter multiplies the standard deviation of white noise by six.
    let scale = constant::<T>(DEVIATION_PER_MEAN / 6.0);
    let level = |core: CoreSum<T>| {
        if core.used * USED_ONE_IN < core.pixels {
            return T::infinity();
        }
        // Means stand in for bad pixels, and the filter leaves less of them. With a
        // share g of good ones it is (1 + g^2) / 2 of the noise: measured.
        let good = count::<T>(core.pixels - core.bad) / count(core.pixels);
        let seen = (T::one() + good * good) / constant(2.0);
        scale * core.sum / (count::<T>(core.used) * seen)
    };
    sums.into_iter().map(level).collect()
}

/// Second differences across of second differences down.
struct Filter<'a, T> {
    rows: (&'a [T], &'a [T], &'a [T]),
    /// Differences down, with one more at either end.
    bent: &'a mut [T],
    out: &'a mut [T],
}

impl<T: Real> Routine for Filter<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { rows: (above, here, below), bent, out } = self;
        let width = out.len();
        let two = constant::<T>(2.0);
        for (x, bent) in bent[1..=width].iter_mut().enumerate() {
            *bent = above[x] - two * here[x] + below[x];
        }
        bent[0] = bent[1];
        bent[width + 1] = bent[width];
        for (x, out) in out.iter_mut().enumerate() {
            *out = (bent[x] - two * bent[x + 1] + bent[x + 2]).abs();
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

/// Where impulses begin if a `share` of all pixels are impulses of about the size
/// `amplitude`, in units of the noise.
fn extreme(share: f64, amplitude: f64) -> f64 {
    let (least, most) = EXTREME;
    if !(share > 0.0 && amplitude.is_finite()) {
        return most;
    }
    more_likely(share, amplitude, COST_OF_MISSING).clamp(least, most)
}

/// Where, in units of the noise, impulses begin to be more likely than noise: the
/// likelihoods of $\mathcal N(0, 1)$ and $\mathcal N(\pm a, 1)$ are equal, weighted,
/// at $a / 2 + \ln(2 (1 - f) / (f \, \text{cost})) / a$.
pub(super) fn more_likely(share: f64, amplitude: f64, cost: f64) -> f64 {
    let odds = 2.0 * (1.0 - share) / (share * cost);
    amplitude / 2.0 + ln(odds) / amplitude
}

/// The natural logarithm, with or without std.
fn ln(x: f64) -> f64 {
    num_traits::Float::ln(x)
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
