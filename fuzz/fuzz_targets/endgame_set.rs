//! `cargo +nightly fuzz run endgame_set`: see `afterstate_fuzz::endgame_set`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::endgame_set(data));
