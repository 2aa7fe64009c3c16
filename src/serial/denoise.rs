//! Images, what was done to them, and settings.

use super::{Refused, check_deviation};
use crate::denoise::bm3d::{self, Transform};
use crate::denoise::{self, Detection, Penalty, Smoothing};
use crate::{Error, Kernel, Real};
use alloc::vec::Vec;
use serde::Deserialize;

#[derive(Deserialize)]
struct PlaneBuf<T> {
    samples: Vec<T>,
    width: usize,
    height: usize,
}

read_by_shadow!(PlaneBuf<T> => denoise::PlaneBuf<T>, T: Copy);

impl<T: Copy> TryFrom<PlaneBuf<T>> for denoise::PlaneBuf<T> {
    type Error = Error;

    fn try_from(read: PlaneBuf<T>) -> Result<Self, Error> {
        Self::new(read.samples, read.width, read.height)
    }
}

#[derive(Deserialize)]
struct Conditions<T> {
    noise: T,
    impulses: T,
    witnesses: usize,
    amplitude: T,
    usual: T,
    alike: T,
    extreme: T,
    size: T,
    detailed: T,
    smooth: T,
}

read_by_shadow!(Conditions<T> => denoise::Conditions<T>, T: Real);

impl<T: Real> TryFrom<Conditions<T>> for denoise::Conditions<T> {
    type Error = Error;

    fn try_from(read: Conditions<T>) -> Result<Self, Error> {
        let Conditions { noise, impulses, witnesses, amplitude, usual, alike, .. } = read;
        let Conditions { extreme, size, detailed, smooth, .. } = read;
        check_deviation("noise", noise)?;
        check_deviation("share of impulses", impulses)?;
        check_deviation("size of the impulses", amplitude)?;
        check_deviation("usual size of the impulses", usual)?;
        check_deviation("likeness of the impulses", alike)?;
        Error::check_not_negative("what is missing of their likeness", T::one() - alike)?;
        check_deviation("least residual of an outlier", extreme)?;
        check_deviation("least size of an outlier", size)?;
        Error::check_finite("bound on gradients", &[detailed, smooth])?;
        Ok(Self {
            noise,
            impulses,
            witnesses,
            amplitude,
            usual,
            alike,
            extreme,
            size,
            detailed,
            smooth,
        })
    }
}

