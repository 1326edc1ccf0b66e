//! The input schema of an op's tool: the op's own args, and what this door adds to them.
//!
//! INVARIANT: a name that is added is one that the op has no arg of.

use pinhole_grant::Label;
use pinhole_manifest::model::{ArgsSchema, Op};
use pinhole_runtime::local::may_be_lent;
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::offer::ConfirmArg;
use super::output::object_of;
use super::portable;

/// The names of what is added to an op's args.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extras {
    /// Which connection, where there are several.
    pub(super) connection: Option<String>,
    /// The `next` of an earlier result.
    pub(super) next: Option<String>,
    /// That the person said yes in her client.
    pub(super) confirm: Option<String>,
}

impl Extras {
    /// What is added for an op with so many connections to choose from.
    pub(super) fn of(op: &Op, connections: usize, confirm: ConfirmArg) -> Self {
        let reversible = may_be_lent(op);
        let named = |wanted: bool, name: &str| wanted.then(|| free(&op.args, name));
        Self {
            connection: named(connections > 1, "connection"),
            next: named(op.page.is_some(), "next"),
            confirm: named(reversible && confirm == ConfirmArg::Reversible, "confirm"),
        }
    }

    /// The names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        [&self.connection, &self.next, &self.confirm].into_iter().flatten().map(String::as_str)
    }
}

/// The name, or one with it that the op has no arg of.
fn free(args: &ArgsSchema, name: &str) -> String {
    let taken = |name: &str| args.defs().contains_key(name);
    if !taken(name) {
        return name.to_owned();
    }
    let mut prefixed = format!("pinhole_{name}");
    // An op has few args, so this ends.
    while taken(&prefixed) {
        prefixed.push('_');
    }
    prefixed
}

/// The schema.
pub(super) fn schema(op: &Op, extras: &Extras, labels: &[&Label]) -> JsonObject {
    let mut properties = own(op);
    let mut required = required(op);
    if let Some(name) = &extras.connection {
        properties.insert(name.clone(), connection(labels));
        required.push(name.clone().into());
    }
    if let Some(name) = &extras.next {
        properties.insert(name.clone(), next());
    }
    if let Some(name) = &extras.confirm {
        properties.insert(name.clone(), confirm());
    }
    let mut schema = object_of([
        ("type", json!("object")),
        ("properties", Value::Object(properties)),
        ("additionalProperties", json!(false)),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    schema
}

/// The op's own args alone, for a call by a tool that runs any op.
pub(super) fn args_schema(op: &Op) -> Value {
    let none = Extras { connection: None, next: None, confirm: None };
    Value::Object(schema(op, &none, &[]))
}

/// The names of the op's required args.
pub(super) fn required(op: &Op) -> Vec<Value> {
    op.args.defs().iter().filter(|(_, def)| def.required).map(|(name, _)| name.as_str().into()).collect()
}

fn own(op: &Op) -> Map<String, Value> {
    let own = op.args.json().get("properties").and_then(Value::as_object).into_iter().flatten();
    own.map(|(name, schema)| (name.clone(), portable::schema(schema))).collect()
}

fn connection(labels: &[&Label]) -> Value {
    let labels: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
    json!({"type": "string", "enum": labels, "description": "Which of the person's connections; ask if it is not clear."})
}

pub(super) fn next() -> Value {
    json!({"type": "string", "description": "The `next` of an earlier result of the same arguments, unchanged; leave it out for the first page."})
}

pub(super) fn confirm() -> Value {
    json!({"type": "boolean", "description": "true only once the person has said yes to exactly this write."})
}
