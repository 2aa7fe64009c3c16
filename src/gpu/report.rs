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
    /// One more batch, and the seconds that the device took for it.
    pub(super) fn count_batch(&mut self, seconds: Option<f64>) {
        self.batches += 1;
        self.add_seconds(seconds);
    }

    fn add_seconds(&mut self, seconds: Option<f64>) {
        if let Some(seconds) = seconds {
            *self.device_seconds.get_or_insert_default() += seconds;
        }
    }

    /// Takes in how another part of the work went.
    pub(super) fn add(&mut self, other: Self) {
        self.batches += other.batches;
        self.add_seconds(other.device_seconds);
        if self.fallback.is_none() {
            self.fallback = other.fallback;
        }
    }
}
