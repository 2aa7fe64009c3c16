//! Buffers, submissions and downloads.

use super::context::{PATIENCE, check_limit};
use super::kernel::{Step, record};
use super::{Gpu, GpuError};
use core::ops::Range;
use std::sync::mpsc;

impl Gpu {
    /// A buffer of `count` 32-bit words; at least one, because a binding cannot be empty.
    pub(super) fn storage(
        &self,
        what: &'static str,
        count: usize,
    ) -> Result<wgpu::Buffer, GpuError> {
        use wgpu::BufferUsages as Usage;
        let bytes = (count.max(1) as u64).saturating_mul(4);
        check_limit("bytes of a buffer", bytes, self.largest_binding())?;
        self.buffer(what, bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST)
    }

    /// The same, initialised.
    pub(super) fn upload<T: bytemuck::Pod>(
        &self,
        what: &'static str,
        data: &[T],
    ) -> Result<wgpu::Buffer, GpuError> {
        let bytes = bytemuck::cast_slice(data);
        let buffer = self.storage(what, bytes.len().div_ceil(4))?;
        self.write(&buffer, bytes)?;
        Ok(buffer)
    }

    /// A uniform buffer for a structure.
    pub(super) fn uniform<T: bytemuck::Pod>(
        &self,
        what: &'static str,
        value: &T,
    ) -> Result<wgpu::Buffer, GpuError> {
        self.uniform_of(what, bytemuck::bytes_of(value))
    }

    /// A uniform buffer of these bytes.
    pub(super) fn uniform_of(
        &self,
        what: &'static str,
        bytes: &[u8],
    ) -> Result<wgpu::Buffer, GpuError> {
        use wgpu::BufferUsages as Usage;
        let buffer = self.buffer(what, bytes.len() as u64, Usage::UNIFORM | Usage::COPY_DST)?;
        self.write(&buffer, bytes)?;
        Ok(buffer)
    }

    fn buffer(
        &self,
        what: &'static str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let descriptor =
            wgpu::BufferDescriptor { label: Some(what), size, usage, mapped_at_creation: false };
        self.guarded(|device| device.create_buffer(&descriptor))
    }

    /// Writes to the beginning of a buffer, before the next submission.
    pub(super) fn write(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<(), GpuError> {
        self.guarded(|_| self.queue().write_buffer(buffer, 0, bytes))
    }

    /// Runs dispatches, then copies (offset, length) parts of buffers to `staging`.
    pub(super) fn submit(
        &self,
        steps: &[Step],
        results: &[(&wgpu::Buffer, u64, u64)],
        staging: &Staging,
        clock: Option<&Clock>,
    ) -> Result<Download, GpuError> {
        let end: u64 = results.iter().map(|&(_, _, bytes)| bytes).sum();
        let (sender, receiver) = mpsc::channel();
        let submission = self.guarded(|device| {
            let mut encoder =
                device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let timestamp_writes = clock.map(Clock::writes);
            {
                let label = Some("kgard");
                let descriptor = wgpu::ComputePassDescriptor { label, timestamp_writes };
                record(&mut encoder.begin_compute_pass(&descriptor), steps);
            }
            let mut to = 0;
            for &(buffer, offset, bytes) in results {
                encoder.copy_buffer_to_buffer(buffer, offset, &staging.buffer, to, bytes);
                to += bytes;
            }
            if let Some(clock) = clock {
                clock.resolve(&mut encoder, &staging.buffer, end);
            }
            let submission = self.queue().submit([encoder.finish()]);
            let mapped = 0..end + if clock.is_some() { Clock::BYTES } else { 0 };
            staging.buffer.map_async(wgpu::MapMode::Read, mapped, move |result| {
                // The receiver may be gone.
                let _ = sender.send(result);
            });
            submission
        })?;
        let clock = clock.map(|clock| clock.period);
        Ok(Download { submission, receiver, buffer: staging.buffer.clone(), end, clock })
    }

    /// A buffer that the processor can map.
    pub(super) fn staging(&self, bytes: u64) -> Result<Staging, GpuError> {
        use wgpu::BufferUsages as Usage;
        let bytes = bytes.max(4) + Clock::BYTES;
        check_limit("bytes of a buffer", bytes, self.limits().max_buffer_size)?;
        let buffer = self.buffer("staging", bytes, Usage::MAP_READ | Usage::COPY_DST)?;
        Ok(Staging { buffer })
    }

    /// Time stamps, if the device has them.
    pub(super) fn clock(&self) -> Result<Option<Clock>, GpuError> {
        if !self.has_timestamps() {
            return Ok(None);
        }
        let period = self.queue().get_timestamp_period();
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let queries = self.guarded(|device| {
            device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("clock"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        })?;
        let resolved = self.buffer("clock", Clock::BYTES, usage)?;
        Ok(Some(Clock { queries, resolved, period }))
    }
}

/// The buffer that results are copied to.
#[derive(Debug)]
pub(super) struct Staging {
    buffer: wgpu::Buffer,
}

/// Results in flight.
pub(super) struct Download {
    submission: wgpu::SubmissionIndex,
    receiver: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    buffer: wgpu::Buffer,
    end: u64,
    clock: Option<f32>,
}

impl Download {
    /// Waits; returns the results in the order of the request, and the seconds that the device took,
    /// if it has time stamps.
    pub(super) fn read<R>(
        self,
        gpu: &Gpu,
        take: impl FnOnce(&[u8], Option<f64>) -> R,
    ) -> Result<R, GpuError> {
        gpu.wait(self.submission)?;
        let lost = |what: &str| GpuError::Lost(what.into());
        // Another thread that polls the device may complete the request.
        match self.receiver.recv_timeout(PATIENCE) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(lost(&alloc::format!("{error}"))),
            Err(_) => return Err(lost("it has not given its results")),
        }
        let result = {
            let mapped = 0..self.end + if self.clock.is_some() { Clock::BYTES } else { 0 };
            let view =
                self.buffer.get_mapped_range(mapped).map_err(|e| lost(&alloc::format!("{e}")))?;
            let (results, rest) = view.split_at(usize::try_from(self.end).unwrap_or(usize::MAX));
            let seconds = self.clock.map(|period| Clock::seconds(rest, period));
            take(results, seconds)
        };
        self.buffer.unmap();
        Ok(result)
    }
}

/// Two time stamps on the device: the beginning and the end of a submission.
#[derive(Debug)]
pub(super) struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Nanoseconds of a tick.
    period: f32,
}

impl Clock {
    const BYTES: u64 = 16;

    fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder, staging: &wgpu::Buffer, at: u64) {
        let both: Range<u32> = 0..2;
        encoder.resolve_query_set(&self.queries, both, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, staging, at, Self::BYTES);
    }

    fn seconds(bytes: &[u8], period: f32) -> f64 {
        let tick = |i: usize| {
            let eight = bytes[8 * i..].first_chunk::<8>();
            u64::from_le_bytes(eight.copied().unwrap_or_default())
        };
        tick(1).saturating_sub(tick(0)) as f64 * f64::from(period) * 1e-9
    }
}
