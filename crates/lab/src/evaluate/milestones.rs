//! The score and the number of moves at which a tile is first made: terauchi-2025, Table 1.

use afterstate_game::Game;
use serde::Serialize;

use super::{
    Contest, Times,
    players::{in_parallel, play},
};
use crate::stats::Spread;

/// The smallest tile included, as an exponent: 128.
const SMALLEST: u8 = 7;

/// Scores and moves of games when they first make a tile.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Milestone {
    /// The tile.
    pub tile: u32,
    /// The number of games that made it.
    pub games: u64,
    /// Their scores at that moment.
    pub score: Mean,
    /// The moves that they had made.
    pub moves: Mean,
}

/// A mean over games.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Half its 95% confidence interval; none for a single game.
    pub ci95: Option<f64>,
}

impl Mean {
    fn of(numbers: impl Iterator<Item = u64>) -> Option<Mean> {
        let Spread { mean, ci95, .. } = Spread::of(numbers.map(|number| number as f64).collect())?;
        Some(Mean { mean, ci95 })
    }
}

/// The exponent, score and moves when a game first made each tile.
type Firsts = Vec<(u8, u64, u64)>;

impl Contest<'_> {
    /// Plays the games, and returns the milestones, smaller tiles first. `watch` receives the number of games that have
    /// ended, at each end and sometimes in between; when it returns `false`, play stops and there is no result.
    pub fn milestones(&self, watch: impl FnMut(u64) -> bool) -> Option<Vec<Milestone>> {
        match self.network.spec().side {
            4 => self.milestones_on::<4>(watch),
            3 => self.milestones_on::<3>(watch),
            _ => self.milestones_on::<2>(watch),
        }
    }

    fn milestones_on<const N: usize>(&self, mut watch: impl FnMut(u64) -> bool) -> Option<Vec<Milestone>> {
        let Contest { network, player, endgames, games, threads, .. } = *self;
        let (mut ended, mut firsts) = (0, Vec::new());
        let whole = in_parallel(
            std::iter::from_fn(|| games.dealer.next()),
            threads.min(games.dealer.left() as usize),
            |stop| {
                player.player_with::<N>(network.view(), games.rules, 1, |search| {
                    search.with_endgames(endgames).with_stop(stop.clone())
                })
            },
            |player, number, stop| {
                let (mut game, mut firsts) = (Game::new(games.rules, games.seed, number), Firsts::new());
                let note = |game: &Game<N>| {
                    note(&mut firsts, game);
                    true
                };
                let whole = play(player, &mut game, &mut Times::default(), stop, note);
                whole.then_some(firsts)
            },
            |of_game: Option<Firsts>| {
                ended += u64::from(of_game.is_some());
                firsts.extend(of_game.into_iter().flatten());
                watch(ended)
            },
        );
        // The order in which games end must not affect the result.
        firsts.sort_unstable();
        whole.then(|| milestones(&firsts))
    }
}

/// Records the game if its largest tile is new.
fn note<const N: usize>(firsts: &mut Firsts, game: &Game<N>) {
    let largest = game.state().board().max_exponent();
    if largest >= SMALLEST && firsts.last().is_none_or(|(last, ..)| *last < largest) {
        firsts.push((largest, game.score(), game.moves()));
    }
}

fn milestones(firsts: &[(u8, u64, u64)]) -> Vec<Milestone> {
    let of = |exponent: u8| {
        let made = || firsts.iter().filter(move |first| first.0 == exponent);
        let (score, moves) = (Mean::of(made().map(|first| first.1))?, Mean::of(made().map(|first| first.2))?);
        Some(Milestone { tile: 1 << exponent, games: made().count() as u64, score, moves })
    };
    (SMALLEST..=17).filter_map(of).collect()
}
