//! Shows a proposal to the member. See `tests/src/holds/proposal.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pinhole_tests::holds::proposal(bytes));
