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
//! Outliers side by side at the border can pull the function along and so look
//! good, and good points beside them bad: [`second_look`] sees through that.
//!
//! Beyond [`SUBSET`] points the grid is judged on that many of them.

mod second_look;
mod tail;

pub use second_look::second_look;

use crate::linalg::multiply;
use crate::real::{constant, count};
use crate::regression::greedy::{self, ResidualMaker};
use crate::regression::stop::median;
use crate::regression::workspace::Growing;
use crate::{Error, Fit, Kernel, PlanRef, Points, Real, Regularizer, Stop, StopReason};
use alloc::vec;
use alloc::vec::Vec;
use second_look::{Costs, left_out_errors, noise_of, reconsider, solve};
use tail::{Tail, has_heavy_tails};

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
/// Second looks before it has to be enough.
const LOOKS: usize = 4;
/// Grid points within so many steps of the best one are judged.
const NEAR_WIDTHS: usize = 3;
const NEAR_LAMBDAS: usize = 3;
/// Rounds of searching and judging before it has to be enough.
const ROUNDS: usize = 5;

/// The penalty to tune.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
    /// The diagonal of $H$.
    diagonal: Vec<T>,
    /// Which width, counted from the narrowest.
    column: usize,
    /// Grid points of the same width with a larger $\lambda$.
    above: usize,
}

impl<T> GridPoint<T> {
    fn is_near(&self, other: &Self) -> bool {
        self.column.abs_diff(other.column) <= NEAR_WIDTHS
            && self.above.abs_diff(other.above) <= NEAR_LAMBDAS
    }
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
        for (column, &width) in own_widths.iter().enumerate() {
            tuner.add_width(judged, column, width, lambdas)?;
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
        column: usize,
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
                    let diagonal = (0..m).map(|i| h[i * m + i]).collect();
                    self.grid.push(GridPoint { width, lambda, h, diagonal, column, above: 0 });
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
        let mut judge = Judge::new(&y, &self.grid)?;
        let starts = judge.starts()?;
        let mut best: Option<(Choice<T>, usize)> = None;
        for (i, &start) in starts.iter().enumerate() {
            if starts[..i].contains(&start) {
                continue;
            }
            for shift in SHIFTS {
                let choice = judge.settle(start, shift)?;
                let choice = judge.look_again(choice)?;
                if best.as_ref().is_none_or(|(best, _)| choice.length < best.length) {
                    best = Some((choice, shift));
                }
            }
        }
        let (choice, shift) = best.ok_or(Error::Empty { what: "grid" })?;
        let search = &self.grid[judge.above(choice.at, shift)];
        let lambda = choice.lambda * self.per_subset();
        Ok(Tuned {
            width: choice.width,
            lambda,
            search_lambda: lambda * search.lambda / self.grid[choice.at].lambda,
            noise: judge.noise(&choice)?,
            outliers: choice.support.iter().map(|&i| self.subset[i]).collect(),
        })
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
    grid: Vec<Cell<'a, T>>,
    costs: Costs<T>,
    /// The scores of the grid for the supports met so far, where they were
    /// asked for: searches from different starts often end with the same one.
    known: Vec<(Vec<usize>, Vec<Option<T>>)>,
}

/// A grid point and the residual of this `y` there, with nothing taken out.
struct Cell<'a, T> {
    point: &'a GridPoint<T>,
    residual: Vec<T>,
}

impl<T: Real> ResidualMaker<T> for Cell<'_, T> {
    fn len(&self) -> usize {
        self.residual.len()
    }

    /// Of the one `y` there is.
    fn residual(&self, _: &[T], out: &mut [T]) {
        out.copy_from_slice(&self.residual);
    }

    fn column(&self, j: usize, out: &mut [T]) {
        let n = self.residual.len();
        out.copy_from_slice(&self.point.h[j * n..][..n]);
    }

    fn diagonal(&self, out: &mut [T], _: &mut [T]) {
        out.copy_from_slice(&self.point.diagonal);
    }
}

/// A support, and what suits it best.
#[derive(Debug, Clone)]
struct Choice<T> {
    support: Vec<usize>,
    width: T,
    lambda: T,
    /// The grid point next to these.
    at: usize,
    /// The length of the description.
    length: T,
}

