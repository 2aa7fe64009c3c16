//! Everything from the data: kernel width, $\lambda$, and where to stop.
//!
//! With the points `support` taken out, the residual maker of the others is
//! $H_S = H - W W^T$, and $r_i / (H_S)_{ii}$ is exactly what point $i$ would be
//! missed by if the function were fitted without it. The tuner tries widths and
//! $\lambda$s on a grid and takes those that predict the points left out best:
//!
//! 1. with nothing taken out yet, by the smaller 70 % of the errors, which the
//!    outliers are not among, for narrow, middling and wide kernels each;
//! 2. the outliers are searched for ([`Stop::automatic`]), the grid is judged
//!    again by all of the remaining points, and so on until it settles. The
//!    search is made with the $\lambda$ of the fit and with larger ones, which
//!    see clusters of outliers better, and the shortest description wins: a good
//!    point costs the logarithm of its error, an outlier that of the range of
//!    the data.
//!
//! Leave-one-out follows the noise a little too closely. The cure is to count
//! each point's leverage $1 - H_{ii}$ a third more than it is, as is known from
//! generalised cross-validation, and to take the mean of the good grid points,
//! each by its likelihood, instead of the single best.
//!
//! Beyond [`SUBSET`] points the grid is judged on that many of them.

use crate::real::{constant, count};
use crate::regression::greedy;
use crate::regression::stop::{DEVIATION_PER_MEDIAN, median};
use crate::regression::system::Model;
use crate::regression::workspace::{Growing, Parts, Storage};
use crate::{Error, Fit, Kernel, PlanRef, Points, Real, Regularizer, Stop, StopReason};
use alloc::vec;
use alloc::vec::Vec;

/// Points on which the grid is judged, at the most.
pub const SUBSET: usize = 256;
/// Points without which there is nothing to leave out.
const FEWEST: usize = 8;
/// Kernel widths on the grid, at the most, and the step from one to the next.
const WIDTHS: usize = 13;
const WIDTH_STEP: f64 = 1.25;
/// The grid of $\lambda$, in powers of ten of the largest eigenvalue (squared
/// with the l2 penalty), and its step.
const L2_POWERS: (f64, f64) = (-7.0, -1.0);
const RKHS_POWERS: (f64, f64) = (-5.0, 0.0);
const POWER_STEP: f64 = 0.5;
/// By how many grid steps the search's $\lambda$ is larger than the fit's.
const SHIFTS: [usize; 2] = [0, 2];
/// Parts of the grid, by width, from each of which a search starts.
const STARTS: usize = 3;
/// Share of the errors that count while the outliers are not known.
const TRIMMED_SHARE: f64 = 0.7;
/// How much a point's leverage counts.
const LEVERAGE: f64 = 1.35;
/// Rounds of searching and judging before it has to be enough.
const ROUNDS: usize = 5;

/// The penalty to tune.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Penalty {
    /// [`Regularizer::l2`].
    #[default]
    L2,
    /// [`Regularizer::rkhs`].
    Rkhs,
}

impl Penalty {
    /// The regularizer with this $\lambda$.
    #[must_use]
    pub fn regularizer<T: Real>(self, lambda: T) -> Regularizer<'static, T> {
        match self {
            Self::L2 => Regularizer::l2(lambda),
            Self::Rkhs => Regularizer::rkhs(lambda),
        }
    }
}

/// Parameters that were tuned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tuned<T> {
    /// The kernel width.
    pub width: T,
    /// $\lambda$ of the fit.
    pub lambda: T,
    /// $\lambda$ with which the outliers are searched for; at least `lambda`.
    pub search_lambda: T,
    /// Estimated standard deviation of the noise without the outliers.
    pub noise: T,
    /// The outliers among the points on which the grid was judged, in order of
    /// selection.
    pub outliers: Vec<usize>,
}

