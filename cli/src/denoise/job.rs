//! One picture: read, denoised, written.

use super::args::DenoiseArgs;
use super::engine::{Engine, Refusal};
use super::files::Files;
use super::marks::Marks;
use super::report::{Quality, Report};
use super::{compare, lines, map};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::input::Source;
use crate::memory::{available, check_picture};
use crate::metrics::Score;
use crate::number::counted;
use crate::output::Staged;
use crate::pictures::{
    Format, Picture, Raster, Stack, Writer, check_finite, check_same_kind, destination, refused,
};
use crate::progress::Work;
use kgard::denoise::{Masks, Watch};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What is to be done with one picture.
#[derive(Debug)]
pub(super) struct Job<'a> {
    args: &'a DenoiseArgs,
    files: &'a Files,
    marks: &'a Marks<'a>,
    /// A bar for each picture.
    shows_progress: bool,
}

/// How a picture is worked on.
#[derive(Clone, Copy, Default)]
struct Watched<'a> {
    masks: Masks<'a>,
    progress: Watch<'a>,
}

/// A file that was read.
pub(super) struct Input {
    start: Instant,
    stack: Stack<'static>,
}

impl Input {
    /// How large it is.
    pub(super) fn pixels(&self) -> u64 {
        self.stack.pixels
    }
}

/// A picture that was denoised.
pub(crate) struct Cleaned {
    pub(crate) clean: Raster,
    /// The map of impulses.
    pub(crate) outliers: Raster,
    pub(crate) report: Report,
}

impl<'a> Job<'a> {
    /// The job with these files.
    pub(super) fn new(args: &'a DenoiseArgs, files: &'a Files, marks: &'a Marks<'a>) -> Self {
        Self { args, files, marks, shows_progress: false }
    }

    /// The same with a bar of progress, on a terminal.
    pub(super) fn with_progress(self) -> Self {
        Self { shows_progress: true, ..self }
    }

    /// Does it.
    pub(super) fn run(&self, engine: &Engine<'_>) -> Result<Vec<Report>> {
        self.finish(self.read()?, engine)
    }

    /// Reads the file.
    pub(super) fn read(&self) -> Result<Input> {
        let start = Instant::now();
        self.files.check(self.args)?;
        let source = Source::new(&self.files.input);
        let (bytes, name) = (source.read()?, source.to_string());
        let stack = Stack::new(bytes.into(), &name)?.with_white(self.args.white());
        check_picture(&name, stack.size, self.args.memory(), available())?;
        Ok(Input { start, stack })
    }

    /// Denoises its pictures and writes what is wanted; a report for each of them.
    pub(super) fn finish(&self, input: Input, engine: &Engine<'_>) -> Result<Vec<Report>> {
        let Self { files, .. } = self;
        let Input { mut start, mut stack } = input;
        let pages = stack.pages();
        let target = destination(&files.output);
        let format = files.format.unwrap_or(stack.format);
        let mut clean = Writer::new(format, &target, pages)?;
        let mut references = self.references(&stack)?;
        let maps = files.outliers.as_ref().map(|path| map_file(path, pages, self.args));
        let maps = maps.transpose()?;
        let map_writer =
            |(path, format): &(PathBuf, Format)| Writer::new(*format, &destination(path), pages);
        let mut map_writer = maps.as_ref().map(map_writer).transpose()?;
        if files.compare.is_some() && pages > 1 {
            return Err(Error::failed(format!(
                "{}: holds {pages} pictures, and --compare shows one: leave it out, or split the \
                 file",
                Source::new(&files.input)
            )));
        }
        let mut staged = Staged::default();
        let mut reports = Vec::with_capacity(pages);
        for page in 0..pages {
            let name = stack.name(page);
            let picture = stack.page(page)?;
            let reference = references.as_mut().map(|stack| stack.page(page)).transpose()?;
            let reference = reference.map(|reference| reference.image);
            if let Some(reference) = &reference {
                check_same_kind(&name, &picture.image, reference)?;
            }
            let masks = self.marks.of(&picture.image, &name)?;
            let cleaned = {
                let bar = self.shows_progress.then(|| Work::begin(name.clone()));
                let tell = |step| bar.iter().for_each(|bar| bar.follow(step));
                let watched = Watched { masks, progress: Watch::new(&tell) };
                work(engine, &picture.image, watched, reference.as_ref(), &name)?
            };
            clean.add(&picture, &cleaned.clean)?;
            if let Some(writer) = &mut map_writer {
                let map = Picture::plain(cleaned.outliers.clone(), format);
                writer.add(&map, &map.image)?;
            }
            if let Some(path) = &files.compare {
                let strip = compare::strip(&picture.image, &cleaned)?;
                let strip = Picture::plain(strip, Format::of("--compare", path)?);
                staged.add(path, strip.encode(&strip.image, strip.format, &destination(path))?)?;
            }
            let place = (pages > 1).then_some((page + 1, pages));
            let report = cleaned.report.between(stack.source().to_owned(), target.clone());
            reports.push(report.of_page(place).after(start.elapsed()));
            start = Instant::now();
        }
        staged.add(&files.output, clean.finish())?;
        if let (Some((path, _)), Some(writer)) = (&maps, map_writer) {
            staged.add(path, writer.finish())?;
        }
        staged.commit()?;
        Ok(reports)
    }

