//! Where to compute.

use super::{Gpu, GpuError};
use alloc::string::String;

/// Pixels (or entries) from which on a device is faster: below, the processor finishes before
/// the device is initialised.
const WORTH_IT: u64 = 8 << 20;

/// Where to compute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Backend {
    /// Graphics hardware if there is any and the job is large enough for it
    /// (8 megapixels), the processor otherwise. Never a software adapter.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The best adapter, a software one included.
    Gpu,
    /// The best adapter with this in its name.
    Named(String),
}

impl Backend {
    /// The device for images of `pixels` pixels; `None` is the processor.
    ///
    /// # Errors
    /// If a device was requested and there is none: as [`Gpu::new`].
    pub fn open(&self, pixels: u64) -> Result<Option<Gpu>, GpuError> {
        match self {
            Self::Auto if pixels < WORTH_IT => Ok(None),
            Self::Auto => Ok(Gpu::hardware().ok()),
            Self::Cpu => Ok(None),
            Self::Gpu => Gpu::new().map(Some),
            Self::Named(name) => Gpu::named(name).map(Some),
        }
    }
}
