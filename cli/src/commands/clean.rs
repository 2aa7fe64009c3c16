//! `kgard clean`: long series in, cleaned values, flags and intervals out.

use crate::error::{Error, Result};
use crate::input::Source;
use crate::line::{self, Family, Samples};
use crate::messages::{instead_of_stdout, message, note};
use crate::metrics::json;
use crate::number::{counted, short};
use crate::output::{Staged, is_stdout, to_stdout};
use crate::prediction::{shortest, with_columns};
use crate::progress::{Progress, Work};
use crate::table::{Content, Missing, Table};
use crate::text::visible;
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  kgard clean series.csv -o out.csv
  kgard clean series.csv --time x --values temperature -o out.csv --json
  kgard clean - < series.csv | head

Each value column is a smooth function of time with noise and wrong values; how smooth
and how noisy is taken from the data. A cell that is empty, NA, NaN or null is a missing
value. The output has the columns of the input as they are, and behind them for each
value column v:

  v_clean     v, but the function where v is an outlier or missing
  v_outlier   1 if v is an outlier, else 0
  v_smooth    the function
  v_low       the interval of the function
  v_high

A series takes time in proportion to its length: a million values some ten seconds.";

/// Names of the new columns, behind that of the value column.
const NEW: [&str; 5] = ["_clean", "_outlier", "_smooth", "_low", "_high"];

/// `kgard clean`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CleanArgs {
    /// The series, a CSV file; `-` is standard input
    #[arg(value_name = "SERIES.csv")]
    series: PathBuf,
    /// Write the cleaned series to this file; `-` is standard output
    #[arg(short, long, value_name = "OUT.csv", default_value = "-")]
    output: PathBuf,
    /// The column of time, by name or by number from 1 [default: the first]
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// The columns of values, separated by commas [default: all others]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    values: Vec<String>,
    /// Rows with the same entry in this column are one series
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// A column of positive weights, one per row: 1 / variance of its noise
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// The kernel, which sets how smooth the function is; `auto` tries all three
    #[arg(long, value_enum, default_value_t = Smoothness::Matern32)]
    kernel: Smoothness,
    /// The probability that the function is in its interval
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = probability)]
    interval: f64,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
}

/// Kernels with a state-space form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Smoothness {
    /// Continuous, not differentiable
    Matern12,
    /// Differentiable once
    Matern32,
    /// Differentiable twice
    Matern52,
    /// The one of least description length
    Auto,
}

impl Smoothness {
    /// None: any.
    fn family(self) -> Option<Family> {
        match self {
            Self::Matern12 => Some(Family::Matern12),
            Self::Matern32 => Some(Family::Matern32),
            Self::Matern52 => Some(Family::Matern52),
            Self::Auto => None,
        }
    }
}

fn probability(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if p > 0.0 && p < 1.0 => Ok(p),
        Ok(_) => Err("it must be between 0 and 1".into()),
        Err(_) => Err("it is not a number".into()),
    }
}

/// One column of one series.
struct Task {
    /// Rows of the table.
    rows: Vec<usize>,
    samples: Samples,
    /// Which of the value columns.
    column: usize,
    key: Option<String>,
}

/// Result of a task.
struct Cleaned {
    smooth: Vec<f64>,
    intervals: Vec<(f64, f64)>,
    outliers: Vec<usize>,
    report: Report,
}

/// Report on a series.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    column: String,
    n: usize,
    missing: usize,
    outliers: usize,
    kernel: &'static str,
    length: f64,
    lambda: f64,
    noise: f64,
}

#[derive(Debug, Serialize)]
struct Summary {
    series: Vec<Report>,
}

/// Runs the command.
pub(super) fn run(args: &CleanArgs) -> Result<()> {
    let table = Table::read(Source::new(&args.series))?;
    let columns = Columns::new(args, &table)?;
    let tasks = columns.tasks(&table)?;
    let name = |task: &Task| columns.names[task.column].as_str();
    let total: usize = tasks.iter().map(|task| task.rows.len()).sum();
    // One series has no parts to count; its time is shown.
    let bar = (tasks.len() > 1).then(|| Progress::begin(total as u64));
    let work = (tasks.len() == 1).then(|| Work::begin(format!("cleaning {total} values")));
    let clean = |task| clean(task, args, name(task), &table, bar.as_ref().map(Progress::bar));
    let cleaned: Vec<Option<Cleaned>> = tasks.par_iter().map(clean).collect();
    drop((bar, work));

    let mut staged = Staged::default();
    staged.add(&args.output, columns.written(&table, &tasks, &cleaned)?)?;
    staged.commit()?;
    let series = cleaned.into_iter().flatten().map(|cleaned| cleaned.report).collect();
    report(args, &Summary { series })
}

