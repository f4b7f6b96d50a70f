//! The `afterstate` command, as a library: programs that provide an additional device, such as a
//! GPU, call [`main`] after that.

mod cluster;
mod commands;
mod error;
mod format;
mod signals;

use std::{io, panic, process::ExitCode};

use afterstate_network::Level;
use clap::{CommandFactory, FromArgMatches, Parser};

use commands::Command;
#[doc(hidden)]
pub use commands::engine_session;
use error::Failure;

/// Learning and playing 2048
///
/// Without a command, it serves the page: the same as `afterstate serve`.
#[derive(Parser)]
#[command(name = "afterstate", version, about, disable_help_subcommand = true)]
#[command(after_help = "Run `afterstate COMMAND --help` for examples of a command.\n\
    Boards are written as exponents: 0 is empty, 1 is a 2, 2 is a 4, … b is a 2048, h is a 131072.\n\
    AFTERSTATE_ISA=portable, avx2 or avx512 in the environment selects an instruction set; results are the same.")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// Parses the arguments of this process, runs the command, and returns its exit code.
pub fn main() -> ExitCode {
    let result = panic::catch_unwind(run).unwrap_or_else(|_| Err(mistake()));
    if let Err(failure) = &result
        && cluster::leaves_it_to_first(failure)
    {
        return error::code(&result);
    }
    error::exit_code(result)
}

fn mistake() -> Failure {
    Failure::other("a mistake in afterstate itself", "please report it with the lines above")
}

/// Lets options take negative numbers, so that they are rejected as values rather than as unknown options.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let takes_value = |argument: &clap::Arg| argument.get_action().takes_values();
    let command = command.mut_args(|argument| {
        if takes_value(&argument) { argument.allow_negative_numbers(true) } else { argument }
    });
    command.mut_subcommands(with_negative_numbers)
}

fn run() -> Result<(), Failure> {
    let mut matches = with_negative_numbers(Cli::command()).try_get_matches()?;
    let cli = Cli::from_arg_matches_mut(&mut matches)?;
    Level::asked_for().map_err(|error| Failure::input(error, "leave it out, and the best one is used"))?;
    signals::guard_mapped_files();
    let _ranks = cluster::join()?;
    let mut out = io::stdout().lock();
    let command = cli.command.unwrap_or_else(commands::default_command);
    match afterstate_cluster::world() {
        None => command.run(&mut out),
        Some(world) => cluster::run(world, command, &mut out),
    }
}
