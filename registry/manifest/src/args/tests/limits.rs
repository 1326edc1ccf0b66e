//! Lengths are judged first: what is too long meets no pattern and no search for equal elements.

use super::*;

/// A pattern that takes time with the length of a text times its own size.
const SLOW: &str = "[01]*1[01]{400}x";

fn one(schema: &Value) -> ArgsSchema {
    args(&json!({ "a": schema }), &[])
}

#[test]
fn what_is_too_long_meets_no_pattern() {
    let text = "01".repeat(500_000);
    let schema = one(&json!({"type": "string", "description": "A.", "pattern": SLOW, "maxLength": 10}));
    // The pattern does not match either, and would be a second fault.
    assert_eq!(pointers(normal(&schema, &json!({ "a": text }))), ["/a"]);
    assert_eq!(pointers(normal(&schema, &json!({"a": "0101"}))), ["/a"]);
    let schema = one(
        &json!({"type": "array", "description": "A.", "items": {"type": "string", "pattern": SLOW, "maxLength": 4}}),
    );
    assert_eq!(pointers(normal(&schema, &json!({"a": ["0", text, "111111", 7]}))), ["/a/1", "/a/2"]);
}

#[test]
fn a_text_with_a_pattern_is_short_unless_it_says_otherwise() {
    let without = one(&json!({"type": "string", "description": "A.", "pattern": "^é*$"}));
    assert!(normal(&without, &json!({"a": "é".repeat(4_096)})).is_ok());
    assert_eq!(pointers(normal(&without, &json!({"a": "é".repeat(4_097)}))), ["/a"]);
    let with = one(&json!({"type": "string", "description": "A.", "pattern": "^é*$", "maxLength": 100_000}));
    assert!(normal(&with, &json!({"a": "é".repeat(100_000)})).is_ok());
    let plain = one(&json!({"type": "string", "description": "A."}));
    assert!(normal(&plain, &json!({"a": "é".repeat(100_000)})).is_ok());
}

#[test]
fn what_has_too_many_elements_is_not_searched() {
    let of = |most: &Value| {
        let mut schema =
            json!({"type": "array", "description": "A.", "items": {"type": "integer"}, "uniqueItems": true});
        if !most.is_null() {
            schema["maxItems"] = most.clone();
        }
        one(&schema)
    };
    let same = |count: usize| json!({ "a": vec![7; count] });
    let message = |schema: &ArgsSchema, count| {
        let faults = normal(schema, &same(count)).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults[0].message.clone()
    };
    // One fault either way: too many, or not unique.
    assert_ne!(message(&of(&json!(2)), 3), message(&of(&json!(2)), 2));
    assert_eq!(message(&of(&json!(2)), 2), message(&of(&json!(10_000)), 10_000));
    assert_eq!(message(&of(&Value::Null), 2), message(&of(&Value::Null), 10_000));
    assert_ne!(message(&of(&Value::Null), 10_000), message(&of(&Value::Null), 10_001));
    let loose =
        one(&json!({"type": "array", "description": "A.", "items": {"type": "integer"}, "maxItems": 20_000}));
    assert!(normal(&loose, &same(20_000)).is_ok());
}

#[test]
fn large_patterns_see_so_much_text_in_a_call() {
    let of = |pattern: &str| {
        let items = json!({"type": "string", "pattern": pattern});
        one(&json!({"type": "object", "description": "A.", "additionalProperties": false,
            "properties": {"l": {"type": "array", "items": items}}}))
    };
    let texts = |count: usize| json!({"a": {"l": vec!["0".repeat(300); count]}});
    let large = of("^[01]{0,300}$");
    assert!(normal(&large, &texts(218)).is_ok());
    assert_eq!(pointers(normal(&large, &texts(219))), [""]);
    assert!(normal(&of("^[01]*$"), &texts(219)).is_ok());
}
