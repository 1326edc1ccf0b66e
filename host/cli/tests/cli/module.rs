//! `pinhole module new|check|run` without a toolchain: what a new module has, what is said of a component, and an op tried
//! out on recorded answers and on a stand-in. Building from source is in `tests/tests/guests_*.rs`.

use std::fs;

use pinhole_standin::{Config, Reply, Route, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY, Ran};
use crate::stage::Stage;

const PROBE: &[u8] = include_bytes!("../../../../tests/guests/built/probe.wasm");

fn service() -> Value {
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.",
        "host": "api.acme.com", "auth": {"scheme": "bearer", "viewer": "me", "account": "$.name"},
        "ops": {"me": {
            "access": "read", "summary": "Who.", "args": {"type": "object", "additionalProperties": false, "properties": {}},
            "request": {"method": "GET", "path": "/me"}, "pick": {"fields": ["name"]}
        }}
    })
}

/// A module's folder as `new` makes it, with the probe for a component.
struct Module {
    home: Home,
}

impl Module {
    fn of(requests: &Value) -> Self {
        let home = Home::empty();
        home.write("acme.json", service().to_string());
        home.write("m/stale_things.py", "");
        home.write("m/stale_things.wasm", PROBE);
        let text = |description: &str| json!({"type": "string", "description": description});
        let op = json!({
            "access": "read", "summary": "Stale things by owner.",
            "args": {"type": "object", "additionalProperties": false, "required": ["owner", "repo", "before"],
                     "properties": {"owner": text("Whose."), "repo": text("Which."), "before": text("A day.")}},
            "module": {"file": "modules/stale_things.wasm", "sha256": "0".repeat(64), "requests": requests},
            "pick": {"fields": ["owner", "stale"]}
        });
        home.write("m/op.json", json!({"service": "acme", "op": {"stale_things": op}}).to_string());
        Self { home }
    }

    fn new() -> Self {
        Self::of(&json!([{"method": "GET", "path": "/repos/{owner}/{repo}/things", "query": ["page"]}]))
    }

    fn case(&self, name: &str, pages: &[Value], expect: Option<&Value>) {
        let exchange = |(page, things): (u32, &Value)| {
            json!({
                "request": {"method": "GET", "path": "/repos/acme/it/things", "query": {"page": page.to_string()}},
                "response": {"status": 200, "headers": {"content-type": "application/json"}, "body": things},
            })
        };
        let mut case = json!({
            "args": {"owner": "acme", "repo": "it", "before": "2026-01-01"}, "access": "read",
            "exchanges": (1..).zip(pages).map(exchange).collect::<Vec<_>>(),
        });
        if let Some(expect) = expect {
            case["expect"] = expect.clone();
        }
        self.home.write(&format!("m/cases/stale_things.{name}.json"), case.to_string());
    }

    fn run(&self, more: &[&str]) -> Ran {
        self.home.run(&[&["module", "run", "m", "--manifest", "acme.json"], more].concat())
    }

    fn read(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.home.path(name)).unwrap()).unwrap()
    }
}

fn stale() -> Value {
    json!([{"owner": "ann", "updated": "2025-01-01"}, {"owner": "ben", "updated": "2026-01-01"}])
}

fn ann() -> Value {
    json!({"result": [{"owner": "ann", "stale": 1}]})
}

#[test]
fn a_new_module_has_its_op_a_case_and_the_library_of_its_language() {
    let home = Home::empty();
    home.write("acme.json", service().to_string());
    for (language, source, library) in [
        ("rust", "src/lib.rs", "pinhole-guest/wit/pinhole-op.wit"),
        ("javascript", "two_words.js", "pinhole-guest/index.js"),
        ("python", "two_words.py", "pinhole_guest/__init__.py"),
    ] {
        for (service, manifest, graphql) in
            [("github", None, false), ("linear", None, true), ("acme", Some("acme.json"), false)]
        {
            let folder = format!("{language}-{service}");
            let mut words =
                vec!["module", "new", language, "two-words", "--service", service, "--dir", &folder];
            words.extend(manifest.iter().flat_map(|file| ["--manifest", file]));
            home.run(&words).expect(0);
            let at = |name: &str| home.path(&folder).join(name);
            assert!(at(library).is_file(), "{folder} has no {library}");
            let text = fs::read_to_string(at(source)).unwrap();
            assert!(!text.contains('@') || language != "rust", "{folder}: {text}");
            for left in ["@NAME@", "@OP@", "@PATH@", "@DOCUMENT@"] {
                assert!(!text.contains(left), "{folder}: {left} is left in {source}");
            }
            let spec: Value = serde_json::from_slice(&fs::read(at("op.json")).unwrap()).unwrap();
            let line = &spec["op"]["two_words"]["module"]["requests"][0];
            assert_eq!((spec["service"].as_str(), line.get("graphql").is_some()), (Some(service), graphql));
            assert!(at("cases/two_words.sample.json").is_file());
            assert!(home.run(&["module", "run", &folder]).expect(2).stderr.contains("pinhole module build"));
        }
    }
}

