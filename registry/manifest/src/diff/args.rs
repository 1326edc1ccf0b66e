//! What an op takes. DESIGN, "Manifest": args.
//!
//! Proven narrower is only what takes no value that was not taken before, and brings each that it takes into the same normal
//! form as before: keyword by keyword, so that what is proven of two steps is proven of both together.

use std::collections::BTreeSet;

use serde_json::Value;

use super::bounds;
use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::code;
use super::told::Told;
use crate::args::Shape;
use crate::model::{ArgKind, ArgsSchema};

/// A value's place in a schema: what normalising follows, and the keywords.
#[derive(Clone, Copy)]
pub(super) struct Spot<'s> {
    pub(super) shape: &'s Shape,
    pub(super) json: &'s Value,
}

impl<'s> Spot<'s> {
    pub(super) fn keyword(self, name: &str) -> Option<&'s Value> {
        self.json.get(name)
    }

    fn text(self, name: &str) -> Option<&'s str> {
        self.keyword(name)?.as_str()
    }

    fn member(self, name: &str) -> Option<Self> {
        Some(Self { shape: self.shape.members.get(name)?, json: self.json.get("properties")?.get(name)? })
    }

    fn items(self) -> Option<Self> {
        Some(Self { shape: self.shape.items()?, json: self.json.get("items")? })
    }
}

/// Compares the args of an op, which stand at `at`.
pub(super) fn compare(log: &mut Log, at: &At, old: &ArgsSchema, new: &ArgsSchema) {
    let old = Spot { shape: &old.shape, json: &old.json };
    let new = Spot { shape: &new.shape, json: &new.json };
    members(log, at, "", old, new);
}

fn members(log: &mut Log, at: &At, name: &str, old: Spot<'_>, new: Spot<'_>) {
    let at = at.name("properties");
    let names: BTreeSet<&str> = old.shape.names().chain(new.shape.names()).collect();
    for member in names {
        let at = at.name(member);
        let path = if name.is_empty() { member.to_owned() } else { format!("{name}.{member}") };
        match (old.member(member), new.member(member)) {
            (Some(before), Some(after)) => value(log, &at, &path, before, after),
            (None, Some(after)) => added(log, &at, &path, after),
            (Some(before), None) => removed(log, &at, &path, before),
            (None, None) => {}
        }
    }
}

fn added(log: &mut Log, at: &At, name: &str, new: Spot<'_>) {
    let says = format!("an agent can say {} ({})", code(name), kind(new.shape.kind()));
    log.now(Kind::ArgAdded, Direction::Widens, at, says).between(None::<&str>, new.text("description"));
}

/// A call without an arg that could be left out is one that was taken before, and means what it meant.
fn removed(log: &mut Log, at: &At, name: &str, old: Spot<'_>) {
    let (direction, says) = if old.shape.is_required() || old.shape.default().is_some() {
        (Direction::Unproven, format!("every call had {}, and now none has", code(name)))
    } else {
        (Direction::Narrows, format!("an agent can no longer say {}", code(name)))
    };
    log.was(Kind::ArgRemoved, direction, at, says).between(old.text("description"), None::<&str>);
}

fn value(log: &mut Log, at: &At, name: &str, old: Spot<'_>, new: Spot<'_>) {
    let told = Told {
        kind: Kind::Text,
        at: at.name("description"),
        what: &format!("what {} is said to be for", code(name)),
    };
    told.compare(log, old.text("description"), new.text("description"));
    required(log, at, name, old, new);
    default(log, at, name, old, new);
    if !same_kind(log, at, name, old.shape.kind(), new.shape.kind()) {
        return;
    }
    choices(log, at, name, old.keyword("enum"), new.keyword("enum"));
    rule(log, &at.name("pattern"), name, Kind::ArgPattern, (old.text("pattern"), new.text("pattern")));
    rule(log, &at.name("format"), name, Kind::ArgFormat, (old.text("format"), new.text("format")));
    bounds::compare(log, at, name, old, new);
    match (old.items(), new.items()) {
        (Some(before), Some(after)) => value(log, &at.name("items"), &format!("{name}[]"), before, after),
        _ => members(log, at, name, old, new),
    }
}

