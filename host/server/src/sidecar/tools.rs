//! `GET /v1/tools`: the ops as tool definitions for a model's API, reads and writes apart.
//!
//! The list is closed: it is made of the manifests alone. INVARIANT: no list has reads and writes; who wants writes asks for
//! them. A tool permits nothing: a call of it is posted with a grant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use pinhole_manifest::visible::visible;
use pinhole_manifest::{Access, ServiceId};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::answer::{self, No};
use super::door::{Caller, Door};
use super::listed::Tool;

/// In whose form tools are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `name`, `description`, `input_schema`: as Messages APIs take them.
    Messages,
    /// `type: function` with `parameters`: as chat completions take them.
    Functions,
    /// As MCP has them.
    Mcp,
}

struct Wanted {
    services: BTreeSet<ServiceId>,
    access: Access,
    dialect: Dialect,
}

/// Gives the list.
pub(super) async fn tools(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    let wanted = match door.admit(&parts).await {
        Ok(caller) => Wanted::read(parts.uri.query().unwrap_or_default()).map(|wanted| (caller, wanted)),
        Err(no) => Err(no),
    };
    wanted.map_or_else(|no| no.answer(), |(caller, wanted)| answer::document(&door.tools(&caller, &wanted)))
}

impl Door {
    fn tools<'d>(&'d self, caller: &Caller, wanted: &Wanted) -> List<'d> {
        let shows = |tool: &&Tool| {
            let Tool { service, access, .. } = tool;
            let asked_for = wanted.services.is_empty() || wanted.services.contains(service);
            *access == wanted.access && asked_for && caller.reach.covers(service, *access)
        };
        let all = self.listed.tools(wanted.dialect, &self.executor.catalog).iter().filter(shows);
        let calls = all.clone().map(|tool| (tool.name.as_str(), &*tool.call)).collect();
        List { ok: true, access: wanted.access, tools: all.map(|tool| &*tool.shown).collect(), calls }
    }
}

/// What is answered.
#[derive(Serialize)]
struct List<'d> {
    ok: bool,
    access: Access,
    tools: Vec<&'d RawValue>,
    calls: BTreeMap<&'d str, &'d RawValue>,
}

impl Dialect {
    /// By its name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "messages" => Some(Self::Messages),
            "functions" => Some(Self::Functions),
            "mcp" => Some(Self::Mcp),
            _ => None,
        }
    }

    /// A tool in this form.
    pub(super) fn of(self, tool: &rmcp::model::Tool) -> Value {
        let (name, description, schema) = (&tool.name, &tool.description, &tool.input_schema);
        match self {
            Self::Messages => json!({"name": name, "description": description, "input_schema": schema}),
            Self::Functions => json!({
                "type": "function",
                "function": {"name": name, "description": description, "parameters": schema},
            }),
            Self::Mcp => serde_json::to_value(tool).unwrap_or_default(),
        }
    }
}

impl Wanted {
    fn read(query: &str) -> Result<Self, No> {
        let mut wanted = Self { services: BTreeSet::new(), access: Access::Read, dialect: Dialect::Messages };
        let (mut access, mut dialect) = (None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let wrong = |takes: &str| No::Malformed(format!("`{}` is {takes}", visible(&clipped(&name))));
            let once = |known: bool| if known { Err(wrong("given once")) } else { Ok(()) };
            match name.as_ref() {
                "service" => {
                    for service in value.split(',') {
                        let service =
                            ServiceId::parse(service).map_err(|_bad| wrong("the id of a service"))?;
                        wanted.services.insert(service);
                    }
                }
                "access" => {
                    once(access.is_some())?;
                    access = Some(match value.as_ref() {
                        "read" => Access::Read,
                        "write" => Access::Write,
                        _ => return Err(wrong("`read` or `write`")),
                    });
                }
                "dialect" => {
                    once(dialect.is_some())?;
                    let named = Dialect::named(&value);
                    dialect = Some(named.ok_or_else(|| wrong("`messages`, `functions` or `mcp`"))?);
                }
                _ => return Err(wrong("nothing that is asked here: say `service`, `access` or `dialect`")),
            }
        }
        wanted.access = access.unwrap_or(wanted.access);
        wanted.dialect = dialect.unwrap_or(wanted.dialect);
        Ok(wanted)
    }
}

fn clipped(name: &str) -> String {
    name.chars().take(40).collect()
}
