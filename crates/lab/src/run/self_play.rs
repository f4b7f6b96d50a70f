//! A network that learns from its own games, alone or as one of several replicas.

use std::{collections::BTreeMap, path::Path};

use afterstate_learning::{
    Budget, EndgameTeacher, Trainer, TrainerState, TrainingProgress, TrainingSettings,
};
use afterstate_network::{
    Network,
    file::{
        FileError, metadata,
        safetensors::{self, Part, Tensor, TensorFile},
    },
};

use super::{
    Run, RunError,
    checkpoint::{self, State},
    first_weights,
    learner::{Learner, LearningReport, News},
    positions,
    replicas::{self, Decision, Merger},
};
use crate::{
    evaluate::{Contest, Games, PlayOutcome},
    log::Rate,
    model::Search,
    recipe::Recipe,
    stats::Tally,
};

/// What a network that plays for itself begins with.
pub(super) struct Beginning {
    pub(super) network: Network,
    /// The positions that training begins with; a checkpoint has its own.
    pub(super) positions: Vec<String>,
    /// The endgames in which episodes end.
    pub(super) teacher: Option<EndgameTeacher>,
}

impl Beginning {
    /// What a recipe begins with, unless a checkpoint has it.
    pub(super) fn of(recipe: &Recipe, resumed: bool) -> Result<Self, RunError> {
        let network = match resumed {
            true => Network::new(recipe.network.spec(recipe.game.side)?)?,
            false => first_weights::first_network(recipe)?,
        };
        let positions = if resumed { Vec::new() } else { positions::positions(recipe)? };
        Ok(Beginning { network, positions, teacher: first_weights::teacher(&recipe.learning)? })
    }
}

/// A network that learns from its own games.
pub(super) struct SelfPlay<'a> {
    run: &'a Run,
    network: &'a Network,
    trainer: Trainer<'a>,
    /// Where there are several replicas.
    merger: Option<Merger>,
}

impl<'a> SelfPlay<'a> {
    pub(super) fn new(run: &'a Run, beginning: &'a Beginning) -> Result<Self, RunError> {
        let (positions, teacher) = (beginning.positions.clone(), beginning.teacher.clone());
        let settings = TrainingSettings { positions, teacher, ..run.recipe.settings() };
        let settings = run.merging.map_or(Ok(settings.clone()), |merging| merging.settings(settings))?;
        let network = &beginning.network;
        let mut trainer = Trainer::new(network, settings)?;
        run.merging.inspect(|merging| merging.number(&mut trainer));
        let mut own = SelfPlay { run, network, trainer, merger: None };
        if !run.resumed {
            first_weights::continue_coherence(&run.recipe, &own.trainer, network)?;
            own.agree();
        }
        Ok(own)
    }

    /// Begins to merge with the other replicas, from the weights as they are.
    fn agree(&mut self) {
        self.merger = self.run.merging.map(|merging| Merger::new(merging, &self.trainer));
    }

    /// A trainer that has dealt out all its games has none to continue with.
    fn check_extension(&self) -> Result<(), RunError> {
        let Some(stored) = Run::stored_recipe(&self.run.directory, &[])? else { return Ok(()) };
        match stored.settings().budget {
            Budget::Episodes(games)
                if self.trainer.progress().episodes >= games && !self.trainer.is_done() =>
            {
                Err(RunError::Extended(games))
            }
            _ => Ok(()),
        }
    }

    /// Restores what the step size remembers of every weight.
    fn restore_numbers(&self, file: &TensorFile) -> Result<(), RunError> {
        let network = self.network;
        for numbers in self.trainer.numbers() {
            for table in 0..network.spec().tables() {
                let name = format!("{}.{}", numbers.name, network.spec().table_name(table));
                if file.len_of(&name).is_none() {
                    let problem = format!("it holds no `{}`, which the step size needs", numbers.name);
                    return Err(checkpoint::unusable(file.path(), problem));
                }
                for (index, number) in network.indices(table).zip(file.numbers(&name)?.floats().iter()) {
                    numbers.set(index, number);
                }
            }
        }
        Ok(())
    }
}

/// How far all replicas have come.
fn of_all(merger: &Option<Merger>, progress: TrainingProgress) -> TrainingProgress {
    merger.as_ref().map_or(progress, |merger| merger.of_all(progress))
}

