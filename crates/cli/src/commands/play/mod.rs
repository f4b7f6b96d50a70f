//! `afterstate play`: a game in the terminal.

mod keys;
mod screen;
mod session;
mod store;

use std::{
    collections::VecDeque,
    io::{self, IsTerminal, Write, stdin, stdout},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use afterstate_game::{AnyBoard, Board, Move, Rules, State};
use afterstate_lab::{
    model::{Exact, Model, built_in},
    review::{Reference, judge},
};
use afterstate_search::{Limit, Player};
use clap::{Args, ValueEnum};
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event},
};

use super::{endgame::open_tables, solve::open_solution, thread_count};
use crate::error::Failure;
use keys::Action;
use session::{Helper, PlaySession};
use store::{Score, Store};

/// Play 2048 in the terminal
///
/// Arrow keys or WASD slide the tiles; U takes moves back, as many as you like; N starts the next game; Q, Esc or Ctrl-C
/// leaves. Every game has a number: the same number and the same moves give the same tiles, also after a move is taken back.
///
/// H shows the value of each move, T shows it before every move, and P or the space bar lets the model play until it is
/// pressed again, with + and − for its speed. Your moves are graded, and the accuracy is that of `afterstate review`.
///
/// Games are kept: one that was left is resumed by the next `afterstate play`, and finished ones are in the list of high scores
/// unless the model has helped by playing.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate play                   a new game\n  \
    afterstate play --game 7          game 7, the same for everyone\n  \
    afterstate play --board 3x3       on the small board\n  \
    afterstate play --from '2 4 8 16  0 0 2 4  0 0 0 2  0 0 0 0'\n  \
    afterstate play --board 3x3 --exact=3x3.solution          perfect hints\n  \
    afterstate play --scores          the best games\n  \
    afterstate play --watch           the built-in model plays\n  \
    afterstate play --model runs/quick --watch --search 2ply")]
