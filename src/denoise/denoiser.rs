//! The front door: settings, and whole images through strips.

use super::detect::classifier::Networks;
use super::detect::neighbourhood::REACH;
use super::pipeline::{Run, chunks, pixels};
use super::smooth::ladder::{Ladder, Penalty};
use super::strip::MULTIPLES;
use super::survey::{Conditions, Survey};
use crate::error::as_f64;
use crate::image::{Band, Grid, Masks, Plane, PlaneBuf};
use crate::parallel::in_order;
use crate::real::constant;
use crate::regression::stop::Reading;
use crate::{Error, Kernel, Matern32, Real};
use alloc::vec::Vec;
use core::ops::Range;

/// The paper's `N` and `L`.
const REGION: usize = 12;
const CORE: usize = 8;
/// The length of the Matérn kernel that suits images at all noise levels, where
/// a region has width 1.
pub const KERNEL_WIDTH: f64 = 0.3;
/// The values of lambda that regions choose from.
const LAMBDAS: [f64; 8] = [0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6];
/// The least noise that outliers are measured by, of the range of the samples.
const LEAST_NOISE: f64 = 1.0 / 255.0;

/// How smooth regions become.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Smoothing<T> {
    /// Each region as its estimated risk says.
    Automatic,
    /// The paper's rule: `lambda`, 5 `lambda` or 15 `lambda`, by the region's
    /// mean gradient.
    Paper {
        /// The paper's $\lambda_0$.
        lambda: T,
    },
}

/// How outliers are told from noise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum Detection<T> {
    /// By the studentised residual, in units of the noise of the whole image
    /// and of the region's misfit, for pixels that stand alone.
    Automatic,
    /// By the paper's histogram rule.
    Histogram {
        /// The paper's $E_0$.
        e0: T,
        /// How the rule is read.
        reading: Reading,
    },
    /// By the residual.
    MaxResidual(T),
}

/// Everything but the kernel.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(crate) struct Settings<T> {
    region: usize,
    core: usize,
    penalty: Penalty,
    pub(crate) smoothing: Smoothing<T>,
    pub(crate) detection: Detection<T>,
    pub(super) blended: bool,
    pub(super) peak: T,
    noise: Option<T>,
}

impl<T: Real> Settings<T> {
    /// Whether the residuals of pixels that can be no outliers matter: to a rule, or
    /// as the result. Smoothing as suits what is left makes new ones.
    pub(crate) fn wants_residuals(&self) -> bool {
        !matches!((self.detection, self.smoothing), (Detection::Automatic, Smoothing::Automatic))
    }

    /// The least noise that is taken for noise.
    pub(super) fn least_noise(&self) -> T {
        self.peak * constant(LEAST_NOISE)
    }
}

/// Settings of a denoiser; all have defaults.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Denoiser<T, K = Matern32<T>> {
    kernel: K,
    settings: Settings<T>,
}

impl<T: Real> Denoiser<T> {
    /// Everything automatic, for images whose samples reach from 0 to `peak`:
    /// 255 for bytes, 1 for floats. Values beyond are allowed.
    pub fn new(peak: T) -> Self {
        Self {
            kernel: Matern32::new(constant(KERNEL_WIDTH)),
            settings: Settings {
                region: REGION,
                core: CORE,
                penalty: Penalty::default(),
                smoothing: Smoothing::Automatic,
                detection: Detection::Automatic,
                blended: true,
                peak,
                noise: None,
            },
        }
    }
}

impl<T: Real, K: Kernel<T>> Denoiser<T, K> {
    /// Another kernel, on a region that reaches from 0 to 1 in both directions:
    /// the paper's is `Gaussian::new(0.3)`.
    pub fn kernel<L: Kernel<T>>(self, kernel: L) -> Denoiser<T, L> {
        Denoiser { kernel, settings: self.settings }
    }

    /// Regions of `region` x `region` pixels, the paper's `N`, with cores of
    /// `core` x `core`, its `L`: 12 and 8 unless told otherwise. Smaller cores
    /// overlap more and take longer.
    pub fn regions(mut self, region: usize, core: usize) -> Self {
        (self.settings.region, self.settings.core) = (region, core);
        self
    }

    /// Which norm is penalised.
    pub fn penalty(mut self, penalty: Penalty) -> Self {
        self.settings.penalty = penalty;
        self
    }

    /// How smooth regions become.
    pub fn smoothing(mut self, smoothing: Smoothing<T>) -> Self {
        self.settings.smoothing = smoothing;
        self
    }

