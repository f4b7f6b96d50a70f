//! The speed of search.

use std::time::{Duration, Instant};

use afterstate_game::{Game, Rules};
use afterstate_lab::model::{BUILT_IN, Model};
use afterstate_network::Network;
use afterstate_search::{Downgrade, Limit, Player, PlayerSpec};

use super::{Figure, Unit, networks::schooled};
use crate::{commands::thread_count, error::Failure};

/// How long each depth is measured.
const MEASURED: Duration = Duration::from_secs(2);

/// Moves per second by depth, of one thread, with a reference network and with the built-in model; and of all cores that
/// search a move together.
pub(super) fn search() -> Result<Vec<Figure>, Failure> {
    let mut figures = rates("4x6", &schooled()?, None);
    let built_in = Model::open(None)?;
    let network = built_in.network("`bench`")?;
    figures.extend(rates(BUILT_IN, network, built_in.downgrade));
    let threads = thread_count(0);
    if threads > 1 {
        let spec = PlayerSpec { downgrade: built_in.downgrade, ..PlayerSpec::new(Limit::Plies(5)) };
        let label = format!("moves of 5-ply search, {BUILT_IN}, {threads} threads together");
        let rate = rate(network, spec, threads);
        figures.push(Figure::new("search_built_in_5ply_together".to_owned(), label, rate, Unit::PerSecond));
    }
    Ok(figures)
}

fn rates(name: &str, network: &Network, downgrade: Option<Downgrade>) -> Vec<Figure> {
    let figure = |plies| {
        let label = format!("moves of {plies}-ply search, {name}, 1 thread");
        let spec = PlayerSpec { downgrade, ..PlayerSpec::new(Limit::Plies(plies)) };
        let key = format!("search_{}_{plies}ply", name.replace('-', "_"));
        Figure::new(key, label, rate(network, spec, 1), Unit::PerSecond)
    };
    (2..=5).map(figure).collect()
}

/// Moves per second in whole games, one after the other.
fn rate(network: &Network, spec: PlayerSpec, threads: usize) -> f64 {
    let mut player = spec.player::<4>(network.view(), Rules::default(), threads);
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
