//! The samples behind our figures.

use super::{
    TablePlan,
    paper::{Column, Measure, Pick},
    plan::Source,
    sample::{Of, Sample},
    work::{Batch, Trained},
};
use afterstate_lab::stats::GameResult;

/// The sample behind a figure; empty if it was not measured.
pub(super) fn sample(
    plan: &TablePlan,
    trained: &[Vec<Trained>],
    row: usize,
    column: usize,
) -> Option<Sample> {
    let measured = &plan.table.columns[column];
    match plan.sources[row][column] {
        Source::LeftOut(_) => None,
        Source::Counted(value) => Some(Sample { of: Of::Trainings, values: vec![value] }),
        // Trainings that shared the machine with others do not show how long they take.
        Source::Timed { training } => {
            let seconds = trained[training]
                .iter()
                .map(|trained| trained.record.alone.then_some(trained.record.seconds));
            Some(Sample { of: Of::Trainings, values: seconds.collect::<Option<_>>()? })
        }
        Source::Trained { training } => {
            let is_taught = plan.trainings[training].recipe.lesson.is_some();
            let highest = |trained: &Trained| match is_taught {
                false => trained.record.highest,
                // The games of a lesson are its test plays.
                true => trained.games.iter().flat_map(|(_, games)| games).map(|game| game.score).max(),
            };
            let highest = trained[training].iter().map(|trained| highest(trained).map(|score| score as f64));
            Some(Sample { of: Of::Trainings, values: highest.collect::<Option<_>>()? })
        }
        Source::Learned { training } => {
            let number = |batch: &Batch| match measured.measure {
                Measure::Accuracy => batch.accuracy,
                _ => batch.error,
            };
            let values = |trained: &Trained| trained.batches.iter().map(number).collect();
            Some(together(&trained[training], Of::Batches, values))
        }
        Source::Played { training, entrant } => {
            let values = |trained: &Trained| values(measured, trained.games(entrant));
            let seeds = &trained[training];
            if plan.table.pick == Pick::Best && seeds.len() > 1 {
                return best(plan, seeds, training)
                    .map(|best| Sample { of: Of::Games, values: values(best) });
            }
            let of = if measured.measure == Measure::Highest { Of::Trainings } else { Of::Games };
            Some(together(seeds, of, values))
        }
    }
}

/// The numbers of a single training as they are; for several, the mean of each.
fn together(seeds: &[Trained], of: Of, values: impl Fn(&Trained) -> Vec<f64>) -> Sample {
    if let [only] = seeds {
        return Sample { of, values: values(only) };
    }
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    Sample { of: Of::Trainings, values: seeds.iter().map(|trained| mean(values(trained))).collect() }
}

/// The training whose first evaluation, greedy if possible, has the best mean.
fn best<'a>(plan: &TablePlan, seeds: &'a [Trained], training: usize) -> Option<&'a Trained> {
    let evaluations = &plan.trainings[training].evaluations;
    let greedy = evaluations.iter().find(|(entrant, _)| entrant.is_greedy());
    let (entrant, _) = *greedy.or(evaluations.first())?;
    let score = |trained: &Trained| trained.games(entrant).iter().map(|game| game.score).sum::<u64>();
    seeds.iter().max_by_key(|trained| score(trained))
}

/// What a column measures, for the games of one training.
fn values(column: &Column, games: &[GameResult]) -> Vec<f64> {
    let tile = |game: &GameResult| 1u64 << game.max_exponent;
    let each = |number: &dyn Fn(&GameResult) -> f64| games.iter().map(number).collect();
    match (column.measure, column.tile, column.largest) {
        (Measure::Highest, ..) => {
            games.iter().map(|game| game.score as f64).reduce(f64::max).into_iter().collect()
        }
        (_, Some(least), _) => each(&|game| if tile(game) >= least { 100.0 } else { 0.0 }),
        (_, _, Some([low, high])) => {
            each(&|game| if (low..=high).contains(&tile(game)) { 1000.0 } else { 0.0 })
        }
        _ => each(&|game| game.score as f64),
    }
}
