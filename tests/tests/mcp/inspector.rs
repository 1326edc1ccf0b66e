//! The MCP Inspector's strict look at the schemas of every tool of every manifest that is part of the binary.
//!
//! One schema that a client cannot read costs it the whole list. The connections are made up, the tools are not. Needs Node 22
//! and npm `@modelcontextprotocol/inspector`, which `.ci/run` installs.

use std::collections::BTreeSet;
use std::process::Output;
use std::sync::Arc;

use pinhole_grant::{Account, KeyKind, Label, SecretKey};
use pinhole_manifest::Access;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::clock::SystemClock;
use pinhole_runtime::store::SqliteStore;
use pinhole_server::Reach;
use pinhole_server::http::Sessions;
use pinhole_server::mcp::tools::{Connected, Toolbox};
use pinhole_server::mcp::{ConfirmArg, Offer, ToolsMode};
use pinhole_tests::tool;
use rmcp::model::{
    ErrorData, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::door::Door;

const INSPECTOR: &str = "mcp/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
/// Its status where a schema is not portable.
const NOT_PORTABLE: i32 = 6;

/// Lists what somebody is offered who has connected everything twice, for writes.
#[derive(Clone)]
struct Everything {
    catalog: Arc<Catalog>,
    connections: Arc<[Connected]>,
    offer: Offer,
    /// Listed beside it.
    more: Option<Tool>,
}

impl Everything {
    fn offered(offer: Offer) -> Self {
        let catalog = Catalog::built_in().expect("the manifests");
        let connected = |service: &pinhole_manifest::ServiceId, label: &str| Connected {
            service: service.clone(),
            label: Label::parse(label).expect("a label"),
            account: Account::parse("demo-wren").expect("an account"),
            cap: Access::Write,
        };
        let services = catalog.sources().map(|(service, _)| service);
        let connections =
            services.flat_map(|service| [connected(service, "home"), connected(service, "work")]);
        let connections = connections.collect();
        Self { catalog: Arc::new(catalog), connections, offer, more: None }
    }

    fn toolbox(&self) -> Toolbox<'_> {
        Toolbox::new(&self.catalog, &self.connections, Box::leak(Box::new(Reach::default())), &self.offer)
    }

    /// The names of all tools.
    fn names(&self) -> BTreeSet<String> {
        let (toolbox, mut names, mut cursor) = (self.toolbox(), BTreeSet::new(), None);
        loop {
            let (tools, next) = toolbox.page(cursor.as_deref()).expect("a page");
            names.extend(tools.into_iter().map(|tool| tool.name.into_owned()));
            cursor = next;
            if cursor.is_none() {
                return names;
            }
        }
    }
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let page = self.toolbox().page(cursor.as_deref());
        let (mut tools, next) = page.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        if cursor.is_none() {
            tools.extend(self.more.clone());
        }
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }
}

/// What the inspector makes of a list; `None` where it is missing, but for CI.
async fn inspected(test: &str, listed: Everything, era: &str) -> Option<Output> {
    let inspector = tool(test, INSPECTOR)?;
    let node = tool(test, "mcp/node_modules/node/bin/node")?;
    let store = Arc::new(SqliteStore::in_memory().expect("a store"));
    let member = SecretKey::generate(KeyKind::Member, &mut rand::rng());
    let door = Door::open(listed, store, &member, Arc::new(SystemClock), Sessions::Off).await;
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(node);
    command.arg(inspector).args(["--cli", &door.url(), "--transport", "http", "--protocol-era", era]);
    command.args(["--method", "tools/list", "--strict", "--format", "json"]).env("HOME", home.path());
    Some(command.output().await.expect("the inspector starts"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tool_of_every_service_is_portable() {
    let each = Offer::default().in_mode(ToolsMode::Each).with_confirm_arg(ConfirmArg::Reversible);
    let search = Offer::default().in_mode(ToolsMode::Search).with_confirm_arg(ConfirmArg::Reversible);
    for (offer, era) in [(each.clone(), "auto"), (each, "legacy"), (search, "auto")] {
        let listed = Everything::offered(offer);
        let names = listed.names();
        let Some(output) = inspected("every_tool_of_every_service_is_portable", listed, era).await else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{era}: {said}");
        let list: Value = serde_json::from_slice(&output.stdout).expect("a list");
        let list = list["result"]["tools"].as_array().expect("tools");
        let seen: BTreeSet<String> =
            list.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect();
        assert_eq!(seen, names);
        // It warns of what some clients might not read, too. What comes back has leaves of any kind; what goes in has none.
        assert!(!said.contains("Path: inputSchema"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_inspector_sees_a_schema_that_is_not_portable() {
    let schema = json!({"type": "object", "properties": {"a": true}});
    let tool = json!({"name": "sly", "description": "A tool.", "inputSchema": schema});
    let tool: Tool = serde_json::from_value(tool).expect("a tool");
    let listed = Everything { more: Some(tool), ..Everything::offered(Offer::default()) };
    let test = "the_inspector_sees_a_schema_that_is_not_portable";
    let Some(output) = inspected(test, listed, "auto").await else { return };
    assert_eq!(output.status.code(), Some(NOT_PORTABLE), "{}", String::from_utf8_lossy(&output.stderr));
}
