//! `cargo +nightly fuzz run weights_w`: see `afterstate_fuzz::weights_w`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::weights_w(data));
