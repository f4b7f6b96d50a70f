//! `afterstate engine`: a line protocol, for programs that want moves without HTTP.

mod command;
mod input;

use std::{
    io::{Read, Write, stdin},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering::SeqCst},
    time::{Duration, Instant},
};

use afterstate_endgame::Tables;
use afterstate_game::{AnyBoard, Board, Move, State};
use afterstate_lab::model::{Model, Search};
use afterstate_search::{Advice, Limit, MAX_PLIES, PlayerSpec, SearchSettings};
use clap::Args;

use super::{
    MOST_THREADS,
    endgame::open_tables,
    eval::{check_search, parse_search},
    parse_threads, thread_count,
};
use crate::error::Failure;
use command::{Command, Depth, shortened};
use input::{Input, Line};

/// The longest error message, in characters.
const LONGEST_ERROR: usize = 500;

/// Answer questions about boards, line by line
///
/// Reads commands from the standard input and answers on the standard output, in the spirit of the Universal Chess
/// Interface. docs/engine.md describes the protocol, with a transcript.
#[derive(Args)]
#[command(after_help = "Example:\n  \
    printf 'position 0000/0010/0100/000b\\ngo ply 3\\nquit\\n' | afterstate engine")]
pub(crate) struct Engine {
    /// The model file, or the directory of a run; without it, the built-in model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// How to look ahead where `go` does not say, as for `afterstate eval`
    #[arg(long, default_value = "3ply")]
    search: String,
    /// The number of threads of a search, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_threads)]
    threads: usize,
    /// Probe the endgame tables of this directory at the leaves of the search
    #[arg(long, value_name = "DIR")]
    endgame: Option<PathBuf>,
}

impl Engine {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        self.converse(stdin(), out)
    }

    fn converse(self, input: impl Read + Send + 'static, out: &mut dyn Write) -> Result<(), Failure> {
        let mut session = EngineSession {
            model: open(self.model.as_deref(), self.endgame.as_deref())?,
            model_path: self.model,
            search: parse_search(&self.search)?,
            threads: self.threads,
            endgame: self.endgame,
            board: None,
            input: Input::new(input),
        };
        while let Some(line) = session.input.next() {
            let answered = match text(line)?.and_then(|line| line.parse::<Command>()) {
                Ok(Command::Quit) => return Ok(()),
                Ok(command) => session.answer(command, out),
                Err(message) => Err(Failure::input(message, "")),
            };
            go_on(answered, out)?;
        }
        Ok(())
    }
}

/// A session on this input, with a model and default options: for the fuzzer.
#[doc(hidden)]
pub fn engine_session(
    model: &Path,
    input: impl Read + Send + 'static,
    out: &mut dyn Write,
) -> Result<(), String> {
    let engine = Engine { model: Some(model.to_owned()), search: "1ply".into(), threads: 1, endgame: None };
    engine.converse(input, out).map_err(|failure| format!("{failure:?}"))
}

/// Reports an error, after which the session continues.
fn go_on(answered: Result<(), Failure>, out: &mut dyn Write) -> Result<(), Failure> {
    match answered {
        Err(Failure::Input { message, .. } | Failure::Other { message, .. }) => complain(&message, out)?,
        answered => answered?,
    }
    Ok(out.flush()?)
}

/// The text of a line, or what is wrong with it; an unreadable input ends the session.
fn text(line: Line) -> Result<Result<String, String>, Failure> {
    match line {
        Line::Text(text) => Ok(Ok(text)),
        Line::Bad(message) => Ok(Err(message)),
        Line::Failed(message) => Err(Failure::other(message, "the engine reads commands, line by line")),
    }
}

/// Reports an error in one line.
fn complain(message: &str, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(writeln!(out, "error {}", shortened(&message.replace('\n', " "), LONGEST_ERROR))?)
}

/// The option value for no endgame tables.
const NO_TABLES: &str = "none";

/// The endgame tables of a directory, which must exist, since a program requested them.
fn tables(directory: &Path) -> Result<Arc<Tables>, Failure> {
    let none = || Failure::input(format!("{} holds no endgame table", directory.display()), "");
    if !directory.is_dir() {
        return Err(none());
    }
    open_tables(directory)?.ok_or_else(none)
}

/// Opens a model, with endgame tables.
fn open(model: Option<&Path>, endgame: Option<&Path>) -> Result<Model, Failure> {
    let tables = endgame.map(open_tables).transpose()?.flatten();
    let model = Model::open(model)?.with_endgames(tables);
    model.afterstates("the engine")?;
    Ok(model)
}

/// The state of a session.
struct EngineSession {
    model: Model,
    /// Its path; `None` for the built-in one.
    model_path: Option<PathBuf>,
    search: PlayerSpec,
    threads: usize,
    endgame: Option<PathBuf>,
    board: Option<AnyBoard>,
    input: Arc<Input>,
}

impl EngineSession {
    fn answer(&mut self, command: Command, out: &mut dyn Write) -> Result<(), Failure> {
        match command {
            Command::Nothing | Command::Quit => Ok(()),
            Command::Introduce => self.introduce(out),
            Command::IsReady => Ok(writeln!(out, "readyok")?),
            Command::SetOption(name, value) => self.set_option(&name, &value),
            Command::Position(board) => {
                self.check_side(&board)?;
                self.board = Some(board);
                Ok(())
            }
            Command::Go(depth) => {
                let board =
                    self.board.ok_or_else(|| Failure::input("no position: say `position BOARD`", ""))?;
                self.go(&board, depth, true, out)
            }
            Command::Batch(count, depth) => {
                for _ in 0..count {
                    // The input may end early; the boards received are answered.
                    let Some(line) = self.input.next() else { return Ok(()) };
                    let board = text(line)?.and_then(|line| command::parse_board(&line));
                    let board = board.map_err(|message| Failure::input(message, ""));
                    let answered = board.and_then(|board| {
                        self.check_side(&board)?;
                        self.go(&board, depth, false, out)
                    });
                    go_on(answered, out)?;
                }
                Ok(())
            }
            Command::Stop => {
                self.input.signals.stop.store(false, SeqCst);
                Ok(())
            }
        }
    }

