//! Plans and fits that own their memory.

#[cfg(feature = "serde")]
mod serial;

use super::fit::{Outlier, predict};
use super::greedy::{self, ResidualMaker};
use super::plan::PlanRef;
use super::regularizer::Regularizer;
use super::stop::{self, Stop, StopReason, StopRule};
use super::system::{Model, System, max, scale, unwhiten};
use super::workspace::Growing;
use crate::linalg::batch::{Entries, Packed};
use crate::linalg::zeros;
use crate::{Error, Kernel, Points, Real};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// Outliers for which a fit has room before its memory grows.
const FIRST_OUTLIERS: usize = 32;

/// A plan: points, kernel and penalty turned into the residual maker $H$.
///
/// Made once, it serves any number of fits, each at the cost of a few
/// matrix-vector products.
///
/// ```
/// use kgard::{Gaussian, Plan, Regularizer, Stop};
///
/// let x: Vec<f64> = (0..50).map(|i| i as f64 / 50.0).collect();
/// let mut y: Vec<f64> = x.iter().map(|x| (6.0 * x).sin()).collect();
/// y[17] += 5.0;
///
/// let plan = Plan::new(&x, Gaussian::new(0.3), Regularizer::l2(0.05))?;
/// let fit = plan.fit(&y, Stop::max_residual(1.0))?;
/// assert_eq!(fit.outliers().len(), 1);
/// assert_eq!(fit.outliers()[0].index, 17);
/// assert!((fit.predict(&[0.345])? - (6.0f64 * 0.345).sin()).abs() < 0.05);
/// # Ok::<(), kgard::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Plan<T, K> {
    inputs: Inputs<T, K>,
    /// $H$, and behind it the map or the bias weights.
    #[cfg_attr(feature = "serde", serde(rename = "matrices"))]
    memory: Vec<T>,
    #[cfg_attr(feature = "serde", serde(rename = "penalty"))]
    kind: Kind<T>,
}

/// Where and with what the kernel expansion stands.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Inputs<T, K> {
    coordinates: Vec<T>,
    dim: usize,
    kernel: K,
}

#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
enum Kind<T> {
    Mapped { bias: T },
    Scaled { lambda: T },
}

