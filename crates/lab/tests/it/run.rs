//! Runs through the library: from recipe to settings, the view of an observer, boards of every side.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, evaluate},
    log::{EvalLine, Log, LogLine},
    recipe::Recipe,
    run::{Directory, Observer, Run, RunError, Status},
    stats::Tally,
};
use afterstate_learning::{
    Budget, Parallel, StepSizeSpec, TargetSpec,
    target::{Backward, DelayedTdLambda, NStep, TdLambda},
};
use afterstate_network::{
    Network,
    file::safetensors::{self, TensorFile},
};

fn recipe(text: &str) -> Recipe {
    Recipe::parse("test", "test.toml", text, &[]).expect("a recipe")
}

#[test]
fn recipes_become_settings() {
    let target = |text: &str| recipe(&format!("budget.actions = 1\n{text}")).settings().target;
    let (lambda, horizon) = (0.5, 3);
    assert_eq!(target(""), TargetSpec::TdLambda(TdLambda { lambda: 0.0, horizon: 0 }));
    assert_eq!(target("learning.lambda = 0.5"), TargetSpec::TdLambda(TdLambda { lambda, horizon }));
    assert_eq!(
        target("learning = { lambda = 0.5, order = 'delayed' }"),
        TargetSpec::DelayedTdLambda(DelayedTdLambda { lambda, horizon })
    );
    assert_eq!(
        target("learning = { lambda = 0.5, order = 'backward' }"),
        TargetSpec::Backward(Backward { lambda })
    );
    assert_eq!(target("learning = { target = 'n-step', n = 7 }"), TargetSpec::NStep(NStep { n: 7 }));

    let settings = recipe(
        "seed = 9\ngame.four = 0.25\nlearning = { step_size = 'fixed', alpha = 0.5, schedule = [[0.5, 0.25]] }\n\
         parallel = { threads = 3, mode = 'lock-free' }\nbudget.episodes = 12",
    )
    .settings();
    assert_eq!((settings.seed, settings.rules.four, settings.threads), (9, 0.25, 3));
    assert_eq!(settings.step_size, StepSizeSpec::Fixed { alpha: 0.5 });
    assert_eq!((settings.schedule, settings.parallel), (vec![(0.5, 0.25)], Parallel::LockFree));
    assert_eq!(settings.budget, Budget::Episodes(12));
    assert_eq!(
        recipe("budget.seconds = 2").settings().step_size,
        StepSizeSpec::TemporalCoherence { beta: 1.0, reset: 0 }
    );
}

#[test]
fn the_origin_of_a_model_leaves_out_what_does_not_shape_it() {
    let text = "seed = 4\nbudget.actions = 10\nlearning.lambda = 0.5";
    let plain = recipe(text).origin().expect("TOML");
    let watched =
        format!("{text}\nevaluation.every = 5\ncheckpoint.every_seconds = 1\nlog.every_episodes = 2");
    assert_eq!(recipe(&watched).origin().expect("TOML"), plain);
    assert_ne!(recipe(&text.replace("0.5", "0.6")).origin().expect("TOML"), plain);
    assert_eq!(recipe(&plain).settings(), recipe(text).settings());
}

/// Counts what it sees, and stops the run after some games.
#[derive(Default)]
struct Count<'a> {
    reports: u64,
    lines: Vec<LogLine>,
    evaluations: Vec<EvalLine>,
    evaluating: u64,
    saves: u64,
    stop_after: Option<(u64, &'a AtomicBool)>,
}

impl Observer for Count<'_> {
    fn training(&mut self, status: &Status) {
        self.reports += 1;
        assert!((0.0..=1.0).contains(&status.share) && status.seconds_left >= 0.0, "{status:?}");
    }
    fn logged(&mut self, line: &LogLine) {
        self.lines.push(line.clone());
        if let Some((lines, stop)) = self.stop_after {
            stop.store(self.lines.len() as u64 >= lines, Relaxed);
        }
    }
    fn evaluating(&mut self, ended: &Tally, games: u64) {
        assert!(ended.games() <= games);
        self.evaluating += 1;
    }
    fn evaluated(&mut self, line: &EvalLine) {
        self.evaluations.push(line.clone());
    }
    fn saving(&mut self) {
        self.saves += 1;
    }
    fn warning(&mut self, error: &RunError) {
        panic!("{error}");
    }
}

