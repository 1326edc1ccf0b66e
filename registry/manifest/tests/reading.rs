//! Reading as a whole: every fault at once, in its place, and never a panic.

#[cfg(test)]
mod common;

use pinhole_manifest::diagnostic::{Code, Diagnostic};
use pinhole_manifest::model::{Action, AuthScheme, Body, JsonTemplate, Page};
use pinhole_manifest::pick::Pick;
use pinhole_manifest::{Access, OpId, read};
use proptest::prelude::*;
use serde_json::Value;

fn rendered(text: &str) -> String {
    let line = |d: &Diagnostic| {
        let under = text.get(d.span.clone()).unwrap_or_default();
        let under: String = under.chars().take(30).collect();
        format!(
            "{}\n    at {}\n    under {under:?}\n",
            d,
            if d.pointer.is_empty() { "/" } else { &d.pointer }
        )
    };
    read(text.as_bytes()).diagnostics.iter().map(line).collect()
}

const FAULTY: &str = r#"{
  "pinhole": 1,
  "id": "Acme",
  "version": "1.0",
  "name": "Ac\nme",
  "host": "*.acme.com",
  "headers": { "Authorization": "Bearer x", "x-http-method-override": "DELETE" },
  "auth": { "scheme": "bearer", "viewer": "who" },
  "ops": {
    "get_thing": {
      "access": "read",
      "summary": "Größe “eins”",
      "args": { "type": "object", "additionalProperties": false, "required": ["id"],
                "properties": { "id": { "type": "string", "description": "The id." },
                                "extra": { "type": "string", "description": "Unused." } } },
      "request": { "method": "POST", "path": "/a/../{id}", "verb": 1 },
      "pick": { "fields": ["a..b", "c", "c"] }
    },
    "put_thing": {
      "access": "write",
      "summary": "Put it.",
      "args": { "type": "object", "additionalProperties": false, "properties": {} },
      "request": { "method": "PUT", "path": "/things/{id}" },
      "require": [ { "op": "get_things", "path": "$.a", "is": 1, "else": "no" } ]
    }
  }
}
"#;

#[test]
fn every_fault_is_reported_at_once() {
    insta::assert_snapshot!(rendered(FAULTY));
}

#[test]
fn a_fault_has_the_place_that_an_editor_shows() {
    let reading = read(FAULTY.as_bytes());
    let host = reading.diagnostics.iter().find(|d| d.code == Code::HostWildcard).unwrap();
    assert_eq!((host.line, host.column, host.pointer.as_str()), (6, 11, "/host"));
    assert_eq!(FAULTY.get(host.span.clone()), Some("\"*.acme.com\""));
    let missing = reading.diagnostics.iter().find(|d| d.code == Code::MissingMember).unwrap();
    assert_eq!((missing.line, missing.column, missing.span.len()), (1, 1, 1));
    let unknown = reading.diagnostics.iter().find(|d| d.code == Code::UnknownMember).unwrap();
    assert_eq!(FAULTY.get(unknown.span.clone()), Some("\"verb\""));
}

#[test]
fn the_second_of_two_keys_is_the_faulty_one() {
    let text = "{\"a\": 1,\n \"b/c\": {\"x\": 1, \"x\": 2},\n \"a\": 3}";
    let faults = read(text.as_bytes()).diagnostics;
    let twice: Vec<_> = faults.iter().filter(|d| d.code == Code::JsonDuplicateKey).collect();
    let places: Vec<_> = twice.iter().map(|d| (d.pointer.as_str(), d.line, d.column)).collect();
    assert_eq!(places, [("/b~1c/x", 2, 18), ("/a", 3, 2)]);
}

#[test]
fn every_diagnostic_has_a_place_and_help() {
    for vector in common::vectors() {
        let text = String::from_utf8_lossy(&vector.bytes);
        let last = u32::try_from(text.lines().count().max(1)).unwrap();
        for diagnostic in read(&vector.bytes).diagnostics {
            let name = format!("{} {:?}", vector.name, vector.expect);
            assert!(
                diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= vector.bytes.len(),
                "{name}"
            );
            assert!(
                (1..=last).contains(&diagnostic.line) && diagnostic.column >= 1,
                "{name}: {diagnostic:?}"
            );
            assert!(!diagnostic.message.is_empty() && !diagnostic.help.is_empty(), "{name}: {diagnostic:?}");
            let shown = format!("{} {}", diagnostic.message, diagnostic.help);
            assert!(!shown.chars().any(|c| c.is_control() || c == '\u{202e}'), "{name}: {shown:?}");
        }
    }
}

#[test]
fn a_file_with_thousands_of_faults_is_still_refused_quickly() {
    let members: Vec<_> = (0..20_000).map(|i| format!("\"m{i}\":{i}")).collect();
    let reading = read(format!("{{{}}}", members.join(",")).as_bytes());
    assert!(reading.manifest.is_none());
    assert_eq!(reading.diagnostics.len(), 1000);
}

