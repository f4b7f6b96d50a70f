//! Q(s, a): ramesh-2018, Fig. 6. Every action has its own tables, indexed by the state itself.
//!
//! The move's reward is not added to the value, which already includes it.

use super::GreedyGame;
use crate::{Isa, View};

impl<const N: usize> GreedyGame<N> {
    /// Evaluates the legal actions.
    #[inline(always)]
    pub(super) fn evaluate_actions<I: Isa>(&mut self, isa: I, view: &View<'_>) {
        let value = view.find(isa, &self.state.board().bytes(), &mut self.features, 0);
        self.returns = [f32::NEG_INFINITY; 4];
        for a in self.slides.legal {
            let a = a as usize;
            // The same weights in the tables of another action.
            self.values[a] = if a == 0 { value } else { view.sum(isa, self.features.get(0).of_action(a)) };
            self.returns[a] = self.values[a];
        }
    }
}
