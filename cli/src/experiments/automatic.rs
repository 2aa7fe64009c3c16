//! KGARD with nothing to choose.

use super::design::Design;
use super::method::{Estimate, Estimator, indices};
use kgard::tune::Tuner;
use kgard::{Error, Points};
use std::time::Instant;

/// The tuner on the points of the experiment. It knows neither the width nor the
/// border of the paper.
pub(super) struct AutomaticOf<'d> {
    design: &'d Design,
}

impl<'d> AutomaticOf<'d> {
    pub(super) fn new(design: &'d Design) -> Self {
        Self { design }
    }
}

impl Estimator for AutomaticOf<'_> {
    fn plan_seconds(&self) -> Option<f64> {
        None
    }

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let start = Instant::now();
        let points = self.design.points()?;
        let model = Tuner::new().fit(points, y)?;
        let seconds = start.elapsed().as_secs_f64();
        let validate = Points::new(self.design.validate(), points.dim())?;
        Ok(Estimate {
            predicted: model.predict_many(validate)?,
            flagged: Some(indices(model.outliers())),
            seconds,
        })
    }
}
