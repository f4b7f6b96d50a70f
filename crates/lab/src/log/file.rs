//! Append-only files of JSON lines.
//!
//! The first line is a header that identifies the log's owner, and every line has a checksum that covers the header
//! too. A log is created and repaired by writing it whole and renaming it; otherwise it only grows. A process that has
//! it open holds a lock on it. Files that are not logs are never modified.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    marker::PhantomData,
    path::{Path, PathBuf},
};

use afterstate_network::file::{FileError, atomic::write_atomically};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Line,
    seal::{is_sealed, seal, unseal},
};

/// The header key of the kind of lines.
const KIND: &str = "log";

/// Why a log could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The attempted action, such as `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It could not be created or repaired.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process is writing to it.
    #[error("another process is writing to {}", .0.display())]
    Busy(PathBuf),
    /// Not a log, or a log without its header.
    #[error("{} is not a log of {kind}: it has no such header; it is left as it is", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The expected kind of lines.
        kind: &'static str,
    },
    /// A log of something else.
    #[error("{} belongs to {found}, not to {wanted}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The header found.
        found: Header,
        /// The expected header.
        wanted: Header,
    },
    /// A line that the program did not write.
    #[error("{} line {line} is damaged: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl LogError {
    /// For `map_err`: an error of this action on this file.
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> LogError {
        let path = path.to_owned();
        move |source| LogError::Io { action, path, source }
    }
}

/// The identity of a log's owner.
#[derive(Clone, PartialEq, Debug)]
pub struct Header(Map<String, Value>);

impl Header {
    /// The header of a log of these lines with this owner.
    pub fn of<T: Line>(owner: &impl Serialize) -> Self {
        let mut header = Map::from_iter([(KIND.to_owned(), T::KIND.into())]);
        if let Ok(Value::Object(owner)) = serde_json::to_value(owner) {
            header.extend(owner);
        }
        Header(header)
    }

    /// The owner, if it has the requested type.
    pub fn owner<O: DeserializeOwned>(&self) -> Option<O> {
        serde_json::from_value(Value::Object(self.0.clone())).ok()
    }

    /// The line, and its checksum.
    fn sealed(&self) -> (String, u64) {
        seal(&Value::Object(self.0.clone()).to_string(), 0)
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |(key, value): (&String, &Value)| match value {
            Value::String(text) => format!("{key} {text}"),
            value => format!("{key} {value}"),
        };
        f.write_str(&self.0.iter().map(entry).collect::<Vec<_>>().join(", "))
    }
}

/// Why a log could not be continued as it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} could not be used as it was ({lines} damaged); it is kept as {}, and the log goes on without that",
    path.display(), aside.display(), lines = Lines(*.damaged))]
pub struct Repaired {
    /// The log.
    pub path: PathBuf,
    /// The number of lines that were dropped.
    pub damaged: usize,
    /// Where the original file is kept.
    pub aside: PathBuf,
}

struct Lines(usize);

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} line{}", self.0, if self.0 == 1 { "" } else { "s" })
    }
}

/// The content of a file.
struct Content<T> {
    /// `None` in files from before headers were introduced.
    header: Option<Header>,
    /// The lines with their numbers.
    lines: Vec<(usize, Result<T, String>)>,
}

/// A log, open for appending.
#[derive(Debug)]
pub struct Log<T> {
    path: PathBuf,
    file: File,
    /// The length of the file's complete lines.
    length: u64,
    /// The checksum of the header.
    header: u64,
    line: PhantomData<fn(&T)>,
}

impl<T: Line> Log<T> {
    /// Continues a log, or creates one, and returns its lines; a last line that a crash cut short is removed. Damaged
    /// lines are dropped, and the original file is kept aside.
    ///
    /// # Errors
    /// If the file is not a log or belongs to something else, another process is writing to it, or the system refuses.
    pub fn open(path: &Path, header: &Header) -> Result<(Self, Vec<T>, Option<Repaired>), LogError> {
        let (file, bytes) = take(path)?;
        let content = parse::<T>(&bytes, path)?;
        match content.as_ref().map(|content| &content.header) {
            Some(Some(found)) if found != header => {
                let (found, wanted) = (found.clone(), header.clone());
                Err(LogError::Other { path: path.to_owned(), found, wanted })
            }
            Some(None) => Err(foreign::<T>(path)),
            _ => Log::go_on(path, file, &bytes, header, content, |_| true),
        }
    }

