//! The cost of merges for a rank: the bytes that it has changed, and how long its games pause.
//!
//! ```text
//! cargo run --release -p afterstate-lab --example merge_cost -- RECIPE ACTIONS MERGES [KEY=VALUE]…
//! ```
//!
//! One rank merges with itself every ACTIONS moves, MERGES times, without communication: what is left is the work of
//! each rank while its games wait. `compare` is the time to scan a network in which nothing has changed.

use std::{env, error::Error, time::Instant};

use afterstate_lab::{
    recipe::Recipe,
    run::{continue_coherence, first_network},
};
use afterstate_learning::{
    Budget, Trainer, TrainingSettings,
    replicas::{Agreed, Exchange},
};

/// A rank without others.
struct Alone;

impl Exchange for Alone {
    fn any(&self, _: &mut [u64]) {}

    fn sum(&self, _: &mut [f32]) {}
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [recipe, actions, merges, overrides @ ..] = &arguments[..] else {
        return Err("RECIPE ACTIONS MERGES [KEY=VALUE]…".into());
    };
    let (actions, merges): (u64, u64) = (actions.parse()?, merges.parse()?);
    let recipe = Recipe::load(recipe, overrides)?;
    let network = first_network(&recipe)?;
    let budget = Budget::Actions(actions * merges);
    let mut trainer = Trainer::new(&network, TrainingSettings { budget, ..recipe.settings() })?;
    continue_coherence(&recipe, &trainer, &network)?;
    let mut agreed = Agreed::new(&trainer);
    println!("{} blocks", agreed.blocks());
    println!(
        "{:>12} {:>12} {:>8} {:>8} {:>8} {:>8}  ms",
        "actions", "bytes", "play", "collect", "apply", "compare"
    );
    for merge in 1..=merges {
        let mut last = Instant::now();
        let mut lap = || std::mem::replace(&mut last, Instant::now()).elapsed().as_millis();
        trainer.run_until(merge * actions, |_, _| true);
        let play = lap();
        let own = agreed.changes(&trainer);
        let collect = lap();
        let (total, _) = own.exchange(agreed.blocks(), 0, &Alone);
        lap();
        agreed.apply(&trainer, &own, &total);
        let apply = lap();
        drop(agreed.changes(&trainer));
        let (compare, bytes) = (lap(), own.bytes());
        println!("{:>12} {bytes:>12} {play:>8} {collect:>8} {apply:>8} {compare:>8}", merge * actions);
    }
    Ok(())
}
