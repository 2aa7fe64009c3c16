//! The plan: everything that does not depend on `y`.

use super::fit::{FitRef, clean};
use super::greedy::{self, ResidualMaker};
use super::regularizer::Regularizer;
use super::stop::{StopReason, StopRule};
use super::system::{Model, System, max, unwhiten};
use super::workspace::{Parts, Workspace};
use crate::checked::{copy, entry as at, piece, piece_mut};
use crate::linalg::{cholesky, multiply};
use crate::{Error, Kernel, Points, Real};

/// A plan in borrowed memory: the residual maker $H$, and how coefficients and
/// bias follow from a residual.
///
/// It is made once for a set of points, a kernel and a penalty, on the spot
/// ([`new`](Self::new)) or beforehand on another machine
/// ([`mapped`](Self::mapped), [`scaled`](Self::scaled),
/// [`from_bytes`](Self::from_bytes)), and serves any number of fits. Nothing
/// of it is ever written to, so that it can stay in flash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanRef<'a, T> {
    pub(crate) n: usize,
    pub(crate) h: &'a [T],
    pub(crate) model: Model<'a, T>,
}

impl<'a, T: Real> PlanRef<'a, T> {
    /// Scalars of memory for `n` points and the l2 or Tikhonov penalty.
    #[must_use]
    pub const fn l2_len(n: usize) -> usize {
        System::<T>::l2_len(n)
    }

    /// Scalars of memory for `n` points and the RKHS penalty.
    #[must_use]
    pub const fn rkhs_len(n: usize) -> usize {
        System::<T>::rkhs_len(n)
    }

    /// Scalars of scratch that planning takes with the l2 or RKHS penalty.
    #[must_use]
    pub const fn scratch_len(n: usize) -> usize {
        max(System::<T>::scratch_len(n), cholesky::invert_scratch_len::<T>(n))
    }

    /// Scalars of scratch that planning takes with the Tikhonov penalty.
    #[must_use]
    pub const fn tikhonov_scratch_len(n: usize) -> usize {
        n.saturating_mul(n).saturating_add(Self::scratch_len(n))
    }

    /// Makes a plan in `memory`: [`l2_len`](Self::l2_len) or
    /// [`rkhs_len`](Self::rkhs_len) scalars.
    ///
    /// # Errors
    /// If the points, the kernel, the regularizer or the buffers are wrong, or
    /// the system is not positive definite.
    pub fn new<'p>(
        points: impl Into<Points<'p, T>>,
        kernel: &impl Kernel<T>,
        regularizer: Regularizer<'_, T>,
        memory: &'a mut [T],
        scratch: &mut [T],
    ) -> Result<Self, Error> {
        let points = points.into();
        Error::check_at_least("scratch", scratch.len(), Self::scratch_len(points.len()))?;
        System::new(points, kernel, regularizer, memory, scratch)?.into_plan(scratch)
    }

    /// A plan for the l2 or Tikhonov penalty from its parts: $H$, the map from
    /// residual to coefficients (row `i` belongs to residual `i`), and what
    /// the sum of the residual is multiplied with to give the bias.
    ///
    /// # Errors
    /// [`Error::Length`] if `h` or `map` is not `n` x `n`.
    pub const fn mapped(n: usize, h: &'a [T], map: &'a [T], bias: T) -> Result<Self, Error> {
        if let Err(error) = Error::check_square("H", h.len(), n) {
            return Err(error);
        }
        if let Err(error) = Error::check_square("coefficient map", map.len(), n) {
            return Err(error);
        }
        Ok(Self { n, h, model: Model::Mapped { map, bias, roots: &[] } })
    }

    /// A plan for the RKHS penalty from its parts: $H$, $\lambda$, and the
    /// weights whose inner product with the data is the bias (zeros if there
    /// is none).
    ///
    /// # Errors
    /// [`Error::Length`] if `h` is not `n` x `n` or `bias` not of length `n`.
    pub const fn scaled(n: usize, h: &'a [T], bias: &'a [T], lambda: T) -> Result<Self, Error> {
        if let Err(error) = Error::check_square("H", h.len(), n) {
            return Err(error);
        }
        if let Err(error) = Error::check_len("bias weights", bias.len(), n) {
            return Err(error);
        }
        Ok(Self { n, h, model: Model::Scaled { lambda, bias, roots: &[] } })
    }

    /// The same for samples whose weights have these square `roots`: $H$ is that of the
    /// whitened data, see [`Regularizer::with_sample_weights`].
    ///
    /// # Errors
    /// [`Error::Length`] if there are not as many as points.
    pub const fn with_roots(mut self, roots: &'a [T]) -> Result<Self, Error> {
        if let Err(error) = Error::check_len("roots of the sample weights", roots.len(), self.n) {
            return Err(error);
        }
        self.model = match self.model {
            Model::Mapped { map, bias, .. } => Model::Mapped { map, bias, roots },
            Model::Scaled { lambda, bias, .. } => Model::Scaled { lambda, bias, roots },
        };
        Ok(self)
    }

    /// Number of points.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n
    }

    /// Whether there are no points.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The square roots of the sample weights, if there are any; else none.
    #[must_use]
    pub const fn roots(&self) -> &[T] {
        self.model.roots()
    }

    /// The residual maker $H$, row-major; symmetric. With sample weights it takes whitened
    /// data $\sqrt{w_i} \, y_i$ and gives whitened residuals.
    #[must_use]
    pub const fn residual_maker(&self) -> &'a [T] {
        self.h
    }

    /// Finds the outliers in `y` and fits the rest (Algorithm 1), in the
    /// caller's memory.
    ///
    /// # Errors
    /// If `y` or the workspace has the wrong length, or `y` is not finite.
    pub fn fit<'w>(
        &self,
        y: &'w [T],
        stop: impl StopRule<T>,
        work: Workspace<'w, T>,
    ) -> Result<FitRef<'w, T>, Error>
    where
        'a: 'w,
    {
        with_model(fit_on(self, y, stop, work)?, self.model)
    }

    /// Fits `y` with the points `support` taken out.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if an index is out of range or given twice,
    /// or too few points remain to determine the fit.
    pub fn fit_support<'w>(
        &self,
        y: &'w [T],
        support: &[usize],
        mut work: Workspace<'w, T>,
    ) -> Result<FitRef<'w, T>, Error>
    where
        'a: 'w,
    {
        let white = work.whiten(y, self.model.roots())?;
        let k = greedy::fit_support(self, white.unwrap_or(y), support, &mut work)?;
        let fit = finish(y, self.model.roots(), k, StopReason::GivenSupport, work);
        with_model(fit, self.model)
    }
}

