//! The values of single keywords.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::fault::SchemaFaultKind as Kind;
use super::limits::ITEMS_MAX;
use super::schema::{Compiler, DESCRIPTION_MAX};
use super::{formats, keywords, push};
use crate::model::ArgKind;
use crate::visible::is_plain_line;

/// Longest pattern, in characters.
const PATTERN_MAX: usize = 512;
/// Most values of an `enum`.
const ENUM_MAX: usize = 256;

impl Compiler {
    /// A description is shown to people and models: one plain line. At the top level there must be one.
    pub(super) fn description(&mut self, map: &Map<String, Value>, pointer: &str, depth: usize) {
        let at = push(pointer, "description");
        match map.get("description") {
            None if depth == 1 => {
                let message = "an arg has a description: it is all that a caller sees";
                self.fault(pointer, Kind::NoDescription, message, "say what it is for in one line");
            }
            None => {}
            Some(Value::String(text)) => {
                let length = text.chars().count();
                if text.trim().is_empty() || length > DESCRIPTION_MAX || !is_plain_line(text) {
                    let message = format!(
                        "a description is one line of 1 to {DESCRIPTION_MAX} characters, none of them invisible"
                    );
                    self.fault(&at, Kind::BadKeywordValue, message, "say what it is for in one line");
                }
            }
            Some(_) => self.fault(&at, Kind::BadKeywordValue, "a description is a text", "write a line"),
        }
    }

    /// The value of one keyword that has its place here.
    pub(super) fn keyword(&mut self, keyword: &str, value: &Value, kind: ArgKind, at: &str) {
        match keyword {
            "enum" => self.choices(value, kind, at),
            "minLength" | "maxLength" | "minItems" | "maxItems" if keywords::count(value).is_none() => {
                self.bad(at, "not a count", "write a whole number from 0");
            }
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
                if keywords::normal(value).is_none() =>
            {
                self.bad(at, "not a number within ±(2^53 − 1)", "write a number");
            }
            "multipleOf" if !keywords::normal(value).and_then(|n| n.as_f64()).is_some_and(|n| n > 0.0) => {
                self.bad(at, "not a number above 0", "write a number above 0");
            }
            "uniqueItems" if !value.is_boolean() => self.bad(at, "not a truth value", "write true"),
            "pattern" => self.pattern(value, at),
            "format" if !value.as_str().is_some_and(|format| formats::FORMATS.contains(&format)) => {
                let help = format!("write one of {}", formats::FORMATS.join(", "));
                self.fault(at, Kind::UnknownFormat, "not a format that is checked", help);
            }
            "default" if value.as_str().is_some_and(|text| !is_plain_line(text)) => {
                let message = "a default holds characters that cannot be seen";
                self.fault(at, Kind::BadDefault, message, "give one that shows what it is");
            }
            _ => {}
        }
    }

    fn bad(&mut self, at: &str, message: &str, help: &str) {
        self.fault(at, Kind::BadKeywordValue, message, help);
    }

    fn choices(&mut self, value: &Value, kind: ArgKind, at: &str) {
        let help = "list single values of the arg's type, each once";
        let Some(choices) = value.as_array().filter(|list| (1..=ENUM_MAX).contains(&list.len())) else {
            self.bad(at, "an enum lists 1 to 256 values", help);
            return;
        };
        let mut seen = BTreeSet::new();
        for (i, choice) in choices.iter().enumerate() {
            let at = push(at, &i.to_string());
            if !keywords::is_of_kind(choice, kind) {
                self.bad(&at, "not a value of the arg's type", help);
            } else if choice.as_str().is_some_and(|text| !is_plain_line(text)) {
                self.bad(&at, "a choice holds characters that cannot be seen", help);
            } else if !seen
                .insert(keywords::normal(choice).map_or_else(|| choice.to_string(), |n| n.to_string()))
            {
                self.bad(&at, "listed twice", help);
            }
        }
    }

    fn pattern(&mut self, value: &Value, at: &str) {
        let help = "write a regular expression without look-around or back-references, at most 512 characters and 64 KiB once compiled";
        let plain = |text: &&str| text.chars().count() <= PATTERN_MAX && is_plain_line(text);
        let compiled = value.as_str().filter(plain).is_some_and(|pattern| {
            let schema = serde_json::json!({"type": "string", "pattern": pattern});
            formats::validator(&schema, &self.patterns).is_ok()
        });
        if !compiled {
            self.fault(at, Kind::BadPattern, "not a small regular expression of linear time", help);
        }
    }

    /// Telling elements apart takes long where there are many.
    pub(super) fn unique(&mut self, map: &Map<String, Value>, pointer: &str) {
        let most = map.get("maxItems").and_then(keywords::count);
        if map.get("uniqueItems") == Some(&Value::Bool(true)) && most.is_some_and(|most| most > ITEMS_MAX) {
            let message = format!("beside `uniqueItems` an array has at most {ITEMS_MAX} elements");
            self.bad(&push(pointer, "maxItems"), &message, "write a smaller number");
        }
    }

    /// Pairs of bounds between which there is nothing.
    pub(super) fn bounds(&mut self, map: &Map<String, Value>, kind: ArgKind, pointer: &str) {
        let number = |keyword: &str| keywords::normal(map.get(keyword)?)?.as_f64();
        let scope_covers = |keyword: &str| keywords::scope(keyword).is_some_and(|scope| scope.covers(kind));
        for (low, high, touching) in [
            ("minLength", "maxLength", true),
            ("minItems", "maxItems", true),
            ("minimum", "maximum", true),
            ("exclusiveMinimum", "maximum", false),
            ("minimum", "exclusiveMaximum", false),
            ("exclusiveMinimum", "exclusiveMaximum", false),
        ] {
            if let (true, Some(least), Some(most)) = (scope_covers(low), number(low), number(high))
                && (least > most || (least >= most && !touching))
            {
                let message = format!("nothing lies between `{low}` and `{high}`");
                self.bad(&push(pointer, high), &message, "widen one of them");
            }
        }
    }
}
