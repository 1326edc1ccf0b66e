//! Picks out of a document that comes in pieces. See `tests/src/holds/prune.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::prune(bytes));
