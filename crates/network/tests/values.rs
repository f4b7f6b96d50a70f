//! The value of a board against Eq. 3 of jaskowski-2016, written out naively.

mod naive;

use std::sync::atomic::Ordering::Relaxed;

use afterstate_game::{Afterstate, Symmetry};
use afterstate_network::{Level, Network, NetworkSpec, Tuples};
use naive::{boards, weight};

fn check<const N: usize>(spec: NetworkSpec) {
    naive::check::<N>(spec, 2_000);
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

/// A thread that keeps the weights of small tiles in its own area finds the same values, by every
/// instruction set at the same positions, and the area is what it reads for boards of small tiles.
#[test]
fn private_areas_give_the_same_values() {
    for set in ["4x5", "5x4", "4x6", "42-33-4-22-3"] {
        let spec = spec(4, set, 16);
        let network = Network::new(spec.clone()).expect("a network that fits");
        for (i, tuple) in spec.tuples.as_slice().iter().enumerate() {
            network.set_table(i, (0..spec.table_len(tuple)).map(|index| weight(i, index)));
        }
        let (area, lookups) = network.private_lookups(0).expect("c is 16");
        for (place, position) in network.layout().private_positions() {
            let bits = network.weights()[position].load(Relaxed);
            network.weights()[area as usize + place].store(bits, Relaxed);
        }
        let view = network.view().with_lookups(&lookups);
        for board in boards::<4>(500) {
            let (shared, value) = network.view().positions_at(Level::Portable, &board.bytes());
            let (private, _) = view.positions_at(Level::Portable, &board.bytes());
            for level in Level::available() {
                let found = view.positions_at(level, &board.bytes());
                assert_eq!((&found.0, found.1), (&private, value), "{set} {level:?} {board}");
            }
            if board.max_exponent() < 8 {
                assert!(shared.iter().zip(&private).all(|(a, b)| a != b), "{set} {board}");
            }
        }
    }
}
