//! Expectimax written naively, and what to compare with it on.

use afterstate_game::{Afterstate, Board, Rules, State, game_rng};
use afterstate_network::{Network, NetworkSpec, Tuples};
use rand_core::Rng;

/// A network whose weights are arbitrary.
pub(crate) fn network(side: usize) -> Network {
    let tuples = if side == 4 { "0123 0145 1256" } else { "012 01" };
    let tuples = tuples.split(' ').map(|tuple| tuple.parse().expect("a tuple")).collect();
    let tuples = Tuples::new(tuples).expect("tuples");
    let spec = NetworkSpec { tuples, side, tile_values: 18, ..NetworkSpec::default() };
    let network = Network::new(spec).expect("a small network");
    for tuple in 0..network.spec().tuples.as_slice().len() {
        let mut rng = game_rng(5, tuple as u64);
        network
            .set_table(tuple, std::iter::from_fn(move || Some((rng.next_u32() >> 12) as f32 / 1e3 - 300.0)));
    }
    network
}

/// The values of the four moves at a depth: no table, nothing shared, nothing skipped.
pub(crate) fn naive<const N: usize>(
    network: &Network,
    rules: &Rules,
    state: State<N>,
    plies: u32,
) -> [Option<f32>; 4] {
    afterstate_game::Move::ALL.map(|a| {
        let slide = state.slide(a)?;
        Some(slide.reward as f32 + naive_afterstate(network, rules, slide.afterstate, plies - 1))
    })
}

fn naive_afterstate<const N: usize>(network: &Network, rules: &Rules, s: Afterstate<N>, layers: u32) -> f32 {
    if layers == 0 {
        return network.value(s);
    }
    let (mut twos, mut fours) = (0.0, 0.0);
    for (i, (state, _)) in s.spawns(rules).enumerate() {
        let best = naive(network, rules, state, layers).into_iter().flatten().reduce(f32::max);
        *if i % 2 == 0 { &mut twos } else { &mut fours } += f64::from(best.unwrap_or(0.0));
    }
    ((twos * (1.0 - rules.four) + fours * rules.four) / f64::from(s.board().empty_count())) as f32
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
