//! The methods that the paper compares KGARD with.

use super::design::Design;
use super::method::{Estimate, Estimator};
use kgard::baselines::Ram;
use kgard::baselines::rb_rvm::RbRvm;
use kgard::{Error, Gaussian, Plan, Regularizer};
use std::time::Instant;

/// RAM, with a plan of its own.
pub(super) struct RamOf<'d> {
    design: &'d Design,
    ram: Ram<f64>,
    plan: Plan<f64, Gaussian<f64>>,
    planning: f64,
}

impl<'d> RamOf<'d> {
    pub(super) fn new(design: &'d Design, lambda: f64, mu: f64) -> Result<Self, Error> {
        let start = Instant::now();
        let plan = Plan::new(design.points()?, design.kernel(), Regularizer::rkhs(lambda))?;
        let planning = start.elapsed().as_secs_f64();
        Ok(Self { design, ram: Ram::new(mu), plan, planning })
    }
}

impl Estimator for RamOf<'_> {
    fn plan_seconds(&self) -> Option<f64> {
        Some(self.planning)
    }

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let start = Instant::now();
        let fit = self.ram.fit(&self.plan, y)?;
        Ok(self.design.judge(&fit, start.elapsed()))
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
    fn plan_seconds(&self) -> Option<f64> {
        None
    }

    fn estimate(&self, y: &[f64]) -> Result<Estimate, Error> {
        let design = self.0;
        let start = Instant::now();
        let fit = RbRvm::new().fit(design.points()?, y, design.kernel())?;
        Ok(design.judge(&fit, start.elapsed()))
    }
}