pub(crate) struct Play {
    /// The number of the game; without it, the unfinished game is resumed, or a number picked
    #[arg(long, value_name = "N", value_parser = crate::commands::numbers::parse_number)]
    game: Option<u64>,
    /// Begin with this board
    #[arg(long, value_name = "BOARD", conflicts_with = "board")]
    from: Option<AnyBoard>,
    /// Begin a new game even if there is an unfinished one
    #[arg(long)]
    new: bool,
    /// Show the best games, and stop
    #[arg(long)]
    scores: bool,
    /// The directory where games are kept [default: afterstate/games in your data directory]
    #[arg(long, value_name = "DIR")]
    games: Option<PathBuf>,
    /// Perfect hints on 3×3 and 2×2: from a file that `afterstate solve -o FILE` has written, or solved now
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, conflicts_with_all = ["model", "search"])]
    exact: Option<Option<PathBuf>>,
    /// The seed of the numbered games
    #[arg(long, value_name = "S", default_value_t = DEFAULT_SEED, value_parser = crate::commands::numbers::parse_number)]
    seed: u64,
    /// The size of the board; with a model, the model's
    #[arg(long, value_enum, default_value_t = Size::Four, conflicts_with = "model")]
    board: Size,
    /// The model that helps: a file, or the directory of a run; without it, on 4×4 and 3×3, the built-in model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// How the model looks ahead, as for `afterstate eval` [default: adaptive=20000, and majority for a DCNN]
    #[arg(long)]
    search: Option<String>,
    /// Probe the endgame tables of this directory at the leaves of the search
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
        if self.scores {
            return Store::open(self.games.as_deref()).write_best(self.board.side(), out);
        }
        for (name, is_terminal) in [("input", stdin().is_terminal()), ("output", stdout().is_terminal())] {
            if !is_terminal {
                let message = format!("the game needs a terminal, and standard {name} is not one");
                return Err(Failure::input(message, "run `afterstate play` without pipes or redirections"));
            }
        }
        if let Some(Some(file)) = &self.exact
            && !file.exists()
        {
            let message = format!("there is no file {}", file.display());
            return Err(Failure::input(message, "`afterstate solve --board 3x3 -o FILE` writes one"));
        }
        // Before the screen is taken over, so that a warning is visible.
        let endgames = self.endgame.as_deref().map(open_tables).transpose()?.flatten();
        let mut screen = Screen::take()?;
        let model = screen.load(&self.what_loads(), || self.load())?;
        let model = model.map(|model| model.with_endgames(endgames));
        let side = match (&model, self.from) {
            (Some(model), None) => model.side(),
            _ => self.asked_side(),
        };
        let reference = model.as_ref().and_then(Model::reference);
        match side {
            4 => self.play::<4>(self.player(model.as_ref())?, reference, screen, out),
            3 => self.play::<3>(self.player(model.as_ref())?, reference, screen, out),
            _ => self.play::<2>(self.player(model.as_ref())?, reference, screen, out),
        }
    }

    /// The side of the board that the options request.
    fn asked_side(&self) -> usize {
        self.from.map_or(self.board.side(), |board| board.side())
    }

    /// The message while it loads.
    fn what_loads(&self) -> String {
        match (&self.exact, &self.model) {
            (Some(None), _) => "solving the board, for perfect hints …".to_owned(),
            (Some(Some(file)), _) | (_, Some(file)) => format!("loading {} …", file.display()),
            _ => "loading …".to_owned(),
        }
    }

    /// The helping model, if there is one.
    fn load(&self) -> Result<Option<Model>, Failure> {
        let side = self.asked_side();
        match (&self.exact, self.model.as_deref().or_else(|| built_in(side))) {
            (Some(file), _) => exact(side, file.as_deref()).map(Some),
            (None, model) => Ok(model.map(|model| Model::open(Some(model))).transpose()?),
        }
    }

    /// The player with a model, if there is one.
    fn player<'m, const N: usize>(
        &self,
        model: Option<&'m Model>,
    ) -> Result<Option<Box<dyn Player<N> + 'm>>, Failure> {
        let Some(model) = model else { return Ok(None) };
        let search = model.search(self.search.as_deref(), Limit::Adaptive(20_000))?;
        Ok(Some(model.player(search, thread_count(0))?))
    }

    /// The initial session: the requested board or game, the unfinished one, or a new one.
    fn session<const N: usize>(&self, store: &Store) -> PlaySession<N> {
        let number = self.game.unwrap_or_else(some_number);
        let board: Option<Board<N>> = self.from.and_then(|board| board.to_string().parse().ok());
        if let Some(board) = board {
            return PlaySession::from_state(self.seed, number, State::new(board));
        }
        let is_free = self.game.is_none() && !self.new && !self.watch;
        let unfinished = store.read_unfinished(N).filter(|_| is_free);
        let resumed = unfinished.and_then(|record| resume(&record));
        resumed.unwrap_or_else(|| PlaySession::new(self.seed, number))
    }

    fn play<const N: usize>(
        &self,
        mut player: Option<Box<dyn Player<N> + '_>>,
        reference: Option<Reference>,
        mut screen: Screen,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let store = Store::open(self.games.as_deref());
        let mut session = self.session::<N>(&store);
        if player.is_some() {
            session = session.with_helper(if self.watch { Helper::Plays } else { Helper::Waits });
        }
        let end = converse(&mut session, &mut player, reference, &mut screen);
        drop(screen);
        let end = end?;
        let replay = self.replay_command(session.seed(), session.number());
        writeln!(out, "{}", session.result())?;
        if !self.watch && session.game().moves() > 0 {
            keep(&session, &store, out)?;
        }
        writeln!(out, "play it again: {replay}")?;
        match end {
            End::Quit => Ok(()),
            End::Signal => Err(Failure::other("stopped by a signal", format!("`{replay}` starts it again"))),
        }
    }

    /// The seed is that of the game: a resumed game keeps its own.
    fn replay_command(&self, seed: u64, number: u64) -> String {
        let mut command = format!("afterstate play --game {number}");
        if seed != DEFAULT_SEED {
            command += &format!(" --seed {seed}");
        }
        if let Some(board) = &self.from {
            command += &format!(" --from {board}");
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

/// Saves a game that was left or is over, and prints where.
fn keep<const N: usize>(session: &PlaySession<N>, store: &Store, out: &mut dyn Write) -> Result<(), Failure> {
    let game = session.game();
    let over = game.state().is_terminal();
    let score = Score {
        score: game.score(),
        tile: game.state().board().max_tile(),
        moves: game.moves(),
        side: N,
        accuracy: session.accuracy(),
        time: store::now(),
    };
    let (counts, resumes) = (over && !session.is_assisted(), !over && session.is_numbered());
    let path = match resumes {
        true => store.keep_unfinished(&session.record(), N)?,
        false => store.keep(&session.record(), &score, counts)?,
    };
    writeln!(out, "kept in {}; `afterstate review {}` judges it", path.display(), path.display())?;
    if resumes {
        writeln!(out, "`afterstate play` continues it")?;
    }
    if counts { store.write_best(N, out) } else { Ok(()) }
}

/// The session of a recorded game, with all its moves available for undo.
fn resume<const N: usize>(record: &str) -> Option<PlaySession<N>> {
    let mut words = record.lines().next()?.strip_prefix("afterstate game ")?.split_whitespace();
    let (seed, number) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let mut session = PlaySession::<N>::new(seed, number);
    for letter in record.lines().nth(1)?.chars() {
        let a = Move::ALL.into_iter().find(|a| a.name().starts_with(letter))?;
        session.slide(a);
    }
    (!session.game().state().is_terminal()).then_some(session)
}

/// The exact values of a small board: from a file, or solved now.
fn exact(side: usize, file: Option<&Path>) -> Result<Model, Failure> {
    let exact = match (side, file) {
        (4, _) => {
            return Err(Failure::input("4×4 is not solved", "`--exact` is for `--board 3x3` and `2x2`"));
        }
        (_, Some(file)) => return Ok(Model::open(Some(file))?),
        (3, None) => Exact {
            three: Some(Arc::new(open_solution(None, Rules::default(), thread_count(0))?)),
            two: None,
        },
        (_, None) => Exact {
            two: Some(Arc::new(open_solution(None, Rules::default(), thread_count(0))?)),
            three: None,
        },
    };
    Ok(Model::exact("exact".into(), exact))
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

/// A number for a game requested without one.
fn some_number() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos()) / 1000 % 1_000_000
}

/// Why the session ended.
enum End {
    Quit,
    Signal,
}

/// Shows the game and handles keys, until the player leaves or a signal arrives.
fn converse<const N: usize>(
    session: &mut PlaySession<N>,
    player: &mut Option<Box<dyn Player<N> + '_>>,
    reference: Option<Reference>,
    screen: &mut Screen,
) -> io::Result<End> {
    loop {
        if let Some(player) = player.as_mut().filter(|_| session.hints() && session.hint_text().is_empty()) {
            session.hint(&player.advise(session.game().state()));
        }
        screen.terminal.draw(|frame| screen::draw(session, frame))?;
        let Some(event) = next_event(session, screen)? else {
            if screen.is_stopped() {
                return Ok(End::Signal);
            }
            if let Some(a) = player.as_mut().and_then(|player| player.advise(session.game().state()).best()) {
                session.slide(a);
            }
            continue;
        };
        match keys::action(&event) {
            Some(Action::Slide(a)) => {
                let state = session.game().state();
                if session.slide(a)
                    && let Some(player) = player
                {
                    let advice = player.advise(state);
                    session.judge(a, advice.best(), &judge(state, a, &advice, reference));
                }
            }
            Some(Action::Undo) => session.undo(),
            Some(Action::New) => session.next_game(),
            Some(Action::Auto) => session.toggle_helper(),
            Some(Action::Hint) => match player {
                Some(player) => session.hint(&player.advise(session.game().state())),
                None => session.say("hints need --exact or --model here"),
            },
            Some(Action::Hints) => session.toggle_hints(),
            Some(Action::Faster) => session.change_pace(true),
            Some(Action::Slower) => session.change_pace(false),
            Some(Action::Quit) => return Ok(End::Quit),
            None => {}
        }
    }
}

/// Waits for an event; `None` if a signal has arrived, or it is the model's turn.
fn next_event<const N: usize>(session: &PlaySession<N>, screen: &mut Screen) -> io::Result<Option<Event>> {
    if let Some(typed) = screen.typed.pop_front() {
        return Ok(Some(typed));
    }
    let model_plays = session.helper() == Some(Helper::Plays) && !session.game().state().is_terminal();
    let turn = Instant::now() + session.pace();
    loop {
        let left = turn.saturating_duration_since(Instant::now());
        if event::poll(if model_plays { left.min(PAUSE) } else { PAUSE })? {
            return event::read().map(Some);
        }
        if (model_plays && Instant::now() >= turn) || screen.is_stopped() {
            return Ok(None);
        }
    }
}

/// The interval between checks for a signal.
const PAUSE: Duration = Duration::from_millis(100);

/// The exit code if the player leaves before a game begins.
const LEFT: i32 = 130;

/// Takes over the terminal until dropped; ratatui's panic hook restores it too. Signals that ask the program to end set
/// a flag instead.
struct Screen {
    terminal: DefaultTerminal,
    stop: Arc<AtomicBool>,
    /// The keys typed while the model was loading.
    typed: VecDeque<Event>,
}

impl Screen {
    fn take() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for &signal in signal_hook::consts::TERM_SIGNALS {
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore())?;
        Ok(Screen { terminal, stop, typed: VecDeque::new() })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Loads something while the screen says so. Keys are queued until it is loaded, except those that leave.
    fn load<T: Send>(
        &mut self,
        what: &str,
        load: impl FnOnce() -> Result<T, Failure> + Send,
    ) -> Result<T, Failure> {
        std::thread::scope(|scope| {
            let loading = scope.spawn(load);
            loop {
                self.terminal.draw(|frame| screen::draw_notice(what, frame))?;
                if loading.is_finished() {
                    break;
                }
                if event::poll(PAUSE / 5)? {
                    self.typed.push_back(event::read()?);
                }
                let leaves = |event| keys::action(event) == Some(Action::Quit);
                if self.is_stopped() || self.typed.back().is_some_and(leaves) {
                    // Loading cannot be stopped, but nothing is lost.
                    ratatui::restore();
                    std::process::exit(LEFT);
                }
            }
            loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        play: Play,
    }

    #[test]
    fn a_resumed_game_is_played_again_with_its_own_seed() {
        let session = resume::<4>("afterstate game 5 272020 4\nlrul\n").expect("a session");
        assert_eq!((session.seed(), session.number(), session.game().moves()), (5, 272_020, 4));
        let play = Command::parse_from(["play"]).play;
        let again = play.replay_command(session.seed(), session.number());
        assert_eq!(again, "afterstate play --game 272020 --seed 5");
        assert_eq!(play.replay_command(DEFAULT_SEED, 7), "afterstate play --game 7");
    }
}
