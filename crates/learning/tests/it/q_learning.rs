//! Q-learning, TD-afterstate and TD-state with ε-greedy self-play against the papers' algorithms, written naively:
//! ramesh-2018, Figs. 4–7, and Szubert and Jaśkowski 2014. The same weights, bit for bit.
//!
//! Three details follow the trainer: the order in which weights are added, that two games alternate in a thread,
//! and that a move is chosen before the previous value is updated.

use std::collections::HashMap;

use crate::common::{FIXED, TARGETS, TC, TD_0, bits, delayed, n_step, settings, spec, trained};
use afterstate_game::{Board, GameRng, Move, State, game_rng};
use afterstate_learning::{Budget, EpsilonGreedy, StepSizeSpec, Trainer, TrainerState, TrainingSettings};
use afterstate_network::{GreedyGame, Isa, Kernel, Level, Network, NetworkSpec, Values, dispatch};
use rand_core::Rng;

/// The ten tuples of ramesh-2018 on the 3×3 board.
fn network_spec(values: Values) -> NetworkSpec {
    NetworkSpec { values, ..spec(3, "012 345 678 036 147 258 0134 1245 3467 4578", 11, false) }
}

fn policy(epsilon: f64, random_ties: bool) -> EpsilonGreedy {
    EpsilonGreedy { epsilon, random_ties, temperature: 0.0 }
}

/// A learner in its simplest form: a table for each action, tuple and index.
struct Naive {
    spec: NetworkSpec,
    settings: TrainingSettings,
    v: HashMap<(usize, usize, u64), f32>,
}

/// A game, and the state or afterstate of its last move.
struct Episode {
    rng: GameRng,
    state: State<3>,
    last: Option<(Board<3>, usize)>,
    reward: f32,
}

impl Naive {
    /// Fig. 4, for two games that alternate.
    fn run(&mut self, games: u64) {
        let start = |settings: &TrainingSettings, game| {
            let mut rng = game_rng(settings.seed, game);
            let state = settings.rules.initial_state(&mut rng);
            Episode { rng, state, last: None, reward: 0.0 }
        };
        let mut episodes: Vec<_> = (0..2).map(|game| start(&self.settings, game)).collect();
        let mut next = 2;
        while !episodes.is_empty() {
            episodes.retain_mut(|episode| {
                let choice = self.choose(episode);
                self.learn(episode, &choice);
                let slide = episode.state.slide(choice.0).expect("a legal move");
                episode.reward = slide.reward as f32;
                episode.state = slide.afterstate.spawn(&self.settings.rules, &mut episode.rng);
                if !episode.state.is_terminal() {
                    return true;
                }
                let target = if self.spec.values == Values::Afterstates { 0.0 } else { episode.reward };
                self.update(episode.last.expect("a move was made"), target);
                next += 1;
                *episode = start(&self.settings, next - 1);
                next <= games
            });
        }
    }

    /// Fig. 5: the move to make; and the value of the state by the best move.
    fn choose(&self, episode: &mut Episode) -> (Move, f32) {
        let EpsilonGreedy { epsilon, random_ties, .. } = self.settings.policy;
        let legal: Vec<_> = episode.state.legal_moves().collect();
        let worth: Vec<_> = legal.iter().map(|&a| self.evaluate(episode.state, a)).collect();
        let max = worth.iter().copied().fold(f32::MIN, f32::max);
        let maxima: Vec<_> = (0..legal.len()).filter(|&i| worth[i] == max).map(|i| legal[i]).collect();
        let explores = epsilon > 0.0 && number(&mut episode.rng) < epsilon;
        let made = match (explores, random_ties && maxima.len() > 1) {
            (true, _) => draw(&mut episode.rng, &legal),
            (false, true) => draw(&mut episode.rng, &maxima),
            (false, false) => maxima[0],
        };
        let value = self.value((episode.state.board(), 0));
        (made, if self.spec.values == Values::States { value } else { max })
    }

