//! A client that sends exactly what a test says, and reads one answer after the other.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

pub(crate) const MODERN: &str = "2026-07-28";

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    address: SocketAddr,
    /// Whether the last answer said that the connection ends.
    ends: bool,
}

/// One answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The code of a JSON-RPC error.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap()
    }
}

/// A request that is being put together: a POST to the endpoint unless it says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Ask {
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { line: format!("{method} {target} HTTP/1.1"), headers: Vec::new(), body: Vec::new() }
    }

    /// A message of the older protocol.
    pub(crate) fn legacy(token: &str, message: &Value) -> Self {
        Self::raw(token, message.to_string())
    }

    /// Any body, as the older protocol has it.
    pub(crate) fn raw(token: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { body: body.into(), ..Self::new("POST", "/mcp") }
            .header("authorization", &format!("Bearer {token}"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    /// A request of 2026-07-28, with all that it needs.
    pub(crate) fn modern(token: &str, method: &str, params: Value) -> Self {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let name = params["name"].as_str().map(str::to_owned);
        let asked =
            Self::legacy(token, &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
                .header("mcp-protocol-version", MODERN)
                .header("mcp-method", method);
        match name {
            Some(name) => asked.header("mcp-name", &name),
            None => asked,
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    /// The bytes, with `Host` and `Content-Length` where the test says none.
    pub(crate) fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        let mut all = self.clone();
        let has = |name: &str| self.headers.iter().any(|(known, _)| known == name);
        if !has("host") {
            all = all.header("host", &address.to_string());
        }
        if !has("content-length") && !has("transfer-encoding") && !self.body.is_empty() {
            all = all.header("content-length", &self.body.len().to_string());
        }
        let mut bytes = format!("{}\r\n", self.line).into_bytes();
        for (name, value) in &all.headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// A call of a tool, as params.
pub(crate) fn calls(tool: &str) -> Value {
    json!({"name": tool, "arguments": {"text": "hello"}})
}

/// A call of a tool, as a message of the older protocol.
pub(crate) fn legacy_call(tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": calls(tool)})
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        Self { stream, read: Vec::new(), address, ends: false }
    }

    /// Asks, on a new connection where the last answer said that this one ends.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Answer {
        if self.ends {
            *self = Self::open(self.address).await;
        }
        self.send(&ask.bytes(self.address)).await;
        self.answer().await.unwrap()
    }

    /// Sends bytes; a server that has had enough may have closed already.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap_or_default();
    }

    /// Sends no more.
    pub(crate) async fn shut_down(&mut self) {
        self.stream.shutdown().await.unwrap_or_default();
    }

    /// The next answer, whole; `None` where the connection was closed before.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        let mut answer = self.head().await?;
        match answer.header("content-length").map(|length| length.parse().unwrap()) {
            Some(length) => answer.body = self.take(length).await?,
            None if answer.header("transfer-encoding") == Some("chunked") => {
                while let Some(part) = self.part().await? {
                    answer.body.extend_from_slice(&part);
                }
            }
            None => {}
        }
        Some(answer)
    }

    /// The next answer without its body.
    pub(crate) async fn head(&mut self) -> Option<Answer> {
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let answer = Answer { status, headers, body: Vec::new() };
        self.ends = answer.header("connection") == Some("close");
        Some(answer)
    }

    /// The next chunk of a body; `Some(None)` at its end.
    pub(crate) async fn part(&mut self) -> Option<Option<Vec<u8>>> {
        let size = self.until(b"\r\n").await?;
        let size = usize::from_str_radix(std::str::from_utf8(&size).unwrap().trim(), 16).unwrap();
        let part = self.take(size).await?;
        self.take(2).await?;
        Some((size > 0).then_some(part))
    }

    /// Whether the server has closed it, with nothing more to say.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.read.is_empty() && !self.more().await
    }

    async fn until(&mut self, end: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len()).await;
            }
            if !self.more().await {
                return None;
            }
        }
    }

    async fn take(&mut self, length: usize) -> Option<Vec<u8>> {
        while self.read.len() < length {
            if !self.more().await {
                return None;
            }
        }
        Some(self.read.drain(..length).collect())
    }

    async fn more(&mut self) -> bool {
        let count = self.stream.read_buf(&mut self.read).await.unwrap_or(0);
        count > 0
    }
}
