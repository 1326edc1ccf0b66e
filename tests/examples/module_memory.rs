//! What memory a process takes that does nothing but call a module: `cargo run --release -p pinhole-tests --example
//! module_memory -- [SECONDS]` prints the number of calls and the resident bytes, each tenth of the time. The service answers
//! from memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pinhole_manifest::Digest;
use pinhole_tests::{Canned, Setup, thing};
use serde_json::json;

const PROBE: &[u8] = include_bytes!("../guests/built/probe.wasm");

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let seconds = std::env::args().nth(1).map_or(Ok(30), |text| text.parse())?;
    let mut manifest = thing();
    let text = |description: &str| json!({"type": "string", "description": description});
    manifest["ops"] = json!({"passes": {
        "access": "read", "summary": "By a module.", "pick": {"fields": ["owner", "stale"]},
        "args": {"type": "object", "additionalProperties": false, "required": ["owner", "repo"],
                 "properties": {"owner": text("Whose."), "repo": text("Which.")}},
        "module": {
            "file": "modules/probe.wasm",
            "sha256": Digest::of(PROBE).hex(),
            "requests": [{"method": "GET", "path": "/repos/{owner}/{repo}/things"}],
        },
    }});
    let mut stage =
        Setup::module(&manifest, ("modules/probe.wasm", PROBE.to_vec()), Vec::new()).start().await;
    let row = json!({"owner": "ann", "stale": 7, "title": "a".repeat(100)});
    let service = Canned::new(json!(vec![row; 100]).to_string());
    stage.executor.wire = Arc::new(service.clone());
    let (grant, args) = (stage.grant("thing").seal(), json!({"owner": "acme", "repo": "it"}));
    let tenth = Duration::from_secs(seconds) / 10;
    let mut calls = 0_u64;
    for part in 1..=10 {
        let end = Instant::now() + tenth;
        while Instant::now() < end {
            let ran =
                futures_util::future::join_all((0..8).map(|_| stage.run("thing.passes", &args, &grant)))
                    .await;
            for outcome in &ran {
                anyhow::ensure!(outcome.result().is_some(), "{}", outcome.to_json());
            }
            calls += 8;
            // It remembers what it was asked.
            drop(service.asked());
        }
        let status = std::fs::read_to_string("/proc/self/statm")?;
        let pages: usize = status.split(' ').nth(1).unwrap_or_default().parse()?;
        println!("{part:2}/10  {calls} calls  {} KiB", pages * 4);
    }
    Ok(())
}
