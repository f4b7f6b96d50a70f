//! Who may write a table: one process at a time, and over nothing but a table.

use std::{
    fs::{self, File, TryLockError},
    io::{self, ErrorKind, Read},
    path::Path,
};

use crate::{
    SolveError,
    file::{MAGIC, Writer},
};

/// What a solver keeps beside a table. All of it begins with the bytes that tables begin with.
const SIDES: [&str; 3] = ["part", "layers", "live"];

/// Opens the file of a table's layers, and keeps other processes out as long as it is open.
pub(crate) fn take(path: &Path) -> Result<File, SolveError> {
    let layers = Writer::part(path, "layers");
    let failed = |source| SolveError::File { path: layers.clone(), source };
    refuse_foreign(path)?;
    for side in SIDES {
        refuse_foreign(&Writer::part(path, side))?;
    }
    loop {
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&layers);
        let file = open.map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(SolveError::Busy(path.to_owned())),
            // Where the file system has no locks, nobody can be kept out.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Whoever held it may have removed it before the lock was ours.
        if is_at(&file, &layers) {
            return Ok(file);
        }
    }
}

/// Refuses what begins with something else than a table does. Of an empty file nothing can be lost.
fn refuse_foreign(path: &Path) -> Result<(), SolveError> {
    let read = || -> io::Result<bool> {
        if !fs::metadata(path)?.is_file() {
            return Ok(false);
        }
        let mut head = Vec::new();
        File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut head)?;
        Ok(MAGIC.starts_with(&head))
    };
    match read() {
        Ok(true) => Ok(()),
        Ok(false) => Err(SolveError::Foreign(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(SolveError::File { path: path.to_owned(), source }),
    }
}

/// Whether a path still leads to an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(a, b)| same(a, b))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}
