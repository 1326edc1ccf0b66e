//! One value of an answer, and whether it is what a manifest says it must be.
//!
//! Refuses a name on the way that stands twice in its object: which of the two is meant nobody can say, and other readers
//! may choose the other. DESIGN, "Pick": "Elsewhere".

use pinhole_manifest::pick::{Condition, SingularPath, SingularStep};
use serde_json::Value;

use super::{Key, Tree};

/// A looked-up name stands twice in one object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a member on the way of `{path}` stands twice in its object")]
pub struct DuplicateMember {
    /// The path, as the manifest has it.
    pub path: String,
}

/// The value at a path; `None` if nothing stands there.
pub fn find<'t>(document: &'t Tree, path: &SingularPath) -> Result<Option<&'t Tree>, DuplicateMember> {
    find_at(document, path.steps(), path.as_str())
}

/// The value at these steps, which `path` is the name of in an error.
pub fn find_at<'t>(
    document: &'t Tree,
    steps: &[SingularStep],
    path: &str,
) -> Result<Option<&'t Tree>, DuplicateMember> {
    let mut here = document;
    for step in steps {
        let next = match (step, here) {
            (SingularStep::Name(name), Tree::Object(members)) => {
                let found = member(members, name);
                found.map_err(|Twice| DuplicateMember { path: path.to_owned() })?
            }
            (SingularStep::Index(index), Tree::Array(elements)) => element(elements, *index),
            _ => None,
        };
        let Some(next) = next else { return Ok(None) };
        here = next;
    }
    Ok(Some(here))
}

/// Whether a condition holds of a document. An array or an object is there, but is equal to nothing.
pub fn holds(document: &Tree, condition: &Condition) -> Result<bool, DuplicateMember> {
    let found = find(document, &condition.path)?.map(comparable);
    Ok(condition.holds(found.as_ref()))
}

/// A scalar as a value; anything else as an array, which no scalar equals. So is a number that no `f64` holds.
fn comparable(tree: &Tree) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Number(digits) => serde_json::from_str(digits.as_str()).unwrap_or(Value::Array(Vec::new())),
        Tree::String(text) => Value::String(text.clone()),
        Tree::Array(_) | Tree::Object(_) => Value::Array(Vec::new()),
    }
}

/// A name stands twice in an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Twice;

/// The one member of a name.
pub(super) fn member<'t>(members: &'t [(Key, Tree)], name: &str) -> Result<Option<&'t Tree>, Twice> {
    let mut found = members.iter().filter(|(key, _)| key == name).map(|(_, value)| value);
    let first = found.next();
    if found.next().is_some() { Err(Twice) } else { Ok(first) }
}

/// The one member of a name, to be taken.
pub(super) fn member_mut<'t>(
    members: &'t mut [(Key, Tree)],
    name: &str,
) -> Result<Option<&'t mut Tree>, Twice> {
    let mut found = members.iter_mut().filter(|(key, _)| key == name).map(|(_, value)| value);
    let first = found.next();
    if found.next().is_some() { Err(Twice) } else { Ok(first) }
}

/// The element at a place.
pub(super) fn element(elements: &[Tree], index: u64) -> Option<&Tree> {
    usize::try_from(index).ok().and_then(|index| elements.get(index))
}
