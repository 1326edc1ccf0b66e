//! What the lists are put together from, made once: it is of the manifests alone, and they stay as they are while a sidecar runs.
//!
//! INVARIANT: each piece says whose and of which access it is, and a list takes those alone that its caller's reach covers: nothing
//! here is of one caller.

use std::sync::OnceLock;

use pinhole_manifest::model::{Effect, Op};
use pinhole_manifest::{Access, ServiceId};
use pinhole_runtime::catalog::{Catalog, Entry};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::tools::Dialect;
use crate::mcp::tools::OpTool;

/// All pieces; each kind is made when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Listed {
    services: OnceLock<Vec<Service>>,
    messages: OnceLock<Vec<Tool>>,
    functions: OnceLock<Vec<Tool>>,
    mcp: OnceLock<Vec<Tool>>,
    description: OnceLock<Box<RawValue>>,
}

/// A service, its ops apart.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) id: ServiceId,
    /// What is said of it besides.
    pub(super) said: serde_json::Map<String, serde_json::Value>,
    pub(super) ops: Vec<(Access, Box<RawValue>)>,
}

/// An op as a tool.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) service: ServiceId,
    pub(super) access: Access,
    pub(super) name: String,
    /// What a model is given.
    pub(super) shown: Box<RawValue>,
    /// What is posted for a call of it.
    pub(super) call: Box<RawValue>,
}

impl Listed {
    /// Every service.
    pub(super) fn services(&self, catalog: &Catalog) -> &[Service] {
        self.services.get_or_init(|| catalog.iter().map(service).collect())
    }

    /// Every op as a tool of that form.
    pub(super) fn tools(&self, dialect: Dialect, catalog: &Catalog) -> &[Tool] {
        let made = match dialect {
            Dialect::Messages => &self.messages,
            Dialect::Functions => &self.functions,
            Dialect::Mcp => &self.mcp,
        };
        let of_entry = |entry| move |op| tool(dialect, entry, op);
        made.get_or_init(|| {
            catalog.iter().flat_map(|entry| entry.manifest.ops().values().map(of_entry(entry))).collect()
        })
    }

    /// How the sidecar is spoken to.
    pub(super) fn description(&self) -> &RawValue {
        self.description.get_or_init(|| raw(&super::openapi()))
    }
}

fn service(entry: &Entry) -> Service {
    let manifest = &entry.manifest;
    let said = [
        ("service", json!(manifest.id())),
        ("version", json!(manifest.version().to_string())),
        ("name", json!(manifest.name())),
        ("summary", json!(manifest.summary())),
        ("host", json!(manifest.host())),
        ("verified", json!(manifest.verified())),
        ("digest", json!(manifest.digest())),
        ("source", json!(entry.source.name())),
    ];
    let said = said.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let ops = manifest.ops().values().map(|op| (op.access, raw(&shown(op)))).collect();
    Service { id: manifest.id().clone(), said, ops }
}

fn shown(op: &Op) -> serde_json::Value {
    json!({
        "op": op.id, "access": op.access, "summary": op.summary, "args": op.args.json(),
        "effect": op.effect.map(Effect::as_str), "irreversible": op.irreversible,
    })
}

fn tool(dialect: Dialect, entry: &Entry, op: &Op) -> Tool {
    let (service, tool) = (entry.manifest.id(), OpTool::of_a_grant(entry, op));
    let mut call = json!({"service": service, "op": op.id});
    if let (Some(members), Some(next)) = (call.as_object_mut(), tool.next_argument()) {
        members.insert("next".to_owned(), next.into());
    }
    let (service, access, name) = (service.clone(), op.access, tool.name());
    Tool { service, access, name, shown: raw(&dialect.of(&tool.tool())), call: raw(&call) }
}

/// A piece as its text. What is served is made of texts and numbers, and so has one.
fn raw(piece: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(piece).unwrap_or_else(|_none| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_is_made_once_and_of_every_op() {
        let (listed, catalog) = (Listed::default(), Catalog::built_in().unwrap());
        let ops: usize = catalog.iter().map(|entry| entry.manifest.ops().len()).sum();
        for dialect in [Dialect::Messages, Dialect::Functions, Dialect::Mcp] {
            let tools = listed.tools(dialect, &catalog);
            assert_eq!(tools.len(), ops);
            assert!(std::ptr::eq(tools, listed.tools(dialect, &catalog)));
        }
        let services = listed.services(&catalog);
        assert_eq!(services.iter().map(|service| service.ops.len()).sum::<usize>(), ops);
        assert!(std::ptr::eq(services, listed.services(&catalog)));
        assert!(std::ptr::eq(listed.description(), listed.description()));
    }
}
