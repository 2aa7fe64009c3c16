//! `kgard corrupt`: noise and impulses for a picture, the same on every
//! machine.

use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::{instead_of_stdout, message};
use crate::metrics::json;
use crate::noise::{Random, sigma_at};
use crate::number::{not_negative, short};
use crate::output::{Staged, is_stdout, to_stdout};
use crate::pictures::{Format, Picture, check_finite, check_overwrite, destination, refused};
use clap::{Args, ValueEnum};
use kgard::denoise::PlaneBuf;
use serde::Serialize;
use std::path::PathBuf;

/// Magnitude of the paper's impulses, as a fraction of the peak.
const IMPULSE: f64 = 100.0 / 255.0;

const EXAMPLES: &str = "\
Examples:
  kgard corrupt clean.png -o noisy.png --gaussian-db 20 --impulses 0.1
  kgard corrupt clean.png -o noisy.png --gaussian-sigma 10 --seed 7
  kgard corrupt clean.png -o noisy.png --impulses 0.05 --kind salt-pepper --json

Each colour channel gets noise and impulses of its own, alpha none. Sizes are in
units of the samples: 0 to 255, 0 to 65535, or floats about 0 to 1. What is
written to 8- and 16-bit files is rounded and clipped to their range; floats are
not.";

/// `kgard corrupt`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CorruptArgs {
    /// The clean picture; `-` is standard input
    #[arg(value_name = "CLEAN")]
    input: PathBuf,
    /// The noisy picture; `-` is standard output, in the format of the input
    #[arg(short, long, value_name = "NOISY")]
    output: PathBuf,
    /// Gaussian noise D decibels below the picture: its variance is the mean of
    /// the squared samples, divided by 10^(D/10)
    #[arg(
        long, value_name = "D", value_parser = decibels, allow_negative_numbers = true,
        conflicts_with = "gaussian_sigma"
    )]
    gaussian_db: Option<f64>,
    /// Gaussian noise of this standard deviation
    #[arg(long, value_name = "S", value_parser = not_negative, allow_negative_numbers = true)]
    gaussian_sigma: Option<f64>,
    /// Impulses on this fraction of the pixels, 0 to 1, after the Gaussian noise
    #[arg(long, value_name = "F", value_parser = fraction, allow_negative_numbers = true)]
    impulses: Option<f64>,
    /// Magnitude of additive impulses [default: 100, of 255]
    #[arg(long, value_name = "V", value_parser = not_negative, allow_negative_numbers = true)]
    impulse_value: Option<f64>,
    /// Kind of impulses
    #[arg(long, value_enum, default_value_t = Kind::Additive)]
    kind: Kind,
    /// Seed of the noise
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Allow the output to be the input file, and overwrite it
    #[arg(long)]
    overwrite: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Kinds of impulses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// Add or subtract the impulse value
    Additive,
    /// Replace the pixel by black or white
    SaltPepper,
    /// Replace the pixel by a uniformly distributed value
    Random,
}

fn fraction(text: &str) -> std::result::Result<f64, String> {
    let x = not_negative(text)?;
    if x <= 1.0 { Ok(x) } else { Err("it must be a fraction, 0 to 1".into()) }
}

fn decibels(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.abs() <= 300.0 => Ok(x),
        Ok(_) => Err("it must lie between -300 and 300".into()),
        Err(_) => Err("it is not a number".into()),
    }
}

/// The JSON object.
#[derive(Serialize)]
struct Report {
    input: String,
    output: String,
    width: u32,
    height: u32,
    channels: u8,
    bit_depth: u16,
    seed: u64,
    /// The standard deviation of the Gaussian noise.
    sigma: f64,
    impulses: Impulses,
    /// Samples clipped to the range of the type.
    clipped: Clipped,
}

#[derive(Serialize)]
struct Clipped {
    count: usize,
    fraction: f64,
}

#[derive(Serialize)]
struct Impulses {
    kind: Kind,
    /// Magnitude of additive ones.
    value: Option<f64>,
    /// In all channels together.
    count: usize,
    fraction: f64,
}

