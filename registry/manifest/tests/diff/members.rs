//! Every member of a manifest changed alone: none is overlooked, and none narrows but those that are listed here with the
//! reason why.

use std::collections::BTreeSet;

use pinhole_manifest::diff::{Comparison, diff};
use pinhole_manifest::{Manifest, read};
use serde_json::{Value, json};

use crate::known::Change::{
    self, Flipped, Joined, Lengthened, Lowered, Raised, Removed, Repeated, Rewritten, Shortened,
};
use crate::known::{FIXED, NARROWS, SAYS_NOTHING, is_like, is_listed};
use crate::{base, manifest};

/// Other texts for the text of a member, of which some load.
fn rewritten(key: &str, text: &str) -> Vec<String> {
    let words: &[&str] = match key {
        "method" => &["GET", "HEAD", "POST", "PUT", "DELETE"],
        "effect" => &["create", "delete"],
        "scheme" => &["bearer", "basic"],
        "client_auth" => &["post"],
        "type" => &["integer", "number", "boolean"],
        "format" => &["uuid"],
        "version" => &["1.0.1"],
        "verified" => &["2026-12-01"],
        "host" => &["api.other.com"],
        "file" => &["modules/other.wasm"],
        "sha256" => &["0000000000000000000000000000000000000000000000000000000000000001"],
        "viewer" | "op" => &["get_me", "get_rack"],
        _ => &["fixed", "{name}", "{text}"],
    };
    let of_text = [
        format!("{text}x"),
        format!("{text}/more"),
        text.replace("id }", "id more }").replace("touched", "more"),
    ];
    let others = words.iter().map(|word| (*word).to_owned()).chain(of_text);
    others.filter(|other| other != text).collect()
}

/// The values that one value is changed to.
fn others(key: &str, value: &Value) -> Vec<(Change, Value)> {
    match value {
        Value::Bool(flag) => vec![(Flipped, json!(!flag))],
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            vec![(Raised, json!(number * 2)), (Raised, json!(number + 1)), (Lowered, json!(number - 1))]
        }
        Value::String(text) => {
            rewritten(key, text).into_iter().map(|text| (Rewritten, json!(text))).collect()
        }
        Value::Array(elements) => {
            let mut others = Vec::new();
            for index in 0..elements.len() {
                let mut fewer = elements.clone();
                fewer.remove(index);
                others.push((Shortened, Value::Array(fewer)));
            }
            let more = [json!("more"), json!("note"), json!("/more"), json!(7)];
            let and = |more: Value| Value::Array(elements.iter().cloned().chain([more]).collect());
            others.extend(more.into_iter().map(|more| (Lengthened, and(more))));
            others.extend(elements.first().map(|first| (Repeated, and(first.clone()))));
            others
        }
        Value::Object(members) => {
            let mut others = Vec::new();
            for more in members
                .values()
                .take(1)
                .chain([&json!("more"), &json!({"type": "string", "description": "A."})])
            {
                let mut joined = members.clone();
                joined.insert("more".to_owned(), more.clone());
                others.push((Joined, Value::Object(joined)));
            }
            others
        }
        Value::Null => vec![(Rewritten, json!(1))],
    }
}