impl<T: Real, K: Kernel<T>> Plan<T, K> {
    /// Makes a plan.
    ///
    /// # Errors
    /// If the points, the kernel or the regularizer are wrong, the system is
    /// not positive definite, or there is not enough memory.
    pub fn new<'p>(
        points: impl Into<Points<'p, T>>,
        kernel: K,
        regularizer: Regularizer<'_, T>,
    ) -> Result<Self, Error> {
        let points = points.into();
        let n = points.len();
        let mut memory = zeros(System::<T>::len_for(n, &regularizer))?;
        let scratch_len =
            max(System::scratch_len_for(n, &regularizer), PlanRef::<T>::scratch_len(n));
        let mut scratch = zeros(scratch_len)?;
        let plan = PlanRef::new(points, &kernel, regularizer, &mut memory, &mut scratch)?;
        let kind = Kind::of(&plan.model);
        Ok(Self { inputs: Inputs::new(points, kernel), memory, kind })
    }

    /// The plan as the core sees it.
    #[must_use]
    pub fn as_ref(&self) -> PlanRef<'_, T> {
        let n = self.len();
        let (h, rest) = self.memory.split_at(n * n);
        let model = match self.kind {
            Kind::Mapped { bias } => {
                let (map, roots) = rest.split_at(n * n);
                Model::Mapped { map, bias, roots }
            }
            Kind::Scaled { lambda } => {
                let (bias, roots) = rest.split_at(n);
                Model::Scaled { lambda, bias, roots }
            }
        };
        PlanRef { n, h, model }
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points().len()
    }

    /// Whether there are no points; never true.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The points.
    #[must_use]
    pub fn points(&self) -> Points<'_, T> {
        self.inputs.points()
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &K {
        &self.inputs.kernel
    }

    /// The same plan in another scalar type, with the kernel to predict with.
    /// A plan made in `f64` and cast to `f32` is more accurate than one made
    /// in `f32`.
    ///
    /// # Errors
    /// [`Error::Overflow`] if a number does not fit into the other type.
    pub fn cast<U: Real, L: Kernel<U>>(&self, kernel: L) -> Result<Plan<U, L>, Error> {
        let scalar = |x: T| U::from(x).unwrap_or_else(U::nan);
        let slice = |from: &[T]| -> Vec<U> { from.iter().map(|&x| scalar(x)).collect() };
        let kind = match self.kind {
            Kind::Mapped { bias } => Kind::Mapped { bias: scalar(bias) },
            Kind::Scaled { lambda } => Kind::Scaled { lambda: scalar(lambda) },
        };
        let coordinates = slice(&self.inputs.coordinates);
        let memory = slice(&self.memory);
        let (Kind::Mapped { bias: parameter } | Kind::Scaled { lambda: parameter }) = kind;
        if !coordinates.iter().chain(&memory).chain([&parameter]).all(|x| x.is_finite()) {
            return Err(Error::Overflow { what: "the plan in the other scalar type" });
        }
        Ok(Plan { inputs: Inputs { coordinates, dim: self.inputs.dim, kernel }, memory, kind })
    }

    /// Finds the outliers in `y` and fits the rest (Algorithm 1).
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite.
    pub fn fit(&self, y: &[T], mut stop: impl StopRule<T>) -> Result<Fit<T, K>, Error>
    where
        K: Clone,
    {
        let plan = self.as_ref();
        let mut storage = growing(plan.n, stop.cap());
        let white = whitened(y, plan.roots())?;
        let (k, reason) = greedy::fit(&plan, &white, &mut stop, &mut storage)?;
        Fit::new(self.inputs.clone(), y, plan.model, storage, k, reason)
    }

    /// Fits many targets on the same points, one after another in `ys`: the same
    /// as [`fit`](Self::fit) for each, with the residuals that all begin with from
    /// one product of matrices.
    ///
    /// ```
    /// use kgard::{Gaussian, Plan, Regularizer, Stop};
    /// let plan = Plan::new(&[0.0, 0.5, 1.0, 1.5], Gaussian::new(1.0), Regularizer::rkhs(0.1))?;
    /// let fits = plan.fit_many(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 9.0, 2.0], Stop::max_residual(0.5))?;
    /// assert!(fits[0].outliers().is_empty());
    /// assert_eq!(fits[1].outliers()[0].index, 2);
    /// # Ok::<(), kgard::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no whole number of targets in `ys`, or one is not finite.
    // By value, as `fit` takes it.
    #[allow(clippy::needless_pass_by_value)]
    pub fn fit_many(
        &self,
        ys: &[T],
        stop: impl StopRule<T> + Clone,
    ) -> Result<Vec<Fit<T, K>>, Error>
    where
        K: Clone,
    {
        let plan = self.as_ref();
        let n = plan.n;
        if !ys.len().is_multiple_of(n) {
            let expected = ys.len().next_multiple_of(n);
            return Err(Error::Length { what: "list of targets", expected, found: ys.len() });
        }
        let mut residuals = zeros(ys.len())?;
        let white = whitened(ys, plan.roots())?;
        if !ys.is_empty() {
            Packed::new(plan.residual_maker(), n).multiply(
                Entries { of: &white, stride: n, start: 0 },
                Entries { of: &mut residuals, stride: n, start: 0 },
            );
        }
        let targets = ys.chunks_exact(n).zip(white.chunks_exact(n));
        let fits = targets.zip(residuals.chunks_exact(n)).map(|((y, white), residual)| {
            let mut stop = stop.clone();
            let mut storage = growing(n, stop.cap());
            let maker = Begun { plan: &plan, y: white, residual };
            let (k, reason) = greedy::fit(&maker, white, &mut stop, &mut storage)?;
            Fit::new(self.inputs.clone(), y, plan.model, storage, k, reason)
        });
        fits.collect()
    }

    /// Fits `y` with the points `support` taken out.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if an index is out of range or given twice,
    /// or too few points remain to determine the fit.
    pub fn fit_support(&self, y: &[T], support: &[usize]) -> Result<Fit<T, K>, Error>
    where
        K: Clone,
    {
        let plan = self.as_ref();
        let mut storage = growing(plan.n, support.len());
        let white = whitened(y, plan.roots())?;
        let k = greedy::fit_support(&plan, &white, support, &mut storage)?;
        let reason = StopReason::GivenSupport;
        Fit::new(self.inputs.clone(), y, plan.model, storage, k, reason)
    }

    /// The fit with outliers and residual that another method has found.
    pub(crate) fn assemble(&self, found: Found<T>) -> Result<Fit<T, K>, Error>
    where
        K: Clone,
    {
        Fit::assemble(self.inputs.clone(), self.as_ref().model, found)
    }

    /// Plain kernel ridge regression: no outliers.
    ///
    /// # Errors
    /// If `y` has the wrong length or is not finite.
    pub fn ridge(&self, y: &[T]) -> Result<Fit<T, K>, Error>
    where
        K: Clone,
    {
        self.fit(y, Stop::count(0))
    }
}

