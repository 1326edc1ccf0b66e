//! Conditions on whole answers, and real ones.

use super::*;

#[test]
fn conditions_read_the_whole_answer() {
    let with_failure = |failure: Value| {
        let manifest = json!({
            "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
            "host": "api.thing.dev", "auth": { "scheme": "bearer" }, "failure": failure,
            "ops": { "it": {
                "access": "read", "summary": "Does it.", "pick": "none", "request": { "method": "GET", "path": "/" },
                "args": { "type": "object", "additionalProperties": false, "required": [], "properties": {} },
            } },
        });
        pinhole_manifest::read(manifest.to_string().as_bytes()).into_result().unwrap()
    };
    let holds = |failure: Value, document: &str| {
        let manifest = with_failure(failure);
        holds(&Tree::parse(document.as_bytes()).unwrap(), &manifest.failure().unwrap().when)
    };
    let is_false = json!({ "path": "$.ok", "is": false });
    assert_eq!(holds(is_false.clone(), r#"{"ok":false}"#), Ok(true));
    for other in [r#"{"ok":true}"#, "{}", r#"{"ok":null}"#, r#"{"ok":[]}"#, r#"{"ok":"false"}"#, "[]"] {
        assert_eq!(holds(is_false.clone(), other), Ok(false), "{other}");
    }
    assert_eq!(
        holds(is_false, r#"{"ok":true,"ok":false}"#),
        Err(DuplicateMember { path: "$.ok".to_owned() })
    );
    let codes = json!({ "path": "$.a[1].code", "in": [5, "five"] });
    assert_eq!(holds(codes.clone(), r#"{"a":[0,{"code":5.0}]}"#), Ok(true));
    assert_eq!(holds(codes.clone(), r#"{"a":[0,{"code":"five"}]}"#), Ok(true));
    assert_eq!(holds(codes, r#"{"a":[0,{"code":1e999}]}"#), Ok(false));
    let there = json!({ "path": "$.error", "exists": true });
    assert_eq!(holds(there.clone(), r#"{"error":null}"#), Ok(true));
    assert_eq!(holds(there, "{}"), Ok(false));
}

/// A real page, picked here and by a few lines over another reader's values.
#[test]
fn real_pages_come_out_as_a_plain_reading_says() {
    let Some(folder) = shared("real_pages_come_out_as_a_plain_reading_says", "data/github/org-repos") else {
        return;
    };
    let fields =
        ["id", "full_name", "description", "owner.login", "license.spdx_id", "permissions.*", "topics"];
    let manifest = manifest(&json!({ "fields": fields }));
    let (mut pages, mut rows) = (0, 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if !path.to_str().unwrap().ends_with("repos.body.json") {
            continue;
        }
        let bytes = std::fs::read(path).unwrap();
        let projected = project(Tree::parse(&bytes).unwrap(), projection(&manifest)).unwrap();
        let page: Value = serde_json::from_slice(&bytes).unwrap();
        let steps: Vec<Vec<Step>> = fields.iter().map(|field| naive::steps(field)).collect();
        let expected: Vec<Value> = page
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                naive::object(row, &steps.iter().map(|steps| (steps.clone(), None)).collect::<Vec<_>>())
            })
            .collect();
        rows += expected.len();
        assert_eq!(serde_json::to_value(&projected.value).unwrap(), Value::Array(expected));
        assert!(projected.value.compact_len() * 20 < bytes.len());
        assert!(projected.notes.is_empty());
        pages += 1;
    }
    assert_eq!((pages, rows), (3, 300));
}
