//! What a model says about the rows of a table.

use crate::error::{Error, Result};
use crate::model::Model;
use crate::table::Table;

/// The name of the column that predictions get where the target has none.
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

    /// The function at the rows of the grid.
    fn predict(&self, grid: &Table) -> Result<Vec<f64>> {
        let grid_points = grid.numbers(&self.columns(grid)?)?;
        let function = self.function()?;
        let rows = grid_points.chunks_exact(self.dim()).enumerate();
        rows.map(|(row, x)| {
            let value = function.at(x)?;
            if value.is_finite() {
                return Ok(value);
            }
            Err(Error::failed(format!(
                "{}: line {}: the prediction there is {value}: the point is too far from the data",
                grid.name(),
                grid.line(row)
            )))
        })
        .collect()
    }

    /// Deviation and interval of a measurement at the rows of the grid.
    fn intervals(&self, grid: &Table, level: f64) -> Result<Vec<[f64; 3]>> {
        let tuned = self.tuned.as_ref().ok_or_else(|| {
            Error::usage(
                "--interval: this model was fitted with numbers that were given, and does not \
                 know its noise: fit it without --sigma or without --lambda",
            )
        })?;
        let uncertainty = tuned.uncertainty()?;
        let grid_points = grid.numbers(&self.columns(grid)?)?;
        let rows = grid_points.chunks_exact(self.dim());
        rows.map(|x| {
            let prediction = uncertainty.at(x)?;
            let (low, high) = prediction.interval(level)?;
            Ok([prediction.total_deviation(), low, high])
        })
        .collect()
    }

    /// The grid as CSV, with a column of the target's name, and after it, with an
    /// interval's `level`, its deviation and both ends of the interval.
    pub(crate) fn predictions(&self, grid: &Table, level: Option<f64>) -> Result<Vec<u8>> {
        let values = self.predict(grid)?;
        let intervals = level.map(|level| self.intervals(grid, level)).transpose()?;
        let mut header = match (grid.header(), &self.inputs) {
            (Some(names), _) => names.to_vec(),
            (None, Some(names)) => names.clone(),
            (None, None) => (1..=grid.width()).map(|column| format!("x{column}")).collect(),
        };
        let target = self.target.as_deref().unwrap_or(PREDICTION);
        let mut names = vec![target.to_owned()];
        if intervals.is_some() {
            names.extend(["std", "low", "high"].map(|what| format!("{target}_{what}")));
        }
        // A grid with the column already has measurements in it, which stay.
        for name in &mut names {
            if header.contains(name) {
                *name = format!("{name}_{PREDICTION}");
            }
            if header.contains(name) {
                return Err(Error::failed(format!(
                    "{}: there is a column {name:?} already: rename it",
                    grid.name()
                )));
            }
        }
        header.extend(names);
        let failed = |error: csv::Error| Error::failed(format!("writing the predictions: {error}"));
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&header).map_err(failed)?;
        for (row, &value) in values.iter().enumerate() {
            let interval = intervals.as_ref().map(|intervals| intervals[row]);
            // The shortest text that reads back as the same number.
            let numbers: Vec<String> = std::iter::once(value)
                .chain(interval.into_iter().flatten())
                .map(|number| format!("{number:?}"))
                .collect();
            writer
                .write_record(grid.cells(row).iter().chain(numbers.iter().map(String::as_str)))
                .map_err(failed)?;
        }
        writer
            .into_inner()
            .map_err(|error| Error::failed(format!("writing the predictions: {}", error.error())))
    }
}
