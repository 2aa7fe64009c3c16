//! Statistics of a device.

use super::GpuError;

/// Statistics of a device.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct GpuReport {
    /// Submissions to the device.
    pub batches: usize,
    /// Seconds of computation, if the device has time stamps.
    pub device_seconds: Option<f64>,
    /// Why the processor computed the rest, if it did.
    pub fallback: Option<GpuError>,
}

impl GpuReport {
    /// Counts a batch and its seconds.
    pub(super) fn count_batch(&mut self, seconds: Option<f64>) {
        self.batches += 1;
        self.add_seconds(seconds);
    }

    fn add_seconds(&mut self, seconds: Option<f64>) {
        if let Some(seconds) = seconds {
            *self.device_seconds.get_or_insert_default() += seconds;
        }
    }

    /// Adds the statistics of another part of the work.
    pub(super) fn add(&mut self, other: Self) {
        self.batches += other.batches;
        self.add_seconds(other.device_seconds);
        if self.fallback.is_none() {
            self.fallback = other.fallback;
        }
    }
}
