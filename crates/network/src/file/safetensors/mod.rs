//! Named tables of f32 in the safetensors format, with a checksum for every part.
//!
//! A file is the length of the header (u64), the header (JSON), and the numbers, all little-endian.
//! The header's `__metadata__` maps strings to strings. We add `checksum.NAME`, the xxh3 (64 bits, in
//! hex) of the bytes of every tensor, and `checksum`, that of the header itself: of its JSON with
//! sorted keys, without spaces, and without the entry `checksum`.
//!
//! A compressed tensor, as those of checkpoints, is the bytes (U8) of a zstd frame under the name `zstd.NAME`; its
//! shape is the metadata of the same key.

mod header;
mod holes;
mod read;
mod write;

pub use read::{Numbers, TensorFile};
pub(crate) use write::to_bytes;
pub use write::{Tensor, write};

/// The key of the header's own checksum, and how the keys of the tensors' checksums begin.
const CHECKSUM: &str = "checksum";

/// How the names of compressed tensors begin, as do the keys of their shapes.
const COMPRESSED: &str = "zstd.";

/// The number of numbers in a shape.
fn len(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |len, &n| len.saturating_mul(n))
}

fn checksum_key(tensor: &str) -> String {
    format!("{CHECKSUM}.{tensor}")
}

fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}
