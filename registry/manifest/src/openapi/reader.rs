//! Looks into a description: follows references inside the document and lays combined schemas side by side.
//!
//! Refuses a reference that leaves the document, and says which. INVARIANT: each look takes from a budget of the operation
//! and one of the whole description, so that neither cycles nor combinations take long; what was not looked at is said
//! to be incomplete, never absent. RFC 6901; OpenAPI 3.1, section 4.8.23.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::parts::{Join, Part, Parts};

/// Most references that lead to each other.
const HOPS_MAX: usize = 32;
/// How deep combinations (`allOf`, `anyOf`, `oneOf`) are followed.
const COMBINED_MAX: usize = 32;
/// Most schemas that one schema may stand for.
const PARTS_MAX: usize = 256;
/// Most looks for one operation.
const OPERATION_BUDGET: u32 = 100_000;
/// Most looks for one description.
const WHOLE_BUDGET: u32 = 20_000_000;

/// Why a reference was not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RefTrouble {
    /// It leads out of the document.
    Remote(String),
    /// It leads nowhere in the document, or round and round.
    Nowhere(String),
    /// There is too much to look at.
    Budget,
}

impl RefTrouble {
    /// A sentence on it, with the reference in visible form.
    pub(super) fn says(&self) -> String {
        match self {
            Self::Remote(name) => {
                format!("the reference `{}` leads out of the file", crate::finding::quoted(name))
            }
            Self::Nowhere(name) => format!("the reference `{}` leads nowhere", crate::finding::quoted(name)),
            Self::Budget => "its schemas are too many to look at".to_owned(),
        }
    }
}

/// A description that is looked into.
pub(super) struct Reader<'d> {
    root: &'d Value,
    left: Cell<u32>,
    whole: Cell<u32>,
    trouble: RefCell<Option<RefTrouble>>,
}

impl<'d> Reader<'d> {
    pub(super) fn new(root: &'d Value) -> Self {
        let (left, whole) = (Cell::new(OPERATION_BUDGET), Cell::new(WHOLE_BUDGET));
        Self { root, left, whole, trouble: RefCell::new(None) }
    }

    /// Begins with another operation: it has a budget of its own.
    pub(super) fn begin(&self) {
        self.left.set(OPERATION_BUDGET);
        self.trouble.replace(None);
    }

    /// The first reference of this operation that could not be followed.
    pub(super) fn trouble(&self) -> Option<RefTrouble> {
        self.trouble.borrow().clone()
    }

    /// Takes so many looks from the budget.
    pub(super) fn spend(&self, looks: usize) -> Result<(), RefTrouble> {
        let looks = u32::try_from(looks).unwrap_or(u32::MAX);
        let (left, whole) = (self.left.get().checked_sub(looks), self.whole.get().checked_sub(looks));
        let (Some(left), Some(whole)) = (left, whole) else { return Err(self.note(RefTrouble::Budget)) };
        self.left.set(left);
        self.whole.set(whole);
        Ok(())
    }

    fn note(&self, trouble: RefTrouble) -> RefTrouble {
        self.trouble.borrow_mut().get_or_insert_with(|| trouble.clone());
        trouble
    }

    /// What a node stands for once its references are followed.
    pub(super) fn follow(&self, node: &'d Value) -> Result<&'d Value, RefTrouble> {
        let mut node = node;
        for _hop in 0..=HOPS_MAX {
            self.spend(1)?;
            let Some(reference) = node.get("$ref").and_then(Value::as_str) else { return Ok(node) };
            let nowhere = || RefTrouble::Nowhere(reference.to_owned());
            let Some(fragment) = reference.strip_prefix('#') else {
                return Err(self.note(RefTrouble::Remote(reference.to_owned())));
            };
            node = self.root.pointer(&decoded(fragment)).ok_or_else(nowhere).map_err(|it| self.note(it))?;
        }
        let last = node.get("$ref").and_then(Value::as_str).unwrap_or_default();
        Err(self.note(RefTrouble::Nowhere(last.to_owned())))
    }

    /// The same of an object; `None` where it is none.
    pub(super) fn object(&self, node: &'d Value) -> Result<Option<&'d Map<String, Value>>, RefTrouble> {
        self.follow(node).map(Value::as_object)
    }

    /// Every schema that a schema may stand for.
    pub(super) fn parts(&self, schema: &'d Value) -> Parts<'d> {
        let mut parts = Parts::default();
        self.add_parts(schema, Join::All, &mut parts);
        parts
    }

    /// The same, beside what is there already.
    pub(super) fn add_parts(&self, schema: &'d Value, join: Join, parts: &mut Parts<'d>) {
        let mut seen: HashSet<*const Value> =
            parts.list.iter().map(|part| std::ptr::from_ref(part.schema)).collect();
        self.gather(schema, join, 0, &mut seen, parts);
    }

    fn gather(
        &self,
        schema: &'d Value,
        join: Join,
        depth: usize,
        seen: &mut HashSet<*const Value>,
        parts: &mut Parts<'d>,
    ) {
        let Ok(schema) = self.follow(schema) else {
            parts.incomplete = true;
            return;
        };
        if !seen.insert(std::ptr::from_ref(schema)) {
            return;
        }
        if depth > COMBINED_MAX || parts.list.len() >= PARTS_MAX {
            parts.incomplete = true;
            self.note(RefTrouble::Budget);
            return;
        }
        let Some(map) = schema.as_object() else {
            // `true` takes anything, and so does what is no schema.
            parts.anything |= schema != &Value::Bool(false);
            return;
        };
        parts.list.push(Part { schema, map, join });
        for word in ["allOf", "anyOf", "oneOf"] {
            let Some(list) = map.get(word).and_then(Value::as_array) else { continue };
            let choices = list.iter().filter(|one| !is_null(one)).count();
            let join = if word == "allOf" || choices < 2 { join } else { Join::Choice };
            if choices < list.len() {
                parts.nullable = true;
            }
            for one in list.iter().filter(|one| !is_null(one)) {
                self.gather(one, join, depth.saturating_add(1), seen, parts);
            }
        }
    }
}

/// A schema that takes `null` alone.
fn is_null(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

/// A fragment is percent-encoded (RFC 6901, section 6).
fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let digit =
        |byte: Option<&u8>| char::from(*byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes = fragment.as_bytes();
    let mut found = Vec::with_capacity(bytes.len());
    let mut at = 0_usize;
    while let Some(byte) = bytes.get(at) {
        let (high, low) = (digit(bytes.get(at.saturating_add(1))), digit(bytes.get(at.saturating_add(2))));
        if let (b'%', Some(high), Some(low)) = (byte, high, low) {
            found.push(high << 4 | low);
            at = at.saturating_add(3);
        } else {
            found.push(*byte);
            at = at.saturating_add(1);
        }
    }
    String::from_utf8(found).map_or(Cow::Borrowed(fragment), Cow::Owned)
}