/// Both planes of a result are of one size.
fn check_pair<T: Copy>(
    image: &denoise::PlaneBuf<T>,
    outliers: &denoise::PlaneBuf<T>,
) -> Result<(), Refused> {
    if (image.width(), image.height()) == (outliers.width(), outliers.height()) {
        Ok(())
    } else {
        Err(Refused::Parts("the image and the map of its outliers differ in size"))
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct Denoised<T> {
    image: denoise::PlaneBuf<T>,
    outliers: denoise::PlaneBuf<T>,
    report: denoise::Report<T>,
}

read_by_shadow!(Denoised<T> => denoise::Denoised<T>, T: Real);

impl<T: Real> TryFrom<Denoised<T>> for denoise::Denoised<T> {
    type Error = Refused;

    fn try_from(read: Denoised<T>) -> Result<Self, Refused> {
        let Denoised { image, outliers, report } = read;
        check_pair(&image, &outliers)?;
        Ok(Self { image, outliers, report })
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct RbRvmDenoised<T> {
    image: denoise::PlaneBuf<T>,
    outliers: denoise::PlaneBuf<T>,
    noise: T,
}

read_by_shadow!(RbRvmDenoised<T> => denoise::RbRvmDenoised<T>, T: Real);

impl<T: Real> TryFrom<RbRvmDenoised<T>> for denoise::RbRvmDenoised<T> {
    type Error = Refused;

    fn try_from(read: RbRvmDenoised<T>) -> Result<Self, Refused> {
        let RbRvmDenoised { image, outliers, noise } = read;
        check_pair(&image, &outliers)?;
        check_deviation("noise", noise)?;
        Ok(Self { image, outliers, noise })
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct KgBm3dDenoised<T> {
    channels: Vec<denoise::PlaneBuf<T>>,
    outliers: Vec<denoise::PlaneBuf<T>>,
    noise: Vec<T>,
    laws: Vec<denoise::NoiseLaw<T>>,
    conditions: Vec<denoise::Conditions<T>>,
    lambda: T,
}

read_by_shadow!(KgBm3dDenoised<T> => denoise::KgBm3dDenoised<T>, T: Real);

impl<T: Real> TryFrom<KgBm3dDenoised<T>> for denoise::KgBm3dDenoised<T> {
    type Error = Refused;

    fn try_from(read: KgBm3dDenoised<T>) -> Result<Self, Refused> {
        let KgBm3dDenoised { channels, outliers, noise, laws, conditions, lambda } = read;
        let first = channels.first().ok_or(Error::Empty { what: "list of channels" })?;
        Error::check_len("list of maps of outliers", outliers.len(), channels.len())?;
        Error::check_len("list of noises", noise.len(), channels.len())?;
        Error::check_len("list of laws of noise", laws.len(), channels.len())?;
        for law in &laws {
            check_deviation("gain of the noise", law.gain)?;
            Error::check_finite("floor of the noise", &[law.floor])?;
        }
        Error::check_len("list of conditions", conditions.len(), channels.len())?;
        for plane in channels.iter().chain(&outliers) {
            check_pair(first, plane)?;
        }
        for &noise in &noise {
            check_deviation("noise", noise)?;
        }
        check_deviation("lambda", lambda)?;
        Ok(Self { channels, outliers, noise, laws, conditions, lambda })
    }
}

#[derive(Deserialize)]
struct Denoiser<T, K> {
    kernel: K,
    settings: Settings<T>,
}

#[derive(Deserialize)]
struct Settings<T> {
    region: usize,
    core: usize,
    penalty: Penalty,
    smoothing: Smoothing<T>,
    detection: Detection<T>,
    blended: bool,
    peak: T,
    noise: Option<T>,
}

read_by_shadow!(Denoiser<T, K> => denoise::Denoiser<T, K>, T: Real, K: Kernel<T>);

impl<T: Real, K: Kernel<T>> TryFrom<Denoiser<T, K>> for denoise::Denoiser<T, K> {
    type Error = Error;

    fn try_from(read: Denoiser<T, K>) -> Result<Self, Error> {
        let Denoiser { kernel, settings } = read;
        kernel.check()?;
        settings.check()?;
        let denoiser = denoise::Denoiser::new(settings.peak)
            .kernel(kernel)
            .regions(settings.region, settings.core)
            .penalty(settings.penalty)
            .smoothing(settings.smoothing)
            .detection(settings.detection)
            .blended(settings.blended);
        Ok(match settings.noise {
            Some(noise) => denoiser.noise(noise),
            None => denoiser,
        })
    }
}

impl<T: Real> Settings<T> {
    /// What can be said without making a plan.
    fn check(&self) -> Result<(), Error> {
        denoise::Grid::new(1, 1, self.region, self.core)?;
        Error::check_positive("peak", self.peak)?;
        if let Some(noise) = self.noise {
            check_deviation("noise", noise)?;
        }
        if let Smoothing::Paper { lambda } = self.smoothing {
            Error::check_positive("lambda", lambda)?;
        }
        match self.detection {
            Detection::Automatic => Ok(()),
            Detection::Histogram { e0, .. } => check_deviation("E0", e0),
            Detection::MaxResidual(epsilon) => check_deviation("epsilon", epsilon),
        }
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>, K: Kernel<T> + Deserialize<'de>"))]
struct KgBm3d<T, K> {
    denoiser: denoise::Denoiser<T, K>,
    noise: Option<T>,
    #[serde(default)]
    law: Option<denoise::NoiseLaw<T>>,
    refinements: usize,
}

read_by_shadow!(KgBm3d<T, K> => denoise::KgBm3d<T, K>, T: Real, K: Kernel<T>);

impl<T: Real, K: Kernel<T>> TryFrom<KgBm3d<T, K>> for denoise::KgBm3d<T, K> {
    type Error = Error;

    fn try_from(read: KgBm3d<T, K>) -> Result<Self, Error> {
        let mut settings = denoise::KgBm3d::new(read.denoiser.peak())
            .kgard(read.denoiser)
            .refinements(read.refinements);
        if let Some(law) = read.law {
            Error::check_positive("gain of the noise", law.gain)?;
            Error::check_finite("floor of the noise", &[law.floor])?;
            settings = settings.noise_law(law);
        }
        let Some(noise) = read.noise else { return Ok(settings) };
        check_deviation("noise", noise)?;
        Ok(settings.noise(noise))
    }
}

#[derive(Deserialize)]
struct Grid {
    width: usize,
    height: usize,
    region: usize,
    core: usize,
}

read_by_shadow!(Grid => denoise::Grid);

impl TryFrom<Grid> for denoise::Grid {
    type Error = Error;

    fn try_from(read: Grid) -> Result<Self, Error> {
        Self::new(read.width, read.height, read.region, read.core)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct Stage<T> {
    block: usize,
    step: usize,
    radius: usize,
    group: usize,
    #[serde(with = "super::unlimited")]
    max_distance: T,
    beta: T,
    transform: Transform,
}

read_by_shadow!(Stage<T> => bm3d::Stage<T>, T: Real);

impl<T: Real> TryFrom<Stage<T>> for bm3d::Stage<T> {
    type Error = Error;

    fn try_from(read: Stage<T>) -> Result<Self, Error> {
        let Stage { block, step, radius, group, max_distance, beta, transform } = read;
        let stage = Self { block, step, radius, group, max_distance, beta, transform };
        stage.check()?;
        Ok(stage)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct Bm3d<T> {
    first: bm3d::Stage<T>,
    second: bm3d::Stage<T>,
    threshold: T,
    wiener: bool,
}

read_by_shadow!(Bm3d<T> => bm3d::Bm3d<T>, T: Real);

impl<T: Real> TryFrom<Bm3d<T>> for bm3d::Bm3d<T> {
    type Error = Error;

    fn try_from(read: Bm3d<T>) -> Result<Self, Error> {
        let Bm3d { first, second, threshold, wiener } = read;
        check_deviation("threshold", threshold)?;
        Ok(Self { first, second, threshold, wiener })
    }
}
