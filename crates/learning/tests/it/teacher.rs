//! Endgame tables as teachers: an episode ends with the table's chance, without any influence of the network's values.

use std::sync::Arc;

use afterstate_endgame::{Endgame, Precision, Solver, Table, Tables};
use afterstate_game::{Move, State};
use afterstate_learning::{
    Budget, EndgameTeacher, StartSpec, StepSizeSpec, Trainer, TrainingSettings, start::Carousel,
};
use afterstate_network::{Network, NetworkSpec};

use crate::common::{TARGETS, settings, spec};

/// Beside walls from 16384 down to 128 in a snake; only a move to the right leaves the walls where they are.
const START: &str = "edcb/789a/4321/1230";

#[test]
fn an_episode_ends_with_the_chance_of_a_table() {
    const WORTH: f32 = 1000.0;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("eight.endgame");
    let endgame = Endgame::parse(&["FFFF/FFFF/..../...."], 128).expect("an endgame");
    let solver = Solver::new(&endgame).expect("a solver");
    solver.solve_to(&path, Precision::F32, &mut |_| true).expect("a table");
    let table = Table::open(&path).expect("a table");
    let chance = table.chance("FFFF/FFFF/4321/0123".parse().expect("a position")).expect("a layer");
    let chance = chance.expect("it comes up");
    assert!(chance > 0.01 && chance < 0.9, "{chance}");

    let state: State<4> = START.parse().expect("a state");
    let after = state.slide(Move::Right).expect("legal").afterstate;
    let carousel = Carousel { games_per_stage: 1, kept: 10, first_stage: 1, last_stage: None, given: true };
    for target in TARGETS {
        let teacher =
            EndgameTeacher::new(Arc::new(Tables::new(vec![Table::open(&path).expect("a table")])), WORTH);
        let settings = TrainingSettings {
            start: StartSpec::Carousel(carousel),
            positions: vec![START.into()],
            teacher: Some(teacher),
            ..settings(target, StepSizeSpec::Fixed { alpha: 0.5 }, Budget::Episodes(200))
        };
        let stages = "16384".parse().expect("stages");
        let network =
            Network::new(NetworkSpec { stages, ..spec(4, "0123 4567", 16, true) }).expect("a network");
        let mut trainer = Trainer::new(&network, settings).expect("a trainer");
        trainer.run(|_, _| true);
        let progress = trainer.progress();
        assert_eq!((progress.episodes, progress.actions), (200, 200), "every episode is one move");
        drop(trainer);
        let value = network.value(after);
        assert!((value - chance * WORTH).abs() < 1.0, "{target:?}: {value} {chance}");
    }
}
