//! Resuming interrupted training, and states that do not fit.

use crate::common::{FIXED, TARGETS, TC, TD_0, backward, delayed, settings, spec, td_lambda};
use afterstate_game::game_rng;
use afterstate_learning::{
    Budget, StartSpec, Trainer, TrainerState, TrainingSettings,
    start::{Carousel, Restart, StageByStage},
};
use afterstate_network::{Network, NetworkSpec};
use rand_core::Rng;
use serde_json::{Value, json};

/// On 3×3, or where starts need stages, on 4×4.
fn network_spec(start: StartSpec) -> NetworkSpec {
    match start {
        StartSpec::Fresh => spec(3, "012 0134", 10, true),
        _ => NetworkSpec { stages: "256".parse().expect("stages"), ..spec(4, "0123 0145", 10, true) },
    }
}

const STARTS: [StartSpec; 5] = [
    StartSpec::Carousel(Carousel {
        games_per_stage: 2,
        kept: 10,
        first_stage: 0,
        last_stage: None,
        given: false,
    }),
    StartSpec::Carousel(Carousel {
        games_per_stage: 1,
        kept: 3,
        first_stage: 1,
        last_stage: Some(1),
        given: false,
    }),
    StartSpec::Restart(Restart { restarts: 3, shortest: 10 }),
    StartSpec::StageByStage(StageByStage { collected: 5, restart: Restart::NONE }),
    StartSpec::StageByStage(StageByStage { collected: 5, restart: Restart { restarts: 2, shortest: 5 } }),
];

/// V, E and A of every weight.
type Weights = Vec<(f32, f32, f32)>;

fn weights(network: &Network, trainer: &Trainer<'_>) -> Weights {
    let all = (0..network.spec().tables()).flat_map(|i| {
        let numbers = trainer.numbers();
        let number = move |i: usize, index| numbers.get(i).map_or(0.0, |n| n.get(index));
        let sums = move |index| (number(0, index), number(1, index));
        let indices = network.indices(i);
        network.table(i).zip(indices).map(move |(v, index)| (v, sums(index).0, sums(index).1))
    });
    all.collect()
}

fn set_weights(network: &Network, trainer: &Trainer<'_>, weights: &Weights) {
    let mut rest = weights.iter();
    for i in 0..network.spec().tables() {
        let table: Weights = rest.by_ref().take(network.spec().table_len(i) as usize).copied().collect();
        network.set_table(i, table.iter().map(|(v, _, _)| *v));
        for (index, (_, e, a)) in network.indices(i).zip(table) {
            for (numbers, number) in trainer.numbers().iter().zip([e, a]) {
                numbers.set(index, number);
            }
        }
    }
}

/// Trains one piece, in a new trainer on a new network; the state passes through text.
fn piece(
    before: Option<(Weights, String)>,
    settings: &TrainingSettings,
    go_on: bool,
) -> (Weights, String, bool) {
    let network = Network::new(network_spec(settings.start)).expect("a small network");
    let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
    if let Some((weights, state)) = before {
        set_weights(&network, &trainer, &weights);
        let state: TrainerState = serde_json::from_str(&state).expect("what was written");
        trainer.restore(&state).expect("a state of the same settings");
    }
    trainer.run(|_, _| go_on);
    let state = serde_json::to_string(&trainer.state()).expect("a state is plain data");
    (weights(&network, &trainer), state, trainer.is_done())
}

fn in_one_piece(settings: &TrainingSettings) -> Weights {
    piece(None, settings, true).0
}

#[test]
fn interrupted_training_gives_the_same_weights() {
    for target in TARGETS {
        for step_size in [FIXED, TC] {
            let mut before = None;
            // Between two rounds of the two games, in the middle of episodes.
            for actions in [4, 5_000, 5_004, 60_000, 90_001] {
                let (weights, state, done) =
                    piece(before, &settings(target, step_size, Budget::Actions(actions)), true);
                assert!(done);
                before = Some((weights, state));
            }
            let whole = settings(target, step_size, Budget::Actions(90_001));
            assert!(before.expect("pieces").0 == in_one_piece(&whole), "{whole:?}");
        }
    }
}

