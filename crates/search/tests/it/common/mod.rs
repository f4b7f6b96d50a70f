//! Networks and boards to search on.

use afterstate_game::{Board, State, game_rng};
use afterstate_network::{Network, NetworkSpec, Tuples};
use rand_core::Rng;

/// A network whose weights are arbitrary.
pub(crate) fn network(side: usize) -> Network {
    network_of(side, |_, noise| noise)
}

/// A network with a weight for each index in a table, made of arbitrary numbers.
pub(crate) fn network_of(side: usize, weight: fn(usize, f32) -> f32) -> Network {
    let tuples = if side == 4 { "0123 0145 1256" } else { "012 01" };
    let tuples = tuples.split(' ').map(|tuple| tuple.parse().expect("a tuple")).collect();
    let tuples = Tuples::new(tuples).expect("tuples");
    let spec = NetworkSpec { tuples, side, tile_values: 18, ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    for tuple in 0..network.spec().tuples.as_slice().len() {
        let mut rng = game_rng(5, tuple as u64);
        let mut noise = move || (rng.next_u32() >> 12) as f32 / 1e3 - 300.0;
        network.set_table(tuple, (0..).map(move |index| weight(index, noise())));
    }
    network
}

/// Boards of all kinds: full and nearly empty ones, with small tiles, equal tiles, and the largest there are.
pub(crate) fn states<const N: usize>(count: u64) -> Vec<State<N>> {
    let state = |number| {
        let mut rng = game_rng(9, number);
        let mut below = |n: u32| ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32;
        let (kinds, fill) = (1 + below(11), 2 + below(7));
        let mut exponents: Vec<u8> =
            (0..N * N).map(|_| if below(8) < fill { 1 + below(kinds) as u8 } else { 0 }).collect();
        if N == 4 && below(3) == 0 {
            let large = below(16) as usize;
            exponents[large] = 15 + below(3) as u8;
        }
        exponents[0] |= 1;
        State::new(Board::from_exponents(&exponents).expect("a board within the limits"))
    };
    (0..count).map(state).collect()
}
