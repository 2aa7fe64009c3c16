//! Results beside the paper's: for people, for scripts, for spreadsheets.

use super::Paper;
use super::columns::{Column, FILE, FILE_OF_THEOREM, PICTURES, REGRESSION, THEOREM};
use crate::error::{Error, Result};
use crate::number::counted;
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
    /// Percent of the runs in which every outlier was found, and their mean error.
    pub(crate) complete: Option<f64>,
    pub(crate) mse_complete: Option<f64>,
    /// Percent of the outliers.
    pub(crate) correct: Option<f64>,
    /// Percent of the points.
    pub(crate) wrong: Option<f64>,
    /// Of a run, the plan being at hand.
    pub(crate) seconds: f64,
    /// What the plan took, which is made once for all runs.
    pub(crate) plan_seconds: Option<f64>,
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

impl Report {
    /// A table in Markdown, which reads well as it is.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!(
            "## {}\n\n{}, seed {}.\n\n",
            self.title,
            counted(self.runs as usize, "run"),
            self.seed
        );
        text.push_str(&markdown(&self.lines()));
        for note in &self.notes {
            let _ = write!(text, "\n{note}\n");
        }
        text
    }

    /// The titles of the columns, and the rows.
    pub(super) fn lines(&self) -> Vec<Vec<String>> {
        let columns = if self.has_theorem() {
            THEOREM
        } else if self.rows.iter().any(|row| row.psnr.is_some()) {
            PICTURES
        } else {
            REGRESSION
        };
        lines(columns, &self.rows)
    }

    /// All numbers in full, one line per row.
    pub(crate) fn csv(&self) -> Result<Vec<u8>> {
        let failed =
            |why: String| Error::failed(format!("writing the CSV of {}: {why}", self.table));
        let mut writer = csv::Writer::from_writer(Vec::new());
        let more = if self.has_theorem() { FILE_OF_THEOREM } else { &[] };
        for line in lines(&[FILE, more].concat(), &self.rows) {
            writer.write_record(&line).map_err(|error| failed(error.to_string()))?;
        }
        writer.into_inner().map_err(|error| failed(error.error().to_string()))
    }

    fn has_theorem(&self) -> bool {
        self.rows.iter().any(|row| row.theorem.is_some())
    }
}

/// One value, or several, as JSON on a line.
pub(crate) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map(|text| text + "\n")
        .map_err(|error| Error::failed(format!("writing JSON: {error}")))
}

/// The titles, then a line for each row.
fn lines(columns: &[Column], rows: &[Row]) -> Vec<Vec<String>> {
    let titles = columns.iter().map(|&(title, _)| title.to_owned()).collect();
    let line = |row| columns.iter().map(|(_, cell)| cell(row)).collect();
    std::iter::once(titles).chain(rows.iter().map(line)).collect()
}

/// Lines of which the first has the titles.
fn markdown(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let rules = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut text = String::new();
    for line in lines.iter().take(1).chain([&rules]).chain(lines.iter().skip(1)) {
        for (cell, &width) in line.iter().zip(&widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
    }
    text
}
