//! `cargo +nightly fuzz run ranges`: see `afterstate_fuzz::ranges`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::ranges(data));
