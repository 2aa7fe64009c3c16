//! What `kgard fit` tells about a fit: a summary, or a JSON object.

use crate::error::{Error, Result};
use crate::method::{Method, Solution};
use crate::number::{counted, short};
use crate::parameters::Parameters;
use kgard::{Points, StopReason};
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
        let mut text = String::new();
        for (what, value) in [
            ("data", data),
            ("method", self.parameters.method.name().to_owned()),
            ("kernel", self.parameters.kernel.to_string()),
            ("penalty", self.parameters.penalty()),
            ("bias", short(solution.bias)),
            ("residual norm", short(solution.residual_norm)),
            ("iterations", solution.iterations.to_string()),
            ("stopped", self.why()),
            ("outliers", solution.outliers.len().to_string()),
        ] {
            let _ = writeln!(text, "{what:<14} {value}");
        }
        if !solution.outliers.is_empty() {
            text.push('\n');
            text.push_str(&aligned(&self.outliers()));
        }
        text
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
