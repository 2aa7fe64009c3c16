//! KG-BM3D with KGARD on the device; BM3D stays on the processor.

use super::image::GpuDenoisePlan;
use super::report::GpuReport;
use super::{Gpu, GpuError};
use crate::Error;
use crate::denoise::{Denoised, KgBm3dPlan, Repaired};
use crate::image::{Masks, Plane};

/// A [`KgBm3dPlan`] whose first half runs on a device.
///
/// [`repair`](Self::repair) leaves the processor nearly idle and [`KgBm3dPlan::finish`] does not
/// use the device: with several images, repair the next on another thread while one is finished.
#[derive(Debug)]
pub struct GpuKgBm3dPlan<'p> {
    plan: &'p KgBm3dPlan<f32>,
    kgard: GpuDenoisePlan<'p>,
}

impl KgBm3dPlan<f32> {
    /// The same plan with its first half on a device.
    ///
    /// # Errors
    /// As [`DenoisePlan::on`](crate::denoise::DenoisePlan::on).
    pub fn on(&self, gpu: &Gpu) -> Result<GpuKgBm3dPlan<'_>, GpuError> {
        Ok(GpuKgBm3dPlan { plan: self, kgard: self.kgard.on(gpu)? })
    }
}

impl GpuKgBm3dPlan<'_> {
    /// Denoises an image; see [`KgBm3dPlan::denoise`].
    ///
    /// # Errors
    /// Those of the input. Those of the device are in the report.
    pub fn denoise(
        &self,
        image: &[Plane<'_, f32>],
        masks: Masks<'_>,
    ) -> Result<(Denoised<f32>, GpuReport), Error> {
        let (repaired, report) = self.repair(image, masks)?;
        Ok((self.plan.finish(repaired)?, report))
    }

    /// The first half, for [`KgBm3dPlan::finish`].
    ///
    /// # Errors
    /// As [`denoise`](Self::denoise).
    pub fn repair<'a>(
        &self,
        image: &[Plane<'a, f32>],
        masks: Masks<'a>,
    ) -> Result<(Repaired<'a, f32>, GpuReport), Error> {
        let mut report = GpuReport::default();
        let repaired = self.plan.repair_by(image, masks, |channel, masks, noise| {
            let (denoised, part) = self.kgard.denoise_units(channel, masks, noise)?;
            report.add(part);
            Ok(denoised)
        })?;
        Ok((repaired, report))
    }
}
