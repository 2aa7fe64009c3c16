//! Where pictures are computed: on the processor, or on a GPU.
//!
//! `gpu` is the device; `none` stands in for it in a program that was built
//! without the feature `gpu`, with the same names, so that nothing else in the
//! program has to know.

#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "none.rs"]
mod gpu;

pub(crate) use gpu::{Device, KgBm3dOn, KgardOn, list};

use crate::error::{Error, Result};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use serde::Serialize;

/// Where to compute, as on the command line.
#[derive(Debug, Clone, Args)]
pub(crate) struct DeviceArgs {
    /// Where to compute
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// Compute on the GPU with this in its name: `kgard devices` lists them
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    adapter: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// Graphics hardware for jobs of 8 megapixels and more, else the processor
    Auto,
    /// The processor
    Cpu,
    /// The best GPU there is
    Gpu,
}

/// What [`DeviceArgs`] ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted<'a> {
    Auto,
    Cpu,
    Gpu,
    Named(&'a str),
}

impl DeviceArgs {
    /// Refuses what makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.adapter {
            Some(name) if self.backend == Backend::Cpu => Err(Error::usage(format!(
                "--adapter {name}: is a GPU, and --backend cpu does not use one: drop one of them"
            ))),
            _ => Ok(()),
        }
    }

    /// Whether a GPU was asked for: the option that did.
    pub(crate) fn insists(&self) -> Option<&'static str> {
        match self.wanted() {
            Wanted::Named(_) => Some("--adapter"),
            Wanted::Gpu => Some("--backend gpu"),
            Wanted::Auto | Wanted::Cpu => None,
        }
    }

    /// The device for a job of so many pixels; nothing stands for the processor.
    pub(crate) fn open(&self, pixels: u64) -> Result<Option<Device>> {
        Device::open(self.wanted(), pixels)
    }

    fn wanted(&self) -> Wanted<'_> {
        match (&self.adapter, self.backend) {
            (Some(name), _) => Wanted::Named(name),
            (None, Backend::Auto) => Wanted::Auto,
            (None, Backend::Cpu) => Wanted::Cpu,
            (None, Backend::Gpu) => Wanted::Gpu,
        }
    }
}

/// How a device did its part of a picture.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Work {
    /// The name of the device; nothing if it did not do any of it.
    pub(crate) adapter: Option<String>,
    /// How long it computed, if it has a clock.
    pub(crate) seconds: Option<f64>,
    /// Why the processor had to go on, if it had to.
    pub(crate) fallback: Option<String>,
}

/// The JSON object of `kgard devices`.
#[derive(Debug, Serialize)]
pub(crate) struct Devices {
    /// The best first.
    pub(crate) adapters: Vec<Adapter>,
    /// Which one `--backend gpu` takes.
    pub(crate) gpu: Option<usize>,
    /// Which one `--backend auto` takes.
    pub(crate) auto: Option<usize>,
}

/// What an adapter says about itself.
#[derive(Debug, Serialize)]
pub(crate) struct Adapter {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) backend: String,
    pub(crate) driver: String,
    pub(crate) software: bool,
}
