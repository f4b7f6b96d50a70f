//! When training ends, and its learning rate on the way.

use crate::common::{FIXED, TARGETS, TC, TD_0, bits, settings, spec, trained};
use afterstate_game::game_rng;
use afterstate_learning::{Budget, StepSizeSpec, Trainer, TrainingProgress, TrainingSettings};
use afterstate_network::Network;

fn progress(settings: TrainingSettings) -> (TrainingProgress, Vec<u64>) {
    let network = Network::new(spec(3, "012 0134", 10, true)).expect("a small network");
    let mut trainer = Trainer::new(&network, settings).expect("a small trainer");
    let (mut games, mut moves) = (Vec::new(), 0);
    trainer.run(|_, finished| {
        games.extend(finished.iter().map(|game| game.game));
        moves += finished.iter().map(|game| game.moves).sum::<u64>();
        true
    });
    let progress = trainer.progress();
    assert!(trainer.is_done());
    assert!(moves <= progress.actions);
    games.sort_unstable();
    (progress, games)
}

#[test]
fn a_budget_in_actions_is_exact() {
    for threads in [1, 2, 3] {
        for actions in [1, 3, 4, 5, 1_000, 32_767, 32_768, 32_769, 100_001] {
            let settings = TrainingSettings { threads, ..settings(TD_0, FIXED, Budget::Actions(actions)) };
            assert_eq!(progress(settings).0.actions, actions, "{threads} threads");
        }
    }
}

#[test]
fn a_budget_in_episodes_plays_each_game_once() {
    for threads in [1, 2, 3] {
        for episodes in [1, 3, 4, 5, 200] {
            let settings = TrainingSettings { threads, ..settings(TD_0, FIXED, Budget::Episodes(episodes)) };
            let (progress, games) = progress(settings);
            assert_eq!(progress.episodes, episodes);
            assert_eq!(games, (0..episodes).collect::<Vec<_>>(), "{threads} threads");
        }
    }
}

#[test]
fn a_budget_in_seconds_ends_soon_after() {
    let (progress, _) = progress(settings(TD_0, FIXED, Budget::Seconds(0.2)));
    assert!((0.2..5.0).contains(&progress.seconds), "{}", progress.seconds);
}

#[test]
fn a_finished_trainer_does_nothing_more() {
    for budget in [Budget::Actions(5_000), Budget::Episodes(20)] {
        for target in TARGETS {
            let network = Network::new(spec(3, "012 0134", 10, true)).expect("a small network");
            let mut trainer = Trainer::new(&network, settings(target, TC, budget)).expect("a small trainer");
            trainer.run(|_, _| true);
            let (weights, before) = (bits(&network), trainer.progress());
            trainer.run(|_, _| true);
            assert!(weights == bits(&network), "{target:?}");
            assert_eq!(
                (trainer.progress().actions, trainer.progress().episodes),
                (before.actions, before.episodes)
            );
        }
    }
}

/// The factor of the schedule is equivalent to another rate.
#[test]
fn a_schedule_multiplies_the_rate() {
    let spec = spec(4, "0123 4567", 12, true);
    let budget = Budget::Actions(50_000);
    let fixed = |alpha| settings(TD_0, StepSizeSpec::Fixed { alpha }, budget);
    let scheduled = |schedule| TrainingSettings { schedule, ..fixed(0.5) };
    let learned = |settings: &TrainingSettings| bits(&trained(&spec, settings));
    assert!(learned(&scheduled(vec![(0.0, 0.5)])) == learned(&fixed(0.25)));
    assert!(learned(&scheduled(vec![(0.0, 0.5), (0.9, 0.5)])) == learned(&fixed(0.25)));
    assert!(learned(&scheduled(vec![(0.5, 0.1)])) != learned(&fixed(0.5)));
    // Nothing is learned at rate 0: these weights come from the first half alone.
    let half = learned(&scheduled(vec![(0.5, 0.0)]));
    assert!(half.iter().any(|&bits| bits != 0) && half != learned(&fixed(0.5)));
}

#[test]
fn the_rate_in_force_is_shown() {
    let network = Network::new(spec(4, "0123 4567", 12, true)).expect("a small network");
    let schedule = vec![(0.5, 0.1), (0.75, 0.01)];
    let settings = TrainingSettings {
        schedule,
        ..settings(TD_0, StepSizeSpec::Fixed { alpha: 0.5 }, Budget::Actions(200_000))
    };
    let mut trainer = Trainer::new(&network, settings).expect("a small trainer");
    assert_eq!(trainer.rate(), 0.5);
    trainer.run(|_, _| true);
    assert_eq!(trainer.rate(), 0.5 * 0.01);
}

/// With α = 1 and a weight for every board, V(s') becomes the reward that followed it: all weights of one
/// game add up to its score minus the first reward, whatever the number of features.
#[test]
fn the_rate_is_divided_among_the_features() {
    for (tuples, symmetric) in [("0123", false), ("0123 3210", false), ("0123", true), ("0123 3210", true)] {
        let settings = settings(TD_0, StepSizeSpec::Fixed { alpha: 1.0 }, Budget::Episodes(1));
        let network = Network::new(spec(2, tuples, 8, symmetric)).expect("a small network");
        let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
        let mut score = 0;
        trainer.run(|_, finished| {
            score += finished.iter().map(|game| game.score).sum::<u64>();
            true
        });
        let state = settings.rules.initial_state::<2>(&mut game_rng(settings.seed, 0));
        let first = state.slides().rewards.into_iter().max().unwrap_or(0);
        let sum: f32 = (0..tuples.len() / 4).flat_map(|i| network.table(i)).sum();
        assert!(score > u64::from(first));
        assert_eq!(sum, (score - u64::from(first)) as f32, "{tuples}");
    }
}

/// The user may let weights diverge, but every move is still legal.
#[test]
fn training_that_diverges_keeps_to_the_rules_and_halts() {
    let settings = settings(TD_0, StepSizeSpec::Fixed { alpha: 10.0 }, Budget::Actions(200_000));
    let network = Network::new(spec(4, "0123 4567", 12, true)).expect("a small network");
    let mut trainer = Trainer::new(&network, settings).expect("a small trainer");
    trainer.run(|_, _| true);
    assert!(trainer.has_diverged() && !trainer.is_done(), "{:?}", trainer.progress());
    assert!(network.table(0).any(|weight| weight.is_nan()), "it has diverged");
}
