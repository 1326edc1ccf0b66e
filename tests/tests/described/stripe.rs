//! Stripe's fixtures have an object of each kind that we pick from: each picked path is there.

use pinhole_tests::shared;
use serde_json::Value;

use crate::{fields, manifest, ops};

/// Paths that Stripe has and the fixture's object lacks, since the thing did not happen to it.
const LACKING: [(&str, &str); 4] = [
    ("get_customer", "deleted"),
    ("get_payment_intent", "last_payment_error.code"),
    ("get_payment_intent", "last_payment_error.decline_code"),
    ("get_payment_intent", "last_payment_error.message"),
];

/// What is missing on the way of a path, if anything is. A `null` on the way says that the fixture has no such object.
fn missing(value: &Value, path: &str) -> bool {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let name = step.trim_end_matches("[*]");
    if value.is_null() || step.is_empty() || step == "*" {
        return false;
    }
    let Some(found) = value.get(name) else { return true };
    match found.as_array() {
        Some(elements) if step != name => elements.iter().any(|element| missing(element, rest)),
        Some(_) => !rest.is_empty(),
        None => step != name || missing(found, rest),
    }
}

fn fixture_of<'a>(fixtures: &'a Value, op: &str, path: &str) -> &'a Value {
    let kind = match path.split('/').nth(2).expect("/v1/KIND") {
        "balance" => "balance",
        "account" => "account",
        kinds => kinds.trim_end_matches('s'),
    };
    fixtures["resources"].get(kind).unwrap_or_else(|| panic!("{op}: no fixture of {kind}"))
}

#[test]
fn every_picked_path_is_in_stripes_own_objects() {
    let Some(path) = shared("every_picked_path_is_in_stripes_own_objects", "data/stripe/fixtures3.json")
    else {
        return;
    };
    let fixtures: Value = serde_json::from_slice(&std::fs::read(path).expect("fixtures")).expect("JSON");
    let manifest = manifest("stripe");
    let mut lacking = Vec::new();
    let mut held = 0;
    // What a module computes is its own; what it reads is held below.
    for (name, op) in ops(&manifest).filter(|(_, op)| op["request"].is_object()) {
        let object = fixture_of(&fixtures, name, op["request"]["path"].as_str().expect("a path"));
        for field in fields(op) {
            let inner = field.strip_prefix("data[*].").unwrap_or(field);
            // What a list has beside its elements.
            if inner == "has_more" {
                continue;
            }
            held += 1;
            if missing(object, inner) {
                lacking.push((name.as_str(), field));
            }
        }
    }
    assert_eq!(lacking, LACKING);
    assert!(held > 200, "only {held} paths were held");
    assert!(missing(&fixtures["resources"]["charge"], "payment_method_details.card.brend"));
    assert!(missing(&fixtures["resources"]["subscription"], "items.data[*].price.unit_amounts"));
}

/// What the modules read of an object, and may ask for of its list.
const READ: [(&str, &str, &[&str]); 2] = [
    ("/v1/charges", "list_charges", &["id", "status", "amount_captured", "currency", "created"]),
    ("/v1/refunds", "list_refunds", &["id", "status", "amount", "currency", "created"]),
];

#[test]
fn a_module_reads_what_is_in_stripes_own_objects_and_asks_as_the_ops_do() {
    let name = "a_module_reads_what_is_in_stripes_own_objects_and_asks_as_the_ops_do";
    let Some(path) = shared(name, "data/stripe/fixtures3.json") else { return };
    let fixtures: Value = serde_json::from_slice(&std::fs::read(path).expect("fixtures")).expect("JSON");
    let manifest = manifest("stripe");
    let lines = ops(&manifest).filter_map(|(_, op)| op["module"]["requests"].as_array()).flatten();
    let mut held = 0;
    for line in lines {
        let path = line["path"].as_str().expect("a path");
        let (_, op, fields) = READ.iter().find(|(known, ..)| *known == path).expect("what is read of it");
        let object = fixture_of(&fixtures, op, path);
        let absent: Vec<_> = fields.iter().filter(|field| missing(object, field)).collect();
        assert!(absent.is_empty(), "{path}: {absent:?}");
        let request = &manifest["ops"][op]["request"];
        assert_eq!((&request["method"], &request["path"]), (&line["method"], &line["path"]));
        for key in line["query"].as_array().expect("keys") {
            assert!(!request["query"][key.as_str().expect("a key")].is_null(), "{path}: {key}");
            held += 1;
        }
    }
    assert_eq!(held, 8, "keys were held");
}
