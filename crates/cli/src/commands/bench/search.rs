//! The speed of search.

use std::time::{Duration, Instant};

use afterstate_game::{Game, Rules};
use afterstate_network::Network;
use afterstate_search::{Limit, Player, PlayerSpec};

use super::{Figure, Unit, networks::schooled};
use crate::error::Failure;

/// How long each depth is measured.
const MEASURED: Duration = Duration::from_secs(2);

/// Moves per second by depth, of one thread.
pub(super) fn search() -> Result<Vec<Figure>, Failure> {
    let network = schooled()?;
    let figure = |plies| {
        let label = format!("moves of {plies}-ply search, 4x6, 1 thread");
        Figure::new(format!("search_4x6_{plies}ply"), label, rate(&network, plies), Unit::PerSecond)
    };
    Ok((2..=5).map(figure).collect())
}

/// Moves per second in whole games, one after the other.
fn rate(network: &Network, plies: u32) -> f64 {
    let mut player = PlayerSpec::new(Limit::Plies(plies)).player::<4>(network.view(), Rules::default(), 1);
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
