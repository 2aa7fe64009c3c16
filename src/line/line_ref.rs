//! A line in the caller's memory, and what a fit on it leaves.

use super::cell::{Cell, Role};
use super::chain::{CellOf, Model, estimate_at};
use super::counts::counts_len;
use super::door::{Given, Memory, Outcome, Samples, run};
use super::evidence::Evidence;
use super::markov::MarkovOf;
use super::message::Estimate;
use super::search::{NoteParts, Notes};
use super::tournament::{Node, tree_len};
use crate::regression::stop::norm;
use crate::stats::upper_quantile;
use crate::{Error, Outlier, Real, StopReason, StopRule};

/// Bins of the automatic rule, where there is no allocator.
const BINS: usize = 256;

/// Points on a line with a kernel and $\lambda$, which borrows the points and
/// allocates nothing.
///
/// `D` is the number of states of the kernel, `B` that of unpenalised columns
/// (1: a bias). Points in any order, with any spacing; points may be given more
/// than once.
///
/// ```
/// use kgard::line::{Cell, LineMemory, LineRef, Node};
/// use kgard::{Matern32, Stop};
///
/// const N: usize = 64; // samples
/// const K: usize = 8; // outliers at most
/// type Line<'a> = LineRef<'a, f32, Matern32<f32>, 2, 1>;
///
/// let x: [f32; N] = core::array::from_fn(|i| i as f32 / 63.0);
/// let mut y: [f32; N] = core::array::from_fn(|i| x[i] + 0.01 * ((i * i % 7) as f32 - 3.0));
/// y[20] += 1.0;
///
/// let line: Line = LineRef::new(&x, Matern32::new(0.3), 0.1)?;
/// let mut cells = [Cell::default(); N];
/// let mut nodes = [Node::default(); Line::nodes(N)];
/// let (mut indices, mut scalars) = ([0; K], [0.0; Line::scalars(N, K)]);
/// let memory = LineMemory::new(&mut cells, &mut nodes, &mut indices, &mut scalars);
/// let fit = line.fit(&y, Stop::automatic(), memory)?;
/// assert_eq!(fit.outliers().next().map(|o| o.index), Some(20));
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LineRef<'a, T, K, const D: usize, const B: usize> {
    given: Given<'a, T>,
    kernel: K,
    lambda: T,
}

impl<'a, T: Real, K: MarkovOf<T, D>, const D: usize> LineRef<'a, T, K, D, 1> {
    /// Points `x`, a kernel and $\lambda$, with a free bias.
    ///
    /// # Errors
    /// If there are no points, a point is not finite, or the kernel or $\lambda$
    /// is wrong.
    pub fn new(x: &'a [T], kernel: K, lambda: T) -> Result<Self, Error> {
        Self::with_columns(x, kernel, lambda)
    }
}

impl<'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> LineRef<'a, T, K, D, B> {
    /// The same with any number `B` of unpenalised columns: none, a bias, or a bias
    /// and a slope.
    ///
    /// # Errors
    /// As [`new`](LineRef::new).
    pub fn with_columns(x: &'a [T], kernel: K, lambda: T) -> Result<Self, Error> {
        kernel.check()?;
        Error::check_positive("lambda", lambda)?;
        let given = Given { x, deviations: None, order: None };
        given.check()?;
        Ok(Self { given, kernel, lambda })
    }

    /// With noise of known standard deviations, relative to each other: the noise
    /// of sample $i$ has the variance $\lambda s_i^2$, in units of the function's.
    ///
    /// # Errors
    /// If there are not as many as points, or one is not positive.
    pub fn with_deviations(mut self, deviations: &'a [T]) -> Result<Self, Error> {
        self.given.deviations = Some(deviations);
        self.given.check()?;
        Ok(self)
    }

    /// Nodes that a fit of `n` points takes.
    #[must_use]
    pub const fn nodes(n: usize) -> usize {
        tree_len(n)
    }

    /// Scalars that a fit of `n` points with at most `k` outliers takes.
    #[must_use]
    pub const fn scalars(n: usize, k: usize) -> usize {
        n.saturating_add(k)
    }

    /// Scalars that it takes with a rule that looks at residuals
    /// ([`StopRule::looks_at_residuals`]): the histogram rule, and rules of the
    /// caller's own unless they say otherwise.
    #[must_use]
    pub const fn scalars_to_look(n: usize, k: usize) -> usize {
        n.saturating_mul(3).saturating_add(k)
    }

