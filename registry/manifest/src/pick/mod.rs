//! Which fields come back: paths parsed to a tree that one pass over a document can follow.
//!
//! Paths are RFC 9535 text, parsed by a library, and then held to the few selectors whose effect a reviewer can
//! say out loud. DESIGN, "Pick".

mod condition;
mod path;
mod place;
mod projection;
mod tree;

#[cfg(test)]
mod tests;

pub use condition::{Condition, SingularPath, SingularStep, Test};
pub(crate) use path::{PathFault, parse_singular};
pub(crate) use projection::{FIELDS_MAX, PickFault, PickFaultKind, PickPart, parse_projection};

/// What comes back from an op.
#[derive(Debug)]
pub enum Pick {
    /// `"none"`: the answer carries nothing.
    None,
    /// These fields.
    Fields(Projection),
}

/// A root and the fields below it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Projection {
    /// From the top of the document to the root; empty for `$`.
    pub root: Vec<Step>,
    /// The fields as written, for people, in the manifest's order.
    pub fields: Vec<Field>,
    /// The same fields as one tree.
    pub tree: Node,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// The member of this name.
    Name(String),
    /// The element at this place, from 0 to 999.
    Index(u64),
    /// Every element of an array (at the end of a field: or every scalar member of an object).
    Each,
}

/// One field of a pick.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The path as written, which notes and diagnostics use.
    pub text: String,
    /// The steps below the root.
    pub steps: Vec<Step>,
    /// The flat name, where `as` gives one.
    pub alias: Option<String>,
}

/// A place in the tree of fields.
///
/// A place with no leaf only leads on. A place with a leaf keeps what stands there, if it is a scalar or an array of
/// scalars. Nested output has the names of the way to it; an alias puts the value into the projected root itself.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Node {
    /// Members to look into, in order of their names.
    pub names: Vec<(String, Self)>,
    /// Elements to look into, in order of their places. Only aliased leaves stand below one.
    pub indices: Vec<(u64, Self)>,
    /// What to look into in every element of an array. Where it holds a leaf, scalar members of an object are kept too.
    pub each: Option<Box<Self>>,
    /// What is kept of the value here, each an index into [`Projection::fields`]: at most one, since no two fields of a
    /// pick have the same steps.
    pub leaves: Vec<usize>,
}