#[test]
fn an_observer_sees_what_is_written() {
    for side in [2, 3, 4] {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Directory::new(place.path().join("run"));
        let tuples = if side == 4 { "network.tuples = '2x4'\n" } else { "" };
        let text = format!(
            "game.side = {side}\n{tuples}budget.actions = 200_000\nparallel.threads = 2\n\
             evaluation = {{ every = 60_000, games = 10 }}\nlog.every_episodes = 20"
        );
        let run = Run::start(directory.clone(), recipe(&text)).expect("a run");
        let mut count = Count::default();
        let outcome = run.train(&AtomicBool::new(false), &mut count).expect("a trained network");
        assert!(outcome.finished);
        assert_eq!((outcome.progress.actions, count.saves), (200_000, 1));
        assert_eq!(outcome.evaluations.last(), count.evaluations.last());
        assert_eq!(Log::<LogLine>::read(&directory.log()).expect("lines"), count.lines);
        assert_eq!(Log::<EvalLine>::read(&directory.evaluations()).expect("lines"), count.evaluations);
        assert!(count.evaluating > 0 && count.evaluations.len() >= 2 && count.lines.len() > 1);
        assert_eq!(Network::load(&directory.model()).expect("a model").spec().side, side);
        let again = Run::start(directory.clone(), recipe(&text)).err().expect("an error");
        assert!(matches!(again, RunError::Exists(_)), "{again}");
    }
}

#[test]
fn one_process_at_a_time_and_the_stop_sign() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path());
    let recipe = recipe(
        "network.tuples = '2x4'\nparallel.threads = 1\nbudget.actions = 1e9\nevaluation.every = 0\n\
         log.every_episodes = 30",
    );
    let run = Run::start(directory.clone(), recipe.clone()).expect("a run");
    let busy = Run::resume(directory.clone(), recipe.clone()).err().expect("an error");
    assert!(matches!(busy, RunError::Busy(_)), "{busy}");

    let stop = AtomicBool::new(false);
    let mut count = Count { stop_after: Some((3, &stop)), ..Count::default() };
    let outcome = run.train(&stop, &mut count).expect("a stopped run");
    assert!(!outcome.finished && outcome.progress.actions < 1_000_000_000);
    let run = Run::resume(directory, recipe).expect("the run again");
    assert!(run.is_resumed());
    let progress = run.train(&stop, &mut Count::default()).expect("a stopped run").progress;
    assert_eq!((progress.actions, progress.episodes), (outcome.progress.actions, outcome.progress.episodes));
}

#[test]
fn evaluation_stops_when_told_and_numbers_its_games() {
    let spec = recipe("network.tuples = '2x4'\nbudget.actions = 1").network.spec(4).expect("a network");
    let network = Network::new(spec).expect("a network");
    let games = Games { rules: Default::default(), seed: 1, dealer: &Deck::new(50) };
    let results = evaluate(&network, games, 2, |_| true).expect("results");
    assert!(results.iter().map(|result| result.game).eq(0..50));
    assert!(results.iter().all(|result| result.moves > 0 && result.score > 0));
    let many = Games { dealer: &Deck::new(100_000_000), ..games };
    assert_eq!(evaluate(&network, many, 2, |_| false), None);
}

#[test]
fn a_run_that_diverges_says_so_and_writes_no_model() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let text = "network.tuples = '42-33-4-22-3'\nnetwork.tile_values = 12\nparallel.threads = 1\n\
                budget.actions = 20_000_000\nevaluation.every = 0\n\
                learning = { step_size = 'fixed', alpha = 1.0, lambda = 0.5 }";
    let run = Run::start(directory.clone(), recipe(text)).expect("a run");
    let error = run.train(&AtomicBool::new(false), &mut ()).expect_err("an error");
    assert!(
        matches!(error, RunError::Diverged { actions, key: "learning.alpha", .. } if actions < 20_000_000),
        "{error}"
    );
    assert!(!directory.model().exists() && !directory.checkpoint().exists());
}

/// Learning that goes well at first, and must diverge from the middle on.
const DIVERGING: &str = "network.tuples = ['0123', '0145']\nparallel.threads = 1\nbudget.actions = 1_000_000\n\
    evaluation.every = 0\nlearning = { step_size = 'fixed', alpha = 0.1, schedule = [[0.5, 1000.0]] }";

fn train(directory: &Directory, text: &str) -> Result<bool, RunError> {
    let run = Run::start(directory.clone(), recipe(text))?;
    run.train(&AtomicBool::new(false), &mut ()).map(|outcome| outcome.finished)
}

