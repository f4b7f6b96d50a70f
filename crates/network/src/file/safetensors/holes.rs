//! Sparse files: blocks of zeros that take no disk space.

use std::io::{self, Seek, SeekFrom, Write};

/// The block size of most file systems.
const BLOCK: usize = 4096;

/// A writer that skips whole blocks of zeros by seeking over them. They read as zeros all the same.
pub(super) struct Holes<W> {
    writer: W,
    offset: u64,
    /// The bytes at the end that have been skipped so far.
    skipped: u64,
}

impl<W: Write + Seek> Holes<W> {
    /// Writes at the current offset of a file that is empty from there on.
    pub(super) fn new(mut writer: W) -> io::Result<Self> {
        let offset = writer.stream_position()?;
        Ok(Holes { writer, offset, skipped: 0 })
    }

    /// Extends the file over zeros skipped at the end, which a hole alone would not do.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if self.skipped > 0 {
            self.writer.seek(SeekFrom::Start(self.offset - 1))?;
            self.writer.write_all(&[0])?;
        }
        Ok(())
    }

    /// The bytes up to the next block boundary, or to the end.
    fn piece(&self, bytes: &[u8]) -> usize {
        let rest = BLOCK - (self.offset % BLOCK as u64) as usize;
        rest.min(bytes.len())
    }
}

impl<W: Write + Seek> Write for Holes<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(self.piece(rest));
            if piece.len() == BLOCK && piece.iter().all(|&byte| byte == 0) {
                self.skipped += BLOCK as u64;
            } else {
                if self.skipped > 0 {
                    self.writer.seek(SeekFrom::Start(self.offset))?;
                    self.skipped = 0;
                }
                self.writer.write_all(piece)?;
            }
            self.offset += piece.len() as u64;
            rest = after;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn what_is_left_out_reads_as_zeros() {
        for zeros in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK + 5] {
            for tail in [&b""[..], b"tail"] {
                let mut file = Cursor::new(b"head".to_vec());
                file.set_position(4);
                let mut holes = Holes::new(&mut file).expect("a position");
                let content = [&b"begin"[..], &vec![0; zeros], tail].concat();
                content.chunks(1000).for_each(|chunk| holes.write_all(chunk).expect("memory"));
                holes.finish().expect("memory");
                assert!(file.into_inner() == [&b"head"[..], &content].concat(), "{zeros} {tail:?}");
            }
        }
    }

    #[test]
    fn blocks_of_zeros_take_no_room() {
        use std::os::unix::fs::MetadataExt;
        let path = std::env::temp_dir().join(format!("afterstate-holes-{}", std::process::id()));
        let file = std::fs::File::create(&path).expect("a file");
        let mut holes = Holes::new(&file).expect("a position");
        holes.write_all(b"begin").expect("room");
        holes.write_all(&vec![0; 1 << 20]).expect("room");
        holes.finish().expect("room");
        let metadata = std::fs::metadata(&path).expect("a file");
        std::fs::remove_file(&path).expect("a file");
        assert_eq!(metadata.len(), 5 + (1 << 20));
        assert!(metadata.blocks() * 512 < 1 << 18, "{} blocks", metadata.blocks());
    }
}
