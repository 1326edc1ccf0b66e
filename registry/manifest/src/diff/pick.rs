//! Which fields come back. DESIGN, "Pick".
//!
//! Proven narrower is only the same root with some of the same fields under the same names.

use super::change::Direction;
use super::kind::Kind;
use super::log::{At, Log};
use super::shown::code;
use crate::pick::{Field, Pick, Projection, Step};

pub(super) fn compare(log: &mut Log, at: &At, old: &Pick, new: &Pick) {
    match (old, new) {
        (Pick::None, Pick::None) => {}
        (Pick::None, Pick::Fields(after)) => {
            root(log, at, None, Some(after));
            fields(log, at, &[], &after.fields);
        }
        (Pick::Fields(before), Pick::None) => {
            let all: Vec<String> = before.fields.iter().map(ToString::to_string).collect();
            log.now(Kind::PickField, Direction::Narrows, at, "nothing of the answer comes back any more")
                .between(Some(all.join(", ")), Some("none"));
        }
        (Pick::Fields(before), Pick::Fields(after)) => {
            if before.root != after.root {
                root(log, at, Some(before), Some(after));
            }
            fields(log, at, &before.fields, &after.fields);
        }
    }
}

fn root(log: &mut Log, at: &At, old: Option<&Projection>, new: Option<&Projection>) {
    let shown = |projection: Option<&Projection>| projection.map(ToString::to_string);
    let root = shown(new).unwrap_or_default();
    let says = format!("the fields are taken from {} of the answer", code(&root));
    log.now(Kind::PickRoot, Direction::Unproven, &at.name("root"), says).between(shown(old), Some(root));
}

fn fields(log: &mut Log, at: &At, old: &[Field], new: &[Field]) {
    let at = at.name("fields");
    let same = |one: &Field, other: &Field| one.steps == other.steps && one.alias == other.alias;
    for (index, field) in new.iter().enumerate() {
        if old.iter().any(|known| same(known, field)) {
            continue;
        }
        let at = at.index(index);
        if let Some(known) = old.iter().find(|known| known.steps == field.steps) {
            let says = format!(
                "{} comes back as {}, and whoever reads that name takes it for something else",
                code(&field.to_string()),
                code(&name(field))
            );
            log.now(Kind::PickName, Direction::Unproven, &at, says)
                .between(Some(name(known)), Some(name(field)));
            continue;
        }
        let (direction, says) = if old.iter().any(|known| in_part(known, field)) {
            let says = format!(
                "an agent sees {} whatever it holds; before, only as one plain value among others",
                code(&field.to_string())
            );
            (Direction::Unproven, says)
        } else {
            (Direction::Widens, seen(field))
        };
        log.now(Kind::PickField, direction, &at, says).between(None::<&str>, Some(written(field)));
    }
    for (index, field) in old.iter().enumerate() {
        if !new.iter().any(|left| left.steps == field.steps) {
            let says = format!("an agent no longer sees {}", code(&field.to_string()));
            log.was(Kind::PickField, Direction::Narrows, &at.index(index), says)
                .between(Some(written(field)), None::<&str>);
        }
    }
}

/// What an agent sees that it did not.
fn seen(field: &Field) -> String {
    match field.steps.split_last() {
        Some((Step::Each, rest)) => {
            let of = Field { steps: rest.to_vec(), ..field.clone() };
            let of = if rest.is_empty() { "`$`".to_owned() } else { code(&of.to_string()) };
            format!("an agent sees every plain value in {of}, whatever its name")
        }
        _ => format!("an agent sees {}", code(&field.to_string())),
    }
}

/// Whether a `[*]` at the end of a known field took the plain values that a field takes.
fn in_part(known: &Field, field: &Field) -> bool {
    match (known.steps.split_last(), field.steps.split_last()) {
        (Some((Step::Each, of)), Some((Step::Name(_), within))) => of == within,
        _ => false,
    }
}

/// The name that it comes back under.
fn name(field: &Field) -> String {
    field.alias.clone().unwrap_or_else(|| field.to_string())
}

fn written(field: &Field) -> String {
    match &field.alias {
        Some(alias) => format!("{field} as {alias}"),
        None => field.to_string(),
    }
}
