//! Logistic regressions of game outcomes on features of their positions.

use std::array;

use afterstate_lab::review::{Fit, LARGEST, Reference, SMALLEST, features};

use crate::{Judged, players::CONTESTANTS};

/// The number of tiles with a regression.
const TILES: usize = (LARGEST - SMALLEST + 1) as usize;

/// The parameters of each tile: a constant, and the weights of the progress and of the value.
const PARAMETERS: usize = 3 * TILES;

/// How the value is weighted.
#[derive(Clone, Copy)]
enum ValueWeight {
    /// The same in all parts of a game: one weight for all tiles.
    Shared,
    /// With a weight for each tile.
    Own,
}

impl ValueWeight {
    /// The index of the value's weight among the parameters.
    fn index(self, tile: usize) -> usize {
        match self {
            ValueWeight::Shared => 2 * TILES,
            ValueWeight::Own => 2 * TILES + tile,
        }
    }
}

/// Regularization: keeps weights that the games do not determine near zero.
const RIDGE: f64 = 0.01;

/// A position: its tile, its features, whether the tile was reached, and its weight.
struct Row {
    tile: usize,
    features: [f64; 2],
    is_reached: bool,
    weight: f64,
}

/// The player that is left out: it searches like the judge, which therefore cannot say how good it is.
const LEFT_OUT: usize = CONTESTANTS.len() - 1;

/// Prints the constants for games of the players, and for continuations by the built-in model.
pub(crate) fn print(games: &[Judged]) {
    println!("PLAYERS");
    print_fits(&rows_of_players(games), ValueWeight::Shared);
    println!("MODEL");
    let rows = rows_of_model(games);
    print_fits(&rows, ValueWeight::Own);
    print_shares(&rows);
}

/// The upper bounds of the ranges of chances.
const RANGES: [f64; 7] = [0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 1.01];

/// Prints, for each range of predicted chances, how often the tile was reached.
fn print_shares(rows: &[Row]) {
    let fits = fit(rows, ValueWeight::Own);
    println!("| chance below | cases | predicted, mean | reached |\n| --- | ---: | ---: | ---: |");
    let mut low = 0.0;
    for high in RANGES {
        let chances = rows.iter().map(|row| (fits[row.tile].chance(row.features), row.is_reached));
        let (mut cases, mut predicted, mut reached) = (0, 0.0, 0);
        for (chance, is_reached) in chances.filter(|(chance, _)| (low..high).contains(chance)) {
            cases += 1;
            predicted += chance;
            reached += u32::from(is_reached);
        }
        let percent = |sum: f64| 100.0 * sum / f64::from(cases);
        let [predicted, reached] = [percent(predicted), percent(f64::from(reached))];
        println!("| {:.0}% | {cases} | {predicted:.1}% | {reached:.1}% |", 100.0 * high.min(1.0));
        low = high;
    }
}

/// All positions with the tiles within reach: all games of a player have equal weight, and so have all players.
fn rows_of_players(games: &[Judged]) -> Vec<Row> {
    let mut rows = Vec::new();
    for goal in SMALLEST..=LARGEST {
        // From three tiles below it, or for the smallest one, from the beginning.
        let is_near = |largest: u8| largest < goal && (goal == SMALLEST || largest + 3 >= goal);
        for player in 0..LEFT_OUT {
            let near: Vec<Vec<Row>> = games
                .iter()
                .filter(|game| game.player == player)
                .map(|game| rows_of(game, goal, is_near, |_| Some(game.last)))
                .filter(|rows| !rows.is_empty())
                .collect();
            let count = near.len() as f64;
            for mut game in near {
                let weight = 10.0 / (game.len() as f64 * count);
                game.iter_mut().for_each(|row| row.weight = weight);
                rows.extend(game);
            }
        }
    }
    rows
}

/// The positions from which the model continued, with all tiles that they lack.
fn rows_of_model(games: &[Judged]) -> Vec<Row> {
    let all = (SMALLEST..=LARGEST).flat_map(|goal| {
        let games = games.iter().filter(|game| game.player < LEFT_OUT);
        games.flat_map(move |game| {
            rows_of(game, goal, |largest| largest < goal, |i| game.positions[i].last_by_model)
        })
    });
    all.collect()
}

fn rows_of(
    game: &Judged,
    goal: u8,
    is_near: impl Fn(u8) -> bool,
    last: impl Fn(usize) -> Option<u8>,
) -> Vec<Row> {
    let reference = Reference::new(game.reference);
    let row = |(i, position): (usize, &crate::Position)| {
        let (last, state) = (last(i)?, position.state());
        let features = features(state, goal, position.advice().value().into(), reference);
        let row = Row { tile: usize::from(goal - SMALLEST), features, is_reached: last >= goal, weight: 0.1 };
        is_near(state.board().max_exponent()).then_some(row)
    };
    game.positions.iter().enumerate().filter_map(row).collect()
}

fn print_fits(rows: &[Row], weight: ValueWeight) {
    for (exponent, Fit { constant, value, progress }) in (SMALLEST..).zip(fit(rows, weight)) {
        let tile = 1u32 << exponent;
        println!(
            "    Fit {{ constant: {constant:.3}, value: {value:.3}, progress: {progress:.3} }}, // {tile}"
        );
    }
}

/// Newton's method, with steps of at most 1.
fn fit(rows: &[Row], weight: ValueWeight) -> [Fit; TILES] {
    let mut w = [0.0; PARAMETERS];
    let fit = |w: &[f64; PARAMETERS], tile: usize| Fit {
        constant: w[2 * tile],
        value: w[weight.index(tile)],
        progress: w[2 * tile + 1],
    };
    for _ in 0..100 {
        let (mut gradient, mut hessian) = ([0.0; PARAMETERS], [[0.0; PARAMETERS]; PARAMETERS]);
        for row in rows {
            let p = fit(&w, row.tile).chance(row.features);
            let [value, progress] = row.features;
            let x = [(2 * row.tile, 1.0), (2 * row.tile + 1, progress), (weight.index(row.tile), value)];
            for (i, x_i) in x {
                gradient[i] += row.weight * (f64::from(u8::from(row.is_reached)) - p) * x_i;
                for (j, x_j) in x {
                    hessian[i][j] += row.weight * p * (1.0 - p) * x_i * x_j;
                }
            }
        }
        for i in 0..PARAMETERS {
            gradient[i] -= RIDGE * w[i];
            hessian[i][i] += RIDGE;
        }
        let step = solve(hessian, gradient);
        (0..PARAMETERS).for_each(|i| w[i] += step[i].clamp(-1.0, 1.0));
    }
    array::from_fn(|tile| fit(&w, tile))
}

/// Gauss–Jordan elimination; the matrix is positive definite.
fn solve(mut a: [[f64; PARAMETERS]; PARAMETERS], mut b: [f64; PARAMETERS]) -> [f64; PARAMETERS] {
    for i in 0..PARAMETERS {
        for k in (0..PARAMETERS).filter(|&k| k != i) {
            let factor = a[k][i] / a[i][i];
            (0..PARAMETERS).for_each(|j| a[k][j] -= factor * a[i][j]);
            b[k] -= factor * b[i];
        }
    }
    array::from_fn(|i| b[i] / a[i][i])
}
