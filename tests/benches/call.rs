//! What a call costs over the bare client with the same settings, on loopback TLS, at about 93 KB and about 600 KB; and
//! what its parts cost alone. DESIGN, "Measures to hold".

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use pinhole_manifest::pick::Pick;
use pinhole_runtime::project::{Tree, project};
use pinhole_runtime::render::render;
use pinhole_runtime::store::{MemoryStore, SqliteStore};
use pinhole_standin::{Config, GithubWorld, Reply, Route, World};
use pinhole_tests::{Canned, KEY, ORG, Setup, Stage, op_name};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const OP: &str = "github.list_org_repos";

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

fn target(per_page: usize) -> String {
    format!("https://api.github.com/orgs/{ORG}/repos?per_page={per_page}")
}

async fn fetch(client: &reqwest::Client, url: &str) -> bytes::Bytes {
    let response = client.get(url).bearer_auth(KEY).send().await.expect("an answer");
    response.bytes().await.expect("a body")
}

/// A page of the made-up world, as text.
async fn page(per_page: usize) -> bytes::Bytes {
    let world = World::Github(GithubWorld::default());
    let setup = Setup::github();
    let standin = Config { token: Some(KEY.to_owned()), ..Config::new(world) };
    let stage = Setup { standin, ..setup }.start().await;
    fetch(&stage.bare_client(), &target(per_page)).await
}

/// A stage that answers the listing with this page at once, its state in files as in use.
async fn serving(page: bytes::Bytes, folder: &std::path::Path) -> Stage {
    let route = Route::get(&format!("/orgs/{ORG}/repos"), Reply::json_text(200, page));
    let standin = Config { token: Some(KEY.to_owned()), ..Config::new(World::Fixed(vec![route])) };
    let store = Arc::new(SqliteStore::open_home(folder).expect("a store"));
    Setup { standin, store, ..Setup::github() }.start().await
}

fn calls(criterion: &mut Criterion) {
    let runtime = runtime();
    for (name, per_page) in [("93 KB", 16), ("600 KB", 100)] {
        let page = runtime.block_on(page(per_page));
        eprintln!("{name}: {} bytes, {per_page} repositories", page.len());
        let folder = tempfile::tempdir().expect("a folder");
        let stage = runtime.block_on(serving(page.clone(), folder.path()));
        let client = stage.bare_client();
        let url = target(per_page);
        let args = json!({"org": ORG, "per_page": per_page});
        let read = stage.grant("github").seal();
        let ran = runtime.block_on(stage.run(OP, &args, &read));
        assert!(ran.result().is_some(), "{}", ran.to_json());

        let mut group = criterion.benchmark_group(format!("call/{name}"));
        group.throughput(Throughput::Bytes(u64::try_from(page.len()).unwrap_or(0)));
        group.measurement_time(Duration::from_secs(8));
        group.bench_function("bare client, body only", |bencher| {
            bencher.to_async(&runtime).iter(|| fetch(&client, &url));
        });
        group.bench_function("bare client and serde_json::Value", |bencher| {
            bencher.to_async(&runtime).iter(|| async {
                serde_json::from_slice::<Value>(&fetch(&client, &url).await).expect("JSON")
            });
        });
        group.bench_function("whole call", |bencher| {
            bencher.to_async(&runtime).iter(|| stage.run(OP, &args, &read));
        });
        let (on, with) = (&stage, &args);
        group.bench_function("whole call, one-shot grant", |bencher| {
            bencher.to_async(&runtime).iter_batched(
                || stage.grant("github").uses(1).seal(),
                |grant| async move { on.run(OP, with, &grant).await },
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

fn parts(criterion: &mut Criterion) {
    let runtime = runtime();
    let page = runtime.block_on(page(100));
    let stage = runtime.block_on(Setup::github().start());
    let manifest = &stage.entry("github").manifest;
    let (_, op) = op_name(OP);
    let op = manifest.op(&op).expect("the op");
    let request = op.request().expect("a request");
    let args = stage.normal_args(OP, &json!({"org": ORG, "per_page": 100}));
    criterion.bench_function("render", |bencher| {
        bencher
            .iter(|| render(black_box(manifest), black_box(request), black_box(&args)).expect("a request"));
    });
    let Pick::Fields(projection) = &op.pick else { panic!("the op picks fields") };
    let mut group = criterion.benchmark_group("project/600 KB");
    group.throughput(Throughput::Bytes(u64::try_from(page.len()).unwrap_or(0)));
    group.bench_function("Tree::parse and project", |bencher| {
        bencher.iter(|| project(Tree::parse(black_box(&page)).expect("JSON"), projection).expect("a result"));
    });
    group.bench_function("Tree::parse", |bencher| {
        bencher.iter(|| Tree::parse(black_box(&page)).expect("JSON"));
    });
    group.bench_function("serde_json::Value", |bencher| {
        bencher.iter(|| serde_json::from_slice::<Value>(black_box(&page)).expect("JSON"));
    });
    group.finish();
}

/// What a call costs whatever comes back: no network, an empty page; the state in files, then in memory.
fn fixed_cost(criterion: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = runtime.block_on(serving(bytes::Bytes::from_static(b"[]"), folder.path()));
    stage.executor.wire = Arc::new(Canned::new("[]"));
    let args = json!({"org": ORG, "per_page": 100});
    let grant = stage.grant("github").seal();
    let mut group = criterion.benchmark_group("fixed");
    group.bench_function("call without network, state in files", |bencher| {
        bencher.to_async(&runtime).iter(|| stage.run(OP, &args, &grant));
    });
    stage.executor.store = Arc::new(MemoryStore::default());
    group.bench_function("call without network, state in memory", |bencher| {
        bencher.to_async(&runtime).iter(|| stage.run(OP, &args, &grant));
    });
    group.finish();
}

criterion_group!(benches, calls, parts, fixed_cost);
criterion_main!(benches);
