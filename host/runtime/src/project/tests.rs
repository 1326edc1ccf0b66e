//! Shapes one by one.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

/// A folder of material that is kept beside the checkout; `None`, with a loud word, where it is not there.
pub(super) fn shared(test: &str, path: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test finds its material by the environment")]
    let (named, ci) = (std::env::var_os("PINHOLE_SHARED"), std::env::var_os("CI"));
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = named.map_or(beside, PathBuf::from).join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(ci.is_none_or(|ci| ci != "true"), "{test} needs {path}");
    eprintln!("SKIPPED: {test}: no {path} beside the checkout");
    None
}

/// Any tree, with few names, so that they meet.
pub(super) fn any_tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?"
            .prop_map(|digits| Tree::parse(digits.as_bytes()).unwrap()),
        "\\PC{0,6}".prop_map(Tree::String),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            proptest::collection::vec(("[abcd]", inner), 0..5).prop_map(Tree::Object),
        ]
    })
}
