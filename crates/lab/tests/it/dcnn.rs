//! Networks taught by records: runs that are resumed exactly, and networks that learn.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_dcnn::{Device, Step};
use afterstate_lab::{
    dcnn::accuracy,
    log::{EvalLine, Log, LogLine},
    model::{Kind, Model},
    recipe::Recipe,
    records::GAMES_PER_SHARD,
    run::{Directory, Observer, Run, RunError, RunOutcome},
};
use afterstate_learning::TrainingProgress;

/// A recipe by some records, with other keys.
fn recipe(records: &Path, keys: &str) -> Recipe {
    let text = "
        budget.actions = 20_000
        evaluation = { every = 10_000, games = 3 }
        [dcnn]
        batch = 100
        rate = 0.003
        final_rate = 0.001
        buffer = 2000";
    let mut overrides: Vec<String> = keys.split_whitespace().map(str::to_owned).collect();
    overrides.push(format!("dcnn.records={}", records.display()));
    Recipe::parse("test", "test.toml", text, &overrides).expect("a recipe")
}

fn train(run: Run) -> Result<RunOutcome, RunError> {
    run.train(&AtomicBool::new(false), &mut ())
}

fn run(directory: &Path, recipe: Recipe) {
    assert!(train(Run::start(Directory::new(directory), recipe).unwrap()).unwrap().finished);
}

fn model(directory: &Path) -> Vec<u8> {
    fs::read(Directory::new(directory).model()).unwrap()
}

/// Stops after so many records, and takes note of warnings.
struct Watch<'a> {
    stop: &'a AtomicBool,
    stop_after: u64,
    warnings: Vec<String>,
}

impl Observer for Watch<'_> {
    fn learned(&mut self, progress: TrainingProgress, batch: &Step) {
        assert!(batch.samples > 0 && progress.actions >= batch.samples);
        self.stop.store(progress.actions >= self.stop_after, Relaxed);
    }

    fn warning(&mut self, error: &RunError) {
        self.warnings.push(error.to_string());
    }
}

/// Trains until so many records have been seen, and gives the warnings.
fn train_until(run: Run, stop_after: u64) -> (RunOutcome, Vec<String>) {
    let stop = AtomicBool::new(false);
    let mut watch = Watch { stop: &stop, stop_after, warnings: Vec::new() };
    (run.train(&stop, &mut watch).unwrap(), watch.warnings)
}

const POLICY: &str = "dcnn.layers=2 dcnn.channels=16";

#[test]
fn a_policy_learns_the_moves_of_the_records_and_resumes_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let [records, whole, halves] = ["records", "whole", "halves"].map(|name| folder.path().join(name));
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    let with =
        |keys: &str| recipe(&records, &format!("{POLICY} dcnn.augment=true log.every_actions=6000 {keys}"));
    run(&whole, with("parallel.threads=2"));

    let (directory, alone) = (Directory::new(&halves), "parallel.threads=1");
    let (outcome, _) = train_until(Run::start(directory.clone(), with(alone)).unwrap(), 7000);
    assert!(!outcome.finished && outcome.progress.actions == 7000);
    assert!(matches!(Run::start(directory.clone(), with(alone)), Err(RunError::Exists(_))));
    let other = Run::resume(directory.clone(), with("parallel.threads=1 seed=2"));
    assert!(matches!(other, Err(RunError::Changed { key, .. }) if key == "seed"));
    assert_eq!(directory.progress().unwrap().actions, 7000);
    let outcome = train(Run::resume(directory.clone(), with(alone)).unwrap()).unwrap();
    assert!(outcome.finished && outcome.evaluations[0].report.games == 3);
    assert!(directory.is_finished() && directory.curve().is_file());
    assert!(model(&whole) == model(&halves), "the model is the same, byte for byte");

    // So is what is written, but for times.
    let log = |directory: &Path| {
        let lines = Log::<LogLine>::read(&Directory::new(directory).log()).unwrap();
        lines.into_iter().map(|line| (line.actions, line.rate, line.fit)).collect::<Vec<_>>()
    };
    assert_eq!(log(&whole), log(&halves));
    assert_eq!(log(&whole).iter().map(|line| line.0).collect::<Vec<_>>(), [6000, 12_000, 18_000, 20_000]);
    let plays = |directory: &Path| {
        let lines = Log::<EvalLine>::read(&Directory::new(directory).evaluations()).unwrap();
        let play = |line: EvalLine| (line.actions, line.report.search, line.report.score.mean);
        lines.into_iter().map(play).collect::<Vec<_>>()
    };
    assert_eq!(plays(&whole), plays(&halves));
    assert_eq!(plays(&whole).iter().map(|play| play.0).collect::<Vec<_>>(), [10_000, 20_000]);
    assert!(plays(&whole).iter().all(|play| play.1 == "majority"));
}

#[test]
fn what_was_learned_is_seen_on_records_held_out() {
    let folder = tempfile::tempdir().unwrap();
    let (records, directory) = (folder.path().join("records"), folder.path().join("run"));
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    run(&directory, recipe(&records, POLICY));
    let log = Log::<LogLine>::read(&Directory::new(&directory).log()).unwrap();
    let held_out = log.last().unwrap().fit.unwrap().held_out_accuracy.unwrap();
    assert!(held_out > 0.7, "{held_out}");
    let Kind::Dcnn(net, _) = Model::open(Some(&directory)).unwrap().kind else { panic!("a DCNN") };
    let step = accuracy(net, &records, 1000, 1, Device::Cpu).unwrap();
    assert!(step.accuracy() > 0.7, "{}", step.accuracy());
}

