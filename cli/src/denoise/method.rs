//! The methods, and those that have no plan.
//!
//! A method is a variant of [`Method`] and an arm of `Engine::run`.

use super::settings::Settings;
use crate::device::Work;
use clap::ValueEnum;
use kgard::Gaussian;
use kgard::denoise::bm3d::{Bm3d, denoise_image};
use kgard::denoise::{ChannelReport, Denoised, Doubt, KERNEL_WIDTH, NoiseLaw, OutlierMap};
use kgard::denoise::{Plane, PlaneBuf, noise_law, noise_level, rb_rvm};
use serde::Serialize;
use std::time::Instant;

/// What `kgard denoise` does unless told otherwise.
pub(super) const DEFAULT_METHOD: Method = Method::KgBm3d;
/// The width of the kernel for RB-RVM and the paper's methods, where none is given; the paper's.
const PAPER_SIGMA: f64 = 0.3;

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
    /// KGARD as the paper prints it, for comparison
    PaperKgard,
    /// The paper's KGARD, then BM3D, for comparison
    PaperKgBm3d,
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
            Self::PaperKgard => "paper-kgard",
            Self::PaperKgBm3d => "paper-kg-bm3d",
            Self::RbRvm => "rb-rvm",
        }
    }

    /// Whether a GPU can do a part of it.
    pub(super) fn runs_on_gpus(self) -> bool {
        matches!(self, Self::Kgard | Self::KgBm3d)
    }

    /// Whether pixels can be marked.
    pub(super) fn has_masks(self) -> bool {
        matches!(self, Self::Kgard | Self::KgBm3d)
    }

    /// Whether rows and columns of a wrong gain or offset are repaired before it.
    pub(super) fn repairs_lines(self) -> bool {
        matches!(self, Self::Kgard | Self::KgBm3d | Self::Bm3d)
    }

    /// Whether it is one of the paper's two.
    pub(super) fn is_of_paper(self) -> bool {
        matches!(self, Self::PaperKgard | Self::PaperKgBm3d)
    }

    /// The paper's method in place of the automatic one.
    pub(super) fn of_paper(self) -> Self {
        match self {
            Self::Kgard => Self::PaperKgard,
            Self::KgBm3d => Self::PaperKgBm3d,
            other => other,
        }
    }

    /// The name of the kernel and its width, where the method has one.
    pub(super) fn kernel(self, settings: &Settings) -> (Option<&'static str>, Option<f64>) {
        match (self, settings.sigma) {
            (Self::Bm3d, _) => (None, None),
            (_, Some(sigma)) => (Some("gaussian"), Some(sigma)),
            (Self::RbRvm | Self::PaperKgard | Self::PaperKgBm3d, None) => {
                (Some("gaussian"), Some(PAPER_SIGMA))
            }
            (_, None) => (Some("matern32"), Some(KERNEL_WIDTH)),
        }
    }
}

/// What a method made of the colour channels of a picture.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The clean channels.
    pub(super) channels: Vec<PlaneBuf<f32>>,
    /// The impulses of each channel.
    pub(super) outliers: OutlierMap<f32>,
    /// What was found in each channel.
    pub(super) found: Vec<Found>,
    /// How long the parts of the method took, if it has them.
    pub(super) seconds: Seconds,
    /// What a device had to do with it.
    pub(super) work: Option<Work>,
}

/// What was found in a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    /// The median over regions, where the method has one.
    pub(super) lambda: Option<f32>,
    pub(super) noise: f32,
    /// How it grows with the brightness.
    pub(super) law: NoiseLaw<f32>,
    /// In pixels; zero for white noise.
    pub(super) correlation_length: f32,
    pub(super) outliers: usize,
    /// Why the result may be wrong.
    pub(super) doubt: Option<Doubt>,
}

impl Found {
    /// What a method reported of a channel; it has to have estimated the noise.
    fn new(report: &ChannelReport<f32>) -> Self {
        let noise = report.noise.unwrap_or_default();
        let law = report.law.unwrap_or(even(noise));
        Self {
            lambda: report.lambda,
            law,
            correlation_length: report.correlation_length.unwrap_or_default(),
            doubt: report.doubt,
            ..Self::plain(noise, report.outliers)
        }
    }

    /// White noise of one deviation.
    fn plain(noise: f32, outliers: usize) -> Self {
        let law = even(noise);
        Self { lambda: None, noise, law, correlation_length: 0.0, outliers, doubt: None }
    }
}

impl Outcome {
    /// Of a method that has taken so long, with the work of a device.
    pub(super) fn new(denoised: Denoised<f32>, seconds: Seconds, work: Option<Work>) -> Self {
        let Denoised { channels, outliers, report, .. } = denoised;
        let found = report.channels.iter().map(Found::new).collect();
        Self { channels, outliers, found, seconds, work }
    }
}

/// Noise of one deviation as a law.
pub(super) fn even(noise: f32) -> NoiseLaw<f32> {
    NoiseLaw::new(0.0, noise * noise)
}

