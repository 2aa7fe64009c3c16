//! What the command line says about the methods, as the library's settings.

use clap::ValueEnum;
use kgard::denoise::{
    DenoisePlan, Denoiser, KgBm3d, KgBm3dPlan, NoiseLaw, NoiseSpectrum, PaperKgBm3d,
    PaperKgBm3dPlan, PaperKgard, PaperPlan, PaperStop,
};
use kgard::regression::stop::Reading;
use kgard::{Gaussian, Kernel, Matern32, Penalty};
use std::str::FromStr;

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
    Histogram(Reading),
    Max(f64),
}

impl FromStr for StopRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "histogram" => Ok(Self::Histogram(Reading::Once)),
            Some(("histogram", "every-step")) => Ok(Self::Histogram(Reading::EveryStep)),
            Some(("max", number)) => crate::number::not_negative(number).map(Self::Max),
            _ => Err("it must be `auto`, `histogram`, `histogram:every-step` or `max:E`, for \
                      example max:40"
                .into()),
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
    /// But for its size.
    pub(super) noise_spectrum: Option<NoiseSpectrum<f32>>,
    pub(super) roi: usize,
    pub(super) core: usize,
    pub(super) stop: StopRule,
    pub(super) e0: Option<f64>,
    pub(super) regularizer: Option<Norm>,
}

impl Norm {
    fn penalty(self) -> Penalty {
        match self {
            Self::L2 => Penalty::L2,
            Self::Rkhs => Penalty::Rkhs,
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
impl Settings {
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

    /// The automatic KGARD.
    pub(super) fn kgard(&self) -> Result<DenoisePlan<f32>, kgard::Error> {
        let denoiser = self.denoiser();
        match self.sigma {
            None => denoiser.plan(),
            Some(sigma) => denoiser.kernel(Gaussian::new(sigma as f32)).plan(),
        }
    }

    /// KG-BM3D, for samples up to `peak`.
    pub(super) fn kg_bm3d(&self, peak: f32) -> Result<KgBm3dPlan<f32>, kgard::Error> {
        let method = KgBm3d::new(peak);
        let denoiser = self.denoiser();
        match self.sigma {
            None => self.planned(method.kgard(denoiser)),
            Some(sigma) => self.planned(method.kgard(denoiser.kernel(Gaussian::new(sigma as f32)))),
        }
    }

    /// The paper's KGARD, for samples up to `peak`.
    pub(super) fn paper_kgard(&self, peak: f32) -> Result<PaperPlan<f32>, kgard::Error> {
        self.paper(peak).plan()
    }

    /// The paper's KG-BM3D, for samples up to `peak`.
    pub(super) fn paper_kg_bm3d(&self, peak: f32) -> Result<PaperKgBm3dPlan<f32>, kgard::Error> {
        let method = PaperKgBm3d::new(peak).kgard(self.paper(peak));
        match self.noise() {
            None => method.plan(),
            Some(noise) => method.noise(noise).plan(),
        }
    }

    fn paper(&self, peak: f32) -> PaperKgard<f32> {
        let mut paper = PaperKgard::new(peak).regions(self.roi, self.core).stop(match self.stop {
            StopRule::Max(epsilon) => PaperStop::MaxResidual(epsilon as f32),
            StopRule::Auto => self.histogram(peak, Reading::default()),
            StopRule::Histogram(reading) => self.histogram(peak, reading),
        });
        if let Some(sigma) = self.sigma {
            paper = paper.sigma(sigma as f32);
        }
        if let Some(lambda) = self.lambda {
            paper = paper.lambda(lambda as f32);
        }
        if let Some(norm) = self.regularizer {
            paper = paper.penalty(norm.penalty());
        }
        paper
    }

    fn histogram(&self, peak: f32, reading: Reading) -> PaperStop<f32> {
        let e0 = self.e0.map_or(E0 as f32 * peak, |e0| e0 as f32);
        PaperStop::Histogram { e0, reading }
    }

    fn planned<K: Kernel<f32>>(
        &self,
        mut method: KgBm3d<f32, K>,
    ) -> Result<KgBm3dPlan<f32>, kgard::Error> {
        if let Some(spectrum) = self.noise_spectrum {
            method = method.noise_spectrum(spectrum);
        }
        if let Some(law) = self.noise_law() {
            return method.noise_law(law).plan();
        }
        match self.noise() {
            None => method.plan(),
            Some(noise) => method.noise(noise).plan(),
        }
    }

    fn denoiser(&self) -> Denoiser<f32, Matern32<f32>> {
        let mut denoiser = Denoiser::new().regions(self.roi, self.core);
        if let Some(norm) = self.regularizer {
            denoiser = denoiser.penalty(norm.penalty());
        }
        if let Some(noise) = self.noise() {
            denoiser = denoiser.noise(noise);
        }
        denoiser
    }
}
