//! What `kgard fit` tells about a fit: a summary, or a JSON object.

use crate::error::{Error, Result};
use crate::method::{Method, Solution};
use crate::model::Tuned;
use crate::number::{counted, short};
use crate::parameters::Parameters;
use kgard::kernel::AnyKernel;
use kgard::{Points, StopReason, Tunable};
use serde::Serialize;
use std::fmt::Write;

/// A fit and what it was made of.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) parameters: Parameters,
    pub(crate) inputs: Option<&'a [String]>,
    pub(crate) target: Option<&'a str>,
    pub(crate) points: Points<'a, f64>,
    pub(crate) solution: &'a Solution,
    /// What the tuner found, if it did.
    pub(crate) tuned: Option<&'a Tuned>,
    pub(crate) y: &'a [f64],
}

/// The JSON object. Scripts rely on its keys.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    parameters: Parameters,
    n: usize,
    inputs: Option<&'a [String]>,
    target: Option<&'a str>,
    bias: f64,
    coefficients: &'a [f64],
    outliers: Vec<JsonOutlier>,
    residual_norm: f64,
    iterations: usize,
    stop_reason: &'static str,
    r_squared: f64,
    /// Standard deviation of the noise.
    noise: Option<f64>,
    /// Root mean square error of the points predicted by the others.
    loo_error: Option<f64>,
    uneven_noise: Option<bool>,
    slopes: Vec<f64>,
    lengths: Option<Vec<f64>>,
    relevance: Option<Vec<f64>>,
    fitted: &'a [f64],
    residual: &'a [f64],
}

#[derive(Serialize)]
struct JsonOutlier {
    index: usize,
    value: f64,
}

impl Report<'_> {
    /// One JSON object on one line.
    pub(crate) fn json(&self) -> Result<String> {
        let solution = self.solution;
        let outliers = solution.outliers.iter();
        let json = Json {
            parameters: self.parameters.clone(),
            n: self.points.len(),
            inputs: self.inputs,
            target: self.target,
            bias: solution.bias,
            coefficients: &solution.coefficients,
            outliers: outliers.map(|o| JsonOutlier { index: o.index, value: o.value }).collect(),
            residual_norm: solution.residual_norm,
            iterations: solution.iterations,
            stop_reason: solution.stop_reason.name(),
            r_squared: self.r_squared(),
            noise: self.tuned.map(Tuned::noise),
            loo_error: self.tuned.map(Tuned::left_out_error),
            uneven_noise: self.tuned.map(Tuned::has_uneven_noise),
            slopes: self.tuned.map(Tuned::slopes).unwrap_or_default(),
            lengths: self.tuned.and_then(lengths),
            relevance: self.tuned.map(Tuned::relevance),
            fitted: &solution.fitted,
            residual: &solution.residual,
        };
        let mut text = serde_json::to_string(&json)
            .map_err(|error| Error::failed(format!("writing JSON: {error}")))?;
        text.push('\n');
        Ok(text)
    }

    /// The summary for people.
    pub(crate) fn summary(&self) -> String {
        let solution = self.solution;
        let n = self.points.len();
        let mut data = counted(n, "point");
        let _ = write!(data, ", {}", counted(self.points.dim(), "input"));
        if let (Some(inputs), Some(target)) = (self.inputs, self.target) {
            let _ = write!(data, " ({}), target {target}", inputs.join(", "));
        }
        let mut rows = vec![
            ("data", data),
            ("method", self.parameters.method.name().to_owned()),
            ("kernel", self.parameters.kernel.to_string()),
            ("penalty", self.parameters.penalty()),
            ("bias", short(solution.bias)),
        ];
        if let Some(tuned) = self.tuned {
            rows[2].1 = shown(tuned.kernel());
            let slopes: Vec<String> = tuned.slopes().iter().map(|&b| short(b)).collect();
            if !slopes.is_empty() {
                rows.push(("slopes", slopes.join(", ")));
            }
            if self.points.dim() > 1 {
                rows.push(("relevance", self.relevance(tuned)));
            }
            let uneven = if tuned.has_uneven_noise() { ", depends on the inputs" } else { "" };
            rows.push(("noise", format!("{}{uneven}", short(tuned.noise()))));
            rows.push(("left-out error", short(tuned.left_out_error())));
        } else {
            rows.push(("residual norm", short(solution.residual_norm)));
            rows.push(("iterations", solution.iterations.to_string()));
        }
        rows.push(("R squared", short(self.r_squared())));
        rows.push(("stopped", self.why()));
        rows.push(("outliers", solution.outliers.len().to_string()));
        let mut text = String::new();
        for (what, value) in rows {
            let _ = writeln!(text, "{what:<14} {value}");
        }
        if !solution.outliers.is_empty() {
            text.push('\n');
            text.push_str(&aligned(&self.outliers()));
        }
        text
    }

    /// The share of the variance that the function explains, outliers apart.
    fn r_squared(&self) -> f64 {
        let mut inside = vec![true; self.y.len()];
        for outlier in &self.solution.outliers {
            inside[outlier.index] = false;
        }
        let inside = |values: &[f64]| -> Vec<f64> {
            values.iter().zip(&inside).filter(|(_, inside)| **inside).map(|(v, _)| *v).collect()
        };
        let (y, residual) = (inside(self.y), inside(&self.solution.residual));
        let n = y.len() as f64;
        let mean = y.iter().map(|y| y / n).sum::<f64>();
        let norm = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::hypot);
        let total = norm(&mut y.iter().map(|y| y - mean));
        let left = norm(&mut residual.iter().copied());
        if total > 0.0 { 1.0 - (left / total).powi(2) } else { 1.0 }
    }

    /// How much each input matters, by its name.
    fn relevance(&self, tuned: &Tuned) -> String {
        let shares = tuned.relevance();
        let mut order: Vec<usize> = (0..shares.len()).collect();
        order.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
        let name = |j: usize| match self.inputs {
            Some(names) => names[j].clone(),
            None => format!("x{}", j + 1),
        };
        let words = order.iter().map(|&j| format!("{} {:.0} %", name(j), 100.0 * shares[j]));
        words.collect::<Vec<_>>().join(", ")
    }

    /// A row per outlier, after a row of titles.
    fn outliers(&self) -> Vec<Vec<String>> {
        let mut titles = vec!["row (from 0)".to_owned()];
        match self.inputs {
            Some(names) => titles.extend_from_slice(names),
            None if self.points.dim() == 1 => titles.push("x".into()),
            None => titles.extend((1..=self.points.dim()).map(|column| format!("x{column}"))),
        }
        titles.push("off by".into());
        let mut rows = vec![titles];
        for outlier in &self.solution.outliers {
            let mut row = vec![outlier.index.to_string()];
            let dim = self.points.dim();
            let point = &self.points.coordinates()[outlier.index * dim..][..dim];
            row.extend(point.iter().map(|&x| short(x)));
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
