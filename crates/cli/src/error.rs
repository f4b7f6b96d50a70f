//! The one place where errors become messages and exit codes.

use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The user's input cannot be used: exit code 2.
    Input { message: String, hint: String },
    /// Any other error: exit code 1.
    Other { message: String, hint: String },
    /// Stopped by the user, after showing the results so far: exit code 130.
    Stopped { message: String, hint: String },
    /// Help or the version was requested: exit code 0.
    Help(clap::Error),
    /// The reader of our output has gone (`… | head`): not an error, and nothing to report.
    Closed,
}

impl Failure {
    /// Bad input; the hint says what would be right.
    pub(crate) fn input(message: impl ToString, hint: impl ToString) -> Self {
        Failure::Input { message: message.to_string(), hint: hint.to_string() }
    }

    /// Stopped by the user; the hint says how to continue.
    pub(crate) fn stopped(message: impl ToString, hint: impl ToString) -> Self {
        Failure::Stopped { message: message.to_string(), hint: hint.to_string() }
    }

    /// Another failure; the hint says what may help.
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
    /// Shortens clap's paragraphs to one line.
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

/// Reports a failure on stderr, in one line, and returns the exit code.
pub(crate) fn exit_code(result: Result<(), Failure>) -> ExitCode {
    let code = code(&result);
    // A failure to write this cannot be reported.
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
