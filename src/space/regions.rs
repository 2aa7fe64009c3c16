//! Points in space in overlapping regions, each fitted exactly.

use super::dense::Dense;
use super::found::Found;
use super::threshold::{Trace, threshold};
use super::tree::{Cell, Tree};
use crate::line::Predicted;
use crate::parallel::each;
use crate::real::count;
use crate::regression::stop::Rule;
use crate::{
    Error, Fit, Kernel, Outlier, Points, Real, Regularizer, Stop, StopReason, StopRule,
    fit as fit_exactly,
};
use alloc::vec;
use alloc::vec::Vec;

/// Points of a cell, at the most, and of a region, which has the cell's neighbours
/// as well: those whose kernel with the cell is the largest.
const CELL: usize = 300;
const REGION: usize = 900;

/// Points in overlapping regions; any number of fits.
///
/// Each region is fitted with a kernel matrix of its own and a free bias. Its
/// outliers and fitted values count in its cell only.
#[derive(Debug, Clone)]
pub struct Regions<T, K> {
    kernel: K,
    lambda: T,
    x: Vec<T>,
    dim: usize,
    tree: Tree<T>,
    cells: Vec<Cell<T>>,
}

impl<T: Real, K: Kernel<T> + Clone + Send + Sync> Regions<T, K> {
    /// Divides the points.
    ///
    /// # Errors
    /// If the points, the kernel or $\lambda$ are wrong.
    pub fn new<'p>(points: impl Into<Points<'p, T>>, kernel: K, lambda: T) -> Result<Self, Error> {
        let points = points.into();
        points.check()?;
        kernel.check()?;
        kernel.check_dim(points.dim())?;
        Error::check_positive("lambda", lambda)?;
        let (tree, cells) = Tree::new(points, &kernel, CELL);
        let (x, dim) = (points.coordinates().to_vec(), points.dim());
        Ok(Self { kernel, lambda, x, dim, tree, cells })
    }

    fn points(&self) -> Points<'_, T> {
        Points::of_dim(&self.x, self.dim)
    }

    /// Number of regions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.cells.len()
    }

    /// Finds the outliers of each region and fits the rest. The automatic rule sees all
    /// points together. Regions are computed on all cores, where there is feature
    /// `rayon`.
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite, or there is no memory;
    /// [`Error::Unsupported`] for a residual norm, a count and a cap, which are
    /// about all points at once.
    pub fn fit(&self, y: &[T], stop: Stop<T>) -> Result<RegionsFit<T, K>, Error> {
        if stop.is_about_all_points() {
            return Err(Error::Unsupported { what: "a stopping rule about all points in regions" });
        }
        Error::check_len("y", y.len(), self.x.len() / self.dim)?;
        Error::check_finite("y", y)?;
        let results = if matches!(stop.rule, Rule::Automatic) {
            let counts = self.counts(y)?;
            let each_cell = self.cells.iter().zip(counts);
            each(each_cell, |(cell, k)| {
                self.fit_region(cell, y, Stop::count(k).studentized()).map(|mut region| {
                    region.fit.reason = StopReason::Automatic;
                    region
                })
            })
        } else {
            each(self.cells.iter(), |cell| self.fit_region(cell, y, stop))
        };
        self.assemble(y, results)
    }

    /// How many points leave each region by the automatic rule on all of them.
    fn counts(&self, y: &[T]) -> Result<Vec<usize>, Error> {
        let traces = each(self.cells.iter(), |cell| {
            let mut trace = Trace::new();
            let (fit, region) = self.search(cell, y, &mut trace)?;
            let is_own = |k: usize| cell.points.binary_search(&region[k]).is_ok();
            // Where a point has left, the score by which it did.
            for (outlier, &score) in fit.outliers().iter().zip(&trace.left_at) {
                trace.scores[outlier.index] = score;
            }
            let scores = trace.scores.iter().enumerate().filter(|&(k, _)| is_own(k));
            trace.scores = scores.map(|(_, &score)| score).collect();
            Ok(trace)
        });
        let traces = traces.into_iter().collect::<Result<Vec<Trace<T>>, Error>>()?;
        let noisy = traces.iter().filter(|trace| trace.is_noisy());
        let all: Vec<T> = noisy.flat_map(|trace| trace.scores.iter().copied()).collect();
        let threshold = threshold(all);
        Ok(traces.iter().map(|trace| trace.outliers(threshold)).collect())
    }

    /// The regions as one function.
    fn assemble(
        &self,
        y: &[T],
        results: Vec<Result<Region<T>, Error>>,
    ) -> Result<RegionsFit<T, K>, Error> {
        let mut fit = RegionsFit {
            kernel: self.kernel.clone(),
            lambda: self.lambda,
            dim: self.dim,
            tree: self.tree.clone(),
            parts: Vec::with_capacity(self.cells.len()),
            noise: T::zero(),
            found: Found {
                outliers: vec![],
                residual: vec![T::zero(); y.len()],
                fitted: vec![T::zero(); y.len()],
                reason: StopReason::Exhausted,
            },
        };
        let (mut squares, mut degrees) = (T::zero(), 0);
        for (result, cell) in results.into_iter().zip(&self.cells) {
            let region = result?;
            let found = &mut fit.found;
            found.reason = region.fit.reason;
            // Both are in ascending order.
            let mut at = region.points.iter().enumerate();
            for &i in &cell.points {
                let Some((k, _)) = at.find(|&(_, &j)| j == i) else { break };
                found.residual[i] = region.fit.residual[k];
                found.fitted[i] = region.fit.fitted[k];
            }
            for outlier in &region.fit.outliers {
                let index = region.points[outlier.index];
                if cell.points.binary_search(&index).is_ok() {
                    found.outliers.push(Outlier { index, value: outlier.value });
                }
            }
            squares = squares + region.squares;
            degrees += region.degrees;
            fit.parts.push(region.part);
        }
        fit.found.outliers.sort_by_key(|outlier| outlier.index);
        fit.noise = (squares.max(T::zero()) / count(degrees.max(1))).sqrt();
        Ok(fit)
    }

    /// The fit of a cell with its neighbours, and their indices.
    fn search(
        &self,
        cell: &Cell<T>,
        y: &[T],
        stop: impl StopRule<T>,
    ) -> Result<(Fit<T, K>, Vec<usize>), Error> {
        let region = self.region(cell);
        let x: Vec<T> =
            region.iter().flat_map(|&i| &self.x[i * self.dim..][..self.dim]).copied().collect();
        let y: Vec<T> = region.iter().map(|&i| y[i]).collect();
        let points = Points::of_dim(&x, self.dim);
        let regularizer = Regularizer::rkhs(self.lambda);
        Ok((fit_exactly(points, &y, self.kernel.clone(), regularizer, stop)?, region))
    }

    fn fit_region(&self, cell: &Cell<T>, y: &[T], stop: Stop<T>) -> Result<Region<T>, Error> {
        let (fit, points) = self.search(cell, y, stop)?;
        let mut is_in = vec![true; points.len()];
        for outlier in fit.outliers() {
            is_in[outlier.index] = false;
        }
        let inside = || (0..points.len()).filter(|&k| is_in[k]);
        let part = Part {
            points: inside()
                .flat_map(|k| &self.x[points[k] * self.dim..][..self.dim])
                .copied()
                .collect(),
            coefficients: inside().map(|k| fit.coefficients()[k]).collect(),
            bias: fit.bias(),
        };
        // y^T r = (f - c)^T r + r^T r, as the residuals sum to zero.
        let term =
            |k: usize| (fit.fitted()[k] - fit.bias() + fit.residual()[k]) * fit.residual()[k];
        let squares = inside().fold(T::zero(), |sum, k| sum + term(k));
        let degrees = part.coefficients.len().saturating_sub(1);
        let fit = Found {
            outliers: fit.outliers().to_vec(),
            residual: fit.residual().to_vec(),
            fitted: fit.fitted().to_vec(),
            reason: fit.stop_reason(),
        };
        Ok(Region { fit, points, part, squares, degrees })
    }

    /// The points of a cell and those around it, in ascending order.
    fn region(&self, cell: &Cell<T>) -> Vec<usize> {
        let mut nearest = vec![T::zero(); self.dim];
        let mut others = Vec::new();
        for (i, x) in self.points().iter().enumerate() {
            if cell.points.binary_search(&i).is_err() {
                cell.nearest(x, &mut nearest);
                others.push((self.kernel.evaluate(x, &nearest), i));
            }
        }
        let more = REGION.saturating_sub(cell.points.len()).min(others.len());
        if more > 0 && more < others.len() {
            let order = |a: &(T, usize), b: &(T, usize)| {
                b.0.partial_cmp(&a.0).unwrap_or(core::cmp::Ordering::Equal)
            };
            others.select_nth_unstable_by(more - 1, order);
        }
        let mut region = cell.points.clone();
        region.extend(others[..more].iter().map(|&(_, i)| i));
        region.sort_unstable();
        region
    }
}

