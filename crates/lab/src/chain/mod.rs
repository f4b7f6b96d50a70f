//! Chains: everything that a recipe needs before it can be trained, each step made by its own recipe.
//!
//! A recipe that begins with a run (`network.from = "runs/NAME"`) needs that run, which the recipe `NAME` makes. One
//! that begins with collected positions (`start.positions` with `[collect]`) needs the file, and the model that plays.
//! Those recipes may have needs of their own. A step whose result exists is skipped; an interrupted one is resumed.

mod collect;
mod cost;
mod reserve;

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use crate::{
    recipe::{Collect, Recipe, RecipeError, Shipped, Start},
    run::{Directory, Merging, Observer, Run, RunError},
};
pub use cost::{Cost, Costs};
pub use reserve::{Reserved, Standing};

/// The locations of a chain's recipes and runs.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory of runs, which recipes call `runs`.
    pub runs: PathBuf,
    /// The directory whose recipe files take precedence over shipped recipes.
    pub recipes: Option<PathBuf>,
    /// Overrides `KEY=VALUE` for every recipe whose run has not begun.
    pub overrides: Vec<String>,
}

/// A step of a chain.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its result: the directory of a run, or a file of positions.
    pub target: PathBuf,
    /// How to make it.
    pub work: Work,
    /// Whether its result exists.
    pub is_done: bool,
}

/// The work of a step.
#[derive(Clone, Debug)]
pub enum Work {
    /// A training.
    Train(Box<Recipe>),
    /// Collecting positions, for a training by a recipe.
    Collect(Collect, Box<Recipe>),
}

impl Step {
    /// Its name: the recipe of a training, or the file of positions.
    pub fn name(&self) -> String {
        match &self.work {
            Work::Train(recipe) => recipe.name.clone(),
            Work::Collect(..) => self.target.display().to_string(),
        }
    }

    /// Its recipe, or the one that needs the positions.
    pub fn recipe(&self) -> &Recipe {
        match &self.work {
            Work::Train(recipe) | Work::Collect(_, recipe) => recipe,
        }
    }
}

/// The step that is about to begin.
#[derive(Clone, Debug)]
pub struct StepStatus {
    /// Its name.
    pub name: String,
    /// Its number, from 1.
    pub number: usize,
    /// The number of steps, including the last training.
    pub count: usize,
    /// The seconds that all later steps take.
    pub seconds_after: Option<f64>,
}

/// A recipe, and the steps that it needs first.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The steps in order; the last one is the training itself.
    pub steps: Vec<Step>,
}

impl Chain {
    /// The chain of a recipe that runs in a directory.
    ///
    /// # Errors
    /// If a need cannot be met by any recipe, or a recipe is invalid.
    pub fn of(recipe: &Recipe, directory: &Directory, place: &Place) -> Result<Self, RunError> {
        let mut search = Search { place, steps: Vec::new(), open: Vec::new() };
        search.add_run(directory, recipe.clone())?;
        Ok(Chain { steps: search.steps })
    }

    /// The steps before the training itself.
    pub fn needs(&self) -> &[Step] {
        self.steps.split_last().map_or(&[], |(_, needs)| needs)
    }

    /// Whether the training itself can begin.
    pub fn is_ready(&self) -> bool {
        self.needs().iter().all(|step| step.is_done)
    }