/// A grid of plans for a set of points, which tunes any number of `y`.
///
/// ```
/// use kgard::Gaussian;
/// use kgard::tune::{Penalty, Tuner};
/// let x: Vec<f64> = (0..80).map(|i| i as f64 / 80.0).collect();
/// let mut y: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
/// for (i, y) in y.iter_mut().enumerate() {
///     *y += 0.05 * ((i * i % 17) as f64 / 8.0 - 1.0);
/// }
/// y[17] += 3.0;
/// let fit = Tuner::new(&x, Gaussian::new, Penalty::L2)?.fit(&y)?;
/// assert_eq!(fit.outliers()[0].index, 17);
/// assert!((fit.predict(&[0.4])? - 2.4_f64.sin()).abs() < 0.05);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tuner<T, F> {
    coordinates: Vec<T>,
    dim: usize,
    family: F,
    penalty: Penalty,
    /// The points on which the grid is judged.
    subset: Vec<usize>,
    grid: Vec<GridPoint<T>>,
}

/// A plan of the grid; those of one width follow each other, by $\lambda$.
#[derive(Debug, Clone)]
struct GridPoint<T> {
    width: T,
    lambda: T,
    h: Vec<T>,
    /// Grid points of the same width with a larger $\lambda$.
    above: usize,
}

