//! The strict reader: what is JSON here, what is not, and where each value stands.

use std::fs;
use std::path::PathBuf;

use super::*;

/// The folder of shared test data, beside the checkout or where the environment says.
#[expect(clippy::disallowed_methods, reason = "a test looks for data that is not part of the project")]
fn shared(name: &str) -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("PINHOLE_SHARED").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{name}: {} is not there", folder.display());
    eprintln!("SKIPPED: {name}: {} is not there", folder.display());
    None
}

fn same(node: &Node, place: &ast::Value<'_>) -> bool {
    match (node, place) {
        (Node::Null, ast::Value::NullKeyword(_)) | (Node::Number(_), ast::Value::NumberLit(_)) => true,
        (Node::Bool(a), ast::Value::BooleanLit(b)) => *a == b.value,
        (Node::String(a), ast::Value::StringLit(b)) => *a == b.value,
        (Node::Array(a), ast::Value::Array(b)) => {
            a.len() == b.elements.len() && a.iter().zip(&b.elements).all(|(a, b)| same(a, b))
        }
        (Node::Object(a), ast::Value::Object(b)) => {
            a.len() == b.properties.len()
                && a.iter()
                    .zip(&b.properties)
                    .all(|((key, a), b)| key == b.name.as_str() && same(a, &b.value))
        }
        _ => false,
    }
}

#[test]
fn the_test_suite_is_judged_and_both_parsers_see_the_same() {
    let Some(folder) = shared("JSONTestSuite") else { return };
    let mut counts = (0, 0, 0);
    for entry in fs::read_dir(folder.join("suites/JSONTestSuite/test_parsing")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        let parsed = parse(&bytes, Numbers::Any);
        if let Ok(document) = &parsed
            && document.faults.is_empty()
        {
            assert!(document.places.as_ref().is_some_and(|place| same(&document.root, place)), "{name}");
        }
        match name.as_bytes()[0] {
            b'y' => {
                let document = parsed.unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
                let twice = document.faults.iter().all(|fault| fault.code == Code::JsonDuplicateKey);
                assert!(
                    twice && document.faults.is_empty() != name.contains("duplicated"),
                    "{name}: {:?}",
                    document.faults
                );
                counts.0 += 1;
            }
            b'n' => {
                assert!(parsed.is_err(), "{name}");
                counts.1 += 1;
            }
            _ => counts.2 += 1,
        }
    }
    assert!(counts.0 > 90 && counts.1 > 180 && counts.2 > 30, "{counts:?}");
}

fn code(text: &str) -> Option<(Code, Range<usize>)> {
    match parse(text.as_bytes(), Numbers::Safe) {
        Ok(document) => document.faults.first().map(|fault| (fault.code, fault.span.clone())),
        Err(fault) => Some((fault.code, fault.span)),
    }
}

#[test]
fn halves_of_surrogate_pairs_are_found_where_they_stand() {
    assert_eq!(code(r#"["\ud83d\ude42"]"#), None);
    assert_eq!(code(r#"["\\ud83d"]"#), None);
    assert_eq!(code(r#"["\ud83d"]"#), Some((Code::JsonSurrogate, 2..8)));
    assert_eq!(code(r#"["a\udc00b"]"#), Some((Code::JsonSurrogate, 3..9)));
    assert_eq!(code(r#"["\ud83d\u0041"]"#), Some((Code::JsonSurrogate, 2..8)));
    assert_eq!(code(r#"["\ud83d\n"]"#), Some((Code::JsonSurrogate, 2..8)));
    // The fault of the syntax comes first here.
    assert_eq!(code(r#"[x, "\ud83d"]"#).map(|(code, _)| code), Some(Code::JsonSyntax));
}

#[test]
fn numbers_are_safe_or_verbatim() {
    for text in ["9007199254740991", "-9007199254740991", "0.1", "-0", "1e15", "9007199254740990.5"] {
        assert_eq!(code(text), None, "{text}");
    }
    for text in
        ["9007199254740992", "-9007199254740992", "18446744073709551616", "1e16", "9007199254740992.0"]
    {
        assert_eq!(code(text), Some((Code::JsonNumber, 0..text.len())), "{text}");
        let document = parse(text.as_bytes(), Numbers::Any).unwrap();
        assert_eq!(document.value_text(""), Some(text));
    }
}

#[test]
fn spans_are_those_of_values_and_keys() {
    let text = "{ \"a/b\" : [ 1, {\"~\": \"ü\"} ] }";
    let document = parse(text.as_bytes(), Numbers::Safe).unwrap();
    assert_eq!(document.value_text("/a~1b/1/~0"), Some("\"ü\""));
    assert_eq!(text.get(document.key_span("/a~1b/1/~0")), Some("\"~\""));
    assert_eq!(document.value_text("/a~1b/0"), Some("1"));
    assert_eq!(text.get(document.key_span("/a~1b")), Some("\"a/b\""));
    assert_eq!(document.key_span(""), 0..1);
}

#[test]
fn hostile_nesting_ends_soon() {
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        assert_eq!(code(&open.repeat(100_000)).map(|(code, _)| code), Some(Code::JsonTooDeep), "{open}");
    }
}
