//! Documents that are and are not JSON, by the `JSONTestSuite` where it is at hand, and what a tree keeps of them.

use std::fs;

use super::*;
use crate::project::tests::shared;

fn tree(text: &str) -> Tree {
    Tree::parse(text.as_bytes()).unwrap()
}

#[test]
fn the_json_test_suite_is_judged_right() {
    let Some(folder) = shared("the_json_test_suite_is_judged_right", "suites/JSONTestSuite/test_parsing")
    else {
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let parsed = Tree::parse(&fs::read(file.path()).unwrap());
        match name.split_inclusive('_').next().unwrap() {
            "y_" => accepted += usize::from(parsed.inspect_err(|fault| panic!("{name}: {fault}")).is_ok()),
            "n_" => refused += usize::from(parsed.inspect(|_| panic!("{name} was taken")).is_err()),
            _ => {}
        }
    }
    assert_eq!((accepted, refused), (95, 188));
}

#[test]
fn digits_and_duplicates_stay_as_they_came() {
    let text = r#"{"b":1.10,"a":12345678901234567890,"b":-0.0,"c":[1E400,null,true,"\u00e9\ud83d\ude00"]}"#;
    let parsed = tree(text);
    assert_eq!(parsed.to_string(), text.replace("\\u00e9\\ud83d\\ude00", "é😀"));
    assert_eq!(parsed.compact_len(), parsed.to_string().len());
    let Tree::Object(members) = &parsed else { panic!() };
    assert_eq!(members.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["b", "a", "b", "c"]);
}

#[test]
fn faults_have_their_own_names() {
    let fault = |bytes: &[u8]| Tree::parse(bytes).unwrap_err();
    assert_eq!(fault(b"\"\xff\""), DocumentError::NotUtf8);
    assert_eq!(fault(b"\xef\xbb\xbf{}"), DocumentError::ByteOrderMark);
    assert!(matches!(fault(b"{}\n,"), DocumentError::Syntax));
    assert!(matches!(fault(b""), DocumentError::Syntax));
    assert_eq!(fault(br#""\ud800""#), DocumentError::LoneSurrogate);
    assert_eq!(fault(br#"{"a":["\udc00 "]}"#), DocumentError::LoneSurrogate);
    assert_eq!(fault(br#"{"a":{"\ud800x":1}}"#), DocumentError::LoneSurrogate);
}

#[test]
fn nesting_ends_at_the_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Tree::parse(nested(DEPTH_MAX).as_bytes()).is_ok());
    assert_eq!(Tree::parse(nested(DEPTH_MAX + 1).as_bytes()), Err(DocumentError::TooDeep));
    // Brackets alone, and brackets that a string holds.
    assert_eq!(Tree::parse("[{".repeat(1 << 20).as_bytes()), Err(DocumentError::TooDeep));
    assert!(Tree::parse(format!(r#"["\"{}"]"#, "[".repeat(1000)).as_bytes()).is_ok());
}

proptest::proptest! {
    #[test]
    fn reading_never_panics_and_agrees_with_serde_json(text in r#"[\[\]{}",:0-9truefalsn.eE+\\ u-]{0,40}"#) {
        let ours = Tree::parse(text.as_bytes());
        match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(value) => proptest::prop_assert_eq!(
                serde_json::from_str::<serde_json::Value>(&ours.unwrap().to_string()).unwrap(),
                value
            ),
            // What it refuses for its size alone is a document all the same.
            Err(fault) => proptest::prop_assert!(ours.is_err() || fault.to_string().starts_with("number out of range")),
        }
    }

    #[test]
    fn writing_then_reading_is_the_identity(tree in crate::project::tests::any_tree()) {
        proptest::prop_assert_eq!(Tree::parse(tree.to_string().as_bytes()), Ok(tree));
    }
}