#[test]
fn an_n_tuple_network_learns_values() {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    let values = |samples: u64| {
        recipe(&records, &format!("dcnn.network=2x4 evaluation.every=0 budget.actions={samples}"))
    };
    let error_after = |samples: u64| {
        let directory = folder.path().join(samples.to_string());
        run(&directory, values(samples));
        let fit = Log::<LogLine>::read(&Directory::new(&directory).log()).unwrap()[0].fit.unwrap();
        assert_eq!(fit.accuracy, None);
        fit.held_out_error.unwrap()
    };
    let directory = Directory::new(folder.path().join("gpu"));
    let refused = train(Run::start(directory.clone(), values(100)).unwrap().on(Device::Gpu));
    assert!(matches!(refused, Err(RunError::CpuOnly)) && !directory.path().exists());
    let (early, late) = (error_after(100), error_after(20_000));
    assert!(late < early * 0.75, "{early} {late}");
}

#[test]
fn a_run_is_of_its_records_and_settings_and_survives_damage() {
    let folder = tempfile::tempdir().unwrap();
    let [records, whole, resumed] = ["records", "whole", "resumed"].map(|name| folder.path().join(name));
    crate::downwards::record(&records, 3 * GAMES_PER_SHARD);
    let with = |samples: u64| {
        let keys = "dcnn.layers=2 dcnn.channels=8 dcnn.final_rate=0.003 evaluation.every=1000 evaluation.games=1 \
                    checkpoint.every_seconds=1e-9";
        recipe(&records, &format!("{keys} budget.actions={samples}"))
    };
    run(&whole, with(4000));
    run(&resumed, with(2000));
    let directory = Directory::new(&resumed);
    let go_on = || Run::resume(directory.clone(), with(4000));

    // The records have changed.
    let shard = records.join("games-00000020.parquet");
    let bytes = fs::read(&shard).unwrap();
    fs::copy(records.join("games-00000000.parquet"), &shard).unwrap();
    assert!(matches!(go_on(), Err(RunError::OtherRecords(_))));
    fs::write(&shard, bytes).unwrap();

    // The recipe is not that of the checkpoint.
    let text = fs::read_to_string(directory.recipe()).unwrap();
    let other = text.replace("batch = 100", "batch = 50");
    fs::write(directory.recipe(), &other).unwrap();
    let stored = Run::stored_recipe(&directory, &[]).unwrap().unwrap();
    let error = train(Run::resume(directory.clone(), stored).unwrap()).unwrap_err();
    assert!(matches!(&error, RunError::OtherRecipe { key, .. } if key == "dcnn.batch"), "{error}");
    fs::write(directory.recipe(), text).unwrap();

    // The newest checkpoint is damaged, and so is the log.
    let checkpoint = fs::read(directory.checkpoint()).unwrap();
    fs::write(directory.checkpoint(), &checkpoint[..checkpoint.len() / 2]).unwrap();
    fs::write(directory.log(), "notes").unwrap();
    let (outcome, warnings) = train_until(go_on().unwrap(), u64::MAX);
    assert!(outcome.finished);
    assert!(warnings.iter().any(|told| told.contains("checkpoint before")), "{warnings:?}");
    assert!(warnings.iter().any(|told| told.contains("log.jsonl.damaged")), "{warnings:?}");
    assert!(model(&whole) == model(&resumed), "the model is the same, byte for byte");

    // The recipe is lost, and that of the checkpoint takes its place.
    fs::remove_file(directory.recipe()).unwrap();
    let stored = Run::stored_recipe(&directory, &[]).unwrap().unwrap();
    assert_eq!(stored.lesson.as_ref().map(|lesson| lesson.shards), Some(3));
    assert!(train(Run::resume(directory.clone(), stored).unwrap()).unwrap().finished);
}

#[test]
fn learning_that_diverges_says_by_which_rate() {
    let folder = tempfile::tempdir().unwrap();
    let (records, directory) = (folder.path().join("records"), Directory::new(folder.path().join("run")));
    crate::downwards::record(&records, 2 * GAMES_PER_SHARD);
    let keys = "dcnn.layers=5 dcnn.channels=8 dcnn.rate=1e9 dcnn.final_rate=1e9 evaluation.every=0";
    let error = train(Run::start(directory.clone(), recipe(&records, keys)).unwrap()).unwrap_err();
    assert!(matches!(error, RunError::Diverged { key: "dcnn.rate", rate, .. } if rate == 1e9), "{error}");
    assert!(!directory.model().exists() && !directory.has_checkpoint());
}

#[test]
fn a_finished_run_need_not_keep_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (records, path) = (folder.path().join("records"), folder.path().join("run"));
    crate::downwards::record(&records, 2 * GAMES_PER_SHARD);
    let short =
        recipe(&records, "dcnn.network=2x4 budget.actions=300 evaluation.every=0 checkpoint.keep=false");
    run(&path, short.clone());
    let directory = Directory::new(&path);
    assert!(directory.is_finished() && !directory.has_checkpoint());
    assert!(train(Run::resume(directory, short).unwrap()).unwrap().finished);
}

#[test]
fn a_run_of_an_earlier_version_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (records, directory) = (folder.path().join("records"), Directory::new(folder.path().join("run")));
    crate::downwards::record(&records, 2 * GAMES_PER_SHARD);
    fs::create_dir(directory.path()).unwrap();
    fs::write(directory.path().join("dcnn.json"), "{}").unwrap();
    let recipe = recipe(&records, "dcnn.network=2x4");
    for refused in [Run::start(directory.clone(), recipe.clone()), Run::resume(directory.clone(), recipe)] {
        assert!(matches!(refused, Err(RunError::Former(_))));
    }
    assert!(matches!(Run::stored_recipe(&directory, &[]), Err(RunError::Former(_))));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}
