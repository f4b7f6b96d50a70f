//! The needs of a recipe: the steps, their costs, and their progress.

use std::{io::Write, sync::atomic::AtomicBool};

use afterstate_lab::{
    chain::{Chain, Cost, Costs, Reserved, Step, Work},
    recipe::Recipe,
    run::{Directory, Merging, Observer, Run, RunError},
};
use serde_json::{Value, json};

use super::display::Display;
use crate::{
    error::Failure,
    format::{bytes, duration},
};

/// Makes the needs of the last training; returns `false` if stopped.
pub(super) fn make(
    chain: &Chain,
    resume: bool,
    merging: Option<Merging>,
    stop: &AtomicBool,
    display: &mut Display,
) -> Result<bool, RunError> {
    if chain.is_ready() {
        return Ok(true);
    }
    let Some(reserved) = Reserved::new(chain, resume)? else { return Ok(true) };
    let costs = chain.costs(true)?;
    let done = chain.needs().iter().filter(|step| step.is_done).count();
    display.print(&format!("{} steps, {done} of them done; {}", chain.steps.len(), total(&costs)));
    let is_made = chain.make_with(merging, &costs, Some(&reserved), stop, display)?;
    if is_made {
        reserved.release()?;
        display.begins(&chain.status(chain.steps.len() - 1, &costs));
    }
    Ok(is_made)
}

/// The part of another rank than the first in a chain and its last training.
pub(super) fn follow(
    chain: &Chain,
    directory: Directory,
    recipe: Recipe,
    merging: Merging,
    stop: &AtomicBool,
) -> Result<(), RunError> {
    let is_made = chain.make_with(Some(merging), &chain.costs(false)?, None, stop, &mut ())?;
    if is_made {
        Run::of_replica(directory, recipe, merging)?.train(stop, &mut ())?;
    }
    Ok(())
}

/// The cost of all steps.
fn total(costs: &Costs) -> String {
    let time =
        costs.seconds().map_or("time not known".to_owned(), |seconds| format!("about {}", duration(seconds)));
    format!("{time}, {} of memory, {} of disk", bytes(costs.memory()), bytes(costs.disk()))
}

/// Lists the steps if there are several.
pub(super) fn write(chain: &Chain, costs: &Costs, out: &mut dyn Write) -> Result<(), Failure> {
    if chain.needs().is_empty() {
        return Ok(());
    }
    writeln!(out, "# {} steps: {}", chain.steps.len(), total(costs))?;
    let width = chain.steps.iter().map(|step| step.name().len()).max().unwrap_or_default();
    for (number, (step, cost)) in (1..).zip(chain.steps.iter().zip(&costs.steps)) {
        let verb = kind(&step.work);
        let takes = match (step.is_done, cost.seconds) {
            (true, _) => "done".to_owned(),
            (false, None) => bytes(cost.memory),
            (false, Some(seconds)) => format!("{:>12}  {}", duration(seconds), bytes(cost.memory)),
        };
        writeln!(out, "# {number:>3}  {verb:<7}  {:<width$}  {takes}", step.name())?;
    }
    Ok(())
}

pub(super) fn as_json(chain: &Chain, costs: &Costs) -> Value {
    let step = |(step, cost): (&Step, &Cost)| {
        json!({
            "name": step.name(), "kind": kind(&step.work), "target": step.target, "done": step.is_done,
            "seconds": cost.seconds, "memory": cost.memory, "disk": cost.disk,
        })
    };
    json!({
        "steps": chain.steps.iter().zip(&costs.steps).map(step).collect::<Vec<_>>(),
        "seconds": costs.seconds(), "memory": costs.memory(), "disk": costs.disk(),
    })
}

fn kind(work: &Work) -> &'static str {
    match work {
        Work::Train(_) => "train",
        Work::Collect(..) => "collect",
    }
}
