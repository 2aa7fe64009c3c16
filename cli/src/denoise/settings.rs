//! What the command line says about the methods, as the library's settings.

use clap::ValueEnum;
use kgard::denoise::{
    DenoisePlan, Denoiser, Detection, KgBm3d, KgBm3dPlan, NoiseLaw, Penalty, Smoothing,
};
use kgard::regression::stop::Reading;
use kgard::{Gaussian, Kernel, Matern32};
use std::str::FromStr;

/// The width of the kernel for the paper's smoothing rule, where none is given.
const PAPER_SIGMA: f64 = 0.2;
/// The paper's E0, of the peak.
const E0: f64 = 40.0 / 255.0;

/// What is penalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Norm {
    /// The squares of the coefficients, as in the paper
    L2,
    /// The norm of the function
    Rkhs,
}

/// When no more impulses are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum StopRule {
    Auto,
    Histogram,
    Max(f64),
}

impl FromStr for StopRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "histogram" => Ok(Self::Histogram),
            Some(("max", number)) => crate::number::not_negative(number).map(Self::Max),
            _ => Err("it must be `auto`, `histogram` or `max:E`, for example max:40".into()),
        }
    }
}

/// What the command line says; what it does not say is automatic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) sigma: Option<f64>,
    pub(super) lambda: Option<f64>,
    pub(super) noise_sigma: Option<f64>,
    pub(super) noise_gain: Option<f64>,
    pub(super) noise_floor: Option<f64>,
    pub(super) roi: usize,
    pub(super) core: usize,
    pub(super) stop: StopRule,
    pub(super) e0: Option<f64>,
    pub(super) regularizer: Norm,
}

#[allow(clippy::cast_possible_truncation)]
impl Settings {
    /// The width of the Gaussian kernel; nothing if the library chooses.
    pub(super) fn kernel_width(&self) -> Option<f64> {
        self.sigma.or(self.lambda.map(|_| PAPER_SIGMA))
    }

    /// The noise, if it was given and is the same everywhere.
    pub(super) fn noise(&self) -> Option<f32> {
        let is_even = self.noise_gain.is_none();
        self.noise_sigma.filter(|_| is_even).map(|noise| noise as f32)
    }

    /// How it grows with the brightness, if that was given.
    pub(super) fn noise_law(&self) -> Option<NoiseLaw<f32>> {
        let floor = self.noise_floor.or(self.noise_sigma.map(|noise| noise * noise));
        self.noise_gain.map(|gain| NoiseLaw::new(gain as f32, floor.unwrap_or(0.0) as f32))
    }

    /// KGARD, for samples up to `peak`.
    pub(super) fn kgard(&self, peak: f32) -> Result<DenoisePlan<f32>, kgard::Error> {
        let denoiser = self.denoiser(peak);
        match self.kernel_width() {
            None => denoiser.plan(),
            Some(sigma) => denoiser.kernel(Gaussian::new(sigma as f32)).plan(),
        }
    }

    /// KG-BM3D, for samples up to `peak`.
    pub(super) fn kg_bm3d(&self, peak: f32) -> Result<KgBm3dPlan<f32>, kgard::Error> {
        let method = KgBm3d::new(peak);
        let denoiser = self.denoiser(peak);
        match self.kernel_width() {
            None => self.planned(method.kgard(denoiser)),
            Some(sigma) => self.planned(method.kgard(denoiser.kernel(Gaussian::new(sigma as f32)))),
        }
    }

    fn planned<K: Kernel<f32>>(
        &self,
        method: KgBm3d<f32, K>,
    ) -> Result<KgBm3dPlan<f32>, kgard::Error> {
        if let Some(law) = self.noise_law() {
            return method.noise_law(law).plan();
        }
        match self.noise() {
            None => method.plan(),
            Some(noise) => method.noise(noise).plan(),
        }
    }

    fn denoiser(&self, peak: f32) -> Denoiser<f32, Matern32<f32>> {
        let mut denoiser = Denoiser::new(peak)
            .regions(self.roi, self.core)
            .penalty(match self.regularizer {
                Norm::L2 => Penalty::L2,
                Norm::Rkhs => Penalty::Rkhs,
            })
            .detection(match self.stop {
                StopRule::Auto => Detection::Automatic,
                StopRule::Histogram => Detection::Histogram {
                    e0: self.e0.map_or(E0 as f32 * peak, |e0| e0 as f32),
                    reading: Reading::default(),
                },
                StopRule::Max(epsilon) => Detection::MaxResidual(epsilon as f32),
            });
        if let Some(lambda) = self.lambda {
            denoiser = denoiser.smoothing(Smoothing::Paper { lambda: lambda as f32 });
        }
        if let Some(noise) = self.noise() {
            denoiser = denoiser.noise(noise);
        }
        denoiser
    }
}
