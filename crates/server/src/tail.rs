//! Reads the lines of a file as they are written.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use serde_json::Value;

/// A growing file of JSON lines.
pub(crate) struct Tail {
    path: PathBuf,
    /// The offset after the lines that were read.
    offset: u64,
    /// Their number.
    pub(crate) lines: u64,
}

impl Tail {
    pub(crate) fn new(path: PathBuf) -> Self {
        Tail { path, offset: 0, lines: 0 }
    }

    /// The new complete lines. If the file was truncated, which happens when a run is resumed, the lines after that.
    pub(crate) fn read(&mut self) -> Vec<Value> {
        let Ok(text) = self.new_bytes() else { return Vec::new() };
        let Some(end) = text.iter().rposition(|&byte| byte == b'\n') else { return Vec::new() };
        self.offset += end as u64 + 1;
        let lines: Vec<Value> = text[..end]
            .split(|&byte| byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            // Skips the header, which says what the lines belong to.
            .filter(|line: &Value| line.get("log").is_none())
            .collect();
        self.lines += lines.len() as u64;
        lines
    }

    fn new_bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        let length = file.metadata()?.len();
        self.offset = self.offset.min(length);
        let mut bytes = Vec::new();
        if length > self.offset {
            file.seek(SeekFrom::Start(self.offset))?;
            file.take(length - self.offset).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn lines_come_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut tail = Tail::new(path.clone());
        assert!(tail.read().is_empty());
        fs::write(&path, "1\n2\n3").unwrap();
        assert_eq!(tail.read(), [json!(1), json!(2)]);
        assert!(tail.read().is_empty());
        fs::write(&path, "1\n2\n34\n").unwrap();
        assert_eq!((tail.read(), tail.lines), (vec![json!(34)], 3));
        fs::write(&path, "1\n").unwrap();
        assert!(tail.read().is_empty());
        fs::write(&path, "1\n5\n").unwrap();
        assert_eq!(tail.read(), [json!(5)]);
    }
}
