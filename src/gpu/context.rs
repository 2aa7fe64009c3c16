//! Adapters and devices.

use super::GpuError;
use super::kernel::{Kernel, Shader};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use wgpu::DeviceType;

/// Timeout of a submission. Batches are sized for a small part of it.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// Workgroups along one dimension that every device allows.
pub(super) const MOST_GROUPS: u32 = 65_535;
/// Threads of a workgroup, on hardware and on software adapters.
const WORKGROUP: u32 = 64;
const SOFTWARE_WORKGROUP: u32 = 8;

/// A GPU, ready to compute; cheap to clone.
///
/// Pipelines are built when they are first needed and kept: use one `Gpu` for a whole program.
#[derive(Clone)]
pub struct Gpu {
    inner: Arc<Inner>,
    workgroup: u32,
}

struct Inner {
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: wgpu::Limits,
    adapter: Adapter,
    kernels: Mutex<HashMap<String, Kernel>>,
    /// Why the device was lost, or an error outside of any error scope.
    lost: Arc<OnceLock<String>>,
}

/// Description of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// Vulkan, Metal or Direct3D 12.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// Discrete, integrated, virtual, software or other.
    pub kind: &'static str,
    /// Whether it is a software implementation.
    pub software: bool,
}

impl Adapter {
    fn new(info: &wgpu::AdapterInfo) -> Self {
        let kind = match info.device_type {
            DeviceType::DiscreteGpu => "discrete",
            DeviceType::IntegratedGpu => "integrated",
            DeviceType::VirtualGpu => "virtual",
            DeviceType::Cpu => "software",
            DeviceType::Other => "other",
        };
        Self {
            name: info.name.clone(),
            backend: info.backend.to_string(),
            driver: alloc::format!("{} {}", info.driver, info.driver_info).trim().to_string(),
            kind,
            software: info.device_type == DeviceType::Cpu,
        }
    }
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.kind, self.backend)
    }
}

/// The adapters of this machine, the best first: what [`Gpu::new`] takes.
#[must_use]
pub fn adapters() -> Vec<Adapter> {
    ranked(&instance()).iter().map(|adapter| Adapter::new(&adapter.get_info())).collect()
}

fn instance() -> wgpu::Instance {
    wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle())
}

fn ranked(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut all = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    all.sort_by_key(|adapter| match adapter.get_info().device_type {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    });
    all
}

impl Gpu {
    /// The best adapter; a software implementation ([`Adapter::software`]) only if there is no
    /// hardware.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] without any adapter, [`GpuError::Device`] if it gives no device.
    pub fn new() -> Result<Self, GpuError> {
        Self::find("adapter", |_| true)
    }

    /// The best hardware adapter.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`GpuError::NoAdapter`] also if there is software
    /// only.
    pub fn hardware() -> Result<Self, GpuError> {
        Self::find("graphics hardware", |adapter| !adapter.software)
    }

