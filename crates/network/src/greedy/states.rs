//! V(s): TD-state of Szubert and Jaśkowski 2014. A move is worth its reward and the expectation of V over the
//! tiles that may follow: Σ p·V(s''). A state in which the game is over is worth nothing.

use afterstate_game::{Afterstate, Rules};

use super::GreedyGame;
use crate::{Found, Isa, View};

impl<const N: usize> GreedyGame<N> {
    /// Evaluates the state and its moves.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(super) unsafe fn evaluate_states<I: Isa>(&mut self, view: &View<'_>, rules: &Rules) {
        let positions = &mut self.positions[..view.lookups.len()];
        // SAFETY: inside a kernel; the positions are this view's.
        let Found { set, value } = unsafe { view.find::<I>(&self.state.board().bytes(), positions) };
        (self.sets, self.values) = ([set; 4], [value; 4]);
        self.returns = [f32::NEG_INFINITY; 4];
        for a in self.slides.legal {
            let a = a as usize;
            // SAFETY: inside a kernel.
            let expected = unsafe { expectation::<I, N>(view, self.slides.afterstates[a], rules) };
            self.returns[a] = self.slides.rewards[a] as f32 + expected;
        }
    }
}

/// Σ p·V(s'') over the states that follow an afterstate.
///
/// # Safety
/// Inside a kernel only.
#[inline(always)]
unsafe fn expectation<I: Isa, const N: usize>(
    view: &View<'_>,
    afterstate: Afterstate<N>,
    rules: &Rules,
) -> f32 {
    // Only a board that the new tile fills up can be the last one.
    let may_end = afterstate.board().empty_count() == 1;
    let mut expected = 0.0;
    for (state, probability) in afterstate.spawns(rules) {
        if !(may_end && state.is_terminal()) {
            // SAFETY: inside a kernel.
            expected += probability as f32 * unsafe { view.value::<I>(&state.board().bytes()) };
        }
    }
    expected
}
