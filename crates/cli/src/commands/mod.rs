//! One file a command.
//!
//! A command is a `clap::Args` struct with `fn run(self, out: &mut dyn Write) -> Result<(), Failure>`. A
//! new one is a file here, its `mod` line, and its line in `commands!`.

mod advise;
mod bench;
mod completions;
mod conformance;
mod dcnn;
mod endgame;
mod engine;
mod eval;
mod lines;
mod manual;
mod model;
mod numbers;
mod perft;
mod play;
mod record;
mod report;
mod reproduce;
mod review;
mod runs;
mod serve;
mod solve;
mod target;
mod train;

use std::io::Write;

pub use engine::engine_session;

use crate::error::Failure;

macro_rules! commands {
    ($($module:ident::$name:ident),+ $(,)?) => {
        /// The command that the user requested.
        #[derive(clap::Subcommand)]
        pub(crate) enum Command {
            $($name($module::$name)),+
        }

        impl Command {
            /// Runs it, writing results to `out`.
            pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
                match self {
                    $(Command::$name(command) => command.run(out)),+
                }
            }
        }
    };
}

commands! {
    serve::Serve,
    play::Play,
    train::Train,
    runs::Runs,
    eval::Eval,
    advise::Advise,
    review::Review,
    record::Record,
    dcnn::Dcnn,
    model::Model,
    reproduce::Reproduce,
    report::Report,
    solve::Solve,
    endgame::Endgame,
    engine::Engine,
    conformance::Conformance,
    bench::Bench,
    perft::Perft,
    completions::Completions,
    manual::Manual,
}

/// How the ranks of `mpirun` share a command.
pub(crate) enum Ranks {
    /// All ranks share its work.
    All,
    /// The first rank runs it, in a moment.
    First,
    /// It is for a single process: the reason, and what to do instead.
    None(&'static str, &'static str),
}

impl Command {
    /// How the ranks of `mpirun` share it.
    pub(crate) fn ranks(&self) -> Ranks {
        match self {
            Command::Train(train) => train.ranks(),
            Command::Eval(eval) => eval.ranks(),
            Command::Record(record) => record.ranks(),
            Command::Reproduce(reproduce) => reproduce.ranks(),
            _ => Ranks::None(
                "only train, eval, record and reproduce are for the ranks of mpirun",
                "start the command without mpirun",
            ),
        }
    }
}

/// The number of threads that was requested, 0 for all cores.
fn thread_count(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The maximum number of threads that can be requested.
const MOST_THREADS: usize = 1024;

/// Parses a number of threads.
fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| *threads <= MOST_THREADS);
    threads.ok_or_else(|| format!("a number of threads is 0 (all cores) to {MOST_THREADS}"))
}

/// The command that `afterstate` runs without arguments.
pub(crate) fn default_command() -> Command {
    Command::Serve(serve::Serve::default())
}
