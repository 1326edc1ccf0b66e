//! The least that an MCP server can be on this SDK, to measure ours against: one tool that says what it is told.
//!
//! `mcp_echo` serves stdin and stdout; `mcp_echo --http` a port of its own choosing on loopback, named on stdout, with JSON
//! answers and no sessions. It checks nothing: no token, no arguments, no origin. It builds its answers as Pinhole does its
//! own, in text and in values.

use std::sync::Arc;

use std::io::Write as _;

use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "required": ["text"], "properties": {
            "text": {"type": "string"}, "fill": {"type": "integer"},
        }});
        let Value::Object(schema) = schema else { return Err(ErrorData::internal_error("no schema", None)) };
        Ok(ListToolsResult::with_all_items(vec![Tool::new(
            "echo",
            "Says `text`, `fill` characters of it.",
            schema,
        )]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let said = json!({"said": said(&arguments)});
        let mut result = CallToolResult::success(vec![ContentBlock::text(said.to_string())]);
        result.structured_content = Some(said);
        Ok(result.into())
    }
}

/// What is said: the text, or so many characters of it, over and over.
fn said(arguments: &JsonObject) -> String {
    let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
    let fill = arguments.get("fill").and_then(Value::as_u64).and_then(|fill| usize::try_from(fill).ok());
    match fill {
        Some(fill) if !text.is_empty() => text.chars().cycle().take(fill).collect(),
        _ => text.to_owned(),
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    if std::env::args().nth(1).as_deref() != Some("--http") {
        Echo.serve((tokio::io::stdin(), tokio::io::stdout())).await?.waiting().await?;
        return Ok(());
    }
    let config =
        StreamableHttpServerConfig::default().with_json_response(true).with_legacy_session_mode(false);
    let service: StreamableHttpService<Echo, NeverSessionManager> =
        StreamableHttpService::new(|| Ok(Echo), Arc::default(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap_or_default());
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
