//! `afterstate conformance`: test vectors of the rules, for other programs.

use std::io::Write;

use afterstate_game::{Board, Game, Move, Rules, State};
use clap::Args;
use serde_json::{Value, json};

use crate::error::Failure;

/// Boards that implementations have handled incorrectly, with explanations.
const SPECIAL: [(&str, &str); 16] = [
    ("1111/0000/0000/0000", "two merges in a line, and no third"),
    ("1120/0000/0000/0000", "a tile made by a merge does not merge again"),
    ("2110/0000/0000/0000", "nor from the other side"),
    ("1110/0000/0000/0000", "of three, the two merge that are nearer to the wall"),
    ("1011/0000/0000/0000", "gaps do not keep tiles apart"),
    ("1121/2212/1121/2212", "a merge on a full board leaves one empty cell, and a tile appears there"),
    ("1123/2345/3456/4567", "a full board with one merge"),
    ("1212/2121/1212/2121", "the game is over"),
    ("123a/234b/345c/456d", "the game is over, with large tiles"),
    ("0000/0000/0000/0001", "a single tile: two moves are legal"),
    ("1230/0000/0000/0000", "left and up are illegal"),
    ("1000/2000/3000/4000", "one move is legal"),
    ("ff00/0000/0000/0001", "two 32768-tiles make a 65536-tile"),
    ("gg00/0000/0000/0001", "two 65536-tiles make a 131072-tile"),
    ("h000/0000/0000/0011", "a board with a 131072-tile"),
    ("fedc/89ab/7654/0123", "a long snake"),
];

/// Afterstates for tests of new tiles, with explanations.
const SPAWNS: [(&str, &str); 3] = [
    ("1212/2121/1212/2130", "one empty cell"),
    ("1000/2000/3000/4000", "twelve empty cells"),
    ("1000/0000/0000/0000", "fifteen empty cells"),
];

/// The number of whole games.
const GAMES: u64 = 5;

/// Print test vectors of the rules, for other programs
///
/// Each line is a JSON object. `move` lines have a board, an action (0 up, 1 right, 2 down, 3 left), whether it is legal, the
/// afterstate, the reward, and the cells where a tile may appear. `spawn` lines have an afterstate and the probability of
/// every cell and tile. `game` lines are whole games with their tiles. Boards are lists of exponents, row-major: 0 is empty, 1 is a 2, 11 is a 2048.
/// examples/python/conformance.py checks an environment against them; docs/conformance.md explains it.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate conformance > vectors.jsonl\n  \
    python examples/python/conformance.py vectors.jsonl my_module:MyEnvironment")]
pub(crate) struct Conformance {
    /// The number of boards from games, in addition to the fixed ones
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = crate::commands::numbers::parse_number)]
    boards: u64,
    /// The seed of the games
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = crate::commands::numbers::parse_number)]
    seed: u64,
}

impl Conformance {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let rules = Rules::default();
        let about = json!({
            "kind": "about",
            "version": 1,
            "program": concat!("afterstate ", env!("CARGO_PKG_VERSION")),
            "side": 4,
            "actions": Move::ALL.map(Move::name),
            "four": rules.four,
            "start_tiles": rules.start_tiles,
        });
        writeln!(out, "{about}")?;
        for (text, why) in SPECIAL {
            write_moves(parse(text)?, why, out)?;
        }
        for number in 0..self.boards {
            write_moves(board_of_game(rules, self.seed, number), "a board of a game", out)?;
        }
        SPAWNS.iter().try_for_each(|(text, why)| write_spawns(parse(text)?, &rules, why, out))?;
        (0..GAMES).try_for_each(|number| write_game(rules, self.seed, number, out))
    }
}

/// A whole game with random moves and its tiles, for programs whose boards cannot be set.
fn write_game(rules: Rules, seed: u64, number: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let mut game = Game::<4>::new(rules, seed, number);
    let start: Vec<_> =
        (0..).zip(exponents(game.state().board())).filter(|(_, e)| *e > 0).map(tile).collect();
    let mut moves = Vec::new();
    while let Some(a) = random_move(game.state(), number + game.moves() * 13) {
        let legal = Move::ALL.map(|a| game.state().legal_moves().contains(a));
        let Some(slide) = game.play(a) else { break };
        let (left, now) = (exponents(slide.afterstate.board()), exponents(game.state().board()));
        let spawn = (0..).zip(now.into_iter().zip(&left)).find(|(_, (now, left))| now != *left);
        moves.push(json!({
            "action": a as u8,
            "legal": legal,
            "afterstate": left,
            "reward": slide.reward,
            "spawn": spawn.map(|(cell, (exponent, _))| tile((cell, exponent))),
        }));
    }
    let score = game.score();
    let vector =
        json!({ "kind": "game", "why": "a whole game", "start": start, "moves": moves, "score": score });
    Ok(writeln!(out, "{vector}")?)
}

