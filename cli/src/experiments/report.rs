//! Results beside the paper's: for people, for scripts, for spreadsheets.

use super::Paper;
use crate::error::{Error, Result};
use serde::Serialize;
use std::fmt::Write;

/// A finished experiment. Scripts rely on the names of the fields.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) table: &'static str,
    #[serde(skip)]
    pub(crate) title: &'static str,
    pub(crate) runs: u32,
    pub(crate) seed: u64,
    pub(crate) rows: Vec<Row>,
    #[serde(skip)]
    pub(crate) notes: Vec<String>,
    /// Pictures to be looked at: names and files.
    #[serde(skip)]
    pub(crate) pictures: Vec<(String, Vec<u8>)>,
}

/// One method in one setting.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) method: &'static str,
    pub(crate) parameters: String,
    pub(crate) noise: String,
    pub(crate) outliers: Option<String>,
    pub(crate) paper: Paper,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) psnr: Option<f64>,
    pub(crate) mse: Option<f64>,
    /// The standard error of `mse`.
    pub(crate) mse_error: Option<f64>,
    pub(crate) mse_median: Option<f64>,
    /// Percent of the outliers.
    pub(crate) correct: Option<f64>,
    /// Percent of the points.
    pub(crate) wrong: Option<f64>,
    pub(crate) seconds: f64,
    pub(crate) planned_seconds: Option<f64>,
    #[serde(flatten)]
    pub(crate) theorem: Option<Theorem>,
}

/// What Figure 1 adds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Theorem {
    /// The size of the outliers.
    pub(crate) u: f64,
    /// Percent of the runs in which the condition of Theorem 1 holds.
    pub(crate) condition: f64,
    /// Percent of the runs in which the outliers were selected first.
    pub(crate) first: f64,
    /// Runs in which the condition holds and they were not.
    pub(crate) violations: usize,
}

/// Columns and lines of text.
struct Grid {
    titles: &'static [&'static str],
    lines: Vec<Vec<String>>,
}

