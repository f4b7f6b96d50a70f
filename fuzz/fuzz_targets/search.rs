//! `cargo +nightly fuzz run search`: see `afterstate_fuzz::search`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::search(data));
