//! Autostep on linear problems with known solutions, compared with Table 1 of Mahmood et al. 2012 on explicit feature
//! vectors.

use afterstate_game::State;
use afterstate_network::{FeatureSlots, Level, Network, NetworkSpec, Tuples};

use super::Autostep;

const MU: f32 = 0.01;
const TAU: f32 = 0.0001;
/// The tuples: a corner with the adjacent edge cell, and a corner with the centre, two images of which coincide.
const TUPLES: [[usize; 2]; 2] = [[0, 1], [0, 4]];
/// The number of tile values, which gives 2·3² weights.
const C: usize = 3;
const WEIGHTS: usize = 2 * C * C;

/// A feature vector: how often each weight occurs on a board of 3×3, computed by rotating and reflecting cell
/// coordinates.
fn feature_vector(cells: [usize; 9]) -> [f64; WEIGHTS] {
    let mut x = [0.0; WEIGHTS];
    for symmetry in 0..8 {
        let image = |cell: usize| {
            let (mut row, mut column) = (cell / 3, cell % 3);
            (0..symmetry % 4).for_each(|_| (row, column) = (column, 2 - row));
            if symmetry >= 4 { 3 * row + 2 - column } else { 3 * row + column }
        };
        for (tuple, [a, b]) in TUPLES.into_iter().enumerate() {
            x[tuple * C * C + cells[image(a)] + C * cells[image(b)]] += 1.0;
        }
    }
    x
}

