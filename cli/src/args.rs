//! The command line.

use crate::commands::{
    CleanArgs, CompletionsArgs, DefectsArgs, DevicesArgs, ManArgs, ReproduceArgs,
};
use crate::corrupt::CorruptArgs;
use crate::data::DataArgs;
use crate::denoise::DenoiseArgs;
use crate::error::{Error, Result};
use crate::kernel::KernelArgs;
use crate::messages::Loudness;
use crate::method::{Method, StopArg};
use crate::metrics::MetricsArgs;
use crate::number::{positive, share};
use crate::penalty::{Border, Norm, Penalty};
use crate::serve::ServeArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use kgard::tune::Trend;
use std::path::PathBuf;

/// Robust non-linear regression: fits a smooth function to data and finds the
/// outliers. Image denoising: finds impulses and removes noise.
///
/// Results go to standard output, messages to standard error. Exit code: 0
/// success, 1 failure, 2 usage error, 141 standard output closed by its reader.
#[derive(Debug, Parser)]
#[command(name = "kgard", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print errors only
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Print details of the computation
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
}

impl Cli {
    /// Verbosity.
    pub(crate) fn loudness(&self) -> Loudness {
        match (self.quiet, self.verbose) {
            (true, _) => Loudness::Quiet,
            (false, true) => Loudness::Verbose,
            (false, false) => Loudness::Normal,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  kgard fit data.csv --sigma 0.3 --lambda 0.1 -o model.json
  kgard predict model.json grid.csv -o out.csv
  kgard plan grid.csv --sigma 0.3 --lambda 0.1 -o plan.rs
  kgard clean series.csv -o out.csv
  kgard denoise noisy.png -o clean.png
  kgard serve
  kgard devices
  kgard reproduce table1 --runs 10";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a function to the rows of a CSV file and list the outliers
    Fit(Box<FitArgs>),
    /// Evaluate a saved model at the rows of a CSV file
    Predict(PredictArgs),
    /// Precompute a plan for a device with a fixed sampling grid
    Plan(PlanArgs),
    /// Clean long series: flag outliers, fill gaps, remove noise
    Clean(CleanArgs),
    /// Remove impulses and noise from pictures
    Denoise(DenoiseArgs),
    /// Map the wrong pixels of a sensor from several of its pictures
    Defects(DefectsArgs),
    /// Add noise and impulses to a picture
    Corrupt(CorruptArgs),
    /// Compare pictures: PSNR and SSIM
    Metrics(MetricsArgs),
    /// Run the paper's experiments and compare with its tables
    Reproduce(ReproduceArgs),
    /// Denoise pictures in the browser, with a server on this machine
    Serve(ServeArgs),
    /// List the GPUs
    Devices(DevicesArgs),
    /// Print a script that lets a shell complete command lines
    Completions(CompletionsArgs),
    /// Print or write manual pages
    Man(ManArgs),
}

const FIT_EXAMPLES: &str = "\
Examples:
  kgard fit data.csv
  kgard fit data.csv --target temperature -o model.json --interval 0.95 --plot fit.svg
  kgard fit data.csv --kernel \"matern52 + periodic(24)\" --trend yes
  kgard fit data.csv --sigma 0.3 --lambda 0.1
  kgard fit data.csv --target temperature --sigma 5 --lambda 1 --stop max:2.5 --json
  kgard fit - --sigma 0.3 --lambda 0.1 --refit-lambda 0.01 -o model.json < data.csv
  kgard fit data.csv --sigma 0.3 --lambda 0.1 --predict grid.csv --predictions out.csv
  kgard fit data.csv --sigma 0.3 --lambda 0.1 --plot fit.svg
  kgard fit data.csv --method ram --lambda 0.07 --mu 2.5
  kgard fit stations.csv --target ozone --inputs day,wind --kernel matern52

The file has one row per point. Columns are separated by tabs, semicolons (with
decimal commas, if you like) or commas. The first line is a header unless all of
its cells are numbers or dates; lines that begin with # are comments. Inputs can be
dates (2024-01-31), which count in days, and times (2024-01-31T12:30:00Z), which
count in seconds: lengths and periods are in these. Rows with missing values are
left out. Rows are counted from 0, without the header, wherever an index is printed.

What is not given is taken from the data: a kernel with a length for each input,
lambda, noise, trend and outliers, in any units. Numbers that are given are those
of the paper, in the units of the data. The target is then centred at its median
before the fit, and the bias has the median added, so that the penalty does not
shrink an offset; --raw leaves that out.

Only one result can go to standard output: with `-o -` or `--predictions -` the
summary goes to standard error.";

/// `kgard fit`.
#[derive(Debug, Args)]
#[command(after_help = FIT_EXAMPLES)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The method
    #[arg(long, value_enum, default_value_t = Method::Kgard)]
    pub(crate) method: Method,
    /// Weight of the l1 norm of the outliers in RAM: residuals beyond M/2 are
    /// outliers [default: from the noise in the data]
    #[arg(long, value_name = "M", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) mu: Option<f64>,
    /// Stopping rule: `norm:E` or `max:E` stop when the 2-norm or the largest
    /// magnitude of the residual is at most E, `auto` at a threshold from the
    /// noise [default: auto]
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) stop: Option<StopArg>,
    /// Remove at most K outliers
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) at_most: Option<usize>,
    /// Solve again with this lambda after the search: detection works best with
    /// a large lambda, estimation with a smaller one
    #[arg(long, value_name = "L2", value_parser = positive, allow_negative_numbers = true)]
    pub(crate) refit_lambda: Option<f64>,
    /// A linear trend in addition to the function, for extrapolation [default:
    /// estimated]
    #[arg(long, value_enum, value_name = "WHETHER")]
    trend: Option<TrendArg>,
    /// Take the data as they are: tune without standardising inputs and target (by
    /// medians and robust deviations); with numbers given, fit the target itself, as
    /// the paper does, instead of its deviations from the median
    #[arg(long)]
    pub(crate) raw: bool,
    /// Add uncertainty: standard deviations and prediction intervals of this
    /// probability in predictions, and a band in the plot; tuned models only
    #[arg(long, value_name = "LEVEL", value_parser = share, num_args = 0..=1, default_missing_value = "0.95")]
    pub(crate) interval: Option<f64>,
    /// Save the model, for `kgard predict`
    #[arg(short, long, value_name = "MODEL.json")]
    pub(crate) output: Option<PathBuf>,
    /// Also evaluate the function at the rows of this file
    #[arg(long, value_name = "GRID.csv", requires = "predictions")]
    pub(crate) predict: Option<PathBuf>,
    /// Write the predictions to this file
    #[arg(long, value_name = "OUT.csv", requires = "predict")]
    pub(crate) predictions: Option<PathBuf>,
    /// Plot the data, the function and the outliers: SVG or PNG by the extension
    #[arg(long, value_name = "FIT.svg|FIT.png")]
    pub(crate) plot: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) penalty: PenaltyArgs,
}