/// A plan that knows the residual of one `y`.
struct Begun<'a, T> {
    plan: &'a PlanRef<'a, T>,
    y: &'a [T],
    residual: &'a [T],
}

impl<T: Real> ResidualMaker<T> for Begun<'_, T> {
    fn len(&self) -> usize {
        self.plan.len()
    }

    fn residual(&self, v: &[T], out: &mut [T]) {
        if core::ptr::eq(v, self.y) {
            out.copy_from_slice(self.residual);
        } else {
            self.plan.residual(v, out);
        }
    }

    fn column(&self, j: usize, out: &mut [T]) {
        self.plan.column(j, out);
    }

    fn diagonal(&self, out: &mut [T], scratch: &mut [T]) {
        self.plan.diagonal(out, scratch);
    }
}

/// Fits one `y` without making a plan: $H$ is not formed, its columns are
/// solved for when they are needed. The faster way for a single fit.
///
/// Takes $2 n^2$ scalars of memory (l2; $n^2$ with the RKHS penalty, $3 n^2$
/// with the Tikhonov matrix, whose factor is kept beside) and O(nk) for `k`
/// outliers.
///
/// # Errors
/// If the data, the kernel or the regularizer are wrong, the system is not
/// positive definite, or there is not enough memory.
pub fn fit<'p, T: Real, K: Kernel<T>>(
    points: impl Into<Points<'p, T>>,
    y: &[T],
    kernel: K,
    regularizer: Regularizer<'_, T>,
    mut stop: impl StopRule<T>,
) -> Result<Fit<T, K>, Error> {
    let points = points.into();
    with_system(points, &kernel, regularizer, |system| {
        let mut storage = growing(system.n, stop.cap());
        let white = whitened(y, system.model.roots())?;
        let (k, reason) = greedy::fit(system, &white, &mut stop, &mut storage)?;
        Fit::new(Inputs::new(points, ()), y, system.model, storage, k, reason)
    })
    .map(|fit| fit.with_kernel(kernel))
}

/// Fits one `y` with the points `support` taken out, without making a plan.
///
/// # Errors
/// As [`fit`](fn@fit), and if an index is out of range or given twice, or too
/// few points remain to determine the fit.
pub fn fit_support<'p, T: Real, K: Kernel<T>>(
    points: impl Into<Points<'p, T>>,
    y: &[T],
    kernel: K,
    regularizer: Regularizer<'_, T>,
    support: &[usize],
) -> Result<Fit<T, K>, Error> {
    let points = points.into();
    with_system(points, &kernel, regularizer, |system| {
        let mut storage = growing(system.n, support.len());
        let white = whitened(y, system.model.roots())?;
        let k = greedy::fit_support(system, &white, support, &mut storage)?;
        let reason = StopReason::GivenSupport;
        Fit::new(Inputs::new(points, ()), y, system.model, storage, k, reason)
    })
    .map(|fit| fit.with_kernel(kernel))
}

