//! One picture: read, denoised, written.

use super::args::DenoiseArgs;
use super::engine::{Engine, Refusal};
use super::files::Files;
use super::marks::Marks;
use super::report::{Quality, Report};
use super::{compare, map};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::input::Source;
use crate::memory::{available, check_picture};
use crate::metrics::Score;
use crate::output::Staged;
use crate::pictures::{Format, Picture, Size, check_finite, check_same_kind, destination, refused};
use image::DynamicImage;
use kgard::denoise::Masks;
use kgard::interop::image::{peak, planes, with_planes};
use std::time::Instant;

/// What is to be done with one picture.
#[derive(Debug)]
pub(super) struct Job<'a> {
    args: &'a DenoiseArgs,
    files: &'a Files,
    marks: &'a Marks<'a>,
}

/// A picture that was read.
pub(super) struct Input {
    start: Instant,
    name: String,
    picture: Picture,
}

impl Input {
    /// How large it is.
    pub(super) fn pixels(&self) -> u64 {
        let image = &self.picture.image;
        u64::from(image.width()) * u64::from(image.height())
    }
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
    pub(super) fn new(args: &'a DenoiseArgs, files: &'a Files, marks: &'a Marks<'a>) -> Self {
        Self { args, files, marks }
    }

    /// Does it.
    pub(super) fn run(&self, engine: &Engine<'_>) -> Result<Report> {
        self.finish(self.read()?, engine)
    }

    /// Reads the picture.
    pub(super) fn read(&self) -> Result<Input> {
        let start = Instant::now();
        self.files.check(self.args)?;
        let source = Source::new(&self.files.input);
        let (bytes, name) = (source.read()?, source.to_string());
        check_picture(&name, Size::of(&bytes, &name)?, self.args.memory(), available())?;
        let picture = Picture::decode(&bytes, &name)?;
        Ok(Input { start, name, picture })
    }

    /// Denoises it and writes what is wanted.
    pub(super) fn finish(&self, input: Input, engine: &Engine<'_>) -> Result<Report> {
        let Self { files, .. } = self;
        let Input { start, name, picture } = input;
        let reference = self.reference(&picture.image, &name)?;
        let masks = self.marks.of(&picture.image, &name)?;
        let cleaned = work(engine, &picture.image, masks, reference.as_ref(), &name)?;

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

/// Denoises a picture as the options say, on the device if there is one and it
/// can. `name` is for messages.
pub(crate) fn clean(
    args: &DenoiseArgs,
    device: Option<&Device>,
    image: &DynamicImage,
    name: &str,
) -> Result<Cleaned> {
    let plans = args.plans();
    work(&Engine::new(&plans, device), image, Masks::default(), None, name)
}

/// The same, and compares with the true picture.
fn work(
    engine: &Engine<'_>,
    image: &DynamicImage,
    masks: Masks<'_>,
    reference: Option<&DynamicImage>,
    name: &str,
) -> Result<Cleaned> {
    let peak = peak(image);
    let channels = planes(image)?;
    // Bad pixels may hold anything.
    if masks.bad.is_none() {
        check_finite(name, image, &channels)?;
    }
    let mut outcome = engine.run(&channels, masks, peak).map_err(|refusal| match refusal {
        Refusal::Picture(error) => refused(name, image, error),
        Refusal::Device(error) => Error::failed(format!("{name}: {error}")),
    })?;
    let mixed = engine.plans().mix.apply(&channels, &mut outcome);
    mixed.map_err(|error| refused(name, image, error))?;
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
    let report = Report::new(engine.plans(), image, outcome, quality);
    Ok(Cleaned { clean, outliers, report })
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::super::engine::{Engine, Plans};
    use super::super::method::Method;
    use super::super::mix::Mix;
    use super::super::settings::{Settings, StopRule};
    use super::{Cleaned, work};
    use crate::device::Device;
    use image::{DynamicImage, GrayImage, Luma};
    use kgard::denoise::Masks;

    /// The processor does what a lost device does not, and says so.
    #[test]
    fn a_lost_device() {
        let Some(device) = Device::lost() else { return };
        let settings = Settings {
            sigma: None,
            lambda: None,
            noise_sigma: None,
            noise_gain: None,
            noise_floor: None,
            roi: 12,
            core: 8,
            stop: StopRule::Auto,
            e0: None,
            regularizer: None,
        };
        let picture = |x: u32, y: u32| Luma([u8::try_from(100 + (x * y * 7) % 23).unwrap_or(0)]);
        let image = DynamicImage::from(GrayImage::from_fn(40, 32, picture));
        for method in [Method::Kgard, Method::KgBm3d] {
            let plans = Plans::new(method, settings, Mix::WHOLE);
            let result = |device| {
                work(&Engine::new(&plans, device), &image, Masks::default(), None, "a.png")
            };
            let Ok(expected) = result(None) else { panic!("the processor fails") };
            // Twice: it may fail where the plan is put on it, and on the way.
            for _ in 0..2 {
                let Ok(Cleaned { clean, report, .. }) = result(Some(&device)) else {
                    panic!("nothing stands in for the device")
                };
                assert_eq!(clean, expected.clean);
                let warning = report.warning().unwrap_or_default();
                assert!(warning.contains("the processor had to go on: "), "{warning}");
                let json = serde_json::to_value(&report).unwrap_or_default();
                assert_eq!((&json["backend"], &json["adapter"].is_null()), (&"cpu".into(), &true));
                assert!(json["fallback"].is_string(), "{json}");
            }
        }
    }
}