#[test]
fn divergence_behind_a_frozen_stage_is_seen() {
    let place = tempfile::tempdir().expect("a directory");
    let first = Directory::new(place.path().join("first"));
    let whole = DIVERGING.replace("1000.0", "1.0");
    assert!(train(&first, &whole).expect("a model"));
    let from = first.path().display();
    let text = format!(
        "{DIVERGING}\nnetwork.stages = '256'\nnetwork.from = '{from}'\nstart = {{ kind = 'stage', collected = 100 }}\n\
         checkpoint.every_seconds = 1000"
    );
    let directory = Directory::new(place.path().join("run"));
    let error = train(&directory, &text).expect_err("an error");
    assert!(matches!(error, RunError::Diverged { actions, .. } if actions < 1_000_000), "{error}");
    let told = "learning.alpha = 0.1, which learning.schedule multiplies by 1000";
    assert!(error.to_string().contains(told), "{error}");
    assert!(!directory.model().exists() && !directory.has_checkpoint());
}

#[test]
fn what_diverges_after_a_checkpoint_leaves_it_as_it_was() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let error =
        train(&directory, &format!("{DIVERGING}\ncheckpoint.every_seconds = 0.01")).expect_err("an error");
    assert!(matches!(error, RunError::Diverged { .. }), "{error}");
    let actions =
        TensorFile::open(&directory.checkpoint()).expect("a checkpoint").metadata()["actions"].clone();
    assert!(actions.parse::<u64>().is_ok_and(|actions| actions < 600_000), "{actions}");
    Network::load(&directory.model()).expect("the last good model");
}

#[test]
fn evaluations_come_after_the_same_actions_every_time() {
    let points = |every: u64, checkpoint: &str| -> Vec<u64> {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Directory::new(place.path().join("run"));
        let text = format!(
            "network.tuples = '2x4'\nparallel.threads = 1\nbudget.actions = 500_000\n\
             evaluation = {{ every = {every}, games = 2 }}\ncheckpoint.every_seconds = {checkpoint}"
        );
        Run::start(directory.clone(), recipe(&text))
            .expect("a run")
            .train(&AtomicBool::new(false), &mut ())
            .expect("a model");
        let lines = Log::<EvalLine>::read(&directory.evaluations()).expect("lines");
        lines.iter().map(|line| line.actions).collect()
    };
    // The first multiple of 32,768 at or after each multiple of the interval.
    let expected = [131_072, 229_376, 327_680, 425_984, 500_000];
    for checkpoint in ["600", "0.001", "0.003", "600"] {
        assert_eq!(points(100_000, checkpoint), expected);
    }
    assert_eq!(
        points(65_536, "600"),
        [65_536, 131_072, 196_608, 262_144, 327_680, 393_216, 458_752, 500_000]
    );
}

/// Removes the directory of a run at its first log line.
struct Remover<'a>(&'a Directory, bool, Vec<String>);

impl Observer for Remover<'_> {
    fn logged(&mut self, _: &LogLine) {
        if !std::mem::replace(&mut self.1, true) {
            std::fs::remove_dir_all(self.0.path()).expect("a directory");
        }
    }

    fn warning(&mut self, error: &RunError) {
        self.2.push(error.to_string());
    }
}

#[test]
fn a_removed_directory_is_made_again_with_all_of_the_run() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let text = "network.tuples = '2x4'\nparallel.threads = 1\nbudget.actions = 300_000\n\
                evaluation = { every = 100_000, games = 2 }\nlog.every_episodes = 50";
    let mut remover = Remover(&directory, false, Vec::new());
    let run = Run::start(directory.clone(), recipe(text)).expect("a run");
    let outcome = run.train(&AtomicBool::new(false), &mut remover).expect("a model");
    assert!(outcome.finished && remover.2.iter().any(|told| told.contains("made again")), "{:?}", remover.2);
    let log = Log::<LogLine>::read(&directory.log()).expect("lines");
    assert!(log.len() > 5 && log.last().expect("a line").actions == 300_000);
    assert_eq!(Log::<EvalLine>::read(&directory.evaluations()).expect("lines").len(), 3);
    assert!(directory.recipe().exists() && directory.model().exists() && directory.checkpoint().exists());
}

#[test]
fn a_checkpoint_of_another_version_is_refused_by_its_name() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let recipe =
        recipe("network.tuples = '2x4'\nparallel.threads = 1\nbudget.actions = 1000\nevaluation.every = 0");
    let run = Run::start(directory.clone(), recipe.clone()).expect("a run");
    run.train(&AtomicBool::new(false), &mut ()).expect("a model");
    let file = TensorFile::open(&directory.checkpoint()).expect("a checkpoint");
    let mut metadata = file.metadata().clone();
    metadata.insert("afterstate".into(), "0.0.7".into());
    let tensors: Vec<_> = file.names().map(|name| file.to_tensor(name).expect("a tensor")).collect();
    safetensors::write(&directory.checkpoint(), &metadata, tensors).expect("a file");
    let error = Run::resume(directory, recipe).expect("a run").train(&AtomicBool::new(false), &mut ());
    let error = error.expect_err("an error");
    assert!(matches!(&error, RunError::Version { found, .. } if found == "0.0.7"), "{error}");
}