    /// Continues a log that belongs to a run by its location: whatever it contains, the run continues. Lines are kept
    /// and returned up to the first that `keep` rejects. Unusable content is dropped, and the original file is kept
    /// aside.
    ///
    /// # Errors
    /// If another process is writing to it, or the system refuses.
    pub fn resume(
        path: &Path,
        header: &Header,
        keep: impl Fn(&T) -> bool,
    ) -> Result<(Self, Vec<T>, Option<Repaired>), LogError> {
        let (file, bytes) = take(path)?;
        let content = match parse::<T>(&bytes, path) {
            Ok(Some(Content { header: Some(found), lines })) if found != *header => {
                let lines = lines.into_iter().map(|(n, _)| (n, Err("of another run".to_owned()))).collect();
                Some(Content { header: Some(found), lines })
            }
            Ok(content) => content,
            // Lines sealed with the header belong to this log, even if the header itself is damaged.
            Err(_) => {
                let check = header.sealed().1;
                let whole = bytes.split_inclusive(|&byte| byte == b'\n');
                let line = |line: &[u8]| {
                    let sealed = line.strip_suffix(b"\n").and_then(|line| unseal(line, check));
                    let (object, _) = sealed.ok_or_else(|| "no line of this log".to_owned())?;
                    serde_json::from_slice(&object).map_err(|error| error.to_string())
                };
                let lines = (1..).zip(whole.map(line)).collect();
                Some(Content { header: None, lines })
            }
        };
        Log::go_on(path, file, &bytes, header, content, keep)
    }

    fn go_on(
        path: &Path,
        file: File,
        bytes: &[u8],
        header: &Header,
        content: Option<Content<T>>,
        keep: impl Fn(&T) -> bool,
    ) -> Result<(Self, Vec<T>, Option<Repaired>), LogError> {
        let (first, check) = header.sealed();
        let (mut text, mut lines, mut damaged) = (first + "\n", Vec::new(), 0);
        for (_, line) in content.into_iter().flat_map(|content| content.lines) {
            match line {
                Err(_) => damaged += 1,
                Ok(line) if keep(&line) => {
                    text += &sealed(&line, check).map_err(LogError::io("write", path))?;
                    lines.push(line);
                }
                Ok(_) => break,
            }
        }
        let aside = path.with_added_extension("damaged");
        if damaged > 0 {
            write_atomically(&aside, |file| file.write_all(bytes))?;
        }
        let file = if text.as_bytes() == bytes {
            file
        } else {
            write_atomically(path, |file| file.write_all(text.as_bytes()))?;
            // A process that waits for the old file notices that it has been replaced.
            take(path)?.0
        };
        let log =
            Log { path: path.to_owned(), file, length: text.len() as u64, header: check, line: PhantomData };
        let repaired = Repaired { path: path.to_owned(), damaged, aside };
        Ok((log, lines, (damaged > 0).then_some(repaired)))
    }

    /// All complete lines of a log; none if there is no file. Logs from before headers were introduced are read too.
    ///
    /// # Errors
    /// If it cannot be read, or a line is damaged.
    pub fn read(path: &Path) -> Result<Vec<T>, LogError> {
        let content = read_bytes(path)?.map(|bytes| parse::<T>(&bytes, path)).transpose()?.flatten();
        let lines = content.into_iter().flat_map(|content| content.lines);
        let damaged = |line, problem| LogError::Line { path: path.to_owned(), line, problem };
        lines.map(|(number, line)| line.map_err(|problem| damaged(number, problem))).collect()
    }

    /// The header and the undamaged lines of a log.
    ///
    /// # Errors
    /// If it cannot be read, or is not a log of such lines.
    pub fn read_with_header(path: &Path) -> Result<(Header, Vec<T>), LogError> {
        let bytes = read_bytes(path)?.unwrap_or_default();
        match parse::<T>(&bytes, path)? {
            Some(Content { header: Some(header), lines }) => {
                Ok((header, lines.into_iter().filter_map(|(_, line)| line.ok()).collect()))
            }
            _ => Err(foreign::<T>(path)),
        }
    }

