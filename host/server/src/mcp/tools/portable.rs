//! An arg's schema as every client can read it.
//!
//! A manifest's schemas are a closed subset of JSON Schema already: one type each, no `$ref`, closed objects. What is left
//! that some client stumbles over becomes words in the description: formats and patterns of another dialect, choices that
//! are not texts, members with odd names. INVARIANT: what a rewritten schema refuses the op's own refuses too; the spine
//! holds every call to that one.

use serde_json::{Map, Value, json};

/// Longest property name that every client takes.
const NAME_MAX: usize = 64;

/// Whether every client takes a property of this name: `[a-zA-Z0-9_.-]{1,64}`.
pub(super) fn is_portable_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// The schema of an arg, or of something inside one.
pub(super) fn schema(own: &Value) -> Value {
    let Some(own) = own.as_object() else { return json!({}) };
    let mut said = Vec::new();
    let mut portable = Map::new();
    let odd = own.get("properties").and_then(Value::as_object).is_some_and(has_odd_names);
    let is_text = own.get("type").is_some_and(|kind| kind == "string");
    for (keyword, value) in own {
        let value = match keyword.as_str() {
            "properties" | "required" | "additionalProperties" if odd => continue,
            "properties" => properties(value),
            "items" => schema(value),
            "pattern" if !value.as_str().is_some_and(is_portable_pattern) => {
                said.push(format!("matches {}", plain(value)));
                continue;
            }
            "format" if value != "date-time" => {
                said.push(format_words(value).to_owned());
                continue;
            }
            // One popular API takes choices of texts alone, and drops the list for others.
            "enum" if !is_text => {
                said.push(choices(value));
                portable.extend(bounds(value));
                continue;
            }
            _ => value.clone(),
        };
        portable.insert(keyword.clone(), value);
    }
    if odd {
        said.push(members(own));
    }
    if !said.is_empty() {
        let before = own.get("description").and_then(Value::as_str).unwrap_or_default();
        let joined = format!("{before} ({})", said.join("; "));
        portable.insert("description".to_owned(), Value::String(joined.trim_start().to_owned()));
    }
    Value::Object(portable)
}

fn properties(own: &Value) -> Value {
    let members = own.as_object().into_iter().flatten();
    Value::Object(members.map(|(name, own)| (name.clone(), schema(own))).collect())
}

fn has_odd_names(properties: &Map<String, Value>) -> bool {
    properties.keys().any(|name| !is_portable_name(name))
}

fn format_words(format: &Value) -> &'static str {
    match format.as_str() {
        Some("date") => "a date, YYYY-MM-DD",
        Some("email") => "an e-mail address",
        Some("uuid") => "a UUID",
        _ => "an https URL on a public host, without port, user or fragment",
    }
}

fn choices(choices: &Value) -> String {
    let list: Vec<String> = choices.as_array().into_iter().flatten().map(Value::to_string).collect();
    match list.as_slice() {
        [one] => format!("always {one}"),
        several => format!("one of {}", several.join(", ")),
    }
}

/// The least and the most of choices that are whole numbers.
fn bounds(choices: &Value) -> Vec<(String, Value)> {
    let numbers: Vec<i64> = choices.as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
    let bound = |name: &str, bound: Option<&i64>| bound.map(|bound| (name.to_owned(), json!(bound)));
    [bound("minimum", numbers.iter().min()), bound("maximum", numbers.iter().max())]
        .into_iter()
        .flatten()
        .collect()
}

