//! `/api/v1/watch`: a model plays, move by move.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use afterstate_game::{AnyBoard, State as GameState};
use afterstate_search::Player;
use axum::{
    extract::State,
    response::{Response, sse::Event},
};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep_until;

use super::game;
use crate::{
    app::{App, Shared},
    brain::Brain,
    error::{Answer, ApiError},
    events::{self, event},
    extract::{Parameters, board},
    guard::Peer,
    searches::{Class, Stop},
    stream::Stream as Tiles,
};

/// How long moves are batched if they are requested at full speed.
const BATCH: Duration = Duration::from_millis(30);

/// The maximum number of moves sent at once.
const BATCH_MOVES: u64 = 500;

/// The longest pause between moves, in milliseconds.
const LONGEST_DELAY: u64 = 60_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    model: Option<String>,
    search: Option<String>,
    board: Option<String>,
    stream: Option<String>,
    side: Option<u64>,
    seed: Option<u64>,
    game: Option<u64>,
    moves: Option<u64>,
    delay: Option<u64>,
}

/// Lets a model play and streams its moves.
pub(crate) async fn watch(
    State(app): State<App>,
    Peer(peer): Peer,
    Parameters(wanted): Parameters<Wanted>,
) -> Answer<Response> {
    let search = app.limits.search(wanted.search.as_deref())?;
    let most = app.limits.max_moves;
    let (moves, delay) = (wanted.moves.unwrap_or(most), wanted.delay.unwrap_or_default());
    if moves > most || delay > LONGEST_DELAY {
        let hint = format!("at most {most} moves, and {LONGEST_DELAY} ms between them");
        return Err(ApiError::bad("the watch is too long", hint));
    }
    let (board, tiles) = match (&wanted.board, &wanted.stream) {
        (Some(text), Some(tiles)) => (board(text)?, tiles.parse()?),
        (None, None) => {
            let (side, seed, game) = game::numbers(wanted.side, wanted.seed, wanted.game)?;
            game::start(side, seed, game)
        }
        _ => return Err(ApiError::bad("a board goes with a stream", "send both, or side, seed and game")),
    };
    // Errors of the model or the board are reported before the stream begins.
    let brain = Brain::load(&app, wanted.model, search).await?;
    let stop = Stop::default();
    match board {
        AnyBoard::Four(_) => drop(brain.player::<4>(&app, &stop)?),
        AnyBoard::Three(_) => drop(brain.player::<3>(&app, &stop)?),
        AnyBoard::Two(_) => drop(brain.player::<2>(&app, &stop)?),
    }
    let delay = Duration::from_millis(delay);
    let (class, next) = (Class::of(search), Instant::now());
    let game = Watched { app: app.clone(), brain, peer, class, left: moves, delay, next };
    match board {
        AnyBoard::Four(board) => events::respond(&app, peer, game.events(GameState::new(board), tiles)),
        AnyBoard::Three(board) => events::respond(&app, peer, game.events(GameState::new(board), tiles)),
        AnyBoard::Two(board) => events::respond(&app, peer, game.events(GameState::new(board), tiles)),
    }
}

/// A game being watched.
struct Watched {
    app: App,
    brain: Brain,
    peer: IpAddr,
    class: Class,
    /// The number of remaining moves.
    left: u64,
    delay: Duration,
    /// When the next move is due.
    next: Instant,
}

/// The current position of a game.
struct Position<const N: usize> {
    state: GameState<N>,
    tiles: Tiles,
}

impl Watched {
    fn events<const N: usize>(self, state: GameState<N>, tiles: Tiles) -> impl Stream<Item = Event> {
        let begin = Some((self, Position { state, tiles }));
        stream::unfold(begin, async |watched| {
            let (mut watched, position) = watched?;
            let over = position.state.is_terminal();
            if over || watched.left == 0 {
                return Some((event("end", &json!({ "over": over })), None));
            }
            sleep_until(watched.next.into()).await;
            watched.next = Instant::now() + watched.delay;
            match watched.play(position).await {
                Ok((moves, position)) => {
                    watched.left -= moves.len() as u64;
                    let event = match &moves[..] {
                        [single] => event("move", single),
                        several => event("moves", &several),
                    };
                    Some((event, Some((watched, position))))
                }
                Err(error) => Some((events::error(&error), None)),
            }
        })
    }

    /// Plays a move, or several if there is no pause between them.
    async fn play<const N: usize>(&self, position: Position<N>) -> Answer<(Vec<Value>, Position<N>)> {
        let (shared, brain) = (self.app.clone(), self.brain.clone());
        let most = if self.delay.is_zero() { self.left.min(BATCH_MOVES) } else { 1 };
        let work = move |stop: Stop| {
            let player = brain.player::<N>(&shared, &stop)?;
            play(&shared, &brain, player, position, most)
        };
        self.app.searches.run(self.peer, self.class, work).await
    }
}

fn play<const N: usize>(
    shared: &Shared,
    brain: &Brain,
    mut player: Box<dyn Player<N> + '_>,
    mut position: Position<N>,
    most: u64,
) -> Answer<(Vec<Value>, Position<N>)> {
    let (start, mut moves) = (Instant::now(), Vec::new());
    while (moves.len() as u64) < most && (moves.is_empty() || start.elapsed() < BATCH) {
        let state = position.state;
        let advice = player.advise(state);
        brain.check(shared, state, &advice)?;
        let Some((best, slide)) = advice.best().and_then(|best| Some((best, state.slide(best)?))) else {
            break;
        };
        let next = position.tiles.spawn(slide.afterstate);
        let mut step = json!(advice);
        step["board"] = json!(state.to_string());
        step["move"] = json!(best.name());
        step["afterstate"] = json!(slide.afterstate.to_string());
        step["reward"] = json!(slide.reward);
        step["spawn"] = game::spawn(slide.afterstate.board(), next.board());
        step["next"] = json!(next.to_string());
        step["stream"] = json!(position.tiles.to_string());
        step["over"] = json!(next.is_terminal());
        moves.push(step);
        position.state = next;
    }
    Ok((moves, position))
}
