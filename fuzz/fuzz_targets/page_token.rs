//! Opens a page token and follows what stands in it. See `tests/src/holds/page_token.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::page_token(bytes));
