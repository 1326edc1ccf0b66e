//! From the text of a schema to something that checks: the closed subset of JSON Schema 2020-12, compiled.
//!
//! Refuses every keyword outside the subset, so that what a reviewer reads is all that decides. Reports every fault at
//! once. INVARIANT: what `compile` lets through is a closed object at every level, at most `DEPTH_MAX` deep. DESIGN,
//! "Manifest": args.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::PatternCache;
use serde_json::{Map, Value};

use super::fault::{SchemaFault, SchemaFaultKind as Kind};
use super::limits::Limits;
use super::shape::Shape;
use super::{formats, keywords, normalise, push};
use crate::ids::ArgName;
use crate::model::{ArgDef, ArgKind, ArgsSchema, LazyValidator};

/// Most args of an op, and most members of an object inside one.
pub(crate) const ARGS_MAX: usize = 64;
/// How deep an arg may nest: an arg is 1, its members or elements are 2.
pub(crate) const DEPTH_MAX: usize = 4;
/// Longest description, in characters.
pub(crate) const DESCRIPTION_MAX: usize = 500;

/// Compiles the `args` of an op. Most of its time is the validator's.
pub(crate) fn compile(schema: &Value) -> Result<ArgsSchema, Vec<SchemaFault>> {
    let mut compiler = Compiler { faults: Vec::new(), patterns: PatternCache::new() };
    let shape = compiler.root(schema);
    let (Some(shape), []) = (shape, compiler.faults.as_slice()) else { return Err(compiler.faults) };
    // Only whether it can be: it is compiled again when the op is called.
    if let Err(error) = formats::validator(schema, &compiler.patterns) {
        compiler.fault("", Kind::BadKeywordValue, error.masked().to_string(), "write it more simply");
        return Err(compiler.faults);
    }
    let defs = defs(&shape, schema);
    Ok(ArgsSchema { json: schema.clone(), validator: LazyValidator::default(), shape, defs })
}

/// A line for each arg. The names have been checked.
fn defs(shape: &Shape, schema: &Value) -> BTreeMap<ArgName, ArgDef> {
    let description = |name: &str| schema.pointer(&format!("/properties/{name}/description"))?.as_str();
    let def = |(name, shape): (&String, &Shape)| {
        let def = ArgDef {
            kind: shape.kind,
            required: shape.required,
            description: description(name).unwrap_or_default().into(),
            default: shape.default.clone(),
        };
        Some((ArgName::parse(name).ok()?, def))
    };
    shape.members.iter().filter_map(def).collect()
}

pub(super) struct Compiler {
    pub(super) faults: Vec<SchemaFault>,
    /// The patterns that have been compiled.
    pub(super) patterns: PatternCache,
}

impl Compiler {
    pub(super) fn fault(
        &mut self,
        pointer: &str,
        kind: Kind,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.faults.push(SchemaFault {
            pointer: pointer.into(),
            kind,
            message: message.into(),
            help: help.into(),
        });
    }

    fn root(&mut self, schema: &Value) -> Option<Shape> {
        let closed =
            r#"write {"type": "object", "additionalProperties": false, "required": […], "properties": {…}}"#;
        let Some(map) =
            schema.as_object().filter(|map| keywords::kind(map.get("type")) == Some(ArgKind::Object))
        else {
            self.fault("", Kind::NotAnObjectSchema, "args are declared by an object schema", closed);
            return None;
        };
        for keyword in map.keys() {
            if !matches!(keyword.as_str(), "type" | "additionalProperties" | "required" | "properties") {
                let message = format!("`{keyword}` has no place at the top of args");
                self.fault(&push("", keyword), Kind::UnknownKeyword, message, closed);
            }
        }
        let mut shape = Shape::new(ArgKind::Object);
        self.object(map, "", 0, &mut shape);
        Some(shape)
    }

