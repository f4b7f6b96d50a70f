//! The speed of search.

use std::time::{Duration, Instant};

use afterstate_game::{Game, Rules};
use afterstate_lab::model::{BUILT_IN, Model};
use afterstate_network::Network;
use afterstate_search::{Downgrade, Limit, Player, PlayerSpec};

use super::{Figure, Unit, networks::schooled};
use crate::{commands::thread_count, error::Failure};

/// The measuring time of each depth.
const MEASURED: Duration = Duration::from_secs(2);

/// The number of moves that threads search together, and of the greedy moves before them.
const TOGETHER: u32 = 100;
const OPENING: u32 = 1000;

/// Moves per second by depth, on one thread, with a reference network and with the built-in model; and on all cores
/// searching each move together.
pub(super) fn search() -> Result<Vec<Figure>, Failure> {
    let mut figures = rates("4x6", &schooled()?, None);
    let built_in = Model::open(None)?;
    let network = built_in.network("`bench`")?;
    figures.extend(rates(BUILT_IN, network, built_in.downgrade));
    let spec = PlayerSpec { downgrade: built_in.downgrade, ..PlayerSpec::new(Limit::Plies(5)) };
    for threads in [1, thread_count(0)] {
        let label =
            format!("moves of 5-ply search in the middle of a game, {BUILT_IN}, {threads} threads together");
        let key = format!("search_together_{threads}");
        figures.push(Figure::new(key, label, rate_together(network, spec, threads), Unit::PerSecond));
    }
    Ok(figures)
}

/// Moves per second in the middle of a game, with threads that search each move together: the moves are the same for
/// any number of threads.
fn rate_together(network: &Network, spec: PlayerSpec, threads: usize) -> f64 {
    let mut game = Game::<4>::new(Rules::default(), 1, 1);
    let mut play = |spec: PlayerSpec, threads: usize, moves: u32| {
        let mut player = spec.player::<4>(network.view(), Rules::default(), threads);
        let start = Instant::now();
        for _ in 0..moves {
            player.advise(game.state()).best().map(|best| game.play(best));
        }
        f64::from(moves) / start.elapsed().as_secs_f64()
    };
    play(PlayerSpec::new(Limit::Plies(1)), 1, OPENING);
    play(spec, threads, TOGETHER)
}

fn rates(name: &str, network: &Network, downgrade: Option<Downgrade>) -> Vec<Figure> {
    let figure = |plies| {
        let label = format!("moves of {plies}-ply search, {name}, 1 thread");
        let spec = PlayerSpec { downgrade, ..PlayerSpec::new(Limit::Plies(plies)) };
        let key = format!("search_{}_{plies}ply", name.replace('-', "_"));
        Figure::new(key, label, rate(network, spec), Unit::PerSecond)
    };
    (2..=5).map(figure).collect()
}

/// Moves per second in whole games, one after the other.
fn rate(network: &Network, spec: PlayerSpec) -> f64 {
    let mut player = spec.player::<4>(network.view(), Rules::default(), 1);
    let (start, mut moves) = (Instant::now(), 0);
    for number in 0.. {
        let mut game = Game::new(Rules::default(), 1, number);
        while let Some(best) = player.advise(game.state()).best() {
            game.play(best);
            moves += 1;
            if start.elapsed() >= MEASURED {
                return f64::from(moves) / start.elapsed().as_secs_f64();
            }
        }
    }
    0.0
}
