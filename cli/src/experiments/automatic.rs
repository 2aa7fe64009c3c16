//! KGARD with nothing to choose.

use super::design::Design;
use super::method::{Estimate, Estimator, indices};
use kgard::tune::{Penalty, Tuner};
use kgard::{Error, Gaussian, Points};
use std::time::Instant;

/// The tuner, made once for the points of the experiment. It knows neither the
/// width nor the border of the paper.
pub(super) struct AutomaticOf<'d> {
    design: &'d Design,
    tuner: Tuner<f64, fn(f64) -> Gaussian<f64>>,
    /// What making the tuner took.
    making: f64,
}

impl<'d> AutomaticOf<'d> {
    pub(super) fn new(design: &'d Design) -> Result<Self, Error> {
        let start = Instant::now();
        let family: fn(f64) -> Gaussian<f64> = Gaussian::new;
        let tuner = Tuner::new(design.points()?, family, Penalty::L2)?;
        Ok(Self { design, tuner, making: start.elapsed().as_secs_f64() })
    }
}

impl Estimator for &AutomaticOf<'_> {
    fn plan_seconds(&self) -> Option<f64> {
        Some(self.making)
    }

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let start = Instant::now();
        let fit = self.tuner.fit(y)?;
        let seconds = start.elapsed().as_secs_f64();
        let validate = Points::new(self.design.validate(), self.design.points()?.dim())?;
        Ok(Estimate {
            predicted: fit.predict_many(validate)?,
            flagged: Some(indices(fit.outliers())),
            seconds,
        })
    }
}
