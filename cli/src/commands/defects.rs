//! `kgard defects`: a map of a sensor's wrong pixels, from several of its pictures.

use crate::denoise::expand;
use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::{instead_of_stdout, message, warn};
use crate::metrics::json;
use crate::number::counted;
use crate::output::{Staged, is_stdout, to_stdout};
use crate::pictures::{
    Format, Picture, Raster, Stack, check_finite, check_overwrite, check_same_kind, destination,
    refused,
};
use crate::progress::Work;
use clap::Args;
use image::{DynamicImage, GrayImage};
use kgard::denoise::{DefectMap, DefectSurvey};
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  kgard defects frames -o map.png
  kgard defects 'dark/*.tif' -o map.png
  kgard denoise frames -o clean --bad map.png

The frames are of one sensor, of the same size, and not turned or scaled: dark
frames, or pictures of different scenes, ten or more. A pixel is a defect if it
stands out in most of them; by chance one pixel of a map is expected to. All pages
of a TIFF file are frames. In colour pictures a pixel is wrong if one of its
channels is.";

/// Frames that share more of their deviations are of the same scene, or dark.
const SAME_SCENE: f64 = 0.5;

/// `kgard defects`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DefectsArgs {
    /// Pictures of one sensor, folders of them, or patterns: two at least
    #[arg(value_name = "FRAME", required = true)]
    frames: Vec<PathBuf>,
    /// The map, for `kgard denoise --bad`: white at defects. PNG, TIFF or PNM; `-` is standard
    /// output
    #[arg(short, long, value_name = "MAP")]
    output: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The JSON object.
#[derive(Serialize)]
struct Report {
    output: String,
    frames: usize,
    width: u32,
    height: u32,
    channels: usize,
    defects: Defects,
    /// The least deviation of a defect, in units of what is usual around it.
    threshold: Option<f64>,
    /// The share of the variance of deviations that is the same in all frames.
    shared: f64,
}

#[derive(Serialize)]
struct Defects {
    count: usize,
    fraction: f64,
}

/// Runs the command.
pub(crate) fn run(args: &DefectsArgs) -> Result<()> {
    let format =
        if is_stdout(&args.output) { Format::Png } else { Format::of("-o", &args.output)? };
    if !matches!(format, Format::Png | Format::Tiff | Format::Pnm) {
        return Err(Error::usage(format!(
            "-o {}: a map is grey and exact: choose PNG, TIFF or PNM, as in map.png",
            args.output.display()
        )));
    }
    let files = expand(&args.frames)?;
    for file in &files {
        check_overwrite(file, &args.output, false)?;
    }
    let mut first: Option<Raster> = None;
    let mut surveys: Vec<DefectSurvey> = Vec::new();
    let work = Work::begin("reading frames".into());
    for (number, path) in files.iter().enumerate() {
        let source = Source::new(path);
        work.next(format!("frame {} of {}: {source}", number + 1, files.len()));
        let mut stack = Stack::new(source.read()?.into(), &source.to_string())?;
        for page in 0..stack.pages() {
            let name = stack.name(page);
            let frame = stack.page(page)?.image;
            let channels = frame.planes()?;
            check_finite(&name, &frame, &channels)?;
            if let Some(first) = &first {
                check_same_kind(&name, &frame, first)?;
            } else {
                let survey = || DefectSurvey::new(channels[0].width(), channels[0].height());
                surveys = channels
                    .iter()
                    .map(|_| survey())
                    .collect::<std::result::Result<_, kgard::Error>>()?;
            }
            for (survey, channel) in surveys.iter_mut().zip(&channels) {
                let added = survey.add(channel.as_plane());
                added.map_err(|error| refused(&name, &frame, error))?;
            }
            first.get_or_insert(frame);
        }
    }
    let frames = surveys.first().map_or(0, DefectSurvey::frames);
    let Some(first) = first.filter(|_| frames >= DefectSurvey::LEAST) else {
        return Err(Error::failed(
            "one frame: in a single picture a defect is the same as a detail: give several, of \
             different scenes, or dark frames; ten are good",
        ));
    };
    work.next("looking for defects".into());
    let maps = surveys
        .iter()
        .map(DefectSurvey::map)
        .collect::<std::result::Result<Vec<_>, kgard::Error>>()?;
    drop(work);
    let report = written(args, format, &first, frames, &maps)?;
    if args.json {
        let text = json(&report)?;
        if !is_stdout(&args.output) {
            return to_stdout(text.as_bytes());
        }
        instead_of_stdout(&text);
        return Ok(());
    }
    message(&format!(
        "{}: {} ({:.3} %) in {}",
        report.output,
        counted(report.defects.count, "defect"),
        100.0 * report.defects.fraction,
        counted(frames, "frame"),
    ));
    Ok(())
}

/// Writes the map, and warns of what it cannot tell.
fn written(
    args: &DefectsArgs,
    format: Format,
    first: &Raster,
    frames: usize,
    maps: &[DefectMap],
) -> Result<Report> {
    let name = destination(&args.output);
    let (width, height) = (first.width(), first.height());
    let area = maps.first().map_or(0, |map| map.mask.samples().len());
    let is_bad = |i: usize| maps.iter().any(|map| map.mask.samples()[i]);
    let pixels: Vec<u8> = (0..area).map(|i| if is_bad(i) { u8::MAX } else { 0 }).collect();
    let count = pixels.iter().filter(|&&pixel| pixel > 0).count();
    let picture = GrayImage::from_raw(width, height, pixels).map(DynamicImage::from);
    let picture =
        picture.ok_or_else(|| Error::failed(format!("{name}: is too large for a map")))?;
    let picture = Picture::plain(picture, format);
    let mut staged = Staged::default();
    staged.add(&args.output, picture.encode(&picture.image, format, &name)?)?;
    staged.commit()?;
    let shared = maps.iter().map(|map| map.shared).fold(0.0, f64::max);
    let thresholds: Option<Vec<f64>> = maps.iter().map(|map| map.threshold).collect();
    if thresholds.is_none() {
        warn(&format!("{}: so few that no defect is clear: give more", counted(frames, "frame")));
    }
    if shared > SAME_SCENE {
        warn(&format!(
            "{:.0} % of what pixels differ by from those around them is the same in all frames: \
             right for dark frames; pictures have to be of different scenes",
            100.0 * shared
        ));
    }
    Ok(Report {
        output: name,
        frames,
        width,
        height,
        channels: maps.len(),
        defects: Defects { count, fraction: count as f64 / area as f64 },
        threshold: thresholds.map(|all| all.into_iter().fold(0.0, f64::max)),
        shared,
    })
}
