//! Errors of a device.

use crate::Error;
use alloc::string::String;
use core::fmt;

/// Why something was not done on a GPU.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no such adapter.
    NoAdapter {
        /// What was requested.
        wanted: String,
        /// The adapters that exist; empty if there are none.
        found: String,
    },
    /// The adapter gave no device, or refused a shader: a driver's message.
    Device(String),
    /// The device was lost.
    Lost(String),
    /// The device has not enough memory.
    OutOfMemory(String),
    /// The problem is beyond one of the device's limits.
    Limit {
        /// Which limit.
        what: &'static str,
        /// What the problem needs.
        needed: u64,
        /// What the device allows.
        allowed: u64,
    },
    /// The device has not answered.
    TimedOut {
        /// The timeout.
        seconds: u64,
    },
    /// The input is wrong, wherever it is computed.
    Input(Error),
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAdapter { wanted, found } if found.is_empty() => write!(
                f,
                "no {wanted}: there is no Vulkan, Metal or Direct3D 12 adapter at all; install \
                 the graphics driver, or compute on the processor"
            ),
            Self::NoAdapter { wanted, found } => write!(f, "no {wanted}: there is only {found}"),
            Self::Device(message) => write!(f, "the device refuses: {message}"),
            Self::Lost(message) => write!(f, "the device was lost: {message}"),
            Self::OutOfMemory(message) => write!(f, "the device is out of memory: {message}"),
            Self::Limit { what, needed, allowed } => {
                write!(f, "{what} of the device: {needed} needed, {allowed} allowed")
            }
            Self::TimedOut { seconds } => {
                write!(f, "the device has not answered for {seconds} seconds")
            }
            Self::Input(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for GpuError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Input(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Error> for GpuError {
    fn from(error: Error) -> Self {
        Self::Input(error)
    }
}
