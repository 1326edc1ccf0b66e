//! What a call of a module costs, warm, over the same op declared natively, and what its first call costs in a new process:
//! compiled then, or taken from the disk. No network, state in memory, in one run. DESIGN, "Measures to hold".

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use pinhole_grant::Dial;
use pinhole_manifest::{ApiHost, Digest};
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::net::{Exchange, Outgoing, Permit, Posting, TokenPermit, Wire, WireLimits};
use pinhole_runtime::sandbox::Sandbox;
use pinhole_tests::{Canned, Setup, thing};
use serde_json::{Value, json};

const PROBE: &[u8] = include_bytes!("../guests/built/probe.wasm");

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime")
}

/// The made-up service with an op of two kinds: declared, and computed by the probe, which may ask for one thing or for eight.
fn setup() -> Setup {
    let args = json!({
        "type": "object", "additionalProperties": false, "required": ["owner", "repo"],
        "properties": {
            "owner": { "type": "string", "description": "Whose." },
            "repo": { "type": "string", "description": "Which." },
        },
    });
    let pick = json!({ "fields": ["owner", "stale"] });
    let path = "/repos/{owner}/{repo}/things";
    let computed = |fields: &Value| {
        json!({
            "access": "read", "summary": "By a module.", "args": args, "pick": {"fields": fields},
            "module": {
                "file": "modules/probe.wasm",
                "sha256": Digest::of(PROBE).hex(),
                "requests": [{ "method": "GET", "path": path, "query": ["page"] }],
            },
        })
    };
    let mut manifest = thing();
    manifest["ops"] = json!(BTreeMap::from([
        (
            "native",
            json!({
                "access": "read", "summary": "Natively.", "args": args, "pick": pick,
                "request": { "method": "GET", "path": path },
            })
        ),
        ("passes", computed(&json!(["owner", "stale"]))),
        ("eight_at_once", computed(&json!(["answered"]))),
        ("eight_in_a_row", computed(&json!(["answered"]))),
    ]));
    Setup::module(&manifest, ("modules/probe.wasm", PROBE.to_vec()), Vec::new())
}

fn warm(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut stage = runtime.block_on(setup().start());
    let grant = stage.grant("thing").seal();
    let args = json!({"owner": "acme", "repo": "it"});
    for (name, rows) in [("1 row", 1), ("100 rows", 100)] {
        let row = json!({"owner": "ann", "stale": 7, "title": "a".repeat(100)});
        let body = json!(vec![row; rows]).to_string();
        stage.executor.wire = Arc::new(Canned::new(body));
        let mut group = criterion.benchmark_group(format!("module/{name}"));
        for op in ["thing.native", "thing.passes"] {
            let ran = runtime.block_on(stage.run(op, &args, &grant));
            assert!(ran.result().is_some(), "{}", ran.to_json());
            group.bench_function(op, |bencher| {
                bencher.to_async(&runtime).iter(|| stage.run(op, &args, &grant));
            });
        }
        group.finish();
    }
    let shared = Arc::new(stage);
    criterion.bench_function("module/8 calls at once", |bencher| {
        let (stage, args, grant) = (&shared, &args, &grant);
        bencher
            .to_async(&runtime)
            .iter(|| futures_util::future::join_all((0..8).map(|_| stage.run("thing.passes", args, grant))));
    });
}

/// A wire on which an answer takes its time, as on a network.
struct Far(Canned);

impl Wire for Far {
    fn exchange(&self, permit: Permit, request: Outgoing, limits: WireLimits) -> Exchange<'_> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            self.0.exchange(permit, request, limits).await
        })
    }

    fn post_form(&self, permit: TokenPermit, posting: Posting, limits: WireLimits) -> Exchange<'_> {
        self.0.post_form(permit, posting, limits)
    }

    fn dial(&self, host: &ApiHost) -> Dial {
        self.0.dial(host)
    }
}

/// Eight requests of one call, each answered after five milliseconds: by `send-all`, and one after the other.
fn eight(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut stage = runtime.block_on(setup().start());
    let grant = stage.grant("thing").seal();
    let args = json!({"owner": "acme", "repo": "it"});
    stage.executor.wire = Arc::new(Far(Canned::new("[]".to_owned())));
    let mut group = criterion.benchmark_group("module/8 requests");
    for op in ["thing.eight_in_a_row", "thing.eight_at_once"] {
        let ran = runtime.block_on(stage.run(op, &args, &grant));
        assert!(ran.to_json().contains(r#""answered":8"#), "{}", ran.to_json());
        group.bench_function(op, |bencher| {
            bencher.to_async(&runtime).iter(|| stage.run(op, &args, &grant));
        });
    }
    group.finish();
}

/// The first call of a module in a sandbox, its engine and pool included, as a new process has it.
fn cold(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut stage = runtime.block_on(setup().start());
    let grant = stage.grant("thing").seal();
    let args = json!({"owner": "acme", "repo": "it"});
    stage.executor.wire = Arc::new(Canned::new(json!([{"owner": "ann", "stale": 7}]).to_string()));
    let folder = tempfile::tempdir().expect("a folder");
    let cached = || Sandbox::default().with_cache(folder.path().join("modules"), SystemEntropy);
    let ways: [(&str, u64, &dyn Fn() -> Sandbox); 2] =
        [("compiled", 1, &Sandbox::default), ("from the disk", 0, &cached)];
    // The process before, which fills the folder.
    stage.executor.sandbox = cached();
    let ran = runtime.block_on(stage.run("thing.passes", &args, &grant));
    assert!(ran.result().is_some(), "{}", ran.to_json());
    let mut group = criterion.benchmark_group("module/first call");
    group.sample_size(20);
    for (name, compiled, sandbox) in ways {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                sandbox,
                |sandbox| {
                    // To take the one before down is not measured.
                    let before = std::mem::replace(&mut stage.executor.sandbox, sandbox);
                    let ran = runtime.block_on(stage.run("thing.passes", &args, &grant));
                    assert_eq!(stage.executor.sandbox.compiled(), compiled);
                    (ran, before)
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, warm, eight, cold);
criterion_main!(benches);
