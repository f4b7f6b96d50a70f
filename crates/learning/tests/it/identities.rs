//! Identities: methods that are special cases of one another, instruction sets, seeds.

use crate::common::{FIXED, TARGETS, TC, TD_0, bits, delayed, n_step, settings, spec, td_lambda, trained};
use afterstate_game::Afterstate;
use afterstate_learning::{Budget, Parallel, StepSizeSpec, TargetSpec, Trainer, TrainingSettings};
use afterstate_network::{Level, Network, NetworkSpec, ValueRanges};

const BUDGET: Budget = Budget::Actions(20_000);

fn network_spec() -> NetworkSpec {
    spec(4, "0123 4567 0145", 12, true)
}

fn weights(target: TargetSpec, step_size: StepSizeSpec) -> Vec<u32> {
    bits(&trained(&network_spec(), &settings(target, step_size, BUDGET)))
}

#[test]
fn td_0_is_a_special_case_of_everything() {
    for step_size in [FIXED, TC] {
        let td_0 = weights(TD_0, step_size);
        assert!(td_0.iter().any(|&bits| bits != 0), "it has learned");
        assert!(weights(delayed(0.0, 0), step_size) == td_0, "no delay");
        assert!(weights(n_step(1), step_size) == td_0, "one step");
    }
}

/// With TC the horizon still counts: E and A of earlier afterstates learn from δ itself (Algorithm 2, line 7).
#[test]
fn without_lambda_the_horizon_matters_only_to_temporal_coherence() {
    assert!(weights(td_lambda(0.0, 3), FIXED) == weights(TD_0, FIXED));
    assert!(weights(td_lambda(0.0, 3), TC) != weights(TD_0, TC));
}

#[test]
fn without_a_horizon_lambda_is_of_no_consequence() {
    for step_size in [FIXED, TC] {
        assert!(weights(td_lambda(0.5, 0), step_size) == weights(TD_0, step_size));
    }
}

#[test]
fn different_methods_learn_different_weights() {
    for step_size in [FIXED, TC] {
        let all: Vec<_> = TARGETS.iter().map(|&target| weights(target, step_size)).collect();
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate().skip(i + 1) {
                let same = TARGETS[i] == TD_0 && TARGETS[j] == n_step(1);
                assert_eq!(a == b, same, "{:?} {:?}", TARGETS[i], TARGETS[j]);
            }
        }
    }
}

/// After two moves in each game every error has met A = 0, or sums of its own sign.
#[test]
fn the_first_step_of_temporal_coherence_has_rate_1() {
    let settings =
        settings(TD_0, StepSizeSpec::TemporalCoherence { beta: 0.5, reset: 0 }, Budget::Actions(8));
    let spec = spec(4, "0123", 12, false);
    let network = Network::new(spec).expect("a small network");
    let mut trainer = Trainer::new(&network, settings).expect("a small trainer");
    trainer.run(|_, _| true);
    let numbers = trainer.numbers();
    let [e, a] = &numbers[..] else { panic!("E and A") };
    let mut moved = 0;
    for (index, weight) in network.layout().indices(0).zip(network.table(0)) {
        let (e, a) = (e.get(index), a.get(index));
        assert_eq!(e.abs(), a, "all errors so far agree");
        // m = 1, and the rate is 1: V = β·Σδ.
        assert_eq!(weight, 0.5 * e);
        moved += u32::from(weight != 0.0);
    }
    assert!(moved > 0, "some reward was met");
}

#[test]
fn instruction_sets_learn_the_same() {
    for tile_values in [12, 16] {
        let spec = spec(4, "0123 4567 0145", tile_values, true);
        for (target, step_size) in [(td_lambda(0.5, 3), FIXED), (delayed(0.5, 3), TC), (n_step(3), TC)] {
            let learned = Level::available().into_iter().map(|level| {
                let network = Network::new(spec.clone()).expect("a small network");
                let mut trainer =
                    Trainer::new(&network, settings(target, step_size, BUDGET)).expect("a small trainer");
                trainer.set_level(level);
                trainer.run(|_, _| true);
                drop(trainer);
                (level, bits(&network))
            });
            let learned: Vec<_> = learned.collect();
            for (level, weights) in &learned {
                assert!(*weights == learned[0].1, "{level:?} {target:?}");
            }
        }
    }
}

#[test]
fn one_thread_is_a_function_of_the_seed() {
    let with = |seed, parallel| {
        let settings = TrainingSettings { seed, parallel, ..settings(TD_0, TC, BUDGET) };
        bits(&trained(&network_spec(), &settings))
    };
    let first = with(1, Parallel::LockFree);
    assert!(first == with(1, Parallel::LockFree));
    assert!(first == with(1, Parallel::PrivateHot), "the mode is of no consequence for one thread");
    assert!(first != with(2, Parallel::LockFree));
}

