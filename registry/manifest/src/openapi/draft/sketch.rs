//! An op while it is drafted: its args, where each goes, and what a person must look at.
//!
//! Refuses an op that needs what an arg cannot be. What is optional and cannot be said is left out and noted. INVARIANT: each
//! arg that is declared is used in the request.

use serde_json::{Map, Value, json};

use super::subset::{Inexpressible, Subset, other_types};
use crate::args::ARGS_MAX;
use crate::draft::RefusedReason as Reason;
use crate::draft::texts;
use crate::draft::words::{is_secret, snake, unused, words};
use crate::finding::quoted;
use crate::openapi::parts::Parts;
use crate::openapi::values;

/// Longest description of an arg, in characters.
const TEXT_MAX: usize = 240;
/// Longest name of an arg, in bytes.
const NAME_MAX: usize = 64;

/// Why an operation cannot be drafted.
#[derive(Debug, Clone)]
pub(super) struct No {
    pub(super) reason: Reason,
    pub(super) message: String,
}

impl No {
    pub(super) fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

/// Something that an operation takes.
pub(super) struct Input<'a, 'd> {
    /// The name that the service gives it.
    pub(super) name: &'a str,
    /// What it is, for messages: `the query parameter`.
    pub(super) what: &'static str,
    pub(super) parts: &'a Parts<'d>,
    pub(super) description: Option<&'d str>,
    pub(super) is_required: bool,
}

/// An op while it is drafted.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    properties: Map<String, Value>,
    required: Vec<String>,
    /// The required args of one value, in the order in which they came.
    pub(super) said: Vec<String>,
    pub(super) query: Map<String, Value>,
    pub(super) headers: Map<String, Value>,
    pub(super) body: Option<(&'static str, Value)>,
    /// Where in the op, and what.
    pub(super) notes: Vec<(String, String)>,
}

impl Sketch {
    pub(super) fn note(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.notes.push((at.into(), message.into()));
    }

    /// How many more args the op may have.
    pub(super) fn room(&self) -> usize {
        ARGS_MAX.saturating_sub(self.properties.len())
    }

    /// Declares an arg for something; gives its name, or nothing where it is left out.
    pub(super) fn declare(
        &mut self,
        input: &Input<'_, '_>,
        schema: Result<Map<String, Value>, Inexpressible>,
    ) -> Result<Option<String>, No> {
        let shown = format!("{} `{}`", input.what, quoted(input.name));
        if !input.is_required && is_secret(input.name) {
            self.note(
                "/args",
                format!("{shown} was left out: it sounds like a secret, and bots see their args"),
            );
            return Ok(None);
        }
        if self.room() == 0 {
            if input.is_required {
                return Err(No::new(Reason::TooManyArgs, format!("it requires more than {ARGS_MAX} args")));
            }
            self.note("/args", format!("{shown} was left out: an op has at most {ARGS_MAX} args"));
            return Ok(None);
        }
        let mut schema = match schema {
            Ok(schema) => schema,
            Err(why) if input.is_required => {
                let message = format!("{shown} is required, and {}", why.says());
                return Err(No::new(Reason::ArgInexpressible, message));
            }
            Err(why) => {
                self.note("/args", format!("{shown} was left out: {}", why.says()));
                return Ok(None);
            }
        };
        let stem = snake(&words(input.name), NAME_MAX, "arg_");
        let Some(name) = unused(stem, NAME_MAX, |one| self.properties.contains_key(one)) else {
            return Err(No::new(Reason::TooManyArgs, format!("{shown} finds no name")));
        };
        if is_secret(input.name) {
            self.note(
                format!("/args/properties/{name}"),
                format!(
                    "{shown} sounds like a secret, and bots see their args: decide whether the op is for them"
                ),
            );
        }
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        if let Some(others) = other_types(input.parts, kind) {
            let message =
                format!("{shown} may be {others} too, and the arg takes `{kind}` alone: decide which");
            self.note(format!("/args/properties/{name}"), message);
        }
        bound_by_words(input, &mut schema);
        schema.insert("description".to_owned(), Self::text(input).into());
        let is_single = !matches!(schema.get("type").and_then(Value::as_str), Some("array" | "object"));
        self.properties.insert(name.clone(), schema.into());
        if input.is_required {
            self.required.push(name.clone());
            if is_single && !is_secret(input.name) {
                self.said.push(name.clone());
            }
        }
        Ok(Some(name))
    }

    /// What a caller is told of an arg, and what the service takes without it.
    fn text(input: &Input<'_, '_>) -> String {
        let own = input.description.or_else(|| input.parts.text("description"));
        let text = own.and_then(|text| texts::line(text, TEXT_MAX));
        let text = text.or_else(|| input.parts.text("title").and_then(|title| texts::line(title, TEXT_MAX)));
        let plain = || {
            let name = texts::line(input.name, 80).unwrap_or_default();
            format!("{} {name}.", capital(input.what))
        };
        let mut text = text.unwrap_or_else(plain);
        let default = input.parts.always("default").filter(|_| !input.is_required);
        let default = default.filter(|it| !it.is_array() && !it.is_object() && !it.is_null());
        if let Some(default) = default.map(shown).and_then(|text| texts::line(&text, 60))
            && !text.to_ascii_lowercase().contains("default")
        {
            text = format!("{} When absent: {default}.", text.trim_end_matches(['.', ' ']).to_owned() + ".");
        }
        text
    }

    /// The whole op, with the members that its caller has.
    pub(super) fn args(&self) -> Value {
        let mut args = Map::new();
        args.insert("type".to_owned(), "object".into());
        args.insert("additionalProperties".to_owned(), false.into());
        if !self.required.is_empty() {
            args.insert("required".to_owned(), json!(self.required));
        }
        args.insert("properties".to_owned(), self.properties.clone().into());
        Value::Object(args)
    }

    /// Notes how much inside args was left out, or has one type of several.
    pub(super) fn note_left_out(&mut self, subset: &Subset<'_, '_>) {
        let count = subset.left_out.get();
        if count > 0 {
            self.note(
                "/args",
                format!("{count} optional members inside args were left out: args cannot say them"),
            );
        }
        let count = subset.narrowed.get();
        if count > 0 {
            self.note("/args", format!("{count} schemas inside args may be of several types: one was taken"));
        }
    }
}

/// `(max 100)` in the description is a bound.
fn bound_by_words(input: &Input<'_, '_>, schema: &mut Map<String, Value>) {
    let is_number = matches!(schema.get("type").and_then(Value::as_str), Some("integer" | "number"));
    let own = input.description.or_else(|| input.parts.text("description")).unwrap_or_default();
    let said = values::said(own).filter(|_| is_number && !schema.contains_key("exclusiveMaximum"));
    let Some(most) = said else { return };
    let above = |word: &str| schema.get(word).and_then(Value::as_f64).is_some_and(|it| it >= f64::from(most));
    let below = schema.get("maximum").and_then(Value::as_f64).is_some_and(|it| it <= f64::from(most));
    if !below && !above("minimum") && !above("exclusiveMinimum") {
        schema.insert("maximum".to_owned(), most.into());
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}
