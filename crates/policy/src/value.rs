//! Playing by a value network (kondo-2019, section 6): greedily, by reward + V(s').

use std::time::Instant;

use afterstate_game::{Move, State};
use afterstate_search::{Advice, Player};

use crate::{Net, Work, spec::SpecError};

/// A greedy player by a network of afterstate values.
#[derive(Clone)]
pub struct ValuePlayer<'a> {
    net: &'a Net,
    pub(crate) work: Work,
}

impl<'a> ValuePlayer<'a> {
    /// An output of 1 stands for so many points, so that outputs are of the size that initial weights make.
    pub const UNIT: f32 = 1024.0;

    /// A player by this network.
    ///
    /// # Errors
    /// When it is no value network.
    pub fn new(net: &'a Net) -> Result<Self, SpecError> {
        net.spec().check_outputs(1)?;
        Ok(ValuePlayer::unchecked(net))
    }

    pub(crate) fn unchecked(net: &'a Net) -> Self {
        ValuePlayer { net, work: Work::default() }
    }
}

impl Player<4> for ValuePlayer<'_> {
    fn advise(&mut self, state: State<4>) -> Advice {
        let (start, slides) = (Instant::now(), state.slides());
        let boards = slides.afterstates.map(|afterstate| afterstate.board());
        let outputs = self.net.forward(&boards, &mut self.work);
        let value = |a: Move| slides.rewards[a as usize] as f32 + Self::UNIT * outputs[a as usize];
        let values = Move::ALL.map(|a| slides.legal.contains(a).then(|| value(a)));
        Advice { values, plies: 1, evaluated: slides.legal.count() as u64, time: start.elapsed() }
    }
}
