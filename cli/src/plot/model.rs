//! What a fitted model looks like.

use super::{Band, FitPlot};
use crate::data::Data;
use crate::error::Result;
use crate::method::{Method, Solution};
use crate::model::Model;
use crate::number::{counted, short};
use crate::text::visible;

/// Places at which a curve is evaluated.
const CURVE: u32 = 800;
/// Columns of a long series: pixels between the axes, about.
const COLUMNS: u16 = 850;
/// A series is long if a column has more points than this, on average.
const PER_COLUMN: usize = 4;

impl Model {
    /// The picture of the fit to `y`.
    pub(crate) fn plot(&self, data: &Data, solution: &Solution, level: f64) -> Result<FitPlot> {
        let y = &data.y;
        let name = |name: &str| visible(name).into_owned();
        let target = self.target.as_deref().map_or_else(|| "y".into(), name);
        let count = counted(y.len(), "point");
        let method = self.parameters.method;
        let mut title = format!("{}: {count}", method.name());
        if method != Method::Krr {
            title.push_str(", ");
            title.push_str(&counted(solution.outliers.len(), "outlier"));
        }
        let outliers = solution.outliers.iter().map(|outlier| outlier.index).collect();
        if self.dim() == 1 {
            let x = &data.inputs;
            let input = self.inputs.as_ref().and_then(|names| names.first());
            let is_long = x.len() > PER_COLUMN * usize::from(COLUMNS);
            let (columns, line, band) = if is_long {
                let fitted = x.iter().zip(&solution.fitted).map(|(&x, &f)| (x, f, f));
                // Down and up: what turns within a column is seen as its extent.
                let line = envelope(x, fitted).into_iter();
                let line = line.flat_map(|(x, low, high)| [(x, low), (x, high)]).collect();
                let mut is_outlier = vec![false; x.len()];
                for outlier in &solution.outliers {
                    is_outlier[outlier.index] = true;
                }
                let inside = x.iter().zip(y).zip(is_outlier).filter(|(_, out)| !out);
                let columns = envelope(x, inside.map(|((&x, &y), _)| (x, y, y)));
                (columns, line, self.band_of_columns(x, level)?)
            } else {
                (vec![], self.curve(x)?, self.band(x, level)?)
            };
            return Ok(FitPlot {
                title,
                x_time: data.times.first().copied().flatten(),
                x_name: input.map_or_else(|| "x".into(), |input| name(input)),
                y_name: target,
                columns,
                line,
                points: x.iter().copied().zip(y.iter().copied()).collect(),
                line_name: "fitted function",
                band,
                outliers,
                rows: data.rows.clone(),
            });
        }
        let points: Vec<(f64, f64)> =
            y.iter().copied().zip(solution.fitted.iter().copied()).collect();
        let mut ends: Vec<f64> = solution.fitted.clone();
        ends.sort_by(f64::total_cmp);
        let ends = [ends.first(), ends.last()];
        Ok(FitPlot {
            title,
            x_time: None,
            x_name: format!("{target}, observed"),
            y_name: format!("{target}, fitted"),
            columns: vec![],
            line: ends.into_iter().flatten().map(|&end| (end, end)).collect(),
            points,
            line_name: "fitted = observed",
            band: None,
            outliers,
            rows: data.rows.clone(),
        })
    }

    /// Where measurements are expected, of a model that knows its noise.
    fn band(&self, x: &[f64], level: f64) -> Result<Option<Band>> {
        if self.tuned.is_none() && self.many.is_none() {
            return Ok(None);
        }
        let places: Vec<f64> = places(x).collect();
        let intervals = self.function()?.intervals(level, &places)?;
        let ends = places.iter().zip(intervals).map(|(&x, [_, _, low, high])| (x, low, high));
        let name = format!("{} % interval", short(100.0 * level));
        Ok(Some(Band { name, ends: ends.collect() }))
    }

    /// The same of a long series: the least and the largest end in each column.
    fn band_of_columns(&self, x: &[f64], level: f64) -> Result<Option<Band>> {
        if self.tuned.is_none() && self.many.is_none() {
            return Ok(None);
        }
        let intervals = self.function()?.intervals(level, x)?;
        let ends = x.iter().zip(intervals).map(|(&x, [_, _, low, high])| (x, low, high));
        let name = format!("{} % interval", short(100.0 * level));
        Ok(Some(Band { name, ends: envelope(x, ends) }))
    }

    /// The function from the first to the last of the inputs.
    fn curve(&self, x: &[f64]) -> Result<Vec<(f64, f64)>> {
        let function = self.function()?;
        places(x).map(|x| Ok((x, function.at(&[x])?))).collect()
    }
}

/// The least and the largest in each column that has something, from left to right.
fn envelope(x: &[f64], values: impl Iterator<Item = (f64, f64, f64)>) -> Vec<(f64, f64, f64)> {
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let count = f64::from(COLUMNS);
    let width = (high - low) / count;
    let empty = (f64::INFINITY, f64::NEG_INFINITY);
    let mut columns = vec![empty; usize::from(COLUMNS)];
    for (x, least, largest) in values {
        // Rounded down, and within the columns.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let at = ((x - low) / width).clamp(0.0, count - 1.0) as usize;
        columns[at] = (columns[at].0.min(least), columns[at].1.max(largest));
    }
    let each = columns.into_iter().enumerate().filter(|(_, (low, high))| low <= high);
    each.map(|(i, (least, largest))| (low + (i as f64 + 0.5) * width, least, largest)).collect()
}

/// Where a curve over these inputs is evaluated.
fn places(x: &[f64]) -> impl Iterator<Item = f64> {
    let low = x.iter().copied().fold(f64::INFINITY, f64::min);
    let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (0..=CURVE).map(move |i| {
        let part = f64::from(i) / f64::from(CURVE);
        low * (1.0 - part) + high * part
    })
}
