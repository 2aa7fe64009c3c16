//! The result of a fit, in the caller's memory, and prediction.

use super::stop::{self, StopReason};
use super::system::Model;
use crate::{Error, Kernel, Points, Real};

/// A point that was taken out.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outlier<T> {
    /// Which point.
    pub index: usize,
    /// By how much it is off: the estimate $u_j$.
    pub value: T,
}

/// A fit in the caller's memory: what [`PlanRef::fit`](super::PlanRef::fit)
/// leaves in the [`Workspace`](super::Workspace).
#[derive(Debug, Clone, Copy)]
pub struct FitRef<'a, T> {
    pub(crate) y: &'a [T],
    pub(crate) residual: &'a [T],
    pub(crate) indices: &'a [usize],
    pub(crate) values: &'a [T],
    pub(crate) model: Model<'a, T>,
    pub(crate) reason: StopReason,
}

impl<'a, T: Real> FitRef<'a, T> {
    /// The outliers, in order of selection.
    pub fn outliers(&self) -> impl ExactSizeIterator<Item = Outlier<T>> + use<'a, T> {
        let pairs = self.indices.iter().zip(self.values);
        pairs.map(|(&index, &value)| Outlier { index, value })
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
        out.copy_from_slice(self.y);
        subtract_noise(out, self.residual, self.outliers());
        Ok(())
    }

    /// Writes the coefficients $\alpha$ of the kernel expansion.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is not as long as the data.
    pub fn coefficients(&self, out: &mut [T]) -> Result<(), Error> {
        Error::check_len("coefficients", out.len(), self.y.len())?;
        self.model.coefficients(self.residual, out);
        Ok(())
    }

    /// The bias $c$.
    #[must_use]
    pub fn bias(&self) -> T {
        self.model.bias(self.residual, self.y, self.outliers())
    }
}

/// Takes residual and outliers off the data.
pub(crate) fn subtract_noise<T: Real>(
    data: &mut [T],
    residual: &[T],
    outliers: impl Iterator<Item = Outlier<T>>,
) {
    for (f, &r) in data.iter_mut().zip(residual) {
        *f = *f - r;
    }
    for outlier in outliers {
        data[outlier.index] = data[outlier.index] - outlier.value;
    }
}

/// $f(x) = \sum_j \alpha_j \kappa(x, x_j) + c$ at one point, without any
/// memory.
///
/// # Errors
/// If the lengths or dimensions do not fit together.
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
    Ok(terms.fold(bias, |sum, (point, &alpha)| sum + alpha * kernel.evaluate(x, point)))
}
