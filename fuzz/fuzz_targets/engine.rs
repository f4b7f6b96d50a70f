//! `cargo +nightly fuzz run engine`: see `afterstate_fuzz::engine`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::engine(data));