/// Runs the command.
pub(crate) fn run(args: &CorruptArgs) -> Result<()> {
    let format = check_usage(args)?;
    check_overwrite(&args.input, &args.output, args.overwrite)?;
    let source = Source::new(&args.input);
    let picture = Picture::read(source)?;
    let image = &picture.image;
    let peak = f64::from(image.peak());
    let low = f64::from(image.floor());
    let mut channels = image.planes()?;
    check_finite(&source.to_string(), image, &channels)?;
    let all = || channels.iter().flat_map(PlaneBuf::samples).map(|&x| f64::from(x));
    let sigma = match (args.gaussian_db, args.gaussian_sigma) {
        (Some(db), _) => sigma_at(db, &all().collect::<Vec<_>>()),
        (None, sigma) => sigma.unwrap_or(0.0),
    };
    let value = args.impulse_value.unwrap_or(IMPULSE * peak);
    let floats = image.is_float();
    let (mut count, mut total, mut clipped) = (0, 0, 0);
    for (channel, stream) in channels.iter_mut().zip(0..) {
        let mut samples: Vec<f64> = channel.samples().iter().map(|&x| f64::from(x)).collect();
        let mut random = Random::new("corrupt", args.seed, stream);
        if sigma > 0.0 {
            random.add_gaussian(&mut samples, sigma);
        }
        let fraction = args.impulses.unwrap_or(0.0);
        count += match args.kind {
            Kind::Additive => random.add_outliers(&mut samples, fraction, value).len(),
            Kind::SaltPepper => replace(&mut random, &mut samples, fraction, |random| {
                if random.below(2) == 0 { low } else { peak }
            }),
            Kind::Random => replace(&mut random, &mut samples, fraction, |random| {
                let x = random.uniform();
                // Each integer of the range as often.
                if floats { x * peak } else { (low + x * (peak - low + 1.0)).floor() }
            }),
        };
        total += samples.len();
        if !floats {
            clipped += samples.iter().filter(|x| !(low..=peak).contains(&x.round())).count();
        }
        #[allow(clippy::cast_possible_truncation)]
        for (old, new) in channel.samples_mut().iter_mut().zip(samples) {
            *old = new as f32;
        }
    }
    let name = destination(&args.output);
    let noisy = image.with_planes(&channels).map_err(|e| refused(&name, image, e))?;
    let report = Report {
        input: source.to_string(),
        output: name.clone(),
        width: image.width(),
        height: image.height(),
        channels: image.channels(),
        bit_depth: image.bit_depth(),
        seed: args.seed,
        sigma,
        impulses: Impulses {
            kind: args.kind,
            value: (args.kind == Kind::Additive).then_some(value),
            count,
            fraction: count as f64 / total as f64,
        },
        clipped: Clipped { count: clipped, fraction: clipped as f64 / total as f64 },
    };
    let mut staged = Staged::default();
    let format = format.unwrap_or(picture.format);
    staged.add(&args.output, picture.encode(&noisy, format, &name)?)?;
    staged.commit()?;
    tell(&report, args.json, is_stdout(&args.output))
}

/// Replaces a random fraction of the samples; returns their number.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn replace(
    random: &mut Random,
    samples: &mut [f64],
    fraction: f64,
    value: impl Fn(&mut Random) -> f64,
) -> usize {
    let count = (fraction * samples.len() as f64).round() as usize;
    for i in random.subset(samples.len(), count) {
        samples[i] = value(random);
    }
    count
}

/// Checks the options; returns the format of the output's name, if it is a file.
fn check_usage(args: &CorruptArgs) -> Result<Option<Format>> {
    if args.gaussian_db.is_none() && args.gaussian_sigma.is_none() && args.impulses.is_none() {
        return Err(Error::usage(
            "no noise is asked for: give --gaussian-db, --gaussian-sigma or --impulses",
        ));
    }
    if args.impulse_value.is_some() && args.kind != Kind::Additive {
        return Err(Error::usage(
            "--impulse-value is the size of additive impulses: drop it, or --kind",
        ));
    }
    if is_stdout(&args.output) {
        return Ok(None);
    }
    Format::of("-o", &args.output).map(Some)
}

fn tell(report: &Report, as_json: bool, stdout_taken: bool) -> Result<()> {
    if as_json {
        let text = json(report)?;
        if !stdout_taken {
            return to_stdout(text.as_bytes());
        }
        instead_of_stdout(&text);
        return Ok(());
    }
    message(&format!(
        "{}: noise of standard deviation {}, {} impulses ({:.1} %), \
         {:.1} % of samples clipped",
        report.output,
        short(report.sigma),
        report.impulses.count,
        100.0 * report.impulses.fraction,
        100.0 * report.clipped.fraction,
    ));
    Ok(())
}