/// Builds a system in memory of its own and hands it to `use_it`.
fn with_system<T: Real, R>(
    points: Points<'_, T>,
    kernel: &impl Kernel<T>,
    regularizer: Regularizer<'_, T>,
    use_it: impl FnOnce(&System<'_, T>) -> Result<R, Error>,
) -> Result<R, Error> {
    let n = points.len();
    let mut memory = zeros(System::<T>::len_for(n, &regularizer))?;
    let mut scratch = zeros(System::<T>::scratch_len_for(n, &regularizer))?;
    let system = System::new(points, kernel, regularizer, &mut memory, &mut scratch)?;
    drop(scratch);
    use_it(&system)
}

/// What a search for outliers leaves.
pub(crate) struct Found<T> {
    pub(crate) residual: Vec<T>,
    pub(crate) outliers: Vec<Outlier<T>>,
    /// $f(x_i)$, at the outliers as well.
    pub(crate) fitted: Vec<T>,
    pub(crate) iterations: usize,
    pub(crate) reason: StopReason,
}

/// A finished fit: the function, the outliers and what is left.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Fit<T, K> {
    inputs: Inputs<T, K>,
    coefficients: Vec<T>,
    bias: T,
    outliers: Vec<Outlier<T>>,
    residual: Vec<T>,
    fitted: Vec<T>,
    iterations: usize,
    stop_reason: StopReason,
}

impl<T: Real, K> Fit<T, K> {
    fn new(
        inputs: Inputs<T, K>,
        y: &[T],
        model: Model<'_, T>,
        storage: Growing<T>,
        k: usize,
        reason: StopReason,
    ) -> Result<Self, Error> {
        let Growing { mut residual, mut values, indices, .. } = storage;
        unwhiten(model.roots(), &mut residual, &mut values, &indices[..k]);
        let mut fitted: Vec<T> = y.iter().zip(&residual).map(|(&y, &r)| y - r).collect();
        let mut outliers = Vec::with_capacity(k);
        for (index, f) in indices.into_iter().zip(values).take(k) {
            fitted[index] = f;
            outliers.push(Outlier { index, value: y[index] - f });
        }
        let found = Found { residual, outliers, fitted, iterations: k, reason };
        Self::assemble(inputs, model, found)
    }

    fn assemble(inputs: Inputs<T, K>, model: Model<'_, T>, found: Found<T>) -> Result<Self, Error> {
        let v = found.fitted.iter().zip(&found.residual).map(|(&f, &r)| f + r);
        let bias = model.bias(&found.residual, v);
        let mut coefficients = alloc::vec![T::zero(); found.fitted.len()];
        model.coefficients(&found.residual, &mut coefficients)?;
        Self::of(inputs, coefficients, bias, found)
    }

    fn of(
        inputs: Inputs<T, K>,
        coefficients: Vec<T>,
        bias: T,
        found: Found<T>,
    ) -> Result<Self, Error> {
        let Found { residual, outliers, fitted, iterations, reason: stop_reason } = found;
        let all = residual.iter().chain(&fitted).chain(&coefficients).chain([&bias]);
        if !(all.copied().chain(outliers.iter().map(|o| o.value)).all(T::is_finite)) {
            return Err(Error::Overflow { what: "the fit" });
        }
        Ok(Self { inputs, coefficients, bias, outliers, residual, fitted, iterations, stop_reason })
    }

    /// A fit by a method that has no plan.
    pub(crate) fn from_parts(
        points: Points<'_, T>,
        kernel: K,
        coefficients: Vec<T>,
        bias: T,
        found: Found<T>,
    ) -> Result<Self, Error> {
        Self::of(Inputs::new(points, kernel), coefficients, bias, found)
    }

    fn with_kernel<L>(self, kernel: L) -> Fit<T, L> {
        let Inputs { coordinates, dim, .. } = self.inputs;
        Fit {
            inputs: Inputs { coordinates, dim, kernel },
            coefficients: self.coefficients,
            bias: self.bias,
            outliers: self.outliers,
            residual: self.residual,
            fitted: self.fitted,
            iterations: self.iterations,
            stop_reason: self.stop_reason,
        }
    }

