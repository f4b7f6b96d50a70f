//! Lines with a checksum: the last key of each object, covering everything before it and the header of the log, so
//! that each line is known to be complete and to belong to its log.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The key of the checksum, with the preceding syntax.
const KEY: &str = ",\"check\":\"";
/// The length that a seal adds to an object: the key, sixteen digits, and a quotation mark.
const ADDED: usize = KEY.len() + 16 + 1;

/// A JSON object with its checksum; `log` is the checksum of the header, 0 for the header itself.
pub(super) fn seal(object: &str, log: u64) -> (String, u64) {
    let check = xxh3_64_with_seed(object.as_bytes(), log);
    let open = object.strip_suffix('}').unwrap_or(object);
    (format!("{open}{KEY}{check:016x}\"}}"), check)
}

/// Whether a line has a checksum, correct or not.
pub(super) fn is_sealed(line: &[u8]) -> bool {
    split(line).is_some()
}

/// The object of a sealed line and its checksum; `None` if that is missing or wrong.
pub(super) fn unseal(line: &[u8], log: u64) -> Option<(Vec<u8>, u64)> {
    let (open, digits) = split(line)?;
    let expected = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    let object = [open, b"}"].concat();
    (xxh3_64_with_seed(&object, log) == expected).then_some((object, expected))
}

/// The object of a sealed line without its last brace, and the digits of its checksum.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = line.strip_suffix(b"}")?;
    let (open, added) = inner.split_at_checked(inner.len().checked_sub(ADDED)?)?;
    let digits = added.strip_prefix(KEY.as_bytes())?.strip_suffix(b"\"")?;
    Some((open, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_or_a_line_of_another_log_is_not_taken() {
        let (line, check) = seal(r#"{"a":1}"#, 7);
        assert_eq!(unseal(line.as_bytes(), 7), Some((br#"{"a":1}"#.to_vec(), check)));
        assert_eq!(unseal(line.as_bytes(), 8), None);
        for i in 0..line.len() {
            for bit in 0..8 {
                let mut bytes = line.clone().into_bytes();
                bytes[i] ^= 1 << bit;
                // Digits are accepted in either case.
                let same = bytes.eq_ignore_ascii_case(line.as_bytes()) && i >= line.len() - 18;
                assert!(same || unseal(&bytes, 7).is_none(), "byte {i}, bit {bit}");
            }
        }
    }
}
