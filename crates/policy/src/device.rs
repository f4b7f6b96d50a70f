//! Where a network is computed.

use std::{fmt, str::FromStr};

/// Where passes through a network are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Device {
    /// On the cores of this machine.
    #[default]
    Cpu,
    /// On a GPU, by burn and wgpu; only with the feature `gpu`.
    Gpu,
}

/// Why a network cannot be computed there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A text that is no device.
    #[error("`{0}` is no device: there are cpu and gpu")]
    Unknown(String),
    /// The program knows no GPUs.
    #[error("this program was built without the feature `gpu`")]
    NotBuilt,
    /// There is no GPU, or no driver for it.
    #[error("no GPU can be used: {0}")]
    NotFound(String),
}

impl FromStr for Device {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let known = [Device::Cpu, Device::Gpu].into_iter().find(|device| device.to_string() == text);
        known.ok_or_else(|| DeviceError::Unknown(text.into()))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Device::Cpu => "cpu",
            Device::Gpu => "gpu",
        })
    }
}
