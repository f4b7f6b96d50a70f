//! `cargo +nightly fuzz run stages`: see `afterstate_fuzz::stages`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::stages(data));