    /// Finds the outliers in `y` and fits the rest.
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite, or the memory is too short.
    pub fn fit<'m>(
        &'m self,
        y: &[T],
        stop: impl StopRule<T>,
        memory: LineMemory<'m, T, K::Gap, D, B>,
    ) -> Result<LineFitRef<'m, T, K, D, B>, Error> {
        self.fit_samples(y, false, stop, memory)
    }

    /// The same where NaN stands for a sample that is missing.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if all samples are missing.
    pub fn fit_with_gaps<'m>(
        &'m self,
        y: &[T],
        stop: impl StopRule<T>,
        memory: LineMemory<'m, T, K::Gap, D, B>,
    ) -> Result<LineFitRef<'m, T, K, D, B>, Error> {
        self.fit_samples(y, true, stop, memory)
    }

    fn fit_samples<'m>(
        &'m self,
        y: &[T],
        with_gaps: bool,
        mut stop: impl StopRule<T>,
        memory: LineMemory<'m, T, K::Gap, D, B>,
    ) -> Result<LineFitRef<'m, T, K, D, B>, Error> {
        let LineMemory { cells, nodes, indices, scalars } = memory;
        let n = self.given.x.len();
        let k = indices.len().min(n);
        let needed = if stop.looks_at_residuals() { Self::scalars_to_look } else { Self::scalars };
        Error::check_at_least("scalars of a line", scalars.len(), needed(n, k))?;
        Error::check_at_least("cells", cells.len(), n)?;
        let (values, scratch) = scalars.split_at_mut(k);
        let mut notes = BorrowedNotes { indices: &mut indices[..k], values, scratch, n };
        let samples = Samples { y, with_gaps, known: None, known_count: 0 };
        let mut counts = [0; counts_len(BINS)];
        let mut memory = Memory { cells: &mut cells[..n], nodes, counts: &mut counts, bins: BINS };
        let outcome = run(
            &self.kernel,
            self.lambda,
            &self.given,
            &samples,
            &mut stop,
            &mut memory,
            &mut notes,
        )?;
        Ok(LineFitRef {
            model: Model { kernel: &self.kernel, lambda: self.lambda, basis: outcome.basis },
            cells: &cells[..n],
            indices: &indices[..outcome.outliers],
            values: &values[..outcome.outliers],
            outcome,
        })
    }
}

/// The caller's memory for one fit on a line.
#[derive(Debug)]
pub struct LineMemory<'a, T, G, const D: usize, const B: usize> {
    cells: &'a mut [Cell<T, G, D, B>],
    nodes: &'a mut [Node<T, B>],
    indices: &'a mut [usize],
    scalars: &'a mut [T],
}

impl<'a, T, G, const D: usize, const B: usize> LineMemory<'a, T, G, D, B> {
    /// A cell for each point, [`LineRef::nodes`] nodes, an index for each outlier
    /// that may be found, and [`LineRef::scalars`] scalars.
    pub const fn new(
        cells: &'a mut [Cell<T, G, D, B>],
        nodes: &'a mut [Node<T, B>],
        indices: &'a mut [usize],
        scalars: &'a mut [T],
    ) -> Self {
        Self { cells, nodes, indices, scalars }
    }
}

/// Notes in memory of a fixed size.
struct BorrowedNotes<'a, T> {
    indices: &'a mut [usize],
    values: &'a mut [T],
    /// `n` scalars, or `3 n`.
    scratch: &'a mut [T],
    n: usize,
}

impl<T: Real> Notes<T> for BorrowedNotes<'_, T> {
    fn reserve(&mut self, k: usize) -> bool {
        k <= self.indices.len()
    }

    fn parts(&mut self) -> NoteParts<'_, T> {
        let (scratch, rest) = self.scratch.split_at_mut(self.n);
        let (residual, variances) = rest.split_at_mut(self.n.min(rest.len()));
        let n = self.n.min(variances.len());
        NoteParts { indices: self.indices, residual, variances: &mut variances[..n], scratch }
    }

    fn values(&mut self, k: usize) -> &mut [T] {
        &mut self.values[..k]
    }
}

/// A function at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Predicted<T> {
    /// $f(x)$, with the bias.
    pub mean: T,
    /// The standard deviation of the error of this mean, in the units of `y`.
    pub deviation: T,
}

impl<T: Real> Predicted<T> {
    /// A measurement at the same place, with noise of this standard deviation.
    #[must_use]
    pub fn of_measurement(&self, noise: T) -> Self {
        Self { deviation: self.deviation.hypot(noise), ..*self }
    }