/// Linear trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TrendArg {
    /// Estimated, with a prior on its slopes
    Auto,
    /// Without a penalty on slopes
    Yes,
    /// None
    No,
}

impl FitArgs {
    /// The requested trend.
    pub(crate) fn trend(&self) -> Trend {
        match self.trend {
            None | Some(TrendArg::Auto) => Trend::Automatic,
            Some(TrendArg::Yes) => Trend::Free,
            Some(TrendArg::No) => Trend::None,
        }
    }

    /// Options that apply to tuned models only.
    pub(crate) fn tuning_options(&self) -> [(bool, &'static str); 2] {
        [(self.trend.is_some(), "--trend"), (self.interval.is_some(), "--interval")]
    }
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  kgard predict model.json grid.csv -o out.csv
  kgard predict model.json - < grid.csv | head

If the model knows the names of its input columns and the grid has a header,
the columns are found by name and others may stand beside them; else the grid
has the input columns only, in the order of the data. The output is the grid
with one more column, named as the one that was fitted (as `y_predicted` if the
grid has a column `y` already; `prediction` if the data had no names); it always
has a header. Where an input is missing, so is the prediction.";

/// `kgard predict`.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArgs {
    /// A model that `kgard fit -o` saved; `-` is standard input
    #[arg(value_name = "MODEL.json")]
    pub(crate) model: PathBuf,
    /// Where to evaluate it, a CSV file; `-` is standard input
    #[arg(value_name = "GRID.csv")]
    pub(crate) grid: PathBuf,
    /// Add columns with the standard deviation and the prediction interval of this
    /// probability; tuned models only
    #[arg(long, value_name = "LEVEL", value_parser = share, num_args = 0..=1, default_missing_value = "0.95")]
    pub(crate) interval: Option<f64>,
    /// Write the predictions to this file; `-` is standard output
    #[arg(short, long, value_name = "OUT.csv", default_value = "-")]
    pub(crate) output: PathBuf,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  kgard plan grid.csv --sigma 0.3 --lambda 0.1 -o plan.rs
  kgard plan grid.csv --kernel matern52 --sigma 2 --lambda 0.5 --scalar f64 -o plan.bin
  kgard plan grid.csv --sigma 0.3 --lambda 0.1 --regularizer rkhs --half -o plan.h
  kgard plan --from recording.csv -o plan.rs
  kgard plan --from recording.csv --lag 16 -o stream.rs

On the device, `include!(\"plan.rs\")` or `kgard::include_plan!(\"plan.bin\")`; in C and
C++ `#include \"plan.h\"`. With --from the device is simulated on the recording with several
thresholds, and the best is written; the report counts false alarms and misses.";

/// `kgard plan`.
#[derive(Debug, Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub(crate) struct PlanArgs {
    /// The sampling points of the device, a CSV file of inputs only; `-`
    /// is standard input
    #[arg(value_name = "GRID.csv", required_unless_present = "from", conflicts_with = "from")]
    pub(crate) grid: Option<PathBuf>,
    /// The columns of the inputs, in this order [default: all]
    #[arg(long, value_name = "A,B", value_delimiter = ',', conflicts_with = "from")]
    pub(crate) inputs: Vec<String>,
    /// The scalar type of the device; the plan is made in f64 and rounded
    #[arg(long, value_enum, default_value_t = Scalar::F32)]
    pub(crate) scalar: Scalar,
    /// Half the flash, for a regular grid and the RKHS penalty
    #[arg(long, conflicts_with = "lag")]
    pub(crate) half: bool,
    /// Rust source if the name ends in .rs, a C header if in .h, bytes if in .bin
    #[arg(short, long, value_name = "PLAN.rs|PLAN.h|PLAN.bin")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) recording: RecordingArgs,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    #[command(flatten)]
    pub(crate) penalty: PenaltyArgs,
}

/// A recording to learn from.
#[derive(Debug, Args)]
#[command(next_help_heading = "From a recording")]
pub(crate) struct RecordingArgs {
    /// Take length, lambda and threshold from this series, and simulate the device on it
    #[arg(long, value_name = "RECORDING.csv", conflicts_with_all = ["sigma", "lambda", "regularizer"])]
    pub(crate) from: Option<PathBuf>,
    /// Samples in a window that is fitted at once [default: 64]
    #[arg(long, value_name = "N", requires = "from", conflicts_with = "lag")]
    pub(crate) uniform: Option<usize>,
    /// A stream in place of a plan: settings for `FixedLag` with a window of 8, 16, 32 or 64 samples
    #[arg(long, value_name = "L", requires = "from")]
    pub(crate) lag: Option<usize>,
    /// The column of time [default: the first of several]
    #[arg(long, value_name = "COLUMN", requires = "from")]
    pub(crate) time: Option<String>,
    /// The column of values [default: the last]
    #[arg(long, value_name = "COLUMN", requires = "from")]
    pub(crate) target: Option<String>,
    /// A column that is not 0 where a value is known to be wrong; without it the device is held to
    /// a fit of the whole recording
    #[arg(long, value_name = "COLUMN", requires = "from")]
    pub(crate) labels: Option<String>,
    /// Print one JSON object
    #[arg(long, requires = "from")]
    pub(crate) json: bool,
}

/// Scalar types of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scalar {
    /// 32 bits
    F32,
    /// 64 bits
    F64,
}

