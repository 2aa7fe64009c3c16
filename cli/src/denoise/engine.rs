//! A method with its plans, made once for all pictures, on the processor and on
//! a device.

use super::method::{Method, Outcome, Seconds, bm3d, relevance};
use super::mix::Mix;
use super::settings::Settings;
use crate::device::{Device, KgBm3dOn, KgardOn, Work};
use kgard::denoise::{
    DenoisePlan, Denoised, KgBm3dPlan, Masks, PaperKgBm3dPlan, PaperPlan, Plane, PlaneBuf, Watch,
    noise_level,
};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// A method, its settings, and what is made of them once.
#[derive(Debug)]
pub(super) struct Plans {
    pub(super) method: Method,
    pub(super) settings: Settings,
    pub(super) mix: Mix,
    kgard: OnceLock<DenoisePlan<f32>>,
    kg_bm3d: ByPeak<KgBm3dPlan<f32>>,
    paper_kgard: ByPeak<PaperPlan<f32>>,
    paper_kg_bm3d: ByPeak<PaperKgBm3dPlan<f32>>,
}

impl Plans {
    #[expect(clippy::large_types_passed_by_value, reason = "they are made once")]
    pub(super) fn new(method: Method, settings: Settings, mix: Mix) -> Self {
        Self {
            method,
            settings,
            mix,
            kgard: OnceLock::new(),
            kg_bm3d: ByPeak::default(),
            paper_kgard: ByPeak::default(),
            paper_kg_bm3d: ByPeak::default(),
        }
    }
}

/// One thing for each peak that the samples of a picture can have, made when it is first needed:
/// a list that only grows.
#[derive(Debug)]
struct ByPeak<P>(OnceLock<Box<(f32, P, ByPeak<P>)>>);

impl<P> Default for ByPeak<P> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<P> ByPeak<P> {
    fn get<E>(&self, peak: f32, make: impl FnOnce() -> Result<P, E>) -> Result<&P, E> {
        let mut list = self;
        while let Some(made) = list.0.get() {
            if made.0.to_bits() == peak.to_bits() {
                return Ok(&made.1);
            }
            list = &made.2;
        }
        let mut made = Box::new((peak, make()?, Self::default()));
        // Another thread may have been quicker.
        while let Err(again) = list.0.set(made) {
            made = again;
            if let Some(next) = list.0.get() {
                list = &next.2;
            }
        }
        let made = list.0.get_or_init(|| unreachable!("it was set"));
        Ok(&made.1)
    }
}

/// What is in a cell, made if it is not there yet.
fn once<P, E>(cell: &OnceLock<P>, make: impl FnOnce() -> Result<P, E>) -> Result<&P, E> {
    match cell.get() {
        Some(made) => Ok(made),
        None => make().map(|made| cell.get_or_init(|| made)),
    }
}

/// Why a picture was not denoised.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There is something wrong with it.
    Picture(kgard::Error),
    /// The device cannot do it.
    Device(String),
}

impl From<kgard::Error> for Refusal {
    fn from(error: kgard::Error) -> Self {
        Self::Picture(error)
    }
}

/// The plans where they are computed.
///
/// Threads may share it: one picture at a time has the device, and one the
/// processor, all of its cores.
#[derive(Debug)]
pub(super) struct Engine<'p> {
    plans: &'p Plans,
    device: Option<&'p Device>,
    kgard: OnceLock<KgardOn<'p>>,
    kg_bm3d: ByPeak<KgBm3dOn<'p>>,
    device_turn: Mutex<()>,
    processor_turn: Mutex<()>,
}

impl<'p> Engine<'p> {
    /// Without a device everything is done by the processor.
    pub(super) fn new(plans: &'p Plans, device: Option<&'p Device>) -> Self {
        Self {
            plans,
            device,
            kgard: OnceLock::new(),
            kg_bm3d: ByPeak::default(),
            device_turn: Mutex::default(),
            processor_turn: Mutex::default(),
        }
    }

