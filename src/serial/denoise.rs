//! Images, what was done to them, and settings.

use super::check_deviation;
use crate::denoise;
use crate::denoise::bm3d::{self, Transform};
use crate::{Error, Kernel, Penalty, Real};
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
    range: denoise::SampleRange<T>,
    noise: T,
    impulses: T,
    witnesses: usize,
    amplitude: T,
    limit: T,
    size: T,
}

read_by_shadow!(Conditions<T> => denoise::Conditions<T>, T: Real);

impl<T: Real> TryFrom<Conditions<T>> for denoise::Conditions<T> {
    type Error = Error;

    fn try_from(read: Conditions<T>) -> Result<Self, Error> {
        let Conditions { range, noise, impulses, witnesses, amplitude, .. } = read;
        let Conditions { limit, size, .. } = read;
        Error::check_positive("width of the samples' range", range.high - range.low)?;
        check_deviation("noise", noise)?;
        check_deviation("share of impulses", impulses)?;
        check_deviation("size of the impulses", amplitude)?;
        check_deviation("least residual of an outlier", limit)?;
        check_deviation("least size of an outlier", size)?;
        Ok(Self { range, noise, impulses, witnesses, amplitude, limit, size })
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct ChannelReport<T> {
    outliers: usize,
    lambda: Option<T>,
    noise: Option<T>,
    law: Option<denoise::NoiseLaw<T>>,
    correlation_length: Option<T>,
    doubt: Option<denoise::Doubt>,
    conditions: Option<denoise::Conditions<T>>,
}

read_by_shadow!(ChannelReport<T> => denoise::ChannelReport<T>, T: Real);

impl<T: Real> TryFrom<ChannelReport<T>> for denoise::ChannelReport<T> {
    type Error = Error;

    fn try_from(read: ChannelReport<T>) -> Result<Self, Error> {
        let ChannelReport { outliers, lambda, noise, law, correlation_length, doubt, conditions } =
            read;
        if let Some(lambda) = lambda {
            check_deviation("lambda", lambda)?;
        }
        if let Some(noise) = noise {
            check_deviation("noise", noise)?;
        }
        if let Some(law) = law {
            check_deviation("gain of the noise", law.gain)?;
            Error::check_finite("floor of the noise", &[law.floor])?;
        }
        if let Some(length) = correlation_length {
            check_deviation("correlation length", length)?;
        }
        Ok(Self { outliers, lambda, noise, law, correlation_length, doubt, conditions })
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct Report<T> {
    channels: Vec<denoise::ChannelReport<T>>,
}

read_by_shadow!(Report<T> => denoise::Report<T>, T: Real);

impl<T: Real> TryFrom<Report<T>> for denoise::Report<T> {
    type Error = Error;

    fn try_from(read: Report<T>) -> Result<Self, Error> {
        Ok(Self { channels: read.channels })
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct OutlierMap<T> {
    mask: Vec<denoise::PlaneBuf<bool>>,
    values: Vec<denoise::PlaneBuf<T>>,
}

read_by_shadow!(OutlierMap<T> => denoise::OutlierMap<T>, T: Real);

impl<T: Real> TryFrom<OutlierMap<T>> for denoise::OutlierMap<T> {
    type Error = Error;

    fn try_from(read: OutlierMap<T>) -> Result<Self, Error> {
        Self::new(read.mask, read.values)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct Denoised<T> {
    channels: Vec<denoise::PlaneBuf<T>>,
    outliers: denoise::OutlierMap<T>,
    report: denoise::Report<T>,
}

read_by_shadow!(Denoised<T> => denoise::Denoised<T>, T: Real);

impl<T: Real> TryFrom<Denoised<T>> for denoise::Denoised<T> {
    type Error = Error;

    fn try_from(read: Denoised<T>) -> Result<Self, Error> {
        let Denoised { channels, outliers, report } = read;
        let first = channels.first().ok_or(Error::Empty { what: "list of channels" })?;
        Error::check_len("list of masks of outliers", outliers.mask.len(), channels.len())?;
        Error::check_len("list of reports", report.channels.len(), channels.len())?;
        for plane in channels.iter().chain(&outliers.values) {
            first.as_plane().check_size("channel or map of outliers", &plane.as_plane())?;
        }
        Ok(Self { channels, outliers, report })
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
    noise: Option<T>,
}

read_by_shadow!(Denoiser<T, K> => denoise::Denoiser<T, K>, T: Real, K: Kernel<T>);

impl<T: Real, K: Kernel<T>> TryFrom<Denoiser<T, K>> for denoise::Denoiser<T, K> {
    type Error = Error;

    fn try_from(read: Denoiser<T, K>) -> Result<Self, Error> {
        let Denoiser { kernel, settings: Settings { region, core, penalty, noise } } = read;
        kernel.check()?;
        denoise::Grid::new(1, 1, region, core)?;
        let denoiser =
            denoise::Denoiser::new().kernel(kernel).regions(region, core).penalty(penalty);
        let Some(noise) = noise else { return Ok(denoiser) };
        check_deviation("noise", noise)?;
        Ok(denoiser.noise(noise))
    }
}

#[derive(Deserialize)]
struct NoiseSpectrum<T> {
    deviations: [[T; 8]; 8],
}

read_by_shadow!(NoiseSpectrum<T> => denoise::NoiseSpectrum<T>, T: Real);

impl<T: Real> TryFrom<NoiseSpectrum<T>> for denoise::NoiseSpectrum<T> {
    type Error = Error;

    fn try_from(read: NoiseSpectrum<T>) -> Result<Self, Error> {
        Self::new(read.deviations)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>, K: Kernel<T> + Deserialize<'de>"))]
struct KgBm3d<T, K> {
    denoiser: denoise::Denoiser<T, K>,
    noise: Option<T>,
    #[serde(default)]
    law: Option<denoise::NoiseLaw<T>>,
    #[serde(default)]
    shape: Option<denoise::NoiseSpectrum<T>>,
    refinements: usize,
    peak: T,
}

read_by_shadow!(KgBm3d<T, K> => denoise::KgBm3d<T, K>, T: Real, K: Kernel<T>);

impl<T: Real, K: Kernel<T>> TryFrom<KgBm3d<T, K>> for denoise::KgBm3d<T, K> {
    type Error = Error;

    fn try_from(read: KgBm3d<T, K>) -> Result<Self, Error> {
        Error::check_positive("peak", read.peak)?;
        let mut settings =
            denoise::KgBm3d::new(read.peak).kgard(read.denoiser).refinements(read.refinements);
        if let Some(law) = read.law {
            Error::check_positive("gain of the noise", law.gain)?;
            Error::check_finite("floor of the noise", &[law.floor])?;
            settings = settings.noise_law(law);
        }
        if let Some(shape) = read.shape {
            settings = settings.noise_spectrum(shape);
        }
        let Some(noise) = read.noise else { return Ok(settings) };
        check_deviation("noise", noise)?;
        Ok(settings.noise(noise))
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct PaperKgard<T> {
    region: usize,
    core: usize,
    sigma: T,
    lambda: T,
    penalty: Penalty,
    stop: denoise::PaperStop<T>,
}

read_by_shadow!(PaperKgard<T> => denoise::PaperKgard<T>, T: Real);

impl<T: Real> TryFrom<PaperKgard<T>> for denoise::PaperKgard<T> {
    type Error = Error;

    fn try_from(read: PaperKgard<T>) -> Result<Self, Error> {
        let PaperKgard { region, core, sigma, lambda, penalty, stop } = read;
        let settings = Self::new(T::one()).regions(region, core).sigma(sigma).lambda(lambda);
        let settings = settings.penalty(penalty).stop(stop);
        settings.check()?;
        Ok(settings)
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Real + Deserialize<'de>"))]
struct PaperKgBm3d<T> {
    kgard: denoise::PaperKgard<T>,
    noise: Option<T>,
    peak: T,
}

read_by_shadow!(PaperKgBm3d<T> => denoise::PaperKgBm3d<T>, T: Real);

impl<T: Real> TryFrom<PaperKgBm3d<T>> for denoise::PaperKgBm3d<T> {
    type Error = Error;

    fn try_from(read: PaperKgBm3d<T>) -> Result<Self, Error> {
        let settings = Self::new(read.peak).kgard(read.kgard);
        let settings = match read.noise {
            Some(noise) => settings.noise(noise),
            None => settings,
        };
        settings.check()?;
        Ok(settings)
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
    spacing: usize,
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
        let Stage { block, step, radius, spacing, group, max_distance, beta, transform } = read;
        let stage = Self { block, step, radius, spacing, group, max_distance, beta, transform };
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
