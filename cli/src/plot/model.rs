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
            let x: Vec<f64> = self.points.iter().map(|point| point[0]).collect();
            let input = self.inputs.as_ref().and_then(|names| names.first());
            return Ok(FitPlot {
                title,
                x_time: data.times.first().copied().flatten(),
                x_name: input.map_or_else(|| "x".into(), |input| name(input)),
                y_name: target,
                line: self.curve(&x)?,
                points: x.iter().copied().zip(y.iter().copied()).collect(),
                line_name: "fitted function",
                band: self.band(&x, level)?,
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
            line: ends.into_iter().flatten().map(|&end| (end, end)).collect(),
            points,
            line_name: "fitted = observed",
            band: None,
            outliers,
            rows: data.rows.clone(),
        })
    }

    /// Where measurements are expected, of a tuned model.
    fn band(&self, x: &[f64], level: f64) -> Result<Option<Band>> {
        let Some(tuned) = &self.tuned else { return Ok(None) };
        let uncertainty = tuned.uncertainty()?;
        let ends = places(x).map(|x| {
            let (low, high) = uncertainty.at(&[x])?.interval(level)?;
            Ok((x, low, high))
        });
        let name = format!("{} % interval", short(100.0 * level));
        Ok(Some(Band { name, ends: ends.collect::<Result<_>>()? }))
    }

    /// The function from the first to the last of the inputs.
    fn curve(&self, x: &[f64]) -> Result<Vec<(f64, f64)>> {
        let function = self.function()?;
        places(x).map(|x| Ok((x, function.at(&[x])?))).collect()
    }
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
