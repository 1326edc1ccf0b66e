//! The schema of an arg, held against the type of the variable that it feeds.
//!
//! INVARIANT: every value that the arg's schema takes is one of the type, custom scalars and the 32 bits of `Int` aside.

use graphql_tools::static_graphql::query::Type;
use serde_json::Value;

use super::feed::Feed;
use super::{nullable, push};
use crate::finding::FindingCode;

impl Feed<'_, '_, '_> {
    /// The schema of an arg, or of a part of one.
    pub(super) fn arg(&mut self, arg: &Value, wanted: &Type, pointer: &str) {
        let kind = arg.get("type").and_then(Value::as_str).unwrap_or_default();
        match (kind, nullable(wanted)) {
            ("array", Type::ListType(inner)) => {
                if let Some(items) = arg.get("items") {
                    self.arg(items, inner, &push(pointer, "items"));
                }
            }
            (_, Type::ListType(_) | Type::NonNullType(_)) => self.wrong(pointer, &of_kind(kind), wanted),
            ("object", named) if self.input(named).is_some() => self.arg_object(arg, named, pointer),
            (_, Type::NamedType(name)) => self.arg_scalar(arg, kind, name, wanted, pointer),
        }
    }

    fn arg_object(&mut self, arg: &Value, of: &Type, pointer: &str) {
        let fields = self.input(of).unwrap_or_default();
        let none = serde_json::Map::new();
        let properties = arg.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<&str> = arg
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        for (name, property) in properties {
            let at = push(&push(pointer, "properties"), name);
            let Some(field) = self.member(fields, name, of, &at) else { continue };
            let always = required.contains(&name.as_str()) || property.get("default").is_some();
            if field.is_required() && !always {
                self.absent(&at, name, of);
            }
            self.arg(property, &field.value_type, &at);
        }
        self.missing(fields, |name| properties.contains_key(name), of, pointer);
    }

    fn arg_scalar(&mut self, arg: &Value, kind: &str, name: &str, wanted: &Type, pointer: &str) {
        if let Some(known) = self.schema.choices(name) {
            if kind != "string" {
                return self.wrong(pointer, &of_kind(kind), wanted);
            }
            let Some(choices) = arg.get("enum").and_then(Value::as_array) else {
                let message = format!("any text is taken where a value of `{name}` is wanted");
                self.found.add(FindingCode::ArgValues, pointer, message, "list the values in `enum`");
                return;
            };
            let listed: Vec<_> =
                known.values.iter().map(|one| (one.name.as_str(), &one.directives)).collect();
            for choice in choices.iter().filter_map(Value::as_str) {
                self.choice(choice, name, &listed, &push(pointer, "enum"));
            }
            return;
        }
        let fits = match name {
            "String" => kind == "string",
            "ID" => matches!(kind, "string" | "integer"),
            "Int" => kind == "integer",
            "Float" => matches!(kind, "integer" | "number"),
            "Boolean" => kind == "boolean",
            _ => self.is_open(nullable(wanted)),
        };
        if !fits {
            self.wrong(pointer, &of_kind(kind), wanted);
        }
    }
}

fn of_kind(kind: &str) -> String {
    format!("a value of the type {kind}")
}