    /// The best adapter with `name` in its name; case does not matter.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn named(name: &str) -> Result<Self, GpuError> {
        let wanted = name.to_lowercase();
        let is_it = |adapter: &Adapter| adapter.name.to_lowercase().contains(&wanted);
        Self::find(&alloc::format!("adapter named `{name}`"), is_it)
    }

    fn find(wanted: &str, suits: impl Fn(&Adapter) -> bool) -> Result<Self, GpuError> {
        let all = ranked(&instance());
        let Some(adapter) = all.iter().find(|adapter| suits(&Adapter::new(&adapter.get_info())))
        else {
            let name = |adapter: &wgpu::Adapter| Adapter::new(&adapter.get_info()).to_string();
            let found: Vec<String> = all.iter().map(name).collect();
            return Err(GpuError::NoAdapter { wanted: wanted.into(), found: found.join(", ") });
        };
        let wanted = wgpu::DeviceDescriptor {
            label: Some("kgard"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: adapter.limits(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&wanted))
            .map_err(|error| GpuError::Device(error.to_string()))?;
        // An uncaptured error must not end the program.
        let gpu = Self::from_device(device, queue);
        let lost = gpu.inner.lost.clone();
        gpu.inner.device.set_device_lost_callback(move |reason, message| {
            let _ = lost.set(alloc::format!("{reason:?}: {message}"));
        });
        let lost = gpu.inner.lost.clone();
        gpu.inner.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let _ = lost.set(error.to_string());
        }));
        Ok(gpu)
    }

    /// From an existing device. Its limits may be as low as `wgpu::Limits::downlevel_defaults()`;
    /// problems that do not fit are refused.
    #[must_use]
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let adapter = Adapter::new(&device.adapter_info());
        let limits = device.limits();
        let preferred = if adapter.software { SOFTWARE_WORKGROUP } else { WORKGROUP };
        let inner = Inner {
            device,
            queue,
            limits,
            adapter,
            kernels: Mutex::default(),
            lost: Arc::default(),
        };
        Self { inner: Arc::new(inner), workgroup: preferred }
    }

    /// Threads of a workgroup: a power of two from 8 to 256. Only speed
    /// depends on it.
    ///
    /// # Errors
    /// [`GpuError::Limit`] if the device allows fewer, [`GpuError::Input`] for another number.
    pub fn with_workgroup(mut self, threads: u32) -> Result<Self, GpuError> {
        if !(threads.is_power_of_two() && (8..=256).contains(&threads)) {
            let value = threads as usize;
            let allowed = "a power of two from 8 to 256";
            return Err(crate::Error::Setting { what: "workgroup", value, allowed }.into());
        }
        check_limit("threads of a workgroup", threads.into(), self.most_threads().into())?;
        self.workgroup = threads;
        Ok(self)
    }

    /// The adapter.
    #[must_use]
    pub fn adapter(&self) -> &Adapter {
        &self.inner.adapter
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// Its queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    pub(super) fn workgroup(&self) -> u32 {
        self.workgroup
    }

    /// Largest number of threads of a workgroup; at most 256 are used.
    pub(super) fn most_threads(&self) -> u32 {
        let limits = &self.inner.limits;
        let allowed = limits.max_compute_workgroup_size_x;
        allowed.min(limits.max_compute_invocations_per_workgroup).min(256)
    }

    pub(super) fn limits(&self) -> &wgpu::Limits {
        &self.inner.limits
    }

    pub(super) fn has_timestamps(&self) -> bool {
        self.inner.device.features().contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Largest size of a buffer and its binding in bytes.
    pub(super) fn largest_binding(&self) -> u64 {
        let limits = &self.inner.limits;
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// The pipeline of a shader with these constants, built at the first request.
    pub(super) fn kernel(
        &self,
        shader: &Shader,
        constants: &[(&'static str, f64)],
    ) -> Result<Kernel, GpuError> {
        let key = alloc::format!("{} {constants:?}", shader.entry);
        let mut kernels = self.inner.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let kernel = self.guarded(|device| Kernel::new(device, shader, constants))?;
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    /// Runs `work` in error scopes; the device's errors are returned.
    pub(super) fn guarded<R>(&self, work: impl FnOnce(&wgpu::Device) -> R) -> Result<R, GpuError> {
        self.check_lost()?;
        let device = &self.inner.device;
        let filters = [
            wgpu::ErrorFilter::Validation,
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Internal,
        ];
        let scopes = filters.map(|filter| device.push_error_scope(filter));
        let result = work(device);
        // Inner scopes first.
        let mut first = None;
        for scope in scopes.into_iter().rev() {
            let error = pollster::block_on(scope.pop());
            first = first.or(error);
        }
        match first {
            None => self.check_lost().map(|()| result),
            Some(error) => Err(match error {
                wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory(error.to_string()),
                _ => GpuError::Device(error.to_string()),
            }),
        }
    }

    fn check_lost(&self) -> Result<(), GpuError> {
        match self.inner.lost.get() {
            None => Ok(()),
            Some(why) => Err(GpuError::Lost(why.clone())),
        }
    }

    /// Waits for a submission.
    pub(super) fn wait(&self, submission: wgpu::SubmissionIndex) -> Result<(), GpuError> {
        let wait =
            wgpu::PollType::Wait { submission_index: Some(submission), timeout: Some(PATIENCE) };
        match self.inner.device.poll(wait) {
            Ok(_) => self.check_lost(),
            Err(wgpu::PollError::Timeout) => {
                Err(GpuError::TimedOut { seconds: PATIENCE.as_secs() })
            }
            Err(error) => Err(GpuError::Device(error.to_string())),
        }
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu")
            .field("adapter", &self.inner.adapter)
            .field("workgroup", &self.workgroup)
            .finish_non_exhaustive()
    }
}

/// Checks a limit of the device.
pub(super) fn check_limit(what: &'static str, needed: u64, allowed: u64) -> Result<(), GpuError> {
    if needed > allowed { Err(GpuError::Limit { what, needed, allowed }) } else { Ok(()) }
}
