//! The trainer against the papers' algorithms, written naively: the same weights, bit for bit.

use crate::common::{AUTOSTEP, FIXED, TARGETS, TC, bits, settings, spec, trained};
use crate::oracle::check;
use afterstate_learning::{Budget, TrainingSettings};
use afterstate_network::{NetworkSpec, Stages};
use afterstate_search::Downgrade;

fn check_all<const N: usize>(spec: &NetworkSpec, budget: Budget) {
    for target in TARGETS {
        for step_size in [FIXED, TC] {
            check::<N>(spec, &settings(target, step_size, budget));
        }
    }
}

#[test]
fn every_target_with_every_step_size() {
    check_all::<4>(&spec(4, "0123 4567 0145", 12, true), Budget::Actions(4_001));
}

#[test]
fn small_boards() {
    check_all::<3>(&spec(3, "012 0134", 10, true), Budget::Episodes(60));
    check_all::<2>(&spec(2, "0123", 6, true), Budget::Episodes(300));
}

#[test]
fn without_symmetric_sampling() {
    check_all::<3>(&spec(3, "012 345 678 036 147 258", 11, false), Budget::Episodes(40));
}

/// Two 6-tuples that share five cells: their weights alternate in memory.
#[test]
fn tuples_that_stand_together_in_memory() {
    let (wide, small) = (spec(4, "012345 012456", 8, true), spec(3, "012345 012346", 8, true));
    for step_size in [FIXED, TC] {
        check::<4>(&wide, &settings(crate::common::td_lambda(0.5, 3), step_size, Budget::Actions(3_000)));
        check::<3>(&small, &settings(crate::common::delayed(0.5, 3), step_size, Budget::Actions(3_000)));
    }
}

/// The moves are those of downgraded boards, from a tile that these games often reach; and they differ from the usual
/// ones.
#[test]
fn learning_from_downgraded_play() {
    let staged = NetworkSpec { stages: "256".parse().expect("stages"), ..spec(4, "0123 0145", 12, true) };
    let small = spec(3, "012 0134", 10, true);
    for target in TARGETS {
        let downgraded = |budget| TrainingSettings {
            downgrade: Some(Downgrade::from_exponent(7)),
            ..settings(target, TC, budget)
        };
        check::<4>(&staged, &downgraded(Budget::Actions(6_001)));
        check::<3>(
            &small,
            &TrainingSettings {
                downgrade: Some(Downgrade::from_exponent(5)),
                ..downgraded(Budget::Episodes(60))
            },
        );
    }
    let promoted = NetworkSpec { promotion: true, ..staged.clone() };
    let settings = settings(crate::common::TD_0, FIXED, Budget::Actions(6_000));
    let downgraded = TrainingSettings { downgrade: Some(Downgrade::from_exponent(7)), ..settings.clone() };
    check::<4>(&promoted, &downgraded);
    assert!(bits(&trained(&staged, &settings)) != bits(&trained(&staged, &downgraded)));
}

/// Sixteen tile values use another code path for the indices than fewer or more.
#[test]
fn sixteen_and_more_tile_values() {
    for c in [16, 18] {
        let spec = spec(4, "0123 4567", c, true);
        check::<4>(&spec, &settings(crate::common::TD_0, TC, Budget::Actions(4_000)));
    }
}

#[test]
fn other_rules_and_seeds() {
    let mut settings = settings(crate::common::TD_0, TC, Budget::Episodes(30));
    settings.rules.four = 0.5;
    settings.rules.start_tiles = 3;
    settings.seed = 0;
    check::<4>(&spec(4, "0123 4567", 12, true), &settings);
}

#[test]
fn autostep_with_every_target() {
    let staged = NetworkSpec { stages: "256".parse().expect("stages"), ..spec(4, "0123 0145", 12, true) };
    for target in TARGETS {
        let autostep = settings(target, AUTOSTEP, Budget::Actions(4_000));
        check::<3>(&spec(3, "012 0134", 10, true), &autostep);
        check::<4>(&spec(4, "0123 4567", 16, true), &autostep);
        check::<4>(&staged, &autostep);
    }
}

/// Stages that games on 3×3 reach, with and without promotion, on top of optimistic values.
#[test]
fn stages_promotion_and_initial_values() {
    let spec = spec(3, "012 0134", 12, true);
    let stages: Stages = "256 512".parse().expect("stages");
    for promotion in [false, true] {
        for initial in [0.0, 5_000.0] {
            let spec =
                NetworkSpec { stages: stages.clone(), promotion, initial: vec![initial], ..spec.clone() };
            for step_size in [FIXED, TC] {
                check::<3>(
                    &spec,
                    &settings(crate::common::td_lambda(0.5, 3), step_size, Budget::Actions(30_000)),
                );
            }
        }
    }
}
