//! A line, and a fit on it, with memory of their own.

use super::cell::{Basis, Cell, NONE, position};
use super::chain::{CellOf, Model};
use super::counts::counts_len;
use super::door::{Given, Memory, Outcome, Samples, run};
use super::line_ref::{LineFitRef, Predicted};
use super::markov::MarkovOf;
use super::search::{NoteParts, Notes};
use super::tournament::{Node, tree_len};
use crate::{Error, Outlier, Real, Stop, StopReason, StopRule};
use alloc::vec;
use alloc::vec::Vec;

/// Bins of the automatic rule to a point, about, and the fewest and the most bins.
const BINS_PER_POINT: usize = 4;
const BINS: (usize, usize) = (256, 65_536);

/// Points on a line with a kernel and $\lambda$; any number of fits.
///
/// `D` is the number of states of the kernel, `B` that of unpenalised columns:
/// none, a bias, or a bias and a slope. Points in any order, with any spacing;
/// points may be given more than once. What comes out is in the caller's order.
///
/// ```
/// use kgard::line::Line;
/// use kgard::{Kernel, Matern32, Matern52, Stop};
///
/// // A slow and a quick process, and two wrong values.
/// let x: Vec<f64> = (0..500).map(|i| i as f64 / 10.0).collect();
/// let mut y: Vec<f64> = x.iter().map(|x| x.sin() + 0.2 * (7.0 * x).sin()).collect();
/// y[100] += 3.0;
/// y[321] -= 3.0;
/// let kernel = Matern52::new(4.0).plus(Matern32::new(0.5).scaled(0.1));
/// let fit = Line::with_trend(&x, kernel, 1e-3)?.fit(&y, Stop::max_residual(0.5))?;
/// let found: Vec<usize> = fit.outliers().iter().map(|outlier| outlier.index).collect();
/// assert_eq!(found.len(), 2);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Line<T, K, const D: usize, const B: usize> {
    x: Vec<T>,
    /// Empty if all are one.
    deviations: Vec<T>,
    /// From left to right; empty if that is the caller's order.
    order: Vec<u32>,
    kernel: K,
    lambda: T,
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize> Line<T, K, D, 1> {
    /// Points `x`, a kernel and $\lambda$, with a free bias.
    ///
    /// # Errors
    /// If there are no points, a point is not finite, or the kernel or $\lambda$
    /// is wrong.
    pub fn new(x: &[T], kernel: K, lambda: T) -> Result<Self, Error> {
        Self::with_columns(x, kernel, lambda)
    }
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize> Line<T, K, D, 0> {
    /// The same without a bias.
    ///
    /// # Errors
    /// As [`new`](Line::new).
    pub fn without_bias(x: &[T], kernel: K, lambda: T) -> Result<Self, Error> {
        Self::with_columns(x, kernel, lambda)
    }
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize> Line<T, K, D, 2> {
    /// The same with a free bias and a free slope.
    ///
    /// # Errors
    /// As [`new`](Line::new).
    pub fn with_trend(x: &[T], kernel: K, lambda: T) -> Result<Self, Error> {
        Self::with_columns(x, kernel, lambda)
    }
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> Line<T, K, D, B> {
    /// The same with any number `B` of unpenalised columns, at most two.
    ///
    /// # Errors
    /// As [`new`](Line::new).
    pub fn with_columns(x: &[T], kernel: K, lambda: T) -> Result<Self, Error> {
        kernel.check()?;
        Error::check_positive("lambda", lambda)?;
        Given { x, deviations: None, order: None }.check()?;
        let mut order = Vec::new();
        if !x.is_sorted() {
            order.extend(0..position(x.len()));
            order.sort_by(|&a, &b| {
                let (a, b) = (x[a as usize], x[b as usize]);
                a.partial_cmp(&b).unwrap_or(core::cmp::Ordering::Equal)
            });
        }
        Ok(Self { x: x.to_vec(), deviations: Vec::new(), order, kernel, lambda })
    }

    /// With noise of known standard deviations, relative to each other: the noise
    /// of sample $i$ has the variance $\lambda s_i^2$, in units of the function's.
    ///
    /// # Errors
    /// If there are not as many as points, or one is not positive.
    pub fn with_deviations(mut self, deviations: &[T]) -> Result<Self, Error> {
        self.deviations = deviations.to_vec();
        Given { deviations: Some(deviations), ..self.given() }.check()?;
        Ok(self)
    }

    fn given(&self) -> Given<'_, T> {
        Given {
            x: &self.x,
            deviations: (!self.deviations.is_empty()).then_some(&self.deviations),
            order: (!self.order.is_empty()).then_some(&self.order),
        }
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no points; never true.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> &[T] {
        &self.x
    }

    /// Finds the outliers in `y` and fits the rest (Algorithm 1).
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite, or there is no memory.
    pub fn fit(&self, y: &[T], stop: impl StopRule<T>) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: Clone,
    {
        self.fit_samples(Samples { y, with_gaps: false, known: None, known_count: 0 }, &[], stop)
    }

    /// The same where NaN stands for a sample that is missing.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if all samples are missing.
    pub fn fit_with_gaps(
        &self,
        y: &[T],
        stop: impl StopRule<T>,
    ) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: Clone,
    {
        self.fit_samples(Samples { y, with_gaps: true, known: None, known_count: 0 }, &[], stop)
    }

    /// Fits `y` with the points `support` taken out. NaN stands for a sample that
    /// is missing.
    ///
    /// # Errors
    /// As [`fit_with_gaps`](Self::fit_with_gaps), and if an index is out of range
    /// or given twice.
    pub fn fit_support(&self, y: &[T], support: &[usize]) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: Clone,
    {
        let fit = self.fit_from(y, support, Stop::count(support.len()))?;
        Ok(LineFit { outcome: Outcome { reason: StopReason::GivenSupport, ..fit.outcome }, ..fit })
    }

    /// Goes on from the points `support` taken out.
    pub(super) fn fit_from(
        &self,
        y: &[T],
        support: &[usize],
        stop: impl StopRule<T>,
    ) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: Clone,
    {
        let mut known = zeros(self.len(), NONE)?;
        for (rank, &index) in support.iter().enumerate() {
            match known.get_mut(index) {
                None => return Err(Error::Index { index, len: self.len() }),
                Some(known) if *known != NONE => return Err(Error::Duplicate { index }),
                Some(known) => *known = position(rank),
            }
        }
        let known_count = support.len();
        self.fit_samples(
            Samples { y, with_gaps: true, known: Some(&known), known_count },
            support,
            stop,
        )
    }

    fn fit_samples(
        &self,
        samples: Samples<'_, T>,
        support: &[usize],
        mut stop: impl StopRule<T>,
    ) -> Result<LineFit<T, K, D, B>, Error>
    where
        K: Clone,
    {
        let n = self.len();
        let mut cells: Vec<CellOf<T, K, D, B>> = zeros(n, Cell::default())?;
        let mut nodes = zeros(tree_len(n), Node::default())?;
        let bins =
            n.saturating_mul(BINS_PER_POINT).min(BINS.1).next_power_of_two().clamp(BINS.0, BINS.1);
        let mut counts = vec![0; counts_len(bins)];
        let mut notes = OwnedNotes::new(n, support, stop.looks_at_residuals())?;
        let mut memory = Memory { cells: &mut cells, nodes: &mut nodes, counts: &mut counts, bins };
        let outcome = run(
            &self.kernel,
            self.lambda,
            &self.given(),
            &samples,
            &mut stop,
            &mut memory,
            &mut notes,
        )?;
        notes.indices.truncate(outcome.outliers);
        Ok(LineFit {
            kernel: self.kernel.clone(),
            lambda: self.lambda,
            cells,
            outcome,
            indices: notes.indices,
            values: notes.values,
        })
    }
}

/// Copies of `value`, or an error where there is no memory for them.
fn zeros<V: Clone>(len: usize, value: V) -> Result<Vec<V>, Error> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| Error::TooLarge { scalars: len })?;
    values.resize(len, value);
    Ok(values)
}

/// Notes in memory that grows.
struct OwnedNotes<T> {
    indices: Vec<usize>,
    values: Vec<T>,
    residual: Vec<T>,
    variances: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> OwnedNotes<T> {
    fn new(n: usize, support: &[usize], looks: bool) -> Result<Self, Error> {
        let if_looks = if looks { n } else { 0 };
        Ok(Self {
            indices: support.to_vec(),
            values: Vec::new(),
            residual: zeros(if_looks, T::zero())?,
            variances: zeros(if_looks, T::zero())?,
            scratch: zeros(n, T::zero())?,
        })
    }
}

impl<T: Real> Notes<T> for OwnedNotes<T> {
    fn reserve(&mut self, k: usize) -> bool {
        if k > self.indices.len() {
            self.indices.resize(k, 0);
        }
        true
    }

    fn parts(&mut self) -> NoteParts<'_, T> {
        NoteParts {
            indices: &mut self.indices,
            residual: &mut self.residual,
            variances: &mut self.variances,
            scratch: &mut self.scratch,
        }
    }

    fn values(&mut self, k: usize) -> &mut [T] {
        self.values.resize(k, T::zero());
        &mut self.values
    }
}

/// A fit on a line: the function, the outliers and what is left.
#[derive(Debug, Clone)]
pub struct LineFit<T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    kernel: K,
    lambda: T,
    cells: Vec<CellOf<T, K, D, B>>,
    outcome: Outcome<T, B>,
    indices: Vec<usize>,
    values: Vec<T>,
}

