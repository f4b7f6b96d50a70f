//! `cargo +nightly fuzz run safetensors`: see `afterstate_fuzz::safetensors`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::safetensors(data));
