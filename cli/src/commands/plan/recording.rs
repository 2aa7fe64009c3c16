//! `kgard plan --from`: length, λ and threshold from a recording, the device simulated on it, and
//! what it has in flash.

use super::{Form, flash, form, rounded, title, write};
use crate::args::{PlanArgs, RecordingArgs, Scalar};
use crate::error::{Error, Result};
use crate::input::Source;
use crate::kernel::Choice;
use crate::memory::check_room;
use crate::messages::message;
use crate::metrics::json;
use crate::number::{counted, short};
use crate::output::{Staged, to_stdout};
use crate::table::{Content, Missing, Table};
use kgard::kernel::AnyKernel;
use kgard::line::{FixedLag, LineTuner};
use kgard::{Matern32, Plan, PlanRef, Regularizer, Stop, StopRule, Stored, Workspace};
use serde::Serialize;
use std::path::Path;

/// Samples of a window, unless told otherwise.
const WINDOW: usize = 64;
/// Samples of a window for each outlier that a fit has room for.
const SAMPLES_PER_OUTLIER: usize = 8;
/// Thresholds that are tried, in standard deviations of the noise; of equals the first is taken.
const THRESHOLDS: [f64; 6] = [4.0, 3.5, 5.0, 3.0, 6.0, 8.0];
/// λ of a stream in `f32` at least.
const LEAST_LAMBDA: f64 = 1e-4;
/// A grid is regular if no gap differs by more than this share.
const UNEVEN: f64 = 0.05;
/// Lengths of the window that a stream is simulated with.
const LAGS: &str = "8, 16, 32 or 64";

/// A recording.
struct Series {
    time: Vec<f64>,
    /// NaN where there is none.
    y: Vec<f64>,
    labels: Option<Vec<bool>>,
}

/// What was learned from it.
struct Learned {
    /// The distance of samples.
    interval: f64,
    length: f64,
    lambdas: [f64; 2],
    noise: f64,
    /// What is right.
    outliers: Vec<bool>,
}

/// One way to set the device up, and how it did.
#[derive(Debug, Clone, Serialize)]
struct Report {
    /// `stream` or `plan`.
    kind: &'static str,
    n: usize,
    scalar: &'static str,
    interval: f64,
    length: f64,
    lambda: f64,
    noise: f64,
    /// In standard deviations of the noise; none with the automatic rule.
    threshold: Option<f64>,
    /// Samples that the device has judged.
    judged: usize,
    /// Of these, those that are outliers: by the labels, or by the fit of the whole recording.
    outliers: usize,
    false_alarms: usize,
    misses: usize,
    flash_bytes: usize,
    ram_bytes: usize,
}

impl Report {
    fn wrong(&self) -> usize {
        self.false_alarms + self.misses
    }

    fn described(&self, learned_from: &str) -> String {
        let threshold = self.threshold.map_or_else(
            || "rule: Stop::automatic()".to_owned(),
            |threshold| format!("threshold {} deviations", short(threshold)),
        );
        format!(
            "noise {}, length {}, lambda {}, {threshold}\n\
             simulated in {} on {}: {}, {} of {} missed ({learned_from})\n\
             {}",
            short(self.noise),
            short(self.length),
            short(self.lambda),
            self.scalar,
            counted(self.judged, "sample"),
            counted(self.false_alarms, "false alarm"),
            self.misses,
            counted(self.outliers, "outlier"),
            self.memory(),
        )
    }