/// Several threads learn too, in both ways of sharing the weights, and count every move. What they have learned is
/// in the network at the end: it plays far better than at the start.
#[test]
fn threads_share_what_they_learn() {
    let (spec, budget) = (spec(4, "0123 4567 0145", 16, true), Budget::Actions(600_000));
    for parallel in [Parallel::LockFree, Parallel::PrivateHot] {
        for (target, step_size) in [(TD_0, FIXED), (TD_0, TC), (delayed(0.5, 3), TC)] {
            let settings = TrainingSettings { threads: 3, parallel, ..settings(target, step_size, budget) };
            let network = Network::new(spec.clone()).expect("a small network");
            let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
            let mut games = 0;
            trainer.run(|_, finished| {
                games += finished.len() as u64;
                true
            });
            assert_eq!((trainer.progress().actions, trainer.progress().episodes), (600_000, games));
            drop(trainer);
            let untrained = mean_score(&Network::new(spec.clone()).expect("a small network"));
            let trained = mean_score(&network);
            assert!(trained > 1.7 * untrained, "{settings:?}: from {untrained} to {trained}");
        }
    }
}

/// The mean score of some games without learning.
fn mean_score(network: &Network) -> f64 {
    let copy = Network::new(network.spec().clone()).expect("a small network");
    for i in 0..network.spec().tuples.as_slice().len() {
        copy.set_table(i, network.table(i));
    }
    let play = settings(TD_0, StepSizeSpec::Fixed { alpha: 0.0 }, Budget::Episodes(100));
    let mut scores = 0;
    Trainer::new(&copy, play).expect("a small trainer").run(|_, finished| {
        scores += finished.iter().map(|game| game.score).sum::<u64>();
        true
    });
    scores as f64 / 100.0
}

#[test]
fn symmetric_boards_keep_equal_values() {
    let network = trained(&network_spec(), &settings(TD_0, TC, BUDGET));
    let board: Afterstate<4> = "0123/0012/0001/0000".parse().expect("a board");
    let value = network.value(board);
    assert!(value != 0.0, "it has been learned about");
    for symmetry in afterstate_game::Symmetry::ALL {
        let image = network.value(board.image(symmetry));
        assert!((image - value).abs() <= 1e-4 * value.abs(), "{image}, not {value}");
    }
}

/// Trains with one step size and then, in the same games, with another.
fn trained_twice(spec: &NetworkSpec, first: StepSizeSpec, second: StepSizeSpec, each: u64) -> Network {
    let network = Network::new(spec.clone()).expect("a small network");
    let mut trainer =
        Trainer::new(&network, settings(TD_0, first, Budget::Actions(each))).expect("a trainer");
    trainer.run(|_, _| true);
    let state = trainer.state();
    drop(trainer);
    let mut trainer =
        Trainer::new(&network, settings(TD_0, second, Budget::Actions(2 * each))).expect("a trainer");
    trainer.restore(&state).expect("a state of the same games");
    trainer.run(|_, _| true);
    drop(trainer);
    network
}

/// OTD+TC is TD for a share of the budget, then TC that starts from scratch. The phases change
/// between two chunks of 2^15 moves.
#[test]
fn otd_tc_is_td_and_then_tc() {
    let spec = NetworkSpec { initial: vec![1000.0], ..spec(3, "012 0134", 10, true) };
    let each = 1 << 15;
    let both = StepSizeSpec::FixedThenCoherence { alpha: 0.25, beta: 1.0, tc_share: 0.5, reset: 0 };
    let whole = trained(&spec, &settings(TD_0, both, Budget::Actions(2 * each)));
    assert!(bits(&whole) == bits(&trained_twice(&spec, FIXED, TC, each)));
    assert!(bits(&whole) != bits(&trained(&spec, &settings(TD_0, FIXED, Budget::Actions(2 * each)))));
}

#[test]
fn a_reset_is_tc_that_starts_anew() {
    let spec = spec(3, "012 0134", 10, true);
    let reset = StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 5_000 };
    let whole = trained(&spec, &settings(TD_0, reset, Budget::Actions(10_000)));
    assert!(bits(&whole) == bits(&trained_twice(&spec, TC, TC, 5_000)));
    assert!(bits(&whole) != bits(&trained(&spec, &settings(TD_0, TC, Budget::Actions(10_000)))));
}

