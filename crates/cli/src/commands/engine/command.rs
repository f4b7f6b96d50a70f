//! The commands of the engine protocol.

use std::{str::FromStr, time::Duration};

use afterstate_game::AnyBoard;
use afterstate_search::MAX_PLIES;

/// The maximum number of boards in a batch.
const LARGEST_BATCH: usize = 1_000_000;

/// The longest time for a move: a day.
const LONGEST: u64 = 86_400_000;

/// The maximum number of characters echoed from an invalid line.
const LONGEST_ECHO: usize = 60;

/// The beginning of a text, with `…` if it is shortened.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A command line.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Command {
    /// An empty line, or a comment.
    Nothing,
    Introduce,
    IsReady,
    SetOption(String, String),
    Position(AnyBoard),
    Go(Depth),
    /// A number of lines follow, each with a board.
    Batch(usize, Depth),
    Stop,
    Quit,
}

/// How far to look ahead.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Depth {
    /// As set by the option `search`.
    Default,
    Plies(u32),
    Time(Duration),
    /// Until `stop`.
    Infinite,
}

/// Parses a board in any of its notations.
pub(super) fn parse_board(text: &str) -> Result<AnyBoard, String> {
    text.parse().map_err(|error: afterstate_game::ParseError| error.to_string())
}

impl FromStr for Command {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        match (word, rest) {
            ("", _) => Ok(Command::Nothing),
            (word, _) if word.starts_with('#') => Ok(Command::Nothing),
            ("u2i", "") => Ok(Command::Introduce),
            ("isready", "") => Ok(Command::IsReady),
            ("stop", "") => Ok(Command::Stop),
            ("quit", "") => Ok(Command::Quit),
            ("setoption", rest) => {
                let option = rest.strip_prefix("name ").and_then(|rest| rest.split_once(" value "));
                let (name, value) = option.ok_or("write `setoption name NAME value VALUE`")?;
                Ok(Command::SetOption(name.trim().to_owned(), value.trim().to_owned()))
            }
            ("position", board) => parse_board(board).map(Command::Position),
            ("go", depth) => depth.parse().map(Command::Go),
            ("batch", rest) => {
                let (count, depth) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let count = count.parse().ok().filter(|count| (1..=LARGEST_BATCH).contains(count));
                let count = count.ok_or_else(|| format!("a batch has 1 to {LARGEST_BATCH} boards"))?;
                Ok(Command::Batch(count, depth.parse()?))
            }
            _ => Err(format!(
                "`{}` is not a command: there are u2i, isready, setoption, position, go, batch, stop and quit",
                shortened(line.trim(), LONGEST_ECHO)
            )),
        }
    }
}

impl FromStr for Depth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<_> = text.split_whitespace().collect();
        match words[..] {
            [] => Ok(Depth::Default),
            ["infinite"] => Ok(Depth::Infinite),
            ["ply", plies] => {
                let plies = plies.parse().ok().filter(|plies| (1..=MAX_PLIES).contains(plies));
                plies.map(Depth::Plies).ok_or_else(|| format!("`ply` takes a number from 1 to {MAX_PLIES}"))
            }
            ["movetime", time] => {
                let time = time.parse().ok().filter(|time| (1..=LONGEST).contains(time));
                let time =
                    time.ok_or_else(|| format!("`movetime` takes milliseconds, from 1 to {LONGEST}"))?;
                Ok(Depth::Time(Duration::from_millis(time)))
            }
            _ => Err(format!("`{text}` is not a depth: write `ply N`, `movetime MS` or `infinite`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands() {
        let board = parse_board("0000/0010/0100/000b").expect("a board");
        for (line, command) in [
            ("  ", Command::Nothing),
            ("# a comment", Command::Nothing),
            ("u2i", Command::Introduce),
            ("position 0000/0010/0100/000b", Command::Position(board)),
            ("position . . . .  . . 2 .  . 2 . .  . . . 2048", Command::Position(board)),
            ("go", Command::Go(Depth::Default)),
            ("go ply 3", Command::Go(Depth::Plies(3))),
            ("go movetime 10", Command::Go(Depth::Time(Duration::from_millis(10)))),
            ("batch 2 ply 1", Command::Batch(2, Depth::Plies(1))),
            ("setoption name search value 2ply", Command::SetOption("search".into(), "2ply".into())),
        ] {
            assert_eq!(line.parse(), Ok(command), "{line}");
        }
        for line in
            ["go ply 0", "go ply", "go 3", "batch", "batch 0", "position", "setoption x", "uci", "quit now"]
        {
            assert!(line.parse::<Command>().is_err(), "{line}");
        }
    }
}
