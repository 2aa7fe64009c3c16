//! An image from one end to the other: range, survey, regions solved, regions blended.
//!
//! ```text
//! range     the unit of the samples
//! survey    noise, impulses: the conditions            survey
//! detect    candidates, and their weights              detect::rows
//! smooth    lambda of each region, first residuals     strip, smooth::ladder
//! search    outliers of each region (Algorithm 1)      strip, detect::search
//! smooth    lambda again, without the outliers         strip
//! blend     regions into pixels                        blend
//! ```
//!
//! Range and survey can be taken in parts (bands of the image, other machines) and merged;
//! the rest needs a band and the conditions only.

use super::blend::Sheet;
use super::conditions::Conditions;
use super::denoised::{ChannelReport, Denoised};
use super::detect::classifier::Classifier;
use super::detect::rows::Rows;
use super::detect::window::Known;
use super::plan::{DenoisePlan, contributing};
use super::strip::Job;
use super::survey::Survey;
use crate::image::{Band, Grid, Masks, Plane, PlaneBuf, RangeSurvey, SampleRange};
use crate::parallel::{in_order, threads};
use crate::{Error, Real};
use core::ops::Range;

/// Rows of regions that are worked on as one: many share more of what is around them, few
/// keep all threads busy.
const ROWS_AT_A_TIME: (usize, usize) = (4, 8);
/// Such portions for a thread, where that many are possible.
const PER_THREAD: usize = 8;

impl<T: Real + Send + Sync> DenoisePlan<T> {
    /// Denoises one channel.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if a sample that is not known to be bad is not
    /// finite, [`Error::ImageSize`] if a mask has another size than the image,
    /// [`Error::TooLarge`] if there is no memory for the result, and [`Error::Overflow`] if samples
    /// are so large that the result is not finite.
    pub fn denoise(&self, image: Plane<'_, T>, masks: Masks<'_>) -> Result<Denoised<T>, Error> {
        let band = Band { rows: image, masks, top: 0, height: image.height() };
        let rows = 0..self.grid(image.width(), image.height())?.rows();
        let range = self.range(band, rows.clone())?.range()?;
        let conditions = self.survey(band, rows.clone(), range)?.conditions()?;
        self.process(band, rows, &conditions)
    }

    /// Denoises the channels of an image, each by itself. The masks are those of all channels.
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise), [`Error::Empty`] without a channel,
    /// [`Error::ImageSize`] if the channels differ in size.
    pub fn denoise_all(
        &self,
        image: &[Plane<'_, T>],
        masks: Masks<'_>,
    ) -> Result<Denoised<T>, Error> {
        let first = image.first().ok_or(Error::Empty { what: "image" })?;
        let mut denoised = Denoised::empty();
        for channel in image {
            first.check_size("channel", channel)?;
            denoised.append(self.denoise(*channel, masks)?);
        }
        Ok(denoised)
    }

    /// Takes the range of the samples in `rows` of regions. The surveys of all rows together
    /// ([`RangeSurvey::merge`]) tell the range of the image.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if a sample is, [`Error::TooShort`] or
    /// [`Error::Index`] if the band does not fit.
    pub fn range(&self, band: Band<'_, T>, rows: Range<usize>) -> Result<RangeSurvey<T>, Error> {
        let grid = self.check(band, &rows)?;
        Ok(RangeSurvey::of_rows(&grid, rows, band.rows, band.masks.bad, band.top))
    }

    /// Takes the survey of `rows` of regions of an image with this range. The surveys of all rows
    /// together ([`Survey::merge`]) tell the conditions under which each is processed.
    ///
    /// # Errors
    /// As [`range`](Self::range).
    pub fn survey(
        &self,
        band: Band<'_, T>,
        rows: Range<usize>,
        range: SampleRange<T>,
    ) -> Result<Survey<T>, Error> {
        let grid = self.check(band, &rows)?;
        let part = |rows: Range<usize>| {
            let image = pixels(&grid, band, range, rows.clone(), None, None);
            Survey::of_rows(&grid, rows, &image, range)
        };
        // Each is added at once, so that there are never many.
        let mut whole = Survey::empty(&grid, rows.start, range);
        let mut outcome = Ok(());
        in_order(chunks(rows), part, |part| outcome = outcome.and_then(|()| whole.add(part)));
        outcome?;
        Ok(whole.with_noise(self.settings.noise.map(|noise| range.of_difference(noise))))
    }

    /// Denoises the pixels in the cores of `rows` of regions: the same pixels,
    /// bit for bit, however an image is divided.
    ///
    /// # Errors
    /// As [`range`](Self::range).
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

    /// The same as [`denoise`](Self::denoise) for samples that are in units already, whose `noise`
    /// may be known.
    pub(super) fn denoise_units(
        &self,
        image: Plane<'_, T>,
        masks: Masks<'_>,
        noise: Option<T>,
    ) -> Result<Denoised<T>, Error> {
        let band = Band { rows: image, masks, top: 0, height: image.height() };
        let rows = 0..self.grid(image.width(), image.height())?.rows();
        let survey = self.survey(band, rows.clone(), SampleRange::units())?;
        let conditions = survey.with_known_noise(noise).conditions()?;
        self.process(band, rows, &conditions)
    }
}

