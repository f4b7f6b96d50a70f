//! A pass through a network, on the device that holds its buffers.

use crate::{
    Device, DeviceError, DevicePass,
    device::gpu,
    graph::Graph,
    pass::{CpuPass, Tiles},
};

/// The reusable buffers of a pass through a network, one for each thread.
#[derive(Clone, Debug, Default)]
pub struct Work(Place);

#[derive(Clone, Debug)]
enum Place {
    Cpu(CpuPass),
    Other(Box<dyn DevicePass>),
}

impl Default for Place {
    fn default() -> Self {
        Place::Cpu(CpuPass::default())
    }
}

impl Work {
    /// Allocates buffers on a device; the default is the CPU.
    ///
    /// # Errors
    /// If the device is not available.
    pub fn on(device: Device) -> Result<Self, DeviceError> {
        match device {
            Device::Cpu => Ok(Work::default()),
            Device::Gpu => gpu().map(|pass| Work(Place::Other(pass))),
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
            Place::Other(pass) => pass.forward(graph, weights, &boards.collect::<Vec<_>>()),
        }
    }

    /// Adds the derivative of the loss for each weight to `gradient`, given its derivatives for the outputs of the
    /// forward pass just made.
    pub(crate) fn backward(&mut self, graph: &Graph, weights: &[f32], slopes: &[f32], gradient: &mut [f32]) {
        match &mut self.0 {
            Place::Cpu(pass) => graph.backward(weights, slopes, pass, gradient),
            Place::Other(pass) => pass.backward(graph, weights, slopes, gradient),
        }
    }
}
