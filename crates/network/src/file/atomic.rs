//! Atomic file writes: a file is written whole or not at all.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, ErrorKind},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use super::{FileError, FileProblem};

/// Large enough that system calls are rare.
const BUFFER: usize = 1 << 20;

/// Writes a file so that, even if the process or the machine stops at any time, the path holds either its
/// previous content or all of the new content.
///
/// The content goes to a temporary file beside the target, which is synced and renamed. If anything
/// fails, the temporary file is removed and the target is unchanged. Temporary files that killed
/// processes left behind are removed too. Symbolic links are followed.
///
/// ```
/// use std::io::Write;
/// use afterstate_network::file::atomic::write_atomically;
///
/// let path = std::env::temp_dir().join("afterstate-atomic-example");
/// write_atomically(&path, |file| file.write_all(b"all of it"))?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be written or `write` fails. The error names the path, and says whether the disk
/// is full.
pub fn write_atomically<T, E>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, FileError>
where
    FileProblem: From<E>,
{
    Target::open(path)?.write(write)
}

/// Renames a complete file over another one, so that the rename survives a power failure.
///
/// # Errors
/// If the system refuses.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    let renamed = fs::rename(from, to).and_then(|()| sync_directory(directory(to)));
    renamed.map_err(|error| FileProblem::from(error).at(to))
}

/// A file to be written. Opening it tells whether writing is possible, before its content is computed.
pub struct Target {
    path: PathBuf,
    target: PathBuf,
    temporary: Temporary,
}

impl Target {
    /// Creates the temporary file.
    ///
    /// # Errors
    /// If the path cannot be written.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let open = || -> Result<_, FileProblem> {
            let target = target(path)?;
            remove_stale(&target);
            let temporary = Temporary::create(&target)?;
            Ok(Target { path: path.into(), target, temporary })
        };
        open().map_err(|problem| problem.at(path))
    }

    /// Writes the content and replaces the target.
    ///
    /// # Errors
    /// The same as [`write_atomically`].
    pub fn write<T, E>(self, write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>) -> Result<T, FileError>
    where
        FileProblem: From<E>,
    {
        let Target { path, target, temporary } = self;
        let replace = || -> Result<T, FileProblem> {
            let mut writer = BufWriter::with_capacity(BUFFER, temporary.file.try_clone()?);
            let result = write(&mut writer)?;
            writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            temporary.rename_to(&target)?;
            Ok(result)
        };
        replace().map_err(|problem| problem.at(&path))
    }
}

/// The file to be replaced: the target of a symbolic link, and never a device.
fn target(path: &Path) -> Result<PathBuf, FileProblem> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(fs::canonicalize(path)?),
        Ok(_) => Err(FileProblem::NotRegular),
        Err(error) if error.kind() == ErrorKind::NotFound && path.file_name().is_some() => Ok(path.into()),
        Err(error) => Err(error.into()),
    }
}

/// A file that is removed unless it is renamed. Its lock tells other processes that it is in use.
struct Temporary {
    path: PathBuf,
    file: File,
    renamed: bool,
}

/// The prefix of the names of a target's temporary files.
fn prefix(target: &Path) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".tmp-");
    prefix
}

fn directory(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

impl Temporary {
    fn create(target: &Path) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let mut name = prefix(target);
            name.push(format!("{}-{}", process::id(), COUNT.fetch_add(1, Relaxed)));
            let path = directory(target).join(name);
            let file = match File::create_new(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            // Without locks, other processes cannot tell that the file is in use, and leave it alone.
            let _ = file.lock();
            // A process that found it before it was locked may have removed it as stale.
            if path.exists() {
                return Ok(Temporary { path, file, renamed: false });
            }
        }
    }

    fn rename_to(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.renamed = true;
        sync_directory(directory(target))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // An error is already on its way to the user.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the rename itself survive a power failure.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(directory)?.sync_all() {
        // Not every file system supports it.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

/// Removes the temporary files of killed processes: those that nobody holds a lock on.
fn remove_stale(target: &Path) {
    let prefix = prefix(target);
    let Ok(entries) = fs::read_dir(directory(target)) else { return };
    for entry in entries.flatten() {
        let is_temporary = entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        if !is_temporary {
            continue;
        }
        // Holds the lock until the file is gone: a process that has just created it waits, and then sees that.
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // Another process may have been quicker; this is only cleanup.
            let _ = fs::remove_file(entry.path());
        }
    }
}