    /// Figs. 6 and 7: the value of a move.
    fn evaluate(&self, state: State<3>, a: Move) -> f32 {
        let slide = state.slide(a).expect("a legal move");
        let expected = || -> f32 {
            let spawns = slide.afterstate.spawns(&self.settings.rules);
            let value = |s: State<3>| if s.is_terminal() { 0.0 } else { self.value((s.board(), 0)) };
            spawns.map(|(s, probability)| probability as f32 * value(s)).fold(0.0, |sum, part| sum + part)
        };
        match self.spec.values {
            Values::Actions => self.value((state.board(), a as usize)),
            Values::Afterstates => slide.reward as f32 + self.value((slide.afterstate.board(), 0)),
            Values::States => slide.reward as f32 + expected(),
        }
    }

    /// Figs. 6 and 7: the last value moves towards the best available value, whatever move is made.
    fn learn(&mut self, episode: &mut Episode, &(made, value): &(Move, f32)) {
        let (state, reward) = (episode.state, episode.reward);
        let afterstate = |a: Move| state.slide(a).expect("a legal move").afterstate.board();
        let (next, target) = match self.spec.values {
            Values::Actions => ((state.board(), made as usize), reward + value),
            Values::Afterstates => ((afterstate(made), 0), value),
            Values::States => ((state.board(), 0), reward + value),
        };
        if let Some(last) = episode.last {
            self.update(last, target);
        }
        episode.last = Some(next);
    }

    fn features(&self, (board, action): (Board<3>, usize)) -> Vec<(usize, usize, u64)> {
        let c = self.spec.tile_values as u64;
        let digit = |&cell: &u8| u64::from(board.exponent(cell.into())).min(c - 1);
        let tuples = self.spec.tuples.as_slice().iter().enumerate();
        let index = |cells: &[u8]| cells.iter().rev().fold(0, |index, cell| index * c + digit(cell));
        tuples.map(|(i, tuple)| (action, i, index(tuple.cells()))).collect()
    }

    /// Sixteen sums side by side, of which ten are used, then the two halves, then ((0+4)+(2+6)) + ((1+5)+(3+7)).
    fn value(&self, of: (Board<3>, usize)) -> f32 {
        let mut sums = [0.0f32; 16];
        for (sum, feature) in sums.iter_mut().zip(self.features(of)) {
            *sum += self.v.get(&feature).unwrap_or(&0.0);
        }
        let s: [f32; 8] = std::array::from_fn(|i| sums[i] + sums[i + 8]);
        ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
    }

    fn update(&mut self, of: (Board<3>, usize), target: f32) {
        let StepSizeSpec::Fixed { alpha } = self.settings.step_size else { unreachable!("a fixed rate") };
        let step = alpha as f32 / self.spec.active_features() as f32 * (target - self.value(of));
        for feature in self.features(of) {
            *self.v.entry(feature).or_default() += step;
        }
    }
}

