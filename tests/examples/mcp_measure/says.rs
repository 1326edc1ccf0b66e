//! The messages of both eras, alike for every server.

use std::net::SocketAddr;

use serde_json::{Value, json};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A request of the modern protocol.
pub(crate) fn modern(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "mcp_measure", "version": "1"},
    });
    legacy(method, &params)
}

/// A request of the older protocol.
pub(crate) fn legacy(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()
}

pub(crate) fn initialize() -> String {
    let client = json!({"name": "mcp_measure", "version": "1"});
    legacy("initialize", &json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}))
}

pub(crate) fn initialized() -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()
}

pub(crate) fn called(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// Where a server listens, and what it asks of who comes.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

impl Door {
    /// A call, as a whole request.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Vec<u8> {
        let body = modern("tools/call", called(tool, arguments));
        self.post("tools/call", &format!("mcp-name: {tool}\r\n"), &body)
    }

    /// A page of the list of tools.
    pub(crate) fn list(&self, cursor: Option<&str>) -> Vec<u8> {
        let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
        self.post("tools/list", "", &modern("tools/list", params))
    }

    fn post(&self, method: &str, more: &str, body: &str) -> Vec<u8> {
        let token = self.token.as_ref();
        let bearer = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\nmcp-protocol-version: {MODERN}\r\nmcp-method: {method}\r\n{more}{bearer}\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .into_bytes()
    }
}