fn required(log: &mut Log, at: &At, name: &str, old: Spot<'_>, new: Spot<'_>) {
    match (old.shape.is_required(), new.shape.is_required()) {
        (true, false) => {
            let says = format!("an agent can leave {} out", code(name));
            log.now(Kind::ArgRequired, Direction::Widens, at, says)
                .between(Some("required"), Some("optional"));
        }
        (false, true) => {
            let says = format!("an agent can no longer leave {} out", code(name));
            log.now(Kind::ArgRequired, Direction::Narrows, at, says)
                .between(Some("optional"), Some("required"));
        }
        (true, true) | (false, false) => {}
    }
}

fn default(log: &mut Log, at: &At, name: &str, old: Spot<'_>, new: Spot<'_>) {
    let (before, after) = (old.shape.default(), new.shape.default());
    // What must be there has no use for one: each call that is taken says the value itself.
    if before == after || new.shape.is_required() {
        return;
    }
    let at = at.name("default");
    let note = if let Some(after) = after {
        let says = format!("a call that leaves {} out means {}", code(name), code(&after.to_string()));
        log.now(Kind::ArgDefault, Direction::Unproven, &at, says)
    } else {
        let says = format!("a call that leaves {} out says nothing of it", code(name));
        log.was(Kind::ArgDefault, Direction::Unproven, &at, says)
    };
    note.between(before.map(Value::to_string), after.map(Value::to_string));
}

/// Whether what is said of the one kind can be held against what is said of the other.
fn same_kind(log: &mut Log, at: &At, name: &str, old: ArgKind, new: ArgKind) -> bool {
    if old == new {
        return true;
    }
    let (direction, says) = match (old, new) {
        (ArgKind::Number, ArgKind::Integer) => {
            (Direction::Narrows, format!("{} takes whole numbers alone", code(name)))
        }
        (ArgKind::Integer, ArgKind::Number) => {
            (Direction::Widens, format!("{} takes numbers that are not whole too", code(name)))
        }
        _ => (Direction::Unproven, format!("{} is {} now", code(name), kind(new))),
    };
    log.now(Kind::ArgType, direction, &at.name("type"), says).between(Some(kind(old)), Some(kind(new)));
    direction != Direction::Unproven
}

fn kind(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::String => "a text",
        ArgKind::Integer => "a whole number",
        ArgKind::Number => "a number",
        ArgKind::Boolean => "a truth value",
        ArgKind::Array => "a list",
        ArgKind::Object => "an object",
    }
}

fn choices(log: &mut Log, at: &At, name: &str, old: Option<&Value>, new: Option<&Value>) {
    let set = |list: Option<&Value>| -> Option<BTreeSet<String>> {
        let text = |one: &Value| {
            crate::args::normal(one).map_or_else(|| one.to_string(), |number| number.to_string())
        };
        Some(list?.as_array()?.iter().map(text).collect())
    };
    let (before, after) = (set(old), set(new));
    if before == after {
        return;
    }
    let at = at.name("enum");
    let shown = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
    let note = match (&before, &after) {
        (_, None) => {
            log.was(Kind::ArgChoice, Direction::Widens, &at, format!("{} takes any value", code(name)))
        }
        (Some(before), Some(after)) if !after.is_subset(before) => {
            let more: Vec<&str> = after.difference(before).map(String::as_str).collect();
            let says = format!("{} takes {} too", code(name), code(&more.join(", ")));
            log.now(Kind::ArgChoice, Direction::Widens, &at, says)
        }
        (_, Some(_)) => {
            log.now(Kind::ArgChoice, Direction::Narrows, &at, format!("{} takes fewer values", code(name)))
        }
    };
    note.between(before.as_ref().map(shown), after.as_ref().map(shown));
}

/// A pattern or a format, which are either the same, or there and not there, or not to be compared.
fn rule(log: &mut Log, at: &At, name: &str, kind: Kind, (old, new): (Option<&str>, Option<&str>)) {
    let name = code(name);
    let note = match (old, new) {
        (before, after) if before == after => return,
        (None, Some(_)) => {
            log.now(kind, Direction::Narrows, at, format!("{name} takes only texts of one form"))
        }
        (_, Some(_)) => log.now(kind, Direction::Unproven, at, format!("{name} takes texts of another form")),
        (_, None) => log.was(kind, Direction::Widens, at, format!("{name} takes texts of any form")),
    };
    note.between(old, new);
}
