//! Named tables of f32 in the safetensors format, with a checksum for every part.
//!
//! A file is the length of the header (u64), the header (JSON), and the numbers, all little-endian.
//! The header's `__metadata__` maps strings to strings. We add `checksum.NAME`, the xxh3 (64 bits, in
//! hex) of the bytes of every tensor, and `checksum`, that of the header itself: of its JSON with
//! sorted keys, without spaces, and without the entry `checksum`.

mod header;
mod read;
mod write;

pub use read::TensorFile;
pub use write::{Tensor, write};

/// The key of the header's own checksum, and how the keys of the tensors' checksums begin.
const CHECKSUM: &str = "checksum";

fn checksum_key(tensor: &str) -> String {
    format!("{CHECKSUM}.{tensor}")
}

fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}
