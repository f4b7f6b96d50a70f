//! Policies: functions from states to moves.

use afterstate_game::{Move, Rules, State};
use afterstate_network::{Isa, Kernel, Level, Network, Values, View, dispatch};
use afterstate_search::PlayerSpec;

/// A deterministic choice of a move for every state. Any function
/// from states to moves is a policy.
pub trait Policy<const N: usize>: Sync {
    /// Appends the policy's moves for the states, all of which have a legal move.
    fn choose(&self, states: &[State<N>], moves: &mut Vec<Move>);
}

impl<const N: usize, F: Fn(State<N>) -> Move + Sync> Policy<N> for F {
    fn choose(&self, states: &[State<N>], moves: &mut Vec<Move>) {
        moves.extend(states.iter().map(|&state| self(state)));
    }
}

/// The greedy player of a network of afterstates: argmax r + V(s'), the first move on ties.
pub struct Greedy<'a>(pub &'a Network);

impl<const N: usize> Policy<N> for Greedy<'_> {
    fn choose(&self, states: &[State<N>], moves: &mut Vec<Move>) {
        assert_eq!(N, self.0.spec().side, "the board and the network differ in size");
        assert_eq!(self.0.spec().values, Values::Afterstates, "values of afterstates are needed");
        dispatch(Level::best(), Batch { view: self.0.view(), states, moves });
    }
}

/// The loop over many states.
struct Batch<'a, const N: usize> {
    view: View<'a>,
    states: &'a [State<N>],
    moves: &'a mut Vec<Move>,
}

impl<const N: usize> Kernel for Batch<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        for state in self.states {
            let slides = state.slides();
            let mut legal = slides.legal;
            let value = |a: Move| {
                let afterstate = slides.afterstates[a as usize];
                let value = self.view.value(isa, &afterstate.board().bytes());
                slides.rewards[a as usize] as f32 + value
            };
            let Some(mut best) = legal.next() else { continue };
            let mut best_value = value(best);
            for a in legal {
                let value = value(a);
                if value > best_value {
                    (best, best_value) = (a, value);
                }
            }
            self.moves.push(best);
        }
    }
}

/// A searching player of a network. It must not search by time, which is not deterministic.
pub struct Searching<'a> {
    /// The network.
    pub network: &'a Network,
    /// The search.
    pub search: PlayerSpec,
    /// The rules that it assumes.
    pub rules: Rules,
}

impl<const N: usize> Policy<N> for Searching<'_> {
    fn choose(&self, states: &[State<N>], moves: &mut Vec<Move>) {
        assert_eq!(N, self.network.spec().side, "the board and the network differ in size");
        let mut player = self.search.player::<N>(self.network.view(), self.rules, 1);
        moves.extend(states.iter().filter_map(|&state| player.advise(state).best()));
    }
}
