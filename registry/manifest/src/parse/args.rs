//! The args of an op: hands the schema to the compiler and gives each of its faults a code. DESIGN, "Manifest": args.
//!
//! Refuses more patterns than a manifest needs before any is compiled. INVARIANT: what compiling the args of a manifest
//! takes is bounded by [`PATTERNS_MAX`] times the largest compiled pattern.

use super::reader::Value;
use crate::args::{SchemaFault, SchemaFaultKind};
use crate::diagnostic::Code;
use crate::json::Node;
use crate::model::ArgsSchema;

/// Most patterns in the args of all ops.
const PATTERNS_MAX: usize = 200;

/// Whether args are compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compiling {
    /// They are.
    On,
    /// The file does not load anyway, and compiling it could take long.
    Off,
}

/// Counts the patterns in the args of all ops; reports the first that is one too many.
pub(super) fn count_patterns(ops: &[(&str, Value<'_>)]) -> Compiling {
    let mut patterns = Patterns { left: PATTERNS_MAX, over: None };
    for (_, op) in ops {
        let args = op.child("args");
        if let Some(args) = args {
            patterns.count(&args);
        }
    }
    let Some(over) = patterns.over else { return Compiling::On };
    over.fault(Code::ArgsPatterns, "this is one pattern too many", "keep at most 200 in the whole manifest");
    Compiling::Off
}

struct Patterns<'a> {
    left: usize,
    over: Option<Value<'a>>,
}

impl<'a> Patterns<'a> {
    /// Follows a schema to wherever the compiler could find a pattern.
    fn count(&mut self, schema: &Value<'a>) {
        if let Some(pattern) = schema.child("pattern")
            && let Node::String(_) = pattern.node
        {
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => self.over = self.over.take().or(Some(pattern)),
            }
        }
        if let Some(items) = schema.child("items") {
            self.count(&items);
        }
        if let Some(properties) = schema.child("properties") {
            for member in properties.children() {
                self.count(&member);
            }
        }
    }
}

/// The compiled schema; without one an op takes nothing. `None` without a fault of its own when nothing is compiled: then
/// the number of patterns was one.
pub(super) fn args(value: Option<&Value<'_>>, compiling: Compiling) -> Option<ArgsSchema> {
    let Some(value) = value else {
        let nothing =
            serde_json::json!({ "type": "object", "additionalProperties": false, "properties": {} });
        return crate::args::compile(&nothing).ok();
    };
    value.object()?;
    if compiling == Compiling::Off {
        return None;
    }
    match crate::args::compile(&value.node.to_value()) {
        Ok(schema) => Some(schema),
        Err(faults) => {
            for SchemaFault { pointer, kind, message, help } in faults {
                value.faults.add_below(code(kind, &pointer), &value.at, &pointer, message, help);
            }
            None
        }
    }
}

fn code(kind: SchemaFaultKind, pointer: &str) -> Code {
    match kind {
        SchemaFaultKind::BadKeywordValue if pointer.ends_with("/description") => Code::ArgsDescription,
        SchemaFaultKind::OpenObject => Code::ArgsOpen,
        SchemaFaultKind::UnknownKeyword | SchemaFaultKind::MisplacedKeyword => Code::ArgsKeyword,
        SchemaFaultKind::NotAnObjectSchema | SchemaFaultKind::BadType => Code::ArgsType,
        SchemaFaultKind::BadKeywordValue => Code::ArgsValue,
        SchemaFaultKind::BadPattern => Code::ArgsPattern,
        SchemaFaultKind::UnknownFormat => Code::ArgsFormat,
        SchemaFaultKind::BadDefault => Code::ArgsDefault,
        SchemaFaultKind::RequiredUndeclared => Code::ArgsRequired,
        SchemaFaultKind::BadArgName => Code::ArgsName,
        SchemaFaultKind::NoDescription => Code::ArgsDescription,
        SchemaFaultKind::TooDeep | SchemaFaultKind::TooMany => Code::ArgsSize,
    }
}

#[cfg(test)]
mod tests;