/// A region that was fitted.
struct Region<T> {
    fit: Found<T>,
    /// Indices of its points.
    points: Vec<usize>,
    part: Part<T>,
    /// $y^T r$ and its degrees of freedom.
    squares: T,
    degrees: usize,
}

/// The function of a region, expanded in the points that are in.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Part<T> {
    /// Coordinates.
    pub(super) points: Vec<T>,
    pub(super) coefficients: Vec<T>,
    pub(super) bias: T,
}

/// A fit in regions; outliers (by index), residual and fitted values are those of
/// [`Found`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RegionsFit<T, K> {
    pub(super) kernel: K,
    pub(super) lambda: T,
    pub(super) dim: usize,
    pub(super) tree: Tree<T>,
    pub(super) parts: Vec<Part<T>>,
    pub(super) noise: T,
    pub(super) found: Found<T>,
}

impl<T, K> core::ops::Deref for RegionsFit<T, K> {
    type Target = Found<T>;

    fn deref(&self) -> &Found<T> {
        &self.found
    }
}

impl<T: Real, K> RegionsFit<T, K> {
    /// The estimated standard deviation of the noise.
    #[must_use]
    pub fn noise(&self) -> T {
        self.noise
    }
}

impl<T: Real, K: Kernel<T>> RegionsFit<T, K> {
    fn part(&self, x: &[T]) -> Result<usize, Error> {
        if x.len() != self.dim {
            return Err(Error::Dimension { expected: self.dim, found: x.len() });
        }
        Ok(self.tree.cell(x))
    }

