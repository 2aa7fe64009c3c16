//! What was done: as JSON, and in a line for people.

use super::engine::Plans;
use super::lines::RepairedLine;
use super::method::{Method, Outcome, Seconds};
use crate::device::Work;
use crate::metrics::Score;
use crate::number::{counted, short};
use crate::pictures::Raster;
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// The JSON object of a picture.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    input: String,
    output: String,
    /// Of a file with several, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<usize>,
    method: Method,
    backend: &'static str,
    /// The name of the GPU.
    adapter: Option<String>,
    /// Why the processor had to go on where a GPU had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback: Option<String>,
    /// Why the result may be wrong.
    warnings: Vec<String>,
    width: u32,
    height: u32,
    /// With alpha.
    channels: u8,
    bit_depth: u16,
    /// The name of the kernel, where the method has one.
    kernel: Option<&'static str>,
    /// Its width.
    sigma: Option<f64>,
    /// The median over regions, the mean over channels.
    lambda: Option<f64>,
    /// The mean over channels.
    noise_sigma: f64,
    /// How it depends on the brightness, the mean over channels.
    noise: Noise,
    /// Of all colour channels together.
    outliers: Outliers,
    /// Rows and columns whose gain and offset were repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<RepairedLine>,
    planes: Vec<Channel>,
    seconds: Times,
    #[serde(flatten)]
    quality: Option<Quality>,
}

/// The variance of the noise: `gain` times the sample, plus `floor`. The correlation length is in
/// pixels; white noise has none.
#[derive(Debug, Clone, Copy, Serialize)]
struct Noise {
    gain: f64,
    floor: f64,
    correlation_length: f64,
}

/// Impulses.
#[derive(Debug, Serialize)]
struct Outliers {
    count: usize,
    fraction: f64,
}

/// What was found in a colour channel.
#[derive(Debug, Serialize)]
struct Channel {
    name: &'static str,
    lambda: Option<f64>,
    noise_sigma: f64,
    noise: Noise,
    outliers: usize,
}

#[derive(Debug, Serialize)]
struct Times {
    /// From reading to writing.
    total: f64,
    #[serde(flatten)]
    parts: Seconds,
}

/// How close to the true picture it was before and after.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Quality {
    psnr_before: f64,
    psnr_after: f64,
    ssim_before: Option<f64>,
    ssim_after: Option<f64>,
}

impl Quality {
    pub(super) fn new(before: Score, after: Score) -> Self {
        Self {
            psnr_before: before.psnr,
            psnr_after: after.psnr,
            ssim_before: before.ssim,
            ssim_after: after.ssim,
        }
    }
}

impl Report {
    pub(super) fn new(
        plans: &Plans,
        image: &Raster,
        outcome: Outcome,
        lines: Vec<RepairedLine>,
        quality: Option<Quality>,
    ) -> Self {
        let planes: Vec<Channel> = outcome
            .found
            .iter()
            .zip(image.channel_names())
            .map(|(found, name)| Channel {
                name: name.trim_end_matches(" channel"),
                lambda: found.lambda.map(f64::from),
                noise_sigma: found.noise.into(),
                noise: Noise {
                    gain: found.law.gain.into(),
                    floor: found.law.floor.into(),
                    correlation_length: found.correlation_length.into(),
                },
                outliers: found.outliers,
            })
            .collect();
        let mut warnings: Vec<String> =
            outcome.found.iter().filter_map(|found| Some(found.doubt?.to_string())).collect();
        warnings.dedup();
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let lambdas: Option<Vec<f64>> = planes.iter().map(|channel| channel.lambda).collect();
        let noise = planes.iter().map(|channel| channel.noise_sigma).collect();
        let (kernel, sigma) = plans.method.kernel(&plans.settings);
        let samples = f64::from(image.width()) * f64::from(image.height()) * planes.len() as f64;
        let count = planes.iter().map(|channel| channel.outliers).sum();
        let (adapter, fallback) = match outcome.work {
            None => (None, None),
            Some(Work { adapter, fallback, .. }) => (adapter, fallback),
        };
        Self {
            input: String::new(),
            output: String::new(),
            page: None,
            pages: None,
            method: plans.method,
            backend: if adapter.is_some() { "gpu" } else { "cpu" },
            adapter,
            fallback,
            warnings,
            width: image.width(),
            height: image.height(),
            channels: image.channels(),
            bit_depth: image.bit_depth(),
            kernel,
            sigma,
            lambda: lambdas.map(mean),
            noise_sigma: mean(noise),
            noise: Noise {
                gain: mean(planes.iter().map(|channel| channel.noise.gain).collect()),
                floor: mean(planes.iter().map(|channel| channel.noise.floor).collect()),
                correlation_length: mean(
                    planes.iter().map(|channel| channel.noise.correlation_length).collect(),
                ),
            },
            outliers: Outliers { count, fraction: count as f64 / samples },
            lines,
            planes,
            seconds: Times { total: 0.0, parts: outcome.seconds },
            quality,
        }
    }

