//! What has to be known of the whole image before its regions are solved.
//!
//! Windows of the image and regions contribute a few numbers each, and suspects are counted,
//! so that a survey can be taken in parts, on several machines if need be, and put together
//! exactly.

mod sizes;
mod windows;

use self::sizes::Sizes;
use self::windows::{Window, windows};
use super::conditions::Conditions;
use super::detect::rows::Rows;
use super::detect::window::MOST_WITNESSES;
use crate::error::as_f64;
use crate::image::{Grid, SampleRange};
use crate::real::constant;
use crate::{Error, Real};
use alloc::vec::Vec;
use core::ops::Range;
use num_traits::Float;

/// Deviations of suspects, in units of the noise, from which on they are
/// impulses rather than its extremes.
const IMPULSE: f64 = 3.5;
/// The least impulse that is worth the name, in units.
const LEAST_IMPULSE: f64 = 10.0;
/// Share of the pixels that may be impulses with more witnesses than are allowed
/// for: they are missed.
const MISSED: f64 = 4.2e-5;
/// The studentised residual, in deviations of the noise or of the region's misfit, that tells an
/// outlier whatever its size.
const LIMIT: f64 = 4.0;
/// One in so many impulses may be smaller than what nearly all exceed.
const SMALL_ONE_IN: usize = 10;
/// The least magnitude of an outlier, as a part of what nearly all impulses exceed.
pub(super) const PART_OF_AMPLITUDE: f64 = 0.575;

/// A survey of some rows of regions.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey<T> {
    grid: Grid,
    rows: Range<usize>,
    windows: Vec<Window<T>>,
    /// What suspects are off by.
    suspects: Sizes,
    /// The noise in units, where it is known.
    known_noise: Option<T>,
    /// The range of the samples.
    range: SampleRange<T>,
}

impl<T: Real> Survey<T> {
    /// The survey of no rows of regions, before row `row`.
    pub(super) fn empty(grid: &Grid, row: usize, range: SampleRange<T>) -> Self {
        Self {
            grid: *grid,
            rows: row..row,
            windows: Vec::new(),
            suspects: Sizes::new(),
            known_noise: None,
            range,
        }
    }

    /// The survey of some rows of regions. `image` is in units of the `range`.
    pub(super) fn of_rows(
        grid: &Grid,
        rows: Range<usize>,
        image: &Rows<T>,
        range: SampleRange<T>,
    ) -> Self {
        let mut survey = Self { rows: rows.clone(), ..Self::empty(grid, rows.start, range) };
        for row in rows {
            let pixels = row * grid.core()..((row + 1) * grid.core()).min(grid.height());
            survey.count_suspects(image, pixels.clone());
            survey.windows.extend(windows(image, pixels, grid.height()));
        }
        survey
    }

    /// The same with the noise in units where it is known.
    pub(super) fn with_noise(self, known_noise: Option<T>) -> Self {
        Self { known_noise, ..self }
    }

    /// The same with the noise in units, if there is one that is known.
    pub(crate) fn with_known_noise(self, noise: Option<T>) -> Self {
        Self { known_noise: noise.or(self.known_noise), ..self }
    }

    /// Counts the pixels of rows that look like impulses at first sight, by what they are off
    /// by.
    fn count_suspects(&mut self, image: &Rows<T>, rows: Range<usize>) {
        for y in rows {
            let bad = image.bad_row(y);
            let pixels = image.pixel_row(y).iter().zip(image.calm_row(y));
            for (x, (&pixel, &calm)) in pixels.enumerate() {
                if pixel != calm && !bad.is_some_and(|bad| bad[x]) {
                    self.suspects.count(as_f64((pixel - calm).abs()));
                }
            }
        }
    }

    /// Puts the surveys of consecutive rows of regions together.
    ///
    /// # Errors
    /// [`Error::Empty`] without parts, [`Error::Length`] if they belong to
    /// different images, or the next one does not begin where one ends.
    pub fn merge(parts: impl IntoIterator<Item = Self>) -> Result<Self, Error> {
        let mut parts = parts.into_iter();
        let mut whole = parts.next().ok_or(Error::Empty { what: "survey" })?;
        parts.try_for_each(|part| whole.add(part))?;
        Ok(whole)
    }

    /// Adds the survey of the rows that follow.
    pub(super) fn add(&mut self, part: Self) -> Result<(), Error> {
        if part.grid != self.grid || part.range != self.range || part.rows.start != self.rows.end {
            let (expected, found) = (self.rows.end, part.rows.start);
            return Err(Error::Length { what: "survey's rows before", expected, found });
        }
        self.rows.end = part.rows.end;
        self.windows.extend(part.windows);
        self.suspects.add(&part.suspects);
        Ok(())
    }

    /// What it says, if it is complete.
    ///
    /// # Errors
    /// [`Error::Length`] if rows are missing, [`Error::Overflow`] if samples are so large
    /// that their squares are not finite.
    pub fn conditions(&self) -> Result<Conditions<T>, Error> {
        Error::check_len("survey's first row", self.rows.start, 0)?;
        Error::check_len("survey's rows", self.rows.end, self.grid.rows())?;
        let noise = self.known_noise.unwrap_or_else(|| self.noise());
        if !noise.is_finite() {
            return Err(Error::Overflow { what: "noise level" });
        }
        let (beyond, exceeded) = self.impulses(noise);
        let [small, amplitude] = if beyond > 0.0 { exceeded } else { [0.0; 2] };
        let share = self.share(beyond);
        let conditions = Conditions {
            range: self.range,
            noise,
            impulses: constant(share),
            witnesses: witnesses(share),
            amplitude: constant(amplitude),
            limit: constant(limit(amplitude / as_f64(noise), share)),
            size: constant(PART_OF_AMPLITUDE * small),
        };
        Ok(conditions.in_samples(|x| self.range.difference(x)))
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
        self.suspects.tail(Self::least_impulse(noise), [SMALL_ONE_IN, 2])
    }

    /// What is too large for noise.
    fn least_impulse(noise: T) -> f64 {
        (IMPULSE * as_f64(noise)).max(LEAST_IMPULSE)
    }

    /// The share of so many pixels, if they are impulses.
    fn share(&self, pixels: f64) -> f64 {
        (pixels / (self.grid.width() * self.grid.height()) as f64).min(0.5)
    }
}

/// The least number that all but a few impulses have at most of neighbours
/// that are impulses of the same sign, if a `share` of all pixels are impulses.
fn witnesses(share: f64) -> usize {
    let p = share / 2.0;
    let mut term = Float::powi(1.0 - p, 8);
    let mut beyond = 1.0 - term;
    let mut allowed = 0;
    while share * beyond > MISSED && allowed < MOST_WITNESSES {
        allowed += 1;
        term *= p / (1.0 - p) * (9 - allowed) as f64 / allowed as f64;
        beyond -= term;
    }
    allowed.max(1)
}

/// The studentised residual beyond which impulses of the `amplitude` $a$, in deviations of the noise,
/// are more likely than noise, $\tfrac a 2 + \tfrac 1 a \ln \tfrac{1 - \pi}{\pi}$ if they are a
/// `share` $\pi$ of all pixels; but no more than tells an outlier from noise whatever its size.
fn limit(amplitude: f64, share: f64) -> f64 {
    if amplitude > 0.0 && share > 0.0 {
        (amplitude / 2.0 + Float::ln((1.0 - share) / share) / amplitude).min(LIMIT)
    } else {
        LIMIT
    }
}
