//! The text formats of games.
//!
//! 1. A record: `afterstate game SEED GAME SIDE`, followed by the letters of the moves. The tiles follow from the
//!    numbers.
//! 2. Boards: `BOARD MOVE` on each line.
//! 3. Moves: a board on the first line, then `MOVE CELL TILE` on each line. A cell is a column and a row, a1 … d4, or
//!    its number, row by row from 0, as in the API.
//! 4. A replay of 2048verse: `replay ` and a character for each tile, which encodes the preceding move, the tile and
//!    its cell.

use afterstate_game::{AnyBoard, Board, GameRng, Move, Rules, State, game_rng};

/// The prefix of a record.
const RECORD: &str = "afterstate game";

/// The prefix of a replay of 2048verse.
const VERSE: &str = "replay ";

/// The characters of a replay by number: printable ASCII, followed by some of code pages 437 and 1252.
const VERSE_CHARACTERS: &str = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒá";

/// The largest number of a seed or a game: one that all JSON parsers represent exactly.
pub const LARGEST_NUMBER: u64 = (1 << 53) - 1;

/// The format of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Numbers and letters.
    Record,
    /// A board and a move on each line.
    Boards,
    /// A board, and then moves with the spawned tiles.
    Moves,
    /// A replay of 2048verse.
    Verse,
}

impl Format {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Record => "record",
            Format::Boards => "boards",
            Format::Moves => "moves",
            Format::Verse => "2048verse",
        }
    }
}

/// A move that was played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Played<const N: usize> {
    /// The state before it.
    pub state: State<N>,
    /// The move, which is legal there.
    pub a: Move,
    /// The state after it, if known.
    pub next: Option<State<N>>,
}

/// Why a text is not a game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A line that cannot be parsed.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What would be right.
        hint: &'static str,
    },
    /// There are no moves.
    #[error("there are no moves")]
    Empty,
    /// Too many moves.
    #[error("the game has more than {0} moves")]
    TooLong(usize),
}

impl TextError {
    /// What would be right.
    pub fn hint(&self) -> &'static str {
        match self {
            TextError::Line { hint, .. } => hint,
            TextError::Empty => "write a board and a move on each line, as 0000/0010/0100/000b left",
            TextError::TooLong(_) => "give a part of it",
        }
    }
}

const RECORD_HINT: &str = "write `afterstate game SEED GAME SIDE`, and then the letters u r d l";
const BOARDS_HINT: &str = "write a board and a move, as 0000/0010/0100/000b left";
const MOVES_HINT: &str = "write a board first, and then a move, a cell and a tile on each line, as left d4 2: \
    a1 is the upper left cell, and d4 the lower right one";
const LEGAL_HINT: &str = "give the game as it was played";
const VERSE_HINT: &str = "copy the whole replay, from `replay` on";

/// A game on a board of any side.
pub enum AnyGame {
    /// 4×4.
    Four(Vec<Played<4>>),
    /// 3×3.
    Three(Vec<Played<3>>),
    /// 2×2.
    Two(Vec<Played<2>>),
}

/// Parses a game of at most this many moves.
///
/// # Errors
/// If the text has none of the formats, or a move is illegal.
pub fn parse(text: &str, most: usize) -> Result<(Format, AnyGame), TextError> {
    let (side, format) = form(text)?;
    let game = match side {
        2 => AnyGame::Two(moves(text, format, most)?),
        3 => AnyGame::Three(moves(text, format, most)?),
        _ => AnyGame::Four(moves(text, format, most)?),
    };
    Ok((format, game))
}

