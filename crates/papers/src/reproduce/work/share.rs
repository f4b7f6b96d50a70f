//! The jobs of a plan, divided among machines.

use std::collections::HashSet;

use afterstate_lab::{
    deal::Part,
    recipe::{Lesson, Recipe, Taught},
};
use afterstate_learning::Budget;
use afterstate_search::{Limit, PlayerSpec};

use super::{
    super::{
        estimate::moves,
        training::{Entrant, Training},
    },
    Job, TablePlan,
};

/// Decides which jobs are done here. Sharers of a directory must choose disjoint jobs.
pub trait Share: Sync {
    /// Whether a job is done here.
    fn takes(&self, job: Job) -> bool;

    /// Called when all independent jobs are done here: waits until the inputs of the next ones exist.
    fn meet(&self) {}

    /// Whether there are no other sharers.
    fn is_whole(&self) -> bool {
        false
    }
}

/// All jobs.
pub struct Whole;

impl Share for Whole {
    fn takes(&self, _: Job) -> bool {
        true
    }

    fn is_whole(&self) -> bool {
        true
    }
}

/// One of equal parts of a plan, by the estimated cost of its jobs. A training that continues another is in the same
/// part, so that no part waits for another.
pub struct PlanPart {
    jobs: HashSet<Job>,
}

impl PlanPart {
    /// Distributes the jobs, the most expensive first, each to the part with the least work so far.
    pub fn new(plan: &TablePlan, part: Part) -> Self {
        let root = |mut training: usize| {
            while let Some(before) = plan.trainings[training].after {
                training = before;
            }
            training
        };
        let roots = (0..plan.trainings.len()).filter(|&training| root(training) == training);
        let mut chains: Vec<(f64, Vec<usize>)> = roots
            .map(|first| {
                let chain: Vec<_> = (0..plan.trainings.len()).filter(|&i| root(i) == first).collect();
                (chain.iter().map(|&training| cost(plan, training)).sum(), chain)
            })
            .collect();
        chains.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut loads = vec![0.0; part.of() as usize];
        let mut jobs = HashSet::new();
        for (cost, chain) in &chains {
            for seed in 1..=plan.seeds() {
                let least = (0..loads.len()).min_by(|&a, &b| f64::total_cmp(&loads[a], &loads[b]));
                let least = least.unwrap_or_default();
                loads[least] += cost;
                if least as u64 + 1 == part.index() {
                    jobs.extend(chain.iter().map(|&training| Job { training, seed }));
                }
            }
        }
        PlanPart { jobs }
    }

    /// The number of its jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }
}

impl Share for PlanPart {
    fn takes(&self, job: Job) -> bool {
        self.jobs.contains(&job)
    }
}

/// The approximate moves of a game in an evaluation.
const MOVES_PER_GAME: f64 = 8000.0;

/// The approximate factor by which each ply slows down a move.
const TIMES_A_PLY: f64 = 30.0;

/// The approximate moves per second without a search.
const MOVES_PER_SECOND: f64 = 1e6;

/// The approximate cost of a training with its evaluations, in weight lookups: it need only distinguish large from
/// small.
fn cost(plan: &TablePlan, training: usize) -> f64 {
    let Training { recipe, evaluations, .. } = &plan.trainings[training];
    let (learning, features) = (actions(plan, training, recipe), features(recipe));
    let played = evaluations.iter().map(|(entrant, games)| {
        let search = match entrant {
            Entrant::Searching(player) => times_greedy(player),
            Entrant::Voting(_) => 8.0,
            Entrant::Valuing => 1.0,
        };
        *games as f64 * MOVES_PER_GAME * search
    });
    (learning + played.sum::<f64>()) * features
}

fn actions(plan: &TablePlan, training: usize, recipe: &Recipe) -> f64 {
    match recipe.budget {
        Budget::Actions(actions) => actions as f64,
        Budget::Episodes(episodes) => episodes as f64 * moves(plan, training),
        Budget::Seconds(seconds) => seconds * MOVES_PER_SECOND,
    }
}

fn features(recipe: &Recipe) -> f64 {
    match &recipe.lesson {
        Some(Lesson { network: Taught::Convolutional(spec), .. }) => return spec.weights() as f64,
        Some(_) => return 1.0,
        None => {}
    }
    recipe.network.spec(recipe.game.side).map_or(1.0, |spec| spec.active_features() as f64)
}

/// The slowdown of a move against a greedy one.
fn times_greedy(player: &PlayerSpec) -> f64 {
    match player.search.map(|search| search.limit) {
        None => 1.0,
        Some(Limit::Plies(plies)) => TIMES_A_PLY.powi(plies as i32 - 1),
        Some(Limit::Nodes(nodes) | Limit::Adaptive(nodes)) => nodes as f64 / 4.0, // a greedy move looks at four boards
        Some(Limit::Time(time)) => time.as_secs_f64() * MOVES_PER_SECOND,
    }
}
