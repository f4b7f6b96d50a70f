//! The value of a board against Eq. 3 of jaskowski-2016, written out naively.

use afterstate_game::{Afterstate, Board, Rules, Symmetry, game_rng};
use afterstate_network::{Level, Network, NetworkSpec, Tuples};

/// A weight that is a small whole number, different for neighbours, so that sums are exact.
fn weight(tuple: usize, index: u64) -> f32 {
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
fn boards<const N: usize>(count: u64) -> impl Iterator<Item = Board<N>> {
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

fn check<const N: usize>(spec: NetworkSpec) {
    let network = Network::new(spec.clone()).expect("a small network");
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
        network.set_table(i, (0..spec.table_len(tuple)).map(|index| weight(i, index)));
    }
    for board in boards::<N>(2_000) {
        let naive = naive_value(&spec, board);
        for level in Level::available() {
            assert_eq!(network.value_at(level, Afterstate::new(board)), naive, "{level:?} {board}");
        }
    }
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate().take(1) {
        assert!(network.table(i).eq((0..spec.table_len(tuple)).map(|index| weight(i, index))));
    }
}

fn spec(side: usize, tuples: &str, tile_values: usize) -> NetworkSpec {
    let symmetric = Tuples::named_symmetric(tuples).unwrap_or(true);
    let tuples = Tuples::named(tuples)
        .or_else(|_| Tuples::new(tuples.split(' ').map(|t| t.parse().unwrap()).collect()));
    NetworkSpec { side, tuples: tuples.unwrap(), tile_values, symmetric }
}

#[test]
fn values_are_the_sums_of_equation_3() {
    for set in ["17x4", "2x4", "5x4", "4x5"] {
        for c in [16, 17, 18] {
            check::<4>(spec(4, set, c));
        }
    }
    check::<4>(spec(4, "0123 4567 012 456", 16));
}

/// Clustered layouts, with shared cells, in all their shapes; a small c keeps the tables small.
#[test]
fn clustered_layouts_give_the_same_values() {
    for set in ["4x6", "5x6", "8x6", "42-33-4-22-3", "2x7", "421-43", "1x8", "2x8"] {
        let c = if set.ends_with('8') { 5 } else { 7 };
        check::<4>(spec(4, set, c));
    }
    check::<4>(spec(4, "4x6", 16));
}

#[test]
fn smaller_boards_use_the_same_code() {
    check::<3>(spec(3, "012 345 0134", 11));
    check::<3>(spec(3, "012345 012346", 11));
    check::<2>(spec(2, "01 0123", 18));
}

#[test]
fn symmetric_boards_have_equal_values() {
    let spec = spec(4, "8x6", 8);
    let network = Network::new(spec.clone()).expect("a small network");
    for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
        network.set_table(i, (0..spec.table_len(tuple)).map(|index| weight(i, index)));
    }
    for board in boards::<4>(200) {
        let value = network.value(Afterstate::new(board));
        for symmetry in Symmetry::ALL {
            assert_eq!(network.value(Afterstate::new(board.image(symmetry))), value);
        }
    }
}