/// A number from 0 to 1.
fn number(rng: &mut GameRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn draw(rng: &mut GameRng, moves: &[Move]) -> Move {
    moves[((u128::from(rng.next_u64()) * moves.len() as u128) >> 64) as usize]
}

#[test]
fn the_papers_algorithms() {
    const GAMES: u64 = 60;
    for values in Values::ALL {
        for (epsilon, random_ties) in [(0.0, false), (0.0, true), (0.2, false), (0.2, true)] {
            let settings = settings(TD_0, FIXED, Budget::Episodes(GAMES));
            let settings = TrainingSettings { policy: policy(epsilon, random_ties), ..settings };
            let network = trained(&network_spec(values), &settings);
            let mut naive = Naive { spec: network_spec(values), settings, v: HashMap::new() };
            naive.run(GAMES);
            assert!(naive.v.len() > 1_000, "enough weights to tell methods apart: {}", naive.v.len());
            for table in 0..network.spec().tables() {
                let id = network.spec().table_id(table);
                for (index, v) in network.table(table).enumerate() {
                    let naive = naive.v.get(&(id.action, id.tuple, index as u64)).copied().unwrap_or(0.0);
                    assert_eq!(v.to_bits(), naive.to_bits(), "{id:?} {values} {epsilon} {random_ties}");
                }
            }
        }
    }
}

/// All weights.
fn weights(network: &Network) -> Vec<Vec<f32>> {
    (0..network.spec().tables()).map(|table| network.table(table).collect()).collect()
}

#[test]
fn methods_that_are_the_same_for_every_kind_of_values() {
    for values in Values::ALL {
        let spec = network_spec(values);
        let with = |target| {
            let settings = settings(target, TC, Budget::Actions(20_000));
            weights(&trained(&spec, &TrainingSettings { policy: policy(0.05, true), ..settings }))
        };
        let td = with(TD_0);
        assert!(td == with(n_step(1)), "{values}: 1-step TD is TD(0)");
        assert!(td == with(delayed(0.0, 0)), "{values}: delayed-TD(0) without delay is TD(0)");
        assert!(td != with(n_step(2)), "{values}");
    }
}

/// Trains up to each of these numbers of moves (whole rounds of the two games), each time in a new trainer; the state
/// passes through text.
fn in_pieces(spec: &NetworkSpec, settings: &TrainingSettings, ends: &[u64]) -> Vec<Vec<f32>> {
    let network = Network::new(spec.clone()).expect("a small network");
    let mut before: Option<String> = None;
    for &actions in ends {
        let settings = TrainingSettings { budget: Budget::Actions(actions), ..settings.clone() };
        let mut trainer = Trainer::new(&network, settings).expect("a small trainer");
        if let Some(text) = &before {
            let state: TrainerState = serde_json::from_str(text).expect("what was written");
            trainer.restore(&state).expect("a state of the same settings");
        }
        trainer.run(|_, _| true);
        before = Some(serde_json::to_string(&trainer.state()).expect("a state is plain data"));
    }
    weights(&network)
}

#[test]
fn interrupted_training_gives_the_same_weights() {
    for values in Values::ALL {
        for target in TARGETS {
            let settings = settings(target, FIXED, Budget::Actions(1));
            let settings = TrainingSettings { policy: policy(0.1, true), ..settings };
            let spec = network_spec(values);
            let whole = in_pieces(&spec, &settings, &[12_001]);
            assert!(in_pieces(&spec, &settings, &[4, 1_000, 5_004, 12_001]) == whole, "{values} {target:?}");
        }
    }
}

/// The state of one kind of values does not fit another.
#[test]
fn a_state_of_other_values_is_refused() {
    let settings = settings(TD_0, FIXED, Budget::Actions(400));
    let [afterstates, actions] = [Values::Afterstates, Values::Actions]
        .map(|values| Network::new(network_spec(values)).expect("a small network"));
    for (network, other) in [(&afterstates, &actions), (&actions, &afterstates)] {
        let mut trainer = Trainer::new(network, settings.clone()).expect("a small trainer");
        trainer.run(|_, _| true);
        let mut other = Trainer::new(other, settings.clone()).expect("a small trainer");
        assert!(other.restore(&trainer.state()).is_err());
    }
}

/// Threads share the tables of actions like any others.
#[test]
fn threads_learn_actions() {
    let settings = settings(TD_0, TC, Budget::Actions(200_000));
    let network = trained(&network_spec(Values::Actions), &TrainingSettings { threads: 2, ..settings });
    let trained: u64 = (0..100).map(|game| score(&network, game)).sum();
    let empty = Network::new(network_spec(Values::Actions)).expect("a small network");
    let untrained: u64 = (0..100).map(|game| score(&empty, game)).sum();
    assert!(trained > 2 * untrained, "{trained} is not much more than {untrained}");
}

/// Weight promotion works for each action: a network whose later stages are empty plays as its first stage does.
#[test]
fn promotion_of_actions() {
    let one = trained(&network_spec(Values::Actions), &settings(TD_0, TC, Budget::Actions(200_000)));
    let stages = "256".parse().expect("a rule");
    let spec = NetworkSpec { stages, promotion: true, ..network_spec(Values::Actions) };
    let two = Network::new(spec.clone()).expect("a small network");
    (0..one.spec().tables()).for_each(|table| two.set_table(table, one.table(table)));
    assert_eq!(spec.table_name(one.spec().tables() + 11).to_string(), "1.stage1.right");
    let scores = |network: &Network| (0..100).map(|game| score(network, game)).collect::<Vec<_>>();
    assert!(scores(&one) == scores(&two));
    assert!(scores(&one).iter().any(|&score| score > 2_000), "the second stage is reached");
}

/// The score of a game played greedily.
fn score(network: &Network, game: u64) -> u64 {
    struct Play<'a>(&'a Network, u64);
    impl Kernel for Play<'_> {
        type Output = u64;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> u64 {
            let (rules, view) = (Default::default(), self.0.view());
            let mut game = GreedyGame::<3>::new(self.0, &rules, 3, self.1);
            while !game.is_over() {
                game.look_up(isa, &view);
                game.evaluate(isa, &view, &rules);
                game.advance(&rules, game.best());
            }
            game.score
        }
    }
    dispatch(Level::best(), Play(network, game))
}

