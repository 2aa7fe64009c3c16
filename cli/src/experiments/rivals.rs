//! The methods that the paper compares KGARD with.

use super::design::Design;
use super::method::{Estimate, Estimator, indices};
use kgard::baselines::Ram;
use kgard::baselines::rb_rvm::RbRvm;
use kgard::{Error, Gaussian, Plan, Regularizer};
use std::time::Instant;

/// RAM, with a plan of its own.
pub(super) struct RamOf<'d> {
    design: &'d Design,
    lambda: f64,
    ram: Ram<f64>,
    plan: Plan<f64, Gaussian<f64>>,
}

impl<'d> RamOf<'d> {
    pub(super) fn new(design: &'d Design, lambda: f64, mu: f64) -> Result<Self, Error> {
        let plan = Self::plan(design, lambda)?;
        Ok(Self { design, lambda, ram: Ram::new(mu), plan })
    }

    fn plan(design: &Design, lambda: f64) -> Result<Plan<f64, Gaussian<f64>>, Error> {
        Plan::new(design.points()?, design.kernel(), Regularizer::rkhs(lambda))
    }
}

impl Estimator for RamOf<'_> {
    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let start = Instant::now();
        Self::plan(self.design, self.lambda)?;
        let planning = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let fit = self.ram.fit(&self.plan, y)?;
        let fitting = start.elapsed().as_secs_f64();
        Ok(Estimate {
            predicted: self.design.predict(fit.coefficients(), fit.bias()),
            flagged: Some(indices(fit.outliers())),
            seconds: planning + fitting,
            planned_seconds: Some(fitting),
        })
    }
}

/// RB-RVM, which plans nothing and has nothing to choose.
pub(super) struct RbRvmOf<'d>(&'d Design);

impl<'d> RbRvmOf<'d> {
    pub(super) fn new(design: &'d Design) -> Self {
        Self(design)
    }
}

impl Estimator for RbRvmOf<'_> {
    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let design = self.0;
        let start = Instant::now();
        let fit = RbRvm::new().fit(design.points()?, y, design.kernel())?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Estimate {
            predicted: design.predict(fit.coefficients(), fit.bias()),
            flagged: Some(indices(fit.outliers())),
            seconds,
            planned_seconds: None,
        })
    }
}
