//! Reads a manifest. See `tests/src/holds/manifest.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::manifest(bytes));
