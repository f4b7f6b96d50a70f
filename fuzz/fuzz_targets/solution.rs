//! `cargo +nightly fuzz run solution`: see `afterstate_fuzz::solution`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::solution(data));