    /// $f(x)$ of the region that $x$ is in. At the border of two regions the
    /// function may have a step, small against its error.
    ///
    /// # Errors
    /// If `x` has another number of coordinates than the points, or is not finite.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        let part = &self.parts[self.part(x)?];
        let points = Points::of_dim(&part.points, self.dim);
        crate::predict(points, &self.kernel, &part.coefficients, part.bias, x)
    }

    /// $f(x)$ and its standard deviation, given the data, at many points. Each region
    /// in which there are some takes a factorisation: many at once take less time than
    /// one after the other.
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
        let all: Vec<&[T]> = x.iter().collect();
        let mut of_parts = vec![Vec::new(); self.parts.len()];
        for (i, x) in all.iter().enumerate() {
            of_parts[self.part(x)?].push(i);
        }
        let scale = self.noise / self.lambda.sqrt();
        let asked = self.parts.iter().zip(&of_parts).filter(|(_, asked)| !asked.is_empty());
        let answers = each(asked, |(part, asked)| {
            let points = Points::of_dim(&part.points, self.dim);
            let dense = Dense::new(points, &self.kernel, self.lambda)?;
            let at = |&i: &usize| {
                let mean = self.predict(all[i])?;
                let deviation = scale * dense.variance(all[i]).sqrt();
                Ok((i, Predicted { mean, deviation }))
            };
            asked.iter().map(at).collect::<Result<Vec<_>, Error>>()
        });
        let none = Predicted { mean: T::zero(), deviation: T::zero() };
        let mut out = vec![none; all.len()];
        for answer in answers {
            for (i, predicted) in answer? {
                out[i] = predicted;
            }
        }
        Ok(out)
    }
}

impl<T: Real> Stop<T> {
    /// Whether the rule is about all points at once, and means something else in
    /// a part of them.
    fn is_about_all_points(&self) -> bool {
        self.has_cap() || matches!(self.rule, Rule::ResidualNorm(_) | Rule::Never)
    }
}
