//! One picture: read, denoised, written.

use super::args::DenoiseArgs;
use super::files::Files;
use super::report::{Quality, Report};
use super::{compare, map};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::metrics::Score;
use crate::output::Staged;
use crate::pictures::{Format, Picture, check_finite, check_same_kind, destination, refused};
use image::DynamicImage;
use kgard::interop::image::{peak, planes, with_planes};
use std::time::Instant;

/// What is to be done with one picture.
#[derive(Debug)]
pub(super) struct Job<'a> {
    args: &'a DenoiseArgs,
    files: Files,
}

/// A picture that was denoised.
pub(crate) struct Cleaned {
    pub(crate) clean: DynamicImage,
    /// The map of impulses.
    pub(crate) outliers: DynamicImage,
    pub(crate) report: Report,
}

impl<'a> Job<'a> {
    /// The job with these files.
    pub(super) fn new(args: &'a DenoiseArgs, files: Files) -> Self {
        Self { args, files }
    }

    /// Does it.
    pub(super) fn run(&self) -> Result<Report> {
        let start = Instant::now();
        let Self { args, files } = self;
        files.check(args)?;
        let source = Source::new(&files.input);
        let name = source.to_string();
        let picture = Picture::read(source)?;
        let reference = self.reference(&picture.image, &name)?;
        let cleaned = work(args, &picture.image, reference.as_ref(), &name)?;

        let mut staged = Staged::default();
        let target = destination(&files.output);
        let format = files.format.unwrap_or(picture.format);
        staged.add(&files.output, picture.encode(&cleaned.clean, format, &target)?)?;
        if let Some(path) = &files.outliers {
            let map = Picture::plain(cleaned.outliers.clone(), Format::Png);
            staged.add(path, map.encode(&map.image, map.format, &destination(path))?)?;
        }
        if let Some(path) = &files.compare {
            let Cleaned { clean, outliers, report } = &cleaned;
            let strip = compare::strip(&picture.image, clean, outliers, report)?;
            let strip = Picture::plain(strip, Format::of("--compare", path)?);
            staged.add(path, strip.encode(&strip.image, strip.format, &destination(path))?)?;
        }
        staged.commit()?;
        Ok(cleaned.report.between(name, target).after(start.elapsed()))
    }

    /// The true picture, if there is one.
    fn reference(&self, image: &DynamicImage, name: &str) -> Result<Option<DynamicImage>> {
        let Some(path) = &self.args.reference else { return Ok(None) };
        let reference = Picture::read(Source::new(path))?.image;
        check_same_kind(name, image, &reference)?;
        Ok(Some(reference))
    }
}

/// Denoises a picture as the options say. `name` is for messages.
pub(crate) fn clean(args: &DenoiseArgs, image: &DynamicImage, name: &str) -> Result<Cleaned> {
    work(args, image, None, name)
}

/// The same, and compares with the true picture.
fn work(
    args: &DenoiseArgs,
    image: &DynamicImage,
    reference: Option<&DynamicImage>,
    name: &str,
) -> Result<Cleaned> {
    let peak = peak(image);
    let settings = args.settings();
    let channels = planes(image)?;
    check_finite(name, image, &channels)?;
    let outcome =
        args.method.run(&settings, &channels, peak).map_err(|error| refused(name, image, error))?;
    drop(channels);
    let clean = with_planes(image, &outcome.channels)?;
    let quality = reference
        .map(|reference| {
            let before = Score::new(reference, image)?;
            Ok(Quality::new(before, Score::new(reference, &clean)?))
        })
        .transpose()
        .map_err(|error| refused(name, image, error))?;
    let outliers = map::picture(&outcome.outliers, peak)
        .ok_or_else(|| Error::failed(format!("{name}: is too large for a map")))?;
    let report = Report::new(args.method, &settings, image, &outcome, quality);
    Ok(Cleaned { clean, outliers, report })
}
