//! The options of `kgard denoise`.

use super::engine::Plans;
use super::inputs::is_many;
use super::method::{DEFAULT_METHOD, Method};
use super::mix::Mix;
use super::settings::{Norm, Settings, StopRule};
use crate::device::{Device, DeviceArgs};
use crate::error::{Error, Result};
use crate::memory::PictureMemory;
use crate::number::{not_negative, positive};
use crate::output::is_stdout;
use crate::pictures::{Format, White};
use clap::Args;
use kgard::denoise::{Grid, NoiseSpectrum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  kgard denoise noisy.png -o clean.png
  kgard denoise scans -o cleaned --threads 4
  kgard denoise 'scans/*.tif' -o cleaned --dry-run
  kgard denoise scans -o cleaned --backend gpu
  kgard denoise noisy.png -o clean.png --compare strip.png
  kgard denoise noisy.png -o clean.png --outliers map.png --reference truth.png --json
  kgard denoise scans -o cleaned --bad dead.png --keep caption.png
  kgard denoise noisy.png -o repaired.png --impulses-only
  kgard denoise noisy.png -o clean.png --strength 0.7
  kgard denoise - -o - < noisy.png > clean.png

Nothing needs to be told: kernel, smoothing, noise level and the threshold for
impulses are found for each picture and colour channel. What comes out has the
bit depth and the channels of what went in; alpha is left alone. Sizes (noise,
E0, max:E) are in units of the samples: 0 to 255, 0 to 65535, or floats about 0
to 1.

Reads and writes PNG, JPEG, TIFF, WebP, PNM and OpenEXR; the name of the output
tells the format. All pages of a TIFF file are denoised, each by itself with the
same settings. The colour profile and the EXIF data are kept where the format
has a place for them; a picture that EXIF data say is turned is written upright.

With several inputs, or a folder as input or output, this is a batch: pictures
keep their names, and one that fails does not stop the others. A folder stands
for the pictures in it, not in the folders below; a pattern in quotes is
expanded by kgard.";

/// `kgard denoise`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DenoiseArgs {
    /// Noisy pictures, folders of them, or patterns; `-` is standard input
    #[arg(value_name = "INPUT", required = true)]
    pub(super) inputs: Vec<PathBuf>,
    /// The clean picture, or a folder; `-` is standard output
    #[arg(short, long, value_name = "OUTPUT")]
    pub(crate) output: PathBuf,
    /// The format of the output [default: by its name, or that of the input]
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,
    /// Allow the output to be the input file, and overwrite it
    #[arg(long)]
    pub(super) overwrite: bool,
    /// The method
    #[arg(long, value_enum, default_value_t = DEFAULT_METHOD)]
    method: Method,
    #[command(flatten)]
    device: DeviceArgs,
    /// Threads to run on [default: all]; the result does not depend on it
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub(super) threads: Option<u16>,
    /// Write the impulse map as PNG, or TIFF for several pages: grey is none, brighter pixels were too
    /// bright, darker ones too dark. A folder in a batch
    #[arg(long, value_name = "MAP")]
    pub(super) outliers: Option<PathBuf>,
    /// Write a picture with input, output and impulses side by side. A folder in
    /// a batch
    #[arg(long, value_name = "STRIP")]
    pub(super) compare: Option<PathBuf>,
    /// The clean picture: adds PSNR and SSIM before and after
    #[arg(long, value_name = "CLEAN")]
    pub(super) reference: Option<PathBuf>,
    /// Mask of pixels known to be bad, for KGARD and KG-BM3D: a picture of the
    /// size of the input, bright at bad pixels. One for all pictures of a batch
    #[arg(long, value_name = "MASK")]
    pub(super) bad: Option<PathBuf>,
    /// Mask of pixels to be left unchanged, in the same form
    #[arg(long, value_name = "MASK")]
    pub(super) keep: Option<PathBuf>,
    #[command(flatten)]
    mix: Mix,
    /// The greatest value of the data, where it is not that of the file's type: 4095 for 12
    /// bits in a file of 16. Results are clipped there, and PSNR is relative to it [default: by
    /// the type; data that reach exactly to the end of fewer bits are recognised]
    #[arg(long, value_name = "W", value_parser = positive, allow_negative_numbers = true)]
    white_level: Option<f64>,
    /// List what would be read and written, and errors; write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    parameters: Parameters,
}

