//! An emulated service, what runs on it, and which ops had their turn.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use pinhole_manifest::Access;
use pinhole_runtime::Outcome;
use pinhole_runtime::outcome::Code;
use pinhole_tests::{Front, KEY, NodeServer, Setup, Stage, op_name};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One emulated service.
pub(crate) struct Emulated {
    service: &'static str,
    stage: Stage,
    server: NodeServer,
    had_a_turn: Mutex<BTreeSet<String>>,
}

impl Emulated {
    /// Starts it with a world; `None` where Node or the package is missing, but for CI.
    pub(crate) async fn start(service: &'static str, world: Value) -> Option<Self> {
        let mut stage = Setup::github().start().await;
        let host = stage.entry(service).manifest.host().to_string();
        let seed = json!({"tokens": {KEY: {"login": "wren", "scopes": ["repo", "user"]}}, service: world});
        let args = [service, &host, &seed.to_string()];
        let server = NodeServer::start(service, "emulate", "emulate.mjs", &args)?;
        let front = Front::start(&host, server.addr()).await;
        stage.executor.wire = Arc::new(front.client());
        Some(Self { service, stage, server, had_a_turn: Mutex::default() })
    }

    async fn run(&self, op: &str, args: &Value) -> Outcome {
        self.had_a_turn.lock().unwrap_or_else(PoisonError::into_inner).insert(op.to_owned());
        let name = format!("{}.{op}", self.service);
        let access = self.stage.entry(self.service).manifest.op(&op_name(&name).1).expect("an op").access;
        let outcome = match access {
            Access::Read => self.stage.read(&name, args).await,
            Access::Write => self.stage.write(&name, args).await,
        };
        assert!(!outcome.to_json().contains(KEY), "{op} gave the key away");
        outcome
    }

    /// Runs an op, a read under a read grant and a write under its approval, and gives the outcome of one that ran.
    pub(crate) async fn outcome(&self, op: &str, args: Value) -> Value {
        let outcome = self.run(op, &args).await;
        let json: Value = serde_json::from_str(&outcome.to_json()).expect("an outcome is JSON");
        assert_eq!(json["ok"], true, "{op} {args}: {json:#}");
        json
    }

    /// The same, and gives what is picked: all of it, with nothing to note.
    pub(crate) async fn done(&self, op: &str, args: Value) -> Value {
        let json = self.outcome(op, args).await;
        assert_eq!(json.get("notes").and_then(Value::as_array).map_or(0, Vec::len), 0, "{op}: {json:#}");
        json["result"].clone()
    }

    /// The results of all pages of a read, in order, one after the other under one grant of one use.
    pub(crate) async fn pages(&self, op: &str, args: Value) -> Vec<Value> {
        let name = format!("{}.{op}", self.service);
        let grant = self.stage.grant(self.service).uses(1).seal();
        let mut outcome = self.stage.run(&name, &args, &grant).await;
        let mut pages = Vec::new();
        loop {
            let json: Value = serde_json::from_str(&outcome.to_json()).expect("an outcome is JSON");
            assert_eq!(json["ok"], true, "{op} {args}: {json:#}");
            pages.push(json["result"].clone());
            let Some(next) = json["next"].as_str() else { return pages };
            assert!(pages.len() < 20, "{op}: the pages do not end");
            outcome = self.stage.run_next(&name, &args, &grant, next).await;
        }
    }

    /// Runs an op that is refused so, with these words of the service's.
    pub(crate) async fn refused(&self, op: &str, args: Value, (code, words): (Code, &str)) {
        let outcome = self.run(op, &args).await;
        let refusal =
            outcome.refusal().unwrap_or_else(|| panic!("{op} is served now: {}", outcome.to_json()));
        let said = refusal.untrusted.as_ref().map_or("", |text| text.as_str());
        assert_eq!((refusal.code, said.contains(words)), (code, true), "{op}: {}", outcome.to_json());
    }

    /// Asks the emulator itself, without a grant, for what no op makes.
    pub(crate) async fn arrange(&self, path: &str, media_type: &str, body: &str) -> Value {
        let head = format!(
            "POST {path} HTTP/1.0\r\nauthorization: Bearer {KEY}\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut socket = TcpStream::connect(self.server.addr()).await.expect("a connection");
        socket.write_all((head + body).as_bytes()).await.expect("sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.split(' ').nth(1).is_some_and(|status| status.starts_with('2')), "{path}: {answer}");
        serde_json::from_str(body).unwrap_or_default()
    }

    /// Asserts that no op of the manifest was forgotten.
    pub(crate) fn every_op_had_its_turn(&self) {
        let ops = self.stage.entry(self.service).manifest.ops();
        let all: BTreeSet<String> = ops.keys().map(ToString::to_string).collect();
        assert_eq!(*self.had_a_turn.lock().unwrap_or_else(PoisonError::into_inner), all);
    }
}

/// The member of a row, of the one row that has this value at that pointer.
pub(crate) fn row<'a>(rows: &'a Value, pointer: &str, value: &Value) -> &'a Value {
    let rows = rows.as_array().unwrap_or_else(|| panic!("no rows: {rows}"));
    let found: Vec<&Value> = rows.iter().filter(|row| row.pointer(pointer) == Some(value)).collect();
    assert_eq!(found.len(), 1, "{pointer} is {value} in {rows:#?}");
    found[0]
}
