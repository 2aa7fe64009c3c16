//! The methods, and how the options become their settings.
//!
//! A method is a variant of [`Method`] and an arm of [`Method::run`].

use clap::ValueEnum;
use kgard::denoise::bm3d::Bm3d;
use kgard::denoise::{
    Denoiser, Detection, KERNEL_WIDTH, KgBm3d, Masks, Penalty, Plane, PlaneBuf, Smoothing,
    noise_level, rb_rvm,
};
use kgard::regression::stop::Reading;
use kgard::{Gaussian, Kernel, Matern32};
use serde::Serialize;
use std::str::FromStr;
use std::time::Instant;

/// What `kgard denoise` does unless told otherwise.
pub(super) const DEFAULT_METHOD: Method = Method::KgBm3d;
/// The width of the kernel for RB-RVM, where none is given; the paper's.
const RB_RVM_SIGMA: f64 = 0.3;
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
    /// KGARD for the impulses, BM3D for the noise, and a second look
    KgBm3d,
    /// BM3D by itself, for pictures without impulses
    Bm3d,
    /// The robust relevance vector machine, for comparison: it takes a minute
    RbRvm,
}

impl Method {
    /// As on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kgard => "kgard",
            Self::KgBm3d => "kg-bm3d",
            Self::Bm3d => "bm3d",
            Self::RbRvm => "rb-rvm",
        }
    }
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
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The clean channels.
    pub(super) channels: Vec<PlaneBuf<f32>>,
    /// What was added to each pixel that is an impulse; zero elsewhere.
    pub(super) outliers: Vec<PlaneBuf<f32>>,
    /// What was found in each channel.
    pub(super) found: Vec<Found>,
    /// How long the parts of the method took, if it has them.
    pub(super) seconds: Seconds,
}

/// What was found in a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// The median over regions, where the method has one.
    pub(super) lambda: Option<f32>,
    pub(super) noise: f32,
    pub(super) outliers: usize,
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
        let planes: Vec<Plane<'_, f32>> = channels.iter().map(PlaneBuf::as_plane).collect();
        match (self, settings.kernel_width()) {
            (Self::Bm3d, _) => bm3d(settings, &planes, peak),
            (Self::RbRvm, sigma) => relevance(settings, sigma.unwrap_or(RB_RVM_SIGMA), &planes),
            (Self::Kgard, None) => kgard(&settings.denoiser(peak), &planes),
            (Self::Kgard, Some(sigma)) => {
                kgard(&settings.denoiser(peak).kernel(gaussian(sigma)), &planes)
            }
            (Self::KgBm3d, None) => kg_bm3d(settings, settings.denoiser(peak), peak, &planes),
            (Self::KgBm3d, Some(sigma)) => {
                let denoiser = settings.denoiser(peak).kernel(gaussian(sigma));
                kg_bm3d(settings, denoiser, peak, &planes)
            }
        }
    }

    /// The name of the kernel and its width, where the method has one.
    pub(super) fn kernel(self, settings: &Settings) -> (Option<&'static str>, Option<f64>) {
        match (self, settings.kernel_width()) {
            (Self::Bm3d, _) => (None, None),
            (_, Some(sigma)) => (Some("gaussian"), Some(sigma)),
            (Self::RbRvm, None) => (Some("gaussian"), Some(RB_RVM_SIGMA)),
            (_, None) => (Some("matern32"), Some(KERNEL_WIDTH)),
        }
    }
}

