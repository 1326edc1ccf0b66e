//! The schemas that one schema may stand for, looked at together.
//!
//! Decides nothing about a manifest. INVARIANT: something counts as described when any part describes it, and as required
//! only when no choice leaves it out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::reader::Reader;

/// Most members of one schema that are looked at.
const NAMES_MAX: usize = 4_000;

/// How a part came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// It always holds.
    All,
    /// It is one of several that may hold.
    Choice,
}

/// One schema without references.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'d> {
    pub(super) schema: &'d Value,
    pub(super) map: &'d Map<String, Value>,
    pub(super) join: Join,
}

/// The schemas that one schema may stand for.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts<'d> {
    pub(super) list: Vec<Part<'d>>,
    /// Some part could not be looked at.
    pub(super) incomplete: bool,
    /// Some part takes anything.
    pub(super) anything: bool,
    pub(super) nullable: bool,
}

/// What is known of a member.
#[derive(Debug)]
pub(super) enum Member<'d> {
    /// It is described.
    Described(Parts<'d>),
    /// It is not, and all that may be there is.
    Unknown,
    /// Nothing can be said.
    Unsaid,
}

impl<'d> Parts<'d> {
    /// Whether there is nothing to look at.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The value of a keyword in each part that has it.
    pub(super) fn each(&self, keyword: &'static str) -> impl Iterator<Item = &'d Value> {
        self.list.iter().filter_map(move |part| part.map.get(keyword))
    }

    /// The first value of a keyword among the parts that always hold.
    pub(super) fn always(&self, keyword: &str) -> Option<&'d Value> {
        self.list.iter().filter(|part| part.join == Join::All).find_map(|part| part.map.get(keyword))
    }

    /// A flag that some part sets.
    pub(super) fn says(&self, keyword: &'static str) -> bool {
        self.each(keyword).any(|value| value == &Value::Bool(true))
    }

    /// The first text of a keyword.
    pub(super) fn text(&self, keyword: &'static str) -> Option<&'d str> {
        self.each(keyword).find_map(Value::as_str)
    }

    /// The types that it may have, without `null`; empty when nothing says.
    pub(super) fn types(&self) -> BTreeSet<&'d str> {
        let mut types: BTreeSet<&str> = self.list.iter().flat_map(|part| types_of(part.map)).collect();
        types.remove("null");
        types
    }

    /// Whether `null` is taken.
    pub(super) fn takes_null(&self) -> bool {
        let named = |part: &Part<'d>| types_of(part.map).contains(&"null");
        self.nullable || self.says("nullable") || self.says("x-nullable") || self.list.iter().any(named)
    }

    /// The names of its members, in order.
    pub(super) fn names(&self) -> BTreeSet<&'d str> {
        let of = |value: &'d Value| value.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
        self.each("properties").flat_map(of).take(NAMES_MAX).collect()
    }

    /// The members that must be there, whatever else is chosen.
    pub(super) fn required(&self) -> BTreeSet<&'d str> {
        let always = self.list.iter().filter(|part| part.join == Join::All);
        always.flat_map(required_of).collect()
    }

    /// The members that some choice requires.
    pub(super) fn required_somewhere(&self) -> BTreeSet<&'d str> {
        self.list.iter().flat_map(required_of).collect()
    }

    /// What a member may be.
    pub(super) fn member(&self, name: &str, reader: &Reader<'d>) -> Member<'d> {
        if reader.spend(self.list.len()).is_err() {
            return Member::Unsaid;
        }
        let mut schemas = Vec::new();
        for part in &self.list {
            if let Some(schema) = part.map.get("properties").and_then(|members| members.get(name)) {
                schemas.push((schema, part.join));
            } else if let Some(schema @ Value::Object(open)) = part.map.get("additionalProperties")
                && !open.is_empty()
            {
                schemas.push((schema, part.join));
            }
        }
        match (schemas.is_empty(), self.is_open()) {
            (false, _) => Member::Described(together(schemas, reader)),
            (true, true) => Member::Unsaid,
            (true, false) => Member::Unknown,
        }
    }

    /// Every member with what it may be.
    pub(super) fn members(&self, reader: &Reader<'d>) -> BTreeMap<&'d str, Self> {
        let described = |name: &'d str| match self.member(name, reader) {
            Member::Described(parts) => Some((name, parts)),
            Member::Unknown | Member::Unsaid => None,
        };
        self.names().into_iter().filter_map(described).collect()
    }

    /// What an element may be.
    pub(super) fn items(&self, reader: &Reader<'d>) -> Self {
        let items =
            |part: &Part<'d>| Some((part.map.get("items").filter(|items| items.is_object())?, part.join));
        let mut found = together(self.list.iter().filter_map(items).collect(), reader);
        if self.is_empty() {
            found.incomplete |= self.incomplete;
        }
        found
    }

    /// Whether members may be there that are not described.
    pub(super) fn is_open(&self) -> bool {
        let open = |part: &Part<'d>| {
            let free = match part.map.get("additionalProperties") {
                Some(Value::Bool(free)) => *free,
                Some(Value::Object(schema)) => schema.is_empty(),
                _ => false,
            };
            free || part.map.contains_key("patternProperties")
        };
        let bare = self.list.iter().all(|part| !part.map.contains_key("properties"));
        let objects = self.types();
        let may_be_object = objects.is_empty() || objects.contains("object");
        self.incomplete || self.anything || (bare && may_be_object) || self.list.iter().any(open)
    }

    /// The values that are listed, where every part that lists none leaves it to one that does.
    pub(super) fn listed(&self) -> Option<Vec<&'d Value>> {
        let lists = |part: &Part<'d>| -> Option<Vec<&'d Value>> {
            match (part.map.get("enum").and_then(Value::as_array), part.map.get("const")) {
                (Some(list), _) => Some(list.iter().collect()),
                (None, Some(only)) => Some(vec![only]),
                (None, None) => None,
            }
        };
        let always = self.list.iter().filter(|part| part.join == Join::All).find_map(lists);
        if always.is_some() {
            return always;
        }
        let choices = self.list.iter().filter(|part| part.join == Join::Choice && is_scalar_part(part.map));
        let mut all = Vec::new();
        for part in choices {
            all.extend(lists(part)?);
        }
        (!all.is_empty()).then_some(all)
    }
}

/// What schemas say together. Of several, those of choices are choices; one alone is what there is.
fn together<'d>(schemas: Vec<(&'d Value, Join)>, reader: &Reader<'d>) -> Parts<'d> {
    let mut found = Parts::default();
    let alone = schemas.len() == 1;
    for (schema, join) in schemas {
        reader.add_parts(schema, if alone { Join::All } else { join }, &mut found);
    }
    found
}

/// A part that combines others says nothing of its own.
fn is_scalar_part(map: &Map<String, Value>) -> bool {
    !["allOf", "anyOf", "oneOf"].iter().any(|word| map.contains_key(*word))
        || map.contains_key("enum")
        || map.contains_key("type")
}

fn required_of<'d>(part: &Part<'d>) -> impl Iterator<Item = &'d str> {
    part.map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The types that a schema names, or that its other words let conclude.
fn types_of(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("type") {
        Some(Value::String(one)) => return vec![one],
        Some(Value::Array(several)) => return several.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    if map.contains_key("properties") {
        return vec!["object"];
    }
    if map.contains_key("items") {
        return vec!["array"];
    }
    let only = map.get("const").map(std::slice::from_ref);
    let listed = map.get("enum").and_then(Value::as_array).map(Vec::as_slice).or(only).unwrap_or_default();
    listed.iter().map(type_of).collect()
}

/// The type of a value, as a schema names it.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
