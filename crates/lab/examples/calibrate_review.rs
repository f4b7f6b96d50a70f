//! Where the chances of reviews come from: games of players of different strengths, judged by the built-in model, and what
//! became of them.
//!
//! `cargo run --release -p afterstate-lab --example calibrate_review -- GAMES` plays GAMES games of each player, fits the
//! constants of `review/chance.rs` to them, and prints these. With `--check` it prints, for games with other numbers and the
//! constants as they are, the accuracy of each player. docs/review.md has the results.

use std::{collections::HashMap, env, error::Error};

use afterstate_game::{Game, Move, Rules, State, game_rng};
use afterstate_lab::{
    model::Model,
    review::{Accuracy, Fit, LARGEST, Reference, SMALLEST, features, judge},
};
use afterstate_search::{Limit, Player};
use rand_core::Rng;

/// Positions of a game that are judged, at most.
const POSITIONS: u64 = 500;

/// Who plays: by chance in so many of a hundred moves, and else by a rule or a search.
struct Contestant {
    name: &'static str,
    random: u64,
    rule: Rule,
}

#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// Left, down, right, up, whichever is possible first.
    Order,
    /// Whatever merges most, but up only when nothing else is possible.
    Merge,
    /// The built-in model by so many plies.
    Plies(u32),
}

const CONTESTANTS: [Contestant; 11] = [
    Contestant { name: "random", random: 100, rule: Rule::Order },
    Contestant { name: "left, down, right, up", random: 0, rule: Rule::Order },
    Contestant { name: "largest merge", random: 0, rule: Rule::Merge },
    Contestant { name: "1ply, half at random", random: 50, rule: Rule::Plies(1) },
    Contestant { name: "1ply, 20% at random", random: 20, rule: Rule::Plies(1) },
    Contestant { name: "1ply, 10% at random", random: 10, rule: Rule::Plies(1) },
    Contestant { name: "1ply, 5% at random", random: 5, rule: Rule::Plies(1) },
    Contestant { name: "1ply, 2% at random", random: 2, rule: Rule::Plies(1) },
    Contestant { name: "1ply", random: 0, rule: Rule::Plies(1) },
    Contestant { name: "2ply", random: 0, rule: Rule::Plies(2) },
    Contestant { name: "3ply", random: 0, rule: Rule::Plies(3) },
];

/// A position of a game: the board, its value, and how the game ended.
struct Seen {
    state: State<4>,
    value: f64,
    last: u8,
    player: usize,
    game: u64,
}

struct Judge<'a> {
    reference: Reference,
    search: Box<dyn Player<4> + 'a>,
    players: Vec<Box<dyn Player<4> + 'a>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let is_check = arguments.iter().any(|argument| argument == "--check");
    let games: u64 = arguments.first().ok_or("give the number of games")?.parse()?;
    let judged_by =
        arguments.iter().find_map(|argument| argument.strip_suffix("ply")).unwrap_or("3").parse()?;
    let model = Model::open(None)?;
    let player = |plies| {
        let search = model.search(None, Limit::Plies(plies)).expect("a search");
        model.player::<4>(search, 1).expect("the built-in model can search")
    };
    let reference = model.reference().expect("a network on 4×4");
    let mut judge = Judge { reference, search: player(judged_by), players: (1..=3).map(player).collect() };
    println!("{reference:?}, games judged at {judged_by} plies");
    let seed = if is_check { 1001 } else { 1000 };
    let mut seen = Vec::new();
    for (player, contestant) in CONTESTANTS.iter().enumerate() {
        let (mut scores, mut accuracies) = (Vec::new(), Vec::new());
        for number in 0..games {
            let (score, accuracy) = judge.game(contestant, player, seed, number, &mut seen);
            scores.push(score as f64);
            accuracies.extend(accuracy);
        }
        let (score, accuracy) = (mean(&scores), mean(&accuracies));
        println!("| {} | {score:.0} | {accuracy:.1} ± {:.1} |", contestant.name, interval(&accuracies));
    }
    if !is_check {
        println!("PLAYERS");
        print_fits(&seen.iter().collect::<Vec<_>>(), judge.reference);
        println!("MODEL");
        print_fits(
            &seen
                .iter()
                .filter(|seen| {
                    CONTESTANTS[seen.player].random == 0
                        && matches!(CONTESTANTS[seen.player].rule, Rule::Plies(_))
                })
                .collect::<Vec<_>>(),
            judge.reference,
        );
    }
    Ok(())
}

