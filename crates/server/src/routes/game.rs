//! `/api/v1/game` and `/api/v1/move`: the rules.

use afterstate_game::{AnyBoard, Board, Move, State as GameState};
use afterstate_lab::review::LARGEST_NUMBER;
use axum::Json;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    error::{Answer, ApiError},
    extract::{self, Body, board},
    stream::Stream,
};

/// The default seed of games, as in `afterstate play`.
const SEED: u64 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGame {
    side: Option<u64>,
    game: Option<u64>,
    seed: Option<u64>,
}

/// A new game.
pub(crate) async fn new_game(Body(wanted): Body<NewGame>) -> Answer<Json<Value>> {
    let (side, seed, game) = numbers(wanted.side, wanted.seed, wanted.game)?;
    let (board, stream) = start(side, seed, game);
    let over = is_over(board);
    Ok(Json(json!({
        "side": side,
        "seed": seed,
        "game": game,
        "board": text(board),
        "stream": stream.to_string(),
        "score": 0,
        "over": over,
    })))
}

/// The side, seed and number of a game, checked, with defaults filled in.
pub(crate) fn numbers(side: Option<u64>, seed: Option<u64>, game: Option<u64>) -> Answer<(u64, u64, u64)> {
    let side = side.unwrap_or(4);
    if !(2..=4).contains(&side) {
        return Err(ApiError::bad(format!("there are no boards of side {side}"), "write 2, 3 or 4"));
    }
    let (seed, game) = (seed.unwrap_or(SEED), game.unwrap_or_else(some_number));
    match [seed, game].into_iter().find(|number| *number > LARGEST_NUMBER) {
        Some(number) => {
            Err(ApiError::bad(format!("{number} is too large"), format!("at most {LARGEST_NUMBER}")))
        }
        None => Ok((side, seed, game)),
    }
}

/// A number for a game requested without one.
fn some_number() -> u64 {
    getrandom::u64().unwrap_or_default() % 1_000_000
}

/// The first board of a numbered game.
pub(crate) fn start(side: u64, seed: u64, game: u64) -> (AnyBoard, Stream) {
    match side {
        2 => {
            let (stream, state) = Stream::start::<2>(seed, game);
            (AnyBoard::Two(state.board()), stream)
        }
        3 => {
            let (stream, state) = Stream::start::<3>(seed, game);
            (AnyBoard::Three(state.board()), stream)
        }
        _ => {
            let (stream, state) = Stream::start::<4>(seed, game);
            (AnyBoard::Four(state.board()), stream)
        }
    }
}

fn text(board: AnyBoard) -> String {
    match board {
        AnyBoard::Two(board) => board.to_string(),
        AnyBoard::Three(board) => board.to_string(),
        AnyBoard::Four(board) => board.to_string(),
    }
}

fn is_over(board: AnyBoard) -> bool {
    match board {
        AnyBoard::Two(board) => GameState::new(board).is_terminal(),
        AnyBoard::Three(board) => GameState::new(board).is_terminal(),
        AnyBoard::Four(board) => GameState::new(board).is_terminal(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SlideRequest {
    board: String,
    r#move: String,
    stream: String,
}

/// A move and the tile that follows.
pub(crate) async fn slide(Body(request): Body<SlideRequest>) -> Answer<Json<Value>> {
    let a = extract::slide(&request.r#move)?;
    let stream: Stream = request.stream.parse()?;
    Ok(Json(match board(&request.board)? {
        AnyBoard::Four(board) => slide_on(board, a, stream),
        AnyBoard::Three(board) => slide_on(board, a, stream),
        AnyBoard::Two(board) => slide_on(board, a, stream),
    }))
}

fn slide_on<const N: usize>(board: Board<N>, a: Move, mut stream: Stream) -> Value {
    let state = GameState::new(board);
    let Some(slide) = state.slide(a) else {
        return json!({
            "legal": false,
            "afterstate": null,
            "reward": 0,
            "spawn": null,
            "board": board.to_string(),
            "stream": stream.to_string(),
            "over": state.is_terminal(),
        });
    };
    let next = stream.spawn(slide.afterstate);
    json!({
        "legal": true,
        "afterstate": slide.afterstate.to_string(),
        "reward": slide.reward,
        "spawn": spawn(slide.afterstate.board(), next.board()),
        "board": next.to_string(),
        "stream": stream.to_string(),
        "over": next.is_terminal(),
    })
}

/// The tile that `after` has and `before` lacks.
pub(crate) fn spawn<const N: usize>(before: Board<N>, after: Board<N>) -> Value {
    let cell = (0..N * N).find(|&cell| before.exponent(cell) != after.exponent(cell));
    cell.map_or(Value::Null, |cell| json!({ "cell": cell, "tile": 1u32 << after.exponent(cell) }))
}