/// Time spent in the parts of a method.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Seconds {
    pub(super) kgard: Option<f64>,
    pub(super) bm3d: Option<f64>,
    /// What the device computed of it, by its own clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) device: Option<f64>,
}

/// BM3D by itself.
pub(super) fn bm3d(
    settings: &Settings,
    planes: &[Plane<'_, f32>],
    peak: f32,
) -> Result<Outcome, kgard::Error> {
    let start = Instant::now();
    let law = |&plane: &Plane<'_, f32>| match (settings.noise(), settings.noise_law()) {
        (Some(noise), _) => Ok(even(noise)),
        (None, Some(law)) => Ok(law),
        (None, None) => match noise_law(plane, None) {
            Some(law) => Ok(law),
            None => noise_level(plane, None).map(even),
        },
    };
    let laws = planes.iter().map(law).collect::<Result<Vec<_>, _>>()?;
    let (channels, noise) = if laws.iter().any(|law| law.gain > 0.0) {
        stabilised_bm3d(planes, &laws, peak)?
    } else {
        let noise: Vec<f32> = laws.iter().map(|law| law.deviation(0.0)).collect();
        let loud: Vec<_> = planes.iter().copied().zip(noise.iter().copied()).collect();
        (denoise_image(&loud, None, |sigma| Bm3d::for_noise(sigma, peak))?, noise)
    };
    let outliers = OutlierMap::empty(planes.len(), planes[0].width(), planes[0].height());
    let found = |(noise, law)| Found { law, ..Found::plain(noise, 0) };
    Ok(Outcome {
        channels,
        outliers,
        found: noise.into_iter().zip(laws).map(found).collect(),
        seconds: Seconds { bm3d: Some(start.elapsed().as_secs_f64()), ..Seconds::default() },
        work: None,
    })
}

/// BM3D of samples whose noise has been made the same everywhere; and the deviation of the noise
/// at the mean brightness.
fn stabilised_bm3d(
    planes: &[Plane<'_, f32>],
    laws: &[NoiseLaw<f32>],
    peak: f32,
) -> Result<(Vec<PlaneBuf<f32>>, Vec<f32>), kgard::Error> {
    let mut stabilised = Vec::with_capacity(planes.len());
    let mut noise = Vec::with_capacity(planes.len());
    for (plane, law) in planes.iter().zip(laws) {
        let samples = plane.to_vec();
        noise.push(law.deviation(samples.iter().sum::<f32>() / samples.len() as f32));
        let samples = samples.into_iter().map(|y| law.stabilise(y)).collect();
        stabilised.push(PlaneBuf::new(samples, plane.width(), plane.height())?);
    }
    let loud: Vec<_> = stabilised.iter().map(|plane| (plane.as_plane(), 1.0)).collect();
    let range = laws[0].stabilise(peak) - laws[0].stabilise(0.0);
    let mut channels = denoise_image(&loud, None, |sigma| Bm3d::for_noise(sigma, range))?;
    for (channel, law) in channels.iter_mut().zip(laws) {
        for sample in channel.samples_mut() {
            *sample = law.restore(*sample);
        }
    }
    Ok((channels, noise))
}

/// RB-RVM.
pub(super) fn relevance(
    settings: &Settings,
    planes: &[Plane<'_, f32>],
) -> Result<Outcome, kgard::Error> {
    let sigma = settings.sigma.unwrap_or(PAPER_SIGMA);
    let (mut channels, mut found) = (Vec::new(), Vec::new());
    let (mut mask, mut values) = (Vec::new(), Vec::new());
    for &plane in planes {
        let (image, outliers, noise) = rb_rvm_of(plane, sigma, settings.roi, settings.core)?;
        let count = outliers.count(0);
        found.push(Found::plain(noise, count));
        channels.push(image);
        mask.extend(outliers.mask);
        values.extend(outliers.values);
    }
    let outliers = OutlierMap::new(mask, values)?;
    Ok(Outcome { channels, outliers, found, seconds: Seconds::default(), work: None })
}

/// RB-RVM with a Gaussian kernel, in double precision, which the evidence of a
/// region needs: image, outliers and noise.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn rb_rvm_of(
    plane: Plane<'_, f32>,
    sigma: f64,
    roi: usize,
    core: usize,
) -> Result<(PlaneBuf<f32>, OutlierMap<f32>, f32), kgard::Error> {
    let (width, height) = (plane.width(), plane.height());
    let wide: Vec<f64> = plane.to_vec().into_iter().map(f64::from).collect();
    let denoised = rb_rvm(Plane::new(&wide, width, height)?, &Gaussian::new(sigma), roi, core)?;
    let narrow = |plane: &PlaneBuf<f64>| {
        let samples = plane.samples().iter().map(|&x| x as f32).collect();
        PlaneBuf::new(samples, width, height)
    };
    let values = vec![narrow(&denoised.outliers.values[0])?];
    let noise = denoised.report.channels[0].noise.unwrap_or_default() as f32;
    Ok((narrow(&denoised.channels[0])?, OutlierMap::new(denoised.outliers.mask, values)?, noise))
}
