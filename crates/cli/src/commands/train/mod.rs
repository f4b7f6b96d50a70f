//! `afterstate train`.

mod chain;
mod display;
mod keys;
mod list;
mod ranks;
mod sweep;

use std::{
    io::{self, Write, stderr},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use afterstate_cluster::world;
use afterstate_dcnn::Device;
use afterstate_lab::{
    chain::{Chain, Place},
    log::LogError,
    recipe::{Recipe, RecipeError},
    run::{Directory, MemoryPlan, MergeEvery, Run, RunError, RunOutcome, available_disk, check_sources},
    stats::EvalReport,
};
use afterstate_learning::TrainingProgress;
use afterstate_network::MemoryError;
use afterstate_solver::known_optimum;
use clap::Args;
use serde_json::{Value, json};

use super::{Ranks, dcnn::no_device, model::failure as file_failure, record::failure as records_failure};
use crate::{
    error::Failure,
    format::{bytes, counted, mean, percent, thousands},
    signals::stop_signal,
};
pub(super) use display::Display;

/// Train a network by a recipe
///
/// A recipe defines the game, the network, how it learns, and for how long. `--list` shows the shipped recipes;
/// docs/recipes.md explains every key. All results are in the directory of the run: recipe.toml, log.jsonl,
/// eval.jsonl, curve.svg, model.safetensors, checkpoint.
///
/// If the recipe needs other results, these are made first: the runs it starts from, by their recipes, and the
/// positions it starts at. A step whose result exists is skipped; an interrupted step continues.
///
/// Ctrl-C (or SIGTERM, or a closed terminal) saves and stops, with exit code 0; a second Ctrl-C, a second or more
/// later, stops at once, with exit code 130. `--resume` continues the run. With one thread, the same seed gives the
/// same model, bit for bit, resumed or not.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate train quick                                  a good player in about a minute\n  \
    afterstate train quick --resume                         continue after an interruption\n  \
    afterstate train reference/4x6-tc --set budget.episodes=40000 --out runs/tc\n  \
    afterstate train mini                                   the game on 3×3 in ten seconds\n  \
    afterstate train --list jaskowski-2016                  the experiments of a paper, row by row\n  \
    afterstate train --keys learning                        the keys of a recipe\n  \
    afterstate train rates.toml --all --seeds 5 --jobs 2    every row of a table, with five seeds\n  \
    afterstate train jaskowski-2016/table-2/tc-0.5 --set budget.actions=3e8\n  \
    afterstate train mine.toml --seed 7 --threads 1\n  \
    afterstate train reference/8x6-tc --dry-run             what it would do, and the memory it takes\n  \
    afterstate train best                                   the strongest player, step by step, in hours\n  \
    afterstate train best --dry-run                         its steps, with time, memory and disk")]
pub(crate) struct Train {
    /// The name of a shipped recipe, a recipe file, or the directory of a run to resume; with --list or --keys, a
    /// prefix of the names to list
    #[arg(required_unless_present_any = ["list", "keys"])]
    recipe: Option<String>,
    /// Change a key of the recipe, such as learning.lambda=0.5; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The number of threads, 0 for all cores [the recipe's]
    #[arg(long, value_name = "N", value_parser = crate::commands::parse_threads)]
    threads: Option<usize>,
    /// The seed of all games [the recipe's]
    #[arg(long, value_name = "S", value_parser = crate::commands::numbers::parse_number)]
    seed: Option<u64>,
    /// The directory of the run; it is made, with those above it [runs/NAME]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The directory of runs, which recipes call `runs`
    #[arg(long, value_name = "DIR", default_value = "runs")]
    runs: PathBuf,
    /// Continue an interrupted run, or begin it
    #[arg(long)]
    resume: bool,
    /// Save and stop when standard input is closed, so that the process that started it can stop it, or take it along by ending
    #[arg(long, hide = true)]
    until_closed: bool,
    /// How often the ranks of mpirun merge what they have learned: 5s for seconds, or a number of actions per rank
    #[arg(long, value_name = "INTERVAL", default_value = "5s")]
    merge: MergeEvery,
    /// Where a network that records teach learns: cpu, or gpu in a program built with GPU support
    #[arg(long, default_value_t)]
    device: Device,
    /// Show the whole recipe, the number of weights, the memory and the steps, and stop
    #[arg(long)]
    dry_run: bool,
    /// List the recipes that come with the program, by the papers' tables, with the papers' average scores
    #[arg(long, conflicts_with_all = ["set", "threads", "seed", "out", "resume", "device", "dry_run", "all", "seeds", "jobs"])]
    list: bool,
    /// List the keys of recipes, with their defaults
    #[arg(long, conflicts_with_all = ["list", "set", "threads", "seed", "out", "resume", "device", "dry_run", "all", "seeds", "jobs"])]
    keys: bool,
    /// Train every row of a table of recipes; after an interruption the same command continues
    #[arg(long)]
    all: bool,
    /// Train with this many seeds, starting at the recipe's, in directories seed-1, seed-2 …
    #[arg(long, value_name = "N", value_parser = crate::commands::numbers::parse_count)]
    seeds: Option<u64>,
    /// The number of trainings at a time, which share the cores
    #[arg(long, value_name = "N", value_parser = crate::commands::numbers::parse_count)]
    jobs: Option<u64>,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Train {
    /// How the ranks of `mpirun` share it.
    pub(crate) fn ranks(&self) -> Ranks {
        if self.list || self.keys || self.dry_run {
            return Ranks::First;
        }
        if self.all || self.seeds.is_some() {
            return Ranks::None(
                "the ranks of mpirun train one network, and `--all` and `--seeds` train several",
                "start it without mpirun; `afterstate reproduce` shares the trainings of a table",
            );
        }
        Ranks::All
    }

    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let begin = self.recipe.as_deref().unwrap_or_default();
        let name = match &self.recipe {
            _ if self.keys => return keys::list(begin, self.json, out),
            Some(name) if !self.list => name,
            _ => return list::list(begin, self.json, out),
        };
        if self.all || self.seeds.is_some() {
            return self.sweep(name, out);
        }
        if self.jobs.is_some() {
            let message = "`--jobs` is for several trainings, and this is one";
            return Err(Failure::input(
                message,
                "`--all` trains the rows of a table, `--seeds N` with N seeds",
            ));
        }
        let place = self.place(name);
        let (directory, recipe) = self.resolve(name, &place).map_err(failure)?;
        let plan = MemoryPlan::of(&recipe).map_err(|error| failure(error.into()))?;
        let chain = Chain::of(&recipe, &directory, &place).map_err(failure)?;
        if self.dry_run {
            if chain.needs().is_empty() {
                check_sources(&recipe).map_err(failure)?;
            }
            return dry_run(&directory, &recipe, &plan, &chain, self.json, out);
        }
        let stop = stop_signal()?;
        if self.until_closed {
            stop_when_closed(stop.clone());
        }
        let merging = world().map(|world| ranks::merging(world, self.merge));
        // All ranks check what exists before one of them adds to it.
        world().inspect(|world| world.barrier());
        if let Some(merging) = merging.filter(|merging| !merging.is_first()) {
            return chain::follow(&chain, directory, recipe, merging, &stop).map_err(failure);
        }
        let mut display = Display::new();
        let is_made = chain::make(&chain, self.resume, merging, &stop, &mut display).map_err(failure)?;
        if !is_made {
            display.finish();
            return self.stopped(name, &directory, out);
        }
        let goes_on = self.resume || !chain.is_ready();
        let run = if goes_on { Run::resume(directory, recipe) } else { Run::start(directory, recipe) };
        let run = run.map_err(failure)?.on(self.device);
        let run = match merging {
            Some(merging) => run.with_replicas(merging),
            None => run,
        };
        carry_out(run, &stop, display, self.json, out)
    }

    /// The overrides of the recipe, except its seed.
    fn overrides(&self, place: &Place) -> Vec<String> {
        [self.set.clone(), place.overrides.clone()].concat()
    }

    /// The locations of the recipes that it needs, and of their runs.
    fn place(&self, name: &str) -> Place {
        let path = Path::new(name);
        // Recipes that a recipe file needs are in its directory, those of a run in the current directory.
        let beside =
            path.is_file().then(|| path.parent()).flatten().or(path.is_dir().then_some(Path::new("")));
        Place {
            runs: self.runs.clone(),
            recipes: beside.map(Path::to_owned),
            overrides: self
                .threads
                .map(|threads| format!("parallel.threads={threads}"))
                .into_iter()
                .collect(),
        }
    }

    /// Reports that a chain was stopped before its last step.
    fn stopped(&self, name: &str, directory: &Directory, out: &mut dyn Write) -> Result<(), Failure> {
        if self.json {
            return Ok(writeln!(out, "{}", json!({ "run": directory.path(), "finished": false }))?);
        }
        writeln!(out, "stopped and saved")?;
        Ok(writeln!(out, "next: {}", self.resume_command(name))?)
    }

    /// The command that resumes it.
    fn resume_command(&self, name: &str) -> String {
        let place = self.out.as_ref().map(|path| format!(" --out {}", path.display())).unwrap_or_default();
        format!("afterstate train {name}{place} --resume")
    }

    /// The directory of the run, and the recipe: for a run resumed by its directory, the one stored there.
    fn resolve(&self, name: &str, place: &Place) -> Result<(Directory, Recipe), RunError> {
        let mut overrides = self.overrides(place);
        overrides.extend(self.seed.map(|seed| format!("seed={seed}")));
        let named_run = Directory::new(name);
        if self.resume
            && self.out.is_none()
            && let Some(recipe) = Run::stored_recipe(&named_run, &overrides)?
        {
            return Ok((named_run, recipe));
        }
        let recipe = place.settle(Recipe::load(name, &overrides)?);
        let directory = match &self.out {
            Some(path) => Directory::new(path),
            None => Directory::default_for(&recipe, &place.runs)?,
        };
        Ok((directory, recipe))
    }
}

/// Trains, shows the progress, and reports the result.
pub(super) fn carry_out(
    run: Run,
    stop: &AtomicBool,
    mut display: Display,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let (directory, recipe) = (run.directory().clone(), run.recipe().clone());
    let plan = MemoryPlan::of(&recipe).map_err(|error| failure(error.into()))?;
    let _ = writeln!(stderr(), "{}", headline(&run, &plan));
    let outcome = run.train(stop, &mut display);
    display.finish();
    let outcome = outcome.map_err(failure)?;
    if json {
        return Ok(writeln!(out, "{}", as_json(&directory, &plan, &outcome))?);
    }
    summary(&directory, &recipe, &outcome, out)
}

/// The result of a run, and what to do next.
fn summary(
    directory: &Directory,
    recipe: &Recipe,
    outcome: &RunOutcome,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let path = directory.path().display();
    let progress = outcome.progress;
    let what = match (&recipe.lesson, outcome.finished) {
        (_, false) => "stopped and saved",
        (None, true) => "trained",
        (Some(_), true) => "taught",
    };
    writeln!(out, "{what}: {}, {:.1} s", learned_from(recipe, progress), progress.seconds)?;
    for line in &outcome.evaluations {
        let search = &line.report.search;
        let how = if search == "1ply" { "greedy play" } else { search };
        let (games, mean) = (counted(line.report.games, "game"), mean(&line.report.score));
        writeln!(out, "{how}, {games}: mean {mean}, {}", tiles(&line.report.tiles))?;
        if let Some(optimum) = known_optimum(recipe.game.side, &recipe.game.rules()) {
            writeln!(out, "  {}", share_of(optimum, &line.report, directory.path()))?;
        }
    }
    writeln!(out, "  model   {}", directory.model().display())?;
    writeln!(out, "  curve   {}", directory.curve().display())?;
    match (outcome.finished, recipe.game.side) {
        (true, 4) => writeln!(out, "next: afterstate eval {path}")?,
        (true, _) => writeln!(out, "next: afterstate solve --policy {path} --regret")?,
        (false, _) => writeln!(out, "next: afterstate train {path} --resume")?,
    }
    Ok(())
}

/// What a network has learned from: its own games, or records.
fn learned_from(recipe: &Recipe, progress: TrainingProgress) -> String {
    let actions = thousands(progress.actions);
    match &recipe.lesson {
        Some(_) => format!("{actions} records"),
        None => format!("{actions} actions, {}", counted(progress.episodes, "game")),
    }
}

/// How close to optimal the games were. The share is an estimate from a sample of games, and says so.
fn share_of(optimum: f64, report: &EvalReport, run: &Path) -> String {
    let share = |score: f64| percent(score / optimum);
    let mean = report.score.mean;
    let interval = report
        .score
        .ci95
        .map(|ci| format!(", between {} and {} with 95% confidence", share(mean - ci), share(mean + ci)));
    format!(
        "{} of the best possible mean, {optimum:.2} by the exact solver: an estimate from these {}{} \
         (exact in a minute or so: afterstate solve --policy {})",
        share(mean),
        counted(report.games, "game"),
        interval.unwrap_or_default(),
        run.display(),
    )
}

/// Tile rates in a few words.
fn tiles(rates: &afterstate_lab::stats::TileRates) -> String {
    let seen: Vec<_> = rates.iter().filter(|(_, rate)| **rate > 0.0).collect();
    let last = &seen[seen.len().saturating_sub(4)..];
    last.iter().map(|(tile, rate)| format!("{tile}: {}", percent(**rate))).collect::<Vec<_>>().join(", ")
}

/// What is about to happen, and the necessary memory.
fn headline(run: &Run, plan: &MemoryPlan) -> String {
    let recipe = run.recipe();
    let verb = if run.is_resumed() { "resuming" } else { "training" };
    let threads = recipe.parallel.threads;
    format!(
        "{verb} {} in {}: {} weights, {threads} thread{}, {}",
        recipe.name,
        run.directory().path().display(),
        thousands(plan.weights),
        if threads == 1 { "" } else { "s" },
        memory(plan),
    )
}

fn memory(plan: &MemoryPlan) -> String {
    let available = match plan.available {
        Some(available) if plan.fits() => format!("fits into the {} available", bytes(available)),
        Some(available) => format!("more than the {} available", bytes(available)),
        None => "what is available is not known".to_owned(),
    };
    format!(
        "{} of memory ({} without learning state), {available}",
        bytes(plan.bytes),
        bytes(plan.model_bytes)
    )
}

fn dry_run(
    directory: &Directory,
    recipe: &Recipe,
    plan: &MemoryPlan,
    chain: &Chain,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let costs = chain.costs(!chain.needs().is_empty()).map_err(failure)?;
    let toml = recipe.to_toml().map_err(|error| failure(error.into()))?;
    let disk = available_disk(directory.path());
    if json {
        let answer = json!({
            "name": recipe.name,
            "recipe": recipe,
            "weights": plan.weights,
            "bytes": plan.bytes,
            "model_bytes": plan.model_bytes,
            "available_bytes": plan.available,
            "fits": plan.fits(),
            "disk_bytes": plan.disk_bytes(),
            "available_disk_bytes": disk,
            "threads": recipe.parallel.thread_count(),
            "chain": chain::as_json(chain, &costs),
        });
        writeln!(out, "{answer}")?;
        return check_room(plan, disk);
    }
    writeln!(out, "{toml}")?;
    writeln!(out, "# weights: {}", thousands(plan.weights))?;
    writeln!(out, "# {}", memory(plan))?;
    let needed = bytes(plan.disk_bytes());
    match disk {
        Some(free) if free < plan.disk_bytes() => {
            writeln!(out, "# up to {needed} on the disk, more than the {} that is free", bytes(free))?;
        }
        Some(free) => writeln!(out, "# up to {needed} on the disk, of {} that is free", bytes(free))?,
        None => writeln!(out, "# up to {needed} on the disk")?,
    }
    chain::write(chain, &costs, out)?;
    check_room(plan, disk)
}

/// Rejects a run that lacks memory, or could fill the disk.
fn check_room(plan: &MemoryPlan, disk: Option<u64>) -> Result<(), Failure> {
    if let Some(available) = plan.available.filter(|_| !plan.fits()) {
        let message = format!(
            "training needs {} of memory, more than the {} available",
            bytes(plan.bytes),
            bytes(available)
        );
        return Err(Failure::input(message, SMALLER));
    }
    match disk {
        Some(free) if free < plan.disk_bytes() => {
            let needed = bytes(plan.disk_bytes());
            let message =
                format!("the run can take {needed} on the disk, more than the {} that is free", bytes(free));
            Err(Failure::input(message, "give a directory on a larger disk with `--out`"))
        }
        _ => Ok(()),
    }
}

fn as_json(directory: &Directory, plan: &MemoryPlan, outcome: &RunOutcome) -> Value {
    let progress = outcome.progress;
    json!({
        "run": directory.path(),
        "model": directory.model(),
        "finished": outcome.finished,
        "weights": plan.weights,
        "bytes": plan.bytes,
        "actions": progress.actions,
        "episodes": progress.episodes,
        "seconds": progress.seconds,
        "moves_per_second": progress.actions as f64 / progress.seconds.max(1e-9),
        "evaluation": outcome.evaluations.first(),
        "evaluations": outcome.evaluations,
    })
}

/// Sets the flag when standard input ends.
fn stop_when_closed(stop: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        // An error also ends the input.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        stop.store(true, Ordering::Relaxed);
    });
}

