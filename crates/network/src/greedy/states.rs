//! V(s): TD-state of Szubert and Jaśkowski 2014. The return of a move is its reward plus the expectation of V over the
//! possible tiles: Σ p·V(s''). A terminal state has value 0.

use afterstate_game::{Afterstate, Rules};

use super::GreedyGame;
use crate::{Isa, View};

impl<const N: usize> GreedyGame<N> {
    /// Evaluates the state and its moves.
    #[inline(always)]
    pub(super) fn evaluate_states<I: Isa>(&mut self, isa: I, view: &View<'_>, rules: &Rules) {
        self.values = [view.find(isa, &self.state.board().bytes(), &mut self.features, 0); 4];
        self.returns = [f32::NEG_INFINITY; 4];
        for a in self.slides.legal {
            let a = a as usize;
            let expected = expectation(isa, view, self.slides.afterstates[a], rules);
            self.returns[a] = self.slides.rewards[a] as f32 + expected;
        }
    }
}

/// Σ p·V(s'') over the states that follow an afterstate.
#[inline(always)]
fn expectation<I: Isa, const N: usize>(
    isa: I,
    view: &View<'_>,
    afterstate: Afterstate<N>,
    rules: &Rules,
) -> f32 {
    // The next state can be terminal only if the new tile fills the board.
    let may_end = afterstate.board().empty_count() == 1;
    let mut expected = 0.0;
    for (state, probability) in afterstate.spawns(rules) {
        if !(may_end && state.is_terminal()) {
            expected += probability as f32 * view.value(isa, &state.board().bytes());
        }
    }
    expected
}
