//! `cargo +nightly fuzz run checkpoint`: see `afterstate_fuzz::checkpoint`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::checkpoint(data));