fn report(args: &CleanArgs, summary: &Summary) -> Result<()> {
    let text = if args.json {
        json(summary)?
    } else {
        summary.series.iter().map(|series| series.described() + "\n").collect()
    };
    match (is_stdout(&args.output), args.json) {
        (true, true) => instead_of_stdout(&text),
        (true, false) => message(text.trim_end()),
        (false, _) => to_stdout(text.as_bytes())?,
    }
    Ok(())
}

impl Report {
    fn described(&self) -> String {
        let key = self.key.as_ref().map_or_else(String::new, |key| format!("{key}, "));
        let series = format!("{key}{}", self.column);
        format!(
            "{}: {} of {}, {} missing, noise {}, {} of length {}, lambda {}",
            visible(&series),
            counted(self.outliers, "outlier"),
            counted(self.n, "value"),
            self.missing,
            short(self.noise),
            self.kernel,
            short(self.length),
            short(self.lambda),
        )
    }
}

/// Roles of the columns.
struct Columns {
    /// None: the number of the row.
    time: Option<usize>,
    values: Vec<usize>,
    by: Option<usize>,
    weights: Option<usize>,
    /// Of all columns.
    header: Vec<String>,
    /// Of the values.
    names: Vec<String>,
}

impl Columns {
    fn new(args: &CleanArgs, table: &Table) -> Result<Self> {
        let by = args.by.as_ref().map(|name| table.column(name)).transpose()?;
        let weights = args.weights.as_ref().map(|name| table.column(name)).transpose()?;
        let is_other = |c: usize| Some(c) == by || Some(c) == weights;
        let others = usize::from(by.is_some()) + usize::from(weights.is_some());
        let time = match &args.time {
            Some(name) => Some(table.column(name)?),
            // A single column has no time.
            None => {
                (0..table.width()).find(|&c| !is_other(c)).filter(|_| table.width() > 1 + others)
            }
        };
        let mut values: Vec<usize> =
            args.values.iter().map(|name| table.column(name)).collect::<Result<_>>()?;
        if values.is_empty() {
            values = (0..table.width()).filter(|&c| Some(c) != time && !is_other(c)).collect();
        }
        let header = match table.header() {
            Some(names) => names.to_vec(),
            None => (1..=table.width()).map(|column| format!("x{column}")).collect(),
        };
        let fail = |what: String| Err(Error::failed(format!("{}: {what}", table.name())));
        if values.is_empty() {
            return fail("there is no column of values beside that of time: give one".into());
        }
        for (i, &column) in values.iter().enumerate() {
            if Some(column) == time || is_other(column) || values[..i].contains(&column) {
                return fail(format!(
                    "column {} is asked for twice: give each of --time, --values, --by and --weights \
                     another one",
                    header[column]
                ));
            }
            for new in NEW.map(|new| header[column].clone() + new) {
                if header.contains(&new) {
                    return fail(format!("there is a column {new:?} already: rename it"));
                }
            }
        }
        let names = values.iter().map(|&column| header[column].clone()).collect();
        Ok(Self { time, values, by, weights, header, names })
    }

    /// Every value column of every series.
    fn tasks(&self, table: &Table) -> Result<Vec<Task>> {
        let time = match self.time {
            Some(column) => {
                table.read_columns(&[column], &[Content::Input], Missing::Error)?.values
            }
            None => (0..table.len()).map(|row| row as f64).collect(),
        };
        let values: Vec<Vec<f64>> =
            self.values.iter().map(|&column| values(table, column)).collect::<Result<_>>()?;
        let weights = self.weights.map(|column| weights(table, column)).transpose()?;
        let mut series: Vec<(Option<String>, Vec<usize>)> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for row in 0..table.len() {
            let key = self.by.map(|by| table.cell(row, by));
            let at = *known.entry(key.unwrap_or_default()).or_insert_with(|| {
                series.push((key.map(str::to_owned), Vec::new()));
                series.len() - 1
            });
            series[at].1.push(row);
        }
        let mut tasks = Vec::new();
        for (key, rows) in series {
            for (column, values) in values.iter().enumerate() {
                let of = |all: &[f64]| rows.iter().map(|&row| all[row]).collect::<Vec<f64>>();
                let weights = weights.as_ref().map(|weights| of(weights));
                let samples = Samples::new(of(&time), of(values), weights.as_deref());
                tasks.push(Task { rows: rows.clone(), samples, column, key: key.clone() });
            }
        }
        Ok(tasks)
    }

