//! `afterstate completions`.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::error::Failure;

/// Print a completion script for your shell
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate completions bash > ~/.local/share/bash-completion/completions/afterstate\n  \
    afterstate completions zsh > ~/.zfunc/_afterstate\n  \
    afterstate completions fish > ~/.config/fish/completions/afterstate.fish")]
pub(crate) struct Completions {
    /// The shell that you use
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        // The generator panics when writing fails, so it writes to memory.
        let mut script = Vec::new();
        generate(self.shell, &mut crate::Cli::command(), "afterstate", &mut script);
        Ok(out.write_all(&script)?)
    }
}