/// Some rows of regions of an image on their way to be pixels.
pub(crate) struct Run<'a, T> {
    plan: &'a DenoisePlan<T>,
    pub(crate) band: Band<'a, T>,
    conditions: &'a Conditions<T>,
    /// What is the same for all regions.
    pub(crate) job: Job<'a, T>,
    pub(crate) sheet: Sheet<T>,
}

impl<'a, T: Real> Run<'a, T> {
    /// For the pixels in the cores of `rows` of regions.
    pub(crate) fn new(
        plan: &'a DenoisePlan<T>,
        band: Band<'a, T>,
        rows: Range<usize>,
        conditions: &'a Conditions<T>,
    ) -> Result<Self, Error> {
        let grid = plan.check(band, &rows)?;
        let job = Job::new(plan, grid, conditions.in_units());
        let sheet = Sheet::new(&grid, rows, plan.ladder.rungs.len())?;
        Ok(Self { plan, band, conditions, job, sheet })
    }

    /// The range of the samples.
    pub(crate) fn range(&self) -> SampleRange<T> {
        self.conditions.range
    }

    /// The rows of regions that have to be solved.
    pub(crate) fn contributing(&self) -> Range<usize> {
        contributing(&self.job.grid, self.sheet.ours.clone())
    }

    /// Solves rows of regions, on all cores.
    pub(crate) fn solve(&mut self, rows: Range<usize>) -> Result<(), Error>
    where
        T: Send + Sync,
    {
        let range = self.range();
        let Self { plan, band, job, sheet, .. } = self;
        let known = job.known();
        let classifier = Classifier::new(&plan.networks, &known);
        let work = |rows: Range<usize>| {
            let image =
                pixels(&job.grid, *band, range, rows.clone(), Some(known), classifier.as_ref());
            job.run(rows, &image, band.masks, band.top)
        };
        let mut outcome = Ok(());
        in_order(chunks(rows), work, |strips| match strips {
            Ok(strips) => strips.iter().for_each(|strip| sheet.add(&job.grid, strip)),
            Err(error) => outcome = outcome.and(Err(error)),
        });
        outcome
    }

    /// The result in samples, when all have been added.
    pub(crate) fn finish(self) -> Result<Denoised<T>, Error> {
        let Self { plan, band, conditions, mut sheet, .. } = self;
        let range = conditions.range;
        for pixel in &mut sheet.pixels {
            *pixel = range.sample(*pixel);
        }
        for value in &mut sheet.values {
            *value = range.difference(*value);
        }
        if !sheet.pixels.iter().chain(&sheet.values).all(|x| x.is_finite()) {
            return Err(Error::Overflow { what: "denoised image" });
        }
        // Pixels to be kept may hold anything.
        if let Some(keep) = band.masks.keep {
            sheet.restore(band.rows, keep, band.top);
        }
        let lambda = sheet.median_rung().map(|rung| plan.ladder.rungs[rung].lambda);
        let outliers = sheet.mask.iter().filter(|&&is_outlier| is_outlier).count();
        let (width, height) = (sheet.width, sheet.pixels.len() / sheet.width);
        Ok(Denoised::of_channel(
            PlaneBuf::of(sheet.pixels, width, height),
            PlaneBuf::of(sheet.mask, width, height),
            PlaneBuf::of(sheet.values, width, height),
            ChannelReport {
                lambda,
                noise: Some(conditions.noise),
                conditions: Some(*conditions),
                ..ChannelReport::new(outliers)
            },
        ))
    }
}

/// The pixels that rows of regions read.
fn pixels<T: Real>(
    grid: &Grid,
    band: Band<'_, T>,
    range: SampleRange<T>,
    rows: Range<usize>,
    known: Option<Known<T>>,
    classifier: Option<&Classifier<'_, T>>,
) -> Rows<T> {
    let (first, last) = (grid.covered(rows.start), grid.covered(rows.end - 1));
    let lines = first.start.saturating_sub(1)..(last.end + 1).min(grid.height());
    Rows::new(grid, band, range, lines, known, classifier)
}

/// Rows of regions, a few at a time.
fn chunks(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    let (least, most) = ROWS_AT_A_TIME;
    let many = (rows.len() / (PER_THREAD * threads())).clamp(least, most);
    rows.step_by(many).map(move |row| row..(row + many).min(end))
}
