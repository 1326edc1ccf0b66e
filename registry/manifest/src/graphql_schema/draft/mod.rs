//! A manifest drafted from a schema: an op for each field of the query and mutation types.
//!
//! What the schema does not say (host, path, how a key is put in) is given. Refuses an operation rather than draft an op
//! that could not be sent. INVARIANT: every document that comes out is valid by the schema, and the manifest is taken by
//! [`crate::read`]. Issue 6, point 7.

mod args;
mod input;
mod op;
mod pages;
mod select;
mod service;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

pub use self::service::{Endpoint, EndpointError, Service};
use super::Schema;
use super::schema::deprecation;
use crate::diagnostic::{Diagnostic, Severity};
use crate::draft::{Draft, Note, Refused, RefusedReason, text, words};
use crate::finding::quoted;
use crate::ids::OpId;
use crate::json::SIZE_MAX;
use crate::parse::OPS_MAX;

/// Room for what stands around the ops, in bytes.
const AROUND: usize = 16 << 10;

/// Which operations are drafted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'w> {
    /// All that are not deprecated, as far as a manifest has room.
    All,
    /// The fields of the query and mutation types that have these names.
    Named(&'w [String]),
}

/// Why nothing was drafted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// No operation could be drafted.
    #[error("none of {} operations could be drafted: look at why each was refused, or name others", .0.len())]
    Nothing(Vec<Refused>),
    /// What was given beside the schema is not taken.
    #[error("`{pointer}` of the manifest is not taken: {message}")]
    Service {
        /// Where, as a JSON Pointer into the manifest.
        pointer: String,
        /// What is wrong.
        message: String,
    },
}

/// Whether an operation looks or changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Query,
    Mutation,
}

/// Drafts a manifest. Each op is a guess that a person must read: `notes` says what to decide.
pub fn draft(schema: &Schema, service: &Service<'_>, wanted: Wanted<'_>) -> Result<Draft, DraftError> {
    let mut drafting = Drafting {
        ops: BTreeMap::new(),
        order: Vec::new(),
        bytes: 0,
        refused: Vec::new(),
        names: BTreeSet::new(),
    };
    drafting.unknown(schema, wanted);
    for (kind, root) in [(Kind::Query, schema.query()), (Kind::Mutation, schema.mutation())] {
        for field in root.into_iter().flat_map(|root| &root.fields) {
            let is_named = match wanted {
                Wanted::All => false,
                Wanted::Named(names) if names.contains(&field.name) => true,
                Wanted::Named(_) => continue,
            };
            if let Some(reason) = deprecation(&field.directives).filter(|_| !is_named) {
                let message = format!("it is deprecated: {}", quoted(reason));
                drafting.refuse(&field.name, RefusedReason::Deprecated, message);
                continue;
            }
            match op::draft(schema, service, kind, field) {
                Ok(op) => drafting.take(service, &field.name, op),
                Err((reason, message)) => drafting.refuse(&field.name, reason, message),
            }
        }
    }
    drafting.finish(service)
}

/// What has been drafted so far.
struct Drafting {
    ops: BTreeMap<OpId, Drafted>,
    order: Vec<OpId>,
    bytes: usize,
    refused: Vec<Refused>,
    names: BTreeSet<String>,
}

/// An op, and what to say of it.
struct Drafted {
    operation: String,
    op: Value,
    /// Pointers start below the op.
    notes: Vec<(&'static str, String)>,
}

impl Drafting {
    fn refuse(&mut self, operation: &str, reason: RefusedReason, message: impl Into<String>) {
        self.refused.push(Refused::new(quoted(operation), reason, message));
    }

    /// Refuses the names that neither type has.
    fn unknown(&mut self, schema: &Schema, wanted: Wanted<'_>) {
        let Wanted::Named(names) = wanted else { return };
        let known: BTreeSet<&str> = [schema.query(), schema.mutation()]
            .into_iter()
            .flatten()
            .flat_map(|root| &root.fields)
            .map(|field| field.name.as_str())
            .collect();
        for name in names.iter().filter(|name| !known.contains(name.as_str())) {
            self.refuse(
                name,
                RefusedReason::Unknown,
                "neither the query nor the mutation type has such a field",
            );
        }
    }

    fn take(&mut self, service: &Service<'_>, operation: &str, op: (Value, Vec<(&'static str, String)>)) {
        let (op, notes) = op;
        let most = service.op_name_max();
        let name = words::snake(&words::words(operation), most, "op");
        let name = words::unused(name, most, |one| self.names.contains(one));
        let Some((name, id)) = name.and_then(|name| OpId::parse(&name).ok().map(|id| (name, id))) else {
            self.refuse(operation, RefusedReason::NotTaken, "no name is left for it");
            return;
        };
        if self.ops.len() >= OPS_MAX {
            let message =
                format!("a manifest has at most {OPS_MAX} ops: name the operations that are wanted");
            self.refuse(operation, RefusedReason::TooManyOps, message);
            return;
        }
        let bytes = text(&json!({ "ops": { name.as_str(): op } })).len();
        if self.bytes.saturating_add(bytes) > SIZE_MAX.saturating_sub(AROUND) {
            let message = "the file has no room for it: name the operations that are wanted";
            self.refuse(operation, RefusedReason::TooLarge, message);
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        self.names.insert(name);
        self.order.push(id.clone());
        self.ops.insert(id, Drafted { operation: operation.to_owned(), op, notes });
    }

    /// Puts the manifest together, and takes out what the reader does not take.
    fn finish(mut self, service: &Service<'_>) -> Result<Draft, DraftError> {
        loop {
            if self.ops.is_empty() {
                return Err(DraftError::Nothing(self.refused));
            }
            let mut ops = Map::new();
            for (id, drafted) in &self.ops {
                ops.insert(id.to_string(), drafted.op.clone());
            }
            let manifest = text(&service.manifest(&ops));
            let reading = crate::read(manifest.as_bytes());
            let faults = reading.diagnostics.into_iter().filter(|one| one.severity() == Severity::Error);
            let faults: Vec<Diagnostic> = faults.collect();
            if faults.is_empty() {
                return Ok(self.drafted(manifest));
            }
            self.drop_faulty(faults)?;
        }
    }

    /// Refuses the ops that have faults. INVARIANT: at least one goes, or it is an error.
    fn drop_faulty(&mut self, faults: Vec<Diagnostic>) -> Result<(), DraftError> {
        for fault in faults {
            let name = fault.pointer.strip_prefix("/ops/").and_then(|rest| rest.split('/').next());
            let Some(id) = name.and_then(|name| OpId::parse(name).ok()) else {
                return Err(DraftError::Service { pointer: fault.pointer, message: fault.message });
            };
            if let Some(drafted) = self.ops.remove(&id) {
                self.order.retain(|one| *one != id);
                self.refuse(&drafted.operation, RefusedReason::NotTaken, fault.message);
            }
        }
        Ok(())
    }

    fn drafted(self, manifest: String) -> Draft {
        let mut notes = service::notes();
        for id in &self.order {
            for (below, message) in self.ops.get(id).into_iter().flat_map(|drafted| &drafted.notes) {
                notes.push(Note::new(Some(id), format!("/ops/{id}{below}"), message.as_str()));
            }
        }
        Draft { manifest, notes, refused: self.refused }
    }
}
