//! What must not compile: printing, cloning, serialising or comparing a secret; making a permission out of nothing.

#![forbid(unsafe_code)]

#[test]
fn secrets_do_not_leak_by_mistake() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
