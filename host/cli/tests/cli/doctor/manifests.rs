//! A connection whose manifest is not here, or is another one.

use pinhole_standin::{Config, Reply, Route, World};
use serde_json::{Value, json};

use super::{Said, private};
use crate::home::{Home, KEY};
use crate::stage::Stage;

const CONNECTION: &str = "connection acme default";
const VIEWED: &str = "key of acme default";

fn acme(host: &str) -> Value {
    json!({
        "pinhole": 1, "id": "acme", "version": "1.0.0", "name": "Acme", "summary": "Things.", "host": host,
        "auth": {"scheme": "bearer", "viewer": "get_me", "account": "$.name"},
        "ops": {"get_me": {
            "access": "read", "summary": "Whose key it is.",
            "args": {"type": "object", "additionalProperties": false, "properties": {}},
            "request": {"method": "GET", "path": "/me"},
            "pick": {"fields": ["name"]}
        }}
    })
}

/// A connection to a service whose manifest nobody signed, with the flags that take it in and dial it.
fn connected() -> (Home, Stage, Vec<String>) {
    let home = private(Home::new());
    let route = Route::get("/me", Reply::json(200, &json!({"name": "demo-wren"})));
    let config = Config { host: "api.acme.com".to_owned(), ..Config::new(World::Fixed(vec![route])) };
    let stage = Stage::with(config);
    let manifest = home.write("acme.json", acme("api.acme.com").to_string());
    let mut flags = stage.dial_for("api.acme.com", &home);
    flags.extend(["--unsigned".to_owned(), "--manifest".to_owned(), manifest]);
    home.run_with(&with(&["connect", "acme", "--token-stdin"], &flags), KEY).expect(0);
    (home, stage, flags)
}

fn with<'a>(words: &[&'a str], flags: &'a [String]) -> Vec<&'a str> {
    words.iter().copied().chain(flags.iter().map(String::as_str)).collect()
}

#[test]
fn a_service_whose_manifest_is_passed_is_looked_at_like_any_other() {
    let (home, _stage, flags) = connected();
    Said::of(&home, &with(&["doctor"], &flags)).only(0, &[]).is_well(&[CONNECTION, VIEWED]);
    let said = Said::of(&home, &["doctor"]).only(
        0,
        &[("warning", CONNECTION, "no manifest of its service here", "`--manifest FILE --unsigned`")],
    );
    assert_eq!(said.found(VIEWED), "");
}

#[test]
fn a_manifest_of_another_host_gets_no_key() {
    let (home, stage, flags) = connected();
    home.write("acme.json", acme("api.elsewhere.com").to_string());
    let flags: Vec<String> =
        flags.iter().map(|flag| flag.replace("api.acme.com", "api.elsewhere.com")).collect();
    let dials = with(&["doctor"], &flags);
    let said =
        Said::of(&home, &dials).only(1, &[("wrong", CONNECTION, "another host", "pinhole connect acme")]);
    assert_eq!((said.found(VIEWED).as_str(), stage.requests()), ("", 1));
}

#[test]
fn a_manifest_that_changed_is_a_warning_and_its_viewer_is_asked_all_the_same() {
    let (home, _stage, flags) = connected();
    let mut changed = acme("api.acme.com");
    changed["summary"] = "Other things.".into();
    home.write("acme.json", changed.to_string());
    // Of a manifest that nobody has reviewed, a change ends the reads too.
    let said = Said::of(&home, &with(&["doctor"], &flags));
    let renew = "`pinhole connections renew`";
    let said = said.only(
        1,
        &[
            ("warning", CONNECTION, "of an earlier manifest", renew),
            ("wrong", VIEWED, "refused (manifest_changed)", renew),
        ],
    );
    said.is_well(&["questions"]);
}
