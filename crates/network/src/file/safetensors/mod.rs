//! Named tables of f32 in the safetensors format, with a checksum for every part.
//!
//! A file is the length of the header (u64), the header (JSON), and the numbers, all little-endian.
//! The header's `__metadata__` maps strings to strings. We add `checksum.NAME`, the xxh3 (64 bits, in
//! hex) of the bytes of every tensor, and `checksum`, that of the header itself: of its JSON with
//! sorted keys, without spaces, and without the entry `checksum`.
//!
//! Tensors of one shape can stand together, as those of checkpoints do: `sparse.NAME+NAME…` is the bytes (U8) that
//! `sparse.rs` describes. Older checkpoints have a zstd frame (U8) for each tensor, under the name `zstd.NAME`. The
//! shape of such tensors is the metadata of the same key.

mod header;
mod holes;
mod read;
mod sparse;
mod write;

pub use read::{Numbers, TensorFile};
pub(crate) use write::to_bytes;
pub use write::{Part, Tensor, write};

/// The key of the header's own checksum, and how the keys of the tensors' checksums begin.
const CHECKSUM: &str = "checksum";

/// How the names of tensors that are stored together begin, as do the keys of their shapes.
const SPARSE: &str = "sparse.";

/// How the names of compressed tensors in older checkpoints begin, as do the keys of their shapes.
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
