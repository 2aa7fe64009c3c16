//! What `kgard fit` reads: a target, inputs, and weights.

use crate::error::{Error, Result};
use crate::input::Source;
use crate::messages::note;
use crate::number::counted;
use crate::table::{Content, Missing, Table, TimeScale};
use clap::Args;
use std::path::PathBuf;

/// Which columns of which file.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// The data, a CSV file; `-` is standard input
    #[arg(value_name = "DATA.csv")]
    pub(crate) data: PathBuf,
    /// The column to be fitted, by name or by number from 1 [default: the last]
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The columns that it depends on, in this order [default: all others]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    inputs: Option<Vec<String>>,
    /// Columns to leave alone
    #[arg(long, value_name = "A,B", value_delimiter = ',', conflicts_with = "inputs")]
    ignore: Vec<String>,
    /// A column of positive weights, one per row: 1 / variance of its noise
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// Rows with missing values (empty, NA, NaN, null)
    #[arg(long, value_enum, default_value_t = Missing::Drop)]
    missing: Missing,
}

/// The data, taken apart.
#[derive(Debug)]
pub(crate) struct Data {
    /// Point after point.
    pub(crate) inputs: Vec<f64>,
    pub(crate) dim: usize,
    pub(crate) y: Vec<f64>,
    /// One per point, if there are any.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) input_names: Option<Vec<String>>,
    pub(crate) target_name: Option<String>,
    /// What inputs that are dates or times count in.
    pub(crate) times: Vec<Option<TimeScale>>,
    /// Which rows of the file the points are, from 0, without the header.
    pub(crate) rows: Vec<usize>,
    /// Rows that were left out, because a value is missing.
    pub(crate) dropped: Vec<usize>,
}

/// Columns by their use.
struct Chosen {
    target: usize,
    inputs: Vec<usize>,
    weights: Option<usize>,
}

impl Data {
    /// [`times`](Self::times) as a model keeps them: nothing where all inputs are
    /// numbers.
    pub(crate) fn times_or_nothing(&self) -> Vec<Option<TimeScale>> {
        if self.times.iter().all(Option::is_none) { Vec::new() } else { self.times.clone() }
    }
}

impl DataArgs {
    /// Reads the data.
    pub(crate) fn read(&self) -> Result<Data> {
        let table = Table::read(Source::new(&self.data))?;
        let Chosen { target, inputs, weights } = self.choose(&table)?;
        let dim = inputs.len();
        let columns: Vec<usize> = inputs.iter().copied().chain([target]).chain(weights).collect();
        let mut contents = vec![Content::Input; dim];
        contents.resize(columns.len(), Content::Numbers);
        let read = table.read_columns(&columns, &contents, self.missing)?;
        if read.rows.is_empty() {
            return Err(Error::failed(format!(
                "{}: all {} have missing values: choose other columns with --inputs or --ignore",
                table.name(),
                counted(table.len(), "row")
            )));
        }
        if !read.dropped.is_empty() {
            note(&format!(
                "{}: {} of {} left out, because values are missing (the first in line {})",
                table.name(),
                counted(read.dropped.len(), "row"),
                table.len(),
                table.line(read.dropped[0]),
            ));
        }
        let rows = || read.values.chunks_exact(columns.len());
        let weights: Option<Vec<f64>> =
            weights.map(|_| rows().map(|row| row[columns.len() - 1]).collect());
        for (&weight, &row) in weights.iter().flatten().zip(&read.rows) {
            if weight <= 0.0 {
                return Err(Error::failed(format!(
                    "{}: {}: the weight {weight} is not positive: correct it or remove the row",
                    table.name(),
                    table.at(row, columns[columns.len() - 1]),
                )));
            }
        }
        let name = |column: usize| table.header().map(|names| names[column].clone());
        let mut times = read.times;
        times.truncate(dim);
        Ok(Data {
            inputs: rows().flat_map(|row| row[..dim].iter().copied()).collect(),
            dim,
            y: rows().map(|row| row[dim]).collect(),
            weights,
            input_names: inputs.iter().map(|&column| name(column)).collect(),
            target_name: name(target),
            times,
            rows: read.rows,
            dropped: read.dropped,
        })
    }

    fn choose(&self, table: &Table) -> Result<Chosen> {
        let weights = self.weights.as_ref().map(|name| table.column(name)).transpose()?;
        let ignored = self.ignore.iter().map(|name| table.column(name));
        let ignored: Vec<usize> = ignored.collect::<Result<_>>()?;
        let inputs = self.inputs.as_ref().map(|names| {
            names.iter().map(|name| table.column(name)).collect::<Result<Vec<usize>>>()
        });
        let inputs = inputs.transpose()?;
        let mut used = ignored.clone();
        used.extend(weights);
        used.extend(inputs.iter().flatten());
        let target = match &self.target {
            Some(name) => table.column(name)?,
            None => {
                (0..table.width()).rev().find(|column| !used.contains(column)).ok_or_else(|| {
                    Error::failed(format!(
                        "{}: no column is left to be fitted: name it with --target",
                        table.name()
                    ))
                })?
            }
        };
        let named = inputs.is_some();
        let inputs = inputs.unwrap_or_else(|| {
            used.push(target);
            (0..table.width()).filter(|column| !used.contains(column)).collect()
        });
        let all = inputs.iter().chain([&target]).chain(&weights).chain(&ignored);
        let mut seen = vec![false; table.width()];
        for &column in all {
            if std::mem::replace(&mut seen[column], true) {
                return Err(Error::usage(format!(
                    "column {} of {} is given twice, as target, input, weight or to be ignored: \
                     drop one of them",
                    column + 1,
                    table.name()
                )));
            }
        }
        if inputs.is_empty() {
            let hint = if named {
                "--inputs names none"
            } else {
                "give at least two columns, \
                 separated by commas, semicolons or tabs"
            };
            return Err(Error::failed(format!(
                "{}: line {}: there is no input column: {hint}",
                table.name(),
                table.line(0)
            )));
        }
        Ok(Chosen { target, inputs, weights })
    }
}
