//! What `kgard fit` tells about a fit: a summary, or a JSON object.

use crate::data::Data;
use crate::error::{Error, Result};
use crate::many::Many;
use crate::method::{Method, Solution};
use crate::model::Tuned;
use crate::number::{counted, exact, short};
use crate::parameters::Parameters;
use crate::table::TimeScale;
use crate::text::{visible, visible_json};
use kgard::kernel::AnyKernel;
use kgard::{Outlier, StopReason, Tunable};
use serde::Serialize;
use std::fmt::Write;

/// Outliers that the summary lists, the first ones.
const LISTED: usize = 200;

/// A fit and what it was made of.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) parameters: Parameters,
    pub(crate) data: &'a Data,
    pub(crate) solution: &'a Solution,
    /// What the tuner found, if it did.
    pub(crate) tuned: Option<&'a Tuned>,
    /// The same of very many points.
    pub(crate) many: Option<&'a Many>,
}

/// The JSON object. Scripts rely on its keys.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    parameters: Parameters,
    n: usize,
    inputs: Option<&'a [String]>,
    target: Option<&'a str>,
    /// Units of inputs that are dates or times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    times: Vec<Option<TimeScale>>,
    dropped: Dropped<'a>,
    bias: f64,
    coefficients: &'a [f64],
    outliers: Vec<JsonOutlier>,
    residual_norm: f64,
    iterations: usize,
    stop_reason: &'static str,
    r_squared: f64,
    /// Standard deviation of the noise.
    noise: Option<f64>,
    /// How a fit of very many points was made, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    way: Option<&'a str>,
    /// Root mean square error of the points predicted by the others.
    loo_error: Option<f64>,
    uneven_noise: Option<bool>,
    slopes: Vec<f64>,
    lengths: Option<Vec<f64>>,
    relevance: Option<Vec<f64>>,
    fitted: &'a [f64],
    residual: &'a [f64],
}

/// Rows that were left out, because a value is missing.
#[derive(Serialize)]
struct Dropped<'a> {
    count: usize,
    rows: &'a [usize],
}

/// An outlier: its row in the file, and what it is off by.
#[derive(Serialize)]
struct JsonOutlier {
    index: usize,
    value: f64,
}

