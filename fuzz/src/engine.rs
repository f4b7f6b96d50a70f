//! The engine: its commands, and whole sessions.

#[path = "../../crates/cli/src/commands/engine/command.rs"]
#[allow(dead_code, reason = "the engine uses all of it")]
mod command;

use std::{
    io::Cursor,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use afterstate_game::AnyBoard;
use afterstate_search::{Limit, MAX_PLIES, PlayerSpec, SearchSettings, TableSize};
use command::{Command, Depth};

use super::small_model;

/// What other programs say to the engine: every line is a command within its bounds, or an error of one line.
pub fn engine(data: &[u8]) {
    for line in String::from_utf8_lossy(data).lines() {
        let depth = match line.parse::<Command>() {
            Ok(Command::Position(board)) => {
                let text = match board {
                    AnyBoard::Four(board) => board.to_string(),
                    AnyBoard::Three(board) => board.to_string(),
                    AnyBoard::Two(board) => board.to_string(),
                };
                assert_eq!(format!("position {text}").parse(), Ok(Command::Position(board)));
                continue;
            }
            Ok(Command::SetOption(name, value)) => {
                assert!([name, value].iter().all(|word| word.trim() == word));
                continue;
            }
            Ok(Command::Go(depth)) => depth,
            Ok(Command::Batch(count, depth)) => {
                assert!((1..=1_000_000).contains(&count));
                depth
            }
            Ok(_) => continue,
            Err(message) => {
                assert!(!message.is_empty() && !message.contains('\n'), "{message:?}");
                continue;
            }
        };
        match depth {
            Depth::Plies(plies) => assert!((1..=MAX_PLIES).contains(&plies)),
            Depth::Time(time) => assert!(!time.is_zero() && time <= Duration::from_secs(86_400)),
            Depth::Default | Depth::Infinite => {}
        }
    }
}

/// Sessions of the engine: every line has the answer that is right for it, in order, and nothing else is said.
pub fn engine_session(data: &[u8]) {
    static MODEL: OnceLock<PathBuf> = OnceLock::new();
    let lines: Vec<_> = data.split(|&byte| byte == b'\n').filter(|line| is_quick(line)).take(60).collect();
    let input = lines.iter().flat_map(|line| [line, &b"\n"[..]]).collect::<Vec<_>>().concat();
    let mut out = Vec::new();
    afterstate::engine_session(MODEL.get_or_init(small_model), Cursor::new(input), &mut out).expect("an end");
    let out = String::from_utf8(out).expect("text");
    let begins =
        |line: &str, words: &[&'static str]| words.iter().copied().find(|word| line.starts_with(word));
    let answers: Vec<_> = out
        .lines()
        .filter_map(|line| {
            let answer = begins(line, &["readyok", "u2iok", "bestmove ", "error "]);
            assert!(answer.is_some() || begins(line, &["id ", "option ", "info "]).is_some(), "{line}");
            answer
        })
        .collect();
    assert_eq!(answers, engine_answers(&lines), "{}\n{out}", String::from_utf8_lossy(data));
}

/// How the answers to these lines begin.
fn engine_answers(lines: &[&[u8]]) -> Vec<&'static str> {
    let (mut lines, mut answers, mut has_board) = (lines.iter(), Vec::new(), false);
    let best_or_error = |is_board| if is_board { "bestmove " } else { "error " };
    let is_board =
        |line: &[u8]| matches!(std::str::from_utf8(line).map(str::parse), Ok(Ok(AnyBoard::Four(_))));
    while let Some(line) = lines.next() {
        let command = std::str::from_utf8(line).map_err(|_| String::new()).and_then(str::parse);
        match command {
            Ok(Command::Quit) => break,
            Ok(Command::Nothing | Command::Stop) => {}
            Ok(Command::Introduce) => answers.push("u2iok"),
            Ok(Command::IsReady) => answers.push("readyok"),
            Ok(Command::Position(AnyBoard::Four(_))) => has_board = true,
            Ok(Command::Go(_)) => answers.push(best_or_error(has_board)),
            Ok(Command::Batch(count, _)) => {
                answers.extend(lines.by_ref().take(count).map(|line| best_or_error(is_board(line))));
            }
            Ok(Command::SetOption(name, value)) => match name.as_str() {
                "search" if value.parse::<PlayerSpec>().is_ok() => {}
                "threads" if value.parse::<usize>().is_ok_and(|threads| threads <= 1024) => {}
                "endgame" if value == "none" => {}
                _ => answers.push("error "),
            },
            Ok(Command::Position(_)) | Err(_) => answers.push("error "),
        }
    }
    answers
}

/// Whether the engine is through with a line in a moment. What is there in the file system is none of the fuzzer's business.
fn is_quick(line: &[u8]) -> bool {
    let quick = |limit| match limit {
        Limit::Plies(plies) => plies <= 2,
        Limit::Time(time) => time <= Duration::from_millis(5),
        Limit::Nodes(nodes) | Limit::Adaptive(nodes) => nodes <= 1000,
    };
    let quick_search = |search: SearchSettings| {
        quick(search.limit) && !matches!(search.table, TableSize::Bits(bits) if bits > 16)
    };
    if line.len() >= 1 << 16 {
        return false;
    }
    match std::str::from_utf8(line).map(str::parse) {
        Ok(Ok(Command::Go(depth) | Command::Batch(_, depth))) => match depth {
            Depth::Plies(plies) => quick(Limit::Plies(plies)),
            Depth::Time(time) => quick(Limit::Time(time)),
            Depth::Default | Depth::Infinite => true,
        },
        Ok(Ok(Command::SetOption(name, value))) => match name.as_str() {
            "search" => value.parse().map_or(true, |spec: PlayerSpec| spec.search.is_none_or(quick_search)),
            "threads" => value.parse().map_or(true, |threads: usize| !(5..=1024).contains(&threads)),
            "model" | "endgame" => !value.starts_with("built-in") && !Path::new(&value).exists(),
            _ => true,
        },
        _ => true,
    }
}
