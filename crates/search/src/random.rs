//! Random play: the weakest baseline.

use afterstate_game::{State, game_rng};
use rand_core::Rng;

use crate::{Advice, Player, player::for_legal};

/// Plays uniformly random legal moves. The move is a function of the state, so that games are reproducible, and do not
/// depend on which thread plays them.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl<const N: usize> Player<N> for Random {
    fn advise(&mut self, state: State<N>) -> Advice {
        let bytes = u128::from_le_bytes(state.board().bytes());
        let mut rng = game_rng(bytes as u64, (bytes >> 64) as u64);
        let numbers = [(); 4].map(|()| (rng.next_u64() >> 40) as f32 / (1u32 << 24) as f32);
        let values = for_legal(state.legal_moves(), |a| numbers[a as usize]);
        Advice { values, ..Advice::default() }
    }
}