impl Report<'_> {
    /// One JSON object on one line.
    pub(crate) fn json(&self) -> Result<String> {
        let solution = self.solution;
        let data = self.data;
        let outlier = |o: &Outlier<f64>| JsonOutlier { index: data.rows[o.index], value: o.value };
        let json = Json {
            parameters: self.parameters.clone(),
            n: data.y.len(),
            inputs: data.input_names.as_deref(),
            target: data.target_name.as_deref(),
            times: data.times_or_nothing(),
            dropped: Dropped { count: data.dropped.len(), rows: &data.dropped },
            bias: solution.bias,
            coefficients: &solution.coefficients,
            outliers: solution.outliers.iter().map(outlier).collect(),
            residual_norm: solution.residual_norm,
            iterations: solution.iterations,
            stop_reason: solution.stop_reason.name(),
            r_squared: self.r_squared()?,
            noise: self.tuned.map(Tuned::noise).or_else(|| Some(self.many?.noise)),
            way: self.many.map(|many| many.way.as_str()),
            loo_error: self.tuned.map(Tuned::left_out_error),
            uneven_noise: self.tuned.map(Tuned::has_uneven_noise),
            slopes: self.tuned.map(Tuned::slopes).unwrap_or_default(),
            lengths: self.tuned.and_then(lengths),
            relevance: self.tuned.map(Tuned::relevance),
            fitted: &solution.fitted,
            residual: &solution.residual,
        };
        let text = serde_json::to_string(&json)
            .map_err(|error| Error::failed(format!("writing JSON: {error}")))?;
        Ok(format!("{}\n", visible_json(&text)))
    }

    /// The summary for people.
    pub(crate) fn summary(&self) -> String {
        let solution = self.solution;
        let mut data = counted(self.data.y.len(), "point");
        let _ = write!(data, ", {}", counted(self.data.dim, "input"));
        if let (Some(inputs), Some(target)) = (&self.data.input_names, &self.data.target_name) {
            let (inputs, target) = (inputs.join(", "), visible(target));
            let _ = write!(data, " ({}), target {target}", visible(&inputs));
        }
        if !self.data.dropped.is_empty() {
            let rows = counted(self.data.dropped.len(), "row");
            let _ = write!(data, "; {rows} with missing values left out");
        }
        let mut rows = vec![
            ("data", data),
            ("method", self.parameters.method.name().to_owned()),
            ("kernel", self.parameters.kernel.to_string()),
            ("penalty", self.parameters.penalty()),
            ("bias", short(solution.bias) + &self.parameters.centred()),
        ];
        if let Some(tuned) = self.tuned {
            rows[2].1 = shown(tuned.kernel());
            let slopes: Vec<String> = tuned.slopes().iter().map(|&b| short(b)).collect();
            if !slopes.is_empty() {
                rows.push(("slopes", slopes.join(", ")));
            }
            if self.data.dim > 1 {
                rows.push(("relevance", self.relevance(tuned)));
            }
            let uneven = if tuned.has_uneven_noise() { ", depends on the inputs" } else { "" };
            rows.push(("noise", format!("{}{uneven}", short(tuned.noise()))));
            rows.push(("left-out error", short(tuned.left_out_error())));
        } else if let Some(many) = self.many {
            rows[2].1 = shown(&many.kernel);
            rows.insert(2, ("way", many.way.clone()));
            rows.push(("noise", short(many.noise)));
        } else {
            rows.push(("residual norm", short(solution.residual_norm)));
            rows.push(("iterations", solution.iterations.to_string()));
        }
        rows.push(("R squared", self.r_squared().map_or_else(|_| "-".into(), short)));
        rows.push(("stopped", self.why()));
        rows.push(("outliers", solution.outliers.len().to_string()));
        let mut text = String::new();
        for (what, value) in rows {
            let _ = writeln!(text, "{what:<14} {value}");
        }
        if !solution.outliers.is_empty() {
            text.push('\n');
            text.push_str(&aligned(&self.outliers()));
            let more = solution.outliers.len().saturating_sub(LISTED);
            if more > 0 {
                let _ = writeln!(text, "  and {more} more: --json has all of them");
            }
        }
        text
    }

    /// Of the tuned model in its own units, else of what is reported.
    fn r_squared(&self) -> Result<f64> {
        let Self { data, solution, tuned, .. } = self;
        let given =
            || kgard::regression::r_squared(&data.y, &solution.residual, &solution.outliers);
        Ok(tuned.map_or_else(given, |tuned| Ok(tuned.r_squared()))?)
    }

    /// How much each input matters, by its name.
    fn relevance(&self, tuned: &Tuned) -> String {
        let shares = tuned.relevance();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let name = |j: usize| match &self.data.input_names {
            Some(names) => visible(&names[j]).into_owned(),
            None => format!("x{}", j + 1),
        };
        let words = order.iter().map(|&j| format!("{} {:.0} %", name(j), 100.0 * shares[j]));
        words.collect::<Vec<_>>().join(", ")
    }

    /// A row per outlier, after a row of titles.
    fn outliers(&self) -> Vec<Vec<String>> {
        let data = self.data;
        let mut titles = vec!["row (from 0)".to_owned()];
        match &data.input_names {
            Some(names) => titles.extend(names.iter().map(|name| visible(name).into_owned())),
            None if data.dim == 1 => titles.push("x".into()),
            None => titles.extend((1..=data.dim).map(|column| format!("x{column}"))),
        }
        titles.push("off by".into());
        let mut rows = vec![titles];
        for outlier in self.solution.outliers.iter().take(LISTED) {
            let mut row = vec![data.rows[outlier.index].to_string()];
            let point = &data.inputs[outlier.index * data.dim..][..data.dim];
            row.extend(point.iter().zip(&data.times).map(|(&x, time)| match time {
                Some(time) => time.show(x),
                None => exact(x),
            }));
            row.push(short(outlier.value));
            rows.push(row);
        }
        rows
    }

    fn why(&self) -> String {
        if self.parameters.method == Method::Krr {
            return "at once: krr looks for no outliers".into();
        }
        let reason = self.solution.stop_reason;
        let words = match reason {
            StopReason::ResidualNorm => "the norm of the residual is small enough",
            StopReason::MaxResidual => "the largest residual is small enough",
            StopReason::Automatic => "no residual stands out any more",
            StopReason::Cap => "as many outliers as allowed were taken out",
            StopReason::Exhausted => "nothing is left to take out",
            StopReason::Tolerance => "nothing changes any more",
            StopReason::IterationLimit => "it took too long; the result is not final",
            _ => return reason.to_string(),
        };
        format!("{reason}: {words}")
    }
}

/// The lengths of a kernel of the distance, one per input.
fn lengths(tuned: &Tuned) -> Option<Vec<f64>> {
    let lengths = tuned.kernel().as_radial()?.lengths().to_vec();
    Some(if lengths.len() == 1 { vec![lengths[0]; tuned.relevance().len()] } else { lengths })
}

/// A kernel with as many digits as people read.
fn shown(kernel: &AnyKernel<f64>) -> String {
    let mut kernel = kernel.clone();
    for i in 0..kernel.parameters() {
        if let Ok(rounded) = short(kernel.parameter(i)).parse() {
            kernel.set_parameter(i, rounded);
        }
    }
    kernel.with_all_kept().to_string()
}

/// Columns of the same width, flush right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (cell, &width) in row.iter().zip(&widths) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
    text
}
