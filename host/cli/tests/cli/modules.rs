//! An op that a module computes, from the manifest's file and the module's beside it to the outcome.

use pinhole_manifest::Digest;
use pinhole_standin::{Config, Reply, Route, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY};
use crate::stage::Stage;

pub(crate) const PROBE: &[u8] = include_bytes!("../../../../tests/guests/built/probe.wasm");
const THINGS: &str = "/repos/acme/it/things";

pub(crate) fn manifest() -> Value {
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.",
        "host": "api.acme.com", "auth": {"scheme": "bearer"},
        "ops": {"stale_things": {
            "access": "read", "summary": "Stale things by owner.",
            "args": {"type": "object", "additionalProperties": false, "required": ["owner", "repo", "before"],
                     "properties": {
                         "owner": {"type": "string", "description": "Whose."},
                         "repo": {"type": "string", "description": "Which."},
                         "before": {"type": "string", "description": "A day."}}},
            "module": {
                "file": "modules/probe.wasm",
                "sha256": Digest::of(PROBE).to_string().replace("sha256:", ""),
                "requests": [{"method": "GET", "path": "/repos/{owner}/{repo}/things", "query": ["page"]}]},
            "pick": {"fields": ["owner", "stale"]}
        }}
    })
}

const CALL: [&str; 6] = ["--arg", "owner=acme", "--arg", "repo=it", "--arg", "before=2026-01-01"];

#[test]
fn an_op_is_computed_by_the_module_beside_its_manifest() {
    let page = |number: u32, things: &Value| {
        Route::get(&format!("{THINGS}?page={number}"), Reply::json(200, things))
    };
    let things = json!([{"owner": "ann", "updated": "2025-01-01", "title": "kept back"}]);
    let routes = vec![page(1, &things), page(2, &json!([]))];
    let config = Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(routes)) };
    let (home, stage) = (Home::new(), Stage::with(config));
    let file = home.write("manifest.json", manifest().to_string());
    let dial = stage.dial_for("api.acme.com", &home);
    let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
    let run = |words: &[&str]| {
        let local = ["acme.stale_things", "--token-stdin", "--manifest", file.as_str(), "--unsigned"];
        home.run_with(&[words, &local, &CALL, &dial].concat(), KEY)
    };
    run(&["run", "--json"]).expect(4).refusal("module_unreadable");
    home.write("modules/probe.wasm", PROBE);
    let explained = run(&["explain"]).expect(0);
    assert!(explained.stdout.contains(&format!("  GET {THINGS}\n")), "{}", explained.stdout);
    assert!(explained.stdout.contains("computed by: modules/probe.wasm sha256:"), "{}", explained.stdout);
    assert_eq!(stage.requests(), 0);
    let computed = run(&["run", "--json"]).expect(0).json();
    assert_eq!(computed["result"], json!([{"owner": "ann", "stale": 1}]));
    assert_eq!(computed["meta"]["requests"], 2);
    home.write("modules/probe.wasm", "changed");
    run(&["run", "--json"]).expect(4).refusal("module_changed");
    assert_eq!(stage.requests(), 2);
}