    /// The interval that holds $f(x)$, or the measurement, with probability `level`.
    ///
    /// # Errors
    /// [`Error::NotPositive`] if `level` is not between 0 and 1.
    pub fn interval(&self, level: T) -> Result<(T, T), Error> {
        Error::check_positive("level of an interval", level)?;
        Error::check_positive("one minus the level of an interval", T::one() - level)?;
        let tail = (T::one() - level) / (T::one() + T::one());
        let half = upper_quantile(tail).max(T::zero()) * self.deviation;
        Ok((self.mean - half, self.mean + half))
    }
}

/// A fit on a line in the caller's memory.
#[derive(Debug, Clone, Copy)]
pub struct LineFitRef<'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> {
    pub(super) model: Model<'a, T, K, B>,
    pub(super) cells: &'a [CellOf<T, K, D, B>],
    pub(super) outcome: Outcome<T, B>,
    pub(super) indices: &'a [usize],
    pub(super) values: &'a [T],
}

impl<'a, T: Real, K: MarkovOf<T, D>, const D: usize, const B: usize> LineFitRef<'a, T, K, D, B> {
    /// The outliers, in order of selection.
    pub fn outliers(&self) -> impl ExactSizeIterator<Item = Outlier<T>> + use<'a, T, K, D, B> {
        let pairs = self.indices.iter().zip(self.values);
        pairs.map(|(&index, &value)| Outlier { index, value })
    }

    /// Why the search ended.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        self.outcome.reason
    }

    /// $\lambda$.
    #[must_use]
    pub fn lambda(&self) -> T {
        self.model.lambda
    }

    /// The bias: what is added to the function in the middle between the first and
    /// the last point. Zero if there is none.
    #[must_use]
    pub fn bias(&self) -> T {
        self.outcome.bias()
    }

    /// The slope of the trend. Zero if there is none.
    #[must_use]
    pub fn slope(&self) -> T {
        self.outcome.slope()
    }

    /// The prediction at a point that is not in, without the offset of `y`.
    fn predicted(&self, cell: &CellOf<T, K, D, B>) -> T {
        cell.predicted(self.model.basis.at(cell.x), &self.outcome.center)
    }

    /// Writes the residual $r = y - f(x) - u$: exactly zero at the outliers, NaN
    /// where there is no sample.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn residual(&self, out: &mut [T]) -> Result<(), Error> {
        self.write("residual", out, |fit, cell| match cell.role {
            Role::Sample => fit.outcome.center.of(cell).0 * cell.deviation,
            Role::Outlier => T::zero(),
            Role::Missing => T::nan(),
        })
    }

    /// Writes $f(x_i)$, also at outliers and where there is no sample.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn fitted(&self, out: &mut [T]) -> Result<(), Error> {
        self.write("fitted values", out, |fit, cell| {
            let value = match cell.role {
                Role::Sample => cell.y - fit.outcome.center.of(cell).0 * cell.deviation,
                _ => fit.predicted(cell),
            };
            value + fit.outcome.offset
        })
    }

    /// Writes what each sample is off by from its prediction by all others that
    /// are in: the leave-one-out errors, $r_i / H_{ii}$. NaN where there is no
    /// sample.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn left_out_errors(&self, out: &mut [T]) -> Result<(), Error> {
        self.write("left-out errors", out, |fit, cell| match cell.role {
            Role::Sample => {
                let (residual, variance) = fit.outcome.center.of(cell);
                residual * cell.deviation / variance
            }
            Role::Outlier => cell.y - fit.predicted(cell),
            Role::Missing => T::nan(),
        })
    }

    /// Writes the standard deviations of these errors, noise included.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn left_out_deviations(&self, out: &mut [T]) -> Result<(), Error> {
        let noise = self.noise();
        let scale = noise / self.model.lambda.sqrt();
        self.write("left-out deviations", out, |fit, cell| {
            if cell.is_in() {
                return noise * cell.deviation / fit.outcome.center.of(cell).1.sqrt();
            }
            let function = fit.variance(cell.basis_residual, cell.diagonal, cell.x);
            let s = cell.deviation;
            scale * (function + fit.model.lambda * s * s).sqrt()
        })
    }

    /// Writes the diagonal of the residual maker $H$, in units of $s_i$: the
    /// variances of the residuals over that of the noise. NaN where the point is
    /// not in.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn variances(&self, out: &mut [T]) -> Result<(), Error> {
        self.write("variances", out, |fit, cell| match cell.role {
            Role::Sample => fit.outcome.center.of(cell).1,
            _ => T::nan(),
        })
    }

    fn write(
        &self,
        what: &'static str,
        out: &mut [T],
        of: impl Fn(&Self, &CellOf<T, K, D, B>) -> T,
    ) -> Result<(), Error> {
        Error::check_len(what, out.len(), self.cells.len())?;
        for cell in self.cells {
            out[cell.index as usize] = of(self, cell);
        }
        Ok(())
    }

    /// $\lVert r \rVert_2$, where the noise is of one size; otherwise of $r_i / s_i$.
    #[must_use]
    pub fn residual_norm(&self) -> T {
        let residuals = || self.samples().map(|cell| self.outcome.center.of(cell).0);
        let largest = residuals().fold(T::zero(), |max, r| max.max(r.abs()));
        if largest == T::zero() || !largest.is_finite() {
            return norm(&[largest]);
        }
        let sum = residuals().fold(T::zero(), |sum, r| sum + (r / largest) * (r / largest));
        largest * sum.sqrt()
    }

    fn samples(&self) -> impl Iterator<Item = &'a CellOf<T, K, D, B>> {
        self.cells.iter().filter(|cell| cell.is_in())
    }

    /// The estimated standard deviation of the noise of a sample with $s_i = 1$.
    ///
    /// Under the model of a Gaussian process $y - b^T c$ has the covariance
    /// $\sigma^2 (K + \lambda)$; the estimate is that of the profile likelihood,
    /// $\lambda \sigma^2$ with $\sigma^2 = y^T r / (\lambda (n - B))$.
    #[must_use]
    pub fn noise(&self) -> T {
        self.outcome.noise
    }

    /// The logarithm of the restricted likelihood of the samples that are in,
    /// with the variance of the function at its best: what to choose kernel and
    /// $\lambda$ by.
    ///
    /// With $A = K + \lambda$ and $p$ unpenalised columns $b$ of size one:
    /// $-\frac12 \left[ (n - p) (1 + \ln 2 \pi \hat\sigma^2) + \ln |A| + \ln |b^T A^{-1} b| \right]$.
    #[must_use]
    pub fn log_likelihood(&self) -> T {
        let Model { lambda, basis, .. } = &self.model;
        let mut evidence = Evidence::new();
        for cell in self.samples() {
            evidence.add(&cell.left.innovation(&cell.sample(*lambda, basis)));
        }
        evidence.profile().log_likelihood(T::zero())
    }

    /// $f(x)$ and the deviation of its error, in O(log n).
    ///
    /// # Errors
    /// [`Error::NotFinite`] if `x` is no number, [`Error::Overflow`] if the prediction is too
    /// large for one.
    pub fn predict(&self, x: T) -> Result<Predicted<T>, Error> {
        Error::check_finite("coordinate", &[x])?;
        let after = self.cells.partition_point(|cell| cell.x <= x);
        let position = super::cell::position;
        let before = match after.checked_sub(1) {
            None => super::cell::NONE,
            Some(i) if self.cells[i].is_in() => position(i),
            Some(i) => self.cells[i].previous,
        };
        let after = match self.cells.get(after) {
            None => super::cell::NONE,
            Some(cell) if cell.is_in() => position(after),
            Some(cell) => cell.next,
        };
        let Estimate { mean, basis, variance } =
            estimate_at(&self.model, self.cells, x, before, after);
        let columns = self.model.basis.at(x);
        let mut mean = mean + self.outcome.offset;
        for b in 0..B {
            mean = mean + self.outcome.center.coefficients[b] * (columns[b] - basis[b]);
        }
        if !mean.is_finite() {
            return Err(Error::Overflow { what: "the prediction" });
        }
        let scale = self.noise() / self.model.lambda.sqrt();
        Ok(Predicted { mean, deviation: scale * self.variance(basis, variance, x).sqrt() })
    }

    /// The variance of $f(x) + b(x)^T c$ in units of the function's, from that of
    /// $f$ and the prediction of the columns.
    fn variance(&self, of_columns: [T; B], of_function: T, x: T) -> T {
        let columns = self.model.basis.at(x);
        let mut variance = of_function;
        for k in 0..B {
            for l in 0..B {
                // G is lambda b^T A^-1 b.
                variance = variance
                    + self.model.lambda
                        * self.outcome.center.inverse[k][l]
                        * (columns[k] - of_columns[k])
                        * (columns[l] - of_columns[l]);
            }
        }
        variance.max(T::zero())
    }
}
