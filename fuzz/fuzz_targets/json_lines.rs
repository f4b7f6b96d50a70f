//! `cargo +nightly fuzz run json_lines`: see `afterstate_fuzz::json_lines`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::json_lines(data));
