//! Everything from the data: lengths of the kernel, $\lambda$, trend, noise and
//! outliers, in the user's units.
//!
//! [`Tuner`] takes any table of numbers. Inputs and target are centred at their
//! medians and divided by robust deviations, so that units and offsets do not
//! matter and no gross value decides what is large. Then it looks for the
//! description of the data that is shortest: a function with its kernel's
//! lengths, one per input, and a trend; noise, which may depend on the inputs;
//! and outliers, each of which costs what it takes to name it and its value. Where a fifth and
//! more of the points have one and the same value (a sensor at its limit, days without
//! rain), the noise is told by the others.
//!
//! 1. *Starts*: for a few lengths each, the points that disagree with their
//!    neighbours are left out, and parameters are tuned to the rest.
//! 2. *Chains*: from the best starts, outliers and parameters in turn until both
//!    settle. Outliers are selected by Algorithm 1 on leave-one-out errors, by
//!    their odds against the noise; parameters climb the marginal likelihood of
//!    the points that are left.
//! 3. *A second look* at points of high leverage, which may have pulled the
//!    function along; other kernels; waves that are left in the errors; uneven noise. The
//!    shortest description wins.
//! 4. *Clusters*: outliers side by side on one side of the function may be narrow peaks,
//!    jumps or steep growth. They are outliers if the points around them do not tell
//!    them.
//!
//! ```
//! use kgard::tune::Tuner;
//! let x: Vec<f64> = (0..80).map(|i| i as f64 / 80.0).collect();
//! let mut y: Vec<f64> = x.iter().map(|x| 1000.0 + (6.0 * x).sin()).collect();
//! for (i, y) in y.iter_mut().enumerate() {
//!     *y += 0.05 * ((i * i % 17) as f64 / 8.0 - 1.0);
//! }
//! y[17] = 1e12; // a broken sensor
//! let model = Tuner::new().fit(&x, &y)?;
//! assert_eq!(model.outliers().len(), 1);
//! assert_eq!(model.outliers()[0].index, 17);
//! let prediction = model.uncertainty()?.at(&[0.4])?;
//! assert!((prediction.value - 1000.0 - 2.4_f64.sin()).abs() < 0.05);
//! let (low, high) = prediction.interval(0.95)?;
//! assert!(low < prediction.value && prediction.value < high);
//! # Ok::<(), kgard::Error>(())
//! ```

mod chain;
mod clusters;
mod likelihood;
mod minimize;
mod model;
mod parameters;
mod sample;
mod search;
mod second_look;
mod select;
#[cfg(feature = "serde")]
mod serial;
mod sizes;
mod standard;
mod start;
pub(crate) mod subset;
mod waves;

pub use model::{Model, Prediction, Uncertainty};
pub use second_look::second_look;
pub use standard::Unit;

use crate::kernel::{AnyKernel, Cosine, Gaussian, PerInput, Shape, Tunable};
use crate::real::constant;
use crate::{Error, Penalty, Points, Real};
use alloc::vec;
use alloc::vec::Vec;
use chain::Engine;
use likelihood::Memory;
use parameters::State;
use sample::Sample;
use standard::{Target, standardize};

/// Points without which there is nothing to leave out.
const FEWEST: usize = 8;
/// Points that parameters are tuned to, at the most: a part stands for more.
pub const MOST: usize = 400;
/// Where waves begin, in lengths $\ell$ of the Gaussian kernel that they replace: the
/// period of one deviation of its spectrum, $2 \pi \ell / \sqrt 2$, and half a length more.
const WAVE_PERIOD: f64 = 4.44;
const WAVE_LENGTH: f64 = 1.5;
/// The step in which a target is given rounds it with so much smaller a deviation,
/// $1 / \sqrt{12}$, and less than this share of a step is never an outlier.
const STEPS_PER_DEVIATION: f64 = 2.5;

/// A linear trend beside the kernel's function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Trend {
    /// Slopes with a prior of the process's own deviation: as steep as the data
    /// say, and none where they say nothing.
    #[default]
    Automatic,
    /// Slopes without a penalty, like the bias.
    Free,
    /// None: far from the data the function goes back to its bias.
    None,
}

/// Tunes and fits; see the [module](self).
///
/// `K` is the kernel, [`AnyKernel`] unless it is one of the user's.
#[derive(Debug, Clone)]
pub struct Tuner<T, K = AnyKernel<T>> {
    kernels: Kernels<K>,
    penalty: Penalty,
    trend: Trend,
    lambda: Option<T>,
    standardize: bool,
    uneven_noise: bool,
    robust: bool,
}

#[derive(Debug, Clone)]
enum Kernels<K> {
    /// Made for a number of inputs, in standardised units.
    Made { usual: fn(usize) -> Vec<K>, of_clusters: fn(usize) -> Vec<K> },
    /// In the units of the data.
    Given(K),
}