/// The second phase of OTD+TC with a reset in its middle is TC that restarts there; in the first phase a reset has no
/// effect.
#[test]
fn the_second_phase_of_otd_tc_can_be_reset() {
    let spec = spec(3, "012 0134", 10, true);
    let each = 1 << 15;
    let both = |reset| StepSizeSpec::FixedThenCoherence { alpha: 0.25, beta: 1.0, tc_share: 0.5, reset };
    let learned = |reset| bits(&trained(&spec, &settings(TD_0, both(reset), Budget::Actions(4 * each))));
    assert!(learned(2 * each) == learned(0), "at the end of the first phase there is nothing to reset");
    assert!(learned(3 * each) != learned(0), "in the second there is");
    let network = Network::new(spec.clone()).expect("a small network");
    let mut trainer =
        Trainer::new(&network, settings(TD_0, both(3 * each), Budget::Actions(3 * each))).expect("a trainer");
    trainer.run(|_, _| true);
    let numbers = trainer.numbers();
    let touched = |p: usize| numbers.iter().any(|numbers| numbers.get(p) != 0.0);
    assert!(!network.indices(0).any(touched), "E and A are 0 after a reset");
}

/// The weights of the first stage after training, and whether all others are still 0.
fn first_stage(spec: &NetworkSpec, step_size: StepSizeSpec) -> (Vec<u32>, bool) {
    let mut weights = bits(&trained(spec, &settings(td_lambda(0.5, 3), step_size, BUDGET)));
    let later = weights.split_off(weights.len() / spec.stages.count());
    (weights, later.iter().all(|&weight| weight == 0))
}

#[test]
fn stages_that_are_never_entered_are_of_no_consequence() {
    for step_size in [FIXED, TC] {
        let unstaged = network_spec();
        let learned = first_stage(&unstaged, step_size).0;
        assert!(learned.iter().any(|&weight| weight != 0), "it has learned");
        let one = NetworkSpec { stages: "1".parse().expect("stages"), ..unstaged.clone() };
        assert!(first_stage(&one, step_size) == (learned.clone(), true), "one stage");
        for (stages, promotion) in [("32768", false), ("32768", true), ("2^2", false), ("2^2-carried", true)]
        {
            let stages = stages.parse().expect("stages");
            let staged = NetworkSpec { stages, promotion, ..unstaged.clone() };
            assert!(first_stage(&staged, step_size) == (learned.clone(), true), "{staged:?}");
        }
        // 256 is reached in most games.
        let entered = NetworkSpec { stages: "256".parse().expect("stages"), ..unstaged };
        assert!(!first_stage(&entered, step_size).1, "stages that are entered learn");
    }
}

#[test]
fn one_value_range_is_the_plain_encoding() {
    for tile_values in [12, 16] {
        let plain = spec(4, "0123 4567 0145", tile_values, true);
        let ranges = ValueRanges::parse(&format!("1-{}", tile_values - 1), tile_values).expect("a range");
        let split = NetworkSpec { ranges: Some(ranges), ..plain.clone() };
        for step_size in [FIXED, TC] {
            assert!(first_stage(&plain, step_size) == first_stage(&split, step_size), "c = {tile_values}");
        }
    }
}

#[test]
fn an_initial_value_of_0_is_none() {
    let stages = "256".parse().expect("stages");
    let none = NetworkSpec { stages, ..network_spec() };
    let zero = NetworkSpec { initial: vec![0.0, 0.0], ..none.clone() };
    let optimistic = NetworkSpec { initial: vec![0.0, 5000.0], ..none.clone() };
    let learned = |spec| bits(&trained(spec, &settings(TD_0, TC, BUDGET)));
    assert!(learned(&none) == learned(&zero));
    assert!(learned(&none) != learned(&optimistic), "another value is not");
}

#[test]
fn an_untouched_optimistic_network_is_v_init_everywhere() {
    let stages = "16384".parse().expect("stages");
    let spec = NetworkSpec { stages, initial: vec![320_000.0, 160_000.0], ..network_spec() };
    let network = Network::new(spec.clone()).expect("a small network");
    let value =
        |network: &Network, board: &str| network.value(board.parse::<Afterstate<4>>().expect("a board"));
    for board in ["0000/0000/0000/0000", "1234/5678/9abc/d123", "0000/0110/0000/0000"] {
        assert_eq!(value(&network, board), 320_000.0);
    }
    for board in ["e000/0000/0000/0000", "0e2d/0000/fedc/ba98", "g000/0000/0000/0000"] {
        assert_eq!(value(&network, board), 160_000.0);
    }
    // Learning lowers the values that it visits.
    let network = trained(&spec, &settings(TD_0, TC, BUDGET));
    assert!(value(&network, "1000/1000/0000/0000") < 320_000.0);
    assert_eq!(value(&network, "e000/0000/0000/0000"), 160_000.0, "a stage that was never entered");
}
