//! The order in which names and values are sent: of two that a service takes for one name, the later may count.

use pinhole_manifest::diff::{Kind, diff};
use pinhole_manifest::{Manifest, read};

/// A manifest whose one op sends these pairs in their order.
fn sending(place: &str, pairs: &str) -> Manifest {
    let method = if place == "form" {
        r#""access": "write", "confirm": "Do it?", "effect": "update", "request": {"method": "POST","#
    } else {
        r#""access": "read", "request": {"method": "GET","#
    };
    let text = format!(
        r#"{{"pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "A thing.", "host": "api.thing.dev",
        "auth": {{"scheme": "bearer"}}, "ops": {{"list": {{"summary": "List.",
        "args": {{"type": "object", "additionalProperties": false, "properties": {{"a": {{"type": "string", "maxLength": 9, "description": "A."}}}}}},
        {method} "path": "/x", "{place}": {{{pairs}}}}}, "pick": {{"fields": ["id"]}}}}}}}}"#
    );
    read(text.as_bytes()).into_result().unwrap_or_else(|faults| panic!("{faults:?}"))
}

#[test]
fn another_order_of_what_is_sent_is_not_proven_narrower() {
    for (place, kind) in [("query", Kind::Query), ("form", Kind::Body)] {
        for (first, second) in [("state[]", "state"), ("to_id", "to.id"), ("x", "y")] {
            let (a, b) = (format!("\"{first}\": \"{{a}}\""), format!("\"{second}\": \"open\""));
            let one = sending(place, &format!("{a}, {b}"));
            let other = sending(place, &format!("{b}, {a}"));
            let comparison = diff(&one, &other);
            assert!(comparison.widens(), "{place} {first}");
            assert!(comparison.changes().iter().any(|change| change.kind() == kind), "{place} {first}");
            assert!(!diff(&one, &sending(place, &format!("{a}, {b}"))).widens(), "{place} {first}");
        }
    }
}
