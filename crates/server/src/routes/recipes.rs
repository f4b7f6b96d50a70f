//! `/api/v1/recipes`: what can be trained, what it takes, and which of its needs exist.

use std::{collections::HashMap, sync::Arc};

use afterstate_lab::{
    chain::{Chain, Cost, Costs, Place, Step, Work},
    recipe::{Recipe, Shipped, shipped},
    run::{Directory, MemoryPlan, RunError, available_disk},
};
use axum::{Json, extract::State};
use serde_json::{Value, json};
use tokio::{sync::Mutex, task::spawn_blocking};

use crate::{
    app::App,
    error::{Answer, ApiError},
    extract::{Name, excerpt},
};

/// The measured times, by recipe and number of remaining steps; locked during a measurement.
pub(crate) type Times = Arc<Mutex<HashMap<(String, usize), Value>>>;

/// The needs of a training, or the free resources.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Room {
    memory: Option<u64>,
    disk: Option<u64>,
}

impl Room {
    /// The free resources of this machine.
    fn of(app: &App, plan: &MemoryPlan) -> Self {
        Room { memory: plan.available, disk: available_disk(&app.runs) }
    }

    /// Whether a training with these bytes of memory and disk fits, as far as known.
    fn holds(self, memory: u64, disk: u64) -> bool {
        self.memory.is_none_or(|free| memory <= free) && self.disk.is_none_or(|free| disk <= free)
    }
}

/// The built-in recipes.
pub(crate) async fn recipes(State(app): State<App>) -> Answer<Json<Value>> {
    let describe = move || shipped().filter_map(|shipped| described(&app, &shipped)).collect::<Vec<_>>();
    let recipes = spawn_blocking(describe).await.map_err(ApiError::internal)?;
    Ok(Json(json!({ "recipes": recipes })))
}

fn described(app: &App, shipped: &Shipped) -> Option<Value> {
    let recipe = shipped.recipe(&[]).ok()?;
    let (steps, needs) = steps(app, &shipped.name, &recipe);
    let left = left(steps);
    let (plan, costs) = (MemoryPlan::of(&recipe).ok()?, left.costs(false).ok()?);
    let (memory, disk) = (costs.memory(), costs.disk());
    let room = Room::of(app, &plan);
    let is_training = |step: &&Step| matches!(step.work, Work::Train(_));
    let trainings = left.needs().iter().filter(is_training).count() + 1;
    Some(json!({
        "memory": memory,
        "available_memory": room.memory,
        "disk": disk,
        "available_disk": room.disk,
        "fits": room.holds(memory, disk),
        "steps": left.needs().iter().map(Step::name).collect::<Vec<_>>(),
        "trainings": trainings,
        "collections": left.needs().len() + 1 - trainings,
        "needs": needs,
        "name": shipped.name,
        "description": recipe.description,
        "table": shipped.table,
        "side": recipe.game.side,
        "budget": recipe.budget,
    }))
}

/// How long a recipe takes on this machine, including all that it needs first: each kind of training and search is
/// timed briefly. One recipe at a time, and only once while the remaining steps stay the same.
pub(crate) async fn recipe(State(app): State<App>, Name(name): Name) -> Answer<Json<Value>> {
    let unknown = || {
        ApiError::not_found(
            format!("there is no recipe `{}`", excerpt(&name)),
            "/api/v1/recipes lists the recipes",
        )
    };
    let shipped = shipped().find(|shipped| shipped.name == name).ok_or_else(unknown)?;
    let recipe = shipped.recipe(&[]).map_err(ApiError::internal)?;
    let (steps, needs) = steps(&app, &name, &recipe);
    if let Some(needs) = needs {
        return Err(ApiError::conflict(needs, "its time is known when that is there"));
    }
    let left = left(steps);
    let key = (name.clone(), left.steps.len());
    let mut times = app.times.clone().lock_owned().await;
    if let Some(known) = times.get(&key) {
        return Ok(Json(known.clone()));
    }
    // Holds the lock until the measurement is done, even if the client has disconnected.
    let measure = move || {
        let costs = left.costs(true)?;
        let answer = timed(&name, &left, &costs);
        times.insert(key, answer.clone());
        Ok(answer)
    };
    let measured: Result<Value, RunError> = spawn_blocking(measure).await.map_err(ApiError::internal)?;
    measured.map(Json).map_err(|error| {
        ApiError::conflict(format!("its time cannot be measured: {error}"), "close other programs")
    })
}

fn timed(name: &str, left: &Chain, costs: &Costs) -> Value {
    let step = |(step, cost): (&Step, &Cost)| {
        let kind = if matches!(step.work, Work::Train(_)) { "train" } else { "collect" };
        json!({
            "name": step.name(), "kind": kind,
            "seconds": cost.seconds, "memory": cost.memory, "disk": cost.disk,
        })
    };
    let steps: Vec<Value> = left.steps.iter().zip(&costs.steps).map(step).collect();
    json!({
        "name": name, "seconds": costs.seconds(), "memory": costs.memory(), "disk": costs.disk(), "steps": steps,
    })
}

/// The remaining steps, and the training itself.
fn left(mut steps: Vec<Step>) -> Chain {
    let last = steps.pop();
    steps.retain(|step| !step.is_done);
    steps.extend(last);
    Chain { steps }
}

/// The steps of a recipe, and any missing input that no recipe can make.
fn steps(app: &App, name: &str, recipe: &Recipe) -> (Vec<Step>, Option<String>) {
    let place = Place { runs: app.runs.clone(), recipes: None, overrides: Vec::new() };
    let recipe = place.settle(recipe.clone());
    // A run of this name may exist; another one would start from scratch.
    let names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name}-{number}")));
    let free = names.map(|name| app.runs.join(name)).find(|path| !path.exists());
    let directory = Directory::new(free.unwrap_or_else(|| app.runs.join(name)));
    match Chain::of(&recipe, &directory, &place) {
        Ok(chain) => (chain.steps, None),
        Err(error) => {
            let step =
                Step { target: directory.path().into(), work: Work::Train(recipe.into()), is_done: false };
            (vec![step], Some(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_memory_and_disk_are_needed() {
        let room = Room { memory: Some(10), disk: Some(100) };
        assert!(room.holds(10, 100));
        assert!(!room.holds(11, 100), "too little memory");
        assert!(!room.holds(10, 101), "too little disk");
        assert!(Room { memory: None, disk: None }.holds(u64::MAX, u64::MAX), "nobody knows");
    }
}
