//! An n-tuple network taught by records (kondo-2019, section 6): V(s') moves towards the score from s' to the end of the game.
//! The paper does not say how far; here it is a tenth of the error, shared among the weights, as by TD(0) with α = 0.1.

use afterstate_game::Afterstate;
use afterstate_network::{FeatureSlots, Level, Network, NetworkSpec, SpecError, Tuples};

use crate::run::RunError;

const ALPHA: f32 = 0.1;

/// The network with the tuples of this name.
pub(super) fn spec(name: &str) -> Result<NetworkSpec, SpecError> {
    let spec = NetworkSpec { tuples: Tuples::named(name)?, ..NetworkSpec::default() };
    spec.check().map(|()| spec)
}

/// A network and how it learns.
pub(super) struct TupleLearner {
    pub(super) network: Network,
    level: Level,
}

impl TupleLearner {
    /// An empty network with the tuples of this name.
    pub(super) fn new(name: &str) -> Result<Self, RunError> {
        Ok(TupleLearner { network: Network::new(spec(name)?)?, level: Level::best() })
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
