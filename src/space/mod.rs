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
//!   with the points around it.
//!
//! ```
//! use kgard::space::Space;
//! use kgard::{Gaussian, Points, Stop};
//!
//! // 3,000 points in the unit square, and thirty wrong values.
//! let x: Vec<f64> = (0..6000).map(|i| (0.618_034 * (i * i % 7919) as f64).fract()).collect();
//! let points = Points::new(&x, 2)?;
//! let f = |p: &[f64]| (4.0 * p[0]).sin() + (3.0 * p[1]).cos();
//! let mut y: Vec<f64> = points.iter().map(f).collect();
//! for (i, y) in y.iter_mut().enumerate() {
//!     *y += 0.05 * ((i * i % 17) as f64 / 8.0 - 1.0);
//! }
//! for wrong in (50..3000).step_by(100) {
//!     y[wrong] += 1.0;
//! }
//!
//! let space = Space::new(points, Gaussian::new(0.5), 0.01)?;
//! let fit = space.fit(&y, Stop::automatic())?;
//! assert_eq!(fit.outliers().len(), 30);
//! assert!((fit.predict(&[0.5, 0.5])? - f(&[0.5, 0.5])).abs() < 0.05);
//! # Ok::<(), kgard::Error>(())
//! ```
//!
//! The penalty is $\lambda \lVert f \rVert_{\mathcal H}^2$ with a free bias,
//! [`Regularizer::rkhs`](crate::Regularizer::rkhs).

mod features;
mod low_rank;
mod regions;
mod search;
mod tree;
mod tuner;

pub use low_rank::{LowRank, LowRankFit};
pub use regions::{Regions, RegionsFit};
pub use tuner::{SpaceTuned, SpaceTuner};

use crate::{Error, Fit, Kernel, Outlier, Plan, Points, Real, Regularizer, Stop, StopReason};
use alloc::vec::Vec;

/// Points up to which fits are exact: two matrices of doubles take 150 MB.
const EXACT: usize = 3000;

/// How the points of a [`Space`] are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
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
            return Ok(Self { solver: Solver::Exact(plan) });
        }
        let solver = match LowRank::new(points, kernel.clone(), lambda) {
            Ok(solver) => Solver::LowRank(solver),
            Err(Error::RankTooHigh { .. }) => {
                Solver::Regions(Regions::new(points, kernel, lambda)?)
            }
            Err(error) => return Err(error),
        };
        Ok(Self { solver })
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
        let found = match &self.solver {
            Solver::Exact(plan) => Found::Exact(plan.fit(y, stop)?),
            Solver::LowRank(solver) => Found::LowRank(solver.fit(y, stop)?),
            Solver::Regions(solver) => Found::Regions(solver.fit(y, stop)?),
        };
        Ok(SpaceFit { way: self.way(), found })
    }
}

/// A fit on a [`Space`].
#[derive(Debug, Clone)]
pub struct SpaceFit<T, K> {
    way: Way<T>,
    found: Found<T, K>,
}

#[derive(Debug, Clone)]
enum Found<T, K> {
    Exact(Fit<T, K>),
    LowRank(LowRankFit<T, K>),
    Regions(RegionsFit<T, K>),
}

impl<T: Real, K: Kernel<T>> SpaceFit<T, K> {
    /// How it was made.
    #[must_use]
    pub fn way(&self) -> Way<T> {
        self.way
    }

    /// The outliers: in order of selection, in regions by index.
    #[must_use]
    pub fn outliers(&self) -> &[Outlier<T>] {
        match &self.found {
            Found::Exact(fit) => fit.outliers(),
            Found::LowRank(fit) => fit.outliers(),
            Found::Regions(fit) => fit.outliers(),
        }
    }

    /// The residual $y - f(x) - u$: zero at the outliers.
    #[must_use]
    pub fn residual(&self) -> &[T] {
        match &self.found {
            Found::Exact(fit) => fit.residual(),
            Found::LowRank(fit) => fit.residual(),
            Found::Regions(fit) => fit.residual(),
        }
    }

    /// $f(x_i)$, also at the outliers.
    #[must_use]
    pub fn fitted(&self) -> &[T] {
        match &self.found {
            Found::Exact(fit) => fit.fitted(),
            Found::LowRank(fit) => fit.fitted(),
            Found::Regions(fit) => fit.fitted(),
        }
    }

    /// The fit with a kernel matrix of low rank, if it was made so.
    #[must_use]
    pub fn low_rank(&self) -> Option<&LowRankFit<T, K>> {
        match &self.found {
            Found::LowRank(fit) => Some(fit),
            _ => None,
        }
    }

    /// Why the search ended.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        match &self.found {
            Found::Exact(fit) => fit.stop_reason(),
            Found::LowRank(fit) => fit.stop_reason(),
            Found::Regions(fit) => fit.stop_reason(),
        }
    }

    /// $f(x)$.
    ///
    /// # Errors
    /// If `x` has another number of coordinates than the points, or is not finite.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        match &self.found {
            Found::Exact(fit) => fit.predict(x),
            Found::LowRank(fit) => fit.predict(x),
            Found::Regions(fit) => fit.predict(x),
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
