//! Many points in space: Algorithm 1 for up to some hundred thousand points with
//! two and more inputs.
//!
//! An exact fit keeps $n \times n$ matrices. [`Space`] does without, in one of two
//! ways, and says which ([`Way`]):
//!
//! * [`LowRank`]: $K \approx F F^T$ with $F$ of rank $m \ll n$, by a pivoted
//!   Cholesky decomposition that goes on until the mean of what it leaves of the
//!   kernel's variance is one part in a hundred of $\lambda$. On this kernel the
//!   search for outliers is exact, at $O(m^2)$ an outlier, because bounds tell
//!   which residuals can be the largest.
//! * [`Regions`]: where the function has too many features for that, a tree
//!   divides the points into cells, and each cell is fitted exactly together
//!   with the points around it. The automatic rule sees the residuals of all
//!   regions together.
//!
//! ```
//! use kgard::space::Space;
//! use kgard::{Gaussian, Points, Stop};
//!
//! // 1,000 points in the unit square, and ten wrong values.
//! let x: Vec<f64> = (0..2000).map(|i| (0.618_034 * (i * i % 7919) as f64).fract()).collect();
//! let points = Points::new(&x, 2)?;
//! let f = |p: &[f64]| (4.0 * p[0]).sin() + (3.0 * p[1]).cos();
//! let mut y: Vec<f64> = points.iter().map(f).collect();
//! for (i, y) in y.iter_mut().enumerate() {
//!     *y += 0.05 * ((i * i % 17) as f64 / 8.0 - 1.0);
//! }
//! for wrong in (50..1000).step_by(100) {
//!     y[wrong] += 1.0;
//! }
//!
//! let space = Space::new(points, Gaussian::new(0.5), 0.01)?;
//! let fit = space.fit(&y, Stop::automatic())?;
//! assert_eq!(fit.outliers().len(), 10);
//! assert!((fit.predict(&[0.5, 0.5])? - f(&[0.5, 0.5])).abs() < 0.05);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! The penalty is $\lambda \lVert f \rVert_{\mathcal H}^2$ with a free bias,
//! [`Regularizer::rkhs`](crate::Regularizer::rkhs).

mod automatic;
mod bounds;
mod dense;
mod features;
mod found;
mod low_rank;
mod normal;
mod regions;
mod search;
#[cfg(feature = "serde")]
mod serial;
mod threshold;
mod tree;
mod tuner;

pub use found::Found;
pub use low_rank::{LowRank, LowRankFit};
pub use regions::{Regions, RegionsFit};
pub use tuner::{SpaceTuned, SpaceTuner};

use crate::line::Predicted;
use crate::real::count;
use crate::{Error, Fit, Kernel, Plan, Points, Real, Regularizer, Stop};
use alloc::vec::Vec;
use dense::Dense;

/// Points up to which fits are exact: two matrices of doubles take 150 MB.
const EXACT: usize = 3000;

/// How the points of a [`Space`] are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Way<T> {
    /// With the whole kernel matrix.
    Exact,
    /// With a kernel matrix of low rank.
    LowRank {
        /// Its rank.
        rank: usize,
        /// What the kernel's variance at a point loses by that, on average.
        error: T,
    },
    /// In overlapping regions.
    Regions {
        /// Number of regions.
        count: usize,
    },
}

/// Points in space with a kernel and $\lambda$; any number of fits.
#[derive(Debug, Clone)]
pub struct Space<T, K> {
    lambda: T,
    solver: Solver<T, K>,
}

#[derive(Debug, Clone)]
enum Solver<T, K> {
    Exact(Plan<T, K>),
    LowRank(LowRank<T, K>),
    Regions(Regions<T, K>),
}

impl<T: Real, K: Kernel<T> + Clone + Send + Sync> Space<T, K> {
    /// Chooses the way by the number of points and the rank of the kernel matrix:
    /// exact up to 3000 points, then of low rank, and in regions where the rank
    /// would be too high.
    ///
    /// # Errors
    /// If the points, the kernel or $\lambda$ are wrong, or there is not enough
    /// memory.
    pub fn new<'p>(points: impl Into<Points<'p, T>>, kernel: K, lambda: T) -> Result<Self, Error> {
        let points = points.into();
        if points.len() <= EXACT {
            let plan = Plan::new(points, kernel, Regularizer::rkhs(lambda))?;
            return Ok(Self { lambda, solver: Solver::Exact(plan) });
        }
        let solver = match LowRank::new(points, kernel.clone(), lambda) {
            Ok(solver) => Solver::LowRank(solver),
            Err(Error::RankTooHigh { .. }) => {
                Solver::Regions(Regions::new(points, kernel, lambda)?)
            }
            Err(error) => return Err(error),
        };
        Ok(Self { lambda, solver })
    }

    /// How the points are fitted.
    #[must_use]
    pub fn way(&self) -> Way<T> {
        match &self.solver {
            Solver::Exact(_) => Way::Exact,
            Solver::LowRank(solver) => Way::LowRank { rank: solver.rank(), error: solver.error() },
            Solver::Regions(solver) => Way::Regions { count: solver.count() },
        }
    }

    /// Finds the outliers in `y` and fits the rest.
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite, or there is no memory; in
    /// regions, for a rule that is about all points at once (see
    /// [`Regions::fit`]).
    pub fn fit(&self, y: &[T], stop: Stop<T>) -> Result<SpaceFit<T, K>, Error> {
        let function = match &self.solver {
            Solver::Exact(plan) => Function::Exact(Exact::new(plan.fit(y, stop)?)),
            Solver::LowRank(solver) => Function::LowRank(solver.fit(y, stop)?),
            Solver::Regions(solver) => Function::Regions(solver.fit(y, stop)?),
        };
        Ok(SpaceFit { way: self.way(), lambda: self.lambda, function })
    }
}