#[test]
fn a_new_module_writes_over_nothing_and_needs_a_good_name_and_a_known_service() {
    let home = Home::empty();
    let new = |words: &[&str]| home.run(&[&["module", "new"], words].concat());
    home.write("there/mine.txt", "mine");
    let there = new(&["rust", "there", "--service", "github"]).expect(2);
    assert!(there.stderr.contains("`there` is there already"), "{}", there.stderr);
    assert_eq!(fs::read_dir(home.path("there")).unwrap().count(), 1);
    for name in
        ["Stale", "a_b", "../x", "1st", "", "x/y", "main", "delete", "match", "lambda", "pinhole-guest"]
    {
        new(&["rust", name, "--service", "github"]).expect(2);
    }
    assert!(new(&["rust", "x-y", "--service", "acme"]).expect(2).stderr.contains("--manifest FILE"));
    new(&["rust", "x-y", "--service", "github", "--dir", "no/such/folder"]).expect(6);
    let left: Vec<_> = fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["there"]);
}

#[test]
fn check_lists_what_a_component_has_and_what_it_would_be_allowed() {
    let module = Module::new();
    let check =
        |words: &[&str]| module.home.run(&[&["module", "check", "--manifest", "acme.json"], words].concat());
    // The op names no component yet.
    let changed = check(&["m"]).expect(1);
    for said in [
        "imports  pinhole:op/http@1.0.0",
        "exports  run",
        "may ask  GET /repos/{owner}/{repo}/things?page",
        "64 MiB of memory, 100 requests",
        "names another digest",
    ] {
        assert!(changed.stdout.contains(said), "{said}: {}", changed.stdout);
    }
    let mut spec = module.read("m/op.json");
    spec["op"]["stale_things"]["module"]["sha256"] = pinhole_manifest::Digest::of(PROBE).hex().into();
    module.home.write("m/op.json", spec.to_string());
    let checked = check(&["m", "--json"]).expect(0).json();
    assert_eq!((&checked["loads"], &checked["size"]), (&json!(true), &json!(PROBE.len())));
    assert_eq!(checked["allowed"]["requests"], spec["op"]["stale_things"]["module"]["requests"]);
    // A component alone is allowed nothing: no op says so.
    assert_eq!(check(&["m/stale_things.wasm", "--json"]).expect(0).json()["allowed"], Value::Null);
    module.home.write("core.wasm", b"\0asm\x01\0\0\0");
    assert!(check(&["core.wasm"]).expect(4).stderr.contains("core module"));
    module.home.write("cut.wasm", &PROBE[..PROBE.len() / 2]);
    check(&["cut.wasm"]).expect(4);
    check(&["gone.wasm"]).expect(2);
}

#[test]
fn an_op_that_makes_no_manifest_is_refused_with_every_fault_and_its_place() {
    let module = Module::of(&json!([{"method": "DELETE", "path": "/repos/{owner}/{repo}/things"}]));
    module.case("one", &[json!([])], None);
    let refused = module.run(&[]).expect(4);
    assert!(refused.stderr.contains("/ops/stale_things/module/requests/0/method"), "{}", refused.stderr);
    module.home.write("m/op.json", "{\"service\": \"acme\"}");
    assert!(module.run(&[]).expect(4).stderr.contains("does not say which op it is"));
    module.home.write("m/op.json", "{");
    assert!(module.run(&[]).expect(4).stderr.contains("is not JSON"));
    fs::remove_file(module.home.path("m/op.json")).unwrap();
    assert!(module.run(&[]).expect(2).stderr.contains("has no `op.json`"));
}

