//! Points in space in overlapping regions, each fitted exactly.

use super::tree::{Cell, Tree};
use crate::parallel::each;
use crate::regression::stop::Rule;
use crate::{
    Error, Fit, Kernel, Outlier, Points, Real, Regularizer, Stop, StopReason, fit as fit_exactly,
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

    /// Finds the outliers of each region and fits the rest. Regions are computed
    /// on all cores, where there is feature `rayon`.
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
        let results = each(0..self.cells.len(), |cell| self.fit_region(cell, y, stop));
        let mut fit = RegionsFit {
            dim: self.dim,
            tree: self.tree.clone(),
            parts: Vec::with_capacity(self.cells.len()),
            outliers: vec![],
            residual: vec![T::zero(); y.len()],
            fitted: vec![T::zero(); y.len()],
            reason: StopReason::Exhausted,
        };
        for (result, cell) in results.into_iter().zip(&self.cells) {
            let (part, region) = result?;
            fit.reason = part.stop_reason();
            // Both are in ascending order.
            let mut at = region.iter().enumerate();
            for &i in &cell.points {
                let Some((k, _)) = at.find(|&(_, &j)| j == i) else { break };
                fit.residual[i] = part.residual()[k];
                fit.fitted[i] = part.fitted()[k];
            }
            for outlier in part.outliers() {
                let index = region[outlier.index];
                if cell.points.binary_search(&index).is_ok() {
                    fit.outliers.push(Outlier { index, value: outlier.value });
                }
            }
            fit.parts.push(part);
        }
        fit.outliers.sort_by_key(|outlier| outlier.index);
        Ok(fit)
    }

    /// The fit of a cell with its neighbours, and their indices.
    fn fit_region(
        &self,
        cell: usize,
        y: &[T],
        stop: Stop<T>,
    ) -> Result<(Fit<T, K>, Vec<usize>), Error> {
        let region = self.region(&self.cells[cell]);
        let coordinates = self.x.chunks_exact(self.dim);
        let all: Vec<&[T]> = coordinates.collect();
        let x: Vec<T> = region.iter().flat_map(|&i| all[i]).copied().collect();
        let y: Vec<T> = region.iter().map(|&i| y[i]).collect();
        let points = Points::of_dim(&x, self.dim);
        let regularizer = Regularizer::rkhs(self.lambda);
        Ok((fit_exactly(points, &y, self.kernel.clone(), regularizer, stop)?, region))
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

/// A fit in regions.
#[derive(Debug, Clone)]
pub struct RegionsFit<T, K> {
    dim: usize,
    tree: Tree<T>,
    parts: Vec<Fit<T, K>>,
    outliers: Vec<Outlier<T>>,
    residual: Vec<T>,
    fitted: Vec<T>,
    reason: StopReason,
}

impl<T: Real, K: Kernel<T>> RegionsFit<T, K> {
    /// The outliers, by index.
    #[must_use]
    pub fn outliers(&self) -> &[Outlier<T>] {
        &self.outliers
    }

    /// The residual $y - f(x) - u$: zero at the outliers.
    #[must_use]
    pub fn residual(&self) -> &[T] {
        &self.residual
    }

    /// $f(x_i)$, also at the outliers.
    #[must_use]
    pub fn fitted(&self) -> &[T] {
        &self.fitted
    }

    /// Why the search of the last region ended.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        self.reason
    }

    /// $f(x)$ of the region that $x$ is in. At the border of two regions the
    /// function may have a step, small against its error.
    ///
    /// # Errors
    /// If `x` has another number of coordinates than the points, or is not finite.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        if x.len() != self.dim {
            return Err(Error::Dimension { expected: self.dim, found: x.len() });
        }
        self.parts[self.tree.cell(x)].predict(x)
    }
}

impl<T: Real> Stop<T> {
    /// Whether the rule is about all points at once, and means something else in
    /// a part of them.
    fn is_about_all_points(&self) -> bool {
        self.has_cap() || matches!(self.rule, Rule::ResidualNorm(_) | Rule::Never)
    }
}