/// The side and the format of a game's text.
fn form(text: &str) -> Result<(usize, Format), TextError> {
    let first = lines(text).next().map(|(_, line)| line).unwrap_or_default();
    if let Some(numbers) = first.strip_prefix(RECORD) {
        return match numbers.split_whitespace().nth(2) {
            Some("2") => Ok((2, Format::Record)),
            Some("3") => Ok((3, Format::Record)),
            Some("4") => Ok((4, Format::Record)),
            _ => Err(wrong(1, first, RECORD_HINT)),
        };
    }
    if text.trim_start().starts_with(VERSE) {
        return Ok((4, Format::Verse));
    }
    let (board, format) = match first.rsplit_once(char::is_whitespace) {
        Some((board, last)) if slide(last).is_some() => (board, Format::Boards),
        _ => (first, Format::Moves),
    };
    let side = match board.parse().map_err(|error| line_error(1, error, BOARDS_HINT))? {
        AnyBoard::Two(_) => 2,
        AnyBoard::Three(_) => 3,
        AnyBoard::Four(_) => 4,
    };
    Ok((side, format))
}

fn moves<const N: usize>(text: &str, format: Format, most: usize) -> Result<Vec<Played<N>>, TextError> {
    let mut game = Reading { played: Vec::new(), most };
    match format {
        Format::Record => game.record(text),
        Format::Boards => game.boards(text),
        Format::Moves => game.triples(text),
        Format::Verse => game.verse(text),
    }?;
    if game.played.is_empty() { Err(TextError::Empty) } else { Ok(game.played) }
}

/// The non-empty lines, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty())
}

/// Parses a move from its name or its first letter.
fn slide(word: &str) -> Option<Move> {
    Move::ALL.into_iter().find(|a| word == a.name() || word == &a.name()[..1])
}

fn line_error(line: usize, what: impl ToString, hint: &'static str) -> TextError {
    TextError::Line { line, what: what.to_string(), hint }
}

fn wrong(line: usize, found: &str, hint: &'static str) -> TextError {
    line_error(line, format!("`{}`", found.chars().take(40).collect::<String>()), hint)
}

/// A game, as far as it has been parsed.
struct Reading<const N: usize> {
    played: Vec<Played<N>>,
    most: usize,
}

impl<const N: usize> Reading<N> {
    fn push(&mut self, move_: Played<N>) -> Result<(), TextError> {
        self.played.push(move_);
        if self.played.len() > self.most { Err(TextError::TooLong(self.most)) } else { Ok(()) }
    }

    /// Makes a move; `tile` determines the next state.
    fn step(
        &mut self,
        line: usize,
        state: State<N>,
        a: Move,
        tile: impl FnOnce(Board<N>) -> Option<State<N>>,
    ) -> Result<Option<State<N>>, TextError> {
        let illegal = || line_error(line, format!("{a} moves nothing on {state}"), LEGAL_HINT);
        let slide = state.slide(a).ok_or_else(illegal)?;
        let next = tile(slide.afterstate.board());
        self.push(Played { state, a, next })?;
        Ok(next)
    }

    fn record(&mut self, text: &str) -> Result<(), TextError> {
        let mut lines = lines(text);
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        let numbers: Vec<u64> =
            first.split_whitespace().skip(2).filter_map(|word| word.parse().ok()).collect();
        let &[seed @ 0..=LARGEST_NUMBER, game @ 0..=LARGEST_NUMBER, _] = &numbers[..] else {
            return Err(wrong(1, first, RECORD_HINT));
        };
        let (mut rng, rules) = (game_rng(seed, game), Rules::default());
        let mut state = rules.initial_state(&mut rng);
        for (line, letters) in lines {
            for letter in letters.chars().filter(|letter| !letter.is_whitespace()) {
                let letter = letter.to_string();
                let a = slide(&letter).ok_or_else(|| wrong(line, &letter, RECORD_HINT))?;
                state =
                    self.step(line, state, a, |board| Some(drawn(board, &rules, &mut rng)))?.unwrap_or(state);
            }
        }
        Ok(())
    }

    fn boards(&mut self, text: &str) -> Result<(), TextError> {
        for (number, line) in lines(text) {
            let (board, a) =
                line.rsplit_once(char::is_whitespace).ok_or_else(|| wrong(number, line, BOARDS_HINT))?;
            let board: Board<N> = board.parse().map_err(|error| line_error(number, error, BOARDS_HINT))?;
            let (state, a) = (
                State::new(board),
                slide(a).ok_or_else(|| wrong(number, a, "write up, right, down or left"))?,
            );
            if let Some(before) = self.played.last_mut() {
                before.next = Some(state);
            }
            self.step(number, state, a, |_| None)?;
        }
        Ok(())
    }

