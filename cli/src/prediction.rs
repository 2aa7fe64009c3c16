//! What a model says about the rows of a table.

use crate::error::{Error, Result};
use crate::messages::note;
use crate::model::Model;
use crate::number::counted;
use crate::table::{Columns, Content, Missing, Table};

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

    /// The inputs of the model in the rows of the grid.
    fn read_inputs(&self, grid: &Table) -> Result<Columns> {
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
        Ok(read)
    }

    /// One or more numbers for each row of the grid; none where an input is missing. All
    /// are computed by `all`, or else one by one, to say which of them fails.
    fn evaluate<const N: usize>(
        &self,
        grid: &Table,
        all: impl Fn(&[f64]) -> Result<Vec<[f64; N]>>,
    ) -> Result<[Vec<Option<f64>>; N]> {
        let read = self.read_inputs(grid)?;
        let is_finite = |values: &[[f64; N]]| values.iter().flatten().all(|x| x.is_finite());
        let fails = |row: usize, why: &str| {
            Error::failed(format!(
                "{}: line {}: the prediction there fails, because the point is too far from \
                 the data: {why}",
                grid.name(),
                grid.line(row)
            ))
        };
        let values = match all(&read.values) {
            Err(error @ Error::Usage(_)) => return Err(error),
            Ok(values) if is_finite(&values) => values,
            _ => {
                let points = read.values.chunks_exact(self.dim());
                let each = read.rows.iter().zip(points).map(|(&row, x)| match all(x) {
                    Ok(values) if is_finite(&values) => Ok(values),
                    Ok(_) => Err(fails(row, "it is not finite")),
                    Err(Error::Usage(why) | Error::Failed(why)) => Err(fails(row, &why)),
                    Err(error) => Err(error),
                });
                each.collect::<Result<Vec<_>>>()?.concat()
            }
        };
        let mut columns = std::array::from_fn(|_| vec![None; grid.len()]);
        for (&row, values) in read.rows.iter().zip(values) {
            for (column, value) in columns.iter_mut().zip(values) {
                column[row] = Some(value);
            }
        }
        Ok(columns)
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

    /// The grid as CSV, with a column of predictions, and with those of its
    /// deviation and both ends of the interval of a `level` after it.
    pub(crate) fn predictions(&self, grid: &Table, level: Option<f64>) -> Result<Vec<u8>> {
        let mut header = match (grid.header(), &self.inputs) {
            (Some(names), _) => names.to_vec(),
            (None, Some(names)) => names.clone(),
            (None, None) => (1..=grid.width()).map(|column| format!("x{column}")).collect(),
        };
        let name = self.prediction_name(&header)?;
        header.push(name.clone());
        let function = self.function()?;
        match level {
            None => {
                let columns = self.evaluate(grid, |x| {
                    x.chunks_exact(self.dim()).map(|x| Ok([function.at(x)?])).collect()
                })?;
                with_columns(grid, &header, |row, column| columns[column][row].map(shortest))
            }
            Some(level) => {
                header.extend(["std", "low", "high"].map(|what| format!("{name}_{what}")));
                let columns = self.evaluate(grid, |x| function.intervals(level, x))?;
                with_columns(grid, &header, |row, column| columns[column][row].map(shortest))
            }
        }
    }
}

/// The shortest text that reads back as the same number.
pub(crate) fn shortest(value: f64) -> String {
    format!("{value:?}")
}

/// A table with more columns behind its own, in its own way of writing; `header`
/// has the names of all, and `cell` a row of the new ones, if there is something.
pub(crate) fn with_columns(
    grid: &Table,
    header: &[String],
    cell: impl Fn(usize, usize) -> Option<String>,
) -> Result<Vec<u8>> {
    let failed = |error: csv::Error| Error::failed(format!("writing the predictions: {error}"));
    let mut writer = csv::WriterBuilder::new().delimiter(grid.delimiter()).from_writer(Vec::new());
    writer.write_record(header).map_err(failed)?;
    let commas = grid.has_decimal_commas();
    for row in 0..grid.len() {
        for cell in grid.cells(row) {
            writer.write_field(cell).map_err(failed)?;
        }
        for column in 0..header.len() - grid.width() {
            let mut text = cell(row, column).unwrap_or_default();
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