/// Settings with automatic defaults.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parameters, automatic unless given")]
struct Parameters {
    /// Use a Gaussian kernel of width S, in units of a region's width
    #[arg(long, value_name = "S", value_parser = positive, allow_negative_numbers = true)]
    sigma: Option<f64>,
    /// The paper's lambda: L, 5 L or 15 L by a region's mean gradient. This, --e0
    /// and --stop other than auto belong to the paper's methods: with them kgard
    /// is paper-kgard and kg-bm3d is paper-kg-bm3d [default: 1]
    #[arg(long, value_name = "L", value_parser = positive, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// The standard deviation of the noise
    #[arg(long, value_name = "s", value_parser = not_negative, allow_negative_numbers = true)]
    noise_sigma: Option<f64>,
    /// Gain G of signal-dependent noise, for KG-BM3D and BM3D: its variance is
    /// G times the sample plus the square of --noise-sigma
    #[arg(long, value_name = "G", value_parser = positive, allow_negative_numbers = true)]
    noise_gain: Option<f64>,
    /// Variance of the noise at sample value zero, in place of --noise-sigma;
    /// negative if black is above zero
    #[arg(
        long,
        value_name = "V",
        requires = "noise_gain",
        conflicts_with = "noise_sigma",
        allow_negative_numbers = true
    )]
    noise_floor: Option<f64>,
    /// Noise that neighbouring pixels share, for KG-BM3D: its correlation length
    /// in pixels (0 for white noise), or a file with the deviations of the 8 x 8
    /// DCT coefficients, 8 rows of 8 numbers. The size of the noise is
    /// --noise-sigma, or estimated
    #[arg(long, value_name = "PX|FILE", value_parser = spectrum, allow_negative_numbers = true)]
    noise_psd: Option<NoiseSpectrum<f32>>,
    /// Side of a region in pixels
    #[arg(long, value_name = "N", default_value_t = 12, allow_negative_numbers = true)]
    roi: usize,
    /// Distance of regions in pixels: smaller is slower, and better on fine
    /// stripes
    #[arg(long, value_name = "L", default_value_t = 8, allow_negative_numbers = true)]
    core: usize,
    /// Stopping rule of the search: `auto` at a threshold from noise and
    /// impulses; the paper's `histogram` rule, its threshold taken once in a
    /// region or at `histogram:every-step`; `max:E` when no residual exceeds E
    /// [default: auto; for the paper's methods histogram]
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    stop: Option<StopRule>,
    /// E0 of the histogram rule; implies it [default: 40, of 255]
    #[arg(long, value_name = "E", value_parser = not_negative, allow_negative_numbers = true)]
    e0: Option<f64>,
    /// The penalty [default: rkhs; for the paper's methods l2]
    #[arg(long, value_enum)]
    regularizer: Option<Norm>,
}

/// A correlation length, or a file with the deviations of coefficients.
#[allow(clippy::cast_possible_truncation)]
fn spectrum(text: &str) -> std::result::Result<NoiseSpectrum<f32>, String> {
    if let Ok(length) = text.parse::<f32>() {
        return NoiseSpectrum::gaussian(1.0, length).map_err(|error| error.to_string());
    }
    let file = std::fs::read_to_string(text)
        .map_err(|error| format!("it must be a number of pixels or a readable file: {error}"))?;
    let numbers: Vec<f32> = file
        .split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().map_err(|_| format!("`{word}` in the file is not a number")))
        .collect::<std::result::Result<_, _>>()?;
    let (rows, rest) = numbers.as_chunks::<8>();
    let Ok(rows) = <[[f32; 8]; 8]>::try_from(rows) else {
        return Err(format!("the file must have 8 rows of 8 numbers, not {}", numbers.len()));
    };
    if !rest.is_empty() {
        return Err(format!("the file must have 8 rows of 8 numbers, not {}", numbers.len()));
    }
    let spectrum = NoiseSpectrum::new(rows).map_err(|error| error.to_string())?;
    if spectrum.deviation() > 0.0 {
        Ok(spectrum)
    } else {
        Err("the file must have a deviation above zero".into())
    }
}

