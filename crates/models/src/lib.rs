//! The built-in network, as the bytes of a model file. It is a separate crate because a published crate holds at most
//! 10 MB.

/// The network for 4×4 boards.
pub const BUILT_IN: &[u8] = include_bytes!("../built-in.safetensors");
