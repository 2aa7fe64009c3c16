//! The penalty that the command line names.

use crate::number::{positive, short};
use clap::ValueEnum;
use kgard::{Regularizer, border_weights};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which penalty keeps the function smooth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Norm {
    /// The sum of squared coefficients (the paper's main model)
    L2,
    /// The norm of the function itself
    Rkhs,
}

/// A stronger penalty at both ends of the data: `MARGIN:FACTOR`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Border {
    /// How many points, at the beginning and at the end.
    pub(crate) margin: usize,
    /// What lambda is multiplied by there.
    pub(crate) factor: f64,
}

impl FromStr for Border {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (margin, factor) =
            text.split_once(':').ok_or("it must be MARGIN:FACTOR, for example 5:5")?;
        let margin = margin
            .parse()
            .map_err(|_| "the part before the colon must be a number of points".to_owned())?;
        let factor = positive(factor).map_err(|why| format!("the part after the colon: {why}"))?;
        Ok(Self { margin, factor })
    }
}

/// A penalty with its strength.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Penalty {
    pub(crate) lambda: f64,
    #[serde(rename = "regularizer")]
    pub(crate) norm: Norm,
    pub(crate) border: Option<Border>,
}

impl Penalty {
    /// The same penalty of another strength.
    pub(crate) fn with_lambda(self, lambda: f64) -> Self {
        Self { lambda, ..self }
    }

    /// The weights of `n` coefficients, if they are not all the same.
    pub(crate) fn weights(&self, n: usize) -> Option<Vec<f64>> {
        self.border.map(|border| {
            let mut weights = vec![1.0; n];
            border_weights(&mut weights, border.margin, border.factor);
            weights
        })
    }

    /// The library's regularizer with these weights.
    pub(crate) fn regularizer<'a>(&self, weights: Option<&'a [f64]>) -> Regularizer<'a, f64> {
        let plain = match self.norm {
            Norm::L2 => Regularizer::l2(self.lambda),
            Norm::Rkhs => Regularizer::rkhs(self.lambda),
        };
        match weights {
            Some(weights) => plain.with_weights(weights),
            None => plain,
        }
    }
}

impl fmt::Display for Penalty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let norm = match self.norm {
            Norm::L2 => "l2",
            Norm::Rkhs => "rkhs",
        };
        write!(f, "{norm}, lambda {}", short(self.lambda))?;
        match self.border {
            Some(Border { margin, factor }) => {
                write!(f, ", times {factor} at the first and last {margin} points")
            }
            None => Ok(()),
        }
    }
}
