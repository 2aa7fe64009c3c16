//! Fits on a line with one of the Matérn kernels: tuned, and made again from a file.

use crate::number::counted;
use kgard::line::{Line, LineFit, LineTuner, MarkovOf, Predicted};
use kgard::{Laplacian, Matern32, Matern52, Outlier};
use serde::{Deserialize, Serialize};

type Outcome<T> = std::result::Result<T, kgard::Error>;

/// Kernels on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Family {
    Matern12,
    Matern32,
    Matern52,
}

impl Family {
    const ALL: [Self; 3] = [Self::Matern12, Self::Matern32, Self::Matern52];

    /// The name, as `--kernel` has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Matern12 => "matern12",
            Self::Matern32 => "matern32",
            Self::Matern52 => "matern52",
        }
    }

    /// That of a kernel with an open length.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let name = if name == "laplacian" { "matern12" } else { name };
        Self::ALL.into_iter().find(|family| family.name() == name)
    }
}

/// Samples; NaN for one that is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Samples {
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    /// Deviations of the noise, relative to each other; empty if it is of one size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deviations: Vec<f64>,
}

impl Samples {
    /// Each with a weight, 1 / variance, unless there are none.
    pub(crate) fn new(x: Vec<f64>, y: Vec<f64>, weights: Option<&[f64]>) -> Self {
        let deviation = |weight: &f64| weight.sqrt().recip();
        let deviations = weights.unwrap_or_default().iter().map(deviation).collect();
        Self { x, y, deviations }
    }

    /// The coefficients of the kernels at the points: residual / (lambda s^2).
    pub(crate) fn coefficients(&self, residual: &[f64], lambda: f64) -> Vec<f64> {
        let deviation = |i: usize| self.deviations.get(i).copied().unwrap_or(1.0);
        let each = residual.iter().enumerate();
        each.map(|(i, r)| r / (lambda * deviation(i) * deviation(i))).collect()
    }
}

/// What was chosen for some samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    pub(crate) family: Family,
    pub(crate) length: f64,
    pub(crate) lambda: f64,
    /// In order of selection.
    outliers: Vec<usize>,
}

/// A fitted function.
pub(crate) trait Function: Send + Sync {
    /// The function at a place, and the deviation of its error.
    fn at(&self, x: f64) -> Outcome<Predicted<f64>>;
    fn bias(&self) -> f64;
    /// The deviation of the noise of a sample of weight 1.
    fn noise(&self) -> f64;
    fn outliers(&self) -> Vec<Outlier<f64>>;
    fn fitted(&self) -> Vec<f64>;
    fn residual(&self) -> Vec<f64>;
}

impl<K, const D: usize> Function for LineFit<f64, K, D, 1>
where
    K: MarkovOf<f64, D> + Send + Sync,
{
    fn at(&self, x: f64) -> Outcome<Predicted<f64>> {
        self.predict(x)
    }
    fn bias(&self) -> f64 {
        self.bias()
    }
    fn noise(&self) -> f64 {
        self.noise()
    }
    fn outliers(&self) -> Vec<Outlier<f64>> {
        self.outliers()
    }
    fn fitted(&self) -> Vec<f64> {
        self.fitted()
    }
    fn residual(&self) -> Vec<f64> {
        self.residual()
    }
}

/// Length, $\lambda$ and outliers of a family, or of the one of least description
/// length; `tell` is told what is being tried.
pub(crate) fn choose(
    samples: &Samples,
    family: Option<Family>,
    tell: &(dyn Fn(String) + Sync),
) -> Outcome<Chosen> {
    let mut best: Option<(f64, Chosen)> = None;
    for one in Family::ALL {
        if family.is_some_and(|family| family != one) {
            continue;
        }
        tell(format!(
            "choosing parameters of {} for {}",
            one.name(),
            counted(samples.y.len(), "point")
        ));
        let (score, chosen) = match one {
            Family::Matern12 => tune(samples, one, Laplacian::new),
            Family::Matern32 => tune(samples, one, Matern32::new),
            Family::Matern52 => tune(samples, one, Matern52::new),
        }?;
        // Of equals the smoother.
        if best.as_ref().is_none_or(|(least, _)| score <= *least) {
            best = Some((score, chosen));
        }
    }
    best.map(|(_, chosen)| chosen).ok_or(kgard::Error::Unsupported { what: "no kernel" })
}

fn tune<K, F, const D: usize>(samples: &Samples, family: Family, new: F) -> Outcome<(f64, Chosen)>
where
    K: MarkovOf<f64, D> + Clone,
    F: Fn(f64) -> K,
{
    let mut tuner = LineTuner::new(&samples.x, new)?;
    if !samples.deviations.is_empty() {
        tuner = tuner.with_deviations(&samples.deviations)?;
    }
    let tuned = tuner.tune(&samples.y)?;
    let (length, lambda, outliers) = (tuned.length, tuned.lambda, tuned.outliers);
    Ok((tuned.score, Chosen { family, length, lambda, outliers }))
}

impl Chosen {
    /// The function of these samples.
    pub(crate) fn fit(&self, samples: &Samples) -> Outcome<Box<dyn Function>> {
        match self.family {
            Family::Matern12 => self.fit_with(samples, Laplacian::new(self.length)),
            Family::Matern32 => self.fit_with(samples, Matern32::new(self.length)),
            Family::Matern52 => self.fit_with(samples, Matern52::new(self.length)),
        }
    }

    fn fit_with<K, const D: usize>(
        &self,
        samples: &Samples,
        kernel: K,
    ) -> Outcome<Box<dyn Function>>
    where
        K: MarkovOf<f64, D> + Clone + Send + Sync + 'static,
    {
        let mut line = Line::new(&samples.x, kernel, self.lambda)?;
        if !samples.deviations.is_empty() {
            line = line.with_deviations(&samples.deviations)?;
        }
        Ok(Box::new(line.fit_support(&samples.y, &self.outliers)?))
    }

    /// Which samples are outliers, in order of selection.
    pub(crate) fn outliers(&self) -> &[usize] {
        &self.outliers
    }
}
