//! How precise must the sums E and A of temporal coherence be? terauchi-2025 uses 64 bits for each, this program 32.
//!
//! Trains mNT6 on 3×3 by TC(0) with sums of a given precision, and keeps 64-bit sums of the same errors beside them. At
//! 1, 2 and 5 times each power of ten it writes the model, whose exact mean `afterstate solve --policy` computes, and
//! prints how far the two sums differ:
//!
//! ```text
//! cargo run --release -p afterstate-learning --example tc_sums -- f32|f64|halved ACTIONS SEED PREFIX
//! ```
//!
//! `halved` is 32 bits with both sums halved whenever an addition to A would be lost.

use std::{collections::BTreeMap, error::Error, path::Path, sync::atomic::Ordering::Relaxed};

use afterstate_game::{GameRng, Rules, State, game_rng};
use afterstate_network::{
    FeatureSlots, Features, Isa, Kernel, Level, Network, NetworkSpec, Tuples, View, dispatch,
};

/// The precision of the sums used for learning.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Sums {
    F32,
    F64,
    Halved,
}

/// The sums of a weight: E and A for learning if they have 32 bits, and the 64-bit sums.
#[derive(Clone, Copy, Default)]
struct Kept {
    short: (f32, f32),
    long: (f64, f64),
}

impl Kept {
    /// αᵢ = |E|/A, 1 while A = 0.
    fn rate(&self, sums: Sums) -> f32 {
        match sums {
            Sums::F64 if self.long.1 == 0.0 => 1.0,
            Sums::F64 => (self.long.0.abs() / self.long.1) as f32,
            Sums::F32 | Sums::Halved if self.short.1 == 0.0 => 1.0,
            Sums::F32 | Sums::Halved => self.short.0.abs() / self.short.1,
        }
    }

    /// E ← E + δ, A ← A + |δ|. Returns whether an addition to a 32-bit A was lost.
    fn add(&mut self, error: f32, sums: Sums) -> bool {
        let (e, a) = &mut self.short;
        let is_lost = error != 0.0 && *a + error.abs() == *a;
        if is_lost && sums == Sums::Halved {
            (*e, *a) = (*e / 2.0, *a / 2.0);
        }
        (*e, *a) = (*e + error, *a + error.abs());
        let (e, a) = &mut self.long;
        (*e, *a) = (*e + f64::from(error), *a + f64::from(error.abs()));
        is_lost
    }
}

/// A minimal training: one game after the other, TD(0) errors, TC step sizes with β = 1.
struct Training {
    network: Network,
    kept: Vec<Kept>,
    sums: Sums,
    seed: u64,
    games: u64,
    rng: GameRng,
    state: State<3>,
    /// Whether the features of the last afterstate belong to the current game.
    has_last: bool,
    actions: u64,
    updates: u64,
    lost: u64,
}

/// Trains up to a number of actions.
struct Run<'a>(&'a mut Training, u64);

impl Training {
    fn new(sums: Sums, seed: u64) -> Result<Self, Box<dyn Error>> {
        let tuples = Tuples::named("mnt6")?;
        let spec =
            NetworkSpec { side: 3, tuples, tile_values: 11, initial: vec![1200.0], ..Default::default() };
        let network = Network::new(spec)?;
        let mut rng = game_rng(seed, 0);
        let state = Rules::default().initial_state(&mut rng);
        let kept = vec![Kept::default(); network.weights().len()];
        let (games, has_last, actions, updates, lost) = (0, false, 0, 0, 0);
        Ok(Training { network, kept, sums, seed, games, rng, state, has_last, actions, updates, lost })
    }

    fn print(&self) {
        let visited = self.kept.iter().filter(|kept| kept.long.1 > 0.0);
        let (mut weights, mut short, mut other_rate) = (0, 0, 0);
        for kept in visited {
            weights += 1;
            short += u64::from(f64::from(kept.short.1) < 0.99 * kept.long.1);
            let (rate, exact) = (kept.rate(Sums::F32), kept.rate(Sums::F64));
            other_rate += u64::from((rate - exact).abs() > 0.1 * exact);
        }
        println!(
            "{:?} seed {}: {} actions, {} games; {} weights, A 1% short in {short}, rate 10% off in {other_rate}; \
             {} of {} additions lost",
            self.sums, self.seed, self.actions, self.games, weights, self.lost, self.updates
        );
    }
}

impl Kernel for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Run(training, until) = self;
        let Training { network, kept, sums, seed, games, rng, state, has_last, actions, updates, lost } =
            training;
        let view = network.training_view();
        let (mut moves, mut last) = (FeatureSlots::new(network, 4), FeatureSlots::new(network, 1));
        *has_last = false;
        let rules = Rules::default();
        while *actions < until {
            let mut best = None;
            for (a, slide) in state.slides().iter() {
                let value = view.find(isa, &slide.afterstate.board().bytes(), &mut moves, a as usize);
                let total = slide.reward as f32 + value;
                if best.is_none_or(|(most, _, _)| total > most) {
                    best = Some((total, a, slide.afterstate));
                }
            }
            let target = best.map_or(0.0, |(total, _, _)| total);
            if *has_last {
                let features = last.get(0);
                let error = target - view.sum(isa, features);
                *lost += update(&view, features, error, kept, *sums);
                *updates += 16;
            }
            *has_last = best.is_some();
            if let Some((_, a, afterstate)) = best {
                last.put(0, moves.get(a as usize));
                *state = afterstate.spawn(&rules, rng);
                *actions += 1;
            } else {
                *games += 1;
                *rng = game_rng(*seed, *games);
                *state = rules.initial_state(rng);
            }
        }
    }
}

/// Updates the weights of an afterstate at their rates. Returns how many additions to A were lost.
#[inline(always)]
fn update(view: &View<'_>, features: Features<'_>, error: f32, kept: &mut [Kept], sums: Sums) -> u64 {
    let (mut lost, step) = (0, error / 16.0);
    view.for_each_index(features, |index| {
        let (kept, weight) = (&mut kept[index], &view.weights()[index]);
        let moved = f32::from_bits(weight.load(Relaxed)) + kept.rate(sums) * step;
        weight.store(moved.to_bits(), Relaxed);
        lost += u64::from(kept.add(error, sums));
    });
    lost
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: tc_sums f32|f64|halved ACTIONS SEED PREFIX";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [sums, actions, seed, prefix] = &arguments[..] else { return Err(usage.into()) };
    let sums = match sums.as_str() {
        "f32" => Sums::F32,
        "f64" => Sums::F64,
        "halved" => Sums::Halved,
        _ => return Err(usage.into()),
    };
    let actions = actions.parse::<f64>()? as u64;
    let mut training = Training::new(sums, seed.parse()?)?;
    let mut until = 10_000_000;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        dispatch(Level::best(), Run(&mut training, until.min(actions)));
        training.print();
        let path = format!("{prefix}-{:.0e}.safetensors", training.actions as f64);
        training.network.save(Path::new(&path), &BTreeMap::new())?;
        if until >= actions {
            break;
        }
        until = (until as f64 * factor) as u64;
    }
    Ok(())
}