impl<T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> LineFit<T, K, D, B> {
    /// The fit as the core sees it.
    #[must_use]
    pub fn as_ref(&self) -> LineFitRef<'_, T, K, D, B> {
        let basis: Basis<T, B> = self.outcome.basis;
        LineFitRef {
            model: Model { kernel: &self.kernel, lambda: self.lambda, basis },
            cells: &self.cells,
            outcome: self.outcome,
            indices: &self.indices,
            values: &self.values,
        }
    }

    /// The same fit, which ended for another reason.
    pub(super) fn with_reason(self, reason: StopReason) -> Self {
        Self { outcome: Outcome { reason, ..self.outcome }, ..self }
    }

    /// The outliers, in order of selection.
    #[must_use]
    pub fn outliers(&self) -> Vec<Outlier<T>> {
        self.as_ref().outliers().collect()
    }

    /// Which points are outliers, in order of selection.
    #[must_use]
    pub fn support(&self) -> &[usize] {
        &self.indices
    }

    /// Why the search ended.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        self.outcome.reason
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// $\lambda$.
    #[must_use]
    pub fn lambda(&self) -> T {
        self.lambda
    }

    /// The bias: what is added to the function in the middle between the first and
    /// the last point. Zero if there is none.
    #[must_use]
    pub fn bias(&self) -> T {
        self.as_ref().bias()
    }

    /// The slope of the trend. Zero if there is none.
    #[must_use]
    pub fn slope(&self) -> T {
        self.as_ref().slope()
    }

    /// The residual $r = y - f(x) - u$: exactly zero at the outliers, NaN where
    /// there is no sample.
    #[must_use]
    pub fn residual(&self) -> Vec<T> {
        written(self.cells.len(), |out| self.as_ref().residual(out))
    }

    /// $\lVert r \rVert_2$, where the noise is of one size; otherwise of $r_i / s_i$.
    #[must_use]
    pub fn residual_norm(&self) -> T {
        self.as_ref().residual_norm()
    }

    /// $f(x_i)$ at all points, also at outliers and where there is no sample.
    #[must_use]
    pub fn fitted(&self) -> Vec<T> {
        written(self.cells.len(), |out| self.as_ref().fitted(out))
    }

    /// What each sample is off by from its prediction by all others that are in.
    #[must_use]
    pub fn left_out_errors(&self) -> Vec<T> {
        written(self.cells.len(), |out| self.as_ref().left_out_errors(out))
    }

    /// The standard deviations of these errors, noise included.
    #[must_use]
    pub fn left_out_deviations(&self) -> Vec<T> {
        written(self.cells.len(), |out| self.as_ref().left_out_deviations(out))
    }

    /// The variances of the residuals over that of the noise: the diagonal of $H$.
    #[must_use]
    pub fn variances(&self) -> Vec<T> {
        written(self.cells.len(), |out| self.as_ref().variances(out))
    }

    /// The estimated standard deviation of the noise.
    #[must_use]
    pub fn noise(&self) -> T {
        self.as_ref().noise()
    }

    /// The logarithm of the restricted likelihood;
    /// [`LineFitRef::log_likelihood`] has the formula.
    #[must_use]
    pub fn log_likelihood(&self) -> T {
        self.as_ref().log_likelihood()
    }

    /// $f(x)$ and the deviation of its error, in O(log n).
    ///
    /// # Errors
    /// [`Error::NotFinite`] if `x` is no number.
    pub fn predict(&self, x: T) -> Result<Predicted<T>, Error> {
        self.as_ref().predict(x)
    }

    /// The same at many places.
    ///
    /// # Errors
    /// [`Error::NotFinite`] if one is no number.
    pub fn predict_many(&self, x: &[T]) -> Result<Vec<Predicted<T>>, Error> {
        x.iter().map(|&x| self.predict(x)).collect()
    }
}

/// What is written to `n` scalars, which is the right length.
fn written<T: Real>(n: usize, write: impl FnOnce(&mut [T]) -> Result<(), Error>) -> Vec<T> {
    let mut out = vec![T::zero(); n];
    let done = write(&mut out);
    debug_assert!(done.is_ok());
    out
}
