//! A client that says what a test wants it to, in either era.

use std::collections::VecDeque;
use std::sync::Arc;

use pinhole_grant::{SecretKey, UnixTime};
use pinhole_runtime::clock::Clock as _;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::local::{Present, Sheet};
use pinhole_runtime::store::{Connections as _, Party, Question, Questions as _, SqliteStore, Store as _};
use pinhole_server::mcp::{At, ClientYes, Mcp, McpSettings, Offer, stdio};
use pinhole_standin::Standin;
use pinhole_tests::{LocalStage, TestClock, TestTimer};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;
use url::Url;

pub(crate) const MODERN: &str = "2026-07-28";
/// The versions with an `initialize`, the newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a server is told, beside its bot.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) offer: Offer,
    pub(crate) yes: ClientYes,
    pub(crate) page: Option<Url>,
}

/// A server with the bot of a stage, and the rest of it: the service, the member, the time, what is stored.
pub(crate) struct Served {
    pub(crate) mcp: Mcp,
    pub(crate) standin: Standin,
    pub(crate) member: SecretKey,
    pub(crate) clock: TestClock,
    timer: TestTimer,
    pub(crate) store: Arc<SqliteStore>,
}

impl Served {
    pub(crate) fn new(stage: LocalStage, told: Told) -> Self {
        let LocalStage { standin, bot, member, clock, timer, store, .. } = stage;
        let page = told.page;
        let settings = McpSettings { offer: told.offer, yes: told.yes, page: Box::new(move || page.clone()) };
        Self { mcp: Mcp::new(bot, settings).unwrap(), standin, member, clock, timer, store }
    }

    /// The member, her key open.
    pub(crate) fn present(&self) -> Present<'_> {
        let executor = &self.mcp.bot().executor;
        Present {
            key: &self.member,
            bot: executor.bot.public(),
            former: &[],
            desk: self.store.as_ref(),
            catalog: &executor.catalog,
            entropy: &SystemEntropy,
            wall: self.clock.now(),
            now: self.now(),
        }
    }

    pub(crate) fn now(&self) -> UnixTime {
        self.store.high_water(self.clock.now()).unwrap()
    }

    /// Her questions, the newest first.
    pub(crate) fn questions(&self) -> Vec<Question> {
        self.store.questions(Party::Member(self.member.public().id()), self.now()).unwrap()
    }

    /// She looks at the sheet and says yes.
    pub(crate) fn approve(&self, question: &str) {
        let question = self.questions().into_iter().find(|one| one.id.to_string() == question).unwrap();
        let row = self.store.connection(question.member, question.connection).unwrap();
        let sheet = Sheet::of(&question, row.as_ref(), &self.mcp.bot().executor.catalog).unwrap();
        self.present().approve(&sheet).unwrap();
    }

    /// She lends the writes of her first connection.
    pub(crate) fn lend(&self, uses: u32) {
        let row = self.store.connections(self.member.public().id()).unwrap().remove(0);
        let until = self.now().plus_secs(3_600);
        self.present().lend(&row, uses.try_into().unwrap(), until).unwrap();
    }

    /// What was waited for.
    pub(crate) fn waits(&self) -> Vec<std::time::Duration> {
        self.timer.waits()
    }

    /// How many writes have reached the service.
    pub(crate) fn written(&self) -> usize {
        self.standin.requests().iter().filter(|seen| seen.method != "GET").count()
    }

    /// How many requests have.
    pub(crate) fn requests(&self) -> usize {
        self.standin.requests().len()
    }

    /// A client of 2026-07-28 that can do this.
    pub(crate) fn modern(&self, capabilities: Value) -> Client {
        Client::new(&self.mcp, Some(capabilities))
    }

    /// A client of an earlier version that can do this, once it is initialised.
    pub(crate) async fn legacy(&self, version: &str, capabilities: Value) -> Client {
        let mut client = Client::new(&self.mcp, None);
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = client.request("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        client
    }
}

/// One client.
pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    /// What every request says of the client; nothing where it was said at the beginning.
    capabilities: Option<Value>,
    next: u64,
    /// What came that nobody has asked for yet.
    unasked: VecDeque<Value>,
    pub(crate) served: JoinHandle<Result<(), stdio::StdioError>>,
}

impl Client {
    pub(crate) fn new(mcp: &Mcp, capabilities: Option<Value>) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (input, output) = tokio::io::split(theirs);
        let served = tokio::spawn(stdio::serve(mcp.at(At::Stdio), input, output));
        let (input, output) = tokio::io::split(ours);
        let lines = BufReader::new(input).lines();
        Self { lines, output, capabilities, next: 0, unasked: VecDeque::new(), served }
    }

    /// Where it writes.
    pub(crate) fn output(&mut self) -> &mut WriteHalf<DuplexStream> {
        &mut self.output
    }

    /// Writes a line as it is.
    pub(crate) async fn write(&mut self, line: &[u8]) {
        self.output.write_all(line).await.unwrap();
        self.output.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.write(message.to_string().as_bytes()).await;
    }

    /// The next message, whatever it is; `None` once the server has closed.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Begins a request; gives its id.
    pub(crate) async fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if let Some(capabilities) = &self.capabilities {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// The answer to a request. What else comes meanwhile waits in its order.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        if let Some(place) = self.unasked.iter().position(|message| answers(message, id)) {
            return self.unasked.remove(place).unwrap();
        }
        loop {
            let message = self.receive().await.expect("an answer before the end");
            if answers(&message, id) {
                return message;
            }
            self.unasked.push_back(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool; gives the result, which must be one.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// The names of the tools, over all pages.
    pub(crate) async fn tools(&mut self) -> Vec<Value> {
        let (mut tools, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.request("tools/list", params).await["result"].clone();
            tools.extend(page["tools"].as_array().expect("tools").iter().cloned());
            let Some(cursor) = page.get("nextCursor") else { return tools };
            params = json!({"cursor": cursor});
        }
    }

    /// What came that was no answer, so far.
    pub(crate) fn unasked(&self) -> &VecDeque<Value> {
        &self.unasked
    }
}

fn answers(message: &Value, id: u64) -> bool {
    message.get("method").is_none() && message["id"] == id
}

/// The refusal of a result that is one.
pub(crate) fn refusal(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    let first = text.lines().next().unwrap();
    serde_json::from_str::<Value>(first).unwrap_or_else(|_| panic!("no refusal: {text}"))["refusal"].clone()
}

/// What was picked.
pub(crate) fn picked(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    result["structuredContent"]["result"].clone()
}
