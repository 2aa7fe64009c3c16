//! Points in space with a kernel matrix of low rank.

use super::bounds::Search;
use super::features::Features;
use super::found::Found;
use super::normal::{Normal, inner};
use crate::linalg::cholesky;
use crate::linalg::multiply;
use crate::real::count;
use crate::regression::removal::remove_until;
use crate::{Error, Kernel, Outlier, Points, Real, StopRule};
use alloc::vec;
use alloc::vec::Vec;

/// The highest rank that is worth it: beyond, regions are faster.
const HIGHEST_RANK: usize = 512;

/// Points in space with a kernel matrix of low rank $m$; any number of fits.
///
/// Memory for $n (m + 1)$ scalars; time $O(n m^2)$ to set up, $O(n m)$ for a fit
/// and $O(m^2)$ for each outlier.
#[derive(Debug, Clone)]
pub struct LowRank<T, K> {
    kernel: K,
    lambda: T,
    features: Features<T>,
    /// Coordinates of the pivots.
    pivots: Vec<T>,
    dim: usize,
    normal: Normal<T>,
}

impl<T: Real, K: Kernel<T> + Clone + Sync> LowRank<T, K> {
    /// Approximates the kernel matrix until the mean error of its diagonal is a
    /// hundredth of $\lambda$.
    ///
    /// # Errors
    /// [`Error::RankTooHigh`] if a rank of 512 is not enough for that; if the
    /// points, the kernel or $\lambda$ are wrong, or there is not enough memory.
    pub fn new<'p>(points: impl Into<Points<'p, T>>, kernel: K, lambda: T) -> Result<Self, Error> {
        Self::of_rank(points, kernel, lambda, HIGHEST_RANK)
    }

    /// The same with another limit of the rank.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_rank<'p>(
        points: impl Into<Points<'p, T>>,
        kernel: K,
        lambda: T,
        most: usize,
    ) -> Result<Self, Error> {
        let points = points.into();
        points.check()?;
        kernel.check()?;
        kernel.check_dim(points.dim())?;
        Error::check_positive("lambda", lambda)?;
        let features = Features::new(points, &kernel, lambda, most.min(points.len()))?;
        let normal = Normal::new(&features.rows, features.width, lambda)?;
        let dim = points.dim();
        let coordinates = points.coordinates();
        let pivots = features.pivots.iter().flat_map(|&p| &coordinates[p * dim..][..dim]);
        let pivots = pivots.copied().collect();
        Ok(Self { kernel, lambda, features, pivots, dim, normal })
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.features.rows.len() / self.features.width
    }

    /// Whether there are no points; never true.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.features.width - 1
    }

    /// What the kernel's variance at a point loses by the approximation, on
    /// average.
    #[must_use]
    pub fn error(&self) -> T {
        self.features.error
    }

    /// Finds the outliers in `y` and fits the rest (Algorithm 1): the selections
    /// are those of an exact search on the approximated kernel.
    ///
    /// A rule that looks at all residuals, as the histogram rule does, takes
    /// $O(nm)$ a step, a studentised one $O(nm^2)$.
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite, or there is no memory.
    pub fn fit(&self, y: &[T], mut stop: impl StopRule<T>) -> Result<LowRankFit<T, K>, Error> {
        stop.validate()?;
        Error::check_len("y", y.len(), self.len())?;
        Error::check_finite("y", y)?;
        let width = self.features.width;
        let rows = (&self.features.rows[..], width);
        let mut search = Search::new(&self.normal, rows, self.lambda, y, stop.studentized())?;
        let reason = remove_until(&mut search, &mut stop);
        let residual = search.finish();

        let (centre, scale) = (search.units.centre, search.units.scale);
        let mut fitted: Vec<T> = y.iter().zip(&residual).map(|(&y, &r)| y - r).collect();
        let value = |i: usize| {
            let row = &self.features.rows[i * width..][..width];
            centre + scale * inner(row, &search.theta)
        };
        for &j in &search.support {
            fitted[j] = value(j);
        }
        let outlier = |&j: &usize| Outlier { index: j, value: y[j] - fitted[j] };
        let outliers: Vec<_> = search.support.iter().map(outlier).collect();
        // F at the pivots is a lower triangle, L; f = alpha^T k, alpha = L^-T beta.
        let m = width - 1;
        let mut factor = Vec::with_capacity(m * m);
        for &p in &self.features.pivots {
            factor.extend_from_slice(&self.features.rows[p * width..][..m]);
        }
        let mut coefficients = search.theta[..m].to_vec();
        cholesky::solve_upper(&factor, &mut coefficients)?;
        for alpha in &mut coefficients {
            *alpha = *alpha * scale;
        }
        let inside = y.len() - outliers.len();
        let variance = search.objective / count(inside.max(2) - 1);
        let fit = LowRankFit {
            kernel: self.kernel.clone(),
            lambda: self.lambda,
            pivots: self.pivots.clone(),
            dim: self.dim,
            bias: centre + scale * search.theta[m],
            coefficients,
            factor,
            inverse: search.inverse,
            noise: variance.sqrt() * scale,
            found: Found { outliers, residual, fitted, reason },
        };
        let Found { residual, fitted, .. } = &fit.found;
        let numbers = fitted.iter().chain(&fit.coefficients).chain(residual);
        if numbers.chain([&fit.bias]).all(|x| x.is_finite()) {
            Ok(fit)
        } else {
            Err(Error::Overflow { what: "the fit" })
        }
    }
}

