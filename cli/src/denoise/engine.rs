//! A method with its plans, made once for all pictures, on the processor and on
//! a device.

use super::method::{Found, Method, Outcome, Seconds, bm3d, count, even, relevance};
use super::settings::Settings;
use crate::device::{Device, KgBm3dOn, KgardOn, Work};
use kgard::denoise::{DenoisePlan, KgBm3dPlan, Masks, Plane, PlaneBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

/// A method, its settings, and what is made of them once.
#[derive(Debug)]
pub(super) struct Plans {
    pub(super) method: Method,
    pub(super) settings: Settings,
    kgard: ByPeak<DenoisePlan<f32>>,
    kg_bm3d: ByPeak<KgBm3dPlan<f32>>,
}

impl Plans {
    pub(super) fn new(method: Method, settings: Settings) -> Self {
        Self { method, settings, kgard: ByPeak::default(), kg_bm3d: ByPeak::default() }
    }
}

/// One thing for each bit depth that a picture can have: they differ in the
/// peak of their samples. Made when it is first needed.
#[derive(Debug)]
struct ByPeak<P>([OnceLock<P>; 3]);

impl<P> Default for ByPeak<P> {
    fn default() -> Self {
        Self([const { OnceLock::new() }; 3])
    }
}

impl<P> ByPeak<P> {
    fn get<E>(&self, peak: f32, make: impl FnOnce() -> Result<P, E>) -> Result<&P, E> {
        let [float, bytes, words] = &self.0;
        let cell = match peak {
            255.0 => bytes,
            65535.0 => words,
            _ => float,
        };
        match cell.get() {
            Some(made) => Ok(made),
            None => make().map(|made| cell.get_or_init(|| made)),
        }
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
    kgard: ByPeak<KgardOn<'p>>,
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
            kgard: ByPeak::default(),
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
    ) -> Result<Outcome, Refusal> {
        let planes: Vec<Plane<'_, f32>> = channels.iter().map(PlaneBuf::as_plane).collect();
        match self.plans.method {
            Method::Kgard => self.kgard(&planes, masks, peak),
            Method::KgBm3d => self.kg_bm3d(&planes, masks, peak),
            Method::Bm3d => Ok(bm3d(&self.plans.settings, &planes, peak)?),
            Method::RbRvm => Ok(relevance(&self.plans.settings, &planes)?),
        }
    }

    fn kgard(
        &self,
        planes: &[Plane<'_, f32>],
        masks: Masks<'_>,
        peak: f32,
    ) -> Result<Outcome, Refusal> {
        let start = Instant::now();
        let plan = self.plans.kgard.get(peak, || self.plans.settings.kgard(peak))?;
        let on = |device: &'p Device| self.kgard.get(peak, || device.kgard(plan));
        let on = self.device.map(on).transpose().map_err(Refusal::Device)?;
        let mut outcome = Outcome::default();
        for &plane in planes {
            let denoised = match on {
                None => plan.denoise(plane, masks)?,
                Some(on) => {
                    let (denoised, work) = on.denoise(plane, masks)?;
                    outcome.work = Some(work.after(outcome.work));
                    denoised
                }
            };
            outcome.channels.push(denoised.image);
            outcome.outliers.push(denoised.outliers);
            outcome.found.push(Found {
                lambda: Some(denoised.report.lambda),
                noise: denoised.report.conditions.noise,
                law: even(denoised.report.conditions.noise),
                outliers: denoised.report.outliers,
            });
        }
        outcome.seconds = Seconds {
            kgard: Some(start.elapsed().as_secs_f64()),
            bm3d: None,
            device: outcome.work.as_ref().and_then(|work| work.seconds),
        };
        Ok(outcome)
    }

    fn kg_bm3d(
        &self,
        planes: &[Plane<'_, f32>],
        masks: Masks<'_>,
        peak: f32,
    ) -> Result<Outcome, Refusal> {
        let turn = if self.device.is_some() { &self.device_turn } else { &self.processor_turn };
        let turn = wait(turn);
        let start = Instant::now();
        let plan = self.plans.kg_bm3d.get(peak, || self.plans.settings.kg_bm3d(peak))?;
        let on = |device: &'p Device| self.kg_bm3d.get(peak, || device.kg_bm3d(plan));
        let on = self.device.map(on).transpose().map_err(Refusal::Device)?;
        let (repaired, work): (_, Option<Work>) = match on {
            None => (plan.repair(planes, masks)?, None),
            Some(on) => on.repair(planes, masks).map(|(repaired, work)| (repaired, Some(work)))?,
        };
        let kgard = start.elapsed();
        drop(turn);

        let _turn = wait(&self.processor_turn);
        let start = Instant::now();
        let denoised = plan.finish(repaired)?;
        let noise = denoised.noise.iter().zip(&denoised.laws);
        let found = noise.zip(&denoised.outliers).map(|((&noise, &law), outliers)| Found {
            lambda: Some(denoised.lambda),
            noise,
            law,
            outliers: count(outliers),
        });
        Ok(Outcome {
            found: found.collect(),
            channels: denoised.channels,
            outliers: denoised.outliers,
            seconds: Seconds {
                kgard: Some(kgard.as_secs_f64()),
                bm3d: Some(start.elapsed().as_secs_f64()),
                device: work.as_ref().and_then(|work| work.seconds),
            },
            work,
        })
    }
}

/// Waits for one's turn.
fn wait(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    // What a panic left is nothing that another picture could be hurt by.
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}
