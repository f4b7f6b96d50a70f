//! The best line: how the game continues if typical tiles appear.

use afterstate_game::{Afterstate, Move, Rules, State};
use afterstate_network::View;

use crate::{Advice, Downgrade, Limit, Player, PlayerSpec};

/// A move of the line, and the state after a typical tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineMove<const N: usize> {
    /// The best move.
    pub best: Move,
    /// The state after a typical tile: the one whose value, by greedy play, is nearest to the mean over all tiles.
    pub next: State<N>,
}

/// The best line from a state. The first move is the advised one; each further move is found by a search one ply
/// shallower than the one before it.
pub fn best_line<const N: usize>(
    view: View<'_>,
    rules: Rules,
    downgrade: Option<Downgrade>,
    mut state: State<N>,
    advice: &Advice,
) -> Vec<LineMove<N>> {
    let player =
        |plies| PlayerSpec { downgrade, ..PlayerSpec::new(Limit::Plies(plies)) }.player(view, rules, 1);
    let mut greedy = player(1);
    let mut line = Vec::new();
    for plies in (1..=advice.plies).rev() {
        let best = if line.is_empty() { advice.best() } else { player(plies).advise(state).best() };
        let Some((best, slide)) = best.and_then(|best| Some((best, state.slide(best)?))) else { break };
        state = typical(&mut *greedy, &rules, slide.afterstate);
        line.push(LineMove { best, next: state });
    }
    line
}

/// The state after a typical tile.
fn typical<const N: usize>(greedy: &mut dyn Player<N>, rules: &Rules, afterstate: Afterstate<N>) -> State<N> {
    let value =
        |(state, probability): (State<N>, f64)| (state, probability, f64::from(greedy.advise(state).value()));
    let spawns: Vec<_> = afterstate.spawns(rules).map(value).collect();
    let mean: f64 = spawns.iter().map(|(_, probability, value)| probability * value).sum();
    // Impossible tiles are not typical; on ties, the first one.
    let possible = spawns.iter().filter(|(_, probability, _)| *probability > 0.0);
    let nearest = possible.min_by(|a, b| (a.2 - mean).abs().total_cmp(&(b.2 - mean).abs()));
    nearest.map_or(State::new(afterstate.board()), |spawn| spawn.0)
}
