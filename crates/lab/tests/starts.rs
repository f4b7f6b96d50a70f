//! Where episodes begin, from the recipe to the model.

use std::{path::Path, sync::atomic::AtomicBool};

use afterstate_lab::{
    recipe::{Recipe, RecipeError},
    run::{Directory, Run, RunError},
};
use afterstate_learning::{
    StartSpec,
    start::{Carousel, Restart, StageByStage},
};
use afterstate_network::Network;

fn recipe(text: &str) -> Result<Recipe, RecipeError> {
    Recipe::parse("test", "test.toml", &format!("budget.actions = 60000\n{text}"), &[])
}

#[test]
fn recipes_say_where_episodes_begin() {
    let staged = |start: &str| format!("network = {{ stages = '2^4', from = 'model' }}\nstart = {start}");
    for (start, expected) in [
        ("{}", StartSpec::Fresh),
        (
            "{ kind = 'carousel' }",
            StartSpec::Carousel(Carousel { games_per_stage: 1, kept: 1000, first_stage: 0 }),
        ),
        (
            "{ kind = 'carousel', games_per_stage = 200, kept = 7, first_stage = 4 }",
            StartSpec::Carousel(Carousel { games_per_stage: 200, kept: 7, first_stage: 4 }),
        ),
        ("{ kind = 'restart' }", StartSpec::Restart(Restart { restarts: 10, shortest: 10 })),
        (
            "{ kind = 'restart', restarts = 3, shortest = 20 }",
            StartSpec::Restart(Restart { restarts: 3, shortest: 20 }),
        ),
        ("{ kind = 'stage', collected = 5 }", StartSpec::StageByStage(StageByStage { collected: 5 })),
    ] {
        let recipe = recipe(&staged(start)).expect("a recipe");
        assert_eq!(recipe.settings().start, expected);
        let again = Recipe::parse("test", "again.toml", &recipe.to_toml().expect("TOML"), &[]);
        assert_eq!(again.expect("what was written"), recipe);
    }
}

#[test]
fn starts_that_make_no_sense_are_refused() {
    for (text, reason) in [
        ("start.kind = 'carousel'", "two stages"),
        ("start.kind = 'stage'", "two stages"),
        ("start.kind = 'stage'\nnetwork.stages = '2048'", "give network.from"),
        ("start.kind = 'stage'\nnetwork = { stages = '2^4', promotion = true, from = 'm' }", "frozen"),
        ("start.restarts = 3", "it belongs to kind = \"restart\""),
        ("start = { kind = 'restart', kept = 3 }", "it belongs to kind = \"carousel\""),
        ("start = { kind = 'restart', restarts = 0 }", "a whole number from 1"),
        ("start = { kind = 'carousel', first_stage = 1 }\nnetwork.stages = '2048'", "give network.from"),
        (
            "start = { kind = 'carousel', first_stage = 2 }\nnetwork = { stages = '2048', from = 'm' }",
            "`start.first_stage` cannot be used here: there is no stage of",
        ),
        ("start.kind = 'carousell'", "did you mean `carousel`"),
    ] {
        let error = recipe(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

fn train(directory: &Path, text: &str) -> Result<Network, RunError> {
    let text = format!("parallel.threads = 1\nevaluation.every = 0\n{text}");
    let run = Run::start(Directory::new(directory), recipe(&text).expect("a recipe"))?;
    run.train(&AtomicBool::new(false), &mut ())?;
    Ok(Network::load(&Directory::new(directory).model())?)
}

/// One stage, then a second that learns from where the first one leads, then a third.
#[test]
fn stage_by_stage() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    let later = |stages: &str, from: &str| {
        let from = at(from).display().to_string();
        format!(
            "network = {{ tuples = ['0123', '0145'], stages = '{stages}', from = '{from}' }}\n\
             start = {{ kind = 'stage', collected = 10 }}"
        )
    };
    let first = train(&at("first"), "network.tuples = ['0123', '0145']").expect("a run");
    let second = train(&at("second"), &later("256", "first")).expect("a run");
    let third = train(&at("third"), &later("256 512", "second/model.safetensors")).expect("a run");
    for table in 0..2 {
        assert!(first.table(table).eq(second.table(table)), "the first stage is frozen");
        assert!(second.table(table).eq(third.table(table)), "the first stage is frozen");
        assert!(second.table(2 + table).eq(third.table(2 + table)), "the second stage is frozen");
        assert!(second.table(2 + table).any(|weight| weight != 0.0), "the second stage has learned");
        assert!(third.table(4 + table).any(|weight| weight != 0.0), "the third stage has learned");
    }
    // The weights of a model of other tuples, or of other stages, are not taken.
    let error = train(&at("other"), &later("512", "second")).err().expect("a refusal").to_string();
    assert!(error.contains("should hold the first stages of"), "{error}");
    let other = later("256", "first").replace("'0145'", "'4567'");
    assert!(train(&at("other tuples"), &other).is_err());
    assert!(matches!(train(&at("nothing"), &later("256", "none")), Err(RunError::File(_))));
}