    /// Makes the missing needs; returns `false` if stopped.
    ///
    /// # Errors
    /// If a step fails; the results of this and earlier steps are kept.
    pub fn make(
        &self,
        costs: &Costs,
        reserved: &Reserved,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunError> {
        self.make_with(None, costs, Some(reserved), stop, observer)
    }

    /// The same for one of several replicas, which train together. The first one collects positions, while the others
    /// wait, and holds the reservation of the last training's directory.
    ///
    /// # Errors
    /// The same as [`make`](Self::make).
    pub fn make_with(
        &self,
        merging: Option<Merging>,
        costs: &Costs,
        reserved: Option<&Reserved>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunError> {
        for (i, step) in self.needs().iter().enumerate().filter(|(_, step)| !step.is_done) {
            reserved.map_or(Ok(()), |reserved| reserved.note(self, i))?;
            observer.begins(&self.status(i, costs));
            let whole = match &step.work {
                Work::Train(recipe) => {
                    let (directory, recipe) = (Directory::new(&step.target), (**recipe).clone());
                    let run = match merging {
                        None => Run::resume(directory, recipe),
                        Some(merging) => Run::of_replica(directory, recipe, merging),
                    };
                    run?.train(stop, observer)?.finished
                }
                Work::Collect(collect, recipe) if merging.is_none_or(|merging| merging.is_first()) => {
                    let threads = recipe.parallel.thread_count();
                    collect::collect(collect, &step.target, threads, stop, observer)?
                }
                Work::Collect(..) => true,
            };
            // A step's result must exist before the next step begins.
            if merging.map_or(!whole, |merging| merging.any(!whole)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The status of the step at this index, for observers.
    pub fn status(&self, index: usize, costs: &Costs) -> StepStatus {
        let step = &self.steps[index];
        let later = costs.steps.iter().skip(index + 1).map(|cost| cost.seconds).sum();
        StepStatus { name: step.name(), number: index + 1, count: self.steps.len(), seconds_after: later }
    }
}

/// Finds what is needed, recursively.
struct Search<'a> {
    place: &'a Place,
    steps: Vec<Step>,
    /// The runs whose needs are being resolved.
    open: Vec<PathBuf>,
}

impl Search<'_> {
    /// Adds a run, after its needs.
    fn add_run(&mut self, directory: &Directory, recipe: Recipe) -> Result<(), RunError> {
        let target = directory.path().to_owned();
        if self.open.contains(&target) {
            return Err(RunError::Circle(target));
        }
        self.open.push(target.clone());
        let (before, depth) = (self.steps.len(), self.open.len());
        let found = self.add_model(&recipe.network.from).and_then(|()| self.add_positions(&recipe));
        let is_done = directory.is_finished();
        if is_done || directory.has_checkpoint() {
            // It needs nothing else; the inputs of its start are listed if they still exist.
            let there: Vec<_> = self.steps.drain(before..).filter(|step| step.is_done).collect();
            self.steps.extend(there);
        } else {
            found?;
        }
        self.open.truncate(depth - 1);
        self.steps.push(Step { target, work: Work::Train(recipe.into()), is_done });
        Ok(())
    }

    /// Adds the run with which a recipe begins, if it is one in the directory of runs.
    fn add_model(&mut self, from: &str) -> Result<(), RunError> {
        let path = Path::new(from);
        let Ok(name) = path.strip_prefix(&self.place.runs) else { return Ok(()) };
        let (name, directory) = (name.to_string_lossy().into_owned(), Directory::new(path));
        let is_model = directory.model().is_file() && !directory.is_taken();
        if name.is_empty() || path.is_file() || is_model || self.has(path) {
            return Ok(());
        }
        let recipe = match Run::stored_recipe(&directory, &[])? {
            Some(recipe) => recipe,
            None => self.place.recipe(&name).map_err(|error| match error {
                RecipeError::NotFound { name, .. } => RunError::Needs { needed: path.to_owned(), name },
                error => error.into(),
            })?,
        };
        self.add_run(&directory, recipe)
    }

    /// Adds the positions with which a recipe begins, if it says how to collect them.
    fn add_positions(&mut self, recipe: &Recipe) -> Result<(), RunError> {
        let (Start::Carousel { positions, .. }, Some(collect)) = (&recipe.start, &recipe.collect) else {
            return Ok(());
        };
        let target = PathBuf::from(positions);
        if self.has(&target) {
            return Ok(());
        }
        let is_done = target.exists();
        if !is_done {
            self.add_model(&collect.model)?;
        }
        let work = Work::Collect(collect.clone(), recipe.clone().into());
        self.steps.push(Step { target, work, is_done });
        Ok(())
    }

    fn has(&self, target: &Path) -> bool {
        self.steps.iter().any(|step| step.target == target)
    }
}

impl Place {
    /// The recipe of this name, with its paths of runs resolved.
    ///
    /// # Errors
    /// If there is none, or it is invalid.
    pub fn recipe(&self, name: &str) -> Result<Recipe, RecipeError> {
        let file = self.recipes.as_ref().map(|recipes| recipes.join(format!("{name}.toml")));
        let recipe = match file.filter(|file| file.is_file()) {
            Some(file) => Recipe::load(&file.to_string_lossy(), &self.overrides)?,
            None => Shipped::find(name)?.recipe(&self.overrides)?,
        };
        Ok(self.settle(recipe))
    }

    /// The same recipe, with `runs/…` resolved to this directory of runs.
    pub fn settle(&self, mut recipe: Recipe) -> Recipe {
        let settle = |text: &mut String| {
            if let Some(name) = text.strip_prefix("runs/") {
                *text = self.runs.join(name).to_string_lossy().into_owned();
            }
        };
        settle(&mut recipe.network.from);
        if let Start::Carousel { positions, .. } = &mut recipe.start {
            settle(positions);
        }
        recipe.collect.iter_mut().for_each(|collect| settle(&mut collect.model));
        recipe
    }
}
