//! The part of a schema that normalising follows: kinds, members, elements, defaults.

use std::collections::BTreeMap;

use serde_json::Value;

use super::limits::Limits;
use crate::model::ArgKind;

/// One value's place in a schema. INVARIANT: as deep as `DEPTH_MAX` at most, so that following it may recurse.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The kind of value.
    pub(super) kind: ArgKind,
    /// Whether its object must have it.
    pub(super) required: bool,
    /// How long it may be.
    pub(super) limits: Limits,
    /// In normal form.
    pub(super) default: Option<Value>,
    /// What an array holds.
    pub(super) items: Option<Box<Self>>,
    /// What an object holds.
    pub(crate) members: BTreeMap<String, Self>,
}

impl Shape {
    /// The names of an object's members, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// The kind of value.
    pub(crate) fn kind(&self) -> ArgKind {
        self.kind
    }

    /// Whether its object must have it.
    pub(crate) fn is_required(&self) -> bool {
        self.required
    }

    /// What stands in for it, in normal form.
    pub(crate) fn default(&self) -> Option<&Value> {
        self.default.as_ref()
    }

    /// Most characters of a text, or most elements of an array, whether the schema says so or not.
    pub(crate) fn most(&self) -> Option<u64> {
        self.limits.most()
    }

    /// What an array holds.
    pub(crate) fn items(&self) -> Option<&Self> {
        self.items.as_deref()
    }

    pub(super) fn new(kind: ArgKind) -> Self {
        Self {
            kind,
            required: false,
            limits: Limits::default(),
            default: None,
            items: None,
            members: BTreeMap::new(),
        }
    }
}
