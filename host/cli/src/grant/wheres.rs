//! `--where NAME=VALUE`: the values of args that a grant is narrowed to.
//!
//! Refuses what would never let a call run: an arg that no op takes, a value that none does.

use std::collections::BTreeMap;

use pinhole_grant::Where;
use pinhole_manifest::ArgName;
use pinhole_manifest::model::{ArgKind, Op};
use pinhole_runtime::catalog::Entry;
use serde_json::Value;

use super::usage;
use crate::call;

/// `owner=me` twice with different values allows both. A value has the kind of the arg that some op declares. A grant
/// that could never run is refused here rather than at its first use.
pub(super) fn wheres(pairs: &[String], entry: &Entry, ops: &[&Op]) -> anyhow::Result<Where> {
    let mut lists: BTreeMap<ArgName, Vec<Value>> = BTreeMap::new();
    for pair in pairs {
        let (name, text) = call::split(pair)?;
        let name = ArgName::parse(name).map_err(|error| usage(error.to_string()))?;
        if let Some(op) = ops.iter().find(|op| op.args.def(&name).is_none()) {
            return Err(
                usage(format!("`{}` takes no `{name}`, so this would never let it run", op.id)).into()
            );
        }
        let takers = || entry.manifest.ops().values().filter(|op| op.args.def(&name).is_some());
        let Some(kind) = takers().find_map(|op| Some(op.args.def(&name)?.kind)) else {
            return Err(usage(format!("no op of `{}` takes `{name}`", entry.manifest.id())).into());
        };
        let value = takers()
            .find_map(|op| where_value(op, &name, text))
            .ok_or_else(|| usage(format!("`{name}` is never `{text}`: it is {}", kind_word(kind))))?;
        lists.entry(name).or_default().push(value);
    }
    Ok(Where::new(lists).map_err(|error| usage(error.to_string()))?)
}

/// A text as a value that the op takes for the arg, if it is one: judged as the arg of a call is, so that none is rounded.
fn where_value(op: &Op, name: &ArgName, text: &str) -> Option<Value> {
    let raw = call::value(op.args.def(name).map(|def| def.kind), text).ok()?;
    let args = serde_json::to_string(&BTreeMap::from([(name.as_str(), &raw)])).ok()?;
    match op.args.parse_text(&args) {
        Ok(args) => args.get(name).cloned(),
        // Other args are missing, which says nothing of this one.
        Err(faults) if faults.iter().any(|fault| fault.pointer == format!("/{name}")) => None,
        Err(_others) => serde_json::from_str(raw.get()).ok(),
    }
}

fn kind_word(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::String => "a text",
        ArgKind::Integer => "an integer",
        ArgKind::Number => "a number",
        ArgKind::Boolean => "true or false",
        ArgKind::Array => "a JSON array",
        ArgKind::Object => "a JSON object",
    }
}
