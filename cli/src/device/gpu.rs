//! The device, through the library.

use super::{Adapter, Devices, Wanted, Work};
use crate::error::{Error, Result};
use crate::messages::note;
use kgard::denoise::{DenoisePlan, Denoised, KgBm3dPlan, Masks, Plane, Repaired};
use kgard::gpu::{Backend, Gpu, GpuDenoisePlan, GpuError, GpuKgBm3dPlan, GpuReport, adapters};
use std::result::Result as Either;
use std::sync::OnceLock;

/// A GPU, opened once for all pictures.
#[derive(Debug)]
pub(crate) struct Device {
    gpu: Gpu,
    /// Whether it was asked for, so that it is a failure if it cannot be used.
    insisted: bool,
    /// Why it is of no use any more.
    broken: OnceLock<GpuError>,
}

impl Device {
    pub(super) fn open(wanted: Wanted<'_>, pixels: u64) -> Result<Option<Self>> {
        let (backend, insisted) = match wanted {
            Wanted::Auto => (Backend::Auto, false),
            Wanted::Cpu => (Backend::Cpu, false),
            Wanted::Gpu => (Backend::Gpu, true),
            Wanted::Named(name) => (Backend::Named(name.to_owned()), true),
        };
        let gpu = backend.open(pixels).map_err(|error| Error::failed(error.to_string()))?;
        let Some(gpu) = gpu else { return Ok(None) };
        let adapter = gpu.adapter();
        if adapter.software {
            let name = &adapter.name;
            note(&format!("{name} is a program on the processor, slower than --backend cpu"));
        }
        Ok(Some(Self { gpu, insisted, broken: OnceLock::new() }))
    }

    /// Puts a plan on the device.
    pub(crate) fn kgard<'p>(&'p self, plan: &'p DenoisePlan<f32>) -> Either<KgardOn<'p>, String> {
        On::new(self, plan, plan.on(&self.gpu))
    }

    /// Puts the first half of a plan on the device.
    pub(crate) fn kg_bm3d<'p>(&'p self, plan: &'p KgBm3dPlan<f32>) -> Either<KgBm3dOn<'p>, String> {
        On::new(self, plan, plan.on(&self.gpu))
    }

    /// A device that is lost already, if there is an adapter.
    #[cfg(test)]
    pub(crate) fn lost() -> Option<Self> {
        let gpu = match Gpu::new() {
            Ok(gpu) => gpu,
            Err(error) => {
                assert!(std::env::var_os("KGARD_NEEDS_GPU").is_none(), "{error}");
                eprintln!("SKIPPED: no adapter");
                return None;
            }
        };
        gpu.device().destroy();
        Some(Self { gpu, insisted: false, broken: OnceLock::new() })
    }

    fn name(&self) -> &str {
        &self.gpu.adapter().name
    }

    fn did(&self, report: &GpuReport) -> Work {
        if let Some(error @ (GpuError::Lost(_) | GpuError::TimedOut { .. })) = &report.fallback {
            // No other picture has to wait for it.
            let _ = self.broken.set(error.clone());
        }
        Work {
            adapter: (report.batches > 0).then(|| self.name().to_owned()),
            seconds: report.device_seconds,
            fallback: report.fallback.as_ref().map(|error| self.complaint(error)),
        }
    }

    fn complaint(&self, error: &GpuError) -> String {
        format!("{}: {error}", self.name())
    }
}

/// A plan on a device, which the processor stands in for.
#[derive(Debug)]
pub(crate) struct On<'p, P, G> {
    device: &'p Device,
    plan: &'p P,
    placed: Either<G, GpuError>,
}

/// KGARD on a device.
pub(crate) type KgardOn<'p> = On<'p, DenoisePlan<f32>, GpuDenoisePlan<'p>>;
/// The first half of KG-BM3D on a device.
pub(crate) type KgBm3dOn<'p> = On<'p, KgBm3dPlan<f32>, GpuKgBm3dPlan<'p>>;

impl<'p, P, G> On<'p, P, G> {
    fn new(device: &'p Device, plan: &'p P, placed: Either<G, GpuError>) -> Either<Self, String> {
        match placed {
            Err(error) if device.insisted && device.broken.get().is_none() => {
                Err(format!("{}; use --backend cpu", device.complaint(&error)))
            }
            placed => Ok(Self { device, plan, placed }),
        }
    }

    /// On the device if it can be used, on the processor otherwise.
    fn run<R>(
        &self,
        there: impl FnOnce(&G) -> Either<(R, GpuReport), kgard::Error>,
        here: impl FnOnce(&P) -> Either<R, kgard::Error>,
    ) -> Either<(R, Work), kgard::Error> {
        match (&self.placed, self.device.broken.get()) {
            (Ok(plan), None) => {
                let (result, report) = there(plan)?;
                Ok((result, self.device.did(&report)))
            }
            (_, Some(error)) | (Err(error), _) => {
                let fallback = Some(self.device.complaint(error));
                Ok((here(self.plan)?, Work { adapter: None, seconds: None, fallback }))
            }
        }
    }
}

impl KgardOn<'_> {
    /// Denoises the channels of a picture.
    pub(crate) fn denoise(
        &self,
        planes: &[Plane<'_, f32>],
        masks: Masks<'_>,
    ) -> Either<(Denoised<f32>, Work), kgard::Error> {
        let there = |plan: &GpuDenoisePlan<'_>| plan.denoise_all(planes, masks);
        self.run(there, |plan| plan.denoise_all(planes, masks))
    }
}

impl KgBm3dOn<'_> {
    /// Takes the impulses out of a picture.
    pub(crate) fn repair<'a>(
        &self,
        planes: &[Plane<'a, f32>],
        masks: Masks<'a>,
    ) -> Either<(Repaired<'a, f32>, Work), kgard::Error> {
        self.run(|plan| plan.repair(planes, masks), |plan| plan.repair(planes, masks))
    }
}

/// The devices of this machine.
#[allow(clippy::unnecessary_wraps, reason = "not every program can tell")]
pub(crate) fn list() -> Result<Devices> {
    let adapters: Vec<Adapter> = adapters()
        .into_iter()
        .map(|adapter| Adapter {
            name: adapter.name,
            kind: adapter.kind,
            backend: adapter.backend,
            driver: adapter.driver,
            software: adapter.software,
        })
        .collect();
    // As `Gpu::new` and `Gpu::hardware` choose.
    let gpu = (!adapters.is_empty()).then_some(0);
    let auto = adapters.iter().position(|adapter| !adapter.software);
    Ok(Devices { adapters, gpu, auto })
}
