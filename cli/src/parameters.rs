//! The numbers of a fit as they stand in a report and in a model file.

use crate::kernel::Choice;
use crate::method::{Method, Recipe};
use crate::number::short;
use crate::penalty::{Border, Norm, Penalty};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Method, kernel and what else the method has; none where it has no such
/// thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub(crate) method: Method,
    #[serde(flatten)]
    pub(crate) kernel: Choice,
    lambda: Option<f64>,
    regularizer: Option<Norm>,
    border: Option<Border>,
    refit_lambda: Option<f64>,
    mu: Option<f64>,
    /// What the target was centred at before the fit; the bias contains it.
    centre: Option<f64>,
}

impl Parameters {
    pub(crate) fn new(recipe: &Recipe, kernel: Choice, centre: Option<f64>) -> Self {
        let (penalty, refit_lambda, mu) = match recipe {
            Recipe::Kgard { penalty, refit_lambda, .. } => (Some(*penalty), *refit_lambda, None),
            Recipe::Automatic { penalty, .. }
            | Recipe::Many { penalty, .. }
            | Recipe::Krr { penalty } => (Some(*penalty), None, None),
            Recipe::Ram { penalty, mu } => (Some(*penalty), None, Some(*mu)),
            Recipe::RbRvm => (None, None, None),
        };
        Self {
            method: recipe.method(),
            kernel,
            lambda: penalty.map(|penalty| penalty.lambda),
            regularizer: penalty.map(|penalty| penalty.norm),
            border: penalty.and_then(|penalty| penalty.border),
            refit_lambda,
            mu,
            centre,
        }
    }

    /// What the target was centred at, in words.
    pub(crate) fn centred(&self) -> String {
        self.centre.map_or_else(String::new, |c| format!(" (target centred at {})", short(c)))
    }

    /// What they are for people: the kernel is not among them.
    pub(crate) fn penalty(&self) -> String {
        let (Some(lambda), Some(norm)) = (self.lambda, self.regularizer) else {
            return "none".into();
        };
        let mut text = Penalty { lambda, norm, border: self.border }.to_string();
        if let Some(lambda) = self.refit_lambda {
            let _ = write!(text, "; solved again with {lambda}");
        }
        if let Some(mu) = self.mu {
            let _ = write!(text, "; mu {mu}");
        }
        text
    }

    /// What a file may have wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (what, value) in
            [("lambda", self.lambda), ("refit_lambda", self.refit_lambda), ("mu", self.mu)]
        {
            if let Some(x) = value
                && !(x > 0.0 && x.is_finite())
            {
                return Err(format!("its {what} is {x}, which is not positive: fit it anew"));
            }
        }
        match self.centre {
            Some(centre) if !centre.is_finite() => {
                Err(format!("its centre is {centre}: fit it anew"))
            }
            _ => Ok(()),
        }
    }
}
