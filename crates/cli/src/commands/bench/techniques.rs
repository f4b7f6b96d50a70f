//! The cost of each technique: training with it beside plain TC(0) on 4x6, on one thread.
//!
//! The two trainings alternate, so that they meet the same disturbances, and only their ratio is reported.

use afterstate_lab::recipe::Recipe;
use afterstate_learning::Trainer;
use afterstate_network::Network;

use super::{Figure, Unit, networks::too_large};
use crate::error::Failure;

/// The plain training. Its budget is never reached: the clock stops it.
const PLAIN: &str = "parallel.threads = 1\nbudget.actions = 1_000_000_000_000\nnetwork.tuples = '4x6'";

/// Seconds of training with and without a technique before the measurement.
const WARM_UP: f64 = 1.0;

/// The number of turns of each training, and the seconds of a turn.
const TURNS: usize = 8;
const TURN: f64 = 0.25;

/// A technique: its JSON key, its label, and its changes to the recipe.
type Technique = (&'static str, &'static str, &'static [&'static str]);

const TECHNIQUES: &[Technique] = &[
    ("td", "TD(0)", &["learning.step_size=fixed"]),
    ("tc_lambda", "TC(0.5)", &["learning.lambda=0.5"]),
    ("delayed_tc_lambda", "delayed-TC(0.5)", &["learning.lambda=0.5", "learning.order=delayed"]),
    ("autostep", "Autostep", &["learning.step_size=autostep"]),
    ("optimistic", "optimistic initialization", &["network.initial_value=1000"]),
    ("two_stages", "two stages, from 512 on", &["network.stages=512"]),
    ("promotion", "… and weight promotion", &["network.stages=512", "network.promotion=true"]),
    ("carousel", "two stages and carousel shaping", &["network.stages=512", "start.kind=carousel"]),
    ("restart", "restart", &["start.kind=restart"]),
    ("linear", "18 tile values", &["network.tile_values=18"]),
    ("vse_2", "2-VSE", &["network.tile_values=18", "network.ranges=1-9 10-17"]),
    ("vse_3", "3-VSE", &["network.tile_values=18", "network.ranges=1-7 8-13 14-17"]),
    ("redundant", "42-33-4-22-3 instead of 4x6", &["network.tuples=42-33-4-22-3"]),
];

pub(super) fn ratios() -> Result<Vec<Figure>, Failure> {
    TECHNIQUES.iter().map(ratio).collect()
}

fn ratio((key, label, changes): &Technique) -> Result<Figure, Failure> {
    let (plain, with) = (recipe(&[])?, recipe(changes)?);
    let networks = (network(&plain)?, network(&with)?);
    let mut trainers = [
        Trainer::new(&networks.0, plain.settings()).map_err(too_large)?,
        Trainer::new(&networks.1, with.settings()).map_err(too_large)?,
    ];
    trainers.iter_mut().for_each(|trainer| {
        turn(trainer, WARM_UP);
    });
    let mut rates = [0.0; 2];
    for _ in 0..TURNS {
        for (trainer, rate) in trainers.iter_mut().zip(&mut rates) {
            *rate += turn(trainer, TURN);
        }
    }
    let label = format!("training with {label}, over plain TC");
    Ok(Figure::new(format!("technique_{key}"), label, rates[1] / rates[0], Unit::Ratio))
}

/// Trains for some seconds, and returns the moves per second.
fn turn(trainer: &mut Trainer<'_>, seconds: f64) -> f64 {
    let before = trainer.progress();
    let end = before.seconds + seconds;
    trainer.run(|progress, _| progress.seconds < end);
    let after = trainer.progress();
    (after.actions - before.actions) as f64 / (after.seconds - before.seconds)
}

fn recipe(changes: &[&str]) -> Result<Recipe, Failure> {
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    Recipe::parse("bench", "bench", PLAIN, &changes).map_err(|error| Failure::other(error, ""))
}

fn network(recipe: &Recipe) -> Result<Network, Failure> {
    let spec = recipe.network.spec(recipe.game.side).map_err(too_large)?;
    Network::new(spec).map_err(too_large)
}
