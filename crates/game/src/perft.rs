//! Counting paths (perft): the standard test of rules and move generation.

use crate::{Afterstate, State};

/// The number of (move, spawn cell, spawn tile) paths of `depth` moves from a state.
///
/// ```
/// use afterstate_game::{State, perft};
/// let state: State<4> = "0000/0010/0100/0000".parse()?;
/// assert_eq!(perft(state, 2), 11_568);
/// # Ok::<(), afterstate_game::ParseError>(())
/// ```
pub fn perft<const N: usize>(state: State<N>, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    state.slides().iter().map(|(_, slide)| after_slide(slide.afterstate, depth)).sum()
}

fn after_slide<const N: usize>(afterstate: Afterstate<N>, depth: u32) -> u64 {
    if depth == 1 {
        return 2 * u64::from(afterstate.board().empty_count());
    }
    afterstate.spawns(&Default::default()).map(|(state, _)| perft(state, depth - 1)).sum()
}
