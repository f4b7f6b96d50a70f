//! `cargo +nightly fuzz run board_text`: see `afterstate_fuzz::board_text`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::board_text(data));