impl DenoiseArgs {
    /// Checks combinations of options.
    pub(crate) fn check(&self) -> Result<()> {
        let parameters = &self.parameters;
        let method = self.method();
        if parameters.e0.is_some()
            && !matches!(parameters.stop, None | Some(StopRule::Histogram(_)))
        {
            return Err(Error::usage(
                "--e0 belongs to the histogram rule: drop it, or use --stop histogram",
            ));
        }
        if method.is_of_paper() && parameters.stop == Some(StopRule::Auto) {
            return Err(Error::usage(format!(
                "--stop auto is not a rule of the method {}: drop it, or use --stop histogram",
                method.name()
            )));
        }
        if method == Method::PaperKgard && parameters.noise_sigma.is_some() {
            return Err(Error::usage(
                "--noise-sigma: the method paper-kgard does not use the noise: drop it, or use \
                 --method paper-kg-bm3d",
            ));
        }
        if parameters.noise_gain.is_some() && !matches!(method, Method::KgBm3d | Method::Bm3d) {
            return Err(Error::usage(format!(
                "--noise-gain is for kg-bm3d and bm3d: {} knows one deviation of the noise",
                method.name()
            )));
        }
        if parameters.noise_psd.is_some() && method != Method::KgBm3d {
            return Err(Error::usage(format!(
                "--noise-psd is for kg-bm3d: {} takes the noise for white",
                method.name()
            )));
        }
        if self.mix.impulses_only && method == Method::Bm3d {
            return Err(Error::usage(
                "--impulses-only: bm3d looks for no impulses: use --method kg-bm3d or kgard",
            ));
        }
        self.device.check()?;
        if let Some(option) = self.device.insists()
            && !method.runs_on_gpus()
        {
            return Err(Error::usage(format!(
                "{option}: the method {} has no GPU path: drop it, or use --method kg-bm3d or \
                 kgard{}",
                method.name(),
                self.without_paper()
            )));
        }
        for (option, path) in [("--bad", &self.bad), ("--keep", &self.keep)] {
            let Some(path) = path else { continue };
            if is_stdout(path) {
                return Err(Error::usage(format!(
                    "{option} -: a mask is a file, standard input is for the picture"
                )));
            }
            if !method.has_masks() {
                return Err(Error::usage(format!(
                    "{option}: the method {} has no use for a mask: drop it, or use --method \
                     kg-bm3d or kgard{}",
                    method.name(),
                    self.without_paper()
                )));
            }
        }
        Grid::new(1, 1, parameters.roi, parameters.core)
            .map_err(|error| Error::usage(format!("--roi and --core: {error}")))?;
        for (option, path) in [("--outliers", &self.outliers), ("--compare", &self.compare)] {
            if path.as_deref().is_some_and(is_stdout) {
                return Err(Error::usage(format!(
                    "{option} -: this is a file, standard output is for the picture"
                )));
            }
        }
        if self.is_batch() { self.check_batch() } else { self.check_single() }
    }