#[test]
fn stopped_training_gives_the_same_weights() {
    let mut pieces = 0;
    for target in TARGETS {
        let settings = settings(target, TC, Budget::Episodes(1_000));
        let mut before = None;
        loop {
            let (weights, state, done) = piece(before, &settings, false);
            pieces += 1;
            if done {
                assert!(weights == in_one_piece(&settings), "{settings:?}");
                break;
            }
            before = Some((weights, state));
        }
    }
    assert!(pieces > TARGETS.len(), "the stop sign was never seen");
}

#[test]
fn interrupted_training_goes_on_with_every_start() {
    for start in STARTS {
        let at =
            |actions| TrainingSettings { start, ..settings(delayed(0.5, 3), TC, Budget::Actions(actions)) };
        let (mut before, mut in_the_middle) = (None, false);
        for actions in [4, 10_000, 10_004, 20_000, 60_000, 70_000, 80_000, 90_001] {
            let (weights, state, _) = piece(before, &at(actions), true);
            in_the_middle |= state.contains(r#""fresh":false"#);
            before = Some((weights, state));
        }
        let (weights, state) = before.expect("pieces");
        let (whole, whole_state, _) = piece(None, &at(90_001), true);
        assert!(weights == whole, "{start:?}");
        let timeless = |state: &str| {
            let mut state: Value = serde_json::from_str(state).expect("what was written");
            state["progress"]["seconds"] = json!(0);
            state
        };
        assert!(timeless(&state) == timeless(&whole_state), "{start:?}");
        assert!(in_the_middle, "some episode began in the middle: {start:?}");
    }
}

#[test]
fn damaged_starts_are_refused() {
    let with = |start, actions| TrainingSettings { start, ..settings(TD_0, TC, Budget::Actions(actions)) };
    let [carousel, _, restart, by_stage, _] = STARTS;
    let mut checked = 0;
    for (start, path, value) in [
        (carousel, "/starts", json!("None")),
        (carousel, "/starts/Carousel/stage", json!(2)),
        (carousel, "/starts/Carousel/games", json!(99)),
        (carousel, "/starts/Carousel/initial_states", json!([[]])),
        (carousel, "/starts/Carousel/initial_states/1/0", json!("12/0000")),
        (carousel, "/starts/Carousel/initial_states/1/0", json!("1200/0000/0000/0000")), // not in stage 1
        (carousel, "/starts/Carousel/initial_states/1/0", json!("8121/1212/2121/1212")), // no move left
        (carousel, "/starts/Carousel/initial_states/0", json!(["1200/0000/0000/0000"])),
        (carousel, "/threads/0/actors/0/start/restarts", json!(1)),
        (restart, "/threads/0/actors/0/start/restarts", json!(4)),
        (restart, "/threads/0/actors/0/start/episode", json!([])),
        (restart, "/threads/0/actors/0/start/episode/0", json!("what")),
        (by_stage, "/starts/StageByStage/states/0", json!("1200/0000/0000/0000")),
        (by_stage, "/starts/StageByStage/states", json!(vec!["8100/0000/0000/0000"; 6])),
    ] {
        let mut bad = state(&with(start, 30_000));
        *bad.pointer_mut(path).expect(path) = value.clone();
        let refusal = restored(&bad, &with(start, 30_400)).expect_err(path);
        assert!(refusal.contains("damaged"), "{path} {value}: {refusal}");
        checked += 1;
    }
    assert_eq!(checked, 14);
    for (a, b) in [(carousel, restart), (restart, by_stage), (by_stage, carousel)] {
        assert!(restored(&state(&with(a, 30_000)), &with(b, 30_400)).is_err(), "{a:?} is not {b:?}");
    }
}

/// A state in the middle of training, as JSON.
fn state(settings: &TrainingSettings) -> Value {
    serde_json::from_str(&piece(None, settings, true).1).expect("what was written")
}

/// The trainer's response to a state, and how it continues if it accepts it.
fn restored(value: &Value, settings: &TrainingSettings) -> Result<(), String> {
    let state: TrainerState = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
    let network = Network::new(network_spec(settings.start)).expect("a small network");
    let mut trainer = Trainer::new(&network, settings.clone()).expect("a small trainer");
    trainer.restore(&state).map_err(|error| error.to_string())?;
    trainer.run(|_, _| true);
    Ok(())
}

fn at(actions: u64) -> TrainingSettings {
    settings(delayed(0.5, 3), TC, Budget::Actions(actions))
}

#[test]
fn a_state_of_another_number_of_threads_is_refused() {
    let one = state(&at(400));
    assert_eq!(restored(&one, &at(800)), Ok(()));
    let two = TrainingSettings { threads: 2, ..at(800) };
    let refusal = restored(&one, &two).expect_err("one thread is not two");
    assert!(refusal.contains("another number of threads"), "{refusal}");
}

#[test]
fn states_that_make_no_sense_are_refused() {
    let good = state(&at(400));
    let damaged = |path: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(path).expect("a field of the state") = value;
        restored(&bad, &at(800)).expect_err(path)
    };
    let game = "/threads/0/actors/0";
    damaged(&format!("{game}/board/3"), json!(1)); // outside the 3×3 board
    damaged(&format!("{game}/board/0"), json!(200));
    damaged(&format!("{game}/trace/0/0/0"), json!(99));
    damaged(&format!("{game}/trace_len"), json!(1));
    damaged(&format!("{game}/trace"), json!([]));
    damaged(&format!("{game}/rng"), json!("random"));
    damaged("/threads", json!([]));
    damaged("/next_game", json!(-1));
}

