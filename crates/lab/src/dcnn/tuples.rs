//! An n-tuple network taught by records (kondo-2019, section 6): V(s') moves towards the score from s' to the end of the game.
//! The paper does not say how far; here it is a tenth of the error, shared among the weights, as by TD(0) with α = 0.1.

use std::{collections::BTreeMap, path::Path};

use afterstate_dcnn::Device;
use afterstate_game::Afterstate;
use afterstate_network::{
    FeatureSlots, Level, Network, NetworkSpec, Tuples,
    file::{FileError, ModelInfo, safetensors::TensorFile},
};

use super::DcnnError;

const ALPHA: f32 = 0.1;

/// A network and how it learns.
pub(super) struct TupleLearner {
    pub(super) network: Network,
    level: Level,
}

impl TupleLearner {
    /// An empty network with the tuples of this name. There are no matrices in it for a GPU.
    pub(super) fn new(name: &str, device: Device) -> Result<Self, DcnnError> {
        let wrong = |problem: String| DcnnError::Tuples { name: name.into(), problem };
        if device != Device::Cpu {
            return Err(wrong("n-tuple networks learn on the CPU alone".into()));
        }
        let tuples = Tuples::named(name).map_err(|error| wrong(error.to_string()))?;
        let network = Network::new(NetworkSpec { tuples, ..NetworkSpec::default() });
        Ok(TupleLearner { network: network.map_err(|error| wrong(error.to_string()))?, level: Level::best() })
    }

    /// Takes the weights of a checkpoint, and gives its other metadata.
    pub(super) fn fill(&self, path: &Path) -> Result<BTreeMap<String, String>, FileError> {
        let file = TensorFile::open(path)?;
        self.network.fill(&file)?;
        Ok(ModelInfo::of(&file)?.extra)
    }

    /// The error of an afterstate's value.
    pub(super) fn error(&self, afterstate: Afterstate<4>, target: f32) -> f32 {
        target - self.network.value(afterstate)
    }

    /// Moves the value of an afterstate towards its target, and gives the error that it had.
    pub(super) fn learn(&self, afterstate: Afterstate<4>, target: f32) -> f32 {
        let (view, board) = (self.network.view(), afterstate.board().bytes());
        let mut slots = FeatureSlots::new(&self.network, 1);
        let error = target - view.find_at(self.level, &board, &mut slots, 0);
        view.add(slots.get(0), ALPHA * error / self.network.spec().active_features() as f32);
        error
    }
}
