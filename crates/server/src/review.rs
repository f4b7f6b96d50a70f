//! Games that people paste: what they can look like.
//!
//! 1. A record: `afterstate game SEED GAME SIDE`, and behind it the letters of the moves. The tiles follow from the
//!    numbers.
//! 2. Boards: `BOARD MOVE` on each line.
//! 3. Moves: a board on the first line, and then `MOVE CELL TILE` on each.

use afterstate_game::{Board, Move, State};
use axum::http::StatusCode;

use crate::{
    error::{Answer, ApiError},
    extract::{self, excerpt},
    stream::{LARGEST, Stream},
};

/// What a record begins with.
const RECORD: &str = "afterstate game";

/// How a game is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Record,
    Boards,
    Moves,
}

impl Format {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Record => "record",
            Format::Boards => "boards",
            Format::Moves => "moves",
        }
    }
}

/// A move that was played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Played<const N: usize> {
    pub(crate) state: State<N>,
    pub(crate) a: Move,
    /// What came of it, if that is known.
    pub(crate) next: Option<State<N>>,
}

/// The side and the form of a game's text.
pub(crate) fn form(text: &str) -> Answer<(usize, Format)> {
    let first = lines(text).next().unwrap_or_default();
    if let Some(numbers) = first.strip_prefix(RECORD) {
        return match numbers.split_whitespace().nth(2) {
            Some("2") => Ok((2, Format::Record)),
            Some("3") => Ok((3, Format::Record)),
            Some("4") => Ok((4, Format::Record)),
            _ => Err(wrong(1, first, "write `afterstate game SEED GAME SIDE`")),
        };
    }
    let is_move = |word: &str| extract::slide(word).is_ok();
    let (board, format) = match first.rsplit_once(char::is_whitespace) {
        Some((board, last)) if is_move(last) => (board, Format::Boards),
        _ => (first, Format::Moves),
    };
    let side = match extract::board(board)? {
        afterstate_game::AnyBoard::Two(_) => 2,
        afterstate_game::AnyBoard::Three(_) => 3,
        afterstate_game::AnyBoard::Four(_) => 4,
    };
    Ok((side, format))
}

/// The moves of a game, at most so many.
pub(crate) fn moves<const N: usize>(text: &str, format: Format, most: usize) -> Answer<Vec<Played<N>>> {
    let played = match format {
        Format::Record => record(text, most),
        Format::Boards => boards(text, most),
        Format::Moves => triples(text, most),
    }?;
    match played.is_empty() {
        true => Err(ApiError::bad("there are no moves", "/api/review/example shows a game")),
        false => Ok(played),
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn wrong(line: usize, found: &str, hint: &str) -> ApiError {
    ApiError::bad(format!("line {line}: `{}`", excerpt(found)), hint)
}

fn too_long(most: usize) -> ApiError {
    let error = format!("the game has more than {most} moves");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, error, "send a part of it")
}

fn illegal(line: usize, a: Move, board: impl ToString) -> ApiError {
    let error = format!("line {line}: {a} moves nothing on {}", board.to_string());
    ApiError::bad(error, "send the game as it was played")
}

fn record<const N: usize>(text: &str, most: usize) -> Answer<Vec<Played<N>>> {
    let mut lines = lines(text);
    let first = lines.next().unwrap_or_default();
    let numbers: Vec<u64> = first.split_whitespace().skip(2).filter_map(|word| word.parse().ok()).collect();
    let &[seed @ 0..=LARGEST, game @ 0..=LARGEST, _] = &numbers[..] else {
        return Err(wrong(1, first, "write `afterstate game SEED GAME SIDE`"));
    };
    let (mut tiles, mut state) = Stream::start::<N>(seed, game);
    let mut played = Vec::new();
    for (line, letters) in (2..).zip(lines) {
        for letter in letters.chars().filter(|letter| !letter.is_whitespace()) {
            let a = extract::slide(letter.encode_utf8(&mut [0; 4]))?;
            let slide = state.slide(a).ok_or_else(|| illegal(line, a, state))?;
            let next = tiles.spawn(slide.afterstate);
            played.push(Played { state, a, next: Some(next) });
            if played.len() > most {
                return Err(too_long(most));
            }
            state = next;
        }
    }
    Ok(played)
}

fn boards<const N: usize>(text: &str, most: usize) -> Answer<Vec<Played<N>>> {
    let mut played: Vec<Played<N>> = Vec::new();
    for (number, line) in (1..).zip(lines(text)) {
        let hint = "write a board and a move, as 0000/0010/0100/000b left";
        let (board, a) = line.rsplit_once(char::is_whitespace).ok_or_else(|| wrong(number, line, hint))?;
        let board: Board<N> =
            board.parse().map_err(|error| ApiError::bad(format!("line {number}: {error}"), hint))?;
        let (state, a) = (State::new(board), extract::slide(a)?);
        if state.slide(a).is_none() {
            return Err(illegal(number, a, board));
        }
        if let Some(before) = played.last_mut() {
            before.next = Some(state);
        }
        played.push(Played { state, a, next: None });
        if played.len() > most {
            return Err(too_long(most));
        }
    }
    Ok(played)
}

fn triples<const N: usize>(text: &str, most: usize) -> Answer<Vec<Played<N>>> {
    let mut lines = (1..).zip(lines(text));
    let hint = "write a board first, and then a move, a cell and a tile on each line, as left 15 2";
    let first = lines.next().map(|(_, line)| line).unwrap_or_default();
    let board: Board<N> = first.parse().map_err(|error| ApiError::bad(format!("line 1: {error}"), hint))?;
    let (mut state, mut played) = (State::new(board), Vec::new());
    for (number, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[a, cell, tile] = &words[..] else { return Err(wrong(number, line, hint)) };
        let a = extract::slide(a)?;
        let slide = state.slide(a).ok_or_else(|| illegal(number, a, state))?;
        let next = spawned(slide.afterstate.board(), cell, tile).ok_or_else(|| wrong(number, line, hint))?;
        played.push(Played { state, a, next: Some(next) });
        if played.len() > most {
            return Err(too_long(most));
        }
        state = next;
    }
    Ok(played)
}

/// A board with a 2 or a 4 in a cell that was empty.
fn spawned<const N: usize>(board: Board<N>, cell: &str, tile: &str) -> Option<State<N>> {
    let exponent = match tile {
        "2" => 1,
        "4" => 2,
        _ => return None,
    };
    let mut exponents: Vec<u8> = board.exponents().collect();
    let cell = exponents.get_mut(cell.parse::<usize>().ok()?).filter(|cell| **cell == 0)?;
    *cell = exponent;
    Board::from_exponents(&exponents).ok().map(State::new)
}
