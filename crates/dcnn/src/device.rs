//! Where a network is computed.

use std::{fmt, str::FromStr, sync::OnceLock};

use crate::{Tiles, graph::Graph};

/// Where passes through a network are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Device {
    /// On the cores of this machine.
    #[default]
    Cpu,
    /// On a GPU, in a program that [provides](provide_gpu) one.
    Gpu,
}

/// Why a network cannot be computed there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// A text that is no device.
    #[error("`{0}` is no device: there are cpu and gpu")]
    Unknown(String),
    /// The program knows no GPUs.
    #[error("this program was built without GPUs")]
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

/// Passes through networks on a device that another crate knows. It has outputs and gradients of boards to give, and
/// nothing else: loss, Adam, files and votes are the same for all devices.
pub trait DevicePass: fmt::Debug + Send + Sync {
    /// The outputs for each board.
    fn forward(&mut self, graph: &Graph, weights: &[f32], boards: &[Tiles]) -> &[f32];

    /// Adds to `gradient` how the loss changes with each weight, from how it changes with each output of the forward pass
    /// just made.
    fn backward(&mut self, graph: &Graph, weights: &[f32], slopes: &[f32], gradient: &mut [f32]);

    /// Another one on the same device.
    fn boxed_clone(&self) -> Box<dyn DevicePass>;
}

impl Clone for Box<dyn DevicePass> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// How a pass on a GPU is begun.
type Open = fn() -> Result<Box<dyn DevicePass>, DeviceError>;

static GPU: OnceLock<Open> = OnceLock::new();

/// Makes [`Device::Gpu`] known to this program. The first one to be provided is taken.
pub fn provide_gpu(open: Open) {
    let _ = GPU.set(open);
}

/// A pass on the GPU.
pub(crate) fn gpu() -> Result<Box<dyn DevicePass>, DeviceError> {
    GPU.get().ok_or(DeviceError::NotBuilt)?()
}