    /// Appends a line, in a single write so that readers see it whole. After an error, such as a full disk, the file is
    /// unchanged, and other lines can follow.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, line: &T) -> Result<(), LogError> {
        self.try_append(line).map_err(LogError::io("write", &self.path))
    }

    fn try_append(&mut self, line: &T) -> io::Result<()> {
        let text = sealed(line, self.header)?;
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// A line with its checksum and newline.
fn sealed<T: Line>(line: &T, header: u64) -> io::Result<String> {
    Ok(seal(&serde_json::to_string(line)?, header).0 + "\n")
}

fn foreign<T: Line>(path: &Path) -> LogError {
    LogError::Foreign { path: path.to_owned(), kind: T::KIND }
}

/// The content of a file, without an incomplete last line; `None` if it is empty.
fn parse<T: Line>(bytes: &[u8], path: &Path) -> Result<Option<Content<T>>, LogError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut whole = bytes.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let mut numbered = (1..).zip(whole.by_ref()).peekable();
    let first = numbered.peek().map_or(&b""[..], |(_, line)| line);
    let header = unseal(first, 0).and_then(|(object, check)| {
        let header = Header(serde_json::from_slice(&object).ok()?);
        (header.0.get(KIND)? == T::KIND).then_some((header, Some(check)))
    });
    let header = header.or_else(|| Some((old_header::<T>(first)?, None)));
    let line = |(number, line): (usize, &[u8]), check: Option<u64>| {
        let object = match check {
            Some(check) => {
                unseal(line, check).map(|(object, _)| object).ok_or("its checksum is wrong".into())
            }
            None => Ok(line.to_vec()),
        };
        let parsed =
            object.and_then(|object| serde_json::from_slice(&object).map_err(|error| error.to_string()));
        (number, parsed)
    };
    match header {
        Some((header, check)) => {
            let lines = numbered.skip(1).map(|numbered| line(numbered, check)).collect();
            Ok(Some(Content { header: Some(header), lines }))
        }
        None if !is_sealed(first) && serde_json::from_slice::<T>(first).is_ok() => {
            Ok(Some(Content { header: None, lines: numbered.map(|numbered| line(numbered, None)).collect() }))
        }
        None => Err(foreign::<T>(path)),
    }
}

/// The header of a log from before checksums were introduced.
fn old_header<T: Line>(first: &[u8]) -> Option<Header> {
    let mut header: Map<String, Value> = serde_json::from_slice(first).ok().filter(|_| !is_sealed(first))?;
    T::is_old_header(&header).then(|| {
        header.insert(KIND.to_owned(), T::KIND.into());
        Header(header)
    })
}

/// The lines of a file without header and checksums, for files that are written whole.
///
/// # Errors
/// If it cannot be read, or a line is damaged.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, LogError> {
    let bytes = read_bytes(path)?.unwrap_or_default();
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let parse = |(line, text): (usize, &[u8])| {
        let damaged = |error: serde_json::Error| LogError::Line {
            path: path.to_owned(),
            line,
            problem: error.to_string(),
        };
        serde_json::from_slice(text).map_err(damaged)
    };
    (1..).zip(lines).map(parse).collect()
}

fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, LogError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some).map_err(LogError::io("read", path)),
    }
}

/// Opens a file, creating it if necessary, locks out other writers, and reads it.
fn take(path: &Path) -> Result<(File, Vec<u8>), LogError> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let source = io::Error::other("it is not a regular file");
        return Err(LogError::Io { action: "write", path: path.to_owned(), source });
    }
    loop {
        let open = File::options().read(true).append(true).create(true).open(path);
        let mut file = open.map_err(LogError::io("write", path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(LogError::Busy(path.to_owned())),
            // On file systems without locks, other writers cannot be locked out.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(LogError::io("read", path))?;
        if is_at(&file, path) {
            return Ok((file, bytes));
        }
    }
}

/// Whether a path still leads to an open file: another process may have replaced it before we got the lock.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(a, b)| same(a, b))
}

#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> bool {
    true
}
