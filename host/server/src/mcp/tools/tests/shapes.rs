//! Everything that an op can give fits the schema that its tool declares.

use std::path::Path;

use pinhole_manifest::cases::Case;
use pinhole_runtime::project::{self, Tree};
use pinhole_runtime::replay::{Answers, Rehearsal, rehearse};
use pinhole_runtime::sandbox::Sandbox;
use proptest::prelude::*;
use rand::SeedableRng as _;
use serde_json::{Value, json};

use super::*;
use crate::mcp::answer::{self, Marker};
use pinhole_runtime::entropy::SystemEntropy;

/// The recorded cases of an op, by the names of their files.
pub(super) fn cases(service: &str, op: &str) -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests").join(service).join("cases");
    let mut cases = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with(&format!("{op}.")) {
            cases.push((name, Case::parse(&std::fs::read(&path).unwrap()).unwrap()));
        }
    }
    cases
}

#[tokio::test]
async fn every_recorded_outcome_fits_its_schema() {
    let catalog = built_in();
    let sandbox = Sandbox::default();
    let mut rng = rand::rngs::StdRng::seed_from_u64(7);
    let (mut done, mut refused) = (0, 0);
    for built_in in pinhole_runtime::catalog::BUILT_IN {
        let entry = catalog.find(&ServiceId::parse(built_in.id).unwrap()).unwrap();
        for op in entry.manifest.ops().values() {
            let validator = jsonschema::validator_for(&Value::Object(output::schema(op))).unwrap();
            for (name, case) in cases(built_in.id, op.id.as_str()) {
                let rehearsal = Rehearsal {
                    manifest: built_in.manifest,
                    modules: entry.modules.clone(),
                    sandbox: &sandbox,
                    op: &op.id,
                    args: case.args.as_str(),
                    access: case.access,
                };
                let answers = Answers::Recorded(case.exchanges);
                let outcome = rehearse(rehearsal, answers, &mut rng).await.unwrap().outcome;
                let mut marker = Marker::new(&SystemEntropy).unwrap();
                let result = answer::outcome(&outcome, Some(op), &mut marker);
                if result.is_error == Some(true) {
                    assert!(result.structured_content.is_none() && outcome.refusal().is_some());
                    refused += 1;
                    continue;
                }
                let structured = result.structured_content.unwrap();
                let fault = validator.iter_errors(&structured).next();
                assert!(fault.is_none(), "{} {name}: {fault:?}", built_in.id);
                assert_eq!(structured["next"].is_string(), outcome.next().is_some());
                done += 1;
            }
        }
    }
    assert!(done > 200 && refused > 100, "{done} {refused}");
}

#[test]
fn picks_of_odd_shapes_fit_too() {
    let documents = [
        json!({"a": 1, "b": [1, null], "c": null, "@odd": "x", "d\u{202e}": true, "d\\u{202e}": false}),
        json!([{"a": {"b": 1, "c": [2]}}, null, {"a": [{"b": "x"}, null]}]),
        json!({"a": {"b": {"x y": 1, "c": null}}}),
        json!(null),
    ];
    for pick in [
        json!({"fields": ["[*]"]}),
        json!({"fields": ["b[*]", {"as": "one", "path": "a.b.*"}]}),
        json!({"fields": ["*"]}),
        json!({"fields": ["a.b.*", "['@odd']"]}),
        json!({"fields": ["a[*].b", {"as": "all", "path": "a[*].b.*"}]}),
        json!({"root": "$[*]", "fields": ["a[*].b"]}),
        json!({"root": "$[0]", "fields": ["a.*"]}),
    ] {
        let bytes = manifest("made", &["look"], |_, op| op["pick"] = pick.clone());
        let manifest = pinhole_manifest::read(&bytes).into_result().unwrap();
        let op = manifest.ops().values().next().unwrap();
        assert_fits(op, &pick, &documents);
    }
}

/// Holds what a pick gives of each document against the schema.
fn assert_fits(op: &Op, pick: &Value, documents: &[Value]) {
    let pinhole_manifest::pick::Pick::Fields(projection) = &op.pick else { panic!("{pick}") };
    let schema = Value::Object(output::schema(op));
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema}");
    let validator = jsonschema::validator_for(&schema).unwrap();
    for document in documents {
        let tree = Tree::parse(document.to_string().as_bytes()).unwrap();
        let Ok(projected) = project::project(tree, projection) else { continue };
        let structured = json!({"result": answer::shown_value(&projected.value), "_untrusted": ""});
        let fault = validator.iter_errors(&structured).next();
        assert!(fault.is_none(), "{pick} of {document} gave {structured}: {fault:?} by {schema}");
    }
}

/// Names that picks and documents share, so that they meet.
fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("['@odd']")]
}

fn path() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        4 => name().prop_map(str::to_owned),
        2 => Just("[*]".to_owned()),
        1 => Just("[0]".to_owned()),
    ];
    proptest::collection::vec(step, 1..5).prop_map(|steps| {
        let mut path = String::new();
        for step in steps {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(&step);
        }
        path
    })
}

fn pick() -> impl Strategy<Value = Value> {
    let field = (path(), proptest::option::of("x[0-9]"));
    let root =
        prop_oneof![Just("$"), Just("$[*]"), Just("$.a"), Just("$.a[*]"), Just("$.a[*].b[*]"), Just("$[0]")];
    (root, proptest::collection::vec(field, 1..5)).prop_map(|(root, fields)| {
        let fields: Vec<Value> = fields
            .into_iter()
            .map(|(path, alias)| match alias {
                Some(alias) => json!({"as": alias, "path": path}),
                None => json!(path),
            })
            .collect();
        json!({"root": root, "fields": fields})
    })
}

fn document() -> impl Strategy<Value = Value> {
    let scalar =
        prop_oneof![Just(json!(null)), Just(json!(true)), Just(json!(1.5)), Just(json!("text\u{200b}"))];
    scalar.prop_recursive(6, 64, 4, |inner| {
        let key = prop_oneof![Just("a"), Just("b"), Just("c"), Just("@odd"), Just("d\u{202e}"), Just("d\\u{202e}")];
        let members = proptest::collection::vec((key, inner.clone()), 0..5);
        prop_oneof![
            2 => members.prop_map(|members| members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Value>()),
            1 => proptest::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_picked_fits_the_schema(pick in pick(), documents in proptest::collection::vec(document(), 12)) {
        let bytes = manifest("made", &["look"], |_, op| op["pick"] = pick.clone());
        // Fields that collide do not load.
        let Ok(manifest) = pinhole_manifest::read(&bytes).into_result() else {
            return Err(TestCaseError::reject("collides"));
        };
        let op = manifest.ops().values().next().unwrap();
        assert_fits(op, &pick, &documents);
    }
}
