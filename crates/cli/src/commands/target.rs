//! Output files of commands: only files of the same kind may be replaced.

use std::{
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use afterstate_network::file::atomic::Target;

use super::model::failure;
use crate::error::Failure;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Model,
    /// A weight file of TDL2048+.
    Weights,
    /// A player file of Jaśkowski.
    Player,
    Solution,
    Positions,
    Report,
}

/// The first bytes of a file, within which its kind is recognized.
const HEAD: usize = 1 << 20;

/// The maximum number of stage bits of a player file.
const MOST_STAGE_BITS: u8 = 16;

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Model, Kind::Weights, Kind::Player, Kind::Solution, Kind::Positions, Kind::Report];

    /// Whether a file with this beginning is of this kind.
    fn is_in(self, head: &[u8]) -> bool {
        match self {
            // The metadata of other safetensors files names another format.
            Kind::Model => head.get(8) == Some(&b'{') && contains(head, b"\"format\":\"afterstate-"),
            Kind::Weights => {
                matches!(head, [0, _, _, _, _, 4, _, _, _, _, digits, 0, 0, 0, ..] if (1..=16).contains(digits))
            }
            Kind::Player => {
                matches!(head, [1 | 2, 0, 0, 0, 16, 0, 0, 0, bits, 0, 0, 0, ..] if *bits <= MOST_STAGE_BITS)
            }
            Kind::Solution => head.starts_with(b"2048sol1"),
            Kind::Positions => {
                let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
                line.starts_with(b"{\"step\":") && contains(line, b",\"board\":\"")
            }
            // Pages of other programs do not begin with this name.
            Kind::Report => {
                head.starts_with(b"<!doctype html>") && contains(head, b"<header><p>Afterstate</p><h1>")
            }
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Model => "a model of this program",
            Kind::Weights => "a .w file of TDL2048+",
            Kind::Player => "a player file of Jaśkowski",
            Kind::Solution => "a solution",
            Kind::Positions => "a file of collected positions",
            Kind::Report => "a report of this program",
        }
    }
}

/// Other kinds that are recognized by their first bytes.
const OTHERS: [(&[u8], &str); 9] = [
    (b"a2048eg\n", "an endgame table"),
    (b"PAR1", "a Parquet file"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
    (b"%PDF", "a PDF"),
    (b"{\"log\":", "a log of this program"),
    (b"<!doctype html>", "a web page"),
    (b"\x89PNG", "a picture"),
];

/// The kind of a file, in words.
fn describe(head: &[u8]) -> &'static str {
    let own = Kind::ALL.into_iter().find(|kind| kind.is_in(head)).map(Kind::words);
    let other = || OTHERS.iter().find(|(start, _)| head.starts_with(start)).map(|(_, words)| *words);
    let is_text = || head.iter().take(4096).all(|&byte| byte >= b' ' || b"\t\r\n".contains(&byte));
    own.or_else(other).unwrap_or_else(|| if is_text() { "some other text" } else { "something else" })
}

/// Checks that a file can be written, before its content is computed: that the location is writable, and that it
/// replaces only an empty file or one of the same kind.
pub(super) fn open(path: &Path, kind: Kind) -> Result<Target, Failure> {
    let target = Target::open(path).map_err(failure)?;
    match head(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(target),
        Err(error) => {
            let message = format!("{}: what is there cannot be read: {error}", path.display());
            Err(Failure::input(message, "give another name, or remove it"))
        }
        Ok(head) if head.is_empty() || kind.is_in(&head) => Ok(target),
        Ok(head) => {
            let (path, found, wanted) = (path.display(), describe(&head), kind.words());
            let message = format!("{path} is there already: {found}, not {wanted}; it is left as it is");
            Err(Failure::input(message, "give another name, or remove it"))
        }
    }
}

/// Like [`open`], if another component writes the file.
pub(super) fn check(path: &Path, kind: Kind) -> Result<(), Failure> {
    open(path, kind).map(drop)
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_by_its_own_kind_alone() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("file");
        let own: [(Kind, &[u8]); 6] = [
            (Kind::Model, b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"afterstate-network\"}}"),
            (Kind::Weights, b"\0\x02\0\0\0\x04\x10\x32\0\0\x04\0\0\0\x04\0"),
            (Kind::Player, b"\x02\0\0\0\x10\0\0\0\x01\0\0\0\x02"),
            (Kind::Solution, b"2048sol1\x03\0\0\0"),
            (Kind::Positions, b"{\"step\":512,\"board\":\"0000\",\"game\":1,\"score\":2}\n"),
            (Kind::Report, b"<!doctype html>\n<html>\n<header><p>Afterstate</p><h1>runs"),
        ];
        let others: [(&str, &[u8]); 7] = [
            ("some other text", b"notes"),
            ("some other text", b"{\"step\":\"one\"}\n"),
            ("a web page", b"<!doctype html>\n<p>Afterstate"),
            ("a Parquet file", b"PAR1\0\0"),
            ("a log of this program", b"{\"log\":\"games\"}\n"),
            ("something else", b"\x40\0\0\0\0\0\0\0{\"__metadata__\":{\"format\":\"pt\"}}"),
            ("something else", b"\0\0\0\0\0\x04\0\0\0\0\0\0\0\0"),
        ];
        for kind in Kind::ALL {
            let open_over = |content: &[u8]| {
                std::fs::write(&path, content).expect("a file");
                let opened = check(&path, kind);
                assert!(std::fs::read(&path).expect("a file") == content);
                match opened {
                    Err(Failure::Input { message, .. }) => message,
                    opened => opened.map(|()| String::new()).expect("no other error"),
                }
            };
            assert_eq!(open_over(b""), "");
            for (other, content) in own {
                let told = open_over(content);
                assert_eq!(told.is_empty(), other == kind, "{kind:?} over {other:?}: {told}");
                assert!(told.is_empty() || told.contains(other.words()), "{told}");
            }
            for (words, content) in others {
                let told = open_over(content);
                assert!(told.contains(words) && told.contains(kind.words()), "{kind:?}: {told}");
            }
        }
    }
}
