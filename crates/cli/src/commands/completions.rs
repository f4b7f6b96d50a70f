//! `afterstate completions`.

use std::{io::Write, path::Path};

use afterstate_lab::{model::BUILT_IN, recipe::shipped};
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::runs::{DEPTH, find};
use crate::error::Failure;

/// Print a completion script for your shell
///
/// It completes commands and options; in bash, zsh and fish also the names of recipes, runs and models.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    afterstate completions bash > ~/.local/share/bash-completion/completions/afterstate\n  \
    afterstate completions zsh > ~/.zfunc/_afterstate\n  \
    afterstate completions fish > ~/.config/fish/completions/afterstate.fish")]
pub(crate) struct Completions {
    /// The shell that you use
    #[arg(required_unless_present = "names")]
    shell: Option<Shell>,
    /// Print the names that a command can be given, for the scripts
    #[arg(long, value_name = "COMMAND", hide = true)]
    names: Option<String>,
}

/// In bash, queries the program for names to complete words that are not options.
const BASH: &str = r#"
_afterstate_with_names() {
    _afterstate "$@"
    local word="${COMP_WORDS[COMP_CWORD]}"
    if [[ "$word" != -* && $COMP_CWORD -gt 1 ]]; then
        local names
        names="$(afterstate completions --names "${COMP_WORDS[1]}" 2>/dev/null)"
        COMPREPLY+=($(compgen -W "$names" -- "$word"))
    fi
}
complete -F _afterstate_with_names -o nosort -o bashdefault -o default afterstate
"#;

/// The same in zsh, besides files.
const ZSH: &str = r#"
_afterstate_names() {
    local -a names
    names=(${(f)"$(afterstate completions --names "${words[1]}" 2>/dev/null)"})
    compadd -a names
    _files
}
"#;

/// The same in fish.
const FISH: &str = r#"
for command in train eval serve play advise review record model report solve engine
    complete -c afterstate -n "__fish_seen_subcommand_from $command" -a "(afterstate completions --names $command)"
end
"#;

impl Completions {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(command) = &self.names {
            return names(command).iter().try_for_each(|name| Ok(writeln!(out, "{name}")?));
        }
        let Some(shell) = self.shell else { return Ok(()) };
        // The generator panics when writing fails, so it writes to memory.
        let mut script = Vec::new();
        generate(shell, &mut crate::Cli::command(), "afterstate", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        let script = match shell {
            Shell::Bash => script + BASH,
            Shell::Fish => script + FISH,
            // Names are also offered where zsh offers files, or nothing.
            Shell::Zsh => script
                .replace(":_files", ":_afterstate_names")
                .replace(":_default", ":_afterstate_names")
                .replacen("\n_afterstate() {", &format!("{ZSH}\n_afterstate() {{"), 1),
            _ => script,
        };
        Ok(out.write_all(script.as_bytes())?)
    }
}

/// The names for a command: runs, and recipes for training or models for everything else.
fn names(command: &str) -> Vec<String> {
    let mut runs = Vec::new();
    find(Path::new("runs"), DEPTH, &mut runs);
    let mut names: Vec<_> = runs.iter().map(|run| run.display().to_string()).collect();
    if command == "train" {
        names.extend(shipped().map(|recipe| recipe.name));
    } else {
        let files = std::fs::read_dir("models").into_iter().flatten().flatten().map(|entry| entry.path());
        let models = files.filter(|path| path.extension().is_some_and(|ending| ending == "safetensors"));
        names.extend(models.map(|path| path.display().to_string()));
        names.push(BUILT_IN.to_owned());
    }
    names.sort();
    names
}