    /// The coefficients $\alpha$ of the kernel expansion.
    #[must_use]
    pub fn coefficients(&self) -> &[T] {
        &self.coefficients
    }

    /// The bias $c$.
    #[must_use]
    pub fn bias(&self) -> T {
        self.bias
    }

    /// The outliers: in order of selection, or as the method says that found
    /// them.
    #[must_use]
    pub fn outliers(&self) -> &[Outlier<T>] {
        &self.outliers
    }

    /// The residual $r = y - f(x) - u$; exactly zero at the outliers, unless
    /// the method shrinks these.
    #[must_use]
    pub fn residual(&self) -> &[T] {
        &self.residual
    }

    /// $\lVert r \rVert_2$.
    #[must_use]
    pub fn residual_norm(&self) -> T {
        stop::norm(&self.residual)
    }

    /// $f(x_i)$ at the points of the fit.
    #[must_use]
    pub fn fitted(&self) -> &[T] {
        &self.fitted
    }

    /// Steps of the method: outliers that KGARD selected, sweeps of RAM,
    /// changes of the RB-RVM.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Why the search for outliers ended.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        self.stop_reason
    }

    /// The points of the fit.
    #[must_use]
    pub fn points(&self) -> Points<'_, T> {
        self.inputs.points()
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> &K {
        &self.inputs.kernel
    }
}

impl<T: Real, K: Kernel<T>> Fit<T, K> {
    /// $f(x)$ at one point.
    ///
    /// # Errors
    /// [`Error::Dimension`] or [`Error::NotFinite`] if `x` is no such point.
    pub fn predict(&self, x: &[T]) -> Result<T, Error> {
        predict(self.points(), self.kernel(), &self.coefficients, self.bias, x)
    }

    /// $f$ at many points.
    ///
    /// # Errors
    /// [`Error::Dimension`] or [`Error::NotFinite`] if they are no such points.
    pub fn predict_many<'x>(&self, x: impl Into<Points<'x, T>>) -> Result<Vec<T>, Error> {
        x.into().iter().map(|x| self.predict(x)).collect()
    }

    /// Solves for the outliers that were found anew, with another penalty:
    /// finding outliers wants a large $\lambda$, estimating the function a
    /// small one. `y` is the data of the first fit.
    ///
    /// # Errors
    /// As [`fit`](fn@fit).
    pub fn refit(&self, y: &[T], regularizer: Regularizer<'_, T>) -> Result<Self, Error>
    where
        K: Clone,
    {
        let support: Vec<usize> = self.outliers.iter().map(|outlier| outlier.index).collect();
        fit_support(self.points(), y, self.kernel().clone(), regularizer, &support)
    }
}

impl<T: Real, K> Inputs<T, K> {
    fn new(points: Points<'_, T>, kernel: K) -> Self {
        Self { coordinates: points.coordinates().to_vec(), dim: points.dim(), kernel }
    }

    fn points(&self) -> Points<'_, T> {
        Points::of_dim(&self.coordinates, self.dim)
    }
}

impl<T: Real> Kind<T> {
    fn of(model: &Model<'_, T>) -> Self {
        match *model {
            Model::Mapped { bias, .. } => Self::Mapped { bias },
            Model::Scaled { lambda, .. } => Self::Scaled { lambda },
        }
    }
}

/// The data in units of each sample's noise, target after target.
fn whitened<'y, T: Real>(ys: &'y [T], roots: &[T]) -> Result<Cow<'y, [T]>, Error> {
    if roots.is_empty() {
        return Ok(Cow::Borrowed(ys));
    }
    let mut white = zeros(ys.len())?;
    white.copy_from_slice(ys);
    if ys.len() < roots.len() {
        Error::check_len("y", ys.len(), roots.len())?;
    }
    for y in white.chunks_mut(roots.len()) {
        scale(y, roots);
    }
    Ok(Cow::Owned(white))
}

/// Memory for a search with at most `cap` outliers.
fn growing<T: Real>(n: usize, cap: usize) -> Growing<T> {
    Growing::new(n, cap.min(n).min(FIRST_OUTLIERS))
}
