//! How a device did.

use super::GpuError;

/// How a device did.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct GpuReport {
    /// Submissions to the device.
    pub batches: usize,
    /// Seconds that the device computed, if it has a clock.
    pub device_seconds: Option<f64>,
    /// Why the processor had to go on, if it had to.
    pub fallback: Option<GpuError>,
}

impl GpuReport {
    /// Takes in how another part of the work went.
    pub(super) fn add(&mut self, other: Self) {
        self.batches += other.batches;
        if let Some(seconds) = other.device_seconds {
            *self.device_seconds.get_or_insert_default() += seconds;
        }
        if self.fallback.is_none() {
            self.fallback = other.fallback;
        }
    }
}
