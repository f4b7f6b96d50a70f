//! Files that are always whole: written beside the old one, synced, then put in its place.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// A file that could not be written or read. What was there before is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot {action} {}: {}", path.display(), cause(source))]
    Io {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line that is not what the program writes.
    #[error("{} line {line} is damaged: {source}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl FileError {
    /// For `map_err`: an error of this action on this file.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> FileError {
        let path = path.to_owned();
        move |source| FileError::Io { action, path, source }
    }
}

fn cause(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        _ => error.to_string(),
    }
}

/// Writes a file so that a crash at any instant leaves either the old one or the new one, whole.
///
/// `write` fills a temporary file beside the target, which takes the target's place once it is safely on
/// the disk. After an error the temporary is gone and the old file is as it was. Temporaries that a
/// killed process left behind are removed.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), FileError> {
    try_write(path, write).map_err(FileError::io("write", path))
}

fn try_write(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = format!(".{}.", name.to_string_lossy());
    remove_stale(folder, &prefix);

    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
    // The lock tells other processes that the temporary is not stale. Where the file system has no
    // locks, nothing is ever taken for stale.
    let _ = file.try_lock();

    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    writer.into_inner().map_err(|error| error.into_error())?.sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

const SUFFIX: &str = ".tmp";

/// Removes the temporaries of a target whose writers are dead. A failure here is no reason not to write.
fn remove_stale(folder: &Path, prefix: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // A longer target, such as `a.b` beside `a`, has temporaries with the same start but one more dot.
        let random = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(SUFFIX));
        if random.is_some_and(|random| !random.contains('.')) {
            let unlocked = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            let _ = unlocked.then(|| fs::remove_file(entry.path()));
        }
    }
}

/// Makes a rename in a folder survive a power cut.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Elsewhere a folder cannot be synced, and a rename is as safe as it gets.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_new_file_takes_the_place_of_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        for text in ["a long first text", "second"] {
            write_atomically(&path, |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(names(folder.path()), ["model"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let error = write_atomically(&path, |file| {
            file.write_all(&[0; 100_000])?;
            File::options().write(true).open("/dev/full")?.write_all(b"no room")
        });
        assert_eq!(
            error.unwrap_err().to_string(),
            format!("cannot write {}: the disk is full", path.display())
        );
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), names(folder.path())),
            ("old", vec!["model".into()])
        );
    }

    #[test]
    fn a_panic_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let write = || write_atomically(&path, |_| panic!("in the middle"));
        assert!(std::panic::catch_unwind(write).is_err());
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), names(folder.path())),
            ("old", vec!["model".into()])
        );
    }

    #[test]
    fn errors_name_the_file() {
        let path = Path::new("no/such/folder/model");
        let error = write_atomically(path, |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("cannot write no/such/folder/model: "), "{error}");
        assert!(write_atomically(Path::new("/"), |_| Ok(())).is_err());
    }

    #[test]
    fn only_stale_temporaries_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".model.dead.tmp", ".model.json.dead.tmp", ".model.notes", ".model.alive.tmp"] {
            fs::write(at(name), "").unwrap();
        }
        let alive = File::open(at(".model.alive.tmp")).unwrap();
        alive.lock().unwrap();
        write_atomically(&at("model"), |_| Ok(())).unwrap();
        assert_eq!(
            names(folder.path()),
            [".model.alive.tmp", ".model.json.dead.tmp", ".model.notes", "model"]
        );
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_the_user_lets_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |name| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        fs::write(folder.path().join("plain"), "").unwrap();
        write_atomically(&folder.path().join("model"), |_| Ok(())).unwrap();
        assert_eq!(mode("model"), mode("plain"));
    }
}
