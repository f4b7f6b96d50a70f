//! Chains: the needs of a recipe are made first, in order, once, and despite interruptions.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use afterstate_lab::{
    chain::{Chain, Place, Reserved, Standing, StepStatus, Work},
    recipe::Recipe,
    run::{Directory, Observer, Run, RunError, Status},
    stats::Tally,
};

const FIRST: &str = "network.tuples = ['0123', '0145', '012']\nbudget.actions = 300_000";
/// The tuples of the first without the redundant one.
const SECOND: &str = "network = { tuples = ['0123', '0145'], from = 'runs/first' }\nbudget.actions = 200_000";
const THIRD: &str = "extends = 'quick'
network = { tuples = ['0123', '0145'], stages = '256', from = 'runs/second' }
start = { kind = 'carousel', first_stage = 1, positions = 'runs/second/positions.jsonl' }
collect = { model = 'runs/second', search = '1ply', games = 120, seed = 5, goal = 512 }
budget.actions = 100_000";

/// Recipes in a directory, and the runs beside them.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().expect("a directory"));
        for (name, text) in [("first", FIRST), ("second", SECOND), ("third", THIRD)] {
            let common = "parallel.threads = 1\nevaluation.every = 0\ncheckpoint.every_seconds = 0.02\n";
            let text = text.replace("budget", &format!("{common}budget"));
            fs::write(folder.path(&format!("{name}.toml")), text).expect("a recipe");
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn place(&self) -> Place {
        Place { runs: self.path("runs"), recipes: Some(self.0.path().into()), overrides: Vec::new() }
    }

    fn chain_of(&self, name: &str) -> Result<Chain, RunError> {
        let directory = Directory::new(self.path("runs").join(name));
        Chain::of(&self.place().recipe(name).expect("a recipe"), &directory, &self.place())
    }

    fn chain(&self) -> Chain {
        self.chain_of("third").expect("a chain")
    }

    /// The names of the steps, finished ones in brackets.
    fn steps(&self) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(self.path("runs")).expect("a run").display().to_string();
        let chain = self.chain();
        let steps = chain.steps.iter().map(|step| (name(&step.target), step.is_done));
        steps.map(|(name, is_done)| if is_done { format!("({name})") } else { name }).collect()
    }

    /// Makes everything but the last training, and then that; returns `false` if stopped.
    fn make(&self, observer: &mut Stopper<'_>, stop: &AtomicBool) -> bool {
        let chain = self.chain();
        let costs = chain.costs(true).expect("costs");
        let reserved = Reserved::new(&chain, true).expect("a directory").expect("a step");
        if !chain.make(&costs, &reserved, stop, observer).expect("steps") {
            let standing = Standing::read(&Directory::new(self.path("runs/third"))).expect("a note");
            assert_eq!(standing.steps.len(), 4);
            assert!((1..=3).contains(&standing.number), "{standing:?}");
            return false;
        }
        reserved.release().expect("a free directory");
        assert_eq!(Standing::read(&Directory::new(self.path("runs/third"))), None);
        let last = chain.steps.last().expect("a step");
        let run = Run::resume(Directory::new(&last.target), last.recipe().clone()).expect("a run");
        run.train(stop, observer).expect("an outcome").finished
    }

    fn model(&self) -> Vec<u8> {
        fs::read(self.path("runs/third/model.safetensors")).expect("a model")
    }
}

/// Records which steps begin, and stops after this many reports.
struct Stopper<'a> {
    begun: Vec<String>,
    reports: u32,
    after: u32,
    stop: &'a AtomicBool,
}

impl<'a> Stopper<'a> {
    fn new(after: u32, stop: &'a AtomicBool) -> Self {
        Stopper { begun: Vec::new(), reports: 0, after, stop }
    }

    fn report(&mut self) {
        self.reports += 1;
        if self.reports == self.after {
            self.stop.store(true, Relaxed);
        }
    }
}

impl Observer for Stopper<'_> {
    fn begins(&mut self, step: &StepStatus) {
        assert!(step.count == 4 && step.number <= 3, "{step:?}");
        self.begun.push(step.name.rsplit('/').next().unwrap_or_default().to_owned());
    }

    fn training(&mut self, _: &Status) {
        self.report();
    }

    fn saving(&mut self) {
        self.report();
    }

    fn collecting(&mut self, _: &Tally, games: u64) {
        assert_eq!(games, 120);
        self.report();
    }
}

