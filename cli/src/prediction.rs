//! What a model says about the rows of a table.

use crate::error::{Error, Result};
use crate::messages::note;
use crate::model::Model;
use crate::number::counted;
use crate::table::{Content, Missing, Table};
use kgard::Points;
use std::fmt::Write;

/// The name of the column of predictions where the target has none.
const PREDICTION: &str = "prediction";

impl Model {
    /// The columns of the grid that are the inputs: by name where both sides
    /// have names, else all of them.
    fn columns(&self, grid: &Table) -> Result<Vec<usize>> {
        if let (Some(names), Some(_)) = (&self.inputs, grid.header()) {
            return grid.columns(names);
        }
        if grid.width() != self.dim() {
            return Err(Error::failed(format!(
                "{}: line {}: {} columns, but the model has {} inputs: give the inputs only, \
                 in the order of the data",
                grid.name(),
                grid.line(0),
                grid.width(),
                self.dim()
            )));
        }
        Ok((0..grid.width()).collect())
    }

    /// The function at the rows of the grid; none where an input is missing.
    fn predict(&self, grid: &Table) -> Result<Vec<Option<f64>>> {
        let dim = self.dim();
        let contents: Vec<Content> = (0..dim)
            .map(|input| match self.times.get(input) {
                Some(&Some(scale)) => Content::Times(scale),
                _ => Content::Numbers,
            })
            .collect();
        let read = grid.read_columns(&self.columns(grid)?, &contents, Missing::Drop)?;
        if let Some(&first) = read.dropped.first() {
            note(&format!(
                "{}: no prediction for {}, because inputs are missing (the first in line {})",
                grid.name(),
                counted(read.dropped.len(), "row"),
                grid.line(first)
            ));
        }
        let points = self.points.concat();
        let points = Points::new(&points, dim)?;
        let kernel = self.parameters.kernel.kernel::<f64>()?;
        let mut values = vec![None; grid.len()];
        for (&row, x) in read.rows.iter().zip(read.values.chunks_exact(dim)) {
            let value = kgard::predict(points, &kernel, &self.coefficients, self.bias, x);
            let value = value.map_err(|error| error.to_string()).and_then(|value| {
                if value.is_finite() { Ok(value) } else { Err(format!("it is {value}")) }
            });
            let value = value.map_err(|why| {
                Error::failed(format!(
                    "{}: line {}: the prediction there fails, because the point is too far from \
                     the data: {why}",
                    grid.name(),
                    grid.line(row)
                ))
            })?;
            values[row] = Some(value);
        }
        Ok(values)
    }

    /// The name of the column of predictions: that of the target, unless the grid
    /// has such a column already.
    fn prediction_name(&self, grid: &[String]) -> Result<String> {
        let is_free = |name: &String| !grid.contains(name);
        let names = match &self.target {
            Some(target) => vec![target.clone(), format!("{target}_predicted")],
            None => vec![PREDICTION.to_owned()],
        };
        names.iter().find(|name| is_free(name)).cloned().ok_or_else(|| {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            Error::failed(format!(
                "the grid has a column {} already: rename it",
                names.join(" and ")
            ))
        })
    }

    /// The grid as CSV, with a column of predictions.
    pub(crate) fn predictions(&self, grid: &Table) -> Result<Vec<u8>> {
        let values = self.predict(grid)?;
        let mut header = match (grid.header(), &self.inputs) {
            (Some(names), _) => names.to_vec(),
            (None, Some(names)) => names.clone(),
            (None, None) => (1..=grid.width()).map(|column| format!("x{column}")).collect(),
        };
        header.push(self.prediction_name(&header)?);
        with_columns(grid, &header, &[values])
    }
}

/// A table with more columns behind its own, in its own way of writing; `header`
/// has the names of all.
fn with_columns(grid: &Table, header: &[String], columns: &[Vec<Option<f64>>]) -> Result<Vec<u8>> {
    let failed = |error: csv::Error| Error::failed(format!("writing the predictions: {error}"));
    let mut writer = csv::WriterBuilder::new().delimiter(grid.delimiter()).from_writer(Vec::new());
    writer.write_record(header).map_err(failed)?;
    let (mut text, commas) = (String::new(), grid.has_decimal_commas());
    for row in 0..grid.len() {
        for cell in grid.cells(row) {
            writer.write_field(cell).map_err(failed)?;
        }
        for column in columns {
            text.clear();
            if let Some(value) = column[row] {
                // The shortest text that reads back as the same number.
                let _ = write!(text, "{value:?}");
            }
            if commas {
                text = text.replace('.', ",");
            }
            writer.write_field(&text).map_err(failed)?;
        }
        writer.write_record(None::<&[u8]>).map_err(failed)?;
    }
    writer
        .into_inner()
        .map_err(|error| Error::failed(format!("writing the predictions: {}", error.error())))
}
