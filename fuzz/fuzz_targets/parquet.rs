//! `cargo +nightly fuzz run parquet`: see `afterstate_fuzz::parquet`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| afterstate_fuzz::parquet(data));