    /// How outliers are told from noise.
    pub fn detection(mut self, detection: Detection<T>) -> Self {
        self.settings.detection = detection;
        self
    }

    /// Whether overlapping regions are blended (the default), or only their
    /// cores used, as in the paper.
    pub fn blended(mut self, blended: bool) -> Self {
        self.settings.blended = blended;
        self
    }

    /// The standard deviation of the noise, where it is known.
    pub fn noise(mut self, noise: T) -> Self {
        self.settings.noise = Some(noise);
        self
    }

    /// The range of the samples.
    pub(crate) fn peak(&self) -> T {
        self.settings.peak
    }

    /// Whether something was given in the unit of the samples.
    pub(super) fn is_in_samples(&self) -> bool {
        self.settings.noise.is_some() || self.settings.detection != Detection::Automatic
    }

    /// Does once what is the same for all images.
    ///
    /// # Errors
    /// If a setting is wrong: see [`Grid::new`] for the regions.
    pub fn plan(&self) -> Result<DenoisePlan<T>, Error> {
        let settings = self.settings.clone();
        Error::check_positive("peak", settings.peak)?;
        if let Some(noise) = settings.noise {
            Error::check_not_negative("noise", noise)?;
        }
        match settings.detection {
            Detection::Automatic => {}
            Detection::Histogram { e0, .. } => Error::check_not_negative("E0", e0)?,
            Detection::MaxResidual(epsilon) => Error::check_not_negative("epsilon", epsilon)?,
        }
        Grid::new(1, 1, settings.region, settings.core)?;
        let lambdas: Vec<T> = match settings.smoothing {
            Smoothing::Automatic => LAMBDAS.map(constant).to_vec(),
            Smoothing::Paper { lambda } => {
                Error::check_positive("lambda", lambda)?;
                MULTIPLES.map(|multiple| lambda * constant(multiple)).to_vec()
            }
        };
        let ladder = Ladder::new(settings.region, &self.kernel, settings.penalty, &lambdas)?;
        Ok(DenoisePlan { settings, ladder, networks: Networks::new() })
    }
}

impl<T: Real + Send + Sync, K: Kernel<T>> Denoiser<T, K> {
    /// Denoises one image; [`plan`](Self::plan) first for many.
    ///
    /// # Errors
    /// If a setting is wrong, or a sample not finite.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<Denoised<T>, Error> {
        self.plan()?.denoise(image, Masks::default())
    }
}

/// A denoised image.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Denoised<T> {
    /// The image without outliers and noise.
    pub image: PlaneBuf<T>,
    /// What was taken from each pixel that is an outlier: all that it is off by, or a part
    /// where there are doubts. Zero elsewhere.
    pub outliers: PlaneBuf<T>,
    /// What was done.
    pub report: Report<T>,
}

/// What was done to an image.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(deserialize = "T: crate::Real + serde::Deserialize<'de>"))
)]
pub struct Report<T> {
    /// What was found out about the image beforehand.
    pub conditions: Conditions<T>,
    /// Number of outliers.
    pub outliers: usize,
    /// The median of the regions' lambdas.
    pub lambda: T,
}

/// A denoiser with its plans, for any number of images.
#[derive(Debug, Clone)]
pub struct DenoisePlan<T> {
    pub(crate) settings: Settings<T>,
    pub(crate) ladder: Ladder<T>,
    pub(super) networks: Networks<T>,
}

impl<T: Real> DenoisePlan<T> {
    /// The same plan for samples that are `factor` times as large.
    pub(super) fn in_units(mut self, factor: T) -> Self {
        let Settings { peak, noise, detection, .. } = &mut self.settings;
        *peak = *peak * factor;
        *noise = noise.map(|noise| noise * factor);
        match detection {
            Detection::Automatic => {}
            Detection::Histogram { e0, .. } => *e0 = *e0 * factor,
            Detection::MaxResidual(epsilon) => *epsilon = *epsilon * factor,
        }
        self
    }
}

impl<T: Real + Send + Sync> DenoisePlan<T> {
    /// Denoises an image.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if a sample that is not known to be bad is not
    /// finite, [`Error::Length`] if a mask has another size than the image,
    /// [`Error::TooLarge`] if there is no memory for the result, and
    /// [`Error::Overflow`] if samples are so large that their squares are not
    /// finite.
    pub fn denoise(&self, image: Plane<'_, T>, masks: Masks<'_>) -> Result<Denoised<T>, Error> {
        let band = Band { rows: image, masks, top: 0, height: image.height() };
        let rows = 0..self.grid(image.width(), image.height())?.rows();
        let conditions = self.survey(band, rows.clone())?.conditions()?;
        self.process(band, rows, &conditions)
    }

