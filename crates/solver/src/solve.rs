//! Backward induction: the value of every reachable board under optimal play.

use afterstate_game::Rules;

use crate::{
    Solution,
    keys::{self, Index},
    solution::Builder,
    space::{Layer, Space, tiles},
    threads::{divide, worthwhile},
    word::Word,
};

/// What play maximizes in expectation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Objective {
    /// The score still to come.
    Score,
    /// The probability of reaching a tile of at least 2 to this power.
    Goal(u8),
}

/// The values of the states of a layer.
struct Values {
    keys: Vec<u32>,
    index: Index,
    values: Vec<f64>,
}

impl Values {
    fn new(keys: Vec<u32>, values: Vec<f64>) -> Self {
        Values { index: Index::new(keys.iter().copied(), keys.len()), keys, values }
    }

    #[inline(always)]
    fn get<const N: usize>(&self, word: Word<N>) -> f64 {
        let position = self.index.find(keys::key(word.canonical()), |i| self.keys[i]);
        self.values[position.expect("whatever follows a reachable board is reachable")]
    }
}

impl<const N: usize> Space<N> {
    /// Computes the value of every board. `progress` receives the sum of tiles that has been reached,
    /// in descending order.
    pub fn solve(self, objective: Objective, threads: usize, mut progress: impl FnMut(u32)) -> Solution<N> {
        let Space { mut layers, rules, starts } = self;
        let mut builder = Builder::new(objective, rules, &layers);
        // The states whose sums are larger by 2 and by 4.
        let mut above = [Values::new(Vec::new(), Vec::new()), Values::new(Vec::new(), Vec::new())];
        let mut expected = 0.0;
        while let Some(Layer { sum, states, afterstates }) = layers.pop() {
            let values = afterstate_values::<N>(&afterstates, sum, &rules, &above, threads);
            builder.layer(&afterstates, &values);
            let afterstates = Values::new(afterstates, values);
            let values = state_values::<N>(&states, sum, objective, &afterstates, threads);
            let states = Values::new(states, values);
            let here = starts.get(&sum).into_iter().flatten();
            expected += here.map(|&(word, probability)| probability * states.get(word)).sum::<f64>();
            above.swap(0, 1);
            above[0] = states;
            progress(sum);
        }
        builder.finish(expected)
    }
}

/// For each afterstate, the mean over the possible tiles.
fn afterstate_values<const N: usize>(
    afterstates: &[u32],
    sum: u32,
    rules: &Rules,
    above: &[Values; 2],
    threads: usize,
) -> Vec<f64> {
    let tiles: Vec<_> = tiles(rules).collect();
    let value = |&key: &u32| {
        let word = keys::word::<N>(key, sum);
        let cells = word.empty_shifts();
        let count = cells.len() as f64;
        let mut total = 0.0;
        for shift in cells {
            for &(exponent, odds) in &tiles {
                total += odds * above[exponent as usize - 1].get(word.with_tile(shift, exponent));
            }
        }
        total / count
    };
    divide(worthwhile(threads, afterstates.len()), afterstates.len(), |range| {
        afterstates[range].iter().map(value).collect::<Vec<_>>()
    })
    .concat()
}

/// For each state, the value of the best move.
fn state_values<const N: usize>(
    states: &[u32],
    sum: u32,
    objective: Objective,
    afterstates: &Values,
    threads: usize,
) -> Vec<f64> {
    let value = |&key: &u32| {
        let word = keys::word::<N>(key, sum);
        if objective.is_reached(word.max_exponent()) {
            return 1.0;
        }
        let slides = word.state().slides();
        let values = slides.iter().map(|(_, slide)| {
            objective.reward(slide.reward) + afterstates.get(Word::pack(&slide.afterstate.board()))
        });
        values.fold(0.0, f64::max)
    };
    divide(worthwhile(threads, states.len()), states.len(), |range| {
        states[range].iter().map(value).collect::<Vec<_>>()
    })
    .concat()
}

impl Objective {
    /// Whether a board with this largest tile has reached the goal.
    #[inline(always)]
    pub(crate) fn is_reached(self, max_exponent: u8) -> bool {
        match self {
            Objective::Score => false,
            Objective::Goal(exponent) => max_exponent >= exponent,
        }
    }

    /// The unit of stored values: a power of two, so that 32 bits cover all values with
    /// a finer resolution than an f32.
    pub(crate) const fn unit(self) -> f64 {
        match self {
            // No game on 3×3 reaches 2^15 points.
            Objective::Score => 1.0 / (1u64 << 17) as f64,
            Objective::Goal(_) => 1.0 / (1u64 << 31) as f64,
        }
    }

    /// The contribution of a reward to the objective.
    #[inline(always)]
    pub(crate) fn reward(self, reward: u32) -> f64 {
        match self {
            Objective::Score => f64::from(reward),
            Objective::Goal(_) => 0.0,
        }
    }
}