    fn memory(&self) -> String {
        let (flash, ram) = (self.flash_bytes, self.ram_bytes);
        if flash == 0 {
            format!("RAM at most {ram} bytes, nothing but code in flash")
        } else {
            format!("flash {flash} bytes, RAM {ram} bytes")
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &PlanArgs, recording: &Path) -> Result<()> {
    let form = form(args)?;
    if args.recording.lag.is_some() && form == Form::Bytes {
        return Err(Error::usage("a stream has no plan: -o takes .rs or .h with --lag"));
    }
    let table = Table::read(Source::new(recording))?;
    let series = Series::read(&args.recording, &table)?;
    let learned = Learned::new(&series)?;
    let from_labels = series.labels.is_some();
    let (report, bytes) = match args.recording.lag {
        Some(lag) => stream(args, &series, &learned, lag, form)?,
        None => plan(args, &series, &learned, form)?,
    };
    let mut staged = Staged::default();
    staged.add(&args.output, bytes)?;
    staged.commit()?;
    let learned_from =
        if from_labels { "by the labels" } else { "by a fit of the whole recording" };
    message(&format!("{}:\n{}", args.output.display(), report.described(learned_from)));
    if args.recording.json {
        to_stdout(json(&report)?.as_bytes())?;
    }
    Ok(())
}

impl Series {
    fn read(args: &RecordingArgs, table: &Table) -> Result<Self> {
        let labels = args.labels.as_ref().map(|name| table.column(name)).transpose()?;
        let time = args.time.as_ref().map(|name| table.column(name)).transpose()?;
        let free: Vec<usize> = (0..table.width()).filter(|&c| Some(c) != labels).collect();
        let time = time.or_else(|| free.first().copied().filter(|_| free.len() > 1));
        let value = match &args.target {
            Some(name) => table.column(name)?,
            None => free.iter().copied().rfind(|&c| Some(c) != time).ok_or_else(|| {
                Error::failed(format!("{}: there is no column of values", table.name()))
            })?,
        };
        let y = optional(table, value)?;
        let time = match time {
            Some(c) => table.read_columns(&[c], &[Content::Input], Missing::Error)?.values,
            None => (0..table.len()).map(|row| row as f64).collect(),
        };
        let labels = labels.map(|c| table.numbers(&[c])).transpose()?;
        let labels = labels.map(|labels| labels.iter().map(|&label| label != 0.0).collect());
        Ok(Self { time, y, labels })
    }
}

/// The numbers in a column; NaN where there is none.
fn optional(table: &Table, column: usize) -> Result<Vec<f64>> {
    let read = table.read_columns(&[column], &[Content::Numbers], Missing::Drop)?;
    let mut values = vec![f64::NAN; table.len()];
    for (&row, &value) in read.rows.iter().zip(&read.values) {
        values[row] = value;
    }
    Ok(values)
}

impl Learned {
    fn new(series: &Series) -> Result<Self> {
        let mut gaps: Vec<f64> = series.time.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if gaps.iter().any(|gap| !(*gap > 0.0)) {
            return Err(Error::failed("the times of a recording must increase: sort it"));
        }
        gaps.sort_by(f64::total_cmp);
        let interval = gaps.get(gaps.len() / 2).copied().unwrap_or(1.0);
        let tuner = LineTuner::new(&series.time, Matern32::new)?;
        let tuned = tuner.tune(&series.y)?;
        let fit = tuner.fit_tuned(&series.y, &tuned)?;
        let outliers = series.labels.clone().unwrap_or_else(|| {
            let mut flags = vec![false; series.y.len()];
            fit.support().iter().for_each(|&i| flags[i] = true);
            flags
        });
        let lambdas = [tuned.lambda, tuned.search_lambda];
        Ok(Self { interval, length: tuned.length, lambdas, noise: fit.noise(), outliers })
    }

    fn report(&self, kind: &'static str, n: usize, scalar: Scalar) -> Report {
        Report {
            kind,
            n,
            scalar: scalar.name(),
            interval: self.interval,
            length: self.length,
            lambda: self.lambdas[0],
            noise: self.noise,
            threshold: None,
            judged: 0,
            outliers: 0,
            false_alarms: 0,
            misses: 0,
            flash_bytes: 0,
            ram_bytes: 0,
        }
    }
}

/// Counts what a device has flagged.
fn count(report: &mut Report, found: impl Iterator<Item = (bool, bool)>) {
    for (flagged, is_outlier) in found {
        report.judged += 1;
        report.outliers += usize::from(is_outlier);
        report.false_alarms += usize::from(flagged && !is_outlier);
        report.misses += usize::from(is_outlier && !flagged);
    }
}

/// The stream that errs least.
fn stream(
    args: &PlanArgs,
    series: &Series,
    learned: &Learned,
    lag: usize,
    form: Form,
) -> Result<(Report, Vec<u8>)> {
    let mut best: Option<Report> = None;
    for lambda in learned.lambdas {
        for threshold in THRESHOLDS {
            let mut report = learned.report("stream", lag, args.scalar);
            report.lambda = lambda.max(LEAST_LAMBDA);
            report.threshold = Some(threshold);
            match (args.scalar, lag) {
                (Scalar::F32, 8) => simulate::<f32, 8>(series, learned, &mut report),
                (Scalar::F32, 16) => simulate::<f32, 16>(series, learned, &mut report),
                (Scalar::F32, 32) => simulate::<f32, 32>(series, learned, &mut report),
                (Scalar::F32, 64) => simulate::<f32, 64>(series, learned, &mut report),
                (Scalar::F64, 8) => simulate::<f64, 8>(series, learned, &mut report),
                (Scalar::F64, 16) => simulate::<f64, 16>(series, learned, &mut report),
                (Scalar::F64, 32) => simulate::<f64, 32>(series, learned, &mut report),
                (Scalar::F64, 64) => simulate::<f64, 64>(series, learned, &mut report),
                _ => return Err(Error::usage(format!("--lag {lag}: it can be {LAGS}"))),
            }?;
            if best.as_ref().is_none_or(|best| report.wrong() < best.wrong()) {
                best = Some(report);
            }
        }
    }
    let report = best.ok_or_else(|| Error::failed("no threshold was tried"))?;
    let source = match form {
        Form::Header => stream_header(&report, args),
        _ => stream_source(&report),
    };
    Ok((report, source.into_bytes()))
}

/// Runs a stream over the recording.
fn simulate<T: Stored, const L: usize>(
    series: &Series,
    learned: &Learned,
    report: &mut Report,
) -> Result<()> {
    let scalar = |x: f64| T::from(x).unwrap_or_else(T::nan);
    // The unit of distance is that of the samples.
    let length = scalar(report.length / learned.interval);
    let threshold = scalar(report.threshold.unwrap_or(THRESHOLDS[0]));
    let mut stream = FixedLag::<T, _, 2, L>::new(
        Matern32::new(length),
        scalar(report.lambda),
        scalar(report.noise),
    )?
    .with_threshold(threshold)?;
    let mut flags = Vec::new();
    let mut before = series.time.first().copied().unwrap_or_default();
    for (&time, &y) in series.time.iter().zip(&series.y) {
        let distance = scalar((time - before) / learned.interval);
        before = time;
        flags.extend(stream.push_after(distance, scalar(y))?);
    }
    flags.extend(core::iter::from_fn(|| stream.drain()));
    let judged = flags.iter().zip(&learned.outliers).filter(|(cleaned, _)| !cleaned.missing);
    count(report, judged.map(|(cleaned, &is_outlier)| (cleaned.outlier, is_outlier)));
    report.ram_bytes = size_of_val(&stream);
    Ok(())
}

fn stream_lines(report: &Report) -> [String; 3] {
    [
        format!("Made by `kgard plan --from`: a stream with a window of {} samples.", report.n),
        format!(
            "Distances in units of {}; noise {}, length {}, lambda {}.",
            short(report.interval),
            short(report.noise),
            short(report.length / report.interval),
            short(report.lambda)
        ),
        format!(
            "On the recording: {} and {} of {} missed.",
            counted(report.false_alarms, "false alarm"),
            report.misses,
            counted(report.outliers, "outlier")
        ),
    ]
}

fn stream_source(report: &Report) -> String {
    let lines = stream_lines(report).map(|line| format!("// {line}\n")).concat();
    let Report { n, scalar, lambda, noise, .. } = report;
    let (length, threshold) = (report.length / report.interval, report.threshold.unwrap_or(4.0));
    format!(
        "{lines}\n/// The stream.\n\
         pub type Stream = kgard::line::FixedLag<{scalar}, kgard::Matern32<{scalar}>, 2, {n}>;\n\n\
         /// The stream with its settings; a push takes one sample.\n\
         pub fn stream() -> Result<Stream, kgard::Error> {{\n    \
             Stream::new(kgard::Matern32::new({length:e}), {lambda:e}, {noise:e})?\
             .with_threshold({threshold:?})\n}}\n"
    )
}

fn stream_header(report: &Report, args: &PlanArgs) -> String {
    let stem = args.output.file_stem().unwrap_or_default().to_string_lossy();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let [first, second, third] = stream_lines(report);
    let (upper, n) = (name.to_uppercase(), report.n);
    let (length, threshold) = (report.length / report.interval, report.threshold.unwrap_or(4.0));
    format!(
        "/* {first}\n   {second}\n   {third}\n\n   \
            static KGARD_STREAM_MEMORY(memory, KGARD_STREAM_MATERN32_LAG{n});\n   \
            kgard_stream *stream;\n   \
            kgard_stream_matern32_lag{n}(memory, sizeof memory, &{name}_settings, &stream); */\n\n\
         #ifndef {upper}_H\n#define {upper}_H\n\n#include \"kgard.h\"\n\n\
         static const kgard_stream_settings {name}_settings = {{\n    \
            {length:e}f, /* length */\n    {:e}f, /* lambda */\n    {:e}f, /* noise */\n    \
            1.0f, /* interval */\n    {threshold:?}f, /* threshold */\n    \
            0.0f, /* drift */\n    0.0f, /* noise floor */\n}};\n\n#endif\n",
        report.lambda, report.noise,
    )
}

/// The plan and the rule that err least.
fn plan(
    args: &PlanArgs,
    series: &Series,
    learned: &Learned,
    form: Form,
) -> Result<(Report, Vec<u8>)> {
    let n = args.recording.uniform.unwrap_or(WINDOW);
    check_room(n)?;
    check_regular(series, learned)?;
    if series.y.len() < n {
        let (samples, window) = (counted(series.y.len(), "sample"), counted(n, "sample"));
        return Err(Error::failed(format!("{samples} are no window of {window}: record more")));
    }
    let grid: Vec<f64> = (0..n).map(|i| i as f64 * learned.interval).collect();
    let kernel = Choice::new(kernel_of(learned.length)?);
    let mut best: Option<(Report, Plan<f64, AnyKernel<f64>>)> = None;
    for lambda in learned.lambdas {
        let plan = Plan::new(&grid, kernel.kernel::<f64>()?, Regularizer::rkhs(lambda))?;
        for threshold in [None].into_iter().chain(THRESHOLDS.map(Some)) {
            let mut report = learned.report("plan", n, args.scalar);
            (report.lambda, report.threshold) = (lambda, threshold);
            match args.scalar {
                Scalar::F32 => fit_windows(&rounded(&plan, &kernel)?, series, learned, &mut report),
                Scalar::F64 => fit_windows(&plan, series, learned, &mut report),
            }?;
            if best.as_ref().is_none_or(|(best, _)| report.wrong() < best.wrong()) {
                best = Some((report, plan.clone()));
            }
        }
    }
    let (mut report, plan) = best.ok_or_else(|| Error::failed("no threshold was tried"))?;
    let rule = report.threshold.map_or_else(
        || "Stop::automatic()".to_owned(),
        |threshold| format!("Stop::max_residual({:e})", threshold * report.noise),
    );
    let more = format!(
        "Rule: {rule}.\nOn the recording: {} and {} of {} missed.",
        counted(report.false_alarms, "false alarm"),
        report.misses,
        counted(report.outliers, "outlier"),
    );
    let penalty = format!("rkhs, lambda {}", short(report.lambda));
    let title = format!("{}\n{more}", title(n, 1, args.scalar, &kernel, &penalty));
    let bytes = write(&plan, &kernel, form, args, &title)?;
    report.flash_bytes = flash(n, 1, n, args);
    Ok((report, bytes))
}

/// The kernel that the recording was tuned with.
fn kernel_of(length: f64) -> Result<AnyKernel<f64>> {
    let parsed = format!("matern32({length:?})").parse();
    parsed.map_err(|why| Error::failed(format!("length {length}: {why}")))
}

fn check_regular(series: &Series, learned: &Learned) -> Result<()> {
    let uneven =
        |pair: &&[f64]| (pair[1] - pair[0] - learned.interval).abs() > UNEVEN * learned.interval;
    match series.time.windows(2).find(uneven) {
        None => Ok(()),
        Some(pair) => Err(Error::failed(format!(
            "the samples are not evenly spaced: {} follows {}, where most are {} apart; a plan \
             takes a regular grid, a stream (--lag 16) any",
            short(pair[1]),
            short(pair[0]),
            short(learned.interval)
        ))),
    }
}

/// Fits the windows of the recording, one after the other; those with gaps are left out.
fn fit_windows<T: Stored>(
    plan: &Plan<T, AnyKernel<T>>,
    series: &Series,
    learned: &Learned,
    report: &mut Report,
) -> Result<()> {
    let n = plan.len();
    let cap = n.div_ceil(SAMPLES_PER_OUTLIER);
    let scalar = |x: &f64| T::from(*x).unwrap_or_else(T::nan);
    let mut scalars = vec![T::zero(); Workspace::<T>::len(n, cap)];
    let mut indices = vec![0; cap];
    for (y, right) in series.y.chunks_exact(n).zip(learned.outliers.chunks_exact(n)) {
        if y.iter().any(|y| y.is_nan()) {
            continue;
        }
        let y: Vec<T> = y.iter().map(scalar).collect();
        let work = Workspace::new(n, &mut scalars, &mut indices)?;
        let flags = match report.threshold {
            None => flags(plan.as_ref(), &y, Stop::automatic(), work)?,
            Some(threshold) => {
                let rule = Stop::max_residual(scalar(&(threshold * report.noise)));
                flags(plan.as_ref(), &y, rule, work)?
            }
        };
        count(report, flags.into_iter().zip(right.iter().copied()));
    }
    // Of a 32-bit device.
    report.ram_bytes = size_of_val(scalars.as_slice()) + 4 * cap;
    Ok(())
}

fn flags<'w, T: Stored>(
    plan: PlanRef<'w, T>,
    y: &'w [T],
    rule: impl StopRule<T>,
    work: Workspace<'w, T>,
) -> Result<Vec<bool>> {
    let mut flags = vec![false; y.len()];
    plan.fit(y, rule, work)?.outliers().for_each(|outlier| flags[outlier.index] = true);
    Ok(flags)
}
