//! The ids of drafted ops.
//!
//! Refuses an operation for which no id is left. INVARIANT: each id is given out once, and with the service before it is no
//! longer than a tool's name.

use std::collections::BTreeSet;

use super::sketch::No;
use crate::draft::RefusedReason as Reason;
use crate::draft::words::{snake, unused, words};
use crate::ids::{OpId, ServiceId, TOOL_NAME_MAX};
use crate::openapi::description::Operation;

/// Longest id of an op, in bytes.
const OP_MAX: usize = 40;

/// The ids that have been given out.
pub(super) struct Names {
    most: usize,
    used: BTreeSet<String>,
}

impl Names {
    pub(super) fn new(service: &ServiceId) -> Self {
        let room = TOOL_NAME_MAX.saturating_sub(service.as_str().len()).saturating_sub(1);
        Self { most: room.min(OP_MAX), used: BTreeSet::new() }
    }

    /// An id of its own: from the `operationId`, or from method and path.
    pub(super) fn name(&mut self, operation: &Operation<'_>) -> Result<OpId, No> {
        let said = operation.id().map(words).filter(|words| !words.is_empty());
        let made = || {
            let fixed = operation.path.split('/').filter(|part| !part.contains('{'));
            std::iter::once(operation.method.to_ascii_lowercase()).chain(fixed.flat_map(words)).collect()
        };
        let words: Vec<String> = said.unwrap_or_else(made);
        let stem = snake(&words, self.most, "op_");
        let name = unused(stem, self.most, |one| self.used.contains(one));
        let id = name.and_then(|name| OpId::parse(&name).ok());
        let id = id.ok_or_else(|| No::new(Reason::NotTaken, "no id is left for it"))?;
        self.used.insert(id.as_str().to_owned());
        Ok(id)
    }
}
