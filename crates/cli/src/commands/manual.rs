//! `afterstate manual`.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_mangen::Man;

use crate::error::Failure;

/// Print the manual page of the program, or of one of its commands
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate manual | man -l -\n  \
    afterstate manual endgame build > afterstate-endgame-build.1")]
pub(crate) struct Manual {
    /// The command, such as `train` or `endgame build`
    command: Vec<String>,
}

impl Manual {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut command = crate::Cli::command();
        command.build();
        let mut page = &command;
        for name in &self.command {
            page = page.find_subcommand(name).ok_or_else(|| {
                Failure::input(format!("no command `{name}`"), "`afterstate --help` lists them")
            })?;
        }
        Ok(Man::new(page.clone()).render(&mut &mut *out)?)
    }
}