impl Learner for SelfPlay<'_> {
    fn load(&mut self, path: &Path) -> Result<(TrainingProgress, Tally), RunError> {
        let file = TensorFile::open(path)?;
        checkpoint::check_origin(&file, &self.run.recipe)?;
        self.network.fill(&file)?;
        self.restore_numbers(&file)?;
        let state: State<TrainerState> = checkpoint::state_of(&file)?;
        let replicas = self.run.merging.map(|merging| merging.replicas);
        let place = replicas.map_or((0, 1), |replicas| (replicas.rank(), replicas.size()));
        replicas::restore(&mut self.trainer, place, &state.trainer, &state.replicas)?;
        self.check_extension()?;
        self.agree();
        Ok((state.logged, state.tally))
    }

    fn state(&self, logged: TrainingProgress, tally: &Tally) -> serde_json::Result<String> {
        let replicas = self.merger.as_ref().map(|merger| merger.other_states(&self.trainer));
        let replicas = replicas.unwrap_or_default();
        serde_json::to_string(&State {
            trainer: self.trainer.state(),
            replicas,
            logged,
            tally: tally.clone(),
        })
    }

    fn save(&self, path: &Path, about: &BTreeMap<String, String>) -> Result<(), FileError> {
        let (network, numbers) = (self.network, self.trainer.numbers());
        let mut tables: Vec<Vec<Tensor<'_>>> = network.tensors().map(|tensor| vec![tensor]).collect();
        for numbers in &numbers {
            let of_step_size = network.tensors_of(numbers.name, |position| numbers.get(position));
            tables.iter_mut().zip(of_step_size).for_each(|(table, tensor)| table.push(tensor));
        }
        safetensors::write(path, &metadata(network.spec(), about), tables.into_iter().map(Part::Sparse))
    }

    fn save_model(&self, path: &Path, about: &BTreeMap<String, String>) -> Result<(), FileError> {
        self.network.save(path, about)
    }

    fn progress(&self) -> TrainingProgress {
        of_all(&self.merger, self.trainer.progress())
    }

    fn is_done(&self) -> bool {
        self.trainer.is_done()
    }

    fn learn(&mut self, halt: u64, watch: &mut dyn FnMut(News<'_>) -> bool) -> Result<(), RunError> {
        let SelfPlay { run, trainer, merger, .. } = self;
        let halt = merger.as_ref().map_or(halt, |merger| merger.own(halt).min(merger.halt()));
        trainer.run_until(halt, |progress, games| {
            let all = of_all(merger, progress);
            let mut report = || report(run, all, merger);
            let goes_on = watch(News { progress: all, games, batch: None, report: &mut report });
            goes_on && !merger.as_ref().is_some_and(|merger| merger.is_due(progress.actions))
        });
        match trainer.has_diverged() {
            true => Err(checkpoint::diverged(&run.recipe, trainer.progress())),
            false => Ok(()),
        }
    }

    fn report(&mut self) -> LearningReport {
        report(self.run, self.progress(), &mut self.merger)
    }

    fn contests(&self) -> Vec<(Search, u64)> {
        let contests = self.run.recipe.evaluation.contests();
        contests.map(|(player, games)| (Search::Player(player), games)).collect()
    }

    fn play(
        &self,
        search: Search,
        games: Games<'_>,
        watch: &mut dyn FnMut(&PlayOutcome) -> bool,
    ) -> Option<PlayOutcome> {
        let (network, player) = (self.network, search.spec()?);
        let threads = self.run.recipe.parallel.thread_count();
        Contest { network, player, endgames: None, games, threads, collect: None }.play(watch)
    }

    fn decide(&mut self, stops: bool, saves: bool) -> Decision {
        let SelfPlay { trainer, merger, .. } = self;
        let Some(merger) = merger else { return if saves { Decision::Save } else { Decision::GoOn } };
        let is_over = stops || trainer.is_done();
        if !is_over && !merger.is_due(trainer.progress().actions) {
            return Decision::GoOn;
        }
        let saves = saves && merger.is_first();
        merger.merge(trainer, stops, saves)
    }

    fn is_replica(&self) -> bool {
        self.merger.is_some()
    }

    fn is_first(&self) -> bool {
        self.merger.as_ref().is_none_or(Merger::is_first)
    }
}

fn report(run: &Run, progress: TrainingProgress, merger: &mut Option<Merger>) -> LearningReport {
    let rate = Rate::at(&run.recipe.learning, run.recipe.budget.share(progress));
    LearningReport { rate, fit: None, merges: merger.as_mut().map(Merger::report) }
}
