//! `afterstate advise`.

use std::{
    io::{IsTerminal, Write, stdin, stdout},
    path::PathBuf,
};

use afterstate_game::{AnyBoard, Board, Move, ParseError, State, draw, has_faces};
use afterstate_lab::model::{Model, built_in};
use afterstate_search::{Advice, Limit, LineMove};
use clap::Args;
use serde_json::{Value, json};

use super::{
    endgame::{as_json as as_json_match, open_tables, table_failure},
    eval::check_search,
    lines::Lines,
    solve::Exact,
    thread_count,
};
use crate::{
    error::Failure,
    format::{counted, percent},
};

/// Show the value of each move
///
/// The value of a move is its reward plus the score expected after it, to the end of the game. The best line shows how
/// the game continues when typical tiles appear. For a DCNN, the number of symmetric boards that vote for a move is
/// shown instead, with its mean probability.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate advise 0000/0010/0100/000b --model runs/quick\n  \
    afterstate advise '2 4 8 16  0 0 2 4  0 0 0 2  0 0 0 0' --model runs/quick --search 100ms\n  \
    afterstate advise 123400010000/0001 --model runs/quick --search 5ply --json\n  \
    cat boards.txt | afterstate advise - --json\n  \
    afterstate advise 123/012/001 --exact=3x3.solution")]
pub(crate) struct Advise {
    /// The board: exponents (0000/0010/0100/000b) or, in quotes, face values ('0 2 4 …'); . and _ are empty cells too; -
    /// reads a board from each line of the standard input
    #[arg(value_parser = Asked::parse)]
    board: Asked,
    /// The model file, or the directory of a run; without it, the built-in model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Exact values, on 3×3 and 2×2: from a file written by `afterstate solve -o FILE`, or solved now
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with_all = ["model", "search"])]
    exact: Option<Option<PathBuf>>,
    /// How to look ahead, as for `afterstate eval` [default: 3ply, and majority for a DCNN]
    #[arg(long)]
    search: Option<String>,
    /// Probe the endgame tables of this directory at the leaves of the search, and show the chances
    #[arg(long, value_name = "DIR", conflicts_with = "exact")]
    endgame: Option<PathBuf>,
    /// The number of threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = crate::commands::parse_threads)]
    threads: usize,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

/// The boards to advise on.
#[derive(Clone)]
enum Asked {
    /// The boards from standard input.
    Input,
    Board(Written),
}

/// A board, and how it was written.
#[derive(Clone, Copy)]
struct Written {
    board: AnyBoard,
    /// Whether it was written with face values.
    faces: bool,
}

impl Asked {
    fn parse(text: &str) -> Result<Asked, ParseError> {
        if text == "-" { Ok(Asked::Input) } else { Written::parse(text).map(Asked::Board) }
    }
}

impl Written {
    fn parse(text: &str) -> Result<Written, ParseError> {
        Ok(Written { board: text.parse()?, faces: has_faces(text) })
    }

    /// Formats another board in the same notation.
    fn like<const N: usize>(self, board: Board<N>) -> String {
        if self.faces { board.faces() } else { board.to_string() }
    }
}