    /// The table with the new columns.
    fn written(
        &self,
        table: &Table,
        tasks: &[Task],
        cleaned: &[Option<Cleaned>],
    ) -> Result<Vec<u8>> {
        // Of each row and column of values: which task, and which of its rows.
        let mut places = vec![(0, 0); table.len() * self.values.len()];
        let mut wrong: Vec<Vec<bool>> = Vec::with_capacity(tasks.len());
        for (at, (task, cleaned)) in tasks.iter().zip(cleaned).enumerate() {
            for (i, &row) in task.rows.iter().enumerate() {
                places[row * self.values.len() + task.column] = (at, i);
            }
            let mut flags = vec![false; task.rows.len()];
            for &i in cleaned.iter().flat_map(|cleaned| &cleaned.outliers) {
                flags[i] = true;
            }
            wrong.push(flags);
        }
        let new = self.names.iter().flat_map(|name| NEW.map(|new| name.clone() + new));
        let header: Vec<String> = self.header.iter().cloned().chain(new).collect();
        with_columns(table, &header, |row, column| {
            let (at, i) = places[row * self.values.len() + column / NEW.len()];
            let y = tasks[at].samples.y[i];
            let is_wrong = wrong[at][i];
            let cleaned = cleaned[at].as_ref();
            match NEW[column % NEW.len()] {
                "_outlier" => Some(u8::from(is_wrong).to_string()),
                "_clean" if !is_wrong && !y.is_nan() => Some(shortest(y)),
                "_low" => cleaned.map(|cleaned| shortest(cleaned.intervals[i].0)),
                "_high" => cleaned.map(|cleaned| shortest(cleaned.intervals[i].1)),
                _ => cleaned.map(|cleaned| shortest(cleaned.smooth[i])),
            }
        })
    }
}

/// The numbers in a column; NaN where there is none.
fn values(table: &Table, column: usize) -> Result<Vec<f64>> {
    let read = table.read_columns(&[column], &[Content::Numbers], Missing::Drop)?;
    let mut values = vec![f64::NAN; table.len()];
    for (&row, &value) in read.rows.iter().zip(&read.values) {
        values[row] = value;
    }
    Ok(values)
}

/// A column of weights.
fn weights(table: &Table, column: usize) -> Result<Vec<f64>> {
    let weights = table.numbers(&[column])?;
    match weights.iter().position(|&weight| !(weight > 0.0)) {
        None => Ok(weights),
        Some(row) => Err(Error::failed(format!(
            "{}: {}: the weight {} is not positive: correct it or remove the row",
            table.name(),
            table.at(row, column),
            weights[row]
        ))),
    }
}

/// Cleans one series; `None`, with a warning, if it has too few values.
fn clean(
    task: &Task,
    args: &CleanArgs,
    column: &str,
    table: &Table,
    progress: Option<&ProgressBar>,
) -> Option<Cleaned> {
    let cleaned = fitted(task, args, column);
    let cleaned = cleaned
        .inspect_err(|error| {
            let key = task.key.as_ref().map_or_else(String::new, |key| format!("{key}, "));
            let series = format!("{}: {key}{column}", table.name());
            note(&format!("{}: left as it is: {error}", visible(&series)));
        })
        .ok();
    if let Some(progress) = progress {
        progress.inc(task.rows.len() as u64);
    }
    cleaned
}

/// The function of a series, tuned.
fn fitted(
    task: &Task,
    args: &CleanArgs,
    column: &str,
) -> std::result::Result<Cleaned, kgard::Error> {
    let samples = &task.samples;
    let chosen = line::choose(samples, args.kernel.family(), &|_| ())?;
    let function = chosen.fit(samples)?;
    let predicted = samples.x.iter().map(|&x| function.at(x));
    let predicted: Vec<_> = predicted.collect::<std::result::Result<_, _>>()?;
    let intervals = predicted.iter().map(|at| at.interval(args.interval));
    let intervals: Vec<(f64, f64)> = intervals.collect::<std::result::Result<_, _>>()?;
    let report = Report {
        key: task.key.clone(),
        column: column.to_owned(),
        n: samples.y.len(),
        missing: samples.y.iter().filter(|y| y.is_nan()).count(),
        outliers: chosen.outliers().len(),
        kernel: chosen.family.name(),
        length: chosen.length,
        lambda: chosen.lambda,
        noise: function.noise(),
    };
    Ok(Cleaned {
        smooth: predicted.iter().map(|at| at.mean).collect(),
        intervals,
        outliers: chosen.outliers().to_vec(),
        report,
    })
}
