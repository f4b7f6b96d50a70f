//! `cargo +nightly fuzz run endgame_table`: see `afterstate_fuzz::endgame_table`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::endgame_table(data));
