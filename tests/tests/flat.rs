//! A thousand calls of hostile modules leave the host as it was. In a process of its own: it looks at how much memory that
//! has.

use pinhole_manifest::Digest;
use pinhole_runtime::net::Sent;
use pinhole_runtime::sandbox::{Sandbox, SandboxSettings};
use pinhole_tests::{Setup, thing};
use serde_json::{Map, Value, json};

const PROBE: &[u8] = include_bytes!("../guests/built/probe.wasm");
const WITH_WASI: &[u8] = include_bytes!("../guests/built/wasi.wasm");
const FILE: &str = "modules/probe.wasm";
const HOSTILE: [&str; 8] =
    ["loops", "recurses", "hoards", "panics", "sends_many", "to_other_host", "returns_much", "chatters"];
const HOSTILE_WITH_WASI: [&str; 8] = [
    "draws_much",
    "writes_zeroes",
    "never_flushes",
    "writes_lines",
    "polls_many",
    "holds_waits",
    "holds_streams",
    "sleeps_a_century",
];

fn manifest(component: &[u8], hostile: &[&str], honest: &str) -> Value {
    let op = json!({
        "access": "read", "summary": "Does what its name says.", "pick": { "fields": ["status"] },
        "module": {
            "file": FILE,
            "sha256": Digest::of(component).to_string().replace("sha256:", ""),
            "requests": [{ "method": "GET", "path": "/things" }],
        },
    });
    let names = hostile.iter().chain([&honest]);
    let ops: Map<String, Value> = names.map(|name| ((*name).to_owned(), op.clone())).collect();
    let mut manifest = thing();
    manifest["ops"] = Value::Object(ops);
    for name in hostile.iter().filter(|name| name.starts_with("sleeps")) {
        manifest["ops"][name]["limits"] = json!({"timeout_ms": 20});
    }
    manifest
}

#[tokio::test]
async fn a_thousand_hostile_calls_leave_the_host_as_it_was() {
    thousand(PROBE, HOSTILE, "empty").await;
    thousand(WITH_WASI, HOSTILE_WITH_WASI, "waits").await;
}

/// Two calls at once are all that this sandbox has room for: a place that is not given back would be missed at once.
async fn thousand(component: &[u8], hostile: [&str; 8], honest: &str) {
    let manifest = manifest(component, &hostile, honest);
    let mut stage = Setup::module(&manifest, (FILE, component.to_vec()), Vec::new()).start().await;
    let mut settings = SandboxSettings::default();
    settings.calls = 2;
    settings.fuel = 10_000_000;
    stage.executor.sandbox = Sandbox::new(settings);
    let grant = stage.grant("thing").seal();
    let args = json!({});
    let mut resident = Vec::new();
    for _ in 0..126 {
        let names = hostile.map(|op| format!("thing.{op}"));
        let calls = names.iter().map(|name| stage.run(name, &args, &grant));
        for outcome in futures_util::future::join_all(calls).await {
            assert_eq!(
                outcome.refusal().map(|refusal| refusal.sent),
                Some(Sent::No),
                "{}",
                outcome.to_json()
            );
        }
        resident.extend(resident_bytes());
    }
    let honest = stage.run(&format!("thing.{honest}"), &args, &grant).await;
    assert!(honest.result().is_some(), "{}", honest.to_json());
    assert_eq!(stage.standin.connections(), 0);
    if let (Some(early), Some(last)) = (resident.get(20), resident.last()) {
        assert!(*last < early + (16 << 20), "{early} bytes after 168 calls, {last} at the end");
    }
    let tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    // The stand-in's own.
    assert!(tasks <= 2, "{tasks} tasks are alive");
}

/// How many bytes of memory the process has, where the system says so.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(status.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}