#[test]
fn epsilon_is_the_share_of_random_moves() {
    let state: State<4> = "0000/0010/0100/0000".parse().expect("a board");
    let (legal, worth) = (state.legal_moves(), [1.0, 3.0, 2.0, 3.0]);
    let mut rng = game_rng(1, 0);
    let count = |policy: EpsilonGreedy, rng: &mut GameRng| {
        let mut counts = [0; 5];
        for _ in 0..40_000 {
            counts[policy.choose(legal, &worth, rng).map_or(4, |a| a as usize)] += 1;
        }
        counts
    };
    // Four of ten moves are random, a tenth of the moves for each; the rest is split equally between the two best.
    let near = |found: [i32; 5], right: [i32; 5]| (0..5).all(|i| (found[i] - right[i]).abs() < 400);
    assert!(near(count(policy(0.4, true), &mut rng), [4_000, 16_000, 4_000, 16_000, 0]));
    assert!(near(count(policy(0.4, false), &mut rng), [4_000, 4_000, 4_000, 4_000, 24_000]));
    assert!(near(count(policy(0.0, true), &mut rng), [0, 20_000, 0, 20_000, 0]));
    let before = rng.clone();
    assert_eq!(count(EpsilonGreedy::GREEDY, &mut rng), [0, 0, 0, 0, 40_000]);
    assert!(rng == before, "greedy play draws nothing");
}

/// The share of each move in draws by softmax.
fn shares(board: &str, worth: [f32; 4], temperature: f64) -> [f64; 4] {
    let state: State<4> = board.parse().expect("a state");
    let policy = EpsilonGreedy { temperature, ..EpsilonGreedy::GREEDY };
    let mut rng = game_rng(1, 1);
    let mut counts = [0; 4];
    for _ in 0..40_000 {
        counts[policy.choose(state.legal_moves(), &worth, &mut rng).expect("a move") as usize] += 1;
    }
    counts.map(|count| f64::from(count) / 40_000.0)
}

/// Softmax: a move whose value is T·ln 3 above another's is drawn three times as often, illegal ones never, and with a
/// negligible temperature only the best one.
#[test]
fn softmax_draws_by_worth() {
    let open = "0000/0110/0110/0000";
    let close =
        |found: [f64; 4], expected: [f64; 4]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01);
    let three = 100.0 * 3f32.ln();
    let found = shares(open, [5000.0, 5000.0 + three, 5000.0, 5000.0 + three], 100.0);
    assert!(close(found, [0.125, 0.375, 0.125, 0.375]), "{found:?}");
    assert_eq!(shares(open, [1.0, 2.0, 3.0, 1e6], 1e-3), [0.0, 0.0, 0.0, 1.0]);
    let found =
        shares("1000/2000/1000/2000", [f32::NEG_INFINITY, 0.0, f32::NEG_INFINITY, f32::NEG_INFINITY], 1e9);
    assert!(close(found, [0.0, 1.0, 0.0, 0.0]), "{found:?}");
}

/// Self-play by softmax learns from the moves that it makes, and is the same for the same seed.
#[test]
fn softmax_self_play_is_a_function_of_the_seed() {
    let spec = spec(4, "0123 4567", 12, true);
    let learned = |temperature| {
        let policy = EpsilonGreedy { temperature, ..EpsilonGreedy::GREEDY };
        let settings = TrainingSettings { policy, ..settings(TD_0, TC, Budget::Actions(5_000)) };
        bits(&trained(&spec, &settings))
    };
    assert!(learned(50.0) == learned(50.0));
    assert!(learned(50.0) != learned(0.0));
}
