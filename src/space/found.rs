//! What every way finds.

use crate::{Outlier, StopReason};
use alloc::vec::Vec;

/// Outliers, residual and fitted values of a fit in space.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Found<T> {
    pub(super) outliers: Vec<Outlier<T>>,
    pub(super) residual: Vec<T>,
    pub(super) fitted: Vec<T>,
    pub(super) reason: StopReason,
}

impl<T: Copy> Found<T> {
    /// The outliers: in order of selection, in regions by index.
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

    /// Why the search ended; in regions, that of the last one.
    #[must_use]
    pub fn stop_reason(&self) -> StopReason {
        self.reason
    }
}