/// Every value below, with the way to it.
fn pointers(value: &Value, pointer: &str, found: &mut Vec<String>) {
    if !pointer.is_empty() {
        found.push(pointer.to_owned());
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                pointers(member, &format!("{pointer}/{key}"), found);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                pointers(element, &format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// The manifests that differ from one in the value at a pointer.
fn altered(whole: &Value, pointer: &str) -> Vec<(Change, Value)> {
    let mut altered = Vec::new();
    let (outer, key) = pointer.rsplit_once('/').unwrap();
    for (change, other) in others(key, whole.pointer(pointer).unwrap()) {
        let mut manifest = whole.clone();
        *manifest.pointer_mut(pointer).unwrap() = other;
        altered.push((change, manifest));
    }
    let mut without = whole.clone();
    if let Some(Value::Object(members)) = without.pointer_mut(outer) {
        members.remove(&key.replace("~1", "/").replace("~0", "~"));
        altered.push((Removed, without));
    }
    altered
}

/// Manifests that have, all together, every member that there is.
fn rich() -> Vec<(&'static str, Value)> {
    let mut bounded = base::base("write");
    let args = bounded.pointer_mut("/ops/create_thing/args/properties").unwrap();
    for (name, keywords) in [
        ("count", json!({"type": "integer", "minimum": 2, "maximum": 9, "multipleOf": 2})),
        ("share", json!({"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 9, "default": 4})),
        (
            "word",
            json!({"type": "string", "minLength": 3, "maxLength": 30, "pattern": "^[a-z]", "enum": ["abc", "def"]}),
        ),
        ("mail", json!({"type": "string", "format": "email"})),
        (
            "list",
            json!({"type": "array", "minItems": 2, "maxItems": 9, "uniqueItems": true, "items": {"type": "string", "maxLength": 5}}),
        ),
        (
            "near",
            json!({"type": "object", "additionalProperties": false, "required": ["x"],
            "properties": {"x": {"type": "number"}, "note": {"type": "string", "description": "What for."}}}),
        ),
    ] {
        args[name] = keywords;
        args[name]["description"] = json!("A value.");
    }
    let body = bounded.pointer_mut("/ops/create_thing/request/json").unwrap();
    for name in ["count", "share", "word", "mail", "list", "near"] {
        body[name] = json!(format!("{{{name}}}"));
    }
    let mut asked = base::base("whole");
    let known = asked["ops"]["create_thing"]["require"][0].clone();
    let condition = |test: &str, value: Value| {
        let mut one = known.clone();
        one.as_object_mut().unwrap().remove("is");
        one[test] = value;
        one
    };
    asked["ops"]["create_thing"]["require"] =
        json!([known, condition("in", json!([true, 1, "a"])), condition("exists", json!(true))]);
    asked["ops"]["get_me"] = asked["ops"]["get_viewer"].clone();
    asked["ops"]["get_rack"] = asked["ops"]["get_shelf"].clone();
    let manifests = [("whole", asked), ("bounded", bounded)];
    manifests.into_iter().chain(["graphql", "module"].map(|name| (name, base::base(name)))).collect()
}

/// The member that a pointer leads to, whatever the writer's own names on the way are.
fn member(pointer: &str) -> String {
    let mut way = String::new();
    let mut own = false;
    for step in pointer.split('/').skip(1) {
        let named = own || step.parse::<usize>().is_ok();
        way.push('/');
        way.push_str(if named { "*" } else { step });
        own =
            !named && ["ops", "properties", "query", "headers", "json", "form", "variables"].contains(&step);
    }
    way
}

/// Walks every change of every member that loads; gives the members that could not be changed.
fn walk(mut look: impl FnMut(&str, Change, &Comparison, &Value)) -> BTreeSet<String> {
    let (mut there, mut changed_somewhere) = (BTreeSet::new(), BTreeSet::new());
    for (name, whole) in rich() {
        let old = manifest(&whole, name);
        let mut found = Vec::new();
        pointers(&whole, "", &mut found);
        let mut changed = BTreeSet::new();
        for pointer in &found {
            for (change, value) in altered(&whole, pointer) {
                let Some(new): Option<Manifest> = read(value.to_string().as_bytes()).manifest else {
                    continue;
                };
                changed.insert(pointer.clone());
                look(pointer, change, &diff(&old, &new), value.pointer(pointer).unwrap_or(&Value::Null));
            }
        }
        // What holds a member changes with it, and an element with its array.
        let with = |pointer: &String| {
            let inner = format!("{pointer}/");
            let (outer, key) = pointer.rsplit_once('/').unwrap();
            let is_element =
                whole.pointer(outer).is_some_and(Value::is_array) && key.parse::<usize>().is_ok();
            changed.contains(pointer)
                || changed.iter().any(|one| one.starts_with(&inner))
                || (is_element && changed.contains(outer))
        };
        changed_somewhere.extend(found.iter().filter(|pointer| with(pointer)).map(|pointer| member(pointer)));
        there.extend(found.iter().map(|pointer| member(pointer)));
    }
    there.difference(&changed_somewhere).cloned().collect()
}

#[test]
fn every_member_that_changes_widens_unless_it_is_known_to_narrow() {
    let (mut wrong, mut looked) = (Vec::new(), 0);
    let unchanged = walk(|pointer, change, comparison, value| {
        looked += 1;
        let lines: Vec<&str> =
            comparison.changes().iter().map(pinhole_manifest::diff::Change::says).collect();
        if comparison.is_empty() {
            if !is_listed(SAYS_NOTHING, pointer, change) {
                wrong.push(format!("{pointer} {change:?} to {value} goes by unseen"));
            }
        } else if !comparison.widens()
            && !is_listed(NARROWS, pointer, change)
            && !is_listed(SAYS_NOTHING, pointer, change)
        {
            wrong.push(format!("{pointer} {change:?} to {value} does not widen: {lines:?}"));
        }
    });
    assert!(wrong.is_empty(), "{} of {looked}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(looked > 900, "{looked}");
    let fixed: Vec<&String> = unchanged
        .iter()
        .filter(|pointer| !FIXED.iter().any(|(pattern, _)| is_like(pattern, pointer)))
        .collect();
    assert!(fixed.is_empty(), "nobody has changed {fixed:#?}");
}

#[test]
fn every_member_of_the_schema_is_changed() {
    fn named(schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(members) => {
                for (key, value) in members {
                    match (key.as_str(), value) {
                        ("properties", Value::Object(properties)) => {
                            found.extend(properties.keys().cloned());
                            properties.values().for_each(|value| named(value, found));
                        }
                        _ => named(value, found),
                    }
                }
            }
            Value::Array(elements) => elements.iter().for_each(|value| named(value, found)),
            _ => {}
        }
    }
    let mut members = BTreeSet::new();
    named(&pinhole_manifest::schema::schema(), &mut members);
    assert!(members.len() > 60, "{}", members.len());
    let mut seen = BTreeSet::new();
    for (_, whole) in rich() {
        let mut found = Vec::new();
        pointers(&whole, "", &mut found);
        seen.extend(found.iter().filter_map(|pointer| Some(pointer.rsplit_once('/')?.1.to_owned())));
    }
    let missing: Vec<&String> = members.difference(&seen).collect();
    assert!(missing.is_empty(), "no manifest here has {missing:?}");
}
