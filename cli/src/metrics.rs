//! `kgard metrics`: how close pictures are to another one.

use crate::error::{Error, Result};
use crate::input::{Source, not_both_stdin};
use crate::output::to_stdout;
use crate::pictures::{Picture, Raster, check_same_kind, refused};
use clap::Args;
use kgard::denoise::PlaneBuf;
use kgard::denoise::metrics::{decibels, mse, ssim};
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  kgard metrics clean.png denoised.png
  kgard metrics clean.png noisy.png denoised.png --json

PSNR is in decibels, by the mean squared error over all pixels and colour
channels; it is infinite (null in JSON) for equal pictures. SSIM is that of Wang
et al. (2004), the mean over the colour channels; it takes 11 x 11 pixels at
least, and is left out (null) for smaller pictures. Alpha is not compared.";

/// `kgard metrics`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MetricsArgs {
    /// The picture to compare with; `-` is standard input
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
    /// Pictures of the same size and kind
    #[arg(value_name = "IMAGE", required = true)]
    images: Vec<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// How close a picture is to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Score {
    /// Infinite if they are the same.
    pub(crate) psnr: f64,
    /// Nothing for pictures smaller than its window.
    pub(crate) ssim: Option<f64>,
}

impl Score {
    /// Compares two pictures of the same size and kind.
    pub(crate) fn new(
        reference: &Raster,
        image: &Raster,
    ) -> std::result::Result<Self, kgard::Error> {
        let peak = f64::from(image.peak());
        let (mut error, mut similarity) = (0.0, Some(0.0));
        let channels = reference.planes()?;
        let count = channels.len() as f64;
        for (a, b) in channels.into_iter().zip(image.planes()?) {
            let (a, b) = (wide(a)?, wide(b)?);
            error += mse(a.as_plane(), b.as_plane())? / count;
            similarity = match ssim(a.as_plane(), b.as_plane(), peak) {
                Ok(channel) => similarity.map(|sum| sum + channel / count),
                Err(kgard::Error::TooShort { .. }) => None,
                Err(other) => return Err(other),
            };
        }
        Ok(Self { psnr: decibels(error, peak), ssim: similarity })
    }
}

/// In double precision, which 16-bit pictures deserve.
fn wide(plane: PlaneBuf<f32>) -> std::result::Result<PlaneBuf<f64>, kgard::Error> {
    let (width, height) = (plane.width(), plane.height());
    let samples = plane.into_samples().into_iter().map(f64::from).collect();
    PlaneBuf::new(samples, width, height)
}

/// The JSON object.
#[derive(Serialize)]
struct Report {
    reference: String,
    images: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    image: String,
    #[serde(flatten)]
    score: Score,
}

/// Runs the command.
pub(crate) fn run(args: &MetricsArgs) -> Result<()> {
    let source = Source::new(&args.reference);
    for (i, image) in args.images.iter().enumerate() {
        not_both_stdin(source, Source::new(image))?;
        for other in &args.images[..i] {
            not_both_stdin(Source::new(other), Source::new(image))?;
        }
    }
    let reference = Picture::read(source)?;
    let mut images = Vec::new();
    for path in &args.images {
        let source = Source::new(path);
        let picture = Picture::read(source)?;
        check_same_kind(&source.to_string(), &picture.image, &reference.image)?;
        let score = Score::new(&reference.image, &picture.image)
            .map_err(|error| refused(&source.to_string(), &picture.image, error))?;
        images.push(Line { image: source.to_string(), score });
    }
    let report = Report { reference: source.to_string(), images };
    let text = if args.json { json(&report)? } else { table(&report.images) };
    to_stdout(text.as_bytes())
}

/// One line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::failed(format!("writing JSON: {error}")))
}

fn table(lines: &[Line]) -> String {
    let mut text = format!("{:>8}  {:>7}\n", "PSNR/dB", "SSIM");
    for Line { image, score } in lines {
        let ssim = score.ssim.map_or_else(|| "-".to_owned(), |ssim| format!("{ssim:.4}"));
        let _ = writeln!(text, "{:>8.2}  {ssim:>7}  {image}", score.psnr);
    }
    text
}
