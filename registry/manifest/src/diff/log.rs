//! Where the parts of a comparison write down what they find.

use super::change::{Change, Direction, Side};
use super::kind::Kind;
use crate::ids::OpId;
use crate::json;

/// The changes found so far, of a service or of one op.
#[derive(Debug, Default)]
pub(super) struct Log {
    op: Option<OpId>,
    changes: Vec<Change>,
}

impl Log {
    /// For the changes of one op.
    pub(super) fn of_op(op: &OpId) -> Self {
        Self { op: Some(op.clone()), changes: Vec::new() }
    }

    pub(super) fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.changes.extend(other.changes);
    }

    /// Writes a change of what is there now.
    pub(super) fn now(
        &mut self,
        kind: Kind,
        direction: Direction,
        at: &At,
        says: impl Into<String>,
    ) -> Note<'_> {
        self.note(kind, direction, Side::New, at, says.into())
    }

    /// Writes a change of what is no longer there.
    pub(super) fn was(
        &mut self,
        kind: Kind,
        direction: Direction,
        at: &At,
        says: impl Into<String>,
    ) -> Note<'_> {
        self.note(kind, direction, Side::Old, at, says.into())
    }

    fn note(&mut self, kind: Kind, direction: Direction, side: Side, at: &At, says: String) -> Note<'_> {
        let (op, pointer) = (self.op.clone(), at.0.clone());
        Note(self.changes.push_mut(Change {
            kind,
            direction,
            op,
            side,
            pointer,
            says,
            before: None,
            after: None,
        }))
    }
}

/// A change that was just written.
#[derive(Debug)]
pub(super) struct Note<'l>(&'l mut Change);

impl Note<'_> {
    /// What stood there and what stands there.
    pub(super) fn between<B: Into<String>, A: Into<String>>(self, before: Option<B>, after: Option<A>) {
        let (before, after) = (before.map(Into::into), after.map(Into::into));
        self.0.between(before.as_deref(), after.as_deref());
    }
}

/// The way from the top of a manifest to a value.
#[derive(Debug, Clone, Default)]
pub(super) struct At(String);

impl At {
    /// A way of plain names.
    pub(super) fn of(names: &[&str]) -> Self {
        Self(json::pointer(names))
    }

    /// One step further.
    pub(super) fn name(&self, name: &str) -> Self {
        Self(format!("{}{}", self.0, json::pointer(&[name])))
    }

    /// The last step, as the pointer has it.
    pub(super) fn last(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// One step further, into an array.
    pub(super) fn index(&self, index: usize) -> Self {
        self.name(&index.to_string())
    }
}