#[test]
fn what_a_recipe_needs_is_made_in_order_and_once() {
    let folder = Folder::new();
    assert_eq!(folder.steps(), ["first", "second", "second/positions.jsonl", "third"]);
    let stop = AtomicBool::new(false);
    let mut all = Stopper::new(u32::MAX, &stop);
    assert!(folder.make(&mut all, &stop));
    assert_eq!(all.begun, ["first", "second", "positions.jsonl"]);
    assert_eq!(folder.steps(), ["(first)", "(second)", "(second/positions.jsonl)", "(third)"]);

    // Only what is missing is made again.
    fs::remove_dir_all(folder.path("runs/third")).expect("a directory");
    assert_eq!(folder.steps(), ["(first)", "(second)", "(second/positions.jsonl)", "third"]);
    fs::remove_file(folder.path("runs/second/positions.jsonl")).expect("a file");
    fs::remove_dir_all(folder.path("runs/first")).expect("a directory");
    assert_eq!(folder.steps(), ["(second)", "second/positions.jsonl", "third"]);
    assert!(!folder.chain().is_ready());
    let chain = folder.chain();
    let reserved = Reserved::new(&chain, false).expect("a directory").expect("a step");
    let costs = chain.costs(false).expect("costs");
    assert!(chain.make(&costs, &reserved, &stop, &mut ()).expect("steps"));
    assert!(folder.chain().is_ready());
    assert!(Reserved::new(&chain, false).is_err(), "the directory is taken");
}

#[test]
fn interrupted_or_not_a_chain_comes_to_the_same() {
    let stop = AtomicBool::new(false);
    let whole = Folder::new();
    assert!(whole.make(&mut Stopper::new(u32::MAX, &stop), &stop));
    let interrupted = Folder::new();
    let mut stops = 0;
    while !interrupted.make(&mut Stopper::new(3 + 4 * stops, &stop), &stop) {
        stops += 1;
        stop.store(false, Relaxed);
    }
    assert!(stops > 1, "it was stopped {stops} times");
    let positions =
        |folder: &Folder| fs::read(folder.path("runs/second/positions.jsonl")).expect("positions");
    assert!(positions(&whole) == positions(&interrupted));
    // The models name the directories that they come from, which differ: their weights are compared.
    let weights = |folder: &Folder| {
        let bytes = folder.model();
        let header = u64::from_le_bytes(bytes[..8].try_into().expect("a length")) as usize;
        bytes[8 + header..].to_vec()
    };
    assert!(weights(&whole) == weights(&interrupted));
}

#[test]
fn what_nobody_can_make_is_refused() {
    let folder = Folder::new();
    fs::remove_file(folder.path("first.toml")).expect("a file");
    let error = folder.chain_of("third").expect_err("no recipe").to_string();
    assert!(error.contains("no recipe `first`"), "{error}");
    fs::write(folder.path("first.toml"), FIRST.replace("budget", "network.from = 'runs/third'\nbudget"))
        .expect("a recipe");
    let error = folder.chain_of("third").expect_err("a circle").to_string();
    assert!(error.contains("needs itself"), "{error}");
    // An existing model needs no recipe.
    fs::create_dir_all(folder.path("runs/second")).expect("a directory");
    fs::write(folder.path("runs/second/model.safetensors"), "weights").expect("a file");
    fs::write(folder.path("runs/second/positions.jsonl"), "").expect("a file");
    assert_eq!(folder.steps(), ["(second/positions.jsonl)", "third"]);

    for (text, reason) in [
        ("collect.model = 'm'\nbudget.actions = 1", "start.positions names the file"),
        (
            "start = { kind = 'carousel', positions = 'p' }\nnetwork.stages = '256'\ncollect.games = 5\nbudget.actions = 1",
            "names the model",
        ),
        ("collect.goal = 100\nbudget.actions = 1", "a tile from 256"),
        ("collect.search = 'far'\nbudget.actions = 1", "a search"),
    ] {
        let error = Recipe::parse("test", "test.toml", text, &[]).expect_err("a refusal").to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn the_strongest_recipe_is_a_chain_of_shipped_ones() {
    let folder = tempfile::tempdir().expect("a directory");
    let place = Place { runs: folder.path().join("runs"), recipes: None, overrides: Vec::new() };
    let recipe = place.recipe("best").expect("a recipe");
    let chain = Chain::of(&recipe, &Directory::new(place.runs.join("best")), &place).expect("a chain");
    let kinds: Vec<_> = chain.steps.iter().map(|step| matches!(step.work, Work::Train(_))).collect();
    assert_eq!((chain.steps.len(), kinds.iter().filter(|&&trains| trains).count()), (17, 14));
    let names = chain.steps.iter().filter(|step| matches!(step.work, Work::Train(_))).map(|step| step.name());
    let expected = [
        "first",
        "second",
        "32256",
        "31744",
        "30720",
        "28672",
        "24576",
        "again",
        "again-31744",
        "third",
        "third-31744",
        "third-30720",
        "third-28672",
    ];
    assert!(names.eq(expected.map(|name| format!("best-{name}")).into_iter().chain(["best".to_owned()])));
    let costs = chain.costs(false).expect("costs");
    assert_eq!(costs.memory(), 7 * 3 * (1 << 29), "V, E and A of seven stages");
    assert!(costs.disk() > 8 * 7 * (1 << 29) && costs.seconds().is_none());
}