    /// The division of an image of this size into regions.
    ///
    /// # Errors
    /// [`Error::Empty`] if it has no pixels.
    pub fn grid(&self, width: usize, height: usize) -> Result<Grid, Error> {
        Grid::new(width, height, self.settings.region, self.settings.core)
    }

    /// The rows of pixels that a [`Band`] must have for `rows` of regions to be
    /// surveyed and processed.
    #[must_use]
    pub fn pixels_for(&self, grid: &Grid, rows: Range<usize>) -> Range<usize> {
        let rows = self.contributing(grid, rows);
        let (first, last) = (grid.covered(rows.start), grid.covered(rows.end.max(1) - 1));
        // A row for the noise, some that are looked at, and one for bad pixels in them.
        let more = 1 + REACH + 1;
        first.start.saturating_sub(more)..last.end.saturating_add(more).min(grid.height())
    }

    /// Takes the survey of `rows` of regions. The surveys of all rows together
    /// ([`Survey::merge`]) tell the conditions under which each is processed.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if a sample is, [`Error::Length`] or
    /// [`Error::Index`] if the band does not fit.
    pub fn survey(&self, band: Band<'_, T>, rows: Range<usize>) -> Result<Survey<T>, Error> {
        let grid = self.check(band, &rows)?;
        let with_gradients = matches!(self.settings.smoothing, Smoothing::Paper { .. });
        let Settings { peak, noise, .. } = self.settings;
        let part = |rows: Range<usize>| {
            let image = pixels(&grid, band, rows.clone(), None, None);
            Survey::of_rows(&grid, rows, &image, peak, with_gradients)
        };
        // Each is added at once, so that there are never many.
        let mut whole = Survey::empty(&grid, rows.start, peak);
        let mut outcome = Ok(());
        in_order(chunks(rows), part, |part| outcome = outcome.and_then(|()| whole.add(part)));
        outcome?;
        Ok(whole.with_noise(noise))
    }

    /// Denoises the pixels in the cores of `rows` of regions: the same pixels,
    /// bit for bit, however an image is divided.
    ///
    /// # Errors
    /// As [`survey`](Self::survey).
    pub fn process(
        &self,
        band: Band<'_, T>,
        rows: Range<usize>,
        conditions: &Conditions<T>,
    ) -> Result<Denoised<T>, Error> {
        let mut run = Run::new(self, band, rows, conditions)?;
        run.solve(run.contributing())?;
        run.finish()
    }

    /// The rows of regions that have a share in the cores of `rows`.
    pub(super) fn contributing(&self, grid: &Grid, rows: Range<usize>) -> Range<usize> {
        let more = if self.settings.blended { grid.margin().div_ceil(grid.core()) } else { 0 };
        rows.start.saturating_sub(more)..rows.end.saturating_add(more).min(grid.rows())
    }

    /// Whether the band has what `rows` of regions need.
    pub(super) fn check(&self, band: Band<'_, T>, rows: &Range<usize>) -> Result<Grid, Error> {
        let grid = self.grid(band.rows.width(), band.height)?;
        if rows.is_empty() {
            return Err(Error::Empty { what: "range of regions" });
        }
        if rows.end > grid.rows() {
            return Err(Error::Index { index: rows.end - 1, len: grid.rows() });
        }
        let needed = self.pixels_for(&grid, rows.clone());
        if needed.start < band.top {
            return Err(Error::Index { index: needed.start, len: band.rows.height() });
        }
        Error::check_at_least("band", band.top.saturating_add(band.rows.height()), needed.end)?;
        for mask in [band.masks.bad, band.masks.keep].into_iter().flatten() {
            Error::check_len("mask's width", mask.width(), band.rows.width())?;
            Error::check_len("mask's height", mask.height(), band.rows.height())?;
        }
        for y in needed.filter(|&y| !band.rows.row_is_finite(y - band.top)) {
            let finite = |(x, sample): (usize, T)| {
                sample.is_finite() || band.masks.bad.is_some_and(|bad| bad.get(x, y - band.top))
            };
            if let Some(x) = band.rows.row(y - band.top).enumerate().position(|s| !finite(s)) {
                let value = as_f64(band.rows.get(x, y - band.top));
                let index = y * grid.width() + x;
                return Err(Error::NotFinite { what: "image", index, value });
            }
        }
        Ok(grid)
    }
}