fn dot(a: &[f64; WEIGHTS], b: &[f64; WEIGHTS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Table 1 of Mahmood et al. 2012, each line a loop over the whole vector.
struct Table1 {
    w: [f64; WEIGHTS],
    h: [f64; WEIGHTS],
    v: [f64; WEIGHTS],
    alpha: [f64; WEIGHTS],
}

impl Table1 {
    fn learn(&mut self, x: &[f64; WEIGHTS], delta: f64) {
        let (mu, one_over_tau) = (f64::from(MU), f64::from(TAU));
        let Table1 { w, h, v, alpha } = self;
        for i in 0..WEIGHTS {
            let new = (delta * x[i] * h[i]).abs();
            v[i] = new.max(v[i] + one_over_tau * alpha[i] * x[i] * x[i] * (new - v[i]));
        }
        for i in 0..WEIGHTS {
            if v[i] != 0.0 {
                alpha[i] *= (mu * delta * x[i] * h[i] / v[i]).exp();
            }
        }
        let m = (0..WEIGHTS).map(|i| alpha[i] * x[i] * x[i]).sum::<f64>().max(1.0);
        for i in (0..WEIGHTS).filter(|&i| x[i] != 0.0) {
            alpha[i] /= m;
            w[i] += alpha[i] * delta * x[i];
            h[i] = h[i] * (1.0 - alpha[i] * x[i] * x[i]) + alpha[i] * delta * x[i];
        }
    }
}

/// The network and its step sizes.
struct Learning {
    network: Network,
    autostep: Autostep,
}

impl Learning {
    fn new() -> Self {
        let tuples = TUPLES.map(|[a, b]| format!("{a}{b}").parse().expect("a tuple"));
        let spec = NetworkSpec {
            side: 3,
            tuples: Tuples::new(tuples.into()).expect("two tuples"),
            tile_values: C,
            ..NetworkSpec::default()
        };
        let network = Network::new(spec).expect("a small network");
        let weights = network.weights().len() as u64;
        let autostep = Autostep::new(weights, MU, TAU, 1.0 / 16.0).expect("a small table");
        Learning { network, autostep }
    }

    /// Learns a board's value; returns the error before.
    fn learn(&self, cells: [usize; 9], value: f64) -> f64 {
        let text: String = cells.map(|exponent| exponent.to_string()).concat();
        let board = text.parse::<State<3>>().expect("a board").board().bytes();
        let view = self.network.view();
        let mut slots = FeatureSlots::new(&self.network, 1);
        view.find_at(Level::Portable, &board, &mut slots, 0);
        let delta = value as f32 - self.value(cells);
        self.autostep.update(&view, slots.get(0), 1.0, delta);
        f64::from(delta)
    }

    /// The value of a board, from its feature vector and the tables.
    fn value(&self, cells: [usize; 9]) -> f32 {
        dot(&feature_vector(cells), &self.weights()) as f32
    }

    fn weights(&self) -> [f64; WEIGHTS] {
        let all: Vec<f64> = (0..2).flat_map(|i| self.network.table(i).map(f64::from)).collect();
        all.try_into().expect("as many weights as the vector has")
    }
}

/// An infinite sequence of boards with exponents below C.
fn boards() -> impl Iterator<Item = [usize; 9]> {
    let mut state = 7u64;
    std::iter::repeat_with(move || {
        [(); 9].map(|()| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % C
        })
    })
}

/// The weights to be learned, which define the values of all boards.
fn solution() -> [f64; WEIGHTS] {
    std::array::from_fn(|i| (i * i * 7 % 23) as f64 - 11.0)
}

/// On the empty board, the eight images of the two tuples are two weights that occur eight times each:
/// M = (8² + 8²)/16 = 8, so α = 1/128, each weight moves by 8·δ/128, and the value by all of δ.
#[test]
fn the_first_step_on_an_empty_board_reaches_its_value() {
    let learning = Learning::new();
    learning.learn([0; 9], 320.0);
    assert_eq!(learning.value([0; 9]), 320.0);
    let touched: Vec<f64> = learning.weights().into_iter().filter(|&w| w != 0.0).collect();
    assert_eq!(touched, [20.0, 20.0]);
}

/// No step overshoots its target: Σ α·x² is at most 1.
#[test]
fn no_step_overshoots() {
    let learning = Learning::new();
    for (step, cells) in boards().take(2_000).enumerate() {
        let value = if step % 3 == 0 { 100.0 } else { -50.0 };
        let before = learning.learn(cells, value);
        let after = value - f64::from(learning.value(cells));
        let tolerance = 1e-3;
        assert!(
            after * before.signum() > -tolerance && after.abs() < before.abs() + tolerance,
            "{before} {after}"
        );
    }
}

#[test]
fn a_linear_problem_is_solved() {
    let (learning, solution) = (Learning::new(), solution());
    let errors: Vec<f64> = boards()
        .take(20_000)
        .map(|cells| learning.learn(cells, dot(&feature_vector(cells), &solution)).abs())
        .collect();
    let mean = |errors: &[f64]| errors.iter().sum::<f64>() / errors.len() as f64;
    let (first, last) = (mean(&errors[..100]), mean(&errors[19_900..]));
    assert!(first > 10.0, "a problem to solve: {first}");
    assert!(last < first / 1_000.0, "{first} {last}");
}

#[test]
fn weights_and_rates_are_those_of_table_1() {
    let (learning, solution) = (Learning::new(), solution());
    let zeros = [0.0; WEIGHTS];
    let mut table = Table1 { w: zeros, h: zeros, v: zeros, alpha: [1.0 / 16.0; WEIGHTS] };
    for cells in boards().take(3_000) {
        let x = feature_vector(cells);
        let value = dot(&x, &solution);
        let delta = value - dot(&x, &table.w);
        table.learn(&x, delta);
        learning.learn(cells, value);
    }
    for (i, (found, expected)) in learning.weights().into_iter().zip(table.w).enumerate() {
        assert!((found - expected).abs() < 1e-2, "weight {i}: {found}, {expected}");
    }
    let numbers = learning.autostep.numbers();
    let alphas = (0..2).flat_map(|i| learning.network.indices(i).map(|p| f64::from(numbers[0].get(p))));
    for (i, (found, expected)) in alphas.zip(table.alpha).enumerate() {
        assert!((found - expected).abs() < 1e-2 * expected, "rate {i}: {found}, {expected}");
    }
}
