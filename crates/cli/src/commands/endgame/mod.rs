//! `afterstate endgame`.

mod build;
mod info;
mod probe;
mod solve;
mod verify;
mod weigh;
mod work;

use std::io::Write;

use clap::{Args, Subcommand};

use crate::error::Failure;

/// Exact chances of endgames: solve them, store them in tables, look them up
///
/// In an endgame the largest tiles are walls: they occupy certain cells, never merge, and leave the others free. The
/// chance is the probability of making a target tile in the free cells with best play. `--endgame DIR` lets eval,
/// advise, play, serve and record probe the tables of a directory at the leaves of a search.
#[derive(Args)]
pub(crate) struct Endgame {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Solve(solve::Solve),
    Build(build::Build),
    Info(info::Info),
    Probe(probe::Probe),
    Verify(verify::Verify),
    Weigh(weigh::Weigh),
}

impl Endgame {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        match self.action {
            Action::Solve(command) => command.run(out),
            Action::Build(command) => command.run(out),
            Action::Info(command) => command.run(out),
            Action::Probe(command) => command.run(out),
            Action::Verify(command) => command.run(out),
            Action::Weigh(command) => command.run(out),
        }
    }
}

pub(super) use probe::as_json;
pub(super) use work::{open_tables, table_failure};
