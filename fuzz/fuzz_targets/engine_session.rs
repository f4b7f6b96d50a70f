//! `cargo +nightly fuzz run engine_session`: see `afterstate_fuzz::engine_session`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::engine_session(data));