impl<T: Real, K: Kernel<T>, F: Fn(T) -> K> Tuner<T, F> {
    /// A tuner for `points`; `family` makes a kernel of a given width.
    ///
    /// # Errors
    /// If the points are wrong, fewer than eight, or all the same.
    pub fn new<'p>(
        points: impl Into<Points<'p, T>>,
        family: F,
        penalty: Penalty,
    ) -> Result<Self, Error> {
        Self::with_grid(points, family, penalty, None, None)
    }

    /// A tuner with a list of widths or of $\lambda$s of the caller's own:
    /// with a single one it is not tuned.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if a list is empty or not positive.
    pub fn with_grid<'p>(
        points: impl Into<Points<'p, T>>,
        family: F,
        penalty: Penalty,
        widths: Option<&[T]>,
        lambdas: Option<&[T]>,
    ) -> Result<Self, Error> {
        let points = points.into();
        points.check()?;
        let n = points.len();
        Error::check_at_least("list of points to tune with", n, FEWEST)?;
        let subset = spread(n, SUBSET);
        let judged: Vec<T> = subset
            .iter()
            .flat_map(|&i| &points.coordinates()[i * points.dim()..][..points.dim()])
            .copied()
            .collect();
        let judged = Points::of_dim(&judged, points.dim());
        let own_widths = match widths {
            Some(widths) => widths.to_vec(),
            None => default_widths(judged)?,
        };
        let mut tuner = Self {
            coordinates: points.coordinates().to_vec(),
            dim: points.dim(),
            family,
            penalty,
            subset,
            grid: Vec::new(),
        };
        for &width in &own_widths {
            tuner.add_width(judged, width, lambdas)?;
        }
        if tuner.grid.is_empty() {
            return Err(Error::Empty { what: "grid of widths and lambdas" });
        }
        Ok(tuner)
    }

    /// Makes the plans of one width.
    fn add_width(
        &mut self,
        points: Points<'_, T>,
        width: T,
        lambdas: Option<&[T]>,
    ) -> Result<(), Error> {
        let m = points.len();
        let kernel = (self.family)(width);
        kernel.check()?;
        let lambdas = match lambdas {
            // Fewer points want a smaller lambda.
            Some(lambdas) => lambdas.iter().map(|&l| l / self.per_subset()).collect(),
            None => default_lambdas(points, &kernel, self.penalty)?,
        };
        let mut memory = vec![T::zero(); PlanRef::<T>::l2_len(m).max(PlanRef::<T>::rkhs_len(m))];
        let mut scratch = vec![T::zero(); PlanRef::<T>::scratch_len(m)];
        let first = self.grid.len();
        for lambda in lambdas {
            let regularizer = self.penalty.regularizer(lambda);
            match PlanRef::new(points, &kernel, regularizer, &mut memory, &mut scratch) {
                Ok(plan) => {
                    let h = plan.residual_maker().to_vec();
                    self.grid.push(GridPoint { width, lambda, h, above: 0 });
                }
                // A lambda too small for the precision is not on the grid.
                Err(Error::NotPositiveDefinite { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        for (above, point) in self.grid[first..].iter_mut().rev().enumerate() {
            point.above = above;
        }
        Ok(())
    }

    /// How much larger $\lambda$ is for all points than for the subset: the
    /// l2 penalty's grows with their density.
    fn per_subset(&self) -> T {
        match self.penalty {
            Penalty::L2 => count::<T>(self.coordinates.len() / self.dim) / count(self.subset.len()),
            Penalty::Rkhs => T::one(),
        }
    }

    /// Chooses width and $\lambda$s for `y`.
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite.
    pub fn tune(&self, y: &[T]) -> Result<Tuned<T>, Error> {
        let n = self.coordinates.len() / self.dim;
        Error::check_len("y", y.len(), n)?;
        Error::check_finite("y", y)?;
        let y: Vec<T> = self.subset.iter().map(|&i| y[i]).collect();
        let mut judge = Judge::new(&y, &self.grid);
        let starts = judge.starts()?;
        let mut tuned = judge.at(starts[0], 0);
        let mut shortest = T::infinity();
        for (i, &start) in starts.iter().enumerate() {
            if starts[..i].contains(&start) {
                continue;
            }
            for shift in SHIFTS {
                let (length, candidate) = judge.settle(start, shift)?;
                if length < shortest {
                    (shortest, tuned) = (length, candidate);
                }
            }
        }
        for outlier in &mut tuned.outliers {
            *outlier = self.subset[*outlier];
        }
        tuned.lambda = tuned.lambda * self.per_subset();
        tuned.search_lambda = tuned.search_lambda * self.per_subset();
        Ok(tuned)
    }

    /// Tunes, finds the outliers and fits the function.
    ///
    /// # Errors
    /// As [`tune`](Self::tune).
    pub fn fit(&self, y: &[T]) -> Result<Fit<T, K>, Error>
    where
        K: Clone,
    {
        self.fit_tuned(y, &self.tune(y)?)
    }

    /// Finds the outliers and fits the function with what was tuned.
    ///
    /// # Errors
    /// As [`fit`](fn@crate::fit).
    pub fn fit_tuned(&self, y: &[T], tuned: &Tuned<T>) -> Result<Fit<T, K>, Error>
    where
        K: Clone,
    {
        let points = Points::of_dim(&self.coordinates, self.dim);
        let kernel = (self.family)(tuned.width);
        let regularizer = self.penalty.regularizer(tuned.lambda);
        let fit = if self.subset.len() == points.len() {
            crate::fit_support(points, y, kernel, regularizer, &tuned.outliers)?
        } else {
            let search = self.penalty.regularizer(tuned.search_lambda);
            let found = crate::fit(points, y, kernel, search, Stop::automatic())?;
            found.refit(y, regularizer)?
        };
        Ok(fit.with_reason(StopReason::Automatic))
    }
}

/// Judges a grid by one `y`.
struct Judge<'a, T> {
    y: &'a [T],
    grid: &'a [GridPoint<T>],
    /// Errors below this are rounding.
    floor: T,
    /// What an outlier costs.
    outlier_cost: T,
    /// The scores of the grid for the supports met so far: searches from
    /// different starts often end with the same one.
    known: Vec<(Vec<usize>, Vec<T>)>,
}

impl<'a, T: Real> Judge<'a, T> {
    fn new(y: &'a [T], grid: &'a [GridPoint<T>]) -> Self {
        let (low, high) =
            y.iter().fold((T::infinity(), T::neg_infinity()), |(l, h), &y| (l.min(y), h.max(y)));
        let size = y.iter().fold(T::min_positive_value(), |max, y| max.max(y.abs()));
        let floor = size * T::epsilon();
        // A uniform density over the range, beside the Gaussian's
        // ln s + ln(2 pi e) / 2.
        // Constant data have no range but their size.
        let range = if high - low > size * constant(1e-9) { high - low } else { size };
        let outlier_cost = range.ln() - constant(1.418_938_533_204_672_7);
        Self { y, grid, floor, outlier_cost, known: Vec::new() }
    }

    /// The plan of a grid point, without what makes coefficients.
    fn plan(&self, point: &'a GridPoint<T>) -> PlanRef<'a, T> {
        let model = Model::Mapped { map: &[], bias: T::zero() };
        PlanRef { n: self.y.len(), h: &point.h, model }
    }

    /// Stage 1, where nothing is known of the outliers: the best grid point of the narrow, the middling and the wide kernels:
    /// from a bad one, whose outliers are a part of the function, there may be
    /// no way back.
    fn starts(&self) -> Result<[usize; STARTS], Error> {
        let kept = count::<T>(self.y.len()) * constant(TRIMMED_SHARE);
        let kept = kept.to_usize().unwrap_or(0).max(1);
        let mut best = [(T::infinity(), 0); STARTS];
        for (i, point) in self.grid.iter().enumerate() {
            let mut errors = self.errors(point, &[])?;
            for e in &mut errors {
                *e = e.abs();
            }
            let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal);
            errors.select_nth_unstable_by(kept - 1, order);
            let score = self.root_mean_square(&errors[..kept]);
            let third = &mut best[i * STARTS / self.grid.len()];
            if score < third.0 {
                *third = (score, i);
            }
        }
        Ok(best.map(|(_, i)| i))
    }

    /// Stage 2, from grid point `start`: gives the length of the description
    /// and what was chosen.
    fn settle(&mut self, start: usize, shift: usize) -> Result<(T, Tuned<T>), Error> {
        let mut at = start;
        let mut tuned = self.at(at, shift);
        let mut length = T::infinity();
        for _ in 0..ROUNDS {
            let search = &self.grid[at + shift.min(self.grid[at].above)];
            let mut storage = Growing::new(self.y.len(), 0);
            let mut stop = Stop::automatic();
            let (k, _) = greedy::search(&self.plan(search), self.y, &[], &mut stop, &mut storage)?;
            let support = &storage.indices[..k];

            let scores = self.scores(support)?;
            let best = scores.iter().fold(T::infinity(), |min, &s| min.min(s));
            let inliers = count::<T>(self.y.len() - k);
            let (mut weights, mut width, mut lambda) = (T::zero(), T::zero(), T::zero());
            for (point, &score) in self.grid.iter().zip(&scores) {
                let weight = (best / score).powf(inliers);
                weights = weights + weight;
                width = width + weight * point.width.ln();
                lambda = lambda + weight * point.lambda.ln();
            }
            tuned.width = (width / weights).exp();
            tuned.lambda = (lambda / weights).exp();
            let next = self.nearest(tuned.width, tuned.lambda);
            let steps = shift.min(self.grid[next].above);
            tuned.search_lambda =
                tuned.lambda * self.grid[next + steps].lambda / self.grid[next].lambda;
            length = inliers * scores[next].ln() + count::<T>(k) * self.outlier_cost;
            tuned.noise = self.noise(&self.grid[next], support)?;
            tuned.outliers = support.to_vec();
            if next == at {
                break;
            }
            at = next;
        }
        Ok((length, tuned))
    }

    /// The errors of each grid point with this support.
    fn scores(&mut self, support: &[usize]) -> Result<Vec<T>, Error> {
        let mut key = support.to_vec();
        key.sort_unstable();
        if let Some((_, scores)) = self.known.iter().find(|(known, _)| *known == key) {
            return Ok(scores.clone());
        }
        let scores = self
            .grid
            .iter()
            .map(|point| Ok(self.root_mean_square(&self.errors(point, support)?)))
            .collect::<Result<Vec<T>, Error>>()?;
        self.known.push((key, scores.clone()));
        Ok(scores)
    }

    /// Grid point `i` as it is.
    fn at(&self, i: usize, shift: usize) -> Tuned<T> {
        let point = &self.grid[i];
        let search_lambda = self.grid[i + shift.min(point.above)].lambda;
        let (width, lambda) = (point.width, point.lambda);
        Tuned { width, lambda, search_lambda, noise: T::zero(), outliers: Vec::new() }
    }

    /// The grid point next to a width and a lambda.
    fn nearest(&self, width: T, lambda: T) -> usize {
        let mut best = (T::infinity(), 0);
        for (i, point) in self.grid.iter().enumerate() {
            // Widths count more: their grid is the finer one.
            let (dw, dl) = ((point.width / width).ln(), (point.lambda / lambda).ln());
            let distance = constant::<T>(16.0) * dw * dw + dl * dl;
            if distance < best.0 {
                best = (distance, i);
            }
        }
        best.1
    }

    /// The errors of the points not in the support, each left out.
    fn errors(&self, point: &'a GridPoint<T>, support: &[usize]) -> Result<Vec<T>, Error> {
        let mut storage = Growing::new(self.y.len(), support.len());
        greedy::with_support(&self.plan(point), self.y, support, true, &mut storage)?;
        let Parts { residual, variances, .. } = storage.parts();
        let tight = constant::<T>(1e-3);
        let error = |(&r, &v): (&T, &T)| {
            let leverage = constant::<T>(LEVERAGE) * (T::one() - v);
            r / (T::one() - leverage).max(tight * v).max(T::min_positive_value())
        };
        let all = residual.iter().zip(&*variances).map(error).enumerate();
        Ok(all.filter(|(i, _)| !support.contains(i)).map(|(_, e)| e).collect())
    }

    /// Noise as the studentised residuals show it.
    fn noise(&self, point: &'a GridPoint<T>, support: &[usize]) -> Result<T, Error> {
        let mut storage = Growing::new(self.y.len(), support.len());
        greedy::with_support(&self.plan(point), self.y, support, true, &mut storage)?;
        let Parts { residual, variances, .. } = storage.parts();
        let mut z: Vec<T> =
            residual.iter().zip(&*variances).map(|(r, v)| r.abs() / v.sqrt()).collect();
        Ok(constant::<T>(DEVIATION_PER_MEDIAN) * median(&mut z, support.len()))
    }

    fn root_mean_square(&self, errors: &[T]) -> T {
        let sum = errors.iter().fold(T::zero(), |sum, &e| sum + e * e);
        (sum / count(errors.len().max(1))).sqrt().max(self.floor)
    }
}

/// `most` of `n` indices, ascending, spread without a pattern that a lattice
/// of points could share.
fn spread(n: usize, most: usize) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    // One of each stretch of n / most, by a multiplicative hash.
    (0..most)
        .map(|i| {
            let (start, end) = (i * n / most, (i + 1) * n / most);
            let hash = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            start + usize::try_from(hash).unwrap_or(0) % (end - start)
        })
        .collect()
}

/// Widths from twice the distance of neighbours to a third of the extent.
fn default_widths<T: Real>(points: Points<'_, T>) -> Result<Vec<T>, Error> {
    let dim = points.dim();
    let extent = (0..dim).fold(T::zero(), |extent, d| {
        let along = points.iter().map(|p| p[d]);
        let (low, high) =
            along.fold((T::infinity(), T::neg_infinity()), |(l, h), x| (l.min(x), h.max(x)));
        extent.max(high - low)
    });
    Error::check_positive("extent of the points", extent)?;
    let mut nearest: Vec<T> = points
        .iter()
        .enumerate()
        .map(|(i, a)| {
            let others = points.iter().enumerate().filter(|&(j, _)| j != i);
            others.fold(T::infinity(), |least, (_, b)| {
                let squared = a.iter().zip(b).fold(T::zero(), |s, (&a, &b)| s + (a - b) * (a - b));
                least.min(squared)
            })
        })
        .collect();
    let neighbour = median(&mut nearest, 0).sqrt();
    let last = extent / constant(3.0);
    // Points that lie on top of each other say nothing of their distance.
    let first = (neighbour * constant(2.0)).max(last / constant(64.0)).min(last);
    let span = (last / first).ln();
    let steps = (span / constant::<T>(WIDTH_STEP).ln()).ceil().to_usize().unwrap_or(WIDTHS);
    let steps = steps.clamp(1, WIDTHS - 1);
    Ok((0..=steps).map(|i| first * (span * count(i) / count(steps)).exp()).collect())
}

/// $\lambda$ in powers of ten of the largest eigenvalue, for which the largest
/// sum of a row of $K$ stands in.
fn default_lambdas<T: Real>(
    points: Points<'_, T>,
    kernel: &impl Kernel<T>,
    penalty: Penalty,
) -> Result<Vec<T>, Error> {
    let mut largest = T::zero();
    for a in &points {
        let sum = points.iter().fold(T::zero(), |sum, b| sum + kernel.evaluate(a, b).abs());
        largest = largest.max(sum);
    }
    Error::check_positive("kernel matrix", largest)?;
    let (scale, (first, last)) = match penalty {
        Penalty::L2 => (largest * largest, L2_POWERS),
        Penalty::Rkhs => (largest, RKHS_POWERS),
    };
    let ten = constant::<T>(10.0);
    let powers = core::iter::successors(Some(first), |p| Some(p + POWER_STEP));
    Ok(powers.take_while(|&p| p <= last).map(|p| scale * ten.powf(constant(p))).collect())
}