    /// From which file to which.
    pub(crate) fn between(self, input: String, output: String) -> Self {
        Self { input, output, ..self }
    }

    /// Which one of how many in the file, if there are several.
    pub(crate) fn of_page(self, place: Option<(usize, usize)>) -> Self {
        let (page, pages) = place.unzip();
        Self { page, pages, ..self }
    }

    /// How long everything took.
    pub(crate) fn after(mut self, time: Duration) -> Self {
        self.seconds.total = time.as_secs_f64();
        self
    }

    /// What a comparison says about the noisy picture, the clean one and the
    /// impulses.
    pub(super) fn captions(&self) -> [String; 3] {
        let noise = format!("noise {}", self.noise());
        let method = self.method.name().to_owned();
        let impulses = format!(
            "{} ({:.1} %)",
            counted(self.outliers.count, "impulse"),
            100.0 * self.outliers.fraction
        );
        match self.quality {
            Some(Quality { psnr_before, psnr_after, .. }) => [
                format!("PSNR {psnr_before:.2} dB"),
                format!("{method}, {psnr_after:.2} dB"),
                impulses,
            ],
            None => [noise, method, impulses],
        }
    }

    /// The noise, without more digits than anybody reads.
    fn noise(&self) -> String {
        let rounded = |x: f64| short((x * 1e3).round() / 1e3);
        let Noise { gain, floor, correlation_length } = self.noise;
        let size = if gain > 0.0 {
            format!("gain {}, floor {}", rounded(gain), rounded(floor))
        } else {
            rounded(self.noise_sigma)
        };
        if correlation_length > 0.0 {
            return format!("{size}, correlation length {correlation_length:.1} px");
        }
        size
    }

    /// How it came about, a line for each channel.
    pub(super) fn details(&self) -> String {
        let Self { width, height, bit_depth, .. } = self;
        let mut text = format!("  {width} x {height} pixels of {bit_depth} bits");
        let place = match &self.adapter {
            Some(adapter) => format!("{} {adapter}", self.backend),
            None => self.backend.to_owned(),
        };
        let _ = write!(text, ", method {}, on the {place}", self.method.name());
        let Seconds { kgard, bm3d, device } = self.seconds.parts;
        for (name, seconds) in [("KGARD", kgard), ("of it on the device", device), ("BM3D", bm3d)] {
            if let Some(seconds) = seconds {
                let _ = write!(text, ", {name} {seconds:.3} s");
            }
        }
        for channel in &self.planes {
            let Channel { name, noise_sigma, outliers, lambda, .. } = channel;
            let outliers = counted(*outliers, "impulse");
            let _ = write!(text, "\n  {name}: noise {noise_sigma:.3}, {outliers}");
            if let Some(lambda) = lambda {
                let _ = write!(text, ", lambda {lambda:.4}");
            }
        }
        for line in &self.lines {
            let _ = write!(text, "\n  {}", line.described());
        }
        text
    }

    /// What went wrong and was made up for, and why the result may be wrong.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let fallback = self.fallback.iter();
        let fallback = fallback.map(|reason| format!("the processor had to go on: {reason}"));
        let all = fallback.chain(self.warnings.iter().cloned());
        all.map(|text| format!("{}: {text}", self.input)).collect()
    }

    /// The line for people.
    pub(super) fn line(&self) -> String {
        let mut line = format!(
            "{}{}: {} removed ({:.1} %), noise {}, {:.2} s",
            self.output,
            self.page.map(|page| format!(" page {page}")).unwrap_or_default(),
            counted(self.outliers.count, "impulse"),
            100.0 * self.outliers.fraction,
            self.noise(),
            self.seconds.total
        );
        if !self.lines.is_empty() {
            let _ = write!(line, "; {} repaired", counted(self.lines.len(), "line"));
        }
        if let Some(quality) = self.quality {
            let _ =
                write!(line, "; PSNR {:.2} to {:.2} dB", quality.psnr_before, quality.psnr_after);
            if let (Some(before), Some(after)) = (quality.ssim_before, quality.ssim_after) {
                let _ = write!(line, ", SSIM {before:.4} to {after:.4}");
            }
        }
        line
    }
}
