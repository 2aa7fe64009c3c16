//! The methods that are compared.

use super::automatic::AutomaticOf;
use super::design::Design;
use super::rivals::{RamOf, RbRvmOf};
use kgard::tune::second_look;
use kgard::{Error, Fit, Gaussian, Outlier, Plan, Stop};
use std::time::Instant;

/// A method with its parameters, as it stands in a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Method {
    /// Algorithm 1, until the norm of the residual is epsilon.
    Kgard { lambda: f64, epsilon: f64 },
    /// The same; then a second look at the outliers it found, which are solved
    /// for with another lambda.
    Refit { lambda: f64, epsilon: f64, refit: f64 },
    /// Outliers by a reweighted 1-norm, the function by its RKHS norm.
    Ram { lambda: f64, mu: f64 },
    /// Sparse Bayesian learning, the outliers being part of the model.
    RbRvm,
    /// KGARD with width, lambda and outliers from the data alone.
    Automatic,
}

impl Method {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Kgard { .. } => "KGARD",
            Self::Refit { .. } => "KGARD + refit",
            Self::Ram { .. } => "RAM",
            Self::RbRvm => "RB-RVM",
            Self::Automatic => "KGARD automatic",
        }
    }

    pub(crate) fn parameters(&self) -> String {
        match self {
            Self::Kgard { lambda, epsilon } => format!("lambda {lambda}, epsilon {epsilon}"),
            Self::Refit { lambda, epsilon, refit } => {
                format!("lambda {lambda}, epsilon {epsilon}, then lambda {refit}")
            }
            Self::Ram { lambda, mu } => format!("lambda {lambda}, mu {mu}"),
            Self::RbRvm | Self::Automatic => "none".into(),
        }
    }

    /// Does what can be done before there are data.
    /// The tuner of the automatic method is shared by all settings.
    pub(crate) fn prepare<'d>(
        &self,
        design: &'d Design,
        automatic: &'d AutomaticOf<'d>,
    ) -> Result<Box<dyn Estimator + 'd>, Error> {
        Ok(match *self {
            Self::Kgard { lambda, epsilon } => Box::new(Kgard::new(design, lambda, epsilon, None)?),
            Self::Refit { lambda, epsilon, refit } => {
                Box::new(Kgard::new(design, lambda, epsilon, Some(refit))?)
            }
            Self::Ram { lambda, mu } => Box::new(RamOf::new(design, lambda, mu)?),
            Self::RbRvm => Box::new(RbRvmOf::new(design)),
            Self::Automatic => Box::new(automatic),
        })
    }
}

/// What a method makes of a sample.
#[derive(Debug)]
pub(crate) struct Estimate {
    /// The function at the validation points.
    pub(crate) predicted: Vec<f64>,
    /// The indices taken for outliers; none from a method that names none.
    pub(crate) flagged: Option<Vec<usize>>,
    /// All that a user without a plan waits for, the Gram matrix included.
    pub(crate) seconds: f64,
    /// With a plan at hand; none where there is no such thing.
    pub(crate) planned_seconds: Option<f64>,
}

/// A method, ready for data.
pub(crate) trait Estimator: Sync {
    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error>;
}

/// KGARD with a second solution or without. The plans are made once; a fit
/// without them is timed beside.
struct Kgard<'d> {
    design: &'d Design,
    lambda: f64,
    stop: Stop<f64>,
    plan: Plan<f64, Gaussian<f64>>,
    refit: Option<(f64, Plan<f64, Gaussian<f64>>)>,
}

impl<'d> Kgard<'d> {
    fn new(
        design: &'d Design,
        lambda: f64,
        epsilon: f64,
        refit: Option<f64>,
    ) -> Result<Self, Error> {
        let plan = |lambda| Plan::new(design.points()?, design.kernel(), design.l2(lambda));
        let refit = match refit {
            Some(lambda) => Some((lambda, plan(lambda)?)),
            None => None,
        };
        let stop = Stop::residual_norm(epsilon);
        Ok(Self { design, lambda, stop, plan: plan(lambda)?, refit })
    }
}

impl Estimator for Kgard<'_> {
    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let design = self.design;
        let start = Instant::now();
        let alone =
            kgard::fit(design.points()?, y, design.kernel(), design.l2(self.lambda), self.stop)?;
        if let Some((lambda, _)) = &self.refit {
            let plan = Plan::new(design.points()?, design.kernel(), design.l2(*lambda))?;
            refit(&plan, y, &indices(alone.outliers()))?;
        }
        let seconds = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let mut fit = self.plan.fit(y, self.stop)?;
        if let Some((_, plan)) = &self.refit {
            fit = refit(plan, y, &indices(fit.outliers()))?;
        }
        let planned_seconds = Some(start.elapsed().as_secs_f64());
        let predicted = design.predict(fit.coefficients(), fit.bias());
        let flagged = Some(indices(fit.outliers()));
        Ok(Estimate { predicted, flagged, seconds, planned_seconds })
    }
}

/// A second look at the outliers that were found, and the function with them.
fn refit(
    plan: &Plan<f64, Gaussian<f64>>,
    y: &[f64],
    found: &[usize],
) -> Result<Fit<f64, Gaussian<f64>>, Error> {
    plan.fit_support(y, &second_look(&plan.as_ref(), y, found)?)
}

pub(super) fn indices(outliers: &[Outlier<f64>]) -> Vec<usize> {
    outliers.iter().map(|outlier| outlier.index).collect()
}
