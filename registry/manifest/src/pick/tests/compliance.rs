//! The compliance suite of RFC 9535, where it is there: nothing invalid is accepted, and what is accepted means what it should.

use std::path::PathBuf;

use serde_json::Value;

use super::super::path::{parse_field, parse_root};
use super::*;

/// A file beside the checkout; `None`, said loudly, where there is none.
#[expect(clippy::disallowed_methods, reason = "a test is told where data lies, and whether it runs in CI")]
fn shared(name: &str, file: &str) -> Option<String> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("PINHOLE_SHARED").map_or(beside, PathBuf::from);
    let path = folder.join(file);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{name}: {}: {error}", path.display());
            eprintln!("SKIPPED: {name}: {}: {error}", path.display());
            None
        }
    }
}

/// What RFC 9535 says the steps select: a wildcard takes members of objects too.
fn select(steps: &[Step], document: &Value) -> Vec<Value> {
    let mut found = vec![document];
    for step in steps {
        found = found.into_iter().flat_map(|value| selected(step, value)).collect();
    }
    found.into_iter().cloned().collect()
}

fn selected<'a>(step: &Step, value: &'a Value) -> Vec<&'a Value> {
    match (step, value) {
        (Step::Name(name), Value::Object(map)) => map.get(name).into_iter().collect(),
        (Step::Index(index), Value::Array(list)) => {
            list.get(usize::try_from(*index).unwrap()).into_iter().collect()
        }
        (Step::Each, Value::Array(list)) => list.iter().collect(),
        (Step::Each, Value::Object(map)) => map.values().collect(),
        _ => vec![],
    }
}

/// The steps through every way in, which must agree.
fn accepted(selector: &str) -> Option<Vec<Step>> {
    let root = parse_root(selector).ok();
    let relative = match selector.strip_prefix('$') {
        Some(rest) if rest.starts_with('[') => Some(rest),
        Some(rest) if rest.starts_with('.') && !rest.starts_with("..") => rest.strip_prefix('.'),
        _ => None,
    };
    if let Some(relative) = relative.filter(|text| !text.starts_with('[') || selector.starts_with("$[")) {
        assert_eq!(parse_field(relative).ok(), root, "{selector}: as a field and as a root");
    }
    let singular = parse_singular(selector).ok();
    if let Some(singular) = &singular {
        let steps: Vec<Step> = singular
            .steps()
            .iter()
            .map(|step| match step {
                SingularStep::Name(name) => Step::Name(name.clone()),
                SingularStep::Index(index) => Step::Index(*index),
            })
            .collect();
        assert_eq!(Some(&steps), root.as_ref(), "{selector}: as a singular path and as a root");
    }
    let wild = root.as_ref().is_some_and(|steps| steps.contains(&Step::Each));
    assert_eq!(singular.is_some(), root.is_some() && !wild, "{selector}: singular");
    root
}

#[test]
fn jsonpath_compliance() {
    let Some(text) = shared("jsonpath_compliance", "suites/jsonpath-cts/cts.json") else { return };
    let suite: Value = serde_json::from_str(&text).unwrap();
    let tests = suite["tests"].as_array().unwrap();
    let (mut taken, mut left, mut arrays_only) = (0, 0, 0);
    for test in tests {
        let selector = test["selector"].as_str().unwrap();
        let Some(steps) = accepted(selector) else {
            left += 1;
            continue;
        };
        assert_ne!(test["invalid_selector"], true, "{selector} is invalid and was accepted");
        taken += 1;
        let document = &test["document"];
        let found = Value::Array(select(&steps, document));
        let right = match &test["results"] {
            Value::Array(results) => results.contains(&found),
            _ => test["result"] == found,
        };
        assert!(right, "{selector}: found {found}");
        // A pick's `[*]` goes on through arrays only; of an object, `*` at the end takes the scalar members.
        if steps.contains(&Step::Each) && document.is_object() {
            arrays_only += 1;
        }
    }
    assert_eq!(taken + left, 703);
    assert!(taken >= 45, "only {taken} selectors were accepted");
    assert!((1..10).contains(&arrays_only), "{arrays_only} wildcards over objects");
}
