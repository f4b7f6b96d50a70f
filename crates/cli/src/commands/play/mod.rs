//! `afterstate play`: a game in the terminal.

mod keys;
mod screen;
mod session;

use std::{
    io::{self, IsTerminal, Write, stdin, stdout},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Args, ValueEnum};
use ratatui::{DefaultTerminal, crossterm::event};

use crate::error::Failure;
use keys::Action;
use session::Session;

/// Play 2048 in the terminal
///
/// Arrow keys, WASD or the vim keys HJKL slide the tiles; U takes moves back, as many as you like; N
/// starts the next game; Q, Esc or Ctrl-C leaves. Every game has a number: the same number and the same
/// moves give the same tiles, also after a move is taken back.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate play                   a new game\n  \
    afterstate play --game 7          game 7, the same for everyone\n  \
    afterstate play --board 3x3       on the small board")]
pub(crate) struct Play {
    /// The number of the game; without it, one is picked
    #[arg(long, value_name = "N")]
    game: Option<u64>,
    /// The seed of the numbered games
    #[arg(long, value_name = "S", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// The size of the board
    #[arg(long, value_enum, default_value_t = Size::Four)]
    board: Size,
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
        match self.board {
            Size::Four => self.play::<4>(out),
            Size::Three => self.play::<3>(out),
            Size::Two => self.play::<2>(out),
        }
    }

    fn play<const N: usize>(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut session = Session::<N>::new(self.seed, self.game.unwrap_or_else(some_number));
        let end = in_terminal(|terminal, stop| converse(&mut session, terminal, stop))?;
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
        command
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
    terminal: &mut DefaultTerminal,
    stop: &AtomicBool,
) -> io::Result<End> {
    const SIGNAL_CHECK: Duration = Duration::from_millis(100);
    loop {
        terminal.draw(|frame| screen::draw(session, frame))?;
        while !event::poll(SIGNAL_CHECK)? {
            if stop.load(Ordering::Relaxed) {
                return Ok(End::Signal);
            }
        }
        match keys::action(&event::read()?) {
            Some(Action::Slide(a)) => session.slide(a),
            Some(Action::Undo) => session.undo(),
            Some(Action::New) => session.next_game(),
            Some(Action::Quit) => return Ok(End::Quit),
            None => {}
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