/// Algorithm 1 on any `maker` of residuals, in the caller's memory: for a structure of $H$ that
/// this library does not know of. Bias and coefficients are then the caller's to find: the fit has
/// a bias of zero, and no coefficients.
///
/// ```
/// use kgard::{ResidualMaker, Stop, Workspace, fit_on};
///
/// /// A constant is fitted: the residual is what differs from the mean.
/// struct Mean;
///
/// impl ResidualMaker<f32> for Mean {
///     fn len(&self) -> usize {
///         6
///     }
///     fn residual(&self, v: &[f32], out: &mut [f32]) {
///         let mean = v.iter().sum::<f32>() / 6.0;
///         out.iter_mut().zip(v).for_each(|(r, v)| *r = v - mean);
///     }
///     fn column(&self, j: usize, out: &mut [f32]) {
///         out.fill(-1.0 / 6.0);
///         out[j] += 1.0;
///     }
/// }
///
/// let (mut scalars, mut indices) = ([0.0; Workspace::<f32>::len(6, 2)], [0; 2]);
/// let work = Workspace::new(6, &mut scalars, &mut indices)?;
/// let y = [1.0, 1.1, 0.9, 7.0, 1.0, 1.0];
/// let fit = fit_on(&Mean, &y, Stop::max_residual(0.5), work)?;
/// assert_eq!(fit.outliers().next().unwrap().index, 3);
/// assert!((fit.outliers().next().unwrap().value - 6.0).abs() < 1e-5);
/// # Ok::<(), kgard::Error>(())
/// ```
///
/// # Errors
/// If `y` or the workspace has the wrong length, or `y` is not finite.
pub fn fit_on<'w, T: Real>(
    maker: &impl ResidualMaker<T>,
    y: &'w [T],
    mut stop: impl StopRule<T>,
    mut work: Workspace<'w, T>,
) -> Result<FitRef<'w, T>, Error> {
    let white = work.whiten(y, maker.roots())?;
    let (k, reason) = greedy::fit(maker, white.unwrap_or(y), &mut stop, &mut work)?;
    Ok(finish(y, maker.roots(), k, reason, work))
}

fn finish<'w, T: Real>(
    y: &'w [T],
    roots: &[T],
    k: usize,
    reason: StopReason,
    work: Workspace<'w, T>,
) -> FitRef<'w, T> {
    let Parts { residual, values, indices, .. } = work.into_parts();
    let (indices, values) = (piece(indices, 0, k), piece_mut(values, 0, k));
    unwhiten(roots, residual, values, indices);
    let (residual, predicted) = (&*residual, &*values);
    FitRef { y, residual, indices, predicted, bias: T::zero(), model: None, reason }
}

/// The fit with its bias, and the way to its coefficients.
pub(super) fn with_model<'w, T: Real>(
    mut fit: FitRef<'w, T>,
    model: Model<'w, T>,
) -> Result<FitRef<'w, T>, Error> {
    let FitRef { y, residual, indices, predicted, .. } = fit;
    fit.bias = model.bias(residual, clean(y, residual, indices, predicted));
    fit.model = Some(model);
    if fit.bias.is_finite() { Ok(fit) } else { Err(Error::Overflow { what: "the bias" }) }
}

impl<'a, T: Real> System<'a, T> {
    /// Replaces the factor by $H$ itself; `scratch` as for [`PlanRef::new`].
    ///
    /// # Errors
    /// [`Error::TooShort`] if the scratch is.
    pub fn into_plan(self, scratch: &mut [T]) -> Result<PlanRef<'a, T>, Error> {
        let Self { n, factor: h, sum, model } = self;
        cholesky::invert(h, n, scratch)?;
        if let Model::Scaled { lambda, bias, .. } = model {
            // H = lambda (A^-1 - s g g^T).
            for (row, &g_i) in h.chunks_exact_mut(n).zip(bias) {
                for (x, &g_j) in row.iter_mut().zip(bias) {
                    *x = lambda * (*x - sum * (g_i * g_j));
                }
            }
        }
        Ok(PlanRef { n, h, model })
    }
}

impl<T: Real> ResidualMaker<T> for PlanRef<'_, T> {
    fn len(&self) -> usize {
        self.n
    }

    fn roots(&self) -> &[T] {
        self.model.roots()
    }

    fn residual(&self, v: &[T], out: &mut [T]) {
        let fits = multiply(self.h, v, out);
        debug_assert!(fits.is_ok(), "the lengths are checked at the door");
    }

    fn column(&self, j: usize, out: &mut [T]) {
        copy(out, piece(self.h, j * self.n, self.n));
    }

    fn diagonal(&self, out: &mut [T], _: &mut [T]) {
        for (i, entry) in out.iter_mut().enumerate() {
            *entry = at(self.h, i * self.n + i);
        }
    }
}
