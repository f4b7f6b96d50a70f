//! Removing runs, and keeping off what is of no run.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{Directory, RunError};

/// The files of runs. The recipe, by which a directory is known to hold a run, goes last.
const FILES: [&str; 9] = [
    "model.safetensors",
    "best.safetensors",
    "log.jsonl",
    "eval.jsonl",
    "curve.svg",
    "positions.jsonl",
    "chain.json",
    "trained.json",
    "batches.jsonl",
];
const LAST: [&str; 2] = [FORMER, "recipe.toml"];
/// The settings of a run by records, which earlier versions wrote in the place of a recipe.
const FORMER: &str = "dcnn.json";
const IN_CHECKPOINT: [&str; 5] =
    ["state.safetensors", "previous.safetensors", "fresh.safetensors", "finished.json", "lock"];

impl Directory {
    /// Refuses a directory with a run by records as earlier versions kept it, which this one cannot continue.
    pub(super) fn check_former(&self) -> Result<(), RunError> {
        let is_former = self.0.join(FORMER).exists() && !self.holds_run();
        if is_former { Err(RunError::Former(self.0.clone())) } else { Ok(()) }
    }

    /// Refuses a directory in which a new run would replace files that are of no run.
    pub(crate) fn check_unused(&self) -> Result<(), RunError> {
        let written = [self.model(), self.best(), self.curve(), self.chain()];
        let is_there =
            |path: &PathBuf| fs::metadata(path).is_ok_and(|file| !file.is_file() || file.len() > 0);
        written.into_iter().find(is_there).map_or(Ok(()), |path| Err(RunError::Foreign(path)))
    }

    /// Removes a run: the files that runs consist of, and their directories where nothing else is in them. What is something
    /// else stays, and is given back. Interrupted at any instant, it can be repeated.
    ///
    /// # Errors
    /// When a process is training there, or something cannot be removed; the error names it.
    pub fn remove(&self) -> Result<Vec<PathBuf>, RunError> {
        let _lock = self.lock()?;
        let mut kept = Vec::new();
        self.remove_files(true, &mut kept)?;
        for name in LAST {
            remove_if_there(&self.0.join(name), |path| fs::remove_file(path))?;
        }
        if kept.is_empty() {
            remove_if_there(&self.0, |path| fs::remove_dir(path))?;
        }
        kept.sort();
        Ok(kept)
    }

    /// Removes all but the recipe; `kept` are the files of others.
    fn remove_files(&self, is_first: bool, kept: &mut Vec<PathBuf>) -> Result<(), RunError> {
        for (path, is_directory) in entries(&self.0)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_replica = is_first && name.strip_prefix("replica-").is_some_and(is_number);
            match is_directory {
                // It holds the lock, and goes when the rest is gone.
                true if name == "checkpoint" => {}
                true if is_replica => {
                    Directory::new(&path).remove_files(false, kept)?;
                    remove_empty(&path)?;
                }
                false if is_of(&name, &FILES) => remove_if_there(&path, |path| fs::remove_file(path))?,
                false if LAST.contains(&name.as_str()) => {}
                false if is_of(&name, &LAST) => remove_if_there(&path, |path| fs::remove_file(path))?,
                _ => kept.push(path),
            }
        }
        remove_all(&self.0.join("checkpoint"), &IN_CHECKPOINT, kept)
    }

    /// Whether nothing is in a directory but what an interrupted [`remove`](Self::remove) may leave when the recipe is gone.
    pub fn is_remnant(&self) -> bool {
        let checkpoint = self.0.join("checkpoint");
        let holds_only = |directory: &Path, only: &Path| {
            entries(directory).is_ok_and(|entries| entries.iter().all(|(path, _)| path == only))
        };
        self.0.is_dir()
            && holds_only(&self.0, &checkpoint)
            && holds_only(&checkpoint, &checkpoint.join("lock"))
    }
}

/// Removes the files of these names from a directory, and the directory if it is then empty.
fn remove_all(directory: &Path, names: &[&str], kept: &mut Vec<PathBuf>) -> Result<(), RunError> {
    for (path, is_directory) in entries(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !is_directory && is_of(&name, names) {
            remove_if_there(&path, |path| fs::remove_file(path))?;
        } else {
            kept.push(path);
        }
    }
    remove_empty(directory)
}

/// Whether a name is one of these, or of what is kept or left beside one: a damaged one, one that was being written.
fn is_of(name: &str, names: &[&str]) -> bool {
    let is_beside = |own: &&str| {
        let temporary = name.strip_prefix('.').and_then(|name| name.strip_prefix(*own));
        let after = name.strip_prefix(*own);
        after.is_some_and(|end| ["", ".damaged", ".part", ".part.damaged"].contains(&end))
            || temporary.is_some_and(|end| end.starts_with(".tmp-"))
    };
    names.iter().any(is_beside)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What is in a directory, and whether it is a directory itself; nothing where there is none.
fn entries(directory: &Path) -> Result<Vec<(PathBuf, bool)>, RunError> {
    let read = || -> io::Result<Vec<_>> {
        fs::read_dir(directory)?
            .map(|entry| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?.is_dir()))))
            .collect()
    };
    match read() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.map_err(|source| unremoved(directory, source)),
    }
}

fn remove_empty(directory: &Path) -> Result<(), RunError> {
    remove_if_there(directory, |path| match fs::remove_dir(path) {
        // What is in it is kept.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed,
    })
}

fn remove_if_there(path: &Path, remove: impl Fn(&Path) -> io::Result<()>) -> Result<(), RunError> {
    match remove(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unremoved(path, error)),
        _ => Ok(()),
    }
}

fn unremoved(path: &Path, source: io::Error) -> RunError {
    RunError::Unremoved { path: path.to_owned(), source }
}