    /// The true pictures, if there are any: as many as there are in the input.
    fn references(&self, input: &Stack<'_>) -> Result<Option<Stack<'static>>> {
        let Some(path) = &self.args.reference else { return Ok(None) };
        let source = Source::new(path);
        let stack = Stack::new(source.read()?.into(), &source.to_string())?;
        if stack.pages() != input.pages() {
            return Err(Error::failed(format!(
                "{}: holds {}, and the reference has {}: give as many",
                input.source(),
                counted(input.pages(), "picture"),
                stack.pages()
            )));
        }
        Ok(Some(stack.with_white(self.args.white())))
    }
}

/// The file of the map of impulses: in a batch, pages have a file with pages.
fn map_file(path: &Path, pages: usize, args: &DenoiseArgs) -> Result<(PathBuf, Format)> {
    if pages == 1 {
        return Ok((path.to_owned(), Format::by_name(path).unwrap_or(Format::Png)));
    }
    if args.is_batch() {
        let path = path.with_extension(Format::Tiff.extension());
        return Ok((path, Format::Tiff));
    }
    if Format::by_name(path) != Some(Format::Tiff) {
        return Err(Error::failed(format!(
            "--outliers {}: a PNG file holds one map, and there are {pages}: choose TIFF, as in \
             --outliers map.tif",
            path.display()
        )));
    }
    Ok((path.to_owned(), Format::Tiff))
}

/// Denoises a picture as the options say, on the device if there is one and it
/// can. `name` is for messages.
pub(crate) fn clean(
    args: &DenoiseArgs,
    device: Option<&Device>,
    image: &Raster,
    name: &str,
) -> Result<Cleaned> {
    let plans = args.plans();
    work(&Engine::new(&plans, device), image, Watched::default(), None, name)
}

/// The same, and compares with the true picture.
fn work(
    engine: &Engine<'_>,
    image: &Raster,
    watched: Watched<'_>,
    reference: Option<&Raster>,
    name: &str,
) -> Result<Cleaned> {
    let Watched { masks, progress } = watched;
    let peak = image.peak();
    let channels = image.planes()?;
    // Bad pixels may hold anything.
    if masks.bad.is_none() {
        check_finite(name, image, &channels)?;
    }
    let (repaired, lines) = if engine.plans().method.repairs_lines() {
        lines::repaired(&channels, masks.keep)
    } else {
        (Cow::Borrowed(&channels[..]), Vec::new())
    };
    let mut outcome =
        engine.run(&repaired, masks, peak, progress).map_err(|refusal| match refusal {
            Refusal::Picture(error) => refused(name, image, error),
            Refusal::Device(error) => Error::failed(format!("{name}: {error}")),
        })?;
    engine.plans().mix.apply(&channels, &repaired, &mut outcome);
    drop(repaired);
    drop(channels);
    let clean = image.with_planes(&outcome.channels)?;
    let quality = reference
        .map(|reference| {
            let before = Score::new(reference, image)?;
            Ok(Quality::new(before, Score::new(reference, &clean)?))
        })
        .transpose()
        .map_err(|error| refused(name, image, error))?;
    let outliers = map::picture(&outcome.outliers, peak)
        .ok_or_else(|| Error::failed(format!("{name}: is too large for a map")))?;
    let report = Report::new(engine.plans(), image, outcome, lines, quality);
    Ok(Cleaned { clean, outliers: outliers.into(), report })
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::super::engine::{Engine, Plans};
    use super::super::method::Method;
    use super::super::mix::Mix;
    use super::super::settings::{Settings, StopRule};
    use super::{Cleaned, Watched, work};
    use crate::device::Device;
    use crate::pictures::Raster;
    use image::{DynamicImage, GrayImage, Luma};

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
            noise_spectrum: None,
            roi: 12,
            core: 8,
            stop: StopRule::Auto,
            e0: None,
            regularizer: None,
        };
        let picture = |x: u32, y: u32| Luma([u8::try_from(100 + (x * y * 7) % 23).unwrap_or(0)]);
        let image = Raster::from(DynamicImage::from(GrayImage::from_fn(40, 32, picture)));
        for method in [Method::Kgard, Method::KgBm3d] {
            let plans = Plans::new(method, settings, Mix::WHOLE);
            let result = |device| {
                work(&Engine::new(&plans, device), &image, Watched::default(), None, "a.png")
            };
            let Ok(expected) = result(None) else { panic!("the processor fails") };
            // Twice: it may fail where the plan is put on it, and on the way.
            for _ in 0..2 {
                let Ok(Cleaned { clean, report, .. }) = result(Some(&device)) else {
                    panic!("nothing stands in for the device")
                };
                assert_eq!(clean, expected.clean);
                let warning = report.warnings().join(" ");
                assert!(warning.contains("the processor had to go on: "), "{warning}");
                let json = serde_json::to_value(&report).unwrap_or_default();
                assert_eq!((&json["backend"], &json["adapter"].is_null()), (&"cpu".into(), &true));
                assert!(json["fallback"].is_string(), "{json}");
            }
        }
    }
}
