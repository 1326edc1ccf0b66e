//! A handler with a few tools: one that answers at once, one that does when it is told to, one that says how far it is.

use std::sync::{Arc, Mutex};

use pinhole_server::Principal;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::Semaphore;

/// The handler. Clones share what they have seen.
#[derive(Clone)]
pub(crate) struct Echo {
    seen: Arc<Seen>,
}

struct Seen {
    /// One permit for each call of `slow` that has begun, was cancelled, has ended.
    begun: Semaphore,
    cancelled: Semaphore,
    ended: Semaphore,
    /// One for each that may end.
    leave: Semaphore,
    headers: Mutex<Vec<String>>,
}

impl Default for Echo {
    fn default() -> Self {
        let none = || Semaphore::new(0);
        let (begun, cancelled, ended, leave) = (none(), none(), none(), none());
        Self { seen: Arc::new(Seen { begun, cancelled, ended, leave, headers: Mutex::default() }) }
    }
}

async fn one(of: &Semaphore) {
    of.acquire().await.unwrap().forget();
}

impl Echo {
    /// Returns when a slow call has begun.
    pub(crate) async fn has_begun(&self) {
        one(&self.seen.begun).await;
    }

    /// Returns when a slow call was cancelled.
    pub(crate) async fn was_cancelled(&self) {
        one(&self.seen.cancelled).await;
    }

    /// Returns when a slow call has come to its end.
    pub(crate) async fn has_ended(&self) {
        one(&self.seen.ended).await;
    }

    /// Lets a slow call end.
    pub(crate) fn let_go(&self) {
        self.seen.leave.add_permits(1);
    }

    /// How many slow calls were cancelled that nobody has asked after.
    pub(crate) fn cancelled(&self) -> usize {
        self.seen.cancelled.available_permits()
    }

    /// The headers of the last request that a tool was called with.
    pub(crate) fn headers(&self) -> Vec<String> {
        self.seen.headers.lock().unwrap().clone()
    }

    async fn slow(&self, context: &RequestContext<RoleServer>) {
        self.seen.begun.add_permits(1);
        tokio::select! {
            () = context.ct.cancelled() => self.seen.cancelled.add_permits(1),
            () = one(&self.seen.leave) => self.seen.ended.add_permits(1),
        }
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn accepted_subscription_filter(&self, wanted: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(wanted.supported_by(&self.get_info().capabilities))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let parts = context.extensions.get::<http::request::Parts>();
        let parts = parts.ok_or_else(|| ErrorData::internal_error("no request", None))?;
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.ok_or_else(|| ErrorData::internal_error("nobody", None))?;
        *self.seen.headers.lock().unwrap() = parts.headers.keys().map(ToString::to_string).collect();
        match &*request.name {
            "slow" => self.slow(&context).await,
            "steps" => {
                let token = context.meta.get_progress_token().unwrap();
                let progress = ProgressNotificationParam::new(token, 1.0);
                context.peer.notify_progress(progress).await.unwrap_or_default();
                self.slow(&context).await;
            }
            _ => {}
        }
        let said = json!({"tool": request.name, "principal": principal.id(), "arguments": request.arguments});
        Ok(CallToolResult::success(vec![ContentBlock::text(said.to_string())]).into())
    }
}