/// A fit on a [`Space`]; outliers, residual and fitted values are those of [`Found`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SpaceFit<T, K> {
    way: Way<T>,
    lambda: T,
    function: Function<T, K>,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(bound(deserialize = "T: Real + serde::Deserialize<'de>, \
                               K: Kernel<T> + serde::Deserialize<'de>"))
)]
enum Function<T, K> {
    Exact(Exact<T, K>),
    LowRank(LowRankFit<T, K>),
    Regions(RegionsFit<T, K>),
}

/// A dense fit.
#[derive(Debug, Clone, PartialEq)]
struct Exact<T, K> {
    fit: Fit<T, K>,
    found: Found<T>,
}

impl<T: Real, K: Kernel<T>> Exact<T, K> {
    fn new(fit: Fit<T, K>) -> Self {
        let found = Found {
            outliers: fit.outliers().to_vec(),
            residual: fit.residual().to_vec(),
            fitted: fit.fitted().to_vec(),
            reason: fit.stop_reason(),
        };
        Self { fit, found }
    }

    /// The points that are in.
    fn inside(&self) -> impl Iterator<Item = usize> + '_ {
        let mut is_in = alloc::vec![true; self.found.fitted.len()];
        for outlier in &self.found.outliers {
            is_in[outlier.index] = false;
        }
        (0..is_in.len()).filter(move |&i| is_in[i])
    }

    /// $\sqrt{y^T r / (n - 1)}$ over the points that are in.
    fn noise(&self) -> T {
        let Found { residual, fitted, .. } = &self.found;
        let term = |i: usize| (fitted[i] - self.fit.bias() + residual[i]) * residual[i];
        let sum = self.inside().fold(T::zero(), |sum, i| sum + term(i));
        let degrees = self.inside().count().saturating_sub(1).max(1);
        (sum.max(T::zero()) / count(degrees)).sqrt()
    }
}

impl<T, K> core::ops::Deref for SpaceFit<T, K> {
    type Target = Found<T>;

    fn deref(&self) -> &Found<T> {
        match &self.function {
            Function::Exact(exact) => &exact.found,
            Function::LowRank(fit) => fit,
            Function::Regions(fit) => fit,
        }
    }
}

impl<T: Real, K: Kernel<T>> SpaceFit<T, K> {
    /// How it was made.
    #[must_use]
    pub fn way(&self) -> Way<T> {
        self.way
    }

    /// The estimated standard deviation of the noise.
    #[must_use]
    pub fn noise(&self) -> T {
        match &self.function {
            Function::Exact(exact) => exact.noise(),
            Function::LowRank(fit) => fit.noise(),
            Function::Regions(fit) => fit.noise(),
        }
    }

    /// The fit with a kernel matrix of low rank, if it was made so.
    #[must_use]
    pub fn low_rank(&self) -> Option<&LowRankFit<T, K>> {
        match &self.function {
            Function::LowRank(fit) => Some(fit),
            _ => None,
        }
    }

    /// $f(x)$.
    ///
    /// # Errors
    /// If `x` has another number of coordinates than the points, or is not finite.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        match &self.function {
            Function::Exact(exact) => exact.fit.predict(x),
            Function::LowRank(fit) => fit.predict(x),
            Function::Regions(fit) => fit.predict(x),
        }
    }

    /// $f(x)$ and its standard deviation, given the data, at many points: in regions
    /// they take less time together than one after the other.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and if there is not enough memory.
    pub fn predict_with_deviations<'x>(
        &self,
        x: impl Into<Points<'x, T>>,
    ) -> Result<Vec<Predicted<T>>, Error>
    where
        K: Sync,
    {
        let x = x.into();
        match &self.function {
            Function::LowRank(fit) => {
                let at = |x| {
                    let (mean, deviation) = fit.predict_with_deviation(x)?;
                    Ok(Predicted { mean, deviation })
                };
                x.iter().map(at).collect()
            }
            Function::Regions(fit) => fit.predict_with_deviations(x),
            Function::Exact(exact) => {
                let points = exact.fit.points();
                let (dim, all) = (points.dim(), points.coordinates());
                let own = exact.inside().flat_map(|i| &all[i * dim..][..dim]).copied();
                let own: Vec<T> = own.collect();
                let own = Points::of_dim(&own, dim);
                let dense = Dense::new(own, exact.fit.kernel(), self.lambda)?;
                let scale = exact.noise() / self.lambda.sqrt();
                let at = |x| {
                    let deviation = scale * dense.variance(x).sqrt();
                    Ok(Predicted { mean: self.predict(x)?, deviation })
                };
                x.iter().map(at).collect()
            }
        }
    }

    /// The same at many points.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_many<'x>(&self, x: impl Into<Points<'x, T>>) -> Result<Vec<T>, Error> {
        x.into().iter().map(|x| self.predict(x)).collect()
    }
}
