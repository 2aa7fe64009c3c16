//! Many points in space with nothing to choose.

use super::{Space, SpaceFit};
use crate::kernel::AnyKernel;
use crate::tune::subset::representative;
use crate::tune::{Trend, Tuner};
use crate::{Error, Points, Real, Stop};
use alloc::vec::Vec;

/// Points that parameters are tuned to, with the outliers among them.
const PART: usize = 1200;

/// Kernel, $\lambda$ and outliers of many points from the data.
///
/// [`Tuner`] finds kernel, lengths and $\lambda$ for a part of the points that
/// stands for all of them: half of it is spread over all, half are neighbours in a
/// few places. Then all points are fitted on a [`Space`], by
/// [`Stop::automatic`]. Few points are tuned and fitted by the [`Tuner`] alone better,
/// which knows of trends and of noise that depends on the inputs as well.
#[derive(Debug, Clone)]
pub struct SpaceTuner<T> {
    tuner: Tuner<T>,
}

/// What a [`SpaceTuner`] has found.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SpaceTuned<T> {
    /// Function, outliers and residual.
    pub fit: SpaceFit<T, AnyKernel<T>>,
    /// The kernel, in the units of the data.
    pub kernel: AnyKernel<T>,
    /// $\lambda$.
    pub lambda: T,
    /// Points that these were tuned to.
    pub tuned_to: usize,
}

impl<T: Real> SpaceTuner<T> {
    /// Nothing to choose.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Tuner::new())
    }

    /// With a kernel in the units of the data, whose parameters are learned.
    #[must_use]
    pub fn with_kernel(kernel: AnyKernel<T>) -> Self {
        Self::with(Tuner::with_kernel(kernel))
    }

    fn with(tuner: Tuner<T>) -> Self {
        // What the function of all points has neither.
        Self { tuner: tuner.trend(Trend::None).uneven_noise(false) }
    }

    /// With a $\lambda$ that stays.
    #[must_use]
    pub fn lambda(self, lambda: T) -> Self {
        Self { tuner: self.tuner.lambda(lambda) }
    }

    /// Tunes, finds the outliers and fits the function.
    ///
    /// # Errors
    /// As [`Tuner::fit`] and [`Space::fit`].
    pub fn fit<'p>(
        &self,
        points: impl Into<Points<'p, T>>,
        y: &[T],
    ) -> Result<SpaceTuned<T>, Error> {
        let points = points.into();
        points.check()?;
        Error::check_len("values", y.len(), points.len())?;
        Error::check_finite("value", y)?;
        let part = representative(points, PART);
        let dim = points.dim();
        let coordinates = points.coordinates();
        let x: Vec<T> =
            part.iter().flat_map(|&i| &coordinates[i * dim..][..dim]).copied().collect();
        let v: Vec<T> = part.iter().map(|&i| y[i]).collect();
        let model = self.tuner.fit(Points::new(&x, dim)?, &v)?;
        let (kernel, lambda) = (model.kernel().clone(), model.lambda());
        let space = Space::new(points, kernel.clone(), lambda)?;
        let fit = space.fit(y, Stop::automatic())?;
        Ok(SpaceTuned { fit, kernel, lambda, tuned_to: part.len() })
    }
}

impl<T: Real> Default for SpaceTuner<T> {
    fn default() -> Self {
        Self::new()
    }
}
