//! Reads the answer of a token endpoint. See `tests/src/holds/token_answer.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::token_answer(bytes));
