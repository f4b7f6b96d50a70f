//! `afterstate advise --exact`: the exact values of the moves on a small board.

use std::{
    cell::OnceCell,
    io::{IsTerminal, Write, stdout},
    path::Path,
};

use afterstate_game::{AnyBoard, Board, Move, Rules, State, draw};
use afterstate_solver::{Objective, Solution};
use serde_json::{Map, Value, json};

use super::work::{failure, solve};
use crate::error::Failure;

/// The exact values of a board's moves, from a solution in a file or one computed now.
pub(in crate::commands) struct Exact<'a> {
    file: Option<&'a Path>,
    threads: usize,
    json: bool,
    /// The solutions, created on first use.
    three: OnceCell<Solution<3>>,
    two: OnceCell<Solution<2>>,
}

impl<'a> Exact<'a> {
    /// Advice by the solution in a file, or by one that is computed on first use.
    pub(in crate::commands) fn open(file: Option<&'a Path>, threads: usize, json: bool) -> Self {
        Exact { file, threads, json, three: OnceCell::new(), two: OnceCell::new() }
    }

    pub(in crate::commands) fn advise(&self, board: AnyBoard, out: &mut dyn Write) -> Result<(), Failure> {
        match board {
            AnyBoard::Two(board) => self.on_board(board, &self.two, out),
            AnyBoard::Three(board) => self.on_board(board, &self.three, out),
            AnyBoard::Four(_) => Err(Failure::input(
                "4×4 is not solved, and will not be",
                "`--exact` is for 3×3 and 2×2; a model with `--search` gives good values on 4×4",
            )),
        }
    }

    fn on_board<const N: usize>(
        &self,
        board: Board<N>,
        cell: &OnceCell<Solution<N>>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let solution = match cell.get() {
            Some(solution) => solution,
            None => {
                let solution = match self.file {
                    Some(file) => Solution::open(file).map_err(failure)?,
                    None => solve(Objective::Score, Rules::default(), self.threads)?,
                };
                cell.get_or_init(|| solution)
            }
        };
        let state = State::<N>::new(board);
        let values = solution.move_values(state);
        if state.legal_moves().any(|a| values[a as usize].is_none()) {
            let message = format!("no game reaches {board}, so its values are not in the solution");
            return Err(Failure::input(message, "give a board that a game can reach"));
        }
        let best = solution.best(state);
        if self.json {
            return Ok(writeln!(out, "{}", as_json(board, values, best))?);
        }
        write_text(board, solution.objective(), values, best, out)
    }
}

fn as_json<const N: usize>(board: Board<N>, values: [Option<f64>; 4], best: Option<(Move, f64)>) -> Value {
    let values: Map<_, _> =
        Move::ALL.iter().map(|&a| (a.name().to_string(), json!(values[a as usize]))).collect();
    json!({
        "board": board.to_string(),
        "search": "exact",
        "values": values,
        "best": best.map(|(a, _)| a.name()),
        "expected": best.map_or(0.0, |(_, value)| value),
    })
}

fn write_text<const N: usize>(
    board: Board<N>,
    objective: Objective,
    values: [Option<f64>; 4],
    best: Option<(Move, f64)>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "{}", draw(&board, stdout().is_terminal()))?;
    for a in Move::ALL {
        let value = values[a as usize].map_or("illegal".into(), |value| match objective {
            Objective::Score => format!("{value:.2}"),
            Objective::Goal(_) => format!("{:.4}%", 100.0 * value),
        });
        let mark = if best.is_some_and(|(best, _)| best == a) { "  best" } else { "" };
        writeln!(out, "{a:<6} {value:>10}{mark}")?;
    }
    let what = match objective {
        Objective::Score => "exact: the mean of the score to come under the best play".to_string(),
        Objective::Goal(exponent) => format!("exact: the best chance of a {}-tile", 1u32 << exponent),
    };
    Ok(writeln!(out, "{}", if best.is_some() { &what } else { "the game is over" })?)
}
