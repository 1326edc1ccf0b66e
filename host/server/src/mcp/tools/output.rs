//! The shape of what an op gives, derived from its pick: a closed schema that everything the projector can give fits.
//!
//! Follows DESIGN, "Pick": Shape: what is absent upstream is absent, a `null` on the way is `null`, a leaf is a scalar or an
//! array of scalars. INVARIANT: no `$ref`, no `oneOf`, and only property names that every client takes; an object with
//! another name in it is open instead.

use pinhole_manifest::model::Op;
use pinhole_manifest::pick::{Field, Node, Pick, Projection, Step};
use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

use super::fields;
use super::portable::is_portable_name;

/// The output schema of an op's tool.
pub(super) fn schema(op: &Op) -> JsonObject {
    let result = match &op.pick {
        Pick::None => json!({"type": "null"}),
        Pick::Fields(projection) => result(op, projection),
    };
    let mut properties = around(&result);
    if op.page.is_none() {
        properties.remove("next");
    }
    closed(properties)
}

/// The output schema of a tool that runs any op.
pub(super) fn any() -> JsonObject {
    closed(around(&json!({})))
}

fn around(result: &Value) -> JsonObject {
    object_of([
        ("result", result.clone()),
        ("next", json!({"type": "string"})),
        ("notes", json!({"type": "array", "items": {"type": "string"}})),
        ("_untrusted", json!({"type": "string"})),
    ])
}

fn closed(properties: JsonObject) -> JsonObject {
    object_of([
        ("type", json!("object")),
        ("additionalProperties", json!(false)),
        ("required", json!(["_untrusted", "result"])),
        ("properties", Value::Object(properties)),
    ])
}

pub(super) fn object_of<const N: usize>(members: [(&str, Value); N]) -> JsonObject {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The end of a field: a scalar or an array of scalars. Which, no manifest says, and a list of all kinds says nothing; every
/// byte here is read by some model.
fn leaf() -> Value {
    json!({})
}

/// The end of a field at `[*]`: an array of scalars, or an object's scalar members.
fn every() -> Value {
    json!({"type": ["array", "object", "null"]})
}

fn result(op: &Op, projection: &Projection) -> Value {
    let mut element = root_object(projection);
    if projection.root.contains(&Step::Each) {
        set_type(&mut element, &["object", "null"]);
        return json!({"type": "array", "items": element});
    }
    // A singular root may hold an object or an array of them, which only an answer can say. The likelier is spelled out.
    if fields::is_list(op) {
        set_type(&mut element, &["object", "null"]);
        return json!({"type": ["array", "object", "null"], "items": element});
    }
    set_type(&mut element, &["object", "array", "null"]);
    element
}

fn set_type(schema: &mut Value, types: &[&str]) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("type".to_owned(), json!(types));
    }
}

/// The object at the root: nested fields, and those with a name of their own.
fn root_object(projection: &Projection) -> Value {
    let nested = |field: &usize| projection.fields.get(*field).is_some_and(|field| field.alias.is_none());
    let mut members = Members::default();
    for (name, node) in &projection.tree.names {
        members.add(name, at(node, &nested));
    }
    for field in &projection.fields {
        if let Some(alias) = &field.alias {
            members.add(alias, Some(flat(field)));
        }
    }
    if projection.tree.each.as_ref().is_some_and(|each| each.leaves.iter().any(nested)) {
        members.open = Some(leaf());
    }
    members.into_schema()
}

/// What stands at a place of nested fields; `None` where only fields with `as` go on from there.
fn at(node: &Node, nested: &impl Fn(&usize) -> bool) -> Option<Value> {
    if node.leaves.iter().any(nested) {
        return Some(leaf());
    }
    if let Some(each) = &node.each {
        if each.leaves.iter().any(nested) {
            return Some(every());
        }
        if let Some(element) = at(each, nested) {
            return Some(json!({"type": ["array", "null"], "items": element}));
        }
    }
    let mut members = Members::default();
    let mut some = false;
    for (name, node) in &node.names {
        let member = at(node, nested);
        some |= member.is_some();
        members.add(name, member);
    }
    if !some {
        return None;
    }
    let mut object = members.into_schema();
    set_type(&mut object, &["object", "null"]);
    Some(object)
}

/// A field with `as`: flat, and one array of all that was found where there is a `[*]` before its end.
fn flat(field: &Field) -> Value {
    let each = field.steps.iter().filter(|step| **step == Step::Each).count();
    match (each, field.steps.last()) {
        (0, _) => leaf(),
        (1, Some(Step::Each)) => every(),
        _ => json!({"type": ["array", "null"]}),
    }
}

#[derive(Default)]
struct Members {
    properties: Map<String, Value>,
    /// What members of other names are, where there may be any.
    open: Option<Value>,
}

impl Members {
    fn add(&mut self, name: &str, schema: Option<Value>) {
        let Some(schema) = schema else { return };
        if is_portable_name(name) {
            self.properties.insert(name.to_owned(), schema);
        } else {
            self.open = Some(json!({}));
        }
    }

    fn into_schema(self) -> Value {
        let others = self.open.unwrap_or(Value::Bool(false));
        json!({"type": "object", "properties": self.properties, "additionalProperties": others})
    }
}
