//! `--manifest FILE --unsigned`: a manifest that nobody signed, taken in when it is asked for.

use std::time::Duration;

use pinhole_standin::{Config, Misbehaviour, Reply, Route, When, World};
use serde_json::{Value, json};

use crate::home::{Home, KEY};
use crate::stage::Stage;

/// A manifest of one op that does not wait long.
fn acme(host: &str) -> String {
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": host,
        "auth": {"scheme": "bearer"},
        "ops": {"get_thing": {
            "access": "read", "summary": "One thing.",
            "args": {"type": "object", "additionalProperties": false, "required": ["id"],
                     "properties": {"id": {"type": "string", "maxLength": 40, "description": "The id."}}},
            "request": {"method": "GET", "path": "/things/{id}"},
            "pick": {"fields": ["id", "name"]},
            "limits": {"timeout_ms": 1500}
        }}
    })
    .to_string()
}

#[test]
fn a_local_manifest_runs_when_it_is_asked_for_and_says_that_nobody_signed_it() {
    let home = Home::new();
    let route = Route::get("/things/7", Reply::json(200, &json!({"id": 7, "name": "Lamp", "secret": "x"})));
    let config = Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(vec![route])) };
    let stage = Stage::with(config);
    let manifest = home.write("acme.json", acme("api.acme.com"));
    let dial = stage.dial_for("api.acme.com", &home);
    let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
    let call = ["run", "acme.get_thing", "--arg", "id=7", "--token-stdin", "--json"];
    let local = ["--manifest", manifest.as_str(), "--unsigned"];
    let ran = home.run_with(&[&call[..], &local, &dial].concat(), KEY).expect(0);
    let outcome = ran.json();
    assert_eq!(outcome["result"], json!({"id": 7, "name": "Lamp"}));
    assert_eq!(outcome["meta"]["unsigned"], true);
    // Not without `--unsigned`, and not a service that is there already.
    home.run_with(&[&call[..], &local[..2], &dial].concat(), KEY).expect(2);
    let taken = home.write("taken.json", acme("api.acme.com").replace("\"acme\"", "\"github\""));
    home.run_with(&[&call[..], &["--manifest", &taken, "--unsigned"], &dial].concat(), KEY).expect(4);
    for host in ["127.1", "*.acme.com", "localhost", "api.acme.com:8443", "{id}.acme.com"] {
        let invalid = home.write("invalid.json", acme(host));
        let ran = home
            .run_with(&[&call[..], &["--manifest", &invalid, "--unsigned"], &dial].concat(), KEY)
            .expect(4);
        assert!(ran.stderr.contains("pinhole manifest check"), "{}", ran.stderr);
    }
    assert_eq!(stage.requests(), 1);
}

#[test]
fn a_service_that_takes_too_long_is_given_up() {
    let home = Home::new();
    let route = Route::get("/things/7", Reply::json(200, &json!({})));
    let config = Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(vec![route])) };
    let stage = Stage::with(config);
    stage.standin.misbehave(When::Always, Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) });
    let manifest = home.write("acme.json", acme("api.acme.com"));
    let dial = stage.dial_for("api.acme.com", &home);
    let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
    let call = [
        "run",
        "acme.get_thing",
        "--arg",
        "id=7",
        "--token-stdin",
        "--json",
        "--manifest",
        &manifest,
        "--unsigned",
    ];
    let refusal = home.run_with(&[&call[..], &dial].concat(), KEY).expect(5).refusal("timed_out");
    assert_ne!(refusal["sent"], "no");
}

#[test]
fn a_manifest_that_hides_something_is_not_listed() {
    let home = Home::empty();
    let mut manifest: Value = serde_json::from_str(&acme("api.acme.com")).unwrap();
    let op = &mut manifest["ops"]["get_thing"];
    op["args"]["properties"]["tags"] = json!({
        "type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 4, "description": "Tags.",
        "default": ["safe\u{202e}\u{200b}\u{e0041}\u{85}"]
    });
    op["request"]["query"] = json!({"tags": "{tags}"});
    let file = home.write("sly.json", manifest.to_string());
    let local = ["--manifest", file.as_str(), "--unsigned"];
    for what in [
        &["services"][..],
        &["services", "acme"],
        &["services", "acme.get_thing"],
        &["explain", "acme.get_thing"],
    ] {
        let refused = home.run(&[what, &local].concat()).expect(4);
        for c in ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{85}'] {
            assert!(
                !refused.stdout.contains(c) && !refused.stderr.contains(c),
                "{what:?} shows {c:?} as itself"
            );
        }
    }
}