/// Units of the inputs, and kernels in these: the usual ones, and those for functions that
/// look like outliers in clusters.
struct Standard<T, K> {
    units: Vec<Unit<T>>,
    usual: Vec<K>,
    of_clusters: Vec<K>,
}

impl<T, K: Clone> Standard<T, K> {
    fn of_one(units: Vec<Unit<T>>, kernel: K) -> Self {
        Self { units, usual: vec![kernel.clone()], of_clusters: vec![kernel] }
    }
}

/// Matérn 5/2 and Gaussian, with a length per input; on a line, waves as well.
///
/// The spectrum of a Gaussian kernel is largest at frequency zero. That of functions which
/// swing around their mean is not: between wiggles of one length there are few long ones.
/// Times a cosine, the Gaussian's spectrum is moved to $\pm 1 / P$. With
/// [`WAVE_LENGTH`] and [`WAVE_PERIOD`], in lengths of the Gaussian kernel, it begins as the
/// sum of two halves that overlap.
fn usual_kernels<T: Real>(dim: usize) -> Vec<AnyKernel<T>> {
    let mut kernels = vec![of_shape(Shape::Matern52, dim), of_shape(Shape::Gaussian, dim)];
    if dim == 1 {
        let wave = AnyKernel::from(Cosine::new(constant(WAVE_PERIOD)));
        kernels.push(AnyKernel::from(Gaussian::new(constant(WAVE_LENGTH))) * wave);
    }
    kernels
}

/// Those of peaks, and of jumps.
fn kernels_of_clusters<T: Real>(dim: usize) -> Vec<AnyKernel<T>> {
    [Shape::Matern52, Shape::Gaussian, Shape::Matern12].map(|shape| of_shape(shape, dim)).into()
}

fn of_shape<T: Real>(shape: Shape<T>, dim: usize) -> AnyKernel<T> {
    AnyKernel::from(PerInput::new(shape, vec![T::one(); dim]))
}

impl<T: Real> Tuner<T> {
    /// Nothing to choose: a Matérn 5/2 or a Gaussian kernel with a length per
    /// input, or with one input a Gaussian times a cosine, whichever describes the
    /// data best.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Kernels::Made { usual: usual_kernels, of_clusters: kernels_of_clusters })
    }
}

impl<T: Real> Default for Tuner<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real, K: Tunable<T>> Tuner<T, K> {
    /// With a kernel of the caller's, in the units of the data. Its parameters are
    /// learned, those of an [`AnyKernel`] that are kept apart.
    #[must_use]
    pub fn with_kernel(kernel: K) -> Self {
        Self::of(Kernels::Given(kernel))
    }

    fn of(kernels: Kernels<K>) -> Self {
        Self {
            kernels,
            penalty: Penalty::default(),
            trend: Trend::default(),
            lambda: None,
            standardize: true,
            uneven_noise: true,
            robust: true,
        }
    }

    /// Another penalty than the RKHS norm.
    #[must_use]
    pub fn penalty(self, penalty: Penalty) -> Self {
        Self { penalty, ..self }
    }

    /// A trend or none, instead of what the data say.
    #[must_use]
    pub fn trend(self, trend: Trend) -> Self {
        Self { trend, ..self }
    }

    /// A $\lambda$ that stays.
    #[must_use]
    pub fn lambda(self, lambda: T) -> Self {
        Self { lambda: Some(lambda), ..self }
    }

    /// Whether inputs and target are centred and scaled (they are, unless it is
    /// said otherwise). Without it the target and all inputs should have a
    /// deviation around one.
    #[must_use]
    pub fn standardize(self, standardize: bool) -> Self {
        Self { standardize, ..self }
    }

    /// Whether noise may depend on the inputs (it may).
    #[must_use]
    pub fn uneven_noise(self, uneven_noise: bool) -> Self {
        Self { uneven_noise, ..self }
    }

    /// Whether outliers are looked for (they are). Without it this is Gaussian
    /// process regression.
    #[must_use]
    pub fn outliers(self, outliers: bool) -> Self {
        Self { robust: outliers, ..self }
    }