fn tile((cell, exponent): (u64, u8)) -> Value {
    json!({ "cell": cell, "exponent": exponent })
}

/// A legal move, selected by a number.
fn random_move(state: State<4>, number: u64) -> Option<Move> {
    let legal: Vec<_> = state.legal_moves().collect();
    legal.get(number as usize % legal.len().max(1)).copied()
}

fn parse(text: &str) -> Result<Board<4>, Failure> {
    text.parse().map_err(|error| Failure::other(error, "this is a mistake in the program"))
}

/// A board of a game with random moves, early or late in the game.
fn board_of_game(rules: Rules, seed: u64, number: u64) -> Board<4> {
    let mut game = Game::<4>::new(rules, seed, number);
    // Random games have about 120 moves; some are played to the end.
    for turn in 0..number * 7 % 150 {
        let Some(a) = random_move(game.state(), number + turn * 13) else { break };
        game.play(a);
    }
    game.state().board()
}

fn exponents(board: Board<4>) -> Vec<u8> {
    board.exponents().collect()
}

/// Writes a line for each action.
fn write_moves(board: Board<4>, why: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let state = State::new(board);
    for a in Move::ALL {
        let slide = state.slide(a);
        let left = slide.map_or(board, |slide| slide.afterstate.board());
        let empty: Vec<_> =
            (0..).zip(exponents(left)).filter(|(_, e)| *e == 0).map(|(i, _): (u64, _)| i).collect();
        let vector = json!({
            "kind": "move",
            "why": why,
            "board": exponents(board),
            "action": a as u8,
            "legal": slide.is_some(),
            "afterstate": exponents(left),
            "reward": slide.map_or(0, |slide| slide.reward),
            "spawn_cells": if slide.is_some() { empty } else { Vec::new() },
            "over": state.is_terminal(),
        });
        writeln!(out, "{vector}")?;
    }
    Ok(())
}

/// Writes the probability of each cell and tile.
fn write_spawns(board: Board<4>, rules: &Rules, why: &str, out: &mut dyn Write) -> Result<(), Failure> {
    // A board from which a legal move leads to this afterstate, so that environments can be tested on it.
    let (before, a) =
        predecessor(board).ok_or_else(|| Failure::other("no predecessor", "a mistake in the program"))?;
    let empty = board.empty_count() as f64;
    let cells = (0..).zip(exponents(board)).filter(|(_, e)| *e == 0);
    let outcomes: Vec<Value> = cells
        .flat_map(|(cell, _): (u64, _)| {
            [(1, 1.0 - rules.four), (2, rules.four)]
                .map(|(tile, p)| json!({ "cell": cell, "exponent": tile, "probability": p / empty }))
        })
        .collect();
    let vector = json!({
        "kind": "spawn",
        "why": why,
        "board": exponents(before),
        "action": a as u8,
        "afterstate": exponents(board),
        "outcomes": outcomes,
    });
    Ok(writeln!(out, "{vector}")?)
}

/// A board and a move that lead to an afterstate without a merge: one tile is a cell further from the wall.
fn predecessor(board: Board<4>) -> Option<(Board<4>, Move)> {
    let cells = exponents(board);
    let steps = [(Move::Up, 4), (Move::Left, 1)];
    let candidates = (0..16usize).flat_map(|cell| steps.map(|(a, step)| (cell, a, step)));
    let apart =
        candidates.filter(|(cell, _, step)| cell + step < 16 && cells[*cell] > 0 && cells[cell + step] == 0);
    let boards = apart.filter_map(|(cell, a, step)| {
        let mut before = cells.clone();
        before.swap(cell, cell + step);
        Some((Board::from_exponents(&before).ok()?, a))
    });
    let merges = [(Move::Up, 4usize), (Move::Left, 1)].into_iter().flat_map(|(a, step)| {
        let cells = cells.clone();
        (0..16usize).filter_map(move |cell| {
            let mut before = cells.clone();
            let half = before[cell].checked_sub(1).filter(|half| *half > 0)?;
            let next = before.get_mut(cell + step)?;
            (*next == 0).then(|| *next = half)?;
            before[cell] = half;
            Some((Board::from_exponents(&before).ok()?, a))
        })
    });
    let leads = |(before, a): &(Board<4>, Move)| {
        State::new(*before).slide(*a).is_some_and(|slide| slide.afterstate.board() == board)
    };
    boards.chain(merges).find(leads)
}
