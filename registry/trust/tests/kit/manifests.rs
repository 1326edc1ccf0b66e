//! Manifests that load, as small as they can be.

use serde_json::{Value, json};

use super::sha256;

/// A small manifest whose one op picks these fields.
pub fn manifest(service: &str, version: &str, fields: &[&str]) -> Vec<u8> {
    let manifest = json!({
        "pinhole": 1, "id": service, "version": version, "name": "Shelf",
        "summary": "A made-up service that hands out things.",
        "host": format!("api.{service}.dev"), "auth": {"scheme": "bearer"},
        "ops": {"list_things": {
            "access": "read", "summary": "Things of a shelf.",
            "args": {"type": "object", "additionalProperties": false, "properties": {}},
            "request": {"method": "GET", "path": "/things"},
            "pick": {"fields": fields}
        }}
    });
    serde_json::to_vec(&manifest).unwrap()
}

/// The same with an op that a module computes.
pub fn manifest_with_module(service: &str, version: &str, module: &[u8]) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(&manifest(service, version, &["id"])).unwrap();
    value["ops"]["sum_things"] = json!({
        "access": "read", "summary": "How many things there are.",
        "args": {"type": "object", "additionalProperties": false, "properties": {}},
        "module": {
            "file": "modules/sum.wasm", "sha256": sha256(module),
            "requests": [{"method": "GET", "path": "/things"}]
        },
        "pick": {"fields": ["count"]}
    });
    serde_json::to_vec(&value).unwrap()
}
