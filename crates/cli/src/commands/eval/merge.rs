//! Merging the parts of an evaluation.

use std::io::Write;

use afterstate_lab::evaluate::{self, KeptHeader, MergeError, Merged, merge};

use super::{Eval, file_failure};
use crate::{commands::target, error::Failure};

impl Eval {
    /// Prints what one machine would have printed, and writes the positions that the parts have collected.
    pub(super) fn merge(&self, out: &mut dyn Write) -> Result<(), Failure> {
        if self.merge.iter().any(|path| path.is_dir()) {
            return self.merge_several(out);
        }
        let target =
            self.collect.as_deref().map(|path| target::open(path, target::Kind::Positions)).transpose()?;
        let Merged { header, side, outcome, seconds } = merge(&self.merge).map_err(failure)?;
        let KeptHeader { model, search, seed, collect, .. } = &header;
        if let Some(target) = target {
            if collect.is_none() {
                let message = "the parts have collected no positions";
                return Err(Failure::input(message, "give `--collect` to every part"));
            }
            target
                .write(|file| evaluate::write_positions(file, outcome.positions.iter()))
                .map_err(file_failure)?;
        }
        self.report(side, (model, search, *seed), &outcome, seconds, out)
    }
}

pub(super) fn failure(error: MergeError) -> Failure {
    let hint = match error {
        MergeError::Unfinished { .. } | MergeError::Missing(_) => {
            "play it with the same options and that `--part`"
        }
        MergeError::File(_) => "the command that made it plays damaged games again",
        MergeError::Twice { .. } => "give one of the two",
        _ => "give the files of `--out` of all parts of one evaluation, and no others",
    };
    Failure::input(error, hint)
}
