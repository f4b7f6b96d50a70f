//! `cargo +nightly fuzz run jaskowski_player`: see `afterstate_fuzz::jaskowski_player`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::jaskowski_player(data));
