//! The methods, and how the options become their settings.
//!
//! A method is a variant of [`Method`] and an arm of [`Method::run`].

use clap::ValueEnum;
use kgard::Gaussian;
use kgard::denoise::{
    DenoisePlan, Denoiser, Detection, Masks, Penalty, PlaneBuf, Report, Smoothing,
};
use kgard::regression::stop::Reading;
use serde::Serialize;
use std::str::FromStr;
use std::time::Instant;

/// What `kgard denoise` does unless told otherwise.
pub(super) const DEFAULT_METHOD: Method = Method::Kgard;
/// The width of the kernel for the paper's smoothing rule, where none is given.
const PAPER_SIGMA: f64 = 0.2;
/// The paper's E0, of the peak.
const E0: f64 = 40.0 / 255.0;

/// How pictures are denoised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// Kernel ridge regression and greedy selection of impulses
    Kgard,
}

/// Where is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Backend {
    /// The fastest there is
    Auto,
    /// The processor
    Cpu,
}

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
    pub(super) roi: usize,
    pub(super) core: usize,
    pub(super) stop: StopRule,
    pub(super) e0: Option<f64>,
    pub(super) regularizer: Norm,
}

/// What a method made of the colour channels of a picture.
pub(super) struct Outcome {
    /// The clean channels.
    pub(super) channels: Vec<PlaneBuf<f32>>,
    /// What was added to each pixel that is an impulse; zero elsewhere.
    pub(super) outliers: Vec<PlaneBuf<f32>>,
    /// What was done to each channel.
    pub(super) reports: Vec<Report<f32>>,
    /// How long the parts of the method took, if it has them.
    pub(super) seconds: Seconds,
}

/// Time spent in the parts of a method.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Seconds {
    pub(super) kgard: Option<f64>,
    pub(super) bm3d: Option<f64>,
}

impl Method {
    /// Denoises the colour channels of a picture whose samples reach to `peak`.
    pub(super) fn run(
        self,
        settings: &Settings,
        channels: &[PlaneBuf<f32>],
        peak: f32,
    ) -> Result<Outcome, kgard::Error> {
        match self {
            Self::Kgard => kgard(settings, channels, peak),
        }
    }
}

fn kgard(
    settings: &Settings,
    channels: &[PlaneBuf<f32>],
    peak: f32,
) -> Result<Outcome, kgard::Error> {
    let start = Instant::now();
    let plan = settings.plan(peak)?;
    let (mut clean, mut outliers, mut reports) = (Vec::new(), Vec::new(), Vec::new());
    for channel in channels {
        let denoised = plan.denoise(channel.as_plane(), Masks::default())?;
        clean.push(denoised.image);
        outliers.push(denoised.outliers);
        reports.push(denoised.report);
    }
    let seconds = Seconds { kgard: Some(start.elapsed().as_secs_f64()), bm3d: None };
    Ok(Outcome { channels: clean, outliers, reports, seconds })
}

#[allow(clippy::cast_possible_truncation)]
impl Settings {
    /// The width of the Gaussian kernel; nothing if the library chooses.
    pub(super) fn kernel_width(&self) -> Option<f64> {
        self.sigma.or(self.lambda.map(|_| PAPER_SIGMA))
    }

    fn plan(&self, peak: f32) -> Result<DenoisePlan<f32>, kgard::Error> {
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
        if let Some(noise) = self.noise_sigma {
            denoiser = denoiser.noise(noise as f32);
        }
        match self.kernel_width() {
            Some(sigma) => denoiser.kernel(Gaussian::new(sigma as f32)).plan(),
            None => denoiser.plan(),
        }
    }
}