#[test]
fn a_run_shows_each_request_and_holds_the_case() {
    let module = Module::new();
    module.case("one", &[stale(), json!([])], Some(&ann()));
    let ran = module.run(&[]).expect(0);
    for said in [
        "GET /repos/acme/it/things?page=1: 200, 79 bytes",
        "GET /repos/acme/it/things?page=2: 200, 2 bytes",
        r#"gives [{"owner":"ann","stale":1}]"#,
        "as the case says",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    module.case("other", &[stale(), json!([])], Some(&json!({"result": []})));
    let reports = module.run(&["--json"]).expect(1).json();
    assert_eq!((&reports[0]["differs"], reports[1]["differs"].is_string()), (&Value::Null, true));
    module.run(&["m/cases/stale_things.one.json"]).expect(0);
}

#[test]
fn a_request_without_an_answer_and_an_answer_without_a_request_are_said() {
    let module = Module::new();
    module.case("short", &[stale()], Some(&ann()));
    let short = module.run(&[]).expect(1);
    assert!(short.stdout.contains("things?page=2: no answer is recorded to this"), "{}", short.stdout);
    module.case("short", &[stale(), json!([]), json!([])], Some(&ann()));
    assert!(module.run(&[]).expect(1).stdout.contains("1 recorded requests were not sent"));
    let kept = module.run(&["--rewrite"]).expect(1);
    assert!(
        kept.stderr.contains("1 recorded answers were not asked for; nothing is written"),
        "{}",
        kept.stderr
    );
    assert!(module.run(&["--rewrite", "--force"]).expect(0).stdout.contains("written to"));
    assert_eq!(module.read("m/cases/stale_things.short.json")["exchanges"].as_array().unwrap().len(), 2);
}

#[test]
fn what_was_not_answered_is_not_written_down() {
    let module = Module::new();
    module.case("short", &[stale()], None);
    let before = module.read("m/cases/stale_things.short.json");
    let refused = module.run(&["--rewrite"]).expect(1);
    assert!(refused.stderr.contains("nothing is written"), "{}", refused.stderr);
    let refused = module.run(&["--rewrite", "--force"]).expect(1);
    assert!(refused.stderr.contains("request 2 got no answer"), "{}", refused.stderr);
    assert_eq!(module.read("m/cases/stale_things.short.json"), before);
}

#[test]
fn a_rewritten_case_holds_in_the_manifest_that_the_op_goes_into() {
    let module = Module::new();
    module.case("one", &[stale(), json!([])], None);
    assert!(!module.run(&[]).expect(0).stdout.contains("as the case says"));
    module.run(&["--rewrite"]).expect(0);
    let written = module.read("m/cases/stale_things.one.json");
    assert_eq!(written["expect"], ann());
    let sent = &written["exchanges"][0]["request"];
    assert_eq!(sent["headers"]["authorization"], "Bearer <credential>");
    assert_eq!(sent["query"], json!({"page": "1"}));
    let mut manifest = service();
    let spec = module.read("m/op.json");
    manifest["ops"]["stale_things"] = spec["op"]["stale_things"].clone();
    manifest["ops"]["stale_things"]["module"]["sha256"] = pinhole_manifest::Digest::of(PROBE).hex().into();
    module.home.write("s/manifest.json", manifest.to_string());
    module.home.write("s/modules/stale_things.wasm", PROBE);
    module.home.write("s/cases/stale_things.one.json", written.to_string());
    assert!(module.home.run(&["manifest", "test", "s"]).expect(0).stdout.contains("1 passed, 0 failed"));
    // A module's sources may stand in its service's folder; its op is then the manifest's.
    module.home.write("s/modules/stale_things/stale_things.py", "");
    assert!(
        module
            .home
            .run(&["module", "run", "s/modules/stale_things"])
            .expect(0)
            .stdout
            .contains("as the case says")
    );
}

#[test]
fn a_stand_in_is_asked_over_tls_and_what_it_answers_becomes_a_case_without_the_key() {
    let module = Module::new();
    let page = |page: u32, things: &Value| {
        Route::get(&format!("/repos/acme/it/things?page={page}"), Reply::json(200, things))
    };
    let things = json!([{"owner": "ann", "updated": "2025-01-01", "note": KEY}]);
    let config = Config {
        host: "api.acme.com".to_owned(),
        ..Config::new(World::Fixed(vec![page(1, &things), page(2, &json!([]))]))
    };
    let stage = Stage::with(config);
    let dial = stage.dial_for("api.acme.com", &module.home);
    let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
    let args = ["--arg", "owner=acme", "--arg", "repo=it", "--arg", "before=2026-01-01"];
    let words = [
        &["module", "run", "m", "--manifest", "acme.json", "--case", "lived", "--token-stdin"],
        &dial[..],
        &args[..],
    ]
    .concat();
    let ran = module.home.run_with(&words, KEY).expect(0);
    assert!(ran.stdout.contains(r#"gives [{"owner":"ann","stale":1}]"#), "{}", ran.stdout);
    assert_eq!(stage.requests(), 2);
    assert!(stage.keys().iter().all(|key| key.contains(KEY)), "{:?}", stage.keys());
    module.home.hides(KEY);
    assert!(module.run(&["m/cases/stale_things.lived.json"]).expect(0).stdout.contains("as the case says"));
}

/// Recorded answers take the place of the service: without `--resolve` nothing is dialled, and there is no flag by which
/// a module under development would meet the real one.
#[test]
fn without_a_stand_in_nothing_is_dialled() {
    let module = Module::new();
    assert!(module.run(&[]).expect(2).stderr.contains("has no case"));
    let refused = module.run(&["--arg", "owner=acme"]).expect(2);
    assert!(refused.stderr.contains("args are for a stand-in"), "{}", refused.stderr);
    let refused =
        module.run(&["--resolve", "api.github.com:443:127.0.0.1:1", "--arg", "owner=acme"]).expect(2);
    assert!(refused.stderr.contains("no service here has the host"), "{}", refused.stderr);
}

/// A case that somebody wrote by hand is worth more than what a mistake in the op makes of it.
#[test]
fn a_refusal_that_no_case_expects_is_not_written_over_one() {
    let module = Module::of(&json!([{"method": "GET", "path": "/repos/{owner}/{repo}/things"}]));
    module.case("one", &[stale(), json!([])], Some(&ann()));
    let before = module.read("m/cases/stale_things.one.json");
    let refused = module.run(&["--rewrite"]).expect(1);
    let said = "GET /repos/acme/it/things with the query keys page";
    assert!(
        refused.stderr.contains("module_request_refused") && refused.stderr.contains(said),
        "{}",
        refused.stderr
    );
    assert_eq!(module.read("m/cases/stale_things.one.json"), before);
    module.run(&["--rewrite", "--force"]).expect(0);
    let expected = json!({"refusal": "module_request_refused"});
    assert_eq!(module.read("m/cases/stale_things.one.json")["expect"], expected);
    // What a case expects is written whatever it is.
    module.run(&["--rewrite"]).expect(0);
}

#[test]
fn sources_that_changed_since_the_build_are_said() {
    let module = Module::new();
    module.case("one", &[stale(), json!([])], Some(&ann()));
    module.home.write("m/built.json", json!({"sources": "of another day"}).to_string());
    let said = "the sources have changed since the component was built";
    assert!(module.run(&[]).expect(0).stderr.contains(said));
    fs::remove_file(module.home.path("m/built.json")).unwrap();
    assert!(!module.run(&[]).expect(0).stderr.contains(said));
}

/// A folder that somebody else has made may say anything: nothing outside of it is written, and no source is made of it.
#[test]
fn a_hostile_folder_gets_nothing_written_outside_of_it() {
    let module = Module::new();
    module.case("one", &[stale(), json!([])], Some(&ann()));
    let op = module.read("m/op.json");
    for (member, value) in [
        ("file", "../victim.wasm"),
        ("file", "/tmp/victim.wasm"),
        ("file", "modules/../../victim.wasm"),
        ("file", "modules/.wasm"),
        ("sha256", ""),
        ("sha256", "e"),
    ] {
        let mut op = op.clone();
        op["op"]["stale_things"]["module"][member] = value.into();
        module.home.write("m/op.json", op.to_string());
        for command in ["build", "check", "run"] {
            module.home.run(&["module", command, "m"]).expect(4);
        }
        assert_eq!(module.read("m/op.json"), op);
        let mut manifest = service();
        manifest["ops"]["stale_things"] = op["op"]["stale_things"].clone();
        module.home.write("s/manifest.json", manifest.to_string());
        module.home.write("s/modules/stale_things/stale_things.py", "");
        module.home.run(&["module", "build", "s/modules/stale_things"]).expect(4);
    }
    module.home.write("m/op.json", op.to_string());
    for case in ["../x", "x/../../y", "A", ""] {
        let dial = ["--resolve", "api.acme.com:443:127.0.0.1:1", "--case", case];
        module.run(&dial).expect(2);
    }
    let mut evil = service();
    evil["ops"]["me"]["request"]["path"] = "/x\", process.exit()); //".into();
    module.home.write("evil.json", evil.to_string());
    module
        .home
        .run(&["module", "new", "js", "new-one", "--service", "acme", "--manifest", "evil.json"])
        .expect(4);
    assert!(!module.home.path("new-one").exists());
}
