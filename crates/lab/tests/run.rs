//! Runs through the library: from a recipe to settings, what an observer sees, boards of every side.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use afterstate_lab::{
    evaluate::{Games, evaluate},
    log::{EvalLine, JsonLines, LogLine},
    recipe::Recipe,
    run::{Directory, Observer, Run, RunError, Status},
    stats::Tally,
};
use afterstate_learning::{
    Budget, Parallel, StepSizeSpec, TargetSpec,
    target::{Backward, DelayedTdLambda, NStep, TdLambda},
};
use afterstate_network::Network;

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
        assert_eq!(outcome.evaluation.as_ref(), count.evaluations.last());
        assert_eq!(JsonLines::<LogLine>::read(&directory.log()).expect("lines"), count.lines);
        assert_eq!(JsonLines::<EvalLine>::read(&directory.evaluations()).expect("lines"), count.evaluations);
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
    let games = Games { rules: Default::default(), seed: 1, count: 50 };
    let results = evaluate(&network, games, 2, |_| true).expect("results");
    assert!(results.iter().map(|result| result.game).eq(0..50));
    assert!(results.iter().all(|result| result.moves > 0 && result.score > 0));
    let many = Games { count: 100_000_000, ..games };
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
    assert!(matches!(error, RunError::Diverged(actions) if actions < 20_000_000), "{error}");
    assert!(!directory.model().exists() && !directory.checkpoint().exists());
}