impl Advise {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(file) = &self.exact {
            let (threads, json) = (thread_count(self.threads), self.json);
            let exact = Exact::open(file.as_deref(), threads, json);
            return self.each_board(out, |written, out| exact.advise(written.board, out));
        }
        let endgames = self.endgame.as_deref().map(open_tables).transpose()?.flatten();
        let side = match self.board {
            Asked::Board(written) => written.board.side(),
            Asked::Input => 4,
        };
        let model = Model::open(self.model.as_deref().or_else(|| built_in(side)))?.with_endgames(endgames);
        self.each_board(out, |written, out| match written.board {
            AnyBoard::Four(board) => self.advise(&model, board, written, out),
            AnyBoard::Three(board) => self.advise(&model, board, written, out),
            AnyBoard::Two(board) => self.advise(&model, board, written, out),
        })
    }

    /// Answers for the board, or for each one from standard input.
    fn each_board(
        &self,
        out: &mut dyn Write,
        advise: impl Fn(Written, &mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Asked::Board(written) = self.board {
            return advise(written, out);
        }
        for (number, line) in (1..).zip(Lines::new(stdin().lock())) {
            let wrong = |error| Failure::input(format!("line {number}: {error}"), ONE_BOARD);
            let line = line.map_err(|error| Failure::other(error, ONE_BOARD))?.map_err(wrong)?;
            if line.trim().is_empty() {
                continue;
            }
            let board = Written::parse(&line).map_err(|error| wrong(error.to_string()))?;
            advise(board, out)?;
            if !self.json {
                writeln!(out)?;
            }
            out.flush()?;
        }
        Ok(())
    }

    fn advise<const N: usize>(
        &self,
        model: &Model,
        board: Board<N>,
        written: Written,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let (search, threads) =
            (model.search(self.search.as_deref(), Limit::Plies(USUAL_PLIES))?, thread_count(self.threads));
        search.spec().map_or(Ok(()), |spec| check_search(&spec, threads))?;
        let state = State::new(board);
        let advice = model.player::<N>(search, threads)?.advise(state);
        let exact = model.endgames(state).map_err(table_failure)?;
        let (line, search) = (model.line(search, state, &advice), model.search_name(search));
        if self.json {
            let mut object = as_json(board, &search, &advice, &line);
            if model.endgames.is_some() {
                object["endgames"] = exact.iter().map(as_json_match).collect();
            }
            return Ok(writeln!(out, "{object}")?);
        }
        write_text(board, written, &search, &advice, &line, out)?;
        for known in &exact {
            let chances = advice.best().and_then(|best| known.chances[best as usize]);
            let [best, chosen] =
                [known.best(), chances].map(|chance| chance.map_or("–".into(), |p| percent(p.into())));
            writeln!(out, "{}: {best}, by the best move here {chosen}", known.table.endgame().words())?;
        }
        Ok(())
    }
}

/// The expected format of standard input.
const ONE_BOARD: &str = "write one board on each line";

/// The default search depth of n-tuple networks.
const USUAL_PLIES: u32 = 3;

fn as_json<const N: usize>(board: Board<N>, search: &str, advice: &Advice, line: &[LineMove<N>]) -> Value {
    let mut object = json!(advice);
    object["board"] = json!(board.to_string());
    object["search"] = json!(search);
    object["line"] =
        line.iter().map(|step| json!({ "move": step.best.name(), "next": step.next.to_string() })).collect();
    object
}

/// A move's value: a score, or for a policy, which does not look ahead, its probability and votes.
pub(super) fn worth(advice: &Advice, value: f32) -> String {
    if advice.plies == 0 { format!("{value:.3}") } else { format!("{value:.0}") }
}

fn write_text<const N: usize>(
    board: Board<N>,
    written: Written,
    search: &str,
    advice: &Advice,
    line: &[LineMove<N>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "{}", draw(&board, stdout().is_terminal()))?;
    let best = advice.best();
    for a in Move::ALL {
        let value = advice.values[a as usize].map_or("illegal".into(), |value| worth(advice, value));
        let mark = if best == Some(a) { "  best" } else { "" };
        writeln!(out, "{a:<6} {value:>10}{mark}")?;
    }
    if best.is_none() {
        return Ok(writeln!(out, "the game is over")?);
    }
    let (plies, evaluated) = (advice.plies, advice.evaluated);
    let time = advice.time.as_secs_f64() * 1000.0;
    if plies == 0 {
        return Ok(writeln!(out, "{search}: {} in {time:.1} ms", counted(evaluated, "symmetric board"))?);
    }
    let written = |step: &LineMove<N>| format!("{} ({})", step.best, written.like(step.next.board()));
    let moves: Vec<_> = line.iter().map(written).collect();
    writeln!(out, "line   {}", moves.join(", "))?;
    let ahead = counted(u64::from(plies), "move");
    let evaluated = counted(evaluated, "afterstate");
    Ok(writeln!(out, "{search}: {ahead} ahead, {evaluated} evaluated in {time:.1} ms")?)
}