impl Judge<'_> {
    /// Plays a game and looks at some of its positions: its score and accuracy.
    fn game(
        &mut self,
        contestant: &Contestant,
        player: usize,
        seed: u64,
        number: u64,
        seen: &mut Vec<Seen>,
    ) -> (u64, Option<f64>) {
        let (mut game, mut rng) =
            (Game::<4>::new(Rules::default(), seed, number), game_rng(seed + 77, number));
        let mut played = Vec::new();
        while !game.state().is_terminal() {
            let a = self.choose(contestant, game.state(), &mut rng);
            played.push((game.state(), a));
            game.play(a);
        }
        let step = (played.len() as u64).div_ceil(POSITIONS).max(1) as usize;
        let mut accuracy = Accuracy::default();
        for &(state, a) in played.iter().step_by(step) {
            let advice = self.search.advise(state);
            accuracy.add(&judge(state, a, &advice, Some(self.reference)));
            let last = game.state().board().max_exponent();
            seen.push(Seen { state, value: advice.value().into(), last, player, game: number });
        }
        (game.score(), accuracy.percent())
    }

    fn choose(&mut self, contestant: &Contestant, state: State<4>, rng: &mut impl Rng) -> Move {
        let legal: Vec<Move> = state.legal_moves().collect();
        if rng.next_u64() % 100 < contestant.random {
            return legal[(rng.next_u64() % legal.len() as u64) as usize];
        }
        match contestant.rule {
            Rule::Order => first_of(state, [Move::Left, Move::Down, Move::Right, Move::Up]),
            Rule::Merge => {
                let merged = |a: &Move| state.slide(*a).map(|slide| slide.reward);
                let best = [Move::Right, Move::Left, Move::Down].into_iter().max_by_key(merged);
                best.filter(|a| merged(a).is_some()).unwrap_or(Move::Up)
            }
            Rule::Plies(plies) => self.players[plies as usize - 1].advise(state).best().unwrap_or(legal[0]),
        }
    }
}

fn first_of(state: State<4>, order: [Move; 4]) -> Move {
    order.into_iter().find(|a| state.slide(*a).is_some()).unwrap_or(Move::Up)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Half the width of the 95% interval of the mean.
fn interval(numbers: &[f64]) -> f64 {
    let (mean, count) = (mean(numbers), numbers.len() as f64);
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    1.96 * (variance / count).sqrt()
}

fn print_fits(seen: &[&Seen], reference: Reference) {
    for goal in SMALLEST..=LARGEST {
        let Fit { constant, value, progress } = fit(seen, goal, reference);
        println!(
            "    Fit {{ constant: {constant:.3}, value: {value:.3}, progress: {progress:.3} }}, // {}",
            1u32 << goal
        );
    }
}

/// Logistic regression by Newton's method, with a little ridge. Positions count where the tile is not there yet and the one
/// two below it is, or for the smallest one, from the beginning. All games of a player count alike, and all players.
fn fit(seen: &[&Seen], goal: u8, reference: Reference) -> Fit {
    let counts = |seen: &&&Seen| {
        let largest = seen.state.board().max_exponent();
        largest < goal && (goal == SMALLEST || largest + 3 >= goal)
    };
    let mut positions: HashMap<(usize, u64), f64> = HashMap::new();
    seen.iter()
        .filter(counts)
        .for_each(|seen| *positions.entry((seen.player, seen.game)).or_default() += 1.0);
    let mut games: HashMap<usize, f64> = HashMap::new();
    positions.keys().for_each(|(player, _)| *games.entry(*player).or_default() += 1.0);
    let rows: Vec<([f64; 3], f64, f64)> = seen
        .iter()
        .filter(counts)
        .map(|seen| {
            let [value, progress] = features(seen.state, goal, seen.value, reference);
            let weight = 10.0 / positions[&(seen.player, seen.game)] / games[&seen.player];
            ([1.0, value, progress], f64::from(u8::from(seen.last >= goal)), weight)
        })
        .collect();
    let mut w = [0.0, 1.0, 0.0];
    for _ in 0..50 {
        let (mut gradient, mut hessian) = ([0.0; 3], [[0.0; 3]; 3]);
        for (x, y, weight) in &rows {
            let p = 1.0 / (1.0 + (-(0..3).map(|i| w[i] * x[i]).sum::<f64>()).exp());
            for i in 0..3 {
                gradient[i] += weight * (y - p) * x[i];
                for j in 0..3 {
                    hessian[i][j] += weight * p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        for i in 1..3 {
            gradient[i] -= 0.01 * w[i];
        }
        (0..3).for_each(|i| hessian[i][i] += 0.01);
        let step = solve(hessian, gradient);
        (0..3).for_each(|i| w[i] += step[i].clamp(-2.0, 2.0));
    }
    Fit { constant: w[0], value: w[1], progress: w[2] }
}

/// Gauss–Jordan elimination.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3]) -> [f64; 3] {
    for i in 0..3 {
        for k in (0..3).filter(|&k| k != i) {
            let factor = a[k][i] / a[i][i];
            (0..3).for_each(|j| a[k][j] -= factor * a[i][j]);
            b[k] -= factor * b[i];
        }
    }
    [0, 1, 2].map(|i| b[i] / a[i][i])
}
