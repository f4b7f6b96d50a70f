//! A pass through a network, on the device where its numbers stand.

#[cfg(feature = "gpu")]
use crate::gpu::GpuPass;
use crate::{
    Device, DeviceError,
    graph::Graph,
    pass::{CpuPass, Tiles},
};

/// What a pass through a network needs room for. One for each thread, to be used again and again.
#[derive(Clone, Debug, Default)]
pub struct Work(Place);

#[derive(Clone, Debug)]
enum Place {
    Cpu(CpuPass),
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuPass>),
}

impl Default for Place {
    fn default() -> Self {
        Place::Cpu(CpuPass::default())
    }
}

impl Work {
    /// Room on a device; the default is the CPU.
    ///
    /// # Errors
    /// When there is no such device.
    pub fn on(device: Device) -> Result<Self, DeviceError> {
        match device {
            Device::Cpu => Ok(Work::default()),
            #[cfg(feature = "gpu")]
            Device::Gpu => Ok(Work(Place::Gpu(Box::new(GpuPass::new()?)))),
            #[cfg(not(feature = "gpu"))]
            Device::Gpu => Err(DeviceError::NotBuilt),
        }
    }

    /// The outputs for each board.
    pub(crate) fn forward(
        &mut self,
        graph: &Graph,
        weights: &[f32],
        boards: impl Iterator<Item = Tiles>,
    ) -> &[f32] {
        match &mut self.0 {
            Place::Cpu(pass) => graph.forward(weights, boards, pass),
            #[cfg(feature = "gpu")]
            Place::Gpu(pass) => pass.forward(graph, weights, boards),
        }
    }

    /// Adds to `gradient` how the loss changes with each weight, from how it changes with each output of the forward
    /// pass just made.
    pub(crate) fn backward(&mut self, graph: &Graph, weights: &[f32], slopes: &[f32], gradient: &mut [f32]) {
        match &mut self.0 {
            Place::Cpu(pass) => graph.backward(weights, slopes, pass, gradient),
            #[cfg(feature = "gpu")]
            Place::Gpu(pass) => pass.backward(graph, weights, slopes, gradient),
        }
    }
}
