//! A network with its weights.

use afterstate_game::{Board, game_rng};
use rand_core::Rng;

use crate::{
    Work,
    graph::Graph,
    pass::Tiles,
    spec::{DcnnSpec, SpecError},
};

/// Initial weights are uniform in ± this value (kondo-2019, section 5.1).
const INITIAL: f32 = 0.1;

/// The number of boards of a pass for games in step: together they take half of the time that they take one by one, and
/// towards the end, with fewer games, little computation is wasted.
pub(crate) const IN_STEP: usize = 32;

/// A network.
#[derive(Clone, PartialEq, Debug)]
pub struct Dcnn {
    spec: DcnnSpec,
    graph: Graph,
    pub(crate) weights: Vec<f32>,
}

impl Dcnn {
    /// A network with random weights, uniform in ±0.1.
    pub fn new(spec: DcnnSpec, seed: u64) -> Self {
        let mut rng = game_rng(seed, 0);
        let graph = Graph::new(&spec);
        // 24 bits are all that an f32 holds.
        let mut weight = || ((rng.next_u64() >> 40) as f32 / (1 << 23) as f32 - 1.0) * INITIAL;
        let weights = (0..graph.weights()).map(|_| weight()).collect();
        Dcnn { spec, graph, weights }
    }

    /// A network with the given weights, in the order of [`weights`](Self::weights).
    ///
    /// # Errors
    /// If their number is wrong.
    pub fn from_weights(spec: DcnnSpec, weights: Vec<f32>) -> Result<Self, SpecError> {
        let (graph, found) = (Graph::new(&spec), weights.len());
        match graph.weights() {
            expected if expected == found => Ok(Dcnn { spec, graph, weights }),
            expected => Err(SpecError::Weights { found, expected }),
        }
    }

    /// The network's specification.
    pub fn spec(&self) -> &DcnnSpec {
        &self.spec
    }

    /// The weights, parameter by parameter, output channels innermost.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The outputs for each board, one board after the other: for a policy the logits of up, right, down and left,
    /// whose softmax is the probabilities; for a value network the value.
    pub fn forward<'w>(&self, boards: &[Board<4>], work: &'w mut Work) -> &'w [f32] {
        work.forward(&self.graph, &self.weights, boards.iter().map(tiles))
    }

    /// Like [`forward`](Self::forward), for the boards of games in step. Every pass is padded to [`IN_STEP`] boards:
    /// their number changes the order of sums, and so the last bits of a board's outputs.
    pub(crate) fn forward_in_step(&self, boards: &[Board<4>], work: &mut Work) -> Vec<f32> {
        let mut outputs = Vec::new();
        for some in boards.chunks(IN_STEP) {
            let whole: Vec<_> = some.iter().copied().cycle().take(IN_STEP).collect();
            outputs.extend_from_slice(&self.forward(&whole, work)[..some.len() * self.spec.outputs()]);
        }
        outputs
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }
}

/// The tiles of a board. On 4×4 the layout is row-major.
pub(crate) fn tiles(board: &Board<4>) -> Tiles {
    board.bytes()
}
