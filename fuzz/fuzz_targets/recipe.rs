//! `cargo +nightly fuzz run recipe`: see `afterstate_fuzz::recipe`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::recipe(data));
