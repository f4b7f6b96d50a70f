//! The value of a board against Eq. 3 of jaskowski-2016, written naively.

use std::{collections::HashSet, sync::atomic::Ordering::Relaxed};

use crate::naive::boards;
use afterstate_game::{Afterstate, Symmetry};
use afterstate_network::{FeatureSlots, Level, Network, NetworkSpec, Tuples, ValueRanges};

fn check<const N: usize>(spec: NetworkSpec) {
    crate::naive::check::<N>(spec, 2_000);
}

fn spec(side: usize, tuples: &str, tile_values: usize) -> NetworkSpec {
    let symmetric = Tuples::named_symmetric(tuples).unwrap_or(true);
    let tuples = Tuples::named(tuples)
        .or_else(|_| Tuples::new(tuples.split(' ').map(|t| t.parse().unwrap()).collect()));
    NetworkSpec { side, tuples: tuples.unwrap(), tile_values, symmetric, ..NetworkSpec::default() }
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

/// Clustered layouts, with shared cells, in all shapes; a small c keeps the tables small.
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

/// Vertical Split Encoding: two, three and four ranges, including overlapping ones, and tuples of nine cells.
#[test]
fn value_ranges_have_tables_of_their_own() {
    let split = |spec: NetworkSpec, ranges: &str| NetworkSpec {
        ranges: Some(ValueRanges::parse(ranges, spec.tile_values).unwrap()),
        ..spec
    };
    check::<4>(split(spec(4, "2x4", 18), "1-8 9-17"));
    check::<4>(split(spec(4, "4x5", 18), "1-7 8-13 14-17"));
    check::<4>(split(spec(4, "5x4", 18), "1-9 8-17"));
    check::<4>(split(spec(4, "17x4", 16), "1-5 6-9 10-13 14-15"));
    check::<3>(split(spec(3, "012345 012346", 11), "1-4 4-7 7-10"));
    check::<3>(split(spec(3, "012345678", 6), "1-2 3-5"));
    check::<4>(spec(4, "012345678 0123456789", 4));
}

/// Long tuples split and short ones plain: the value is that of the split long tuples plus that of the plain short
/// ones.
#[test]
fn long_tuples_alone_can_be_split() {
    let (long, short) = ("01245 45689 0123", "0145 56 1256 012");
    let ranges = |text: &str| Some(ValueRanges::parse(text, 16).expect("ranges"));
    for (cells, of_split) in [(4, 5), (5, 2), (3, 6)] {
        let all = [long, short].join(" ");
        let mixed = NetworkSpec { ranges: ranges(&format!("1-8 8-15 from {cells}")), ..spec(4, &all, 16) };
        assert_eq!(mixed.tables_per_set(), 7 + of_split, "from {cells}");
        check::<4>(mixed);
    }
    let mixed = NetworkSpec { ranges: ranges("1-8 9-15 from 5"), ..spec(4, "0145 01245 56 45689", 16) };
    let split = NetworkSpec { ranges: ranges("1-8 9-15"), ..spec(4, "01245 45689", 16) };
    let networks = [mixed, split, spec(4, "0145 56", 16)].map(|spec| Network::new(spec).expect("a network"));
    let [mixed, split, plain] = &networks;
    let weight = |index: usize| (index.wrapping_mul(2_654_435_761) % 1000) as f32;
    // By tuple and range: 0145, 01245 twice, 56, 45689 twice.
    let parts = [(plain, 0), (split, 0), (split, 1), (plain, 1), (split, 2), (split, 3)];
    for (table, (part, own)) in parts.into_iter().enumerate() {
        for (network, table) in [(mixed, table), (part, own)] {
            network
                .set_table(table, (0..network.spec().table_len(table) as usize).map(|i| weight(i + 7 * own)));
        }
    }
    for board in boards::<4>(500) {
        let value = |network: &Network| network.value(Afterstate::new(board));
        assert_eq!(value(mixed), value(split) + value(plain), "{board}");
    }
}

#[test]
fn stages_have_tables_of_their_own() {
    for stages in ["2^1", "2^4", "2^4-carried", "16384", "16384 16384+8192", "32768"] {
        let stages = stages.parse().unwrap();
        check::<4>(NetworkSpec { stages, ..spec(4, "2x4", 16) });
    }
    let initial = vec![320_000.0, 160_000.0];
    check::<4>(NetworkSpec { stages: "16384".parse().unwrap(), initial, ..spec(4, "2x4", 18) });
}

#[test]
fn weights_that_are_0_stand_for_those_of_the_stage_before() {
    let spec = NetworkSpec { stages: "2^4-carried".parse().unwrap(), promotion: true, ..spec(4, "2x4", 16) };
    check::<4>(NetworkSpec { initial: vec![1000.0], ..spec.clone() });
    check::<4>(NetworkSpec { ranges: Some(ValueRanges::parse("1-8 9-15", 16).unwrap()), ..spec });
}

/// Training copies exactly what it reads from the previous stage; the values stay the same.
#[test]
fn training_promotes_what_it_reads() {
    let spec = NetworkSpec { stages: "16384".parse().unwrap(), promotion: true, ..spec(4, "2x4", 16) };
    let network = Network::new(spec).expect("a small network");
    network.set_table(0, (0..65_536).map(|index| index as f32 + 1.0));
    for level in Level::available() {
        network.set_table(2, vec![0.0; 65_536]);
        let board: Afterstate<4> = "e321/0000/0000/0000".parse().unwrap();
        let value = network.value_at(level, board);
        let before = network.table(2).filter(|&weight| weight != 0.0).count();
        let mut slots = FeatureSlots::new(&network, 1);
        let found = network.training_view().find_at(level, &board.board().bytes(), &mut slots, 0);
        let indices = slots.get(0).indices();
        let promoted: Vec<f32> = network.table(2).filter(|&weight| weight != 0.0).collect();
        assert_eq!((before, found, network.value_at(level, board)), (0, value, value), "{level:?}");
        let distinct: HashSet<i32> = indices.iter().flat_map(|p| p.0[..8].to_vec()).collect();
        assert_eq!(promoted.len(), distinct.len());
    }
}

#[test]
fn symmetric_boards_have_equal_values() {
    let spec = spec(4, "8x6", 8);
    let network = Network::new(spec.clone()).expect("a small network");
    crate::naive::fill(&network);
    for board in boards::<4>(200) {
        let value = network.value(Afterstate::new(board));
        for symmetry in Symmetry::ALL {
            assert_eq!(network.value(Afterstate::new(board.image(symmetry))), value);
        }
    }
}

/// If tables are split, those of small ranges are completely in a thread's private area: the same values, by every
/// instruction set at the same indices, and no weight of a private table is read at its shared index.
#[test]
fn private_tables_of_value_ranges_give_the_same_values() {
    for (set, ranges) in [("4x6", "1-7 8-15"), ("4x5", "1-4 5-15"), ("42-33-4-22-3", "1-5 5-15")] {
        let mut spec = spec(4, set, 16);
        spec.ranges = Some(ValueRanges::parse(ranges, 16).expect("value ranges"));
        let network = Network::new(spec).expect("a network that fits");
        crate::naive::fill(&network);
        let lookups = network.private_lookups(0).expect("a small table");
        let area = lookups.area();
        for (place, index) in network.layout().private_indices() {
            let bits = network.weights()[index].load(Relaxed);
            network.weights()[area + place].store(bits, Relaxed);
        }
        let view = network.view().with_private(&lookups);
        let mut slots = FeatureSlots::new(&network, 2);
        for board in boards::<4>(300) {
            let value = network.view().find_at(Level::Portable, &board.bytes(), &mut slots, 0);
            for level in Level::available() {
                assert_eq!(
                    view.find_at(level, &board.bytes(), &mut slots, 1),
                    value,
                    "{set} {level:?} {board}"
                );
            }
        }
        // The threads' private weights are not read anywhere else.
        for (_, index) in network.layout().private_indices() {
            network.weights()[index].store(f32::NAN.to_bits(), Relaxed);
        }
        for board in boards::<4>(300) {
            let found = view.find_at(Level::Portable, &board.bytes(), &mut slots, 1);
            assert!(found.is_finite(), "{set} {board}");
        }
    }
}

/// A thread that keeps the weights of small tiles in its private area finds the same values, by every
/// instruction set at the same indices, and reads that area for boards of small tiles.
#[test]
fn private_areas_give_the_same_values() {
    for set in ["4x5", "5x4", "4x6", "42-33-4-22-3"] {
        let spec = spec(4, set, 16);
        let network = Network::new(spec.clone()).expect("a network that fits");
        crate::naive::fill(&network);
        let lookups = network.private_lookups(0).expect("c is 16");
        let area = lookups.area();
        for (place, index) in network.layout().private_indices() {
            let bits = network.weights()[index].load(Relaxed);
            network.weights()[area + place].store(bits, Relaxed);
        }
        let view = network.view().with_private(&lookups);
        let mut slots = FeatureSlots::new(&network, 3);
        for board in boards::<4>(500) {
            let value = network.view().find_at(Level::Portable, &board.bytes(), &mut slots, 0);
            view.find_at(Level::Portable, &board.bytes(), &mut slots, 1);
            for level in Level::available() {
                let found = view.find_at(level, &board.bytes(), &mut slots, 2);
                let [private, indices] = [1, 2].map(|slot| slots.get(slot).indices());
                assert_eq!((indices, found), (private, value), "{set} {level:?} {board}");
            }
            if board.max_exponent() < 8 {
                let [shared, private] = [0, 1].map(|slot| slots.get(slot).indices());
                assert!(shared.iter().zip(private).all(|(a, b)| a != b), "{set} {board}");
            }
        }
    }
}
