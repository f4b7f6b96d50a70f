//! `afterstate perft`.

use std::io::{IsTerminal, Write, stdout};

use afterstate_game::{AnyBoard, Board, State, draw, perft};
use clap::Args;
use serde_json::json;

use crate::error::Failure;

/// Count the ways in which a game can continue from a board
///
/// A way is a move, the cell of the new tile and whether that tile is a 2 or a 4, as often as DEPTH says.
/// The counts are the standard check that a program knows the rules.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate perft 0000/0010/0100/0000 4          106965632 ways on 4×4\n  \
    afterstate perft 010/000/100 3                  a 3×3 board\n  \
    afterstate perft '0 2 65536 0 0 0 2 0 0' 2      the same with face values\n  \
    afterstate perft gg00/0000/0000/0010 3 --json")]
pub(crate) struct Perft {
    /// The board: exponents (0000/0010/0100/000b) or, in quotes, face values ('0 2 4 …')
    board: AnyBoard,
    /// The number of moves to look ahead; each takes about 100 times as long on an open board
    depth: u32,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

impl Perft {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.board {
            AnyBoard::Two(board) => self.count(board, out),
            AnyBoard::Three(board) => self.count(board, out),
            AnyBoard::Four(board) => self.count(board, out),
        }
    }

    fn count<const N: usize>(&self, board: Board<N>, out: &mut dyn Write) -> Result<(), Failure> {
        if !self.json && stdout().is_terminal() {
            writeln!(out, "{}", draw(&board, true))?;
        }
        let count = perft(State::new(board), self.depth);
        if self.json {
            let answer = json!({ "board": board.to_string(), "depth": self.depth, "count": count });
            writeln!(out, "{answer}")?;
        } else {
            writeln!(out, "{count}")?;
        }
        Ok(())
    }
}
