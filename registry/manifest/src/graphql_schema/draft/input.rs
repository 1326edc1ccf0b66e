//! A GraphQL input type in the closed subset of JSON Schema that args have. DESIGN, "Manifest": args.
//!
//! What is optional and cannot be said is left out, which narrows what may be sent. INVARIANT: what comes out nests no deeper
//! than args may, and each part of it takes from a budget, so that the result is small.

use graphql_tools::static_graphql::schema::{InputValue, Type, TypeDefinition};
use serde_json::{Map, Value, json};

use super::super::Schema;
use super::super::schema::deprecation;
use super::select::{holds_anything, is_echo};
use crate::draft::texts;
use crate::draft::words::is_secret;
use crate::finding::quoted;

/// How deep an arg may nest: an arg is 1.
const DEPTH_MAX: usize = 4;
/// How deep an object may stand, so that its members and their elements have room.
const OBJECT_DEPTH_MAX: usize = 2;
/// Most schemas in the args of one op.
const SCHEMAS_MAX: usize = 200;
/// Most members of an object.
const MEMBERS_MAX: usize = 64;
/// Most values of an `enum`.
const CHOICES_MAX: usize = 256;
/// Longest description of a member, in characters.
const MEMBER_TEXT_MAX: usize = 120;

/// Translates types, and counts.
pub(super) struct Input<'s> {
    schema: &'s Schema,
    /// Schemas that this op may still have.
    budget: usize,
    /// How many optional members were left out.
    pub(super) left_out: usize,
    /// Custom scalars that were taken for texts.
    pub(super) texts: Vec<String>,
}

impl<'s> Input<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Self { schema, budget: SCHEMAS_MAX, left_out: 0, texts: Vec::new() }
    }

    /// The schema of an arg without its description; `Err` with why there is none.
    pub(super) fn arg(&mut self, kind: &Type) -> Result<Map<String, Value>, String> {
        self.value(kind, 1)
    }

    fn value(&mut self, kind: &Type, depth: usize) -> Result<Map<String, Value>, String> {
        self.budget = self.budget.checked_sub(1).ok_or("there is too much of it")?;
        if depth > DEPTH_MAX {
            return Err("it nests too deeply".to_owned());
        }
        let name = match kind {
            Type::NonNullType(inner) => return self.value(inner, depth),
            Type::ListType(inner) => {
                let items = self.value(inner, depth.saturating_add(1))?;
                return Ok(object(json!({ "type": "array", "items": items, "maxItems": 100 })));
            }
            Type::NamedType(name) => name,
        };
        match self.schema.find(name) {
            Some(TypeDefinition::Scalar(_)) => self.scalar(name),
            Some(TypeDefinition::Enum(one)) => {
                let current = one.values.iter().filter(|value| deprecation(&value.directives).is_none());
                let choices: Vec<&str> = current.map(|value| value.name.as_str()).collect();
                if !(1..=CHOICES_MAX).contains(&choices.len()) {
                    return Err(format!("`{}` has no values, or too many", quoted(name)));
                }
                Ok(object(json!({ "type": "string", "enum": choices })))
            }
            Some(TypeDefinition::InputObject(one)) => self.object(&one.fields, name, depth),
            _ => Err(format!("`{}` is not a type that can be sent", quoted(name))),
        }
    }

    fn scalar(&mut self, name: &str) -> Result<Map<String, Value>, String> {
        let lower = name.to_ascii_lowercase();
        Ok(object(match name {
            "String" => json!({ "type": "string", "maxLength": 65_536 }),
            "ID" => json!({ "type": "string", "minLength": 1, "maxLength": 255 }),
            "Int" => json!({ "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX }),
            "Float" => json!({ "type": "number" }),
            "Boolean" => json!({ "type": "boolean" }),
            _ if holds_anything(name) => return Err(format!("`{}` may hold anything", quoted(name))),
            _ if lower.contains("datetime") => {
                json!({ "type": "string", "format": "date-time", "maxLength": 64 })
            }
            _ if lower == "date" || lower == "timelessdate" => {
                json!({ "type": "string", "format": "date", "maxLength": 10 })
            }
            _ if lower == "uuid" => json!({ "type": "string", "format": "uuid", "maxLength": 36 }),
            _ => {
                if !self.texts.iter().any(|known| known == name) {
                    self.texts.push(name.to_owned());
                }
                json!({ "type": "string", "maxLength": 4_096 })
            }
        }))
    }

    fn object(
        &mut self,
        fields: &[InputValue],
        of: &str,
        depth: usize,
    ) -> Result<Map<String, Value>, String> {
        if depth > OBJECT_DEPTH_MAX {
            return Err(format!("`{}` nests too deeply", quoted(of)));
        }
        let (mut properties, mut required) = (Map::new(), Vec::new());
        // What is required first: the budget may not last for the rest.
        let mut members: Vec<&InputValue> = fields.iter().collect();
        members.sort_by_key(|field| !field.is_required());
        for field in members {
            if !field.is_required() && !is_offered(field) {
                continue;
            }
            let member = self.value(&field.value_type, depth.saturating_add(1));
            let fits = field.name.len() <= 64 && properties.len() < MEMBERS_MAX;
            match member.and_then(|one| if fits { Ok(one) } else { Err("it has too many members".into()) }) {
                Ok(mut member) => {
                    let text = field.description.as_deref();
                    if let Some(text) = text.and_then(|text| texts::sentence(text, MEMBER_TEXT_MAX)) {
                        member.insert("description".into(), text.into());
                    }
                    if field.is_required() {
                        required.push(Value::from(field.name.as_str()));
                    }
                    properties.insert(field.name.clone(), member.into());
                }
                Err(why) if field.is_required() => return Err(why),
                Err(_) => self.left_out = self.left_out.saturating_add(1),
            }
        }
        if properties.is_empty() {
            return Err(format!("nothing of `{}` can be said", quoted(of)));
        }
        let mut schema =
            object(json!({ "type": "object", "additionalProperties": false, "properties": properties }));
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        Ok(schema)
    }
}

/// Whether an optional argument or member is one to offer.
pub(super) fn is_offered(value: &InputValue) -> bool {
    deprecation(&value.directives).is_none() && !is_secret(&value.name) && !is_echo(&value.name)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
