//! The settings of the automatic KGARD.

use super::denoised::Denoised;
use super::detect::classifier::Networks;
use super::plan::{DenoisePlan, Settings};
use super::smooth::ladder::Ladder;
use crate::image::{Grid, Masks, Plane};
use crate::real::constant;
use crate::{Error, Kernel, Matern32, Penalty, Real};

/// The paper's `N` and `L`.
const REGION: usize = 12;
const CORE: usize = 8;
/// Length of the Matérn kernel, where a region has width 1: good at noise of 15 to 25 dB.
pub const KERNEL_WIDTH: f64 = 0.3;
/// The values of lambda that regions choose from.
const LAMBDAS: [f64; 8] = [0.01, 0.0316, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6];

/// KGARD with everything automatic: $\lambda$ of each region by its estimated risk, outliers by
/// the studentised residual and the pattern around a pixel, regions blended.
///
/// It works in units of the image's own range ([`SampleRange`](super::SampleRange)), so that the
/// result does not depend on the type of the file. The method as the paper has it is
/// [`PaperKgard`](super::PaperKgard).
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Denoiser<T, K = Matern32<T>> {
    kernel: K,
    settings: Settings<T>,
}

impl<T: Real> Default for Denoiser<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> Denoiser<T> {
    /// Everything automatic.
    pub fn new() -> Self {
        Self {
            kernel: Matern32::new(constant(KERNEL_WIDTH)),
            settings: Settings {
                region: REGION,
                core: CORE,
                // The RKHS norm leaves the bias of a region free, and smooths images better.
                penalty: Penalty::Rkhs,
                noise: None,
            },
        }
    }
}

impl<T: Real, K: Kernel<T>> Denoiser<T, K> {
    /// Another kernel, on a region that reaches from 0 to 1 in both directions:
    /// the paper's is `Gaussian::new(0.3)`.
    pub fn kernel<L: Kernel<T>>(self, kernel: L) -> Denoiser<T, L> {
        Denoiser { kernel, settings: self.settings }
    }

    /// Regions of `region` x `region` pixels, the paper's `N`, with cores of
    /// `core` x `core`, its `L`: 12 and 8 unless told otherwise. Smaller cores
    /// overlap more and take longer.
    pub fn regions(mut self, region: usize, core: usize) -> Self {
        (self.settings.region, self.settings.core) = (region, core);
        self
    }

    /// The norm that is penalised: for images the RKHS norm unless told otherwise.
    pub fn penalty(mut self, penalty: Penalty) -> Self {
        self.settings.penalty = penalty;
        self
    }

    /// The standard deviation of the noise in units of the samples, where it is known.
    pub fn noise(mut self, noise: T) -> Self {
        self.settings.noise = Some(noise);
        self
    }

    /// Whether something was given in the unit of the samples.
    pub(super) fn is_in_samples(&self) -> bool {
        self.settings.noise.is_some()
    }

    /// Does once what is the same for all images.
    ///
    /// # Errors
    /// If a setting is wrong: see [`Grid::new`] for the regions.
    pub fn plan(&self) -> Result<DenoisePlan<T>, Error> {
        let settings = self.settings.clone();
        if let Some(noise) = settings.noise {
            Error::check_not_negative("noise", noise)?;
        }
        Grid::new(1, 1, settings.region, settings.core)?;
        let lambdas = LAMBDAS.map(constant);
        let ladder = Ladder::new(settings.region, &self.kernel, settings.penalty, &lambdas)?;
        Ok(DenoisePlan { settings, ladder, networks: Networks::new() })
    }
}

impl<T: Real + Send + Sync, K: Kernel<T>> Denoiser<T, K> {
    /// Denoises one channel; [`plan`](Self::plan) first for many.
    ///
    /// # Errors
    /// If a setting is wrong, or a sample not finite.
    pub fn denoise(&self, image: Plane<'_, T>) -> Result<Denoised<T>, Error> {
        self.plan()?.denoise(image, Masks::default())
    }
}
