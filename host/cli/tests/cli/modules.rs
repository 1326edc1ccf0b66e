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

/// A home with the manifest and its module, and a service with two pages of things.
struct Here {
    home: Home,
    stage: Stage,
    words: Vec<String>,
}

impl Here {
    fn new() -> Self {
        let (home, stage) = (Home::new(), Stage::with(service()));
        let file = home.write("manifest.json", manifest().to_string());
        home.write("modules/probe.wasm", PROBE);
        let local = ["acme.stale_things", "--token-stdin", "--manifest", file.as_str(), "--unsigned"];
        let mut words: Vec<String> = [&local[..], &CALL].concat().into_iter().map(str::to_owned).collect();
        words.extend(stage.dial_for("api.acme.com", &home));
        Self { home, stage, words }
    }

    #[cfg(unix)]
    fn chmod(&self, name: &str, mode: u32) {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(self.home.path(name), mode).unwrap();
    }

    /// Computes the op, which always comes to the same, and says how the module came into the sandbox.
    #[track_caller]
    fn computed(&self) -> &'static str {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let run = [&["run", "--json", "--log", "debug"], &words[..]].concat();
        let ran = self.home.run_with(&run, KEY).expect(0);
        assert_eq!(ran.json()["result"], json!([{"owner": "ann", "stale": 1}]));
        let says = |what: &str| ran.stderr.contains(what);
        match (says("a module is compiled"), says("a compiled module is taken from the cache")) {
            (true, false) => "compiled",
            (false, true) => "taken",
            _ => panic!("{}", ran.stderr),
        }
    }

    /// The same, with what is said when nothing is asked for.
    #[track_caller]
    fn said(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        self.home.run_with(&[&["run", "--json"], &words[..]].concat(), KEY).expect(0).stderr
    }
}

fn service() -> Config {
    let page = |number: u32, things: &Value| {
        Route::get(&format!("{THINGS}?page={number}"), Reply::json(200, things))
    };
    let things = json!([{"owner": "ann", "updated": "2025-01-01", "title": "kept back"}]);
    let routes = vec![page(1, &things), page(2, &json!([]))];
    Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(routes)) }
}

#[test]
fn the_next_process_starts_a_module_without_compiling() {
    let here = Here::new();
    assert_eq!(here.computed(), "compiled");
    assert_eq!(here.computed(), "taken");
    let kept: Vec<_> = std::fs::read_dir(here.home.path("cache/modules")).unwrap().collect();
    assert_eq!(kept.len(), 1);
    std::fs::write(kept[0].as_ref().unwrap().path(), "tampered with").unwrap();
    assert_eq!(here.computed(), "compiled");
    assert_eq!(here.computed(), "taken");
    // The module's own bytes come before what was compiled of others.
    here.home.write("modules/probe.wasm", "changed");
    let words: Vec<&str> = here.words.iter().map(String::as_str).collect();
    here.home.run_with(&[&["run", "--json"], &words[..]].concat(), KEY).expect(4).refusal("module_changed");
    assert!(here.stage.requests() > 0);
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_can_write_is_not_used_and_said_once() {
    let here = Here::new();
    assert_eq!(here.computed(), "compiled");
    here.chmod("cache/modules", 0o777);
    assert_eq!(here.computed(), "compiled");
    let said = here.said();
    assert_eq!(said.matches("compiled modules are not kept").count(), 1, "{said}");
    assert!(said.contains("chmod 700"), "{said}");
    here.chmod("cache/modules", 0o700);
    assert_eq!(here.computed(), "taken");
    assert_eq!(here.said(), "");
    // What the disk alone is to blame for is nobody's to look at.
    std::fs::remove_dir_all(here.home.path("cache")).unwrap();
    std::fs::create_dir(here.home.path("cache")).unwrap();
    std::os::unix::fs::symlink("nowhere/at/all", here.home.path("cache/modules")).unwrap();
    assert_eq!(here.said(), "");
}

#[test]
fn limits_of_modules_are_the_operator_s() {
    let here = Here::new();
    let words: Vec<&str> = here.words.iter().map(String::as_str).collect();
    let run = |words: &[&str]| here.home.run_with(&[&["run", "--json"], words].concat(), KEY);
    here.home.write("config.toml", "[sandbox]\ncache_bytes = 0\n");
    assert_eq!(here.computed(), "compiled");
    assert!(!here.home.path("cache").exists());
    here.home.write("config.toml", "[sandbox]\nfuel = 1000\n");
    run(&words).expect(3).refusal("module_out_of_fuel");
    here.home.write("config.toml", "[sandbox]\nrequests = 1\n");
    run(&words).expect(5).refusal("module_limit");
}

#[test]
fn an_op_is_computed_by_the_module_beside_its_manifest() {
    let (home, stage) = (Home::new(), Stage::with(service()));
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