impl Scalar {
    /// The name in Rust.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Bytes of a number.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::F32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

/// The penalty and its parameter.
#[derive(Debug, Args)]
#[command(next_help_heading = "Penalty")]
pub(crate) struct PenaltyArgs {
    /// The penalty parameter [default of fit: from the data]
    #[arg(long, value_name = "L", value_parser = positive, allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// The penalty [default: l2; rkhs for RAM]
    #[arg(long, value_enum)]
    regularizer: Option<Norm>,
    /// Multiply lambda by F at the first and the last M rows (l2 only)
    #[arg(long, value_name = "M:F", allow_hyphen_values = true)]
    border: Option<Border>,
}

impl PenaltyArgs {
    /// Lambda, if it was given, and the penalty, or `default`.
    pub(crate) fn parts(&self, default: Norm) -> Result<(Option<f64>, Norm, Option<Border>)> {
        let norm = self.regularizer.unwrap_or(default);
        if self.border.is_some() && norm == Norm::Rkhs {
            return Err(Error::usage(
                "--border works with --regularizer l2 only: give that, or drop --border",
            ));
        }
        Ok((self.lambda, norm, self.border))
    }

    /// The options that were given.
    pub(crate) fn options(&self) -> [(bool, &'static str); 3] {
        [
            (self.lambda.is_some(), "--lambda"),
            (self.regularizer.is_some(), "--regularizer"),
            (self.border.is_some(), "--border"),
        ]
    }

    /// Whether lambda differs at the ends of the data.
    pub(crate) fn has_border(&self) -> bool {
        self.border.is_some()
    }

    /// The penalty; lambda must have been given.
    pub(crate) fn given(&self) -> Result<Penalty> {
        let (lambda, norm, border) = self.parts(Norm::L2)?;
        let lambda = lambda.ok_or_else(|| {
            Error::usage(
                "--lambda is not given, and a grid without data has nothing to tune it by: give \
                 the strength of the penalty, for example --lambda 0.1",
            )
        })?;
        Ok(Penalty { lambda, norm, border })
    }
}
