//! `cargo +nightly fuzz run packed`: see `afterstate_fuzz::packed`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::packed(data));
