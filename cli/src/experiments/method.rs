//! The methods that are compared.

use super::automatic::AutomaticOf;
use super::design::Design;
use super::rivals::{RamOf, RbRvmOf};
use kgard::tune::second_look;
use kgard::{Error, Fit, Gaussian, Outlier, Plan, Stop};
use std::time::{Duration, Instant};

/// A method with its parameters, as it stands in a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Method {
    /// Algorithm 1, until the norm of the residual is epsilon.
    Kgard { lambda: f64, epsilon: f64 },
    /// The same; then a second look at the outliers it found, which are solved
    /// for with parameters of their own.
    Refit { lambda: f64, epsilon: f64, second: Second },
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
            Self::Refit { lambda, epsilon, second } => {
                let Second { sigma, lambda: after } = second;
                format!("lambda {lambda}, epsilon {epsilon}, then sigma {sigma}, lambda {after:.3}")
            }
            Self::Ram { lambda, mu } => format!("lambda {lambda}, mu {mu}"),
            Self::RbRvm | Self::Automatic => "none".into(),
        }
    }

    /// Does what can be done before there are data.
    pub(crate) fn prepare<'d>(&self, design: &'d Design) -> Result<Box<dyn Estimator + 'd>, Error> {
        Ok(match *self {
            Self::Kgard { lambda, epsilon } => Box::new(Kgard::new(design, lambda, epsilon)?),
            Self::Refit { lambda, epsilon, second } => {
                Box::new(Refit::new(design, lambda, epsilon, second)?)
            }
            Self::Ram { lambda, mu } => Box::new(RamOf::new(design, lambda, mu)?),
            Self::RbRvm => Box::new(RbRvmOf::new(design)),
            Self::Automatic => Box::new(AutomaticOf::new(design)),
        })
    }
}

/// The kernel width and lambda of the solution after the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Second {
    pub(crate) sigma: f64,
    pub(crate) lambda: f64,
}

/// What a method makes of a sample.
#[derive(Debug)]
pub(crate) struct Estimate {
    /// The function at the validation points.
    pub(crate) predicted: Vec<f64>,
    /// The indices taken for outliers; none from a method that names none.
    pub(crate) flagged: Option<Vec<usize>>,
    /// What it took, the plan being at hand.
    pub(crate) seconds: f64,
}

/// A method, ready for data.
pub(crate) trait Estimator: Sync {
    /// What took place before there were data; none where there is no such
    /// thing.
    fn plan_seconds(&self) -> Option<f64>;

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error>;
}

/// KGARD on a plan.
struct Kgard<'d> {
    design: &'d Design,
    stop: Stop<f64>,
    plan: Plan<f64, Gaussian<f64>>,
    planning: f64,
}

impl<'d> Kgard<'d> {
    fn new(design: &'d Design, lambda: f64, epsilon: f64) -> Result<Self, Error> {
        let start = Instant::now();
        let plan = design.plan(lambda)?;
        let planning = start.elapsed().as_secs_f64();
        Ok(Self { design, stop: Stop::residual_norm(epsilon), plan, planning })
    }
}

impl Estimator for Kgard<'_> {
    fn plan_seconds(&self) -> Option<f64> {
        Some(self.planning)
    }

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let start = Instant::now();
        let fit = self.plan.fit(y, self.stop)?;
        Ok(self.design.judge(&fit, start.elapsed()))
    }
}

/// KGARD, and a second solution on a plan of its own.
struct Refit<'d> {
    search: Kgard<'d>,
    design: Design,
    plan: Plan<f64, Gaussian<f64>>,
    planning: f64,
}

impl<'d> Refit<'d> {
    fn new(design: &'d Design, lambda: f64, epsilon: f64, second: Second) -> Result<Self, Error> {
        let search = Kgard::new(design, lambda, epsilon)?;
        let design = design.with_sigma(second.sigma);
        let start = Instant::now();
        let plan = design.plan(second.lambda)?;
        let planning = search.planning + start.elapsed().as_secs_f64();
        Ok(Self { search, design, plan, planning })
    }
}

impl Estimator for Refit<'_> {
    fn plan_seconds(&self) -> Option<f64> {
        Some(self.planning)
    }

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let start = Instant::now();
        let found = self.search.plan.fit(y, self.search.stop)?;
        let support = second_look(&self.plan.as_ref(), y, &indices(found.outliers()))?;
        let fit = self.plan.fit_support(y, &support)?;
        Ok(self.design.judge(&fit, start.elapsed()))
    }
}

impl Design {
    /// The plan of KGARD with the l2 penalty.
    fn plan(&self, lambda: f64) -> Result<Plan<f64, Gaussian<f64>>, Error> {
        Plan::new(self.points()?, self.kernel(), self.l2(lambda))
    }

    /// What a fit with the kernel of this design says.
    pub(super) fn judge(&self, fit: &Fit<f64, Gaussian<f64>>, took: Duration) -> Estimate {
        Estimate {
            predicted: self.predict(fit.coefficients(), fit.bias()),
            flagged: Some(indices(fit.outliers())),
            seconds: took.as_secs_f64(),
        }
    }
}

pub(super) fn indices(outliers: &[Outlier<f64>]) -> Vec<usize> {
    outliers.iter().map(|outlier| outlier.index).collect()
}
