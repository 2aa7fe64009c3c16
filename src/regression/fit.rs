//! The result of a fit, in the caller's memory, and prediction.

use super::stop::{self, StopReason};
use super::system::Model;
use crate::checked::{entry, set};
use crate::real::count;
use crate::{Error, Kernel, Points, Real};

/// A point that was taken out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outlier<T> {
    /// Which point.
    pub index: usize,
    /// By how much it is off: $u_j = y_j - f(x_j)$, where the fit does not
    /// depend on $y_j$.
    pub value: T,
}

/// A fit in the caller's memory: what [`PlanRef::fit`](super::PlanRef::fit)
/// leaves in the [`Workspace`](super::Workspace).
#[derive(Debug, Clone, Copy)]
pub struct FitRef<'a, T> {
    pub(crate) y: &'a [T],
    pub(crate) residual: &'a [T],
    pub(crate) indices: &'a [usize],
    /// $f(x_j)$ at the outliers.
    pub(crate) predicted: &'a [T],
    pub(crate) bias: T,
    /// None on a residual maker of the caller's own.
    pub(crate) model: Option<Model<'a, T>>,
    pub(crate) reason: StopReason,
}

impl<'a, T: Real> FitRef<'a, T> {
    /// The outliers, in order of selection.
    pub fn outliers(&self) -> impl ExactSizeIterator<Item = Outlier<T>> + use<'a, T> {
        let Self { y, indices, predicted, .. } = *self;
        let outlier =
            move |(&index, &f): (&usize, &T)| Outlier { index, value: entry(y, index) - f };
        indices.iter().zip(predicted).map(outlier)
    }

    /// The residual $r = y - f(x) - u$; exactly zero at the outliers.
    #[must_use]
    pub fn residual(&self) -> &'a [T] {
        self.residual
    }

    /// $\lVert r \rVert_2$.
    #[must_use]
    pub fn residual_norm(&self) -> T {
        stop::norm(self.residual)
    }

    /// Why the search ended.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        self.reason
    }

    /// Writes the fitted values $f(x_i) = y_i - u_i - r_i$: the data without
    /// noise and outliers.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn fitted(&self, out: &mut [T]) -> Result<(), Error> {
        Error::check_len("fitted values", out.len(), self.y.len())?;
        for ((f, &y), &r) in out.iter_mut().zip(self.y).zip(self.residual) {
            *f = y - r;
        }
        for (&j, &f) in self.indices.iter().zip(self.predicted) {
            set(out, j, f);
        }
        Ok(())
    }

    /// Writes the coefficients $\alpha$ of the kernel expansion.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data;
    /// [`Error::Overflow`] if a coefficient is too large for a number; [`Error::Unsupported`]
    /// after [`fit_on`](crate::fit_on), which knows of no kernel.
    pub fn coefficients(&self, out: &mut [T]) -> Result<(), Error> {
        Error::check_len("coefficients", out.len(), self.y.len())?;
        let what = "a coefficient of a residual maker of one's own";
        self.model.ok_or(Error::Unsupported { what })?.coefficients(self.residual, out)
    }

    /// The bias $c$.
    #[must_use]
    pub fn bias(&self) -> T {
        self.bias
    }
}

/// $R^2 = 1 - \sum r_i^2 / \sum (y_i - \bar y)^2$ over the points that are no outliers: the
/// share of their variance that the function explains. One where they do not vary.
///
/// # Errors
/// [`Error::Length`] if there are not as many residuals as data.
pub fn r_squared<T: Real>(y: &[T], residual: &[T], outliers: &[Outlier<T>]) -> Result<T, Error> {
    Error::check_len("residual", residual.len(), y.len())?;
    // Outliers have a residual of zero by most methods, and hardly another point: the list
    // is looked through for few points only.
    let zero = |outlier: &Outlier<T>| residual.get(outlier.index).is_none_or(T::is_zero);
    let all_zero = outliers.iter().all(zero);
    let is_in = |i: usize| {
        (all_zero && !residual[i].is_zero()) || outliers.iter().all(|outlier| outlier.index != i)
    };
    let inside = || (0..y.len()).filter(|&i| is_in(i));
    let n = count::<T>(inside().count().max(1));
    let mean = inside().fold(T::zero(), |sum, i| sum + y[i] / n);
    // Neither sum of squares overflows.
    let (total, left) = inside().fold((T::zero(), T::zero()), |(total, left), i| {
        (T::hypot(total, y[i] - mean), T::hypot(left, residual[i]))
    });
    let share = left / total;
    Ok(if total > T::zero() { T::one() - share * share } else { T::one() })
}

/// $v = y - u$: the data, and at the outliers what the fit says there.
pub(crate) fn clean<'a, T: Real>(
    y: &'a [T],
    residual: &'a [T],
    indices: &'a [usize],
    predicted: &'a [T],
) -> impl Iterator<Item = T> {
    y.iter().zip(residual).enumerate().map(move |(i, (&y, r))| {
        // Outliers have a residual of exactly zero, and hardly another point.
        let which = if r.is_zero() { indices.iter().position(|&j| j == i) } else { None };
        which.map_or(y, |which| entry(predicted, which))
    })
}

/// $f(x) = \sum_j \alpha_j \kappa(x, x_j) + c$ at one point, without any
/// memory.
///
/// # Errors
/// If the lengths or dimensions do not fit together; [`Error::Overflow`] if
/// $f(x)$ is too large for a number.
pub fn predict<'a, T: Real>(
    points: impl Into<Points<'a, T>>,
    kernel: &impl Kernel<T>,
    coefficients: &[T],
    bias: T,
    x: &[T],
) -> Result<T, Error> {
    let points = points.into();
    Error::check_len("coefficients", coefficients.len(), points.len())?;
    if x.len() != points.dim() {
        return Err(Error::Dimension { expected: points.dim(), found: x.len() });
    }
    Error::check_finite("coordinate", x)?;
    // A sparse expansion has few terms.
    let terms = points.iter().zip(coefficients).filter(|(_, alpha)| !alpha.is_zero());
    let sum = terms.fold(bias, |sum, (point, &alpha)| sum + alpha * kernel.evaluate(x, point));
    if sum.is_finite() { Ok(sum) } else { Err(Error::Overflow { what: "the prediction" }) }
}
