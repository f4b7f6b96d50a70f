//! `cargo +nightly fuzz run game_text`: see `afterstate_fuzz::game_text`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::game_text(data));
