//! The device that computes a network.

use std::{fmt, str::FromStr, sync::OnceLock};

use crate::{Tiles, graph::Graph};

/// A device for passes through a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Device {
    /// The cores of this machine.
    #[default]
    Cpu,
    /// A GPU, in a program that [provides](provide_gpu) one.
    Gpu,
}

/// Why a device cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// An unknown device.
    #[error("`{0}` is not a device: use cpu or gpu")]
    Unknown(String),
    /// The program was built without GPU support.
    #[error("this program was built without GPU support")]
    NotBuilt,
    /// There is no GPU, or no driver for it.
    #[error("no usable GPU: {0}")]
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

/// Passes through networks on a device that another crate implements. It only computes outputs and gradients of boards;
/// loss, Adam, files and votes are the same for all devices.
pub trait DevicePass: fmt::Debug + Send + Sync {
    /// The outputs for each board.
    fn forward(&mut self, graph: &Graph, weights: &[f32], boards: &[Tiles]) -> &[f32];

    /// Adds the derivative of the loss for each weight to `gradient`, given its derivatives for the outputs of the
    /// forward pass just made.
    fn backward(&mut self, graph: &Graph, weights: &[f32], slopes: &[f32], gradient: &mut [f32]);

    /// Another pass on the same device.
    fn boxed_clone(&self) -> Box<dyn DevicePass>;
}

impl Clone for Box<dyn DevicePass> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

/// Opens a pass on a GPU.
type Open = fn() -> Result<Box<dyn DevicePass>, DeviceError>;

static GPU: OnceLock<Open> = OnceLock::new();

/// Registers the implementation of [`Device::Gpu`]. The first one provided is used.
pub fn provide_gpu(open: Open) {
    let _ = GPU.set(open);
}

/// Opens a pass on the GPU.
pub(crate) fn gpu() -> Result<Box<dyn DevicePass>, DeviceError> {
    GPU.get().ok_or(DeviceError::NotBuilt)?()
}
