//! Sending without a permit does not compile, nor does making, copying or reusing one outside the spine.

#[test]
fn no_socket_without_a_permit() {
    trybuild::TestCases::new().compile_fail("tests/net_permit/*.rs");
}
