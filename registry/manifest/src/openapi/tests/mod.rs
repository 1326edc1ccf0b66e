//! Drafting and verifying, on small descriptions written here, on spoiled ones, and on the described services in `.ci-tools`.

mod drafting;
mod mutated;
mod outside;
mod secrets;
mod servers;
mod verifying;

use serde_json::{Map, Value, json};

use super::{Chosen, Description, Selection, Wish, draft, verify};
use crate::draft::Draft;
use crate::finding::Finding;

/// A description of one host with these paths.
fn described(paths: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Shelf", "version": "1" },
        "servers": [{ "url": "https://api.shelf.pinhole.dev/v2" }],
        "components": { "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } }, "schemas": {} },
        "security": [{ "key": [] }],
        "paths": paths
    })
}

fn description(root: Value) -> Description {
    Description::new(root).unwrap()
}

fn all() -> Wish {
    Wish { selection: Selection::All, id: None, host: None }
}

/// An answer with these members.
fn answers(properties: Value) -> Value {
    json!({ "200": { "description": "ok", "content": { "application/json": { "schema": {
        "type": "object", "properties": properties
    } } } } })
}

/// What is drafted of a description, all of it.
fn drafted(root: Value) -> Draft {
    draft(&description(root), &all()).unwrap()
}

/// The ops that were drafted.
fn ops(draft: &Draft) -> Map<String, Value> {
    let value: Value = serde_json::from_str(&draft.manifest).unwrap();
    value["ops"].as_object().unwrap().clone()
}

/// Why each operation was not drafted.
fn reasons(draft: &Draft) -> Vec<&'static str> {
    draft.refused.iter().map(|one| one.reason.as_str()).collect()
}

/// What verifying a manifest finds.
fn found(manifest: &Value, root: &Value) -> Vec<Finding> {
    let manifest = crate::read(manifest.to_string().as_bytes()).into_result().unwrap();
    verify(&manifest, &description(root.clone()))
}
