//! Opens what is asked of a broker. See `tests/src/holds/ask.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::ask(bytes));
