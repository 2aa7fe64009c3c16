//! The methods of regression that `kgard fit` offers.

use crate::error::{Error, Result};
use crate::kernel::{AnyKernel, Choice};
use crate::number::not_negative;
use crate::penalty::Penalty;
use clap::ValueEnum;
use kgard::{Outlier, Points, Stop, StopReason};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// Ridge regression alternating with the selection of outliers
    Kgard,
    /// Kernel ridge regression: no outliers
    Krr,
}

impl Method {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kgard => "kgard",
            Self::Krr => "krr",
        }
    }
}

/// A stopping rule: `norm:E`, `max:E` or `auto`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StopArg {
    Norm(f64),
    Max(f64),
    Auto,
}

impl FromStr for StopArg {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let threshold =
            |text| not_negative(text).map_err(|why| format!("the part after the colon: {why}"));
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            Some(("norm", e)) => Ok(Self::Norm(threshold(e)?)),
            Some(("max", e)) => Ok(Self::Max(threshold(e)?)),
            _ => Err("it must be norm:E, max:E or auto, for example max:2.5".into()),
        }
    }
}

impl StopArg {
    /// The library's rule.
    pub(crate) fn rule(self, at_most: Option<usize>) -> Stop<f64> {
        let rule = match self {
            Self::Norm(epsilon) => Stop::residual_norm(epsilon),
            Self::Max(epsilon) => Stop::max_residual(epsilon),
            Self::Auto => Stop::automatic(),
        };
        rule.at_most(at_most.unwrap_or(usize::MAX))
    }
}

/// One problem, all numbers known.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) points: Points<'a, f64>,
    pub(crate) y: &'a [f64],
    pub(crate) kernel: Choice,
    pub(crate) penalty: Penalty,
    pub(crate) stop: Stop<f64>,
    /// The lambda of a second solution, for the outliers of the first.
    pub(crate) refit_lambda: Option<f64>,
}

/// What every method finds.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) bias: f64,
    /// In order of selection.
    pub(crate) outliers: Vec<Outlier<f64>>,
    pub(crate) fitted: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) residual_norm: f64,
    pub(crate) iterations: usize,
    pub(crate) stop_reason: StopReason,
}

impl Problem<'_> {
    /// Solves it.
    pub(crate) fn solve(&self, method: Method) -> Result<Solution> {
        let kernel = self.kernel.kernel::<f64>()?;
        let solution = match method {
            Method::Kgard => self.greedy(kernel, self.stop),
            Method::Krr => self.greedy(kernel, Stop::count(0)),
        }?;
        solution.check()?;
        Ok(solution)
    }

    /// Algorithm 1, then the second solution if there is to be one.
    fn greedy(&self, kernel: AnyKernel<f64>, stop: Stop<f64>) -> Result<Solution> {
        let weights = self.penalty.weights(self.y.len());
        let weights = weights.as_deref();
        let regularizer = self.penalty.regularizer(weights);
        let mut fit = kgard::fit(self.points, self.y, kernel, regularizer, stop)?;
        let iterations = fit.outliers().len();
        let stop_reason = fit.stop_reason();
        if let Some(lambda) = self.refit_lambda {
            let regularizer = self.penalty.with_lambda(lambda).regularizer(weights);
            fit = fit.refit(self.y, regularizer)?;
        }
        Ok(Solution {
            coefficients: fit.coefficients().to_vec(),
            bias: fit.bias(),
            outliers: fit.outliers().to_vec(),
            fitted: fit.fitted().to_vec(),
            residual: fit.residual().to_vec(),
            residual_norm: fit.residual_norm(),
            iterations,
            stop_reason,
        })
    }
}

impl Solution {
    /// Finite data may still be too large for the arithmetic.
    fn check(&self) -> Result<()> {
        let outliers = self.outliers.iter().map(|outlier| &outlier.value);
        let all = self.coefficients.iter().chain(&self.fitted).chain(&self.residual);
        if all.chain(outliers).chain([&self.bias, &self.residual_norm]).all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(Error::failed(
            "the numbers of the fit overflow: scale the data to ordinary size, or raise lambda",
        ))
    }
}
