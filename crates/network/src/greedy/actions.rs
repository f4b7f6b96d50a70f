//! Q(s, a): ramesh-2018, Fig. 6. Every action has tables of its own, read on the state itself.
//!
//! The values need not add the reward of the move: it is part of what they have learned.

use super::GreedyGame;
use crate::{Features, Found, Isa, View};

impl<const N: usize> GreedyGame<N> {
    /// Evaluates the legal actions.
    ///
    /// # Safety
    /// Inside a kernel only.
    #[inline(always)]
    pub(super) unsafe fn evaluate_actions<I: Isa>(&mut self, view: &View<'_>) {
        let positions = &mut self.positions[..view.lookups.len()];
        // SAFETY: inside a kernel; the positions are this view's.
        let Found { set, value } = unsafe { view.find::<I>(&self.state.board().bytes(), positions) };
        self.returns = [f32::NEG_INFINITY; 4];
        for a in self.slides.legal {
            let a = a as usize;
            self.sets[a] = set + a;
            // The same weights in the tables of another action.
            let features = Features { set: set + a, positions };
            // SAFETY: as above.
            self.values[a] = if a == 0 { value } else { unsafe { view.sum::<I>(features) } };
            self.returns[a] = self.values[a];
        }
    }
}
