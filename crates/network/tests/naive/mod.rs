//! The value of a board by Eq. 3 of jaskowski-2016, written out naively, and what to compare it on.

use afterstate_game::{Afterstate, Board, Rules, Symmetry, game_rng};
use afterstate_network::{Level, Network, NetworkSpec};

/// A weight that is a small whole number, different for neighbours, so that sums are exact.
pub(crate) fn weight(tuple: usize, index: u64) -> f32 {
    ((index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 1000 + tuple as u64) as f32
}

fn naive_value<const N: usize>(spec: &NetworkSpec, board: Board<N>) -> f32 {
    let c = spec.tile_values as u64;
    let symmetries = if spec.symmetric { &Symmetry::ALL[..] } else { &Symmetry::ALL[..1] };
    let mut value = 0.0;
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
        for &symmetry in symmetries {
            let image = board.image(symmetry);
            let digit = |&cell: &u8| u64::from(image.exponent(cell.into())).min(c - 1);
            let index = tuple.cells().iter().rev().fold(0, |index, cell| index * c + digit(cell));
            value += weight(i, index);
        }
    }
    value
}

/// Random afterstates with many different tiles, the largest ones too.
pub(crate) fn boards<const N: usize>(count: u64) -> impl Iterator<Item = Board<N>> {
    (0..count).map(|game| {
        let mut rng = game_rng(5, game);
        let mut number = || rand_core::Rng::next_u64(&mut rng);
        let largest = 1 + number() % 15;
        let mut cells: Vec<u8> = (0..N * N).map(|_| (number() % (largest + 1)) as u8).collect();
        if game % 3 == 0 {
            cells[(number() % (N * N) as u64) as usize] = 16;
        }
        if game % 5 == 0 {
            cells.fill(0);
            cells[(number() % (N * N) as u64) as usize] = 17;
        }
        Board::from_exponents(&cells).unwrap_or(Rules::default().initial_state(&mut rng).board())
    })
}

/// Compares a network of such weights with the naive values, by every instruction set.
pub(crate) fn check<const N: usize>(spec: NetworkSpec, count: u64) {
    let network = Network::new(spec.clone()).expect("a small network");
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
        network.set_table(i, (0..spec.table_len(tuple)).map(|index| weight(i, index)));
    }
    for board in boards::<N>(count) {
        let naive = naive_value(&spec, board);
        for level in Level::available() {
            assert_eq!(network.value_at(level, Afterstate::new(board)), naive, "{level:?} {board}");
        }
    }
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
        assert!(network.table(i).eq((0..spec.table_len(tuple)).map(|index| weight(i, index))));
    }
}
