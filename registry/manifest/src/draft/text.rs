//! The text of a drafted manifest: members in the order of the documentation, short objects on one line.
//!
//! Judges nothing. INVARIANT: what is written is the manifest that was given, and nothing else.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// Longest line on which an object or a list stands whole, in characters.
const LINE_MAX: usize = 120;

/// The text of a manifest's file: members in the order of the documentation, short objects on one line.
pub(crate) fn text(manifest: &Value) -> String {
    let mut text = String::new();
    write(manifest, Members::Ranked, 0, &mut text);
    text.push('\n');
    text
}

/// Whether an object's members are words of format 1, which have an order, or names of somebody's own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Members {
    Ranked,
    /// Names, below which words come again.
    Names,
    /// Names all the way down.
    Foreign,
}

impl Members {
    fn below(self, name: &str) -> Self {
        match (self, name) {
            (Self::Foreign, _) => Self::Foreign,
            (Self::Ranked, "ops" | "properties") => Self::Names,
            (Self::Ranked, "headers" | "query" | "json" | "form" | "variables" | "enum" | "default") => {
                Self::Foreign
            }
            (Self::Names | Self::Ranked, _) => Self::Ranked,
        }
    }
}

/// The words of format 1 in the order in which people write them.
const ORDER: &str = "pinhole id version name access type style root as file sha256 summary docs verified host reads \
    method path scheme header additionalProperties args confirm effect irreversible idempotency require \
    request module page pick query variables headers json form graphql auth failure error ops pat help \
    help_url pattern oauth authorize_url token_url revoke_url device_url issuer scopes scopes_write \
    client_auth pkce viewer account requests fields next info variable paths is in exists message else \
    response_bytes result_bytes timeout_ms limits items enum format minLength maxLength minimum maximum \
    exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems default description \
    required properties";

fn members(object: &Map<String, Value>, kind: Members) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = object.iter().collect();
    if kind == Members::Ranked {
        let rank = |name: &str| ORDER.split_whitespace().position(|word| word == name).unwrap_or(usize::MAX);
        members.sort_by_cached_key(|(name, _)| rank(name));
    }
    members
}

fn write(value: &Value, kind: Members, indent: usize, text: &mut String) {
    let before = text.len();
    one_line(value, kind, text);
    let line = text.get(before..).unwrap_or_default();
    if indent.saturating_add(line.chars().count()) <= LINE_MAX && indent > 0 {
        return;
    }
    let inner = indent.saturating_add(2);
    match value {
        Value::Object(object) if !object.is_empty() => {
            text.truncate(before);
            text.push_str("{\n");
            for (i, (name, value)) in members(object, kind).into_iter().enumerate() {
                separate(i, inner, text);
                push_json(&Value::from(name.as_str()), text);
                text.push_str(": ");
                write(value, kind.below(name), inner, text);
            }
            end(indent, '}', text);
        }
        Value::Array(array) if array.iter().any(|one| one.is_object() || one.is_array()) => {
            text.truncate(before);
            text.push_str("[\n");
            for (i, value) in array.iter().enumerate() {
                separate(i, inner, text);
                write(value, kind, inner, text);
            }
            end(indent, ']', text);
        }
        _ => {}
    }
}

fn separate(i: usize, indent: usize, text: &mut String) {
    if i > 0 {
        text.push_str(",\n");
    }
    text.extend(std::iter::repeat_n(' ', indent));
}

fn end(indent: usize, closing: char, text: &mut String) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(closing);
}

fn one_line(value: &Value, kind: Members, text: &mut String) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            text.push_str("{ ");
            for (i, (name, value)) in members(object, kind).into_iter().enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                push_json(&Value::from(name.as_str()), text);
                text.push_str(": ");
                one_line(value, kind.below(name), text);
            }
            text.push_str(" }");
        }
        Value::Array(array) => {
            text.push('[');
            for (i, value) in array.iter().enumerate() {
                text.push_str(if i > 0 { ", " } else { "" });
                one_line(value, kind, text);
            }
            text.push(']');
        }
        scalar => push_json(scalar, text),
    }
}

fn push_json(value: &Value, text: &mut String) {
    // Writing to a string cannot fail.
    let _infallible = write!(text, "{value}");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_manifest_is_written_in_the_order_of_the_documentation() {
        let op = json!({
            "pick": { "fields": ["id"] },
            "args": {
                "properties": { "b": { "description": "x".repeat(100), "type": "string" }, "a": { "type": "integer" } },
                "additionalProperties": false,
                "type": "object"
            },
            "access": "read"
        });
        let manifest = json!({ "ops": { "zz": op }, "id": "x", "pinhole": 1, "host": "api.pinhole.dev" });
        let written = text(&manifest);
        let at = |word: &str| written.find(&format!("\"{word}\"")).unwrap();
        let order = ["pinhole", "id", "host", "ops", "access", "args", "additionalProperties", "pick"];
        assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{written}");
        assert!(written.contains("\n      \"pick\": { \"fields\": [\"id\"] }\n"), "{written}");
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), manifest);
    }

    #[test]
    fn names_of_somebodys_own_keep_their_order() {
        let body = json!({ "type": "{type}", "access": "{access}", "pinhole": { "name": 1, "id": 2 } });
        let written = text(&json!({ "json": body }));
        assert!(
            written.contains(r#"{ "access": "{access}", "pinhole": { "id": 2, "name": 1 }, "type""#),
            "{written}"
        );
    }
}
