//! Renders a request out of args. See `tests/src/holds/args_to_request.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::args_to_request(bytes));
