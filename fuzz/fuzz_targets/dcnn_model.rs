//! `cargo +nightly fuzz run dcnn_model`: see `afterstate_fuzz::dcnn_model`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::dcnn_model(data));
