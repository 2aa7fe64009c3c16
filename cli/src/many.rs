//! Fits of more points than there should be matrices of: on a line in O(n), in
//! space with a kernel matrix of low rank or in regions.

use crate::args::FitArgs;
use crate::data::Data;
use crate::error::{Error, Result};
use crate::kernel::Choice;
use crate::line::{self, Chosen, Family, Samples};
use crate::number::{counted, short};
use crate::progress::Work;
use kgard::kernel::AnyKernel;
use kgard::line::Predicted;
use kgard::space::{LowRankFit, SpaceFit, SpaceTuned, SpaceTuner, Way};
use kgard::{Outlier, Points};
use serde::{Deserialize, Serialize};

/// Points beyond which a tuned fit takes one of these ways: a dense one takes half a
/// minute there.
pub(crate) const MANY: usize = 5000;

/// A function and its outliers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Many {
    pub(crate) kernel: AnyKernel<f64>,
    pub(crate) lambda: f64,
    pub(crate) saved: Saved,
    /// Of the kernels at the points, on a line; at the pivots of a kernel matrix of low
    /// rank; none in regions, which have a function each.
    pub(crate) coefficients: Vec<f64>,
    pub(crate) bias: f64,
    pub(crate) outliers: Vec<Outlier<f64>>,
    pub(crate) fitted: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) noise: f64,
    /// How it was made, in words.
    pub(crate) way: String,
}

/// A fit of many points in a model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Saved {
    /// On a line the function follows from the samples in O(n).
    Line {
        samples: Samples,
        chosen: Chosen,
    },
    Space {
        dim: usize,
        fit: Box<SpaceFit<f64, AnyKernel<f64>>>,
    },
}

/// A function that was saved.
pub(crate) enum Function<'m> {
    Line(Box<dyn line::Function>),
    Space { dim: usize, fit: &'m SpaceFit<f64, AnyKernel<f64>> },
}

impl Saved {
    /// Number of inputs.
    pub(crate) fn dim(&self) -> usize {
        match self {
            Self::Line { .. } => 1,
            Self::Space { dim, .. } => *dim,
        }
    }

    /// The function, ready to be evaluated.
    pub(crate) fn function(&self) -> Outcome<Function<'_>> {
        Ok(match self {
            Self::Line { samples, chosen } => Function::Line(chosen.fit(samples)?),
            Self::Space { dim, fit } => Function::Space { dim: *dim, fit },
        })
    }
}

impl Function<'_> {
    /// The value at one point.
    pub(crate) fn at(&self, x: &[f64]) -> Outcome<f64> {
        match self {
            Self::Line(function) => Ok(function.at(x[0])?.mean),
            Self::Space { fit, .. } => fit.predict(x),
        }
    }

    /// Values and deviations of measurements of weight 1 at points, coordinates one
    /// after another.
    pub(crate) fn measurements(&self, x: &[f64]) -> Outcome<Vec<Predicted<f64>>> {
        let (predicted, noise) = match self {
            Self::Line(function) => {
                let all = x.iter().map(|&x| function.at(x)).collect::<Outcome<Vec<_>>>()?;
                (all, function.noise())
            }
            Self::Space { dim, fit } => {
                (fit.predict_with_deviations(Points::new(x, *dim)?)?, fit.noise())
            }
        };
        Ok(predicted.iter().map(|at| at.of_measurement(noise)).collect())
    }
}

/// Whether all is left open and there are too many points for a dense fit. Of one
/// input only Markov kernels take this way, and only they know of weights.
pub(crate) fn suits(
    args: &FitArgs,
    kernel: &AnyKernel<f64>,
    points: Points<'_, f64>,
    weights: &[f64],
) -> bool {
    let is_open = args.kernel.is_open();
    points.len() > MANY
        && match points.dim() {
            1 => is_open || family(kernel).is_some(),
            _ => weights.is_empty() && (is_open || kernel.as_radial().is_some()),
        }
}

fn family(kernel: &AnyKernel<f64>) -> Option<Family> {
    Family::of(&kernel.to_string())
}

/// Tunes and fits.
pub(crate) fn fit(
    args: &FitArgs,
    kernel: &AnyKernel<f64>,
    points: Points<'_, f64>,
    data: &Data,
    work: &Work,
) -> Result<Many> {
    let is_open = args.kernel.is_open();
    let many = if points.dim() == 1 {
        let family = if is_open { None } else { family(kernel) };
        let x = points.coordinates().to_vec();
        on_line(Samples::new(x, data.y.clone(), data.weights.as_deref()), family, work)
    } else {
        let mut tuner = SpaceTuner::new();
        if !is_open {
            let mut kernel = kernel.clone();
            kernel.separate_lengths(points.dim());
            tuner = SpaceTuner::with_kernel(kernel);
        }
        tuner.fit(points, &data.y).map(|tuned| in_space(tuned, points.dim()))
    };
    many.map_err(Error::from)
}

type Outcome<T> = std::result::Result<T, kgard::Error>;

fn on_line(samples: Samples, family: Option<Family>, work: &Work) -> Outcome<Many> {
    let chosen = line::choose(&samples, family, &|what| work.next(what))?;
    work.next(format!("fitting {}", counted(samples.y.len(), "point")));
    let function = chosen.fit(&samples)?;
    let kernel = format!("{}({:?})", chosen.family.name(), chosen.length);
    let residual = function.residual();
    Ok(Many {
        kernel: kernel.parse().map_err(|_| kgard::Error::Unsupported { what: "the kernel" })?,
        lambda: chosen.lambda,
        coefficients: samples.coefficients(&residual, chosen.lambda),
        bias: function.bias(),
        outliers: function.outliers(),
        fitted: function.fitted(),
        residual,
        noise: function.noise(),
        way: "exact on a line, in O(n)".into(),
        saved: Saved::Line { samples, chosen },
    })
}

fn in_space(tuned: SpaceTuned<f64>, dim: usize) -> Many {
    let SpaceTuned { fit, kernel, lambda, tuned_to, .. } = tuned;
    let part = counted(tuned_to, "point");
    let way = match fit.way() {
        Way::LowRank { rank, error } => format!(
            "a kernel matrix of rank {rank} ({} of a point's variance left out), tuned to {part}",
            short(error)
        ),
        Way::Regions { count } => format!("{count} overlapping regions, tuned to {part}"),
        _ => format!("exact, tuned to {part}"),
    };
    let low_rank = fit.low_rank();
    Many {
        kernel,
        lambda,
        coefficients: low_rank.map_or_else(Vec::new, |fit| fit.coefficients().to_vec()),
        bias: low_rank.map_or(0.0, LowRankFit::bias),
        outliers: fit.outliers().to_vec(),
        fitted: fit.fitted().to_vec(),
        residual: fit.residual().to_vec(),
        noise: fit.noise(),
        way,
        saved: Saved::Space { dim, fit: Box::new(fit) },
    }
}

impl Many {
    /// The kernel with its numbers.
    pub(crate) fn choice(&self) -> Choice {
        Choice::new(self.kernel.clone())
    }
}