    /// Tunes everything that is not given, finds the outliers and fits the
    /// function.
    ///
    /// # Errors
    /// If the points or values are wrong, fewer than eight, or too many for the
    /// memory; if `y` has the wrong length or is not finite; if the kernel does
    /// not suit the points.
    pub fn fit<'p>(&self, points: impl Into<Points<'p, T>>, y: &[T]) -> Result<Model<T, K>, Error> {
        self.fit_weighted(points, y, &[])
    }

    /// The same with a weight $w_i > 0$ for each point: its noise has the variance
    /// $\sigma^2 / w_i$. An empty slice stands for equal weights.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if the weights are not as many as points, or not
    /// positive.
    pub fn fit_weighted<'p>(
        &self,
        points: impl Into<Points<'p, T>>,
        y: &[T],
        weights: &[T],
    ) -> Result<Model<T, K>, Error> {
        let points = points.into();
        points.check()?;
        let (n, dim) = (points.len(), points.dim());
        Error::check_at_least("list of points to tune with", n, FEWEST)?;
        Error::check_len("values", y.len(), n)?;
        Error::check_finite("value", y)?;
        if !weights.is_empty() {
            Error::check_len("weights", weights.len(), n)?;
            weights.iter().try_for_each(|&w| Error::check_positive("weight", w))?;
        }
        if let Some(lambda) = self.lambda {
            Error::check_positive("lambda", lambda)?;
        }
        reserve::<T>(n)?;
        let target = if self.standardize { Target::new(y) } else { Target::as_is(y) };
        let Standard { units, usual: kernels, of_clusters } = self.units(points)?;
        let noise = relative_noise(weights, n);
        let x = standardize(points, &units, self.standardize);
        let sample = Sample::new(x, dim, target.values.clone(), noise, self.trend);
        let mut engine = Engine {
            sample: &sample,
            penalty: self.penalty,
            floor: T::epsilon().sqrt().max(target.step / constant(STEPS_PER_DEVIATION)),
            fixed_lambda: self.lambda,
            most: MOST,
            robust: self.robust,
            uneven_noise: self.uneven_noise,
            steep_trend: self.trend == Trend::Automatic,
            memory: Memory::new(),
        };
        let (state, support, level) = if target.is_constant {
            let support = if self.robust { target.others() } else { vec![] };
            let kernel = kernels.into_iter().next().ok_or(Error::Empty { what: "kernels" })?;
            (State::of(kernel, self.lambda), support, vec![])
        } else {
            let found = search::search(&mut engine, &kernels, &of_clusters);
            let found = found.ok_or(Error::NoConvergence { what: "tuning" })?;
            (found.state, found.support, found.level)
        };
        let memory = &mut engine.memory;
        let sample = sample.with_level(&level);
        Model::new(memory, &sample, state, &support, self.penalty, units, target.unit, y)
    }

    /// The units of the inputs, and the kernels in these.
    fn units(&self, points: Points<'_, T>) -> Result<Standard<T, K>, Error> {
        let dim = points.dim();
        let mut units = vec![Unit::identity(); dim];
        if self.standardize {
            for (j, unit) in units.iter_mut().enumerate() {
                *unit = Unit::of_input(points.iter().map(|point| point[j]));
            }
        }
        match &self.kernels {
            Kernels::Made { usual, of_clusters } => {
                Ok(Standard { units, usual: usual(dim), of_clusters: of_clusters(dim) })
            }
            Kernels::Given(kernel) => {
                kernel.check()?;
                kernel.check_dim(dim)?;
                let of = |units: &[Unit<T>]| {
                    let centres: Vec<T> = units.iter().map(|u| u.centre).collect();
                    let scales: Vec<T> = units.iter().map(|u| u.scale).collect();
                    kernel.standardised(&centres, &scales)
                };
                match of(&units) {
                    // One length for all inputs: they have a common unit.
                    Err(Error::Unsupported { .. }) => {
                        let scale = units.iter().fold(T::zero(), |max: T, u| max.max(u.scale));
                        for unit in &mut units {
                            unit.scale = scale;
                        }
                        let kernel = of(&units)?;
                        Ok(Standard::of_one(units, kernel))
                    }
                    kernel => Ok(Standard::of_one(units, kernel?)),
                }
            }
        }
    }
}

/// Variances of the noise relative to their geometric mean, so that $\lambda$
/// keeps its meaning in any unit of the weights.
fn relative_noise<T: Real>(weights: &[T], n: usize) -> Vec<T> {
    if weights.is_empty() {
        return vec![T::one(); n];
    }
    let sum = weights.iter().fold(T::zero(), |s, w| s + w.ln());
    let mean = (sum / crate::real::count(n)).exp();
    weights.iter().map(|&w| mean / w).collect()
}

/// Asks for the memory that matrices of `n` points take, so that too many points
/// are an error and not the end of the program.
fn reserve<T: Real>(n: usize) -> Result<(), Error> {
    let scalars = n.checked_mul(n).and_then(|square| square.checked_mul(MATRICES));
    let scalars = scalars.ok_or(Error::TooLarge { scalars: usize::MAX })?;
    let mut memory: Vec<T> = Vec::new();
    memory.try_reserve_exact(scalars).map_err(|_| Error::TooLarge { scalars })
}

/// Matrices of all points that a search has at a time.
const MATRICES: usize = 2;
