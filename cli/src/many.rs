//! Fits of more points than there should be matrices of: on a line in O(n), in
//! space with a kernel matrix of low rank or in regions.

use crate::args::FitArgs;
use crate::error::{Error, Result};
use crate::kernel::Choice;
use crate::number::{counted, short};
use kgard::kernel::AnyKernel;
use kgard::line::{LineFit, LineTuned, LineTuner, MarkovOf};
use kgard::space::{SpaceTuned, SpaceTuner, Way};
use kgard::{Laplacian, Matern32, Matern52, Outlier, Points};

/// Points beyond which a tuned fit takes one of these ways: a dense one takes half a
/// minute there.
pub(crate) const MANY: usize = 5000;

/// A function and its outliers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Many {
    pub(crate) kernel: AnyKernel<f64>,
    pub(crate) lambda: f64,
    /// What the function is expanded in: none in regions, which have a function each.
    pub(crate) expansion: Option<Expansion>,
    pub(crate) outliers: Vec<Outlier<f64>>,
    pub(crate) fitted: Vec<f64>,
    pub(crate) residual: Vec<f64>,
    pub(crate) noise: Option<f64>,
    /// How it was made, in words.
    pub(crate) way: String,
}

/// $\sum_i \alpha_i \kappa(x, x_i) + c$.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expansion {
    /// Coordinates of the points; none if they are those of the data.
    pub(crate) points: Option<Vec<f64>>,
    pub(crate) coefficients: Vec<f64>,
    pub(crate) bias: f64,
}

/// Whether all is left open and there are too many points for a dense fit. Of one
/// input only Markov kernels take this way.
pub(crate) fn suits(args: &FitArgs, kernel: &AnyKernel<f64>, points: Points<'_, f64>) -> bool {
    let is_open = args.kernel.is_open();
    points.len() > MANY
        && match points.dim() {
            1 => is_open || Family::of(kernel).is_some(),
            _ => is_open || kernel.as_radial().is_some(),
        }
}

/// Tunes and fits.
pub(crate) fn fit(
    args: &FitArgs,
    kernel: &AnyKernel<f64>,
    points: Points<'_, f64>,
    y: &[f64],
) -> Result<Many> {
    let is_open = args.kernel.is_open();
    let many = if points.dim() == 1 {
        let family = if is_open { None } else { Family::of(kernel) };
        on_line(points.coordinates(), y, family)
    } else {
        let mut tuner = SpaceTuner::new();
        if !is_open {
            let mut kernel = kernel.clone();
            kernel.separate_lengths(points.dim());
            tuner = SpaceTuner::with_kernel(kernel);
        }
        tuner.fit(points, y).map(in_space)
    };
    many.map_err(Error::from)
}

type Outcome<T> = std::result::Result<T, kgard::Error>;

/// Kernels on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Matern12,
    Matern32,
    Matern52,
}

impl Family {
    /// That of a kernel with an open length.
    fn of(kernel: &AnyKernel<f64>) -> Option<Self> {
        match kernel.to_string().as_str() {
            "matern12" | "laplacian" => Some(Self::Matern12),
            "matern32" => Some(Self::Matern32),
            "matern52" => Some(Self::Matern52),
            _ => None,
        }
    }
}

/// A kernel that was tuned on a line.
struct Tuned<'a, F> {
    x: &'a [f64],
    y: &'a [f64],
    family: F,
    tuned: LineTuned<f64>,
}

fn tuned<'a, K, F, const D: usize>(x: &'a [f64], y: &'a [f64], family: F) -> Outcome<Tuned<'a, F>>
where
    K: MarkovOf<f64, D> + Clone,
    F: Fn(f64) -> K + Copy,
{
    let tuned = LineTuner::new(x, family)?.tune(y)?;
    Ok(Tuned { x, y, family, tuned })
}

impl<F> Tuned<'_, F> {
    fn fit<K, const D: usize>(&self) -> Outcome<Many>
    where
        K: MarkovOf<f64, D> + Clone,
        F: Fn(f64) -> K + Copy,
    {
        let Self { x, y, family, tuned } = self;
        let fit: LineFit<f64, K, D, 1> = LineTuner::new(x, family)?.fit_tuned(y, tuned)?;
        let name = ["", "matern12", "matern32", "matern52"][D];
        let kernel = format!("{name}({:?})", tuned.length);
        let residual = fit.residual();
        let coefficients = residual.iter().map(|r| r / fit.lambda()).collect();
        Ok(Many {
            kernel: kernel.parse().map_err(|_| kgard::Error::Unsupported { what: "the kernel" })?,
            lambda: fit.lambda(),
            expansion: Some(Expansion { points: None, coefficients, bias: fit.bias() }),
            outliers: fit.outliers(),
            fitted: fit.fitted(),
            residual,
            noise: Some(fit.noise()),
            way: "exact on a line, in O(n)".into(),
        })
    }
}

/// With a family, or that of the shortest description.
fn on_line(x: &[f64], y: &[f64], family: Option<Family>) -> Outcome<Many> {
    match family {
        Some(Family::Matern12) => tuned(x, y, Laplacian::new)?.fit(),
        Some(Family::Matern32) => tuned(x, y, Matern32::new)?.fit(),
        Some(Family::Matern52) => tuned(x, y, Matern52::new)?.fit(),
        None => {
            let rough = tuned(x, y, Laplacian::new)?;
            let middle = tuned(x, y, Matern32::new)?;
            let smooth = tuned(x, y, Matern52::new)?;
            let (a, b, c) = (rough.tuned.score, middle.tuned.score, smooth.tuned.score);
            match () {
                () if a < b && a < c => rough.fit(),
                () if b <= c => middle.fit(),
                () => smooth.fit(),
            }
        }
    }
}

fn in_space(tuned: SpaceTuned<f64>) -> Many {
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
    let expansion = fit.low_rank().map(|fit| Expansion {
        points: Some(fit.pivots().coordinates().to_vec()),
        coefficients: fit.coefficients().to_vec(),
        bias: fit.bias(),
    });
    Many {
        kernel,
        lambda,
        expansion,
        outliers: fit.outliers().to_vec(),
        fitted: fit.fitted().to_vec(),
        residual: fit.residual().to_vec(),
        noise: fit.low_rank().map(kgard::space::LowRankFit::noise),
        way,
    }
}

impl Many {
    /// The kernel with its numbers.
    pub(crate) fn choice(&self) -> Choice {
        Choice::new(self.kernel.clone())
    }
}
