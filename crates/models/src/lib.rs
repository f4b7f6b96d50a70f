//! The built-in networks, as bytes of model files. They are a crate of their own because a published crate holds at most 10 MB.

/// The network for 4×4 boards.
pub const BUILT_IN: &[u8] = include_bytes!("../built-in.safetensors");

/// The network for 3×3 boards.
pub const BUILT_IN_3X3: &[u8] = include_bytes!("../built-in-3x3.safetensors");
