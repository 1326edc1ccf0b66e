//! A described schema in the closed subset of JSON Schema that args have. DESIGN, "Manifest": args.
//!
//! Refuses what the subset cannot say, by its name. What is optional inside and cannot be said is left out, which narrows what
//! may be sent. INVARIANT: each object and array that comes out takes from a budget, so that the result is small.

use std::cell::Cell;

use serde_json::{Map, Number, Value, json};

use crate::args::{ARGS_MAX, compile};
use crate::draft::texts;
use crate::draft::words::is_secret;
use crate::finding::quoted;
use crate::model::SAFE_INTEGER_MAX;
use crate::openapi::parts::Parts;
use crate::openapi::reader::Reader;
use crate::openapi::values;

/// How deep an arg may nest: an arg is 1.
const DEPTH_MAX: usize = 4;
/// Most schemas in the args of one op.
const SCHEMAS_MAX: u32 = 400;
/// Most patterns of a manifest: some fewer than it may have.
const PATTERNS_MAX: u32 = 190;
/// Longest description of a member, in characters.
const MEMBER_TEXT_MAX: usize = 120;

/// Why a schema cannot be said in the subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inexpressible {
    /// The description does not say what it is.
    Untyped,
    /// A type of its own, such as a file.
    Type,
    /// An object whose members are not described.
    OpenObject,
    /// Nested too deeply, or too much of it.
    TooDeep,
    /// A member that it requires cannot be said.
    Member,
}

impl Inexpressible {
    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Untyped => "the description does not say what type it has",
            Self::Type => "it has a type that JSON does not have",
            Self::OpenObject => "it is an object whose members are not described",
            Self::TooDeep => "it nests too deeply",
            Self::Member => "a member that it requires cannot be said",
        }
    }
}

/// Translates schemas, and counts.
pub(super) struct Subset<'r, 'd> {
    pub(super) reader: &'r Reader<'d>,
    /// Schemas that this op may still have.
    schemas: Cell<u32>,
    /// Patterns that the manifest may still have.
    patterns: &'r Cell<u32>,
    /// How many optional members were left out.
    pub(super) left_out: Cell<usize>,
    /// How many schemas inside args lost all their types but one.
    pub(super) narrowed: Cell<usize>,
}

/// The patterns of a whole manifest.
pub(super) fn patterns() -> Cell<u32> {
    Cell::new(PATTERNS_MAX)
}

impl<'r, 'd> Subset<'r, 'd> {
    pub(super) fn new(reader: &'r Reader<'d>, patterns: &'r Cell<u32>) -> Self {
        let (schemas, left_out, narrowed) = (Cell::new(SCHEMAS_MAX), Cell::new(0), Cell::new(0));
        Self { reader, schemas, patterns, left_out, narrowed }
    }

    /// The schema of an arg, without a description.
    pub(super) fn arg(&self, parts: &Parts<'d>) -> Result<Map<String, Value>, Inexpressible> {
        self.value(parts, 1)
    }

    fn value(&self, parts: &Parts<'d>, depth: usize) -> Result<Map<String, Value>, Inexpressible> {
        let Some(left) = self.schemas.get().checked_sub(1) else { return Err(Inexpressible::TooDeep) };
        self.schemas.set(left);
        if depth > DEPTH_MAX {
            return Err(Inexpressible::TooDeep);
        }
        let types = parts.types();
        let kind = ["string", "integer", "number", "boolean", "array", "object"]
            .into_iter()
            .find(|kind| types.contains(kind))
            .ok_or(if types.is_empty() { Inexpressible::Untyped } else { Inexpressible::Type })?;
        if depth > 1 && other_types(parts, kind).is_some() {
            self.narrowed.set(self.narrowed.get().saturating_add(1));
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), kind.into());
        match kind {
            "string" => self.string(parts, &mut schema),
            "integer" | "number" => number(parts, kind, &mut schema),
            "array" => self.array(parts, depth, &mut schema)?,
            "object" => self.object(parts, depth, &mut schema)?,
            _ => {}
        }
        choices(parts, kind, &mut schema);
        Ok(schema)
    }

    fn string(&self, parts: &Parts<'d>, schema: &mut Map<String, Value>) {
        bounds(parts, "minLength", "maxLength", schema);
        let format = parts.always("format").and_then(Value::as_str);
        if let Some(format @ ("date" | "date-time" | "email" | "uuid")) = format {
            schema.insert("format".to_owned(), format.into());
        }
        if let (Some(Value::String(pattern)), Some(left)) =
            (parts.always("pattern"), self.patterns.get().checked_sub(1))
        {
            let one = json!({ "type": "string", "pattern": pattern, "description": "x" });
            let args = json!({ "type": "object", "additionalProperties": false, "properties": { "x": one } });
            // What one engine takes another may not: only a pattern that compiles here is kept.
            if pattern.len() <= 512 && compile(&args).is_ok() {
                self.patterns.set(left);
                schema.insert("pattern".to_owned(), pattern.as_str().into());
            }
        }
    }

    fn array(
        &self,
        parts: &Parts<'d>,
        depth: usize,
        schema: &mut Map<String, Value>,
    ) -> Result<(), Inexpressible> {
        let items = self.value(&parts.items(self.reader), depth.saturating_add(1))?;
        let is_scalar = !matches!(items.get("type").and_then(Value::as_str), Some("array" | "object"));
        schema.insert("items".to_owned(), items.into());
        bounds(parts, "minItems", "maxItems", schema);
        let few = schema.get("maxItems").and_then(Value::as_u64).is_none_or(|most| most <= 10_000);
        if parts.always("uniqueItems") == Some(&Value::Bool(true)) && is_scalar && few {
            schema.insert("uniqueItems".to_owned(), true.into());
        }
        Ok(())
    }

    fn object(
        &self,
        parts: &Parts<'d>,
        depth: usize,
        schema: &mut Map<String, Value>,
    ) -> Result<(), Inexpressible> {
        let (wanted, mut members, mut required) = (parts.required(), Map::new(), Vec::new());
        let mut all: Vec<_> = parts.members(self.reader).into_iter().collect();
        all.sort_by_key(|(name, _)| !wanted.contains(name));
        for (name, member) in all {
            let is_required = wanted.contains(name);
            match self.member(name, &member, is_required, depth) {
                _ if !is_required && members.len() >= ARGS_MAX => self.leave_out(),
                Some(Ok(one)) => {
                    members.insert(name.to_owned(), one.into());
                    if is_required {
                        required.push(Value::from(name));
                    }
                }
                Some(Err(Inexpressible::TooDeep)) if is_required => return Err(Inexpressible::TooDeep),
                Some(Err(_)) if is_required => return Err(Inexpressible::Member),
                Some(Err(_)) => self.leave_out(),
                None => {}
            }
        }
        let undescribed = |name: &&str| !parts.names().contains(*name);
        if wanted.iter().any(undescribed) {
            return Err(Inexpressible::Member);
        }
        if members.is_empty() {
            return Err(Inexpressible::OpenObject);
        }
        if members.len() > ARGS_MAX {
            return Err(Inexpressible::TooDeep);
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("properties".to_owned(), members.into());
        Ok(())
    }

    /// One member; `None` where it is not for whoever sends.
    fn member(
        &self,
        name: &str,
        parts: &Parts<'d>,
        is_required: bool,
        depth: usize,
    ) -> Option<Result<Map<String, Value>, Inexpressible>> {
        if parts.says("readOnly") || (!is_required && (parts.says("deprecated") || is_secret(name))) {
            return None;
        }
        if !(1..=64).contains(&name.len()) || !name.bytes().all(|b| b.is_ascii_graphic()) {
            return Some(Err(Inexpressible::Member));
        }
        let schema = self.value(parts, depth.saturating_add(1)).map(|mut schema| {
            if let Some(text) = parts.text("description").and_then(|text| texts::line(text, MEMBER_TEXT_MAX))
            {
                schema.insert("description".to_owned(), text.into());
            }
            schema
        });
        Some(schema)
    }

    pub(super) fn leave_out(&self) {
        self.left_out.set(self.left_out.get().saturating_add(1));
    }
}

