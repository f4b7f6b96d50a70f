//! `cargo +nightly fuzz run api_body`: see `afterstate_fuzz::api_body`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::api_body(data));