/// Every search plays its own games at every point, and the best network by one of them is kept.
#[test]
fn evaluations_with_several_searches_and_the_best_network() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let text = "game.side = 3\nbudget.actions = 200_000\nparallel.threads = 1\n\
                evaluation = { every = 40_000, searches = ['1ply', '2ply'], games = [30, 10] }\n\
                checkpoint.best = '2ply'";
    let run = Run::start(directory.clone(), recipe(text)).expect("a run");
    let outcome = run.train(&AtomicBool::new(false), &mut ()).expect("a trained network");
    let lines = Log::<EvalLine>::read(&directory.evaluations()).expect("lines");
    let played: Vec<_> = lines.iter().map(|line| (line.report.search.as_str(), line.report.games)).collect();
    assert!(lines.len() >= 8 && lines.len().is_multiple_of(2), "{played:?}");
    assert!(played.chunks(2).all(|pair| pair == [("1ply", 30), ("2ply", 10)]), "{played:?}");
    assert!(lines.chunks(2).all(|pair| pair[0].actions == pair[1].actions));
    assert_eq!(outcome.evaluations, lines[lines.len() - 2..]);
    let deeper = lines.iter().filter(|line| line.report.search == "2ply");
    let best = deeper.max_by(|a, b| a.report.score.mean.total_cmp(&b.report.score.mean)).expect("a best one");
    let file = TensorFile::open(&directory.best()).expect("a model");
    assert_eq!(file.metadata().get("actions").map(String::as_str), Some(&*best.actions.to_string()));
    let curve = std::fs::read_to_string(directory.curve()).expect("a curve");
    assert!(curve.contains("evaluation, 1ply, 30 games") && curve.contains("evaluation, 2ply, 10 games"));
}

/// A run that is stopped between two searches of an evaluation does the rest when resumed.
#[test]
fn an_interrupted_evaluation_is_completed() {
    struct StopAfterFirst<'a>(&'a AtomicBool);
    impl Observer for StopAfterFirst<'_> {
        fn evaluated(&mut self, _: &EvalLine) {
            self.0.store(true, Relaxed);
        }
    }
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let text = "game.side = 3\nnetwork.tuples = 'mnt4'\nbudget.actions = 2_000_000\nparallel.threads = 1\n\
                evaluation = { every = 300_000, searches = ['1ply', '2ply'], games = 5 }";
    let stop = AtomicBool::new(false);
    let run = Run::start(directory.clone(), recipe(text)).expect("a run");
    assert!(!run.train(&stop, &mut StopAfterFirst(&stop)).expect("a checkpoint").finished);
    let searches = || {
        let lines = Log::<EvalLine>::read(&directory.evaluations()).expect("lines");
        lines.into_iter().map(|line| line.report.search).collect::<Vec<_>>()
    };
    assert_eq!(searches(), ["1ply"]);
    let resumed = Run::resume(directory.clone(), recipe(text)).expect("a run");
    assert!(resumed.train(&AtomicBool::new(false), &mut ()).expect("a run").finished);
    let searches = searches();
    assert!(searches.len() >= 4 && searches.chunks(2).all(|pair| pair == ["1ply", "2ply"]), "{searches:?}");
}

/// An observer is first told the position of a resumed run.
#[test]
fn a_resumed_run_is_shown_where_it_was() {
    struct Shares<'a>(Vec<f64>, &'a AtomicBool);
    impl Observer for Shares<'_> {
        fn training(&mut self, status: &Status) {
            self.0.push(status.share);
            self.1.fetch_or(status.share >= 0.3, Relaxed);
        }
    }
    let place = tempfile::tempdir().expect("a directory");
    let directory = Directory::new(place.path().join("run"));
    let text = "game.side = 3\nnetwork.tuples = 'mnt4'\nbudget.actions = 20_000_000\nparallel.threads = 1\n\
                evaluation.every = 0";
    let stop = AtomicBool::new(false);
    let run = Run::start(directory.clone(), recipe(text)).expect("a run");
    let mut shares = Shares(Vec::new(), &stop);
    let outcome = run.train(&stop, &mut shares).expect("a checkpoint");
    assert!(!outcome.finished && shares.0[0] == 0.0, "{:?}", shares.0);
    let was = outcome.progress.actions as f64 / 20e6;
    let stop = AtomicBool::new(false);
    let mut shares = Shares(Vec::new(), &stop);
    let run = Run::resume(directory, recipe(text)).expect("a run");
    run.train(&stop, &mut shares).expect("a checkpoint");
    assert_eq!(shares.0[0], was);
}