    fn introduce(&self, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "id name afterstate {}", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "id model {} side {}", self.model.name, self.model.side())?;
        writeln!(out, "option name model type string default {}", self.model.name)?;
        writeln!(out, "option name search type string default {}", self.search)?;
        writeln!(out, "option name threads type spin default {} min 0 max {MOST_THREADS}", self.threads)?;
        let endgame = self.endgame.as_ref().map_or(NO_TABLES.into(), |path| path.display().to_string());
        writeln!(out, "option name endgame type string default {endgame}")?;
        Ok(writeln!(out, "u2iok")?)
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        match name {
            "model" => {
                let path = PathBuf::from(value);
                self.model = open(Some(&path), self.endgame.as_deref())?;
                (self.model_path, self.board) = (Some(path), None);
            }
            "endgame" => {
                let directory = (value != NO_TABLES).then(|| PathBuf::from(value));
                let tables = directory.as_deref().map(tables).transpose()?;
                self.model = open(self.model_path.as_deref(), None)?.with_endgames(tables);
                self.endgame = directory;
            }
            "search" => self.search = parse_search(value)?,
            "threads" => {
                self.threads = parse_threads(value).map_err(|message| Failure::input(message, ""))?
            }
            _ => {
                let message = format!("no option `{name}`: there are model, search, threads and endgame");
                return Err(Failure::input(message, ""));
            }
        }
        Ok(())
    }

    fn check_side(&self, board: &AnyBoard) -> Result<(), Failure> {
        let (side, right) = (board.side(), self.model.side());
        if side == right {
            return Ok(());
        }
        Err(Failure::input(format!("the board is {side}×{side}, but the model plays on {right}×{right}"), ""))
    }

    fn go(&self, board: &AnyBoard, depth: Depth, informs: bool, out: &mut dyn Write) -> Result<(), Failure> {
        match *board {
            AnyBoard::Four(board) => self.search(board, depth, informs, out),
            AnyBoard::Three(board) => self.search(board, depth, informs, out),
            AnyBoard::Two(board) => self.search(board, depth, informs, out),
        }
    }

    /// Searches; reports the values of the moves after every depth if `informs`, and the best move at the end.
    fn search<const N: usize>(
        &self,
        board: Board<N>,
        depth: Depth,
        informs: bool,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let searched = self.search_until_told(board, depth, informs, out);
        self.input.begin(false);
        searched
    }

    fn search_until_told<const N: usize>(
        &self,
        board: Board<N>,
        depth: Depth,
        informs: bool,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        self.input.begin(matches!(depth, Depth::Infinite));
        let limit = match depth {
            Depth::Plies(plies) => Limit::Plies(plies),
            Depth::Time(time) => Limit::Time(time),
            Depth::Infinite => Limit::Plies(MAX_PLIES),
            Depth::Default => self.search.search.map_or(Limit::Plies(1), |search| search.limit),
        };
        // Reports every depth, unless the search is by time or reports are off.
        let first = match limit {
            Limit::Plies(plies) if !informs => plies,
            _ => 1,
        };
        let mut last = None;
        for plies in first..=MAX_PLIES {
            let (limit, is_last) = match limit {
                Limit::Plies(most) => (Limit::Plies(plies), plies >= most),
                time => (time, true),
            };
            let advice = self.advise(board, limit)?;
            // A stopped search has the values of 1-ply: those of the previous depth are better.
            let stopped = self.input.signals.stop.load(SeqCst);
            if !stopped || last.is_none() || matches!(limit, Limit::Time(_)) {
                if informs {
                    write_info(&advice, start.elapsed(), out)?;
                    out.flush()?;
                }
                last = Some(advice);
            }
            if stopped || is_last || advice.best().is_none() {
                break;
            }
        }
        match last.and_then(|advice: Advice| Some((advice.best()?, advice.value()))) {
            Some((best, value)) => Ok(writeln!(out, "bestmove {best} value {value:.1}")?),
            None => Ok(writeln!(out, "bestmove none")?),
        }
    }

    fn advise<const N: usize>(&self, board: Board<N>, limit: Limit) -> Result<Advice, Failure> {
        let search = self.search.search.map(|settings| SearchSettings { limit, ..settings });
        let search = PlayerSpec { search, ..self.search }.or_downgraded(self.model.downgrade);
        let threads = thread_count(self.threads);
        check_search(&search, threads)?;
        let stop = Some(self.input.signals.stop.clone());
        let mut player = self.model.player_until::<N>(Search::Player(search), threads, stop)?;
        Ok(player.advise(State::new(board)))
    }
}

fn write_info(advice: &Advice, time: Duration, out: &mut dyn Write) -> Result<(), Failure> {
    let Advice { plies, evaluated, .. } = advice;
    write!(out, "info ply {plies} evaluated {evaluated} time {} values", time.as_millis())?;
    for a in Move::ALL {
        match advice.values[a as usize] {
            Some(value) => write!(out, " {a} {value:.1}")?,
            None => write!(out, " {a} illegal")?,
        }
    }
    Ok(writeln!(out)?)
}
