//! Play by a value network (kondo-2019, section 6): greedily, by reward + V(s').

use std::time::Instant;

use afterstate_game::{Board, Move, State};
use afterstate_search::{Advice, Player};

use crate::{Dcnn, Work, dcnn::IN_STEP, spec::SpecError};

/// A greedy player with a network of afterstate values.
#[derive(Clone)]
pub struct ValuePlayer<'a> {
    net: &'a Dcnn,
    pub(crate) work: Work,
}

impl<'a> ValuePlayer<'a> {
    /// An output of 1 means this many points, so that outputs have the scale that the initial weights produce.
    pub const UNIT: f32 = 1024.0;

    /// Creates a player with this network.
    ///
    /// # Errors
    /// If it is not a value network.
    pub fn new(net: &'a Dcnn) -> Result<Self, SpecError> {
        net.spec().check_outputs(1)?;
        Ok(ValuePlayer::unchecked(net))
    }

    pub(crate) fn unchecked(net: &'a Dcnn) -> Self {
        ValuePlayer { net, work: Work::default() }
    }
}

/// The values of a state's moves, given the outputs for its four afterstates.
fn read(state: State<4>, outputs: &[f32]) -> [Option<f32>; 4] {
    let slides = state.slides();
    let value = |a: Move| slides.rewards[a as usize] as f32 + ValuePlayer::UNIT * outputs[a as usize];
    Move::ALL.map(|a| slides.legal.contains(a).then(|| value(a)))
}

fn boards(state: State<4>) -> [Board<4>; 4] {
    state.slides().afterstates.map(|afterstate| afterstate.board())
}

impl Player<4> for ValuePlayer<'_> {
    fn advise(&mut self, state: State<4>) -> Advice {
        let start = Instant::now();
        let values = read(state, self.net.forward(&boards(state), &mut self.work));
        let evaluated = state.legal_moves().count() as u64;
        Advice { values, policy: None, plies: 1, evaluated, time: start.elapsed() }
    }

    fn games_in_step(&self) -> usize {
        IN_STEP / Move::ALL.len()
    }

    fn advise_all(&mut self, states: &[State<4>]) -> Vec<Advice> {
        let start = Instant::now();
        let boards: Vec<_> = states.iter().flat_map(|&state| boards(state)).collect();
        let outputs = self.net.forward_in_step(&boards, &mut self.work);
        let time = start.elapsed() / states.len().max(1) as u32;
        let advice = states.iter().zip(outputs.chunks_exact(Move::ALL.len())).map(|(&state, outputs)| {
            let evaluated = state.legal_moves().count() as u64;
            Advice { values: read(state, outputs), policy: None, plies: 1, evaluated, time }
        });
        advice.collect()
    }
}