/// The hint when there is too little memory.
const SMALLER: &str = "choose a smaller network.tuples, or a smaller dcnn.channels, dcnn.buffer or dcnn.batch, or a machine with more memory";

/// Adds a hint.
pub(super) fn failure(error: RunError) -> Failure {
    match error {
        RunError::File(error) => file_failure(error),
        RunError::Exists(_) => {
            Failure::input(error, "`--resume` continues it, `--out DIR` runs in another directory")
        }
        RunError::Former(_) => Failure::input(
            error,
            "its model still plays; `--out DIR` begins another run, and the version that began it continues it",
        ),
        RunError::Busy(_) => Failure::input(error, "wait for it, or give another directory with `--out`"),
        RunError::Name(_) => Failure::input(error, "give a directory with `--out`"),
        RunError::Changed { .. } => Failure::input(
            error,
            "`afterstate train DIR --resume` continues with the recipe of the run; only budget, evaluation, checkpoint and \
             log may change; `--out DIR` begins another run",
        ),
        RunError::Foreign(_) => {
            Failure::input(error, "give another directory with `--out DIR`, or remove the file")
        }
        RunError::Unremoved { .. } => Failure::other(error, "the same command goes on when that is mended"),
        RunError::Diverged { factor, .. } if factor > 1.0 => {
            let hint = "give a smaller factor in learning.schedule, for another run; the last checkpoint, if there is one, is as it \
                        was";
            Failure::input(error, hint)
        }
        RunError::Diverged { key, rate, .. } => {
            let hint = format!(
                "`--set {key}={}` is a smaller rate, for another run; the last checkpoint, if there is one, is as it was",
                rate / 2.0
            );
            Failure::input(error, hint)
        }
        RunError::OtherRecipe { .. } => Failure::input(
            error,
            "put back the recipe.toml that the run began with, or begin another run with `--out DIR`",
        ),
        RunError::Version { ref found, .. } => {
            let hint =
                format!("afterstate {found} can continue it; its model can begin a run here: network.from");
            Failure::input(error, hint)
        }
        RunError::Replicas(_) => Failure::input(error, "change the recipe, or start it without mpirun"),
        RunError::Extended(_) => Failure::input(error, "begin another run, with the larger budget"),
        RunError::Finished(_) => {
            Failure::input(error, "its model can begin another run: network.from, with `--out DIR`")
        }
        RunError::Recipe(RecipeError::NotFound { .. } | RecipeError::Table { .. }) => {
            Failure::input(error, "`afterstate train --list` shows the recipes")
        }
        RunError::Recipe(RecipeError::NoTable(_)) => {
            Failure::input(error, "leave out `--all`; `--seeds N` trains one recipe with N seeds")
        }
        RunError::Recipe(_) | RunError::Spec(_) => {
            Failure::input(error, "docs/recipes.md explains every key")
        }
        RunError::Memory(MemoryError::TooLarge { .. }) | RunError::Network(_) => {
            Failure::input(error, SMALLER)
        }
        RunError::Device(error) => no_device(error),
        RunError::CpuOnly => Failure::input(error, "leave out `--device`"),
        RunError::Records(error) => records_failure(error),
        RunError::OtherRecords(_) => Failure::input(
            error,
            "put back the records that the run began with, or begin another one with `--out`",
        ),
        RunError::Dcnn(_) => Failure::input(error, "`afterstate model info` says what a file is"),
        RunError::Positions { .. } => Failure::input(
            error,
            "remove the file, and a recipe with [collect] collects them again; without one, \
             `afterstate eval MODEL --collect FILE` writes positions, for start.positions",
        ),
        RunError::Needs { .. } | RunError::Circle(_) => Failure::input(
            error,
            "a run `runs/NAME` is made by the recipe NAME: shipped, or NAME.toml beside this one",
        ),
        RunError::Model(_) => Failure::input(error, "`afterstate model info` says what a file is"),
        RunError::Checkpoint { .. } | RunError::Trainer(_) => {
            Failure::input(error, "`--out DIR` begins another run")
        }
        RunError::Table(_) | RunError::NoTables(_) => {
            Failure::input(error, "learning.endgame names a directory that `afterstate endgame build` made")
        }
        RunError::Directory { .. } => Failure::input(error, "give another directory with `--out`"),
        RunError::Log(LogError::Busy(_)) => {
            Failure::input(error, "wait for it, or give another directory with `--out`")
        }
        RunError::Log(_)
        | RunError::Curve(_)
        | RunError::Memory(_)
        | RunError::FellBack(_)
        | RunError::Repaired(_)
        | RunError::MadeAgain(_) => {
            Failure::other(error, "is there room on the disk, and may you write there?")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_refuses_what_has_no_room() {
        let plan = MemoryPlan {
            weights: 10,
            model_bytes: 40 << 20,
            checkpoint_bytes: 120 << 20,
            bytes: 120 << 20,
            available: Some(120 << 20),
        };
        let message = |plan: &MemoryPlan, disk| match check_room(plan, disk) {
            Err(Failure::Input { message, .. }) => message,
            Ok(()) => String::new(),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(plan.disk_bytes(), 400 << 20);
        assert_eq!((message(&plan, Some(400 << 20)), message(&plan, None)), (String::new(), String::new()));
        assert!(
            message(&plan, Some(399 << 20)).contains("on the disk, more than the 399.0 MiB that is free")
        );
        let small = MemoryPlan { available: Some(119 << 20), ..plan };
        assert!(message(&small, Some(1 << 40)).contains("of memory, more than the 119.0 MiB available"));
        assert_eq!(message(&MemoryPlan { available: None, ..plan }, Some(400 << 20)), "");
    }
}
