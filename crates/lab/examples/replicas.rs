//! Replicas of a network simulated one after the other in one process, merged by the definition: what `mpirun -n N afterstate
//! train RECIPE --merge ACTIONS` comes to, and how well it has learned.
//!
//! ```text
//! cargo run --release -p afterstate-lab --example replicas -- RECIPE REPLICAS ACTIONS RULE [OUT] [KEY=VALUE]…
//! ```
//!
//! ACTIONS are the moves of each replica between two merges, a multiple of 32768. RULE is `sum`, `mean` (weighted by the growth of
//! A) or `coherent` (the one that training uses). OUT is the model file, or `-`.

use std::{env, error::Error, path::Path, sync::atomic::Ordering::Relaxed, time::Instant};

use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, SEED, evaluate},
    recipe::Recipe,
    stats::Summary,
};
use afterstate_learning::{Budget, Settings, Trainer, TrainerState, replicas::BLOCK};
use afterstate_network::Network;

/// V, E and A of every weight.
struct Tables {
    v: Vec<f32>,
    e: Vec<f32>,
    a: Vec<f32>,
}

/// The sums of the changes of all replicas.
struct Changes {
    v: Vec<f32>,
    e: Vec<f32>,
    a: Vec<f32>,
    v_a: Vec<f32>,
}

fn read(network: &Network, i: usize) -> f32 {
    f32::from_bits(network.weights()[i].load(Relaxed))
}

/// Adds what a replica has changed, and puts the network back.
fn collect(network: &Network, trainer: &Trainer<'_>, agreed: &Tables, sum: &mut Changes) -> u64 {
    let numbers = trainer.numbers();
    let mut blocks = 0;
    for first in (0..agreed.v.len()).step_by(BLOCK) {
        let block = first..(first + BLOCK).min(agreed.v.len());
        if block.clone().all(|i| read(network, i).to_bits() == agreed.v[i].to_bits()) {
            continue;
        }
        blocks += 1;
        for i in block {
            let dv = read(network, i) - agreed.v[i];
            sum.v[i] += dv;
            network.weights()[i].store(agreed.v[i].to_bits(), Relaxed);
            if let [e, a] = &numbers[..] {
                let (de, da) = (e.get(i) - agreed.e[i], a.get(i) - agreed.a[i]);
                (sum.e[i], sum.a[i], sum.v_a[i]) = (sum.e[i] + de, sum.a[i] + da, sum.v_a[i] + dv * da);
                e.set(i, agreed.e[i]);
                a.set(i, agreed.a[i]);
            }
        }
    }
    blocks
}

/// What all replicas agree on next.
fn merge(network: &Network, trainer: &Trainer<'_>, agreed: &mut Tables, sum: &mut Changes, rule: &str) {
    let numbers = trainer.numbers();
    for i in 0..agreed.v.len() {
        let (dv, de, da) = (sum.v[i], sum.e[i], sum.a[i]);
        if dv == 0.0 && da == 0.0 {
            continue;
        }
        let mean = if da == 0.0 { dv } else { sum.v_a[i] / da };
        let coherence = if da == 0.0 { 1.0 } else { (de.abs() / da).min(1.0) };
        agreed.v[i] += match rule {
            "sum" => dv,
            "mean" => mean,
            _ if da == 0.0 => dv,
            _ => coherence * dv + (1.0 - coherence) * mean,
        };
        network.weights()[i].store(agreed.v[i].to_bits(), Relaxed);
        if let [e, a] = &numbers[..] {
            (agreed.e[i], agreed.a[i]) = (agreed.e[i] + de, agreed.a[i] + da);
            e.set(i, agreed.e[i]);
            a.set(i, agreed.a[i]);
        }
        (sum.v[i], sum.e[i], sum.a[i], sum.v_a[i]) = (0.0, 0.0, 0.0, 0.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [recipe, replicas, actions, rule, rest @ ..] = &arguments[..] else {
        return Err("RECIPE REPLICAS ACTIONS RULE [OUT] [KEY=VALUE]…".into());
    };
    let (out, overrides) = rest.split_first().map_or(("-", rest), |(out, rest)| (out.as_str(), rest));
    let (replicas, actions): (u64, u64) = (replicas.parse()?, actions.parse()?);
    let recipe = Recipe::load(recipe, overrides)?;
    let settings = recipe.settings();
    let Budget::Actions(all) = settings.budget else { return Err("the budget must be in actions".into()) };
    let own = all.div_ceil(replicas);
    let network = Network::new(recipe.network.spec(recipe.game.side)?)?;
    let settings = Settings { budget: Budget::Actions(own), threads: 1, ..settings };
    let mut trainer = Trainer::new(&network, settings)?;
    let mut states: Vec<TrainerState> = (0..replicas)
        .map(|rank| {
            trainer.number_from(rank << 40);
            trainer.state()
        })
        .collect();
    let zeros = || vec![0.0; network.weights().len()];
    let mut agreed = Tables { v: zeros(), e: zeros(), a: zeros() };
    let mut sum = Changes { v: zeros(), e: zeros(), a: zeros(), v_a: zeros() };
    (0..agreed.v.len()).filter(|&i| read(&network, i) != 0.0).for_each(|i| agreed.v[i] = read(&network, i));
    let (start, mut done, mut blocks, mut merges) = (Instant::now(), 0, 0, 0);
    while done < own {
        done = (done + actions).min(own);
        for state in &mut states {
            trainer.restore(state)?;
            trainer.run_until(done, |_, _| true);
            *state = trainer.state();
            blocks += collect(&network, &trainer, &agreed, &mut sum);
        }
        merge(&network, &trainer, &mut agreed, &mut sum, rule);
        merges += 1;
    }
    let games = Games { rules: recipe.game.rules(), seed: SEED, dealer: &Deck::new(1000) };
    let results = evaluate(&network, games, 1, |_| true).ok_or("the games were not played")?;
    let summary = Summary::of(recipe.game.side, &results).ok_or("no games")?;
    println!(
        "{replicas} replicas, {rule}, every {actions} actions, seed {}: mean {:.0} ± {:.0} after {} actions in all; {} blocks of {} bytes a merge; {:.0} s",
        recipe.seed,
        summary.score.mean,
        summary.score.ci95.unwrap_or_default(),
        own * replicas,
        blocks / (merges * replicas).max(1),
        4 * 4 * BLOCK,
        start.elapsed().as_secs_f64(),
    );
    if out != "-" {
        network.save(Path::new(out), &Default::default())?;
    }
    Ok(())
}