/// A fit with a kernel matrix of low rank; outliers (in order of selection), residual and
/// fitted values are those of [`Found`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LowRankFit<T, K> {
    pub(super) kernel: K,
    pub(super) lambda: T,
    pub(super) pivots: Vec<T>,
    pub(super) dim: usize,
    pub(super) bias: T,
    pub(super) coefficients: Vec<T>,
    /// Of the kernel matrix of the pivots.
    pub(super) factor: Vec<T>,
    /// $A^{-1}$.
    pub(super) inverse: Vec<T>,
    pub(super) noise: T,
    pub(super) found: Found<T>,
}

impl<T, K> core::ops::Deref for LowRankFit<T, K> {
    type Target = Found<T>;

    fn deref(&self) -> &Found<T> {
        &self.found
    }
}

impl<T: Real, K> LowRankFit<T, K> {
    /// The estimated standard deviation of the noise.
    #[must_use]
    pub fn noise(&self) -> T {
        self.noise
    }

    /// The bias $c$.
    #[must_use]
    pub fn bias(&self) -> T {
        self.bias
    }

    /// The coefficients $\alpha$ of the kernels at the [pivots](Self::pivots).
    #[must_use]
    pub fn coefficients(&self) -> &[T] {
        &self.coefficients
    }

    /// The points that the function is expanded in.
    #[must_use]
    pub fn pivots(&self) -> Points<'_, T> {
        Points::of_dim(&self.pivots, self.dim)
    }
}

impl<T: Real, K: Kernel<T>> LowRankFit<T, K> {
    /// $f(x)$.
    ///
    /// # Errors
    /// If `x` has another number of coordinates than the points, or is not finite.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        crate::predict(self.pivots(), &self.kernel, &self.coefficients, self.bias, x)
    }

    /// $f(x)$ and its standard deviation, given the data:
    /// $s^2 \lambda \\, g^T A^{-1} g + s^2 (\kappa(x, x) - \lVert F_x \rVert^2)$ is its
    /// square, $s^2 \lambda$ the variance of the noise.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_with_deviation(&self, x: &[T]) -> Result<(T, T), Error> {
        let value = self.predict(x)?;
        let m = self.coefficients.len();
        let mut row = vec![T::one(); m + 1];
        self.kernel.evaluate_row(x, self.pivots(), &mut row[..m]);
        cholesky::solve_lower(&self.factor, &mut row[..m])?;
        let explained = inner(&row[..m], &row[..m]);
        let left = (self.kernel.evaluate(x, x) - explained).max(T::zero());
        let mut product = vec![T::zero(); m + 1];
        multiply(&self.inverse, &row, &mut product)?;
        let variance = inner(&row, &product).max(T::zero()) + left / self.lambda;
        Ok((value, self.noise * variance.sqrt()))
    }
}
