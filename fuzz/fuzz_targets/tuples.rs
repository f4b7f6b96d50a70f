//! `cargo +nightly fuzz run tuples`: see `afterstate_fuzz::tuples`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::tuples(data));
