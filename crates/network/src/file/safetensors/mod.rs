//! Named tables of f32 in the safetensors format, with a checksum for every part.
//!
//! A file is the length of the header (u64), the header (JSON), and the numbers, all little-endian.
//! The header's `__metadata__` maps strings to strings. We add `checksum.NAME`, the xxh3 (64 bits, in
//! hex) of the bytes of every tensor, and `checksum`, that of the header itself: of its JSON with
//! sorted keys, without spaces, and without the entry `checksum`.
//!
//! Tensors of one shape can be stored together, as in checkpoints: `sparse.NAME+NAME…` is the bytes (U8) that `sparse.rs`
//! describes. Older checkpoints have a zstd frame (U8) for each tensor, named `zstd.NAME`. The metadata entry of the same
//! name holds the shape of such tensors.

mod header;
mod holes;
mod read;
mod sparse;
mod write;

pub use read::{Numbers, TensorFile};
pub(crate) use write::to_bytes;
pub use write::{Part, Tensor, write};

/// The key of the header's own checksum, and the prefix of the keys of the tensors' checksums.
const CHECKSUM: &str = "checksum";

/// The prefix of the names of tensors that are stored together, and of the keys of their shapes.
const SPARSE: &str = "sparse.";

/// The prefix of the names of compressed tensors in older checkpoints, and of the keys of their shapes.
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
