//! What the manifests ask for and pick, held to what the services publish of themselves: Linear's GraphQL schema, Stripe's
//! fixtures.
//!
//! Reads the outside data (`pinhole_tests::shared`), says loudly where it is missing, and fails there in CI.

mod linear;
mod stripe;

use pinhole_runtime::catalog::BuiltIn;
use serde_json::Value;

/// A compiled-in manifest, as JSON.
fn manifest(id: &str) -> Value {
    serde_json::from_slice(BuiltIn::of(id).expect("a manifest of that service").manifest).expect("JSON")
}

/// Its ops, each with its name.
fn ops(manifest: &Value) -> impl Iterator<Item = (&String, &Value)> {
    manifest["ops"].as_object().expect("ops").iter()
}

/// The fields of an op's pick, as paths.
fn fields(op: &Value) -> Vec<&str> {
    let fields = op["pick"]["fields"].as_array().expect("a pick");
    fields.iter().map(|field| field.as_str().or(field["path"].as_str()).expect("a path")).collect()
}