impl Report {
    /// A table in Markdown, which reads well as it is.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n{} runs, seed {}.\n\n", self.title, self.runs, self.seed);
        let grid = if self.rows.iter().any(|row| row.theorem.is_some()) {
            self.theorem_grid()
        } else if self.rows.iter().any(|row| row.psnr.is_some()) {
            self.picture_grid()
        } else {
            self.grid()
        };
        text.push_str(&grid.markdown());
        for note in &self.notes {
            let _ = write!(text, "\n{note}\n");
        }
        text
    }

    fn grid(&self) -> Grid {
        let line = |row: &Row| {
            vec![
                row.noise.clone(),
                row.outliers.clone().unwrap_or_else(nothing),
                row.method.to_owned(),
                row.parameters.clone(),
                fixed(row.paper.mse, 4),
                format!("{} +- {}", fixed(row.mse, 4), fixed(row.mse_error, 4)),
                fixed(row.mse_median, 4),
                support(row.paper.correct, row.paper.wrong),
                support(row.correct, row.wrong),
                fixed(row.paper.seconds, 3),
                fixed(Some(row.seconds), 5),
                fixed(row.planned_seconds, 5),
            ]
        };
        Grid {
            titles: &[
                "noise",
                "outliers",
                "method",
                "parameters",
                "MSE, paper",
                "MSE",
                "MSE, median",
                "correct - wrong %, paper",
                "correct - wrong %",
                "seconds, paper",
                "seconds",
                "seconds with a plan",
            ],
            lines: self.rows.iter().map(line).collect(),
        }
    }

    fn picture_grid(&self) -> Grid {
        let line = |row: &Row| {
            vec![
                row.noise.clone(),
                row.outliers.clone().unwrap_or_else(nothing),
                row.method.to_owned(),
                row.parameters.clone(),
                fixed(row.paper.psnr, 2),
                fixed(row.psnr, 2),
                support(row.correct, row.wrong),
                fixed(Some(row.seconds), 3),
            ]
        };
        Grid {
            titles: &[
                "picture, noise",
                "impulses",
                "method",
                "parameters",
                "PSNR, paper",
                "PSNR",
                "correct - wrong %",
                "seconds",
            ],
            lines: self.rows.iter().map(line).collect(),
        }
    }

    fn theorem_grid(&self) -> Grid {
        let line = |row: &Row| {
            let theorem = row.theorem.as_ref();
            let percent = |value: fn(&Theorem) -> f64| fixed(theorem.map(value), 1);
            vec![
                row.outliers.clone().unwrap_or_else(nothing),
                support(row.correct, row.wrong),
                percent(|t| t.first),
                percent(|t| t.condition),
                theorem.map_or_else(nothing, |t| t.violations.to_string()),
            ]
        };
        Grid {
            titles: &[
                "outliers",
                "correct - wrong %",
                "outliers first, % of runs",
                "condition holds, % of runs",
                "holds but not first, runs",
            ],
            lines: self.rows.iter().map(line).collect(),
        }
    }

    /// All numbers in full, one line per row.
    pub(crate) fn csv(&self) -> Result<Vec<u8>> {
        let failed =
            |why: String| Error::failed(format!("writing the CSV of {}: {why}", self.table));
        let mut writer = csv::Writer::from_writer(Vec::new());
        let titles = [
            "noise",
            "outliers",
            "method",
            "parameters",
            "paper_psnr",
            "psnr",
            "paper_mse",
            "mse",
            "mse_error",
            "mse_median",
            "paper_correct",
            "correct",
            "paper_wrong",
            "wrong",
            "paper_seconds",
            "seconds",
            "planned_seconds",
            "u",
            "condition",
            "first",
            "violations",
        ];
        let shown = if self.rows.iter().any(|row| row.theorem.is_some()) { 21 } else { 17 };
        writer.write_record(&titles[..shown]).map_err(|error| failed(error.to_string()))?;
        for row in &self.rows {
            let theorem = row.theorem.as_ref();
            let mut cells = vec![
                row.noise.clone(),
                row.outliers.clone().unwrap_or_default(),
                row.method.to_owned(),
                row.parameters.clone(),
            ];
            cells.extend([
                full(row.paper.psnr),
                full(row.psnr),
                full(row.paper.mse),
                full(row.mse),
                full(row.mse_error),
                full(row.mse_median),
                full(row.paper.correct),
                full(row.correct),
                full(row.paper.wrong),
                full(row.wrong),
                full(row.paper.seconds),
                full(Some(row.seconds)),
                full(row.planned_seconds),
                full(theorem.map(|t| t.u)),
                full(theorem.map(|t| t.condition)),
                full(theorem.map(|t| t.first)),
                theorem.map_or_else(String::new, |t| t.violations.to_string()),
            ]);
            writer.write_record(&cells[..shown]).map_err(|error| failed(error.to_string()))?;
        }
        writer.into_inner().map_err(|error| failed(error.error().to_string()))
    }
}

/// One value, or several, as JSON on a line.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::failed(format!("writing JSON: {error}")))
}

fn nothing() -> String {
    "-".into()
}

fn fixed(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(nothing, |value| format!("{value:.digits$}"))
}

fn full(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:?}"))
}

fn support(correct: Option<f64>, wrong: Option<f64>) -> String {
    match (correct, wrong) {
        (Some(correct), Some(wrong)) => format!("{correct:.2} - {wrong:.2}"),
        _ => nothing(),
    }
}

impl Grid {
    fn markdown(&self) -> String {
        let width = |column: usize| {
            let cells = self.lines.iter().map(|line| line[column].len());
            cells.chain([self.titles[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.titles.len()).map(width).collect();
        let mut text = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            for (cell, &width) in cells.zip(&widths) {
                let _ = write!(text, "| {cell:<width$} ");
            }
            text.push_str("|\n");
        };
        line(&mut self.titles.iter().copied());
        let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        line(&mut rules.iter().map(String::as_str));
        for cells in &self.lines {
            line(&mut cells.iter().map(String::as_str));
        }
        text
    }
}
