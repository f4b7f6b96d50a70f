//! `afterstate play`: a game in the terminal.

mod keys;
mod screen;
mod session;

use std::{
    io::{self, IsTerminal, Write, stdin, stdout},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use afterstate_lab::model::Model;
use afterstate_search::{Limit, Player};
use clap::{Args, ValueEnum};
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event},
};

use super::{endgame::open_tables, thread_count};
use crate::error::Failure;
use keys::Action;
use session::{Helper, Session};

/// Play 2048 in the terminal
///
/// Arrow keys, WASD or the vim keys HJKL slide the tiles; U takes moves back, as many as you like; N
/// starts the next game; Q, Esc or Ctrl-C leaves. Every game has a number: the same number and the same
/// moves give the same tiles, also after a move is taken back.
///
/// On 4×4, and wherever a model is given, H says what each move is worth (in the place of vim's left), and P or the space
/// bar lets the model play until it is pressed again.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate play                   a new game\n  \
    afterstate play --game 7          game 7, the same for everyone\n  \
    afterstate play --board 3x3       on the small board\n  \
    afterstate play --watch           the built-in model plays\n  \
    afterstate play --model runs/quick --watch --search 2ply")]
pub(crate) struct Play {
    /// The number of the game; without it, one is picked
    #[arg(long, value_name = "N")]
    game: Option<u64>,
    /// The seed of the numbered games
    #[arg(long, value_name = "S", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// The size of the board; with a model, the model's
    #[arg(long, value_enum, default_value_t = Size::Four, conflicts_with = "model")]
    board: Size,
    /// The model that helps: a file, or the directory of a run; without it, on 4×4, the built-in model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// How the model looks ahead, as for `afterstate eval` [default: adaptive=20000, and majority for a DCNN]
    #[arg(long)]
    search: Option<String>,
    /// Ask the endgame tables of this directory at the leaves of the search
    #[arg(long, value_name = "DIR")]
    endgame: Option<PathBuf>,
    /// Let the model play
    #[arg(long)]
    watch: bool,
}

const DEFAULT_SEED: u64 = 1;

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Size {
    #[value(name = "4x4")]
    Four,
    #[value(name = "3x3")]
    Three,
    #[value(name = "2x2")]
    Two,
}

impl Play {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        for (name, is_terminal) in [("input", stdin().is_terminal()), ("output", stdout().is_terminal())] {
            if !is_terminal {
                let message = format!("the game needs a terminal, and standard {name} is not one");
                return Err(Failure::input(message, "run `afterstate play` without pipes or redirections"));
            }
        }
        let has_model = self.model.is_some() || self.board == Size::Four;
        let endgames = self.endgame.as_deref().map(open_tables).transpose()?.flatten();
        let model = has_model.then(|| Model::open(self.model.as_deref())).transpose()?;
        let model = model.map(|model| model.with_endgames(endgames));
        match model.as_ref().map_or(self.board.side(), Model::side) {
            4 => self.play::<4>(self.player(model.as_ref())?, out),
            3 => self.play::<3>(self.player(model.as_ref())?, out),
            _ => self.play::<2>(self.player(model.as_ref())?, out),
        }
    }

    /// The player by a model, if there is one.
    fn player<'m, const N: usize>(
        &self,
        model: Option<&'m Model>,
    ) -> Result<Option<Box<dyn Player<N> + 'm>>, Failure> {
        let Some(model) = model else { return Ok(None) };
        let search = model.search(self.search.as_deref(), Limit::Adaptive(20_000))?;
        Ok(Some(model.player(search, thread_count(0))?))
    }

    fn play<const N: usize>(
        &self,
        mut player: Option<Box<dyn Player<N> + '_>>,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut session = Session::<N>::new(self.seed, self.game.unwrap_or_else(some_number));
        if player.is_some() {
            session = session.with_helper(if self.watch { Helper::Plays } else { Helper::Waits });
        }
        let end = in_terminal(|terminal, stop| converse(&mut session, &mut player, terminal, stop))?;
        let replay = self.replay_command(session.number());
        writeln!(out, "{}. Play it again: {replay}", session.result())?;
        match end {
            End::Quit => Ok(()),
            End::Signal => Err(Failure::other("stopped by a signal", format!("`{replay}` starts it again"))),
        }
    }

    fn replay_command(&self, number: u64) -> String {
        let mut command = format!("afterstate play --game {number}");
        if self.seed != DEFAULT_SEED {
            command += &format!(" --seed {}", self.seed);
        }
        if let Some(size) = self.board.to_possible_value().filter(|_| self.board != Size::Four) {
            command += &format!(" --board {}", size.get_name());
        }
        if let Some(model) = &self.model {
            command += &format!(" --model {}", model.display());
        }
        if let Some(endgame) = &self.endgame {
            command += &format!(" --endgame {}", endgame.display());
        }
        if let Some(search) = &self.search {
            command += &format!(" --search {search}");
        }
        command
    }
}

impl Size {
    fn side(self) -> usize {
        match self {
            Size::Four => 4,
            Size::Three => 3,
            Size::Two => 2,
        }
    }
}

/// A number for a game that nobody asked for by number.
fn some_number() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos()) / 1000 % 1_000_000
}

/// Why the conversation ended.
enum End {
    Quit,
    Signal,
}

/// Shows the game and does what the keys say, until the player leaves or a signal comes.
fn converse<const N: usize>(
    session: &mut Session<N>,
    player: &mut Option<Box<dyn Player<N> + '_>>,
    terminal: &mut DefaultTerminal,
    stop: &AtomicBool,
) -> io::Result<End> {
    loop {
        terminal.draw(|frame| screen::draw(session, frame))?;
        let Some(event) = next_event(session, stop)? else {
            if stop.load(Ordering::Relaxed) {
                return Ok(End::Signal);
            }
            if let Some(a) = player.as_mut().and_then(|player| player.advise(session.game().state()).best()) {
                session.slide(a);
            }
            continue;
        };
        match keys::action(&event, player.is_some()) {
            Some(Action::Slide(a)) => session.slide(a),
            Some(Action::Undo) => session.undo(),
            Some(Action::New) => session.next_game(),
            Some(Action::Auto) => session.toggle_helper(),
            Some(Action::Hint) => {
                if let Some(player) = player {
                    session.hint(&player.advise(session.game().state()));
                }
            }
            Some(Action::Quit) => return Ok(End::Quit),
            None => {}
        }
    }
}

/// Waits for an event; `None` when a signal has come, or it is the model's turn.
fn next_event<const N: usize>(session: &Session<N>, stop: &AtomicBool) -> io::Result<Option<Event>> {
    /// The time between two looks for a signal, which is also the pace of the model.
    const PAUSE: Duration = Duration::from_millis(100);
    let model_plays = session.helper() == Some(Helper::Plays) && !session.game().state().is_terminal();
    loop {
        if event::poll(PAUSE)? {
            return event::read().map(Some);
        }
        if model_plays || stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

/// Runs with the terminal taken over, and gives it back whatever happens: a result, an error or a panic
/// (ratatui's panic hook). Signals that ask the program to end set the flag instead.
fn in_terminal<T>(run: impl FnOnce(&mut DefaultTerminal, &AtomicBool) -> io::Result<T>) -> io::Result<T> {
    let stop = Arc::new(AtomicBool::new(false));
    for &signal in signal_hook::consts::TERM_SIGNALS {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let terminal = ratatui::try_init();
    let result = terminal.and_then(|mut terminal| run(&mut terminal, &stop));
    ratatui::restore();
    result
}
