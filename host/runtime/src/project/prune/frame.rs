//! An open array or object that is looked into, and what has been kept of it.

use super::super::Tree;
use super::plan::{Keep, Place};

/// One of the open ones.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) place: Place,
    pub(super) kind: Kind,
}

/// What is kept so far.
#[derive(Debug)]
pub(super) enum Kind {
    /// Members, and the key of the one at hand.
    Object { members: Vec<(String, Tree)>, key: String },
    /// Elements. `next` is the place of the one at hand, `odd` whether a stand-in is among them.
    Array { elements: Vec<Tree>, next: u64, odd: bool },
}

/// What came of a value.
#[derive(Debug)]
pub(super) enum Done {
    /// Nothing of it is looked at.
    Dropped,
    /// It is kept.
    Kept(Tree),
    /// Only its kind is looked at.
    StandIn(Tree),
}

impl Frame {
    pub(super) fn object(place: Place, wanted: usize) -> Self {
        Self { place, kind: Kind::Object { members: Vec::with_capacity(wanted), key: String::new() } }
    }

    pub(super) fn array(place: Place) -> Self {
        Self { place, kind: Kind::Array { elements: Vec::new(), next: 0, odd: false } }
    }

    /// What is kept of the next element. `keep` is this frame's.
    pub(super) fn element(&self, keep: &Keep) -> Option<Place> {
        match &self.kind {
            Kind::Object { .. } => None,
            Kind::Array { next, .. } => {
                let single = keep.indices.iter().find(|(index, _)| index == next);
                single.map(|(_, place)| *place).or(keep.each)
            }
        }
    }

    /// Puts a value in, and says whether it is held now.
    pub(super) fn put(&mut self, value: Done, keep: &Keep) -> bool {
        match &mut self.kind {
            Kind::Object { members, key } => match value {
                Done::Dropped => false,
                Done::Kept(tree) | Done::StandIn(tree) => {
                    members.push((std::mem::take(key), tree));
                    true
                }
            },
            Kind::Array { elements, next, odd } => {
                let index = *next;
                *next = index.saturating_add(1);
                // Only where single places are looked at does it matter where an element stands.
                let last = keep.indices.last().map(|(last, _)| *last);
                let tree = match (value, last) {
                    (Done::Kept(tree), _) | (Done::StandIn(tree), Some(_)) => tree,
                    (Done::StandIn(tree), None) if !*odd => {
                        *odd = true;
                        tree
                    }
                    (Done::Dropped, Some(last)) if index < last => Tree::Null,
                    (Done::StandIn(_) | Done::Dropped, _) => return false,
                };
                elements.push(tree);
                true
            }
        }
    }

    /// The array or object as far as it is kept.
    pub(super) fn into_tree(self) -> Tree {
        match self.kind {
            Kind::Object { members, .. } => Tree::Object(members),
            Kind::Array { elements, .. } => Tree::Array(elements),
        }
    }
}
