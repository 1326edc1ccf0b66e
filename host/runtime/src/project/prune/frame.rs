//! An open array or object that is looked into, and what has been kept of it.

use super::super::{Key, Tree};
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
    Object { members: Vec<(Key, Tree)>, key: Key },
    /// Elements. `next` is the place of the one at hand, `odd` whether a stand-in is among them.
    Array { elements: Vec<Tree>, next: u64, odd: bool },
}

impl Frame {
    pub(super) fn object(place: Place, wanted: usize) -> Self {
        Self { place, kind: Kind::Object { members: Vec::with_capacity(wanted), key: Key::default() } }
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

    /// Puts in a value that is kept.
    #[inline]
    pub(super) fn keep(&mut self, tree: Tree) {
        match &mut self.kind {
            Kind::Object { members, key } => members.push((std::mem::take(key), tree)),
            Kind::Array { elements, next, .. } => {
                *next = next.saturating_add(1);
                elements.push(tree);
            }
        }
    }

    /// Puts in what stands for a value of which only its kind is looked at, and says whether it is held. `keep` is this
    /// frame's. Only where single places are looked at does it matter where an element stands.
    pub(super) fn stand_in(&mut self, tree: Tree, keep: &Keep) -> bool {
        match &mut self.kind {
            Kind::Array { next, odd, .. } if keep.indices.is_empty() && *odd => {
                *next = next.saturating_add(1);
                false
            }
            Kind::Array { odd, .. } => {
                *odd = true;
                self.keep(tree);
                true
            }
            Kind::Object { .. } => {
                self.keep(tree);
                true
            }
        }
    }

    /// Passes over a value that nobody looks at, and says whether anything is held in its place.
    #[inline]
    pub(super) fn pass(&mut self, keep: &Keep) -> bool {
        match &mut self.kind {
            Kind::Object { .. } => false,
            Kind::Array { elements, next, .. } => {
                let index = *next;
                *next = index.saturating_add(1);
                let held = keep.indices.last().is_some_and(|(last, _)| index < *last);
                if held {
                    elements.push(Tree::Null);
                }
                held
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
