//! The methods of regression that `kgard fit` offers.

use crate::error::{Error, Result};
use crate::kernel::Choice;
use crate::many::Many;
use crate::number::not_negative;
use crate::penalty::{Norm, Penalty};
use clap::ValueEnum;
use kgard::baselines::{Ram, RbRvm};
use kgard::kernel::AnyKernel;
use kgard::tune::Model;
use kgard::{Fit, Outlier, Plan, Points, Stop, StopReason};
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
    /// Outliers by a reweighted 1-norm of their sizes
    Ram,
    /// Robust relevance vector machine: a sparse function, no penalty
    RbRvm,
}

impl Method {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kgard => "kgard",
            Self::Krr => "krr",
            Self::Ram => "ram",
            Self::RbRvm => "rb-rvm",
        }
    }

    /// The penalty it was published with.
    pub(crate) fn norm(self) -> Norm {
        match self {
            Self::Ram => Norm::Rkhs,
            Self::Kgard | Self::Krr | Self::RbRvm => Norm::L2,
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

/// A method with all its numbers known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Recipe {
    /// With the lambda of a second solution, for the outliers of the first.
    Kgard {
        penalty: Penalty,
        stop: Stop<f64>,
        refit_lambda: Option<f64>,
    },
    /// What the tuner has found: function, outliers and all.
    Automatic {
        method: Method,
        penalty: Penalty,
        model: Box<Model<f64, AnyKernel<f64>>>,
    },
    /// The same of more points than a dense fit is for.
    Many {
        penalty: Penalty,
        many: Box<Many>,
    },
    Krr {
        penalty: Penalty,
    },
    Ram {
        penalty: Penalty,
        mu: f64,
    },
    RbRvm,
}

/// What every method finds.
#[derive(Debug)]
pub(crate) struct Solution {
    pub(crate) coefficients: Vec<f64>,
    pub(crate) bias: f64,
    /// In order of selection; by size where the method selects none.
    pub(crate) outliers: Vec<Outlier<f64>>,
    pub(crate) fitted: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) residual_norm: f64,
    pub(crate) iterations: usize,
    pub(crate) stop_reason: StopReason,
}

impl Recipe {
    /// The method.
    pub(crate) fn method(&self) -> Method {
        match self {
            Self::Automatic { method, .. } => *method,
            Self::Kgard { .. } | Self::Many { .. } => Method::Kgard,
            Self::Krr { .. } => Method::Krr,
            Self::Ram { .. } => Method::Ram,
            Self::RbRvm => Method::RbRvm,
        }
    }

    /// Whether it solves for numbers that were given, and has no units of its own.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Automatic { .. } | Self::Many { .. })
    }

    /// Fits `y - centre`, and adds the centre to the bias.
    pub(crate) fn solve(
        &self,
        points: Points<'_, f64>,
        y: &[f64],
        kernel: &Choice,
        centre: f64,
    ) -> Result<Solution> {
        let kernel = kernel.kernel::<f64>()?;
        // A value that would overflow is an outlier of the largest size there is.
        let centred = |y: &f64| (y - centre).clamp(f64::MIN, f64::MAX);
        let y: &[f64] = &y.iter().map(centred).collect::<Vec<_>>();
        let mut solution = match self {
            &Self::Kgard { penalty, stop, refit_lambda } => {
                let first = greedy(points, y, kernel, penalty, stop)?;
                match refit_lambda {
                    None => Solution::of(&first),
                    Some(lambda) => {
                        let weights = penalty.weights(y.len());
                        let penalty = penalty.with_lambda(lambda);
                        let refit = first.refit(y, penalty.regularizer(weights.as_deref()))?;
                        let (iterations, stop_reason) = (first.iterations(), first.stop_reason());
                        Solution { iterations, stop_reason, ..Solution::of(&refit) }
                    }
                }
            }
            Self::Automatic { model, .. } => Solution::of_model(model),
            Self::Many { many, .. } => Solution::of_many(many),
            &Self::Krr { penalty } => {
                Solution::of(&greedy(points, y, kernel, penalty, Stop::count(0))?)
            }
            &Self::Ram { penalty, mu } => {
                let weights = penalty.weights(y.len());
                let plan = Plan::new(points, kernel, penalty.regularizer(weights.as_deref()))?;
                // The same function in any unit of measurement.
                Solution::of(&Ram::new(mu).unit(mu / 2.0).fit(&plan, y)?)
            }
            Self::RbRvm => {
                let mut solution = Solution::of(&*RbRvm::new().fit(points, y, kernel)?);
                solution.outliers.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
                solution
            }
        };
        solution.bias += centre;
        for fitted in &mut solution.fitted {
            *fitted += centre;
        }
        solution.check()?;
        Ok(solution)
    }
}

/// The median.
pub(crate) fn median(y: &[f64]) -> f64 {
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.get(y.len().saturating_sub(1) / 2), sorted.get(y.len() / 2)) {
        (Some(low), Some(high)) => f64::midpoint(*low, *high),
        _ => 0.0,
    }
}

/// Algorithm 1.
fn greedy(
    points: Points<'_, f64>,
    y: &[f64],
    kernel: AnyKernel<f64>,
    penalty: Penalty,
    stop: Stop<f64>,
) -> Result<Fit<f64, AnyKernel<f64>>> {
    let weights = penalty.weights(y.len());
    Ok(kgard::fit(points, y, kernel, penalty.regularizer(weights.as_deref()), stop)?)
}

impl Solution {
    fn of_model(model: &Model<f64, AnyKernel<f64>>) -> Self {
        let residual = model.residual().to_vec();
        Self {
            coefficients: model.coefficients(),
            bias: model.bias(),
            outliers: model.outliers().to_vec(),
            fitted: model.fitted().to_vec(),
            residual_norm: residual.iter().fold(0.0_f64, |norm, r| norm.hypot(*r)),
            residual,
            iterations: model.outliers().len(),
            stop_reason: StopReason::Automatic,
        }
    }

    fn of_many(many: &Many) -> Self {
        let Many { coefficients, bias, outliers, fitted, residual, .. } = many.clone();
        Self {
            coefficients,
            bias,
            iterations: outliers.len(),
            outliers,
            fitted,
            residual_norm: residual.iter().fold(0.0_f64, |norm, r| norm.hypot(*r)),
            residual,
            stop_reason: StopReason::Automatic,
        }
    }

    fn of<K>(fit: &Fit<f64, K>) -> Self {
        Self {
            coefficients: fit.coefficients().to_vec(),
            bias: fit.bias(),
            outliers: fit.outliers().to_vec(),
            fitted: fit.fitted().to_vec(),
            residual: fit.residual().to_vec(),
            residual_norm: fit.residual_norm(),
            iterations: fit.iterations(),
            stop_reason: fit.stop_reason(),
        }
    }

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
