//! How many values a JSON text has, before anybody makes them.
//!
//! A value of a few bytes takes a hundred times as much once it is in a tree. INVARIANT: no text that a reader would make more
//! values of than the limit passes, well-formed or not: both see the same strings up to the first fault, where the reader stops.

/// Most values of one message, with the names of members.
pub(crate) const VALUES_MAX: usize = 20_000;

/// Whether a message has more values than any is read with.
pub(crate) fn too_many(text: &[u8]) -> bool {
    marks(text) > VALUES_MAX
}

/// How many values a text has, one aside: the marks before and between them.
pub(crate) fn marks(text: &[u8]) -> usize {
    let (mut marks, mut at) = (0_usize, At::Outside);
    for byte in text {
        at = match (at, byte) {
            (At::Outside, b'"') | (At::Escaped, _) => At::Inside,
            (At::Inside, b'"') => At::Outside,
            (At::Inside, b'\\') => At::Escaped,
            (At::Outside, b',' | b':' | b'[' | b'{') => {
                marks = marks.saturating_add(1);
                At::Outside
            }
            (at, _) => at,
        };
    }
    marks
}

/// Where a byte is: in a string or not, or behind a backslash in one.
#[derive(Debug, Clone, Copy)]
enum At {
    Outside,
    Inside,
    Escaped,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Values and names, as a tree has them.
    fn count(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
            Value::Object(members) => 1 + members.values().map(|value| 1 + count(value)).sum::<usize>(),
            _ => 1,
        }
    }

    #[test]
    fn only_marks_outside_of_strings_count() {
        let of = |count: usize, text: &str| assert_eq!(marks(text.as_bytes()), count, "{text}");
        of(0, r#"",:[{\",:[{\\""#);
        of(2, r#"{"a\\":"[[[["}"#);
        of(3, r#"["\"",{}]"#);
        of(6, r#"{"":0,"":[0,0]}"#);
    }

    #[test]
    fn a_message_may_be_long_and_may_not_be_many() {
        let elements = |of: &str, count: usize| format!("[{}]", vec![of; count].join(","));
        assert!(!too_many(format!("\"{}\"", "[".repeat(1 << 20)).as_bytes()));
        assert!(!too_many(elements("0", VALUES_MAX).as_bytes()));
        assert!(too_many(elements("0", VALUES_MAX + 1).as_bytes()));
        assert!(too_many(elements("{\"\":0}", 149_000).as_bytes()));
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = "[\\[{,:\"\\\\a]{0,4}";
        let scalar = prop_oneof![Just(Value::Null), text.prop_map(Value::from)];
        scalar.prop_recursive(4, 32, 4, move |inner| {
            let members = proptest::collection::btree_map(text, inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Value::from),
                members.prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_tree_has_one_value_more_than_its_text_has_marks_at_most(value in values()) {
            let (count, text) = (count(&value), value.to_string());
            prop_assert!(count <= marks(text.as_bytes()) + 1, "{}: {}", count, text);
        }
    }
}
