//! What a manifest picks out of an answer, and nothing else.
//!
//! Written to be read and believed: it holds the whole answer in memory and follows the shape rules one by one. Refuses an
//! answer whose root is not there, or in which a picked name stands twice.
//!
//! INVARIANT: every key and every scalar of a result stands in the answer, or is a key that the manifest gives with `as`;
//! nothing outside the picked fields does. Notes are texts of the manifest, never of the answer. DESIGN, "Pick".

mod find;
mod plan;
pub mod prune;
mod tree;
mod walk;

use std::collections::BTreeSet;
use std::slice::from_mut;

use pinhole_manifest::pick::{Projection, Step};

pub use self::find::{DuplicateMember, find, find_at, holds};
pub use self::tree::{DEPTH_MAX, Digits, DocumentError, Key, Tree};

use self::find::{Twice, member_mut};
use self::plan::Plan;
use self::walk::Walk;

/// What was picked, and what was left out of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Projected {
    /// The picked value.
    pub value: Tree,
    /// The fields, or the root, as the manifest writes them, of which something was left out because it was not of the
    /// kind that the field takes.
    pub notes: BTreeSet<String>,
}

/// Why nothing could be picked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The root of the pick is not in the answer, or is neither an object, an array nor `null`.
    #[error("the answer has nothing to pick from at `{root}`")]
    RootAbsent {
        /// The root, in normal form.
        root: String,
    },
    /// A picked name stands twice in one object.
    #[error("a member on the way of `{field}` stands twice in its object")]
    DuplicateKey {
        /// The field as the manifest writes it, or the root in normal form.
        field: String,
    },
}

/// Picks the fields.
///
/// * An object gives its picked members under their names, in the manifest's order, and is `{}` if it has none of them.
/// * Absent gives absent. A `null`, at the end of a field or on the way, gives `null`. Where a member, a place or elements
///   are wanted of something else, the field is absent.
/// * A leaf is a scalar or an array of scalars. Anything else there is left out and noted.
/// * `[*]` on the way projects each element of an array. A `null` element stays; one of another kind than the next step
///   takes is left out and noted. At the end of a field it takes an array of scalars, or the scalar members of an object
///   under their names (others are left out and noted; a name that stands twice is refused).
/// * `as` puts the value flat into the root's object, under its own name. With `[*]` on the way it gives one array of all
///   that was found, in order, however many `[*]` there are.
/// * A root that is an array gives an array, `null` gives `null`. A root with `[*]` gives one array of all that it finds,
///   the elements of found arrays one by one. Elements other than objects and `null` are left out and the root noted.
///
/// What is picked is moved out of the document, not copied.
pub fn project(mut document: Tree, projection: &Projection) -> Result<Projected, ProjectError> {
    // The root in its one spelling.
    let root = projection.to_string();
    let plan = Plan::new(&projection.tree, &projection.fields);
    let mut walk = Walk::new(&projection.fields, plan.as_ref());
    let mut found = Found::default();
    found
        .follow(&mut document, &projection.root)
        .map_err(|Twice| ProjectError::DuplicateKey { field: root.clone() })?;
    let mut odd = found.odd;
    let value = if projection.root.contains(&Step::Each) {
        let mut picked = Vec::new();
        for value in found.values {
            let elements = if let Tree::Array(elements) = value { elements } else { from_mut(value) };
            odd |= walk.elements(elements, &mut picked)?;
        }
        Tree::Array(picked)
    } else {
        match found.values.into_iter().next() {
            Some(Tree::Null) => Tree::Null,
            Some(object @ Tree::Object(_)) => walk.object(object)?,
            Some(Tree::Array(elements)) => {
                let mut picked = Vec::with_capacity(elements.len());
                odd |= walk.elements(elements, &mut picked)?;
                Tree::Array(picked)
            }
            Some(Tree::Bool(_) | Tree::Number(_) | Tree::String(_)) | None => {
                return Err(ProjectError::RootAbsent { root });
            }
        }
    };
    let mut notes = walk.into_notes();
    if odd {
        notes.insert(root);
    }
    Ok(Projected { value, notes })
}

/// What stands at a root.
#[derive(Default)]
struct Found<'t> {
    values: Vec<&'t mut Tree>,
    /// Whether a `[*]` met something that is there, but no array.
    odd: bool,
}

impl<'t> Found<'t> {
    fn follow(&mut self, here: &'t mut Tree, steps: &[Step]) -> Result<(), Twice> {
        let Some((step, rest)) = steps.split_first() else {
            self.values.push(here);
            return Ok(());
        };
        let next = match (step, here) {
            (Step::Name(name), Tree::Object(members)) => member_mut(members, name)?,
            (Step::Index(index), Tree::Array(elements)) => {
                usize::try_from(*index).ok().and_then(|index| elements.get_mut(index))
            }
            (Step::Each, Tree::Array(elements)) => {
                return elements.iter_mut().try_for_each(|element| self.follow(element, rest));
            }
            (Step::Each, other) => {
                self.odd |= *other != Tree::Null;
                None
            }
            _ => None,
        };
        next.map_or(Ok(()), |next| self.follow(next, rest))
    }
}

#[cfg(test)]
mod tests;