impl<'a, T: Real> Judge<'a, T> {
    fn new(y: &'a [T], grid: &'a [GridPoint<T>]) -> Result<Self, Error> {
        let cell = |point: &'a GridPoint<T>| {
            let mut residual = vec![T::zero(); y.len()];
            multiply(&point.h, y, &mut residual)?;
            Ok(Cell { point, residual })
        };
        let grid = grid.iter().map(cell).collect::<Result<Vec<_>, Error>>()?;
        Ok(Self { y, grid, costs: Costs::new(y), known: Vec::new() })
    }

    /// Stage 1, where nothing is known of the outliers: the best grid point of
    /// the narrow, the middling and the wide kernels. From a bad one, whose
    /// outliers are a part of the function, there may be no way back.
    fn starts(&self) -> Result<[usize; STARTS], Error> {
        let kept = count::<T>(self.y.len()) * constant(TRIMMED_SHARE);
        let kept = kept.to_usize().unwrap_or(0).max(1);
        let mut best = [(T::infinity(), 0); STARTS];
        for i in 0..self.grid.len() {
            let mut errors = self.errors(i, &[])?;
            for e in &mut errors {
                *e = e.abs();
            }
            let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(core::cmp::Ordering::Equal);
            errors.select_nth_unstable_by(kept - 1, order);
            let score = self.costs.root_mean_square(&errors[..kept]);
            let third = &mut best[i * STARTS / self.grid.len()];
            if score < third.0 {
                *third = (score, i);
            }
        }
        Ok(best.map(|(_, i)| i))
    }

    /// Stage 2, from grid point `at`: outliers and grid point in turn.
    fn settle(&mut self, at: usize, shift: usize) -> Result<Choice<T>, Error> {
        let mut choice = self.choose(self.search(&[], at, shift)?, at)?;
        let mut last = at;
        for _ in 1..ROUNDS {
            if choice.at == last {
                break;
            }
            last = choice.at;
            choice = self.choose(self.search(&[], last, shift)?, last)?;
        }
        Ok(choice)
    }

    /// The outliers, with a lambda `shift` steps above that of a grid point.
    fn search(&self, known: &[usize], at: usize, shift: usize) -> Result<Vec<usize>, Error> {
        let cell = &self.grid[self.above(at, shift)];
        let mut storage = Growing::new(self.y.len(), known.len());
        let (mut k, _) = greedy::search(cell, self.y, known, &mut Stop::automatic(), &mut storage)?;
        if has_heavy_tails(&mut storage, k) {
            let mut cut = Growing::new(self.y.len(), k);
            let known = &storage.indices[..k];
            let (cut_k, _) = greedy::search(cell, self.y, known, &mut Tail, &mut cut)?;
            // What takes half of the points is no tail.
            if 2 * cut_k < self.y.len() {
                (storage, k) = (cut, cut_k);
            }
        }
        storage.indices.truncate(k);
        Ok(storage.indices)
    }

    /// Stage 3: a second look at the support, kept if it shortens the
    /// description.
    fn look_again(&mut self, mut choice: Choice<T>) -> Result<Choice<T>, Error> {
        for _ in 0..LOOKS {
            let before = choice.length;
            let (at, support) = (choice.at, choice.support.clone());
            for shift in SHIFTS {
                let cell = &self.grid[self.above(at, shift)];
                let Some(support) = reconsider(cell, self.y, &support)? else { continue };
                let other = self.choose(self.search(&support, at, 0)?, at)?;
                if other.length < choice.length {
                    choice = other;
                }
            }
            if !(choice.length < before) {
                break;
            }
        }
        Ok(choice)
    }

    /// The grid point of the same width, with lambda `shift` steps larger.
    fn above(&self, at: usize, shift: usize) -> usize {
        at + shift.min(self.grid[at].point.above)
    }

    /// Width and lambda for a support: the mean of the grid by likelihood.
    fn choose(&mut self, support: Vec<usize>, near: usize) -> Result<Choice<T>, Error> {
        let scores = self.scores(&support, near)?;
        let best = scores.iter().flatten().fold(T::infinity(), |min, &s| min.min(s));
        let inliers = count::<T>(self.y.len() - support.len());
        let (mut weights, mut width, mut lambda) = (T::zero(), T::zero(), T::zero());
        for (cell, score) in self.grid.iter().zip(&scores) {
            let Some(score) = *score else { continue };
            let weight = (best / score).powf(inliers);
            weights = weights + weight;
            width = width + weight * cell.point.width.ln();
            lambda = lambda + weight * cell.point.lambda.ln();
        }
        let width = (width / weights).exp();
        let lambda = (lambda / weights).exp();
        let at = self.nearest(width, lambda, &scores);
        let score = scores[at].unwrap_or(best);
        let length = self.costs.length(self.y.len(), support.len(), score);
        Ok(Choice { support, width, lambda, at, length })
    }

    /// The errors of the grid points with this support, all around the best
    /// one, which is sought from `near`. Farther ones have no weight.
    fn scores(&mut self, support: &[usize], near: usize) -> Result<Vec<Option<T>>, Error> {
        let mut key = support.to_vec();
        key.sort_unstable();
        let known = self.known.iter().position(|(known, _)| *known == key);
        let mut scores = match known {
            Some(known) => self.known.swap_remove(known).1,
            None => vec![None; self.grid.len()],
        };
        let mut center = near;
        loop {
            for i in 0..self.grid.len() {
                if scores[i].is_none() && self.grid[i].point.is_near(self.grid[center].point) {
                    scores[i] = Some(self.costs.root_mean_square(&self.errors(i, support)?));
                }
            }
            let mut best = (T::infinity(), center);
            for (i, score) in scores.iter().enumerate() {
                if let Some(score) = *score
                    && score < best.0
                {
                    best = (score, i);
                }
            }
            if best.1 == center {
                break;
            }
            center = best.1;
        }
        self.known.push((key, scores.clone()));
        Ok(scores)
    }

    /// The grid point next to a width and a lambda, of those with a score.
    fn nearest(&self, width: T, lambda: T, scores: &[Option<T>]) -> usize {
        let mut best = (T::infinity(), 0);
        for (i, Cell { point, .. }) in self.grid.iter().enumerate() {
            // Widths count more: their grid is the finer one.
            let (dw, dl) = ((point.width / width).ln(), (point.lambda / lambda).ln());
            let distance = constant::<T>(16.0) * dw * dw + dl * dl;
            if scores[i].is_some() && distance < best.0 {
                best = (distance, i);
            }
        }
        best.1
    }

    fn solve(&self, i: usize, support: &[usize]) -> Result<Growing<T>, Error> {
        solve(&self.grid[i], self.y, support)
    }

    /// The errors of the points not in the support, each left out.
    fn errors(&self, i: usize, support: &[usize]) -> Result<Vec<T>, Error> {
        Ok(left_out_errors(&self.solve(i, support)?, support))
    }

    /// Noise as the studentised residuals show it.
    fn noise(&self, choice: &Choice<T>) -> Result<T, Error> {
        let mut solved = self.solve(choice.at, &choice.support)?;
        Ok(noise_of(&mut solved, choice.support.len()))
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