fn kgard<K: Kernel<f32>>(
    denoiser: &Denoiser<f32, K>,
    planes: &[Plane<'_, f32>],
) -> Result<Outcome, kgard::Error> {
    let start = Instant::now();
    let plan = denoiser.plan()?;
    let mut outcome = Outcome::default();
    for &plane in planes {
        let denoised = plan.denoise(plane, Masks::default())?;
        outcome.channels.push(denoised.image);
        outcome.outliers.push(denoised.outliers);
        outcome.found.push(Found {
            lambda: Some(denoised.report.lambda),
            noise: denoised.report.conditions.noise,
            outliers: denoised.report.outliers,
        });
    }
    outcome.seconds.kgard = Some(start.elapsed().as_secs_f64());
    Ok(outcome)
}

fn kg_bm3d<K: Kernel<f32>>(
    settings: &Settings,
    denoiser: Denoiser<f32, K>,
    peak: f32,
    planes: &[Plane<'_, f32>],
) -> Result<Outcome, kgard::Error> {
    let start = Instant::now();
    let mut method = KgBm3d::new(peak).kgard(denoiser);
    if let Some(noise) = settings.noise() {
        method = method.noise(noise);
    }
    let plan = method.plan()?;
    let repaired = plan.repair(planes, Masks::default())?;
    let between = Instant::now();
    let denoised = plan.finish(repaired)?;
    let found = denoised.noise.iter().zip(&denoised.outliers).map(|(&noise, outliers)| Found {
        lambda: Some(denoised.lambda),
        noise,
        outliers: count(outliers),
    });
    Ok(Outcome {
        found: found.collect(),
        channels: denoised.channels,
        outliers: denoised.outliers,
        seconds: Seconds {
            kgard: Some((between - start).as_secs_f64()),
            bm3d: Some(between.elapsed().as_secs_f64()),
        },
    })
}

fn bm3d(
    settings: &Settings,
    planes: &[Plane<'_, f32>],
    peak: f32,
) -> Result<Outcome, kgard::Error> {
    let start = Instant::now();
    let noise = |&plane: &Plane<'_, f32>| match settings.noise() {
        Some(noise) => Ok(noise),
        None => noise_level(plane, None),
    };
    let noise = planes.iter().map(noise).collect::<Result<Vec<f32>, _>>()?;
    let filter = |sigma: f32| Bm3d::for_noise(sigma, peak);
    let channels = if let (&[red, green, blue], &[a, b, c]) = (planes, &noise[..]) {
        filter(a).denoise_rgb([red, green, blue], [a, b, c], None)?.into()
    } else {
        let each = planes.iter().zip(&noise);
        each.map(|(&plane, &sigma)| filter(sigma).denoise(plane, sigma))
            .collect::<Result<_, _>>()?
    };
    let none = |plane: &Plane<'_, f32>| {
        PlaneBuf::new(vec![0.0; plane.area()], plane.width(), plane.height())
    };
    Ok(Outcome {
        channels,
        outliers: planes.iter().map(none).collect::<Result<_, _>>()?,
        found: noise.into_iter().map(|noise| Found { lambda: None, noise, outliers: 0 }).collect(),
        seconds: Seconds { kgard: None, bm3d: Some(start.elapsed().as_secs_f64()) },
    })
}

fn relevance(
    settings: &Settings,
    sigma: f64,
    planes: &[Plane<'_, f32>],
) -> Result<Outcome, kgard::Error> {
    let mut outcome = Outcome::default();
    for &plane in planes {
        let (image, outliers, noise) = rb_rvm_of(plane, sigma, settings.roi, settings.core)?;
        outcome.found.push(Found { lambda: None, noise, outliers: count(&outliers) });
        outcome.channels.push(image);
        outcome.outliers.push(outliers);
    }
    Ok(outcome)
}

/// RB-RVM with a Gaussian kernel, in double precision, which the evidence of a
/// region needs: image, outliers and noise.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn rb_rvm_of(
    plane: Plane<'_, f32>,
    sigma: f64,
    roi: usize,
    core: usize,
) -> Result<(PlaneBuf<f32>, PlaneBuf<f32>, f32), kgard::Error> {
    let (width, height) = (plane.width(), plane.height());
    let wide: Vec<f64> = plane.to_vec().into_iter().map(f64::from).collect();
    let wide = Plane::new(&wide, width, height)?;
    let denoised = rb_rvm(wide, &Gaussian::new(sigma), roi, core)?;
    let narrow = |plane: PlaneBuf<f64>| {
        let samples = plane.into_samples().into_iter().map(|x| x as f32).collect();
        PlaneBuf::new(samples, width, height)
    };
    Ok((narrow(denoised.image)?, narrow(denoised.outliers)?, denoised.noise as f32))
}

fn count(outliers: &PlaneBuf<f32>) -> usize {
    outliers.samples().iter().filter(|&&u| u != 0.0).count()
}

#[allow(clippy::cast_possible_truncation)]
fn gaussian(sigma: f64) -> Gaussian<f32> {
    Gaussian::new(sigma as f32)
}

#[allow(clippy::cast_possible_truncation)]
impl Settings {
    /// The width of the Gaussian kernel; nothing if the library chooses.
    fn kernel_width(&self) -> Option<f64> {
        self.sigma.or(self.lambda.map(|_| PAPER_SIGMA))
    }

    fn noise(&self) -> Option<f32> {
        self.noise_sigma.map(|noise| noise as f32)
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
