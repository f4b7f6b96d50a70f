//! Where episodes begin, from the recipe to the model.

use std::{path::Path, sync::atomic::AtomicBool};

use afterstate_lab::{
    recipe::{Recipe, RecipeError, Start},
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
            StartSpec::Carousel(Carousel {
                games_per_stage: 1,
                kept: 1000,
                first_stage: 0,
                last_stage: None,
                given: false,
            }),
        ),
        (
            "{ kind = 'carousel', games_per_stage = 200, kept = 7, first_stage = 4, last_stage = 9, positions = 'file' }",
            StartSpec::Carousel(Carousel {
                games_per_stage: 200,
                kept: 7,
                first_stage: 4,
                last_stage: Some(9),
                given: true,
            }),
        ),
        ("{ kind = 'restart' }", StartSpec::Restart(Restart { restarts: 10, shortest: 10 })),
        (
            "{ kind = 'restart', restarts = 3, shortest = 20 }",
            StartSpec::Restart(Restart { restarts: 3, shortest: 20 }),
        ),
        (
            "{ kind = 'stage', collected = 5 }",
            StartSpec::StageByStage(StageByStage {
                collected: 5,
                restart: Restart { restarts: 0, shortest: 0 },
            }),
        ),
        (
            "{ kind = 'stage', collected = 5, restarts = 3 }",
            StartSpec::StageByStage(StageByStage {
                collected: 5,
                restart: Restart { restarts: 3, shortest: 10 },
            }),
        ),
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
        ("start = { kind = 'restart', positions = 'file' }", "it belongs to kind = \"carousel\""),
        ("start = { kind = 'restart', restarts = 0 }", "a whole number from 1"),
        ("start = { kind = 'carousel', first_stage = 1 }\nnetwork.stages = '2048'", "give network.from"),
        (
            "start = { kind = 'carousel', first_stage = 2 }\nnetwork = { stages = '2048', from = 'm' }",
            "`start.first_stage` cannot be used here: the stage in",
        ),
        (
            "start = { kind = 'carousel', last_stage = 2 }\nnetwork.stages = '2048'",
            "`start.last_stage` cannot be used here: the stage in",
        ),
        (
            "start = { kind = 'carousel', last_stage = 0 }\nnetwork = { stages = '2048', values = 'states' }",
            "needs values of afterstates",
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

/// One stage, then a second that continues from where the first one leads, then a third.
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
    // A stage with a factor begins with the first one's weights for halved tiles, whatever the model has for it.
    let halved = later("256 512", "second").replace("from =", "halved = [0, 0.5, 0.0], from =");
    let fourth = train(&at("fourth"), &halved).expect("a run");
    let weights: Vec<f32> = first.table(0).collect();
    let halved = |index: usize| {
        let cell = |place: u32| index >> (4 * place) & 15;
        (0..4).map(|place| (cell(place) - usize::from(cell(place) >= 8)) << (4 * place)).sum::<usize>()
    };
    assert!(fourth.table(2).enumerate().all(|(index, weight)| weight == weights[halved(index)] / 2.0));
    assert!(fourth.table(2).any(|weight| weight != 0.0));
    // The weights of a model with other tuples, or other stages, are not accepted.
    let error = train(&at("other"), &later("512", "second")).err().expect("a refusal").to_string();
    assert!(error.contains("should hold the first stages of"), "{error}");
    let other = later("256", "first").replace("'0145'", "'4567'");
    assert!(train(&at("other tuples"), &other).is_err());
    assert!(matches!(train(&at("nothing"), &later("256", "none")), Err(RunError::File(_))));
}

/// A carousel that begins with the positions of a file, which a resumed run no longer needs; files that cannot be used.
#[test]
fn positions_from_a_file() {
    let folder = tempfile::tempdir().expect("a directory");
    let at = |name: &str| folder.path().join(name);
    train(&at("first"), "network.tuples = ['0123', '0145']").expect("a run");
    let (file, from) = (at("positions.jsonl"), at("first").display().to_string());
    let text = format!(
        "parallel.threads = 1\nevaluation.every = 0\n\
         network = {{ tuples = ['0123', '0145'], stages = '256 512', from = '{from}' }}\n\
         start = {{ kind = 'carousel', first_stage = 1, positions = '{}' }}",
        file.display()
    );
    let line = |board: &str| format!("{{\"step\":256,\"board\":\"{board}\",\"game\":0,\"score\":0}}\n");
    let run = |name: &str| Run::start(Directory::new(at(name)), recipe(&text).expect("a recipe"));
    for (content, reason) in [
        (String::new(), "no position in it"),
        (line("1121/2000/0000/0000"), "none is of stage 1"),
        (line("9121/2000/0000/0000"), "none is of stage 1"),
        (line("8121/2000/0000"), "`8121/2000/0000` is no position"),
        (line("8121/1212/2121/1212"), "the game is over"),
        ("{}\n".to_owned(), "line 1 is damaged"),
    ] {
        std::fs::write(&file, content).expect("a file");
        let error = run("refused").err().expect(reason).to_string();
        assert!(error.contains(reason) && error.contains("positions.jsonl"), "{error}");
    }
    std::fs::write(&file, line("8121/2000/0000/0000") + &line("1121/2000/0000/0000")).expect("a file");
    let stop = AtomicBool::new(true);
    let first = run("late").expect("a run");
    assert!(!first.train(&stop, &mut ()).expect("a checkpoint").finished);
    std::fs::remove_file(&file).expect("the file");
    let resumed = Run::resume(Directory::new(at("late")), recipe(&text).expect("a recipe")).expect("a run");
    stop.store(false, std::sync::atomic::Ordering::Relaxed);
    let outcome = resumed.train(&stop, &mut ()).expect("a run");
    assert!(outcome.finished && outcome.progress.episodes > 10);
}

/// The sixteen stages of jaskowski-2016 are counted like in its author's program, in every table that has them: the
/// second of two equal tiles must not be ignored when stages follow one another.
#[test]
fn the_papers_stages_are_carried() {
    let mut carousels = 0;
    for shipped in afterstate_lab::recipe::shipped() {
        let recipe = shipped.recipe(&[]).expect("a shipped recipe");
        let stages = recipe.network.stages.as_str();
        assert!(!stages.starts_with("2^") || stages.ends_with("-carried"), "{}: {stages}", shipped.name);
        carousels += u32::from(stages == "2^4-carried" && matches!(recipe.start, Start::Carousel { .. }));
    }
    assert!(carousels >= 4, "tables IV and VII have four rows with a carousel: {carousels}");
}
