//! The values at the leaves of a search: the only place that queries the network.

use afterstate_game::Afterstate;
use afterstate_network::{Batch, Isa, View};

use crate::endgame::Known;

/// Observes every board that a search evaluates by the network.
pub trait Visitor: Sync {
    /// The value of this board has been requested.
    fn visit(&self, board: &[u8; 16]);
}

/// Evaluates leaves. Sources with better values for some boards than the network's are queried here first, once for
/// each batch.
#[derive(Clone, Copy)]
pub(crate) struct Leaves<'a> {
    pub(crate) view: View<'a>,
    pub(crate) visitor: Option<&'a dyn Visitor>,
    /// The endgames around the root.
    pub(crate) known: Option<&'a Known<'a>>,
}

impl Leaves<'_> {
    /// The value of an afterstate.
    #[inline(always)]
    pub(crate) fn value<I: Isa, const N: usize>(&self, isa: I, afterstate: Afterstate<N>) -> f32 {
        let board = afterstate.board().bytes();
        if let Some(visitor) = self.visitor {
            visitor.visit(&board);
        }
        let known = self.known.and_then(|known| known.value(&board));
        known.unwrap_or_else(|| self.view.value(isa, &board))
    }

    /// Adds the value of each afterstate to the number at its index; `batch` is a scratch buffer.
    #[inline(always)]
    pub(crate) fn add_values<I: Isa, const N: usize>(
        &self,
        isa: I,
        batch: &mut Batch,
        afterstates: &[Afterstate<N>],
        sums: &mut [f32],
    ) {
        if let Some(visitor) = self.visitor {
            afterstates.iter().for_each(|afterstate| visitor.visit(&afterstate.board().bytes()));
        }
        match self.known {
            None => self.view.add_values(isa, batch, afterstates, sums),
            Some(known) => known.add_values(isa, &self.view, batch, afterstates, sums),
        }
    }
}