    fn triples(&mut self, text: &str) -> Result<(), TextError> {
        let mut lines = lines(text);
        let first = lines.next().map(|(_, line)| line).unwrap_or_default();
        let board: Board<N> = first.parse().map_err(|error| line_error(1, error, MOVES_HINT))?;
        let mut state = State::new(board);
        for (number, line) in lines {
            let bad = || wrong(number, line, MOVES_HINT);
            let words: Vec<&str> = line.split_whitespace().collect();
            let &[a, cell, tile] = &words[..] else { return Err(bad()) };
            let exponent = match tile {
                "2" => 1,
                "4" => 2,
                _ => return Err(bad()),
            };
            let (a, i) = (slide(a).ok_or_else(bad)?, cell_index::<N>(cell));
            let i = i.ok_or_else(|| line_error(number, format!("`{cell}` is no cell"), MOVES_HINT))?;
            let taken = || {
                line_error(number, format!("cell {} is not empty after {a}", cell_name::<N>(i)), LEGAL_HINT)
            };
            state = self.step(number, state, a, |board| spawned(board, i, exponent))?.ok_or_else(taken)?;
        }
        Ok(())
    }

    fn verse(&mut self, text: &str) -> Result<(), TextError> {
        let codes = text.trim_start()[VERSE.len()..].trim_end_matches(['\n', '\r']);
        let mut state = State::new(Board::EMPTY);
        for (place, character) in codes.chars().enumerate() {
            let bad = |what: &str| {
                line_error(1, format!("character {}, `{character}`: {what}", place + 8), VERSE_HINT)
            };
            let code = VERSE_CHARACTERS
                .chars()
                .position(|known| known == character)
                .ok_or_else(|| bad("unknown"))?;
            let (cell, exponent) = ((code & 3) * 4 + (code >> 2 & 3), 1 + (code >> 4 & 1) as u8);
            let no_room = || bad(&format!("cell {} is not empty", cell_name::<4>(cell)));
            state = if place < 2 {
                spawned(state.board(), cell, exponent).ok_or_else(no_room)?
            } else {
                let a = [Move::Up, Move::Right, Move::Down, Move::Left][code >> 5];
                self.step(1, state, a, |board| spawned(board, cell, exponent))?.ok_or_else(no_room)?
            };
        }
        Ok(())
    }
}

/// Parses a cell, given by column and row (d4) or by number, row by row from 0.
fn cell_index<const N: usize>(word: &str) -> Option<usize> {
    let by_name = || {
        let mut characters = word.chars();
        let letter = characters.next()?.to_ascii_lowercase();
        let column = ('a'..='d').take(N).position(|column| column == letter)?;
        let row: usize = characters.as_str().parse().ok()?;
        (1..=N).contains(&row).then(|| (row - 1) * N + column)
    };
    word.parse().ok().filter(|index| *index < N * N).or_else(by_name)
}

/// A cell's name: the letter of its column, and the number of its row.
fn cell_name<const N: usize>(cell: usize) -> String {
    let column = char::from(b'a' + (cell % N) as u8);
    format!("{column}{}", cell / N + 1)
}

fn drawn<const N: usize>(board: Board<N>, rules: &Rules, rng: &mut GameRng) -> State<N> {
    afterstate_game::Afterstate::new(board).spawn(rules, rng)
}

