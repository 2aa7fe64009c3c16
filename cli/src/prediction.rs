//! What a model says about the rows of a table.

use crate::error::{Error, Result};
use crate::model::Model;
use crate::table::Table;
use kgard::Points;

/// The name of the column that predictions get.
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
        let dim = self.dim();
        let grid_points = grid.numbers(&self.columns(grid)?)?;
        let points = self.points.concat();
        let points = Points::new(&points, dim)?;
        let kernel = self.parameters.kernel.kernel::<f64>()?;
        let rows = grid_points.chunks_exact(dim).enumerate();
        rows.map(|(row, x)| {
            let value = kgard::predict(points, &kernel, &self.coefficients, self.bias, x)?;
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

    /// The grid as CSV, with the column `prediction`.
    pub(crate) fn predictions(&self, grid: &Table) -> Result<Vec<u8>> {
        let values = self.predict(grid)?;
        let mut header = match (grid.header(), &self.inputs) {
            (Some(names), _) => names.to_vec(),
            (None, Some(names)) => names.clone(),
            (None, None) => (1..=grid.width()).map(|column| format!("x{column}")).collect(),
        };
        if header.iter().any(|name| name == PREDICTION) {
            return Err(Error::failed(format!(
                "{}: there is a column {PREDICTION:?} already: rename it",
                grid.name()
            )));
        }
        header.push(PREDICTION.into());
        let failed = |error: csv::Error| Error::failed(format!("writing the predictions: {error}"));
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&header).map_err(failed)?;
        for (row, value) in values.iter().enumerate() {
            // The shortest text that reads back as the same number.
            let value = format!("{value:?}");
            let cells = grid.cells(row).iter().chain([value.as_str()]);
            writer.write_record(cells).map_err(failed)?;
        }
        writer
            .into_inner()
            .map_err(|error| Error::failed(format!("writing the predictions: {}", error.error())))
    }
}
