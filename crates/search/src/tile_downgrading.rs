//! guei-2021, section IV.C.3: tile-downgrading.
//!
//! Boards with very large tiles are rare in training, and their values poor. The tiles above the largest missing one
//! are halved before the search: the moves are the same, the values those of a better-known board.
//!
//! Differences from the paper: none. Values are those of the downgraded state, as there.

use afterstate_game::{Board, State};

use crate::{Advice, Player};

/// A player that sees states downgraded.
#[derive(Clone, Debug)]
pub struct TileDowngrading<P> {
    player: P,
    threshold: u8,
}

impl<P> TileDowngrading<P> {
    /// The paper's threshold: the exponent of the 32768-tile.
    pub const THRESHOLD: u8 = 15;

    /// Downgrades states whose largest tile has at least this exponent.
    pub fn new(player: P, threshold: u8) -> Self {
        TileDowngrading { player, threshold }
    }
}

/// The exponent of a tile that can be a threshold, given by its face.
pub fn parse_threshold(tile: &str) -> Option<u8> {
    let tile = tile.parse::<u32>().ok().filter(|tile| tile.is_power_of_two())?;
    Some(tile.trailing_zeros() as u8).filter(|exponent| (2..=17).contains(exponent))
}

impl<const N: usize, P: Player<N>> Player<N> for TileDowngrading<P> {
    fn advise(&mut self, state: State<N>) -> Advice {
        self.player.advise(downgraded(state, self.threshold))
    }
}

/// The state with all tiles above the largest missing one halved, if its largest tile has at least the exponent
/// `threshold`; the state itself when no smaller tile is missing.
///
/// Different tiles stay different and equal ones equal, so the legal moves are the same.
pub fn downgraded<const N: usize>(state: State<N>, threshold: u8) -> State<N> {
    let largest = state.board().max_exponent();
    if largest < threshold {
        return state;
    }
    let is_missing = |exponent: &u8| state.board().exponents().all(|tile| tile != *exponent);
    let Some(missing) = (1..largest).rev().find(is_missing) else { return state };
    let halve = |tile: u8| if tile > missing { tile - 1 } else { tile };
    let mut exponents = [0; 16];
    exponents.iter_mut().zip(state.board().exponents()).for_each(|(to, tile)| *to = halve(tile));
    // Smaller tiles than those of a board make a board.
    Board::from_exponents(&exponents[..Board::<N>::CELLS]).map_or(state, State::new)
}
