//! Opens and inspects a grant. See `tests/src/holds/grant.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::grant(bytes));
