//! Games of players, with one player for each thread: one after the other for players that search, several in step for
//! players that evaluate many boards at once.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use afterstate_game::Game;
use afterstate_search::Player;
use afterstate_threads::{Queue, watched};

use super::{Contest, Course, Games, PlayOutcome, Steps, Times, survival::Collector};
use crate::stats::GameResult;

/// See [`Contest::play`].
pub(super) fn evaluate<const N: usize>(
    contest: &Contest<'_>,
    watch: &mut dyn FnMut(&PlayOutcome) -> bool,
) -> Option<PlayOutcome> {
    let Contest { network, player, endgames, games, threads, collect } = *contest;
    let player = |stop: &Arc<AtomicBool>| {
        player.player_with::<N>(network.view(), games.rules, 1, |search| {
            search.with_endgames(endgames).with_stop(stop.clone())
        })
    };
    play_all(games, threads, collect, player, watch)
}

/// Lets players play games, each thread with a player of its own.
pub(super) fn play_all<const N: usize, P: Player<N>>(
    games: Games<'_>,
    threads: usize,
    collect: Option<Steps>,
    player: impl Fn(&Arc<AtomicBool>) -> P + Sync,
    mut watch: impl FnMut(&PlayOutcome) -> bool,
) -> Option<PlayOutcome> {
    let mut outcome = PlayOutcome::default();
    let whole = in_parallel(
        std::iter::from_fn(|| games.dealer.next()),
        threads.min(games.dealer.left() as usize),
        player,
        |player, number, stop| {
            let mut game = Game::new(games.rules, games.seed, number);
            let (mut times, mut collector) = (Times::default(), Collector::new(collect));
            let mut firsts = Firsts::default();
            let watch = |game: &Game<N>| {
                collector.note(number, game);
                firsts.note(game);
                true
            };
            let whole = play(player, &mut game, &mut times, stop, watch);
            whole.then(|| (finish(number, &game), times, collector.positions, firsts.course(number, &game)))
        },
        |ended| {
            let ended = ended.map_or_else(PlayOutcome::default, |(result, times, positions, course)| {
                PlayOutcome { results: vec![result], times, positions, courses: vec![course] }
            });
            outcome.add(&ended);
            watch(&ended)
        },
    );
    outcome.sort();
    whole.then_some(outcome)
}

/// Lets a player continue a game until it is over, or `watch` ends it; returns `false` if stopped.
pub(super) fn play<const N: usize>(
    player: &mut dyn Player<N>,
    game: &mut Game<N>,
    times: &mut Times,
    stop: &AtomicBool,
    mut watch: impl FnMut(&Game<N>) -> bool,
) -> bool {
    while watch(game) {
        let advice = player.advise(game.state());
        // A search that was stopped is not a basis for a move.
        if stop.load(Relaxed) {
            return false;
        }
        let Some(best) = advice.best() else { break };
        times.add_move(&advice);
        game.play(best);
    }
    true
}

/// The number of moves after which tiles first appeared.
#[derive(Clone, Default)]
struct Firsts(BTreeMap<u64, u64>);

impl Firsts {
    /// Called before a game's first move and after each move. A move makes at most one tile larger than all before.
    fn note<const N: usize>(&mut self, game: &Game<N>) {
        let largest = u64::from(game.state().board().max_tile());
        if self.0.last_key_value().is_none_or(|(tile, _)| largest > *tile) {
            self.0.insert(largest, game.moves());
        }
    }

    /// The course of a finished game.
    fn course<const N: usize>(self, number: u64, game: &Game<N>) -> Course {
        Course { game: number, board: game.state().to_string(), firsts: self.0 }
    }
}

/// The result of a finished game.
fn finish<const N: usize>(number: u64, game: &Game<N>) -> GameResult {
    let max_exponent = game.state().board().max_exponent();
    GameResult { game: number, score: game.score(), max_exponent, moves: game.moves() }
}

/// Lets players play games in step, in each thread as many as its player prefers.
pub(super) fn play_in_step<const N: usize, P: Player<N>>(
    games: Games<'_>,
    threads: usize,
    player: impl Fn() -> P + Sync,
    mut watch: impl FnMut(&PlayOutcome) -> bool,
) -> Option<PlayOutcome> {
    let share = (games.dealer.left() as usize).div_ceil(threads.max(1));
    let mut outcome = PlayOutcome::default();
    let whole = watched(
        threads,
        |_, send, stop| {
            let mut numbers = std::iter::from_fn(|| games.dealer.next());
            let (mut player, mut playing, mut times) = (player(), Vec::new(), Times::default());
            while !stop.load(Relaxed) {
                let room = player.games_in_step().min(share) - playing.len();
                let more = numbers.by_ref().take(room);
                playing.extend(more.map(|number| {
                    let game = Game::<N>::new(games.rules, games.seed, number);
                    let mut firsts = Firsts::default();
                    firsts.note(&game);
                    (number, game, firsts)
                }));
                if playing.is_empty() {
                    return;
                }
                let states: Vec<_> = playing.iter().map(|(_, game, _)| game.state()).collect();
                for ((_, game, firsts), advice) in playing.iter_mut().zip(player.advise_all(&states)) {
                    times.add_move(&advice);
                    advice.best().map(|best| game.play(best));
                    firsts.note(game);
                }
                let over = |(_, game, _): &mut (u64, Game<N>, Firsts)| game.state().is_terminal();
                for (number, game, firsts) in playing.extract_if(.., over) {
                    let (result, course) = (finish(number, &game), firsts.course(number, &game));
                    if !send((result, std::mem::take(&mut times), course)) {
                        return;
                    }
                }
            }
        },
        |ended| {
            let ended = ended.map_or_else(PlayOutcome::default, |(result, times, course)| PlayOutcome {
                results: vec![result],
                times,
                courses: vec![course],
                ..PlayOutcome::default()
            });
            outcome.add(&ended);
            watch(&ended)
        },
    );
    outcome.sort();
    whole.then_some(outcome)
}

/// Processes pieces of work on threads, which take them in turn. Each thread has its own worker; a piece that is
/// stopped has no result. `watch` receives the results as they come, and sometimes nothing; when it returns `false`,
/// everything stops: the flag passed to workers and work is set, so that a long search can end early. Threads are never
/// more than two pieces ahead of `watch`. Returns whether nothing was stopped.
pub(crate) fn in_parallel<P, W, T: Send>(
    pieces: impl Iterator<Item = P> + Send,
    threads: usize,
    worker: impl Fn(&Arc<AtomicBool>) -> W + Sync,
    work: impl Fn(&mut W, P, &AtomicBool) -> Option<T> + Sync,
    mut watch: impl FnMut(Option<T>) -> bool,
) -> bool {
    let (queue, stop) = (Queue::new(pieces), Arc::new(AtomicBool::new(false)));
    watched(
        queue.threads(threads),
        |_, send, _| {
            let mut worker = worker(&stop);
            while let Some(piece) = queue.take() {
                let Some(result) = work(&mut worker, piece, &stop) else { return };
                if !send(result) {
                    return;
                }
            }
        },
        |result| {
            let goes_on = watch(result);
            stop.fetch_or(!goes_on, Relaxed);
            goes_on
        },
    )
}
