//! Replicas of a network, simulated one after the other in one process and merged by definition: the result of `mpirun
//! -n N afterstate train RECIPE --merge ACTIONS`, and how well it has learned.
//!
//! ```text
//! cargo run --release -p afterstate-lab --example replicas -- RECIPE REPLICAS ACTIONS RULE OUT [KEY=VALUE]…
//! ```
//!
//! ACTIONS is the number of moves of each replica between two merges, a multiple of 32768. RULE is one of [`RULES`].
//! OUT is the model file, or `-`. At the intervals of `evaluation.every`, in actions of all replicas, and at the end,
//! `evaluation.games` games are played, and a line reports the result.

use std::{env, error::Error, path::Path, sync::atomic::Ordering::Relaxed, time::Instant};

use afterstate_lab::{
    deal::Deck,
    evaluate::{Games, SEED, evaluate},
    recipe::Recipe,
    run::{continue_coherence, first_network},
    stats::Summary,
};
use afterstate_learning::{Budget, Trainer, TrainerState, TrainingSettings, replicas::BLOCK};
use afterstate_network::Network;

/// How far a weight moves, given ΣΔV, ΣΔE, ΣΔA and ΣΔV·ΔA of all replicas, and the previous E and A: the sum of the
/// changes, their mean weighted by the growth of A, and interpolations between the two.
type Rule = fn([f32; 4], [f32; 2]) -> f32;

const RULES: [(&str, Rule); 5] = [
    ("sum", |[dv, ..], _| dv),
    ("mean", mean),
    // The share of the errors that does not cancel.
    ("coherent", |sums @ [dv, de, da, _], _| {
        let c = if da == 0.0 { 1.0 } else { (de.abs() / da).min(1.0) };
        c * dv + (1.0 - c) * mean(sums, [0.0; 2])
    }),
    // Old weights barely respond to one interval.
    (
        "aged",
        |sums @ [dv, _, da, dv_da], [_, a]| {
            if da == 0.0 { mean(sums, [0.0; 2]) } else { (a * dv + dv_da) / (a + da) }
        },
    ),
    // Damps sums as private-hot does, but never below the mean.
    (
        "damped",
        |sums @ [dv, _, da, dv_da], [e, _]| {
            if da == 0.0 { mean(sums, [0.0; 2]) } else { (e.abs() * dv + dv_da) / (e.abs() + da) }
        },
    ),
];

fn mean([dv, _, da, dv_da]: [f32; 4], _: [f32; 2]) -> f32 {
    if da == 0.0 { dv } else { dv_da / da }
}

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
    /// The blocks that any replica has changed.
    blocks: Vec<bool>,
}

fn read(network: &Network, i: usize) -> f32 {
    f32::from_bits(network.weights()[i].load(Relaxed))
}

impl Tables {
    fn new(network: &Network, trainer: &Trainer<'_>) -> Self {
        let zeros = || vec![0.0; network.weights().len()];
        let mut tables = Tables { v: zeros(), e: zeros(), a: zeros() };
        let numbers = trainer.numbers();
        // Untouched memory stays untouched.
        for i in (0..tables.v.len()).filter(|&i| read(network, i) != 0.0) {
            tables.v[i] = read(network, i);
            if let [e, a] = &numbers[..] {
                (tables.e[i], tables.a[i]) = (e.get(i), a.get(i));
            }
        }
        tables
    }

    fn block(&self, block: usize) -> std::ops::Range<usize> {
        block * BLOCK..((block + 1) * BLOCK).min(self.v.len())
    }

    /// Adds a replica's changes, and resets the network. Returns the number of blocks.
    fn collect(&self, network: &Network, trainer: &Trainer<'_>, sum: &mut Changes) -> u64 {
        let numbers = trainer.numbers();
        let mut blocks = 0;
        for block in 0..sum.blocks.len() {
            if self.block(block).all(|i| network.weights()[i].load(Relaxed) == self.v[i].to_bits()) {
                continue;
            }
            sum.blocks[block] = true;
            blocks += 1;
            for i in self.block(block) {
                let dv = read(network, i) - self.v[i];
                sum.v[i] += dv;
                network.weights()[i].store(self.v[i].to_bits(), Relaxed);
                if let [e, a] = &numbers[..] {
                    let (de, da) = (e.get(i) - self.e[i], a.get(i) - self.a[i]);
                    (sum.e[i], sum.a[i], sum.v_a[i]) = (sum.e[i] + de, sum.a[i] + da, sum.v_a[i] + dv * da);
                    e.set(i, self.e[i]);
                    a.set(i, self.a[i]);
                }
            }
        }
        blocks
    }