/// The types that a schema has beside the one that was taken; an integer is a number.
pub(super) fn other_types(parts: &Parts<'_>, taken: &str) -> Option<String> {
    let types = parts.types();
    let is_other = |kind: &&str| {
        *kind != taken && !matches!((*kind, taken), ("integer", "number") | ("number", "integer"))
    };
    let others: Vec<String> =
        types.into_iter().filter(is_other).map(|kind| format!("`{}`", quoted(kind))).collect();
    (!others.is_empty()).then(|| others.join(", "))
}

/// Two counts, where they are counts and something lies between them.
fn bounds(parts: &Parts<'_>, least: &str, most: &str, schema: &mut Map<String, Value>) {
    let count = |word: &str| {
        let value = parts.always(word)?.as_u64()?;
        (value <= SAFE_INTEGER_MAX.unsigned_abs()).then_some(value)
    };
    let (low, high) = (count(least), count(most));
    if low.zip(high).is_some_and(|(low, high)| low > high) {
        return;
    }
    for (word, bound) in [(least, low.filter(|low| *low > 0)), (most, high)] {
        if let Some(bound) = bound {
            schema.insert(word.to_owned(), bound.into());
        }
    }
}

/// The bounds of a number, in the words of 2020-12: `exclusiveMinimum` was a truth value before.
fn number(parts: &Parts<'_>, kind: &str, schema: &mut Map<String, Value>) {
    let bound = |word: &str| {
        let number = parts.always(word)?.as_number()?;
        let plain = number.as_f64().is_some_and(|it| it.abs() <= 9e15);
        let fits = kind == "number" || number.is_i64() || number.is_u64();
        (plain && fits).then(|| number.clone())
    };
    let strict = |word: &str| parts.always(word) == Some(&Value::Bool(true));
    let mut found: Vec<(&str, Option<Number>)> = Vec::new();
    for (word, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if strict(exclusive) {
            found.push((exclusive, bound(word)));
        } else {
            found.push((word, bound(word)));
            found.push((exclusive, bound(exclusive)));
        }
    }
    let value = |wanted: &str| {
        let (_, bound) = found.iter().find(|(word, _)| *word == wanted)?;
        bound.as_ref().and_then(Number::as_f64)
    };
    let nothing_between = |least: &str, most: &str, touching: bool| {
        let bounds = value(least).zip(value(most));
        bounds.is_some_and(|(least, most)| least > most || (least >= most && !touching))
    };
    let contradicts = nothing_between("minimum", "maximum", true)
        || nothing_between("exclusiveMinimum", "maximum", false)
        || nothing_between("minimum", "exclusiveMaximum", false)
        || nothing_between("exclusiveMinimum", "exclusiveMaximum", false);
    if !contradicts {
        for (word, bound) in found {
            if let Some(bound) = bound {
                schema.insert(word.to_owned(), bound.into());
            }
        }
    }
}

/// The listed values, where they are of the type and few.
fn choices(parts: &Parts<'_>, kind: &str, schema: &mut Map<String, Value>) {
    if let Some(values) = values::closed(parts, kind) {
        schema.insert("enum".to_owned(), values.into());
    }
}
