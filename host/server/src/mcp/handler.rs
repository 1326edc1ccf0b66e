//! What answers a client's requests: both eras of MCP, on whatever transport.
//!
//! Keeps nothing between two requests but rounds that wait for a person. INVARIANT: behind HTTP there is no request without
//! the principal whom the bearer check found; everything below goes by that principal's reach. MCP 2026-07-28 and before.

use std::sync::Arc;

use pinhole_manifest::Access;
use pinhole_runtime::Executor;
use pinhole_runtime::entropy::EntropyError;
use pinhole_runtime::local::LocalBot;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, ErrorData, Implementation, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio_util::task::TaskTracker;
use url::Url;

use super::confirm::{ClientYes, Rounds};
use super::connected;
use super::instructions::INSTRUCTIONS;
use super::progress::Telling;
use super::tools::{Connected, Offer, Toolbox, access_of};
use crate::Principal;

/// How long a client may keep the list of tools, in milliseconds: a minute, for what is connected changes while it runs.
const LIST_TTL_MS: u64 = 60_000;
/// How long it may keep what the server is, in milliseconds: an hour.
const DISCOVER_TTL_MS: u64 = 3_600_000;

/// What the operator says of an MCP server.
#[expect(missing_debug_implementations, reason = "it looks for a page")]
pub struct McpSettings {
    /// Which ops are offered, and how.
    pub offer: Offer,
    /// Whether a client's word may be a yes.
    pub yes: ClientYes,
    /// Where the member's approval page is served now, if it is.
    pub page: Box<dyn Fn() -> Option<Url> + Send + Sync>,
}

/// An MCP server, for the connections of one member. Cheap to clone.
#[expect(missing_debug_implementations, reason = "it holds the bot's key")]
#[derive(Clone)]
pub struct Mcp {
    pub(super) shared: Arc<Shared>,
    at: At,
}

/// Where a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// On stdin and stdout of this process: whoever started it.
    Stdio,
    /// At the HTTP service: a principal whom the bearer check found.
    Http,
}

pub(super) struct Shared {
    pub(super) bot: LocalBot,
    pub(super) offer: Offer,
    pub(super) yes: ClientYes,
    pub(super) page: Box<dyn Fn() -> Option<Url> + Send + Sync>,
    pub(super) rounds: Rounds,
    /// Writes that were begun.
    pub(super) writes: TaskTracker,
}

/// Whose request it is, and what of the client matters.
pub(super) struct Caller {
    pub(super) principal: Principal,
    pub(super) at: At,
    pub(super) era: Era,
    pub(super) context: RequestContext<RoleServer>,
}

/// Which protocol a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// 2026-07-28 and later.
    Modern,
    /// With an `initialize`.
    Legacy,
}

impl Mcp {
    /// A server for what `bot` has.
    pub fn new(bot: LocalBot, settings: McpSettings) -> Result<Self, EntropyError> {
        let McpSettings { offer, yes, page } = settings;
        let LocalBot { executor, desk, member, agreed } = bot;
        let rounds = Rounds::new(executor.entropy.as_ref())?;
        let executor = Executor { wire: Arc::new(Telling(executor.wire)), ..executor };
        let bot = LocalBot { executor, desk, member, agreed };
        let shared = Shared { bot, offer, yes, page, rounds, writes: TaskTracker::new() };
        Ok(Self { shared: Arc::new(shared), at: At::Http })
    }

    /// The same for clients there.
    #[must_use]
    pub fn at(&self, at: At) -> Self {
        Self { shared: Arc::clone(&self.shared), at }
    }

    /// The bot that runs the calls.
    pub fn bot(&self) -> &LocalBot {
        &self.shared.bot
    }

    /// Whether a tool of this name would write; `None` where there is none.
    pub fn access(&self, tool: &str) -> Option<Access> {
        access_of(&self.shared.bot.executor.catalog, tool)
    }

    /// Waits for the writes that were begun.
    pub async fn ended(&self) {
        self.shared.writes.close();
        self.shared.writes.wait().await;
        // What was written down until here is signed.
        self.shared.bot.executor.close().await;
    }

    pub(super) fn caller(&self, context: RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let principal = match self.at {
            At::Stdio => Principal::host(),
            At::Http => {
                let parts = context.extensions.get::<http::request::Parts>();
                let found = parts.and_then(|parts| parts.extensions.get::<Principal>()).cloned();
                found.ok_or_else(|| ErrorData::internal_error("it is not known who calls", None))?
            }
        };
        let modern =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let era = if modern { Era::Modern } else { Era::Legacy };
        Ok(Caller { principal, at: self.at, era, context })
    }

    /// What is connected. Looked up where the request is: a few rows are read sooner than another thread is woken.
    pub(super) fn connections(&self) -> Result<Vec<Connected>, ErrorData> {
        connected::connections(&self.shared.bot).map_err(|error| {
            tracing::warn!(%error, "the connections cannot be read");
            let message = "what is connected cannot be read: the person can run `pinhole doctor`";
            ErrorData::internal_error(message, None)
        })
    }

    pub(super) fn toolbox<'c>(&'c self, connections: &'c [Connected], principal: &Principal) -> Toolbox<'c> {
        let shared = &self.shared;
        Toolbox::new(&shared.bot.executor.catalog, connections, principal.reach(), &shared.offer)
    }
}

fn implementation() -> Implementation {
    Implementation::new("pinhole", env!("CARGO_PKG_VERSION")).with_title("Pinhole")
}

/// What says which server answered.
pub(super) fn signed(era: Era) -> Option<MetaObject> {
    (era == Era::Modern).then(|| {
        let mut meta = MetaObject::new();
        if let Ok(server) = serde_json::to_value(implementation()) {
            meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), server);
        }
        meta
    })
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = implementation();
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = DISCOVER_TTL_MS;
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.caller(context)?;
        let connections = self.connections()?;
        let toolbox = self.toolbox(&connections, &caller.principal);
        let cursor = request.and_then(|request| request.cursor);
        let page = toolbox.page(cursor.as_deref());
        let (tools, next_cursor) =
            page.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next_cursor;
        if caller.era == Era::Modern {
            result.ttl_ms = Some(LIST_TTL_MS);
            result.cache_scope = Some(CacheScope::Private);
            result.meta = signed(caller.era);
        }
        Ok(result)
    }

    /// What `rmcp` knows no form of: a method that is none, or a call that it could not read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(if request.method == "tools/call" {
            ErrorData::invalid_params("`tools/call` takes `name`, a text, and `arguments`, an object", None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there is no such method here", None)
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = self.caller(context)?;
        self.call(request, &caller).await
    }
}
