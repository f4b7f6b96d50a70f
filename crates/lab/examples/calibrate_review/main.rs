//! Calibrates the chances of reviews: games of players of different strengths, judged by a model, and their outcomes.
//!
//! ```sh
//! calibrate() { cargo run --release -p afterstate-lab --example calibrate_review -- "$@"; }
//! calibrate play 20 1000 fit.jsonl --play-on                # 20 games of each player with seed 1000, judged at 3 plies
//! calibrate fit fit.jsonl                                   # the constants of review/chance.rs
//! calibrate play 20 2000 held-out.jsonl --positions 500     # other games; --judge 4ply looks deeper
//! calibrate check held-out.jsonl                            # the accuracy of each player
//! ```
//!
//! docs/review.md has the results.

mod fit;
mod players;

use std::{
    collections::BTreeSet,
    env,
    error::Error,
    fs::File,
    io::{BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use afterstate_game::{Game, GameRng, Move, Rules, State, game_rng};
use afterstate_lab::{
    model::Model,
    review::{Accuracy, Reference, judge},
};
use afterstate_search::{Advice, Limit, Player};
use serde::{Deserialize, Serialize};

use crate::players::{CONTESTANTS, Contestants};

/// The default maximum number of positions of a game that are judged.
const POSITIONS: usize = 250;

/// The number of positions of a game from which the built-in model continues: spread over the game, and right before
/// its end.
const PLAYED_ON: usize = 4;

/// A game that was played and judged.
#[derive(Serialize, Deserialize)]
struct Judged {
    /// The index of the player among the contestants.
    player: usize,
    score: u64,
    /// The exponent of the largest tile at the end.
    last: u8,
    /// The score that the judge's network expects of a new game.
    reference: f64,
    positions: Vec<Position>,
}

/// A position, the move made there, and the judge's values of the four moves.
#[derive(Serialize, Deserialize)]
struct Position {
    board: String,
    played: usize,
    values: [Option<f32>; 4],
    /// The exponent of the largest tile at the end if the built-in model continues greedily; known for some positions.
    #[serde(default)]
    last_by_model: Option<u8>,
}

impl Position {
    fn state(&self) -> State<4> {
        self.board.parse().expect("a board that this program wrote")
    }

    fn advice(&self) -> Advice {
        Advice { values: self.values, ..Advice::default() }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["play", games, seed, file, ref options @ ..] => {
            let option = |name: &str| options.iter().skip_while(|word| **word != name).nth(1).copied();
            let search = option("--judge").unwrap_or("3ply");
            let settings = PlaySettings {
                games: games.parse()?,
                seed: seed.parse()?,
                positions: option("--positions").map_or(Ok(POSITIONS), str::parse)?,
                plays_on: options.contains(&"--play-on"),
            };
            play(&settings, Path::new(file), option("--model").map(Path::new), search)
        }
        ["fit", file] => {
            fit::print(&read(file)?);
            Ok(())
        }
        ["check", file] => {
            check(&read(file)?);
            Ok(())
        }
        _ => Err("give play GAMES SEED FILE [--judge SEARCH] [--model MODEL] [--positions N] [--play-on], fit FILE or check FILE".into()),
    }
}

/// What to play, and how much of it to judge.
struct PlaySettings {
    games: u64,
    seed: u64,
    positions: usize,
    /// Whether the built-in model continues from some positions.
    plays_on: bool,
}

/// Plays the games of all players, and writes them with a judge's evaluations.
fn play(
    settings: &PlaySettings,
    file: &Path,
    model: Option<&Path>,
    search: &str,
) -> Result<(), Box<dyn Error>> {
    let PlaySettings { games, seed, positions, plays_on } = *settings;
    let mut out = BufWriter::new(File::create(file)?);
    let (built_in, judging) = (Model::open(None)?, Model::open(model)?);
    let mut contestants = Contestants::new(&built_in);
    let reference = judging.reference().ok_or("the judge must be a network on 4×4")?;
    let mut judge = judging.player::<4>(judging.search(Some(search), Limit::Plies(3))?, 1)?;
    for (player, contestant) in CONTESTANTS.iter().enumerate() {
        let games = contestant.share(games);
        for number in 0..games {
            let (mut game, mut rng) =
                (Game::<4>::new(Rules::default(), seed, number), game_rng(seed + 77, number));
            let mut played = Vec::new();
            while !game.state().is_terminal() {
                let a = contestants.choose(contestant, game.state(), &mut rng);
                played.push((game.state(), a));
                game.play(a);
            }
            let mut positions = judged(&played, positions, &mut *judge);
            if plays_on {
                play_on(&mut positions, &mut contestants, &mut rng);
            }
            let last = game.state().board().max_exponent();
            let line = Judged { player, score: game.score(), last, reference: reference.points(), positions };
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        }
        out.flush()?;
        eprintln!("{}: {games} games", contestant.name);
    }
    Ok(())
}

fn judged(played: &[(State<4>, Move)], most: usize, judge: &mut dyn Player<4>) -> Vec<Position> {
    let step = played.len().div_ceil(most).max(1);
    let position = |&(state, a): &(State<4>, Move)| Position {
        board: state.to_string(),
        played: a as usize,
        values: judge.advise(state).values,
        last_by_model: None,
    };
    played.iter().step_by(step).map(position).collect()
}

/// Lets the built-in model continue from some positions.
fn play_on(positions: &mut [Position], contestants: &mut Contestants<'_>, rng: &mut GameRng) {
    let count = positions.len();
    let spread = (0..PLAYED_ON).map(|i| i * count / PLAYED_ON);
    let late = (1..=PLAYED_ON).filter_map(|i| count.checked_sub(3 * i));
    for at in spread.chain(late).collect::<BTreeSet<_>>() {
        let mut state = positions[at].state();
        while !state.is_terminal() {
            let slide = state.slide(contestants.greedy(state)).expect("a legal move");
            state = slide.afterstate.spawn(&Rules::default(), rng);
        }
        positions[at].last_by_model = Some(state.board().max_exponent());
    }
}

fn read(file: &str) -> Result<Vec<Judged>, Box<dyn Error>> {
    let lines = BufReader::new(File::open(file)?).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// Prints the mean score and accuracy of each player, the weakest one first.
fn check(games: &[Judged]) {
    let mut rows: Vec<_> = CONTESTANTS
        .iter()
        .enumerate()
        .map(|(player, contestant)| {
            let own: Vec<&Judged> = games.iter().filter(|game| game.player == player).collect();
            let scores: Vec<f64> = own.iter().map(|game| game.score as f64).collect();
            let accuracies: Vec<f64> = own.iter().filter_map(|game| accuracy(game)).collect();
            (contestant.name, scores, accuracies)
        })
        .filter(|(_, scores, _)| !scores.is_empty())
        .collect();
    rows.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
    println!(
        "| player | games | mean score | accuracy | lowest, highest |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for (name, scores, accuracies) in rows {
        let extreme = |pick: fn(f64, f64) -> f64| accuracies.iter().copied().reduce(pick).unwrap_or(f64::NAN);
        let (low, high) = (extreme(f64::min), extreme(f64::max));
        let (score, middle, half) = (mean(&scores), mean(&accuracies), interval(&accuracies));
        println!(
            "| {name} | {} | {score:.0} | {middle:.1} ± {half:.1} | {low:.0}, {high:.0} |",
            scores.len()
        );
    }
}

fn accuracy(game: &Judged) -> Option<f64> {
    let mut accuracy = Accuracy::default();
    for position in &game.positions {
        let a = Move::ALL[position.played];
        let reference = Some(Reference::new(game.reference));
        accuracy.add(&judge(position.state(), a, &position.advice(), reference));
    }
    accuracy.percent()
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