    pub(super) fn plans(&self) -> &'p Plans {
        self.plans
    }

    /// Pictures that are worth being worked on at a time: while BM3D has the
    /// processor, KGARD can have the device.
    pub(super) fn lanes(&self) -> usize {
        if self.device.is_some() && self.plans.method == Method::KgBm3d { 2 } else { 1 }
    }

    /// Denoises the colour channels of a picture whose samples reach to `peak`.
    pub(super) fn run(
        &self,
        channels: &[PlaneBuf<f32>],
        masks: Masks<'_>,
        peak: f32,
        progress: Watch<'_>,
    ) -> Result<Outcome, Refusal> {
        let planes: Vec<Plane<'_, f32>> = channels.iter().map(PlaneBuf::as_plane).collect();
        match self.plans.method {
            Method::Kgard => self.kgard(&planes, masks),
            Method::KgBm3d => self.kg_bm3d(&planes, masks, peak, progress),
            Method::PaperKgard => Ok(self.paper_kgard(&planes, peak)?),
            Method::PaperKgBm3d => Ok(self.paper_kg_bm3d(&planes, peak)?),
            Method::Bm3d => Ok(bm3d(&self.plans.settings, &planes, peak)?),
            Method::RbRvm => Ok(relevance(&self.plans.settings, &planes)?),
        }
    }

    fn kgard(&self, planes: &[Plane<'_, f32>], masks: Masks<'_>) -> Result<Outcome, Refusal> {
        let start = Instant::now();
        let plan = once(&self.plans.kgard, || self.plans.settings.kgard())?;
        let on = |device: &'p Device| once(&self.kgard, || device.kgard(plan));
        let on = self.device.map(on).transpose().map_err(Refusal::Device)?;
        let (denoised, work): (Denoised<f32>, Option<Work>) = match on {
            None => (plan.denoise_all(planes, masks)?, None),
            Some(on) => on.denoise(planes, masks).map(|(denoised, work)| (denoised, Some(work)))?,
        };
        let seconds = Seconds {
            kgard: Some(start.elapsed().as_secs_f64()),
            bm3d: None,
            device: work.as_ref().and_then(|work| work.seconds),
        };
        Ok(Outcome::new(denoised, seconds, work))
    }

    fn paper_kgard(&self, planes: &[Plane<'_, f32>], peak: f32) -> Result<Outcome, kgard::Error> {
        let start = Instant::now();
        let plan = self.plans.paper_kgard.get(peak, || self.plans.settings.paper_kgard(peak))?;
        let mut denoised = plan.denoise_all(planes)?;
        let kgard = Some(start.elapsed().as_secs_f64());
        // The method does not need the noise; the report has it all the same.
        for (c, plane) in planes.iter().enumerate() {
            let mask = denoised.outliers.mask[c].as_plane();
            denoised.report.channels[c].noise = Some(noise_level(*plane, Some(mask))?);
        }
        Ok(Outcome::new(denoised, Seconds { kgard, ..Seconds::default() }, None))
    }

    fn paper_kg_bm3d(&self, planes: &[Plane<'_, f32>], peak: f32) -> Result<Outcome, kgard::Error> {
        let start = Instant::now();
        let settings = &self.plans.settings;
        let plan = self.plans.paper_kg_bm3d.get(peak, || settings.paper_kg_bm3d(peak))?;
        let repaired = plan.repair(planes)?;
        let kgard = start.elapsed();
        let start = Instant::now();
        let denoised = plan.filter(repaired)?;
        let (kgard, bm3d) = (Some(kgard.as_secs_f64()), Some(start.elapsed().as_secs_f64()));
        Ok(Outcome::new(denoised, Seconds { kgard, bm3d, device: None }, None))
    }

    fn kg_bm3d(
        &self,
        planes: &[Plane<'_, f32>],
        masks: Masks<'_>,
        peak: f32,
        progress: Watch<'_>,
    ) -> Result<Outcome, Refusal> {
        let turn = if self.device.is_some() { &self.device_turn } else { &self.processor_turn };
        let turn = wait(turn);
        let start = Instant::now();
        let plan = self.plans.kg_bm3d.get(peak, || self.plans.settings.kg_bm3d(peak))?;
        let on = |device: &'p Device| self.kg_bm3d.get(peak, || device.kg_bm3d(plan));
        let on = self.device.map(on).transpose().map_err(Refusal::Device)?;
        let (repaired, work): (_, Option<Work>) = match on {
            None => (plan.repair_watched(planes, masks, progress)?, None),
            Some(on) => on.repair(planes, masks).map(|(repaired, work)| (repaired, Some(work)))?,
        };
        let kgard = start.elapsed();
        drop(turn);

        let _turn = wait(&self.processor_turn);
        let start = Instant::now();
        let denoised = plan.finish_watched(repaired, progress)?;
        let seconds = Seconds {
            kgard: Some(kgard.as_secs_f64()),
            bm3d: Some(start.elapsed().as_secs_f64()),
            device: work.as_ref().and_then(|work| work.seconds),
        };
        Ok(Outcome::new(denoised, seconds, work))
    }
}

/// Waits for one's turn.
fn wait(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    // What a panic left is nothing that another picture could be hurt by.
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}