/// The members of an object one of which has an odd name, in words.
fn members(own: &Map<String, Value>) -> String {
    let required: Vec<&str> = own
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let members = own.get("properties").and_then(Value::as_object).into_iter().flatten();
    let lines: Vec<String> = members
        .map(|(name, own)| {
            let kind = own.get("type").map(plain).unwrap_or_default();
            let must = if required.contains(&name.as_str()) { ", required" } else { "" };
            format!("`{name}` ({kind}{must})")
        })
        .collect();
    format!("an object of {}", lines.join(", "))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether regular expressions of ECMAScript (with and without `u`), Python, RE2 and Rust read a pattern alike: literals,
/// `.`, anchors, groups, alternatives, plain classes and quantifiers.
pub(super) fn is_portable_pattern(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let fits = match c {
            '\\' => {
                let escaped = rest.next();
                escaped.is_some_and(|c| r"dwsDWSnrt.\/()[]{}*+?^$|".contains(c) || (in_class && c == '-'))
            }
            // Sets of classes, which some dialects have.
            '[' | '&' | '~' if in_class => c != '[' && next != Some(c),
            '-' if in_class => next != Some('-'),
            ']' => std::mem::replace(&mut in_class, false),
            '[' => {
                in_class = true;
                if next == Some('^') {
                    rest.next();
                }
                // An empty class, or a bracket that is its first member.
                rest.peek() != Some(&']')
            }
            '(' if !in_class && next == Some('?') => {
                rest.next();
                rest.next() == Some(':')
            }
            '*' | '+' | '?' | '}' if !in_class && next == Some('+') => false,
            '{' if !in_class => is_count(&mut rest),
            '}' if !in_class => false,
            _ => true,
        };
        if !fits {
            return false;
        }
    }
    !in_class
}

/// The rest of `{2}`, `{2,}` or `{2,5}`, taken.
fn is_count(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let inner: String = rest.by_ref().take_while(|c| *c != '}').collect();
    let (least, most) = inner.split_once(',').unwrap_or((&inner, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let possessive = rest.peek() == Some(&'+');
    !least.is_empty() && digits(least) && digits(most) && !possessive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_dialects_read_alike_stay() {
        for pattern in [
            "^[A-Za-z0-9_-]+$",
            r"^[1-9][0-9]{0,8}\.[0-9]{2}$",
            r"^[^\sA-Z!-,./:-@\[-^`{-~]+$",
            "^(?:a|b){2,}$",
            r"^(:[^:\s]+:)?$",
            "^[^<]*$",
            r"^\d+\/\d+$",
            "é",
        ] {
            assert!(is_portable_pattern(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_of_one_dialect_do_not() {
        for pattern in [
            "(?i)a",
            "(?P<x>a)",
            "(?<x>a)",
            "(?=a)",
            r"\p{L}",
            r"\Aa\z",
            r"\x{41}",
            r"\u0041",
            r"\b",
            r"a\-b",
            "[[:alpha:]]",
            "[a&&b]",
            "[a--b]",
            "[a~~b]",
            "[]a]",
            "[^]a]",
            "a{,3}",
            "a{x}",
            "a}",
            "{",
            "a++",
            "a{2}+",
            r"\_",
            "[a",
            "a]",
        ] {
            assert!(!is_portable_pattern(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_clients_stumble_over_becomes_words() {
        let own = json!({
            "type": "object", "additionalProperties": false, "description": "A filter.", "required": ["@type"],
            "properties": {"@type": {"type": "string"}, "size": {"type": "integer"}}
        });
        assert_eq!(
            schema(&own),
            json!({
                "type": "object",
                "description": "A filter. (an object of `@type` (string, required), `size` (integer))"
            })
        );
        assert_eq!(
            schema(&json!({"type": "integer", "enum": [0, 1], "description": "How urgent."})),
            json!({"type": "integer", "minimum": 0, "maximum": 1, "description": "How urgent. (one of 0, 1)"})
        );
        assert_eq!(
            schema(&json!({"type": "boolean", "enum": [true]})),
            json!({"type": "boolean", "description": "(always true)"})
        );
        assert_eq!(
            schema(&json!({"type": "array", "items": {"type": "string", "format": "public-https-url"}})),
            json!({"type": "array", "items": {
                "type": "string", "description": "(an https URL on a public host, without port, user or fragment)"
            }})
        );
        let kept =
            json!({"type": "string", "format": "date-time", "pattern": "^2", "enum": ["a"], "maxLength": 3});
        assert_eq!(schema(&kept), kept);
        assert_eq!(
            schema(&json!({"type": "string", "pattern": "(?i)^a"})),
            json!({"type": "string", "description": "(matches (?i)^a)"})
        );
    }
}