    /// A schema below the top. `None` where it has no kind or is too deep, so that there is nothing to go on with.
    fn value(&mut self, schema: &Value, pointer: &str, depth: usize) -> Option<Shape> {
        if depth > DEPTH_MAX {
            let message = format!("args nest at most {DEPTH_MAX} deep");
            self.fault(pointer, Kind::TooDeep, message, "flatten it, or leave the inner part out");
            return None;
        }
        let Some(map) = schema.as_object() else {
            self.fault(pointer, Kind::NotAnObjectSchema, "not a schema", r#"write {"type": …}"#);
            return None;
        };
        let known = self.faults.len();
        for keyword in map.keys() {
            if keywords::scope(keyword).is_none() {
                let message = format!("`{keyword}` is not a keyword that args may use");
                let help = "leave it out: args keep to type, description, enum, default, lengths, bounds, pattern, format, items and closed objects";
                self.fault(&push(pointer, keyword), Kind::UnknownKeyword, message, help);
            }
        }
        self.description(map, pointer, depth);
        let Some(kind) = keywords::kind(map.get("type")) else {
            let at = if map.contains_key("type") { push(pointer, "type") } else { pointer.into() };
            let help = "write one of string, integer, number, boolean, array, object";
            self.fault(&at, Kind::BadType, "a value has exactly one type", help);
            return None;
        };
        let mut shape = Shape::new(kind);
        // A pattern that is none is refused below.
        shape.limits = Limits::new(map, kind);
        for (keyword, value) in map {
            let Some(scope) = keywords::scope(keyword) else { continue };
            let at = push(pointer, keyword);
            if scope.covers(kind) {
                self.keyword(keyword, value, kind, &at);
            } else {
                let message = format!("`{keyword}` says nothing of this type");
                self.fault(&at, Kind::MisplacedKeyword, message, "leave it out, or change the type");
            }
        }
        self.bounds(map, kind, pointer);
        self.unique(map, pointer);
        match kind {
            ArgKind::Object => self.object(map, pointer, depth, &mut shape),
            ArgKind::Array => self.items(map, pointer, depth, &mut shape),
            _ => {}
        }
        if let (Some(default), true) = (map.get("default"), self.faults.len() == known) {
            self.default(&mut shape, schema, default, pointer);
        }
        Some(shape)
    }

    fn items(&mut self, map: &Map<String, Value>, pointer: &str, depth: usize, shape: &mut Shape) {
        if let Some(items) = map.get("items") {
            let items = self.value(items, &push(pointer, "items"), depth.saturating_add(1));
            shape.items = items.map(Box::new);
        } else {
            let help = r#"write "items": {"type": …}"#;
            self.fault(pointer, Kind::BadKeywordValue, "an array says what it holds", help);
        }
    }

    fn object(&mut self, map: &Map<String, Value>, pointer: &str, depth: usize, shape: &mut Shape) {
        if map.get("additionalProperties") != Some(&Value::Bool(false)) {
            let at = if map.contains_key("additionalProperties") {
                push(pointer, "additionalProperties")
            } else {
                pointer.into()
            };
            let help = r#"write "additionalProperties": false"#;
            self.fault(&at, Kind::OpenObject, "an object takes only what it declares", help);
        }
        let none = Map::new();
        let at = push(pointer, "properties");
        let properties = match map.get("properties") {
            None => &none,
            Some(Value::Object(properties)) => properties,
            Some(_) => {
                self.fault(&at, Kind::BadKeywordValue, "`properties` is an object", "write {name: {…}}");
                &none
            }
        };
        if properties.len() > ARGS_MAX {
            let message = format!("at most {ARGS_MAX} of them");
            self.fault(&at, Kind::TooMany, message, "leave out what few callers need");
        }
        for (name, schema) in properties {
            let at = push(&at, name);
            self.name(name, &at, depth);
            if let Some(member) = self.value(schema, &at, depth.saturating_add(1)) {
                shape.members.insert(name.clone(), member);
            }
        }
        self.required(map, properties, pointer, shape);
    }

    fn name(&mut self, name: &str, pointer: &str, depth: usize) {
        if depth == 0 {
            if let Err(error) = ArgName::parse(name) {
                self.fault(pointer, Kind::BadArgName, error.to_string(), "rename the arg");
            }
        } else if !(1..=64).contains(&name.len()) || !name.bytes().all(|b| b.is_ascii_graphic()) {
            let message = "a member's name has 1 to 64 visible ASCII characters";
            self.fault(pointer, Kind::BadArgName, message, "rename the member");
        }
    }

    fn required(
        &mut self,
        map: &Map<String, Value>,
        properties: &Map<String, Value>,
        pointer: &str,
        shape: &mut Shape,
    ) {
        let Some(required) = map.get("required") else { return };
        let at = push(pointer, "required");
        let Some(required) = required.as_array() else {
            self.fault(&at, Kind::BadKeywordValue, "`required` is an array of names", "write [\"name\"]");
            return;
        };
        let mut seen = BTreeSet::new();
        for (i, name) in required.iter().enumerate() {
            let at = push(&at, &i.to_string());
            let Some(name) = name.as_str() else {
                self.fault(&at, Kind::BadKeywordValue, "`required` is an array of names", "write [\"name\"]");
                continue;
            };
            let Some(declared) = properties.get(name) else {
                self.fault(&at, Kind::RequiredUndeclared, "a required name is not declared", "declare it");
                continue;
            };
            if !seen.insert(name) {
                self.fault(&at, Kind::RequiredUndeclared, "a name is required twice", "name it once");
                continue;
            }
            if declared.get("default").is_some() {
                let message = "a required value has a default, which would never be used";
                let at = push(&push(&push(pointer, "properties"), name), "default");
                self.fault(&at, Kind::BadDefault, message, "drop the default, or do not require it");
            }
            if let Some(member) = shape.members.get_mut(name) {
                member.required = true;
            }
        }
    }

    /// Brings a default into normal form and holds it against its own schema, whose inner defaults are in place.
    fn default(&mut self, shape: &mut Shape, schema: &Value, default: &Value, pointer: &str) {
        let judged = formats::validator(schema, &self.patterns)
            .map_err(|error| error.masked().to_string())
            .and_then(|validator| normalise::value_alone(shape, &validator, default.clone()));
        match judged {
            Ok(default) => shape.default = Some(default),
            Err(message) => {
                let message = format!("the default is not taken by its own schema: {message}");
                self.fault(&push(pointer, "default"), Kind::BadDefault, message, "give one that is");
            }
        }
    }
}