    /// The white level.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn white(&self) -> White {
        self.white_level.map_or(White::Automatic, |white| White::Level(white as f32))
    }

    /// The method: the paper's, where options are given that only that has.
    pub(super) fn method(&self) -> Method {
        let Parameters { lambda, e0, stop, .. } = self.parameters;
        let rule = stop.is_some_and(|stop| stop != StopRule::Auto);
        let wants_paper = lambda.is_some() || e0.is_some() || rule;
        if wants_paper { self.method.of_paper() } else { self.method }
    }

    /// What to do about a method that became the paper's by its options.
    fn without_paper(&self) -> &'static str {
        if self.method() == self.method { "" } else { " without --lambda, --e0 and --stop" }
    }

    /// Checks options that apply to one picture only.
    fn check_batch(&self) -> Result<()> {
        if is_stdout(&self.output) || self.inputs.iter().any(|input| is_stdout(input)) {
            return Err(Error::usage(
                "`-` stands for one picture: give files and a folder for several",
            ));
        }
        if self.reference.is_some() {
            return Err(Error::usage("--reference is for one picture: denoise that one by itself"));
        }
        for (i, folder) in self.folders().enumerate() {
            if self.folders().take(i).any(|other| other == folder) {
                return Err(Error::usage(format!(
                    "{}: pictures, maps and strips of a batch have the same names: choose \
                     folders of their own",
                    folder.display()
                )));
            }
            if !folder.is_dir() && Format::by_name(folder).is_some() {
                return Err(Error::usage(format!(
                    "{}: several pictures go to a folder, and this is the name of a picture",
                    folder.display()
                )));
            }
        }
        Ok(())
    }

    /// Checks file names that determine a format.
    fn check_single(&self) -> Result<()> {
        if let Some(map) = &self.outliers
            && !matches!(Format::of("--outliers", map)?, Format::Png | Format::Tiff)
        {
            return Err(Error::usage(format!(
                "--outliers {}: the map is a PNG, or a TIFF for several pages: its name must end \
                 in .png or .tif",
                map.display()
            )));
        }
        if let Some(strip) = &self.compare
            && Format::of("--compare", strip)? == Format::Exr
        {
            return Err(Error::usage(format!(
                "--compare {}: the strip has 8 bits, its name should end in .png",
                strip.display()
            )));
        }
        Ok(())
    }

    /// Destination of the results of a batch.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        [Some(&self.output), self.outliers.as_ref(), self.compare.as_ref()].into_iter().flatten()
    }

    /// The format of the output, if it was given.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format
    }

    /// Whether the output is a folder.
    pub(super) fn is_batch(&self) -> bool {
        self.inputs.len() > 1 || self.output.is_dir() || self.inputs.iter().any(|i| is_many(i))
    }

    /// The device for a job of this many pixels; `None` is the processor.
    pub(super) fn open_device(&self, pixels: u64) -> Result<Option<Device>> {
        if self.method().runs_on_gpus() { self.device.open(pixels) } else { Ok(None) }
    }

    /// Memory of the method: as measured (RELIABILITY.md), and a tenth more.
    pub(crate) fn memory(&self) -> PictureMemory {
        let (pixel, channel) = match self.method() {
            Method::Kgard => (7.0, 15.0),
            Method::Bm3d => (0.0, 42.0),
            // Counted: 9 bytes for each of the 2.25 pixels of a region to one of its core, the
            // result and the gradient; then BM3D.
            Method::PaperKgard => (7.0, 45.0),
            Method::PaperKgBm3d => (7.0, 65.0),
            Method::KgBm3d | Method::RbRvm => (73.0, 40.0),
        };
        PictureMemory { pixel, channel }
    }

    /// The method and its settings.
    pub(super) fn plans(&self) -> Plans {
        Plans::new(self.method(), self.settings(), self.mix)
    }

    fn settings(&self) -> Settings {
        let Parameters {
            sigma,
            lambda,
            noise_sigma,
            noise_gain,
            noise_floor,
            noise_psd,
            roi,
            core,
            stop,
            e0,
            regularizer,
        } = self.parameters;
        Settings {
            sigma,
            lambda,
            noise_sigma,
            noise_gain,
            noise_floor,
            noise_spectrum: noise_psd,
            roi,
            core,
            stop: stop.unwrap_or(StopRule::Auto),
            e0,
            regularizer,
        }
    }
}