/// The state of one target does not fit another with a longer memory.
#[test]
fn a_state_of_another_target_is_refused() {
    let short = state(&settings(td_lambda(0.5, 3), TC, Budget::Actions(400)));
    for other in [TD_0, backward(0.5)] {
        let refusal = restored(&short, &settings(other, TC, Budget::Actions(800)));
        assert!(refusal.is_err(), "{other:?}");
    }
}

/// The paths of all values in a document.
fn places(value: &Value, here: String, all: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| places(field, format!("{here}/{name}"), all));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| places(item, format!("{here}/{i}"), all));
        }
        _ => {}
    }
    all.push(here);
}

/// Puts the replacements into random places of a state; whether it is rejected or accepted, nothing may panic.
fn damage(replacements: &[Value]) {
    for target in [delayed(0.5, 3), backward(0.5)] {
        let with = |actions| settings(target, TC, Budget::Actions(actions));
        let good = state(&with(400));
        let mut all = Vec::new();
        places(&good, String::new(), &mut all);
        let mut rng = game_rng(9, 0);
        let mut number = |below: usize| (rng.next_u64() >> 33) as usize % below;
        let mut refused = 0;
        for _ in 0..500 {
            let mut bad = good.clone();
            let new = replacements[number(replacements.len())].clone();
            *bad.pointer_mut(&all[number(all.len())]).expect("a place in the document") = new;
            refused += u32::from(restored(&bad, &with(600)).is_err());
        }
        assert!(refused > 100, "most damage shows: {refused}");
    }
}

#[test]
fn damaged_states_never_panic() {
    let numbers = [json!(0), json!(1), json!(-1), json!(0.5), json!(1u64 << 40)];
    let others = [json!(null), json!(true), json!(false), json!("text"), json!([])];
    damage(&[numbers, others].concat());
}

#[test]
fn absurd_counters_never_panic() {
    damage(&[json!(u64::MAX)]);
}

#[test]
fn a_state_without_games_is_refused() {
    let mut bad = state(&at(400));
    bad["threads"][0]["actors"] = json!([]);
    assert!(restored(&bad, &at(800)).is_err());
}

#[test]
fn a_state_whose_game_is_over_is_refused() {
    let mut bad = state(&at(400));
    bad["threads"][0]["actors"][0]["board"] = json!([1, 2, 1, 0, 2, 1, 2, 0, 1, 2, 1, 0, 0, 0, 0, 0]);
    assert!(restored(&bad, &at(800)).is_err());
}
