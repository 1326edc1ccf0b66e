//! Linear's schema, where it is there: the manifest of this project is sound by it, faults put into it are found, and every
//! operation is drafted.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::super::{Schema, Wanted, verify};
use super::drafting::drafted;
use crate::draft::RefusedReason;
use crate::finding::FindingCode;

const MANIFEST: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests/linear/manifest.json"));

/// Linear's schema; `None`, said loudly, where it is not there.
#[expect(clippy::disallowed_methods, reason = "a test is told where data lies, and whether it runs in CI")]
fn linear(test: &str) -> Option<Schema> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("PINHOLE_SHARED").map_or(beside, PathBuf::from);
    match std::fs::read(folder.join("data/linear/schema.graphql")) {
        Ok(bytes) => Some(Schema::read(&bytes).unwrap()),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{test}: {error}");
            eprintln!("SKIPPED: {test}: {error}");
            None
        }
    }
}

fn findings(manifest: &Value, schema: &Schema) -> Vec<(FindingCode, String)> {
    let read = crate::read(manifest.to_string().as_bytes()).into_result();
    let found = verify(&read.unwrap_or_else(|faults| panic!("{faults:?}")), schema);
    found.into_iter().map(|one| (one.code, one.pointer)).collect()
}

#[test]
fn the_manifest_of_linear_is_sound_by_linears_schema() {
    let Some(schema) = linear("the_manifest_of_linear_is_sound_by_linears_schema") else { return };
    let manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    assert_eq!(findings(&manifest, &schema), []);
}

/// The manifest with one change: the value at a pointer is another one, or is new; what is left without a use goes.
fn changed(pointer: &str, value: Value) -> Value {
    let mut manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match manifest.pointer_mut(parent).unwrap() {
        Value::Object(members) => drop(members.insert(name.into(), value)),
        Value::Array(elements) => elements[name.parse::<usize>().unwrap()] = value,
        other => panic!("{pointer}: {other}"),
    }
    let op = &mut manifest["ops"]["create_issue"];
    if pointer.ends_with("labelIds") {
        op["args"]["properties"].as_object_mut().unwrap().remove("label_ids");
    }
    if pointer.ends_with("input/title") {
        op["confirm"] = "Really?".into();
        op["args"]["required"] = serde_json::json!(["team_id"]);
        op["args"]["properties"].as_object_mut().unwrap().remove("title");
    }
    op["pick"]["fields"]
        .as_array_mut()
        .unwrap()
        .retain(|field| field != "state.name" || pointer.ends_with("root"));
    manifest
}

#[test]
fn faults_put_into_the_manifest_of_linear_are_found() {
    use FindingCode as F;
    let Some(schema) = linear("faults_put_into_the_manifest_of_linear_are_found") else { return };
    let input = "/ops/create_issue/request/graphql/variables/input";
    let text = serde_json::json!({ "type": "string", "description": "The priority." });
    let priority = "/ops/create_issue/args/properties/priority".to_owned();
    let field = || "/ops/create_issue/pick/fields/1".to_owned();
    for (pointer, value, code) in [
        (format!("{input}/labelIds"), "{title}: {title}".into(), F::ArgType),
        (format!("{input}/stateID"), "{state_id}".into(), F::MemberUnknown),
        (format!("{input}/title"), true.into(), F::ArgType),
        (priority, text, F::ArgType),
        (field(), "identifer".into(), F::PickUnknown),
        (field(), "number".into(), F::PickUnselected),
        (field(), "state[*].name".into(), F::PickNotValue),
        ("/ops/create_issue/pick/root".to_owned(), "$.data.issue".into(), F::PickUnknown),
        ("/ops/list_projects/page/info".to_owned(), "$.data.projects".into(), F::PageUnknown),
    ] {
        let found = findings(&changed(&pointer, value), &schema);
        assert!(found.contains(&(code, pointer.clone())), "{pointer}: {found:?}");
    }
}

#[test]
fn every_operation_of_linear_is_drafted_or_refused_with_a_reason() {
    let Some(schema) = linear("every_operation_of_linear_is_drafted_or_refused_with_a_reason") else {
        return;
    };
    let roots = [schema.query().unwrap(), schema.mutation().unwrap()];
    let all = roots.iter().map(|root| root.fields.len()).sum::<usize>();
    let names: BTreeSet<_> =
        roots.iter().flat_map(|root| &root.fields).map(|field| field.name.clone()).collect();
    let names: Vec<_> = names.into_iter().collect();
    let (mut drafts, mut refused) = (0, Vec::new());
    for some in names.chunks(90) {
        let draft = drafted(&schema, Wanted::Named(some)).unwrap();
        let manifest = crate::read(draft.manifest.as_bytes()).into_result().unwrap();
        let found = verify(&manifest, &schema);
        assert!(found.iter().all(|one| one.code == FindingCode::Deprecated), "{found:?}");
        drafts += manifest.ops().len();
        refused.extend(draft.refused);
    }
    let reasons = RefusedReason::ALL
        .iter()
        .map(|reason| (reason.as_str(), refused.iter().filter(|one| one.reason == *reason).count()));
    let reasons: Vec<_> = reasons.filter(|(_, count)| *count > 0).collect();
    eprintln!("{drafts} of {all} drafted; refused: {reasons:?}");
    assert_eq!(drafts + refused.len(), all);
    assert!(drafts * 100 >= all * 95, "{refused:#?}");
}
