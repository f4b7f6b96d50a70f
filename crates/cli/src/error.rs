//! The one place where errors become messages and exit codes.

use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the user gave cannot be used: exit code 2.
    Input { message: String, hint: String },
    /// Anything else that went wrong: exit code 1.
    Other { message: String, hint: String },
    /// The user stopped it, after what it had was shown: exit code 130.
    Stopped { message: String, hint: String },
    /// The user asked for help or the version: exit code 0.
    Help(clap::Error),
    /// The reader of our output has gone (`… | head`): nothing is wrong, and nobody listens.
    Closed,
}

impl Failure {
    /// The input is bad; the hint says what would be right.
    pub(crate) fn input(message: impl ToString, hint: impl ToString) -> Self {
        Failure::Input { message: message.to_string(), hint: hint.to_string() }
    }

    /// The user stopped it; the hint says how to continue.
    pub(crate) fn stopped(message: impl ToString, hint: impl ToString) -> Self {
        Failure::Stopped { message: message.to_string(), hint: hint.to_string() }
    }

    /// Something else failed; the hint says what may help.
    pub(crate) fn other(message: impl ToString, hint: impl ToString) -> Self {
        Failure::Other { message: message.to_string(), hint: hint.to_string() }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::other(error, "is there room on the disk, and may you write there?"),
        }
    }
}

impl From<clap::Error> for Failure {
    /// Says in one line what clap says in several paragraphs.
    fn from(error: clap::Error) -> Self {
        if !error.use_stderr() {
            return Failure::Help(error);
        }
        let text = error.to_string();
        let paragraphs: Vec<_> = text.split("\n\n").map(one_line).collect();
        let starting = |start| paragraphs.iter().find_map(|p| p.strip_prefix(start));
        let hint = match (starting("tip: "), starting("Usage: ")) {
            (Some(tip), _) => tip.to_string(),
            (None, Some(usage)) => format!("the form is `{usage}`, and `--help` explains it"),
            (None, None) => "`--help` after the command shows what it takes, with examples".into(),
        };
        Failure::input(paragraphs[0].trim_start_matches("error: "), hint)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The exit code of a result.
pub(crate) fn code(result: &Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) | Err(Failure::Closed | Failure::Help(_)) => ExitCode::SUCCESS,
        Err(Failure::Other { .. }) => ExitCode::from(1),
        Err(Failure::Input { .. }) => ExitCode::from(2),
        Err(Failure::Stopped { .. }) => ExitCode::from(130),
    }
}

/// Reports a failure on stderr, in one line, and gives the exit code.
pub(crate) fn exit_code(result: Result<(), Failure>) -> ExitCode {
    let code = code(&result);
    // Nobody is told when this cannot be written: there is no one to tell.
    let _ = match result {
        Ok(()) | Err(Failure::Closed) => Ok(()),
        Err(Failure::Help(help)) => help.print(),
        Err(Failure::Stopped { message, hint }) => {
            writeln!(io::stderr(), "{}; {}", one_line(&message), one_line(&hint))
        }
        Err(Failure::Input { message, hint } | Failure::Other { message, hint }) => {
            writeln!(io::stderr(), "error: {}; hint: {}", one_line(&message), one_line(&hint))
        }
    };
    code
}
