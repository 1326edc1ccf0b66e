//! Ops that a module computes, with a real component: `tests/guests`, built by `scripts/build-guests`.
//!
//! One component does by the name of its op what an honest module does or what none should, so each op here is one way to
//! behave.

pub(crate) mod codes;
mod honest;
mod hostile;
mod misfits;
mod parts;
mod wasi;

use std::sync::LazyLock;

use pinhole_manifest::Digest;
use pinhole_runtime::Outcome;
use pinhole_runtime::sandbox::{Sandbox, SandboxSettings};
use pinhole_standin::{Reply, Route};
use pinhole_tests::{Setup, Stage};
use serde_json::{Value, json};

use crate::common::Provoked;

pub(crate) const PROBE: &[u8] = include_bytes!("../../../guests/built/probe.wasm");

const FILE: &str = "modules/probe.wasm";
const OWN: &str = "/repos/acme/it/things";
const DOCUMENT: &str = "query q($id: ID!) { node(id: $id) { id } }";

/// The ops of the component.
const OPS: [&str; 35] = [
    "stale_things",
    "all_pages",
    "echo",
    "passes",
    "empty",
    "told",
    "logs",
    "loops",
    "recurses",
    "hoards",
    "panics",
    "indexes",
    "sends_often",
    "sends_many",
    "chatters",
    "shouts",
    "to_other_host",
    "to_dots",
    "to_url",
    "to_nul",
    "to_other_repo",
    "to_team",
    "deletes",
    "mutates",
    "with_key",
    "with_host",
    "with_method",
    "with_query",
    "persists",
    "returns_much",
    "returns_text",
    "returns_deep",
    "returns_bytes",
    "hides_body",
    "is_not_there",
];

/// A manifest whose ops are all computed by a component of these bytes.
fn manifest(component: &[u8]) -> Value {
    manifest_of(component, &OPS)
}

fn manifest_of(component: &[u8], ops: &[&str]) -> Value {
    let op = json!({
        "access": "read",
        "summary": "Does what its name says.",
        "args": {
            "type": "object", "additionalProperties": false, "required": ["owner", "repo"],
            "properties": {
                "owner": { "type": "string", "description": "Whose." },
                "repo": { "type": "string", "description": "Which." },
                "before": { "type": "string", "default": "2026-01-01", "description": "A day." },
            },
        },
        "module": {
            "file": FILE,
            "sha256": Digest::of(component).to_string().replace("sha256:", ""),
            "requests": [
                { "method": "GET", "path": "/repos/{owner}/{repo}/things", "query": ["page"], "headers": ["x-trace"] },
                { "method": "GET", "path": "/teams/{*}/members" },
                { "method": "POST", "path": "/graphql", "graphql": DOCUMENT },
            ],
        },
        "pick": { "fields": ["owner", "stale", "status", "headers", "body", "size", "said", "now"] },
        "limits": { "response_bytes": 1 << 20, "timeout_ms": 20_000 },
    });
    let ops: serde_json::Map<String, Value> =
        ops.iter().map(|name| ((*name).to_owned(), op.clone())).collect();
    let mut manifest = pinhole_tests::thing();
    manifest["ops"] = Value::Object(ops);
    manifest
}

fn setup(routes: Vec<Route>) -> Setup {
    Setup::module(&manifest(PROBE), (FILE, PROBE.to_vec()), routes)
}

fn args() -> Value {
    json!({"owner": "acme", "repo": "it"})
}

/// Answers to every request that the ops may make.
fn routes() -> Vec<Route> {
    vec![Route::get(OWN, Reply::json(200, &json!([])))]
}

/// Runs an op of the component under a read grant.
async fn run(op: &str, routes: Vec<Route>) -> Provoked {
    let mut stage = setup(routes).start().await;
    stage.executor.sandbox = shared();
    let outcome = called(&stage, op).await;
    Provoked { stage, outcome }
}

/// The sandbox of all tests that set no limits of their own: the component is compiled once.
fn shared() -> Sandbox {
    static SANDBOX: LazyLock<Sandbox> = LazyLock::new(Sandbox::default);
    SANDBOX.clone()
}

/// The same in a sandbox with other limits.
async fn run_limited(op: &str, routes: Vec<Route>, limit: impl FnOnce(&mut SandboxSettings)) -> Provoked {
    let stage = limited(setup(routes).start().await, limit);
    let outcome = called(&stage, op).await;
    Provoked { stage, outcome }
}

fn limited(mut stage: Stage, limit: impl FnOnce(&mut SandboxSettings)) -> Stage {
    let mut settings = SandboxSettings::default();
    limit(&mut settings);
    stage.executor.sandbox = Sandbox::new(settings);
    stage
}

async fn called(stage: &Stage, op: &str) -> Outcome {
    stage.read(&format!("thing.{op}"), &args()).await
}
