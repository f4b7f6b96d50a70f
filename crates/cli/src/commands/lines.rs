//! Lines of standard input with a bounded length.

use std::{
    io::{self, BufRead, Read},
    mem,
};

/// The maximum length of a line in bytes: longer than any command or board.
const LONGEST: usize = 1 << 16;

/// The lines of an input without line ends, or why one is invalid. Of an overlong line, only the beginning is ever in
/// memory or waited for.
pub(super) struct Lines<R> {
    input: R,
    /// Whether the rest of an overlong line still has to be skipped.
    is_inside: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Lines { input, is_inside: false }
    }

    fn read(&mut self) -> io::Result<Option<Result<String, String>>> {
        if mem::take(&mut self.is_inside) {
            self.input.skip_until(b'\n')?;
        }
        let mut bytes = Vec::new();
        self.input.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.pop_if(|&mut byte| byte == b'\n').is_none() && bytes.len() > LONGEST {
            self.is_inside = true;
            return Ok(Some(Err(format!("a line has at most {LONGEST} bytes"))));
        }
        Ok(Some(String::from_utf8(bytes).map_err(|_| "the line is not UTF-8".to_owned())))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    /// Read errors have the same wording everywhere.
    type Item = Result<Result<String, String>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().map_err(|error| format!("the standard input cannot be read: {error}")).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_what_is_none_is_said() {
        let long = "a".repeat(LONGEST);
        let text = [long.as_bytes(), b"\n", long.as_bytes(), b"b\nu2i\n\xff\xfe\n\nisready"].concat();
        let lines: Result<Vec<_>, _> = Lines::new(&text[..]).collect();
        let text = |text: &str| Ok(text.to_owned());
        let error = |text: &str| Err(text.to_owned());
        let right = [
            text(&long),
            error("a line has at most 65536 bytes"),
            text("u2i"),
            error("the line is not UTF-8"),
            text(""),
            text("isready"),
        ];
        assert_eq!(lines, Ok(right.into()));
    }

    #[test]
    fn a_line_without_an_end_is_not_waited_for() {
        let mut lines = Lines::new(io::BufReader::new(io::repeat(b'a')));
        assert_eq!(lines.next(), Some(Ok(Err("a line has at most 65536 bytes".into()))));
    }
}