#[test]
fn what_is_read_is_what_was_written() {
    let bytes = common::base("whole").to_string().into_bytes();
    let manifest = read(&bytes).into_result().unwrap();
    assert_eq!(manifest.digest(), pinhole_manifest::Digest::of(&bytes));
    assert_eq!(manifest.label(), "acme@1.0.0");
    assert_eq!(manifest.auth().scheme, AuthScheme::Header("x-api-key".to_owned()));
    assert_eq!(manifest.auth().viewer.as_ref().map(OpId::as_str), Some("get_viewer"));
    assert_eq!(manifest.headers().len(), 2);
    let op = |id: &str| manifest.op(&OpId::parse(id).unwrap()).unwrap();

    let create = op("create_thing");
    assert_eq!(create.access, Access::Write);
    assert_eq!(create.confirm.as_ref().unwrap().to_string(), "Put “{name}” on {shelf}?");
    assert_eq!(create.idempotency.as_deref(), Some("idempotency-key"));
    assert_eq!(create.require.len(), 1);
    assert_eq!(create.limits.timeout_ms, 120_000);
    let request = create.request().unwrap();
    let Body::Json(JsonTemplate::Object(members)) = &request.body else { panic!("a JSON object") };
    assert!(members.iter().any(
        |(key, value)| key == "note" && matches!(value, JsonTemplate::Arg(arg) if arg.as_str() == "note")
    ));

    let list = op("list_things");
    let request = list.request().unwrap();
    let labels = request.query.iter().find(|param| param.key == "labels").unwrap();
    assert_eq!(labels.join.as_deref(), Some(","));
    assert!(matches!(&list.page, Some(Page::Number { query }) if query == "page"));
    let Pick::Fields(projection) = &list.pick else { panic!("fields") };
    assert_eq!(projection.fields.len(), 5);

    let search = op("search_things").request().unwrap();
    let Body::Json(JsonTemplate::Object(members)) = &search.body else { panic!("a JSON object") };
    let (_, JsonTemplate::Array(deep)) = members.iter().find(|(key, _)| key == "deep").unwrap() else {
        panic!("an array")
    };
    assert!(matches!(&deep[5], JsonTemplate::Literal(Value::String(text)) if text == "{x}"));

    let orders = op("list_orders");
    assert!(orders.args.defs().is_empty());
    assert!(matches!(orders.pick, Pick::None));
    assert_eq!(orders.request().unwrap().path.segments().len(), 2);
    let Some(Page::Link { paths }) = &orders.page else { panic!("links") };
    assert_eq!(paths[0].segments().len(), 3);
}

#[test]
fn members_of_a_request_keep_the_order_of_the_file() {
    let text = common::base("minimal")
        .to_string()
        .replace(r#""path":"/things/{id}""#, r#""path":"/things/{id}","query":{"z":"1","a":"{id}","m":"3"}"#);
    let manifest = read(text.as_bytes()).into_result().unwrap();
    let op = manifest.ops().values().next().unwrap();
    let keys: Vec<_> = op.request().unwrap().query.iter().map(|param| param.key.as_str()).collect();
    assert_eq!(keys, ["z", "a", "m"]);
}

#[test]
fn a_module_says_what_it_may_ask_for() {
    let manifest = read(common::base("module").to_string().as_bytes()).into_result().unwrap();
    let op = manifest.op(&OpId::parse("stale_things").unwrap()).unwrap();
    let Action::Module(module) = &op.action else { panic!("a module") };
    assert_eq!(module.requests.len(), 4);
    assert_eq!(module.requests[0].query, ["page"]);
    assert!(module.requests[3].graphql.is_some());
}

/// Every value of a document, by its pointer.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (key, inner) in members {
                pointers(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(elements) => {
            for (place, inner) in elements.iter().enumerate() {
                pointers(inner, &format!("{at}/{place}"), found);
            }
        }
        _ => {}
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[{}a-z$./%*\\[\\]?]{0,12}", "/[a-z{}.%/]{0,10}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_$]{0,8}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn check(bytes: &[u8]) {
    let reading = read(bytes);
    // Every diagnostic is an error today, so a manifest comes out exactly where there is none.
    assert_eq!(reading.manifest.is_some(), reading.diagnostics.is_empty());
    for diagnostic in &reading.diagnostics {
        assert!(
            diagnostic.span.start <= diagnostic.span.end && diagnostic.span.end <= bytes.len(),
            "{diagnostic:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn any_json_is_judged(value in any_json()) {
        check(value.to_string().as_bytes());
    }

    #[test]
    fn a_manifest_with_a_changed_value_is_judged(
        base in prop::sample::select(vec!["minimal", "write", "graphql", "module", "whole"]),
        at in any::<prop::sample::Index>(),
        value in any_json(),
        remove in any::<bool>(),
    ) {
        let mut manifest = common::base(base);
        let mut found = Vec::new();
        pointers(&manifest, "", &mut found);
        let pointer = at.get(&found).clone();
        let parent = pointer.rsplit_once('/').and_then(|(parent, key)| Some((manifest.pointer_mut(parent)?, key)));
        match parent {
            Some((Value::Object(members), key)) if remove => {
                members.remove(&key.replace("~1", "/").replace("~0", "~"));
            }
            _ => *manifest.pointer_mut(&pointer).unwrap() = value,
        }
        check(manifest.to_string().as_bytes());
    }

    #[test]
    fn a_manifest_with_changed_bytes_is_judged(
        at in any::<prop::sample::Index>(),
        bytes in prop::collection::vec(any::<u8>(), 0..6),
        cut in 0_usize..6,
    ) {
        let mut manifest = common::base("whole").to_string().into_bytes();
        let start = at.index(manifest.len());
        let end = (start + cut).min(manifest.len());
        manifest.splice(start..end, bytes);
        check(&manifest);
    }
}