    /// Computes the new common state of all replicas. Returns the number of blocks that any replica has changed.
    fn merge(&mut self, network: &Network, trainer: &Trainer<'_>, sum: &mut Changes, rule: Rule) -> u64 {
        let numbers = trainer.numbers();
        let mut blocks = 0;
        for block in 0..sum.blocks.len() {
            if !std::mem::take(&mut sum.blocks[block]) {
                continue;
            }
            blocks += 1;
            for i in self.block(block) {
                let sums = [sum.v[i], sum.e[i], sum.a[i], sum.v_a[i]];
                self.v[i] += rule(sums, [self.e[i], self.a[i]]);
                network.weights()[i].store(self.v[i].to_bits(), Relaxed);
                if let [e, a] = &numbers[..] {
                    (self.e[i], self.a[i]) = (self.e[i] + sums[1], self.a[i] + sums[2]);
                    e.set(i, self.e[i]);
                    a.set(i, self.a[i]);
                }
                (sum.v[i], sum.e[i], sum.a[i], sum.v_a[i]) = (0.0, 0.0, 0.0, 0.0);
            }
        }
        blocks
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [recipe, replicas, actions, rule_name, out, overrides @ ..] = &arguments[..] else {
        return Err("RECIPE REPLICAS ACTIONS RULE OUT [KEY=VALUE]…".into());
    };
    let (replicas, actions): (u64, u64) = (replicas.parse()?, actions.parse()?);
    let (_, rule) = RULES.into_iter().find(|(name, _)| name == rule_name).ok_or("no such rule")?;
    let recipe = Recipe::load(recipe, overrides)?;
    let settings = recipe.settings();
    let Budget::Actions(all) = settings.budget else { return Err("the budget must be in actions".into()) };
    let own = all.div_ceil(replicas);
    let network = first_network(&recipe)?;
    let settings = TrainingSettings { budget: Budget::Actions(own), threads: 1, ..settings };
    let mut trainer = Trainer::new(&network, settings)?;
    continue_coherence(&recipe, &trainer, &network)?;
    let mut states: Vec<TrainerState> = (0..replicas)
        .map(|rank| {
            trainer.number_from(rank << 40);
            trainer.state()
        })
        .collect();
    let mut agreed = Tables::new(&network, &trainer);
    let zeros = || vec![0.0; network.weights().len()];
    let blocks = vec![false; network.weights().len().div_ceil(BLOCK)];
    let mut sum = Changes { v: zeros(), e: zeros(), a: zeros(), v_a: zeros(), blocks };
    let every = Some(recipe.evaluation.every).filter(|every| *every > 0).unwrap_or(u64::MAX);
    let (start, mut done, mut merges, mut one, mut any) = (Instant::now(), 0, 0, 0, 0);
    while done < own {
        let evaluated = done * replicas / every;
        done = (done + actions).min(own);
        for state in &mut states {
            trainer.restore(state)?;
            trainer.run_until(done, |_, _| true);
            *state = trainer.state();
            one += agreed.collect(&network, &trainer, &mut sum);
        }
        any += agreed.merge(&network, &trainer, &mut sum, rule);
        merges += 1;
        if done == own || done * replicas / every > evaluated {
            let deck = Deck::new(recipe.evaluation.games.first().copied().unwrap_or(1000));
            let games = Games { rules: recipe.game.rules(), seed: SEED, dealer: &deck };
            let results = evaluate(&network, games, 1, |_| true).ok_or("the games were not played")?;
            let summary = Summary::of(recipe.game.side, &results).ok_or("no games")?;
            println!(
                "{replicas} replicas, {rule_name}, every {actions} actions, seed {}: mean {:.0} ± {:.0} after {} actions in all; {} blocks changed by one, {} by any of them; {:.0} s",
                recipe.seed,
                summary.score.mean,
                summary.score.ci95.unwrap_or_default(),
                done * replicas,
                one / (merges * replicas),
                any / merges,
                start.elapsed().as_secs_f64(),
            );
            (merges, one, any) = (0, 0, 0);
        }
    }
    if out != "-" {
        network.save(Path::new(out), &Default::default())?;
    }
    Ok(())
}