/// The board with a tile in a cell that was empty.
fn spawned<const N: usize>(board: Board<N>, cell: usize, exponent: u8) -> Option<State<N>> {
    let mut exponents: Vec<u8> = board.exponents().collect();
    let cell = exponents.get_mut(cell).filter(|cell| **cell == 0)?;
    *cell = exponent;
    Board::from_exponents(&exponents).ok().map(State::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_reads_alike_in_all_forms() {
        let record = "afterstate game 1 42 4\nlll ll\nd";
        let Ok((Format::Record, AnyGame::Four(played))) = parse(record, 9) else { panic!("a record") };
        assert_eq!(played.len(), 6);
        let boards: Vec<String> = played.iter().map(|p| format!("{} {}", p.state, p.a)).collect();
        let Ok((Format::Boards, AnyGame::Four(same))) = parse(&boards.join("\n"), 9) else {
            panic!("boards")
        };
        assert_eq!(same[..5], played[..5]);
        let (mut moves, mut verse) = (played[0].state.to_string(), String::from("replay "));
        let code = |board: Board<4>, next: Board<4>| {
            let cell = (0..16).find(|&cell| board.exponent(cell) != next.exponent(cell)).expect("a tile");
            (cell, next.exponent(cell))
        };
        // By definition: bits 0 and 1 are the row, 2 and 3 the column, 4 a four, 5 and 6 the previous move.
        let letter = |cell: usize, exponent: u8, a: usize| {
            let code = cell / 4 + cell % 4 * 4 + (exponent as usize - 1) * 16 + a * 32;
            VERSE_CHARACTERS.chars().nth(code).expect("a character")
        };
        for (cell, exponent) in played[0].state.board().exponents().enumerate().filter(|(_, e)| *e > 0) {
            verse.push(letter(cell, exponent, 0));
        }
        for p in &played {
            let after = p.state.slide(p.a).expect("legal").afterstate.board();
            let (cell, exponent) = code(after, p.next.expect("known").board());
            moves += &format!("\n{} {cell} {}", p.a, 1 << exponent);
            verse.push(letter(cell, exponent, p.a as usize));
        }
        let Ok((Format::Moves, AnyGame::Four(same))) = parse(&moves, 9) else { panic!("moves") };
        assert_eq!(same, played);
        // The same cells by name, also in capital letters.
        let named: Vec<String> = moves
            .lines()
            .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                [a, cell, tile] => {
                    let name = cell_name::<4>(cell.parse().expect("a number"));
                    format!("{a} {} {tile}", if a == "left" { name.to_uppercase() } else { name })
                }
                _ => line.to_owned(),
            })
            .collect();
        let Ok((Format::Moves, AnyGame::Four(same))) = parse(&named.join("\n"), 9) else {
            panic!("{named:?}")
        };
        assert_eq!(same, played);
        let Ok((Format::Verse, AnyGame::Four(same))) = parse(&verse, 9) else { panic!("a replay: {verse}") };
        assert_eq!(same, played);
    }

    #[test]
    fn what_is_no_game_is_refused_with_its_line() {
        for (text, error) in [
            ("", "line 1: 0 cells: a board has 16 (4×4), 9 (3×3) or 4 (2×2)"),
            ("afterstate game 1 2", "line 1: `afterstate game 1 2`"),
            ("afterstate game 1 2 4\n", "there are no moves"),
            ("afterstate game 1 42 4\nlx", "line 2: `x`"),
            ("0000/0000/0000/0001 right", "line 1: right moves nothing on 0000/0000/0000/0001"),
            ("0000/0000/0010/0010\nleft 8 2", "line 2: cell a3 is not empty after left"),
            ("0000/0000/0010/0010\nleft a4 2", "line 2: cell a4 is not empty after left"),
            ("0000/0000/0010/0010\nleft 16 2", "line 2: `16` is no cell"),
            ("0000/0000/0010/0010\nleft e1 2", "line 2: `e1` is no cell"),
            ("0000/0000/0010/0010\nleft a0 2", "line 2: `a0` is no cell"),
            ("000/010/010\nleft d1 2", "line 2: `d1` is no cell"),
            ("0000/0000/0010/0010\nleft d1 8", "line 2: `left d1 8`"),
            ("replay \u{1}", "line 1: character 8, `\u{1}`: unknown"),
            ("replay   ", "line 1: character 9, ` `: cell a1 is not empty"),
        ] {
            let found = parse(text, 9).err().map(|error| error.to_string());
            assert_eq!(found.as_deref(), Some(error), "{text:?}");
        }
        assert_eq!(parse("afterstate game 1 42 4\nllllll", 5).err(), Some(TextError::TooLong(5)));
    }
}