/// A manifest with these words about keys.
fn provable(auth: &Value) -> String {
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": "api.acme.com",
        "auth": auth,
        "ops": {"get_me": {
            "access": "read", "summary": "Me.", "request": {"method": "GET", "path": "/me"},
            "pick": {"fields": ["name"]}
        }}
    })
    .to_string()
}

#[test]
fn a_service_proves_a_key_by_its_viewer_and_one_without_a_viewer_takes_none() {
    let route = Route::get("/me", Reply::json(200, &json!({"name": "demo-wren"})));
    let config = Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(vec![route])) };
    let (home, stage) = (Home::empty(), Stage::with(config));
    let dial = stage.dial_for("api.acme.com", &home);
    let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
    let connect = |auth: Value, flags: &[&str]| {
        let manifest = home.write("acme.json", provable(&auth));
        let words = ["connect", "acme", "--token-stdin", "--json", "--manifest", &manifest, "--unsigned"];
        home.run_with(&[&words[..], &dial, flags].concat(), KEY)
    };
    let ran = connect(json!({"scheme": "bearer"}), &[]).expect(3);
    assert!(ran.stderr.contains("auth.viewer"), "{}", ran.stderr);
    assert!(home.stored().iter().all(Vec::is_empty));
    assert_eq!(stage.connections(), 0);
    // A viewer that names nobody: a second key may be anybody's.
    let nobody = json!({"scheme": "bearer", "viewer": "get_me"});
    let connected = connect(nobody.clone(), &[]).expect(0);
    assert_eq!(
        (&connected.json()["account"], &connected.json()["became"]),
        (&json!("unnamed"), &json!("connected"))
    );
    let before = home.stored();
    let ran = connect(nobody.clone(), &[]).expect(3);
    assert!(ran.stderr.contains("--replace"), "{}", ran.stderr);
    assert_eq!(home.stored(), before);
    assert_eq!(connect(nobody, &["--replace"]).expect(0).json()["became"], "replaced");
}

#[test]
fn a_connection_stays_with_the_manifest_that_it_was_made_under() {
    let route = |path: &str| Route::get(path, Reply::json(200, &json!({"name": "demo-wren"})));
    let routes = vec![route("/me"), route("/user")];
    let config = Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(routes)) };
    let (home, stage, github) = (Home::empty(), Stage::with(config), Stage::new());
    let text = provable(&json!({"scheme": "bearer", "viewer": "get_me", "account": "$.name"}));
    let manifest = home.write("acme.json", &text);
    let local = ["--manifest", manifest.as_str(), "--unsigned"];
    let dial = stage.dial_for("api.acme.com", &home);
    let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
    home.run_with(&[&["connect", "acme", "--token-stdin"], &local[..], &dial].concat(), KEY).expect(0);
    home.connect(&github, &[]).expect(0);
    let run_at = |host: &str| {
        home.write("ca.pem", stage.standin.ca_pem());
        let dial = dial.iter().map(|flag| flag.replace("api.acme.com", host)).collect::<Vec<_>>();
        let dial: Vec<&str> = dial.iter().map(String::as_str).collect();
        home.run(&[&["run", "acme.get_me", "--json"], &local[..], &dial].concat())
    };
    let run = || run_at("api.acme.com");
    assert_eq!(run().expect(0).json()["meta"]["unsigned"], true);
    let renew = |flags: &[&str]| home.run(&[&["connections", "renew"], flags].concat());
    let not_renewed = |flags: &[&str], why: &str| {
        let before = home.rows("grants").len();
        let ran = renew(flags).expect(1);
        assert!(
            ran.stderr.contains("acme default: not renewed") && ran.stderr.contains(why),
            "{}",
            ran.stderr
        );
        assert!(ran.stdout.contains("github default: bots here may read until"), "{}", ran.stdout);
        assert_eq!(home.rows("grants").len(), before);
    };
    not_renewed(&[], "no manifest");
    renew(&local).expect(0);
    // Another text is another manifest, until she renews; another host never is the same service.
    let sent = stage.requests();
    home.write("acme.json", text.replace("Things.", "Other things."));
    run().expect(3).refusal("manifest_changed");
    home.write("acme.json", text.replace("api.acme.com", "api.acme.net"));
    run_at("api.acme.net").expect(3).refusal("host_changed");
    // A host that no manifest has is none that anybody means.
    assert!(
        run()
            .expect(2)
            .stderr
            .contains("neither a service here nor a broker of what is used has the host `api.acme.com`")
    );
    not_renewed(&local, "another host");
    assert_eq!(stage.requests(), sent);
    home.write("acme.json", text.replace("Things.", "Other things."));
    renew(&local).expect(0);
    run().expect(0);
}
