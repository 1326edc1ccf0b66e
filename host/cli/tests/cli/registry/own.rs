//! A registry of one's own, and what an update of it changes for what is connected.

use serde_json::json;

use super::{connect_notes, folder, notes, notes_at, notes_stage, own, publish, run, sync};
use crate::home::Home;

#[test]
fn one_command_makes_a_registry_that_ops_run_from() {
    let (home, stage) = (Home::empty(), notes_stage());
    own(&home, &notes());
    assert!(home.run(&["services", "notes"]).expect(0).stdout.contains("list_notes"));
    connect_notes(&home, &stage);
    let outcome = run(&home, &stage, "notes.list_notes").expect(0).json();
    assert_eq!(outcome["result"], json!([{"id": 1, "title": "Fog horn", "author": {"name": "mate"}}]));
    // Signed, so that nothing says otherwise.
    assert!(outcome["meta"].get("unsigned").is_none(), "{outcome}");
    let listed = home.run(&["registry", "list", "--json"]).expect(0).json();
    assert_eq!((&listed[0]["name"], &listed[0]["services"][0]["service"]), (&json!("mine"), &json!("notes")));
    home.run(&["registry", "verify", "mine"]).expect(0);
    home.hides(super::NOTES_KEY);
}

#[test]
fn what_is_narrower_applies_at_once_and_what_was_granted_goes_on() {
    let (home, stage) = (Home::empty(), notes_stage());
    own(&home, &notes());
    connect_notes(&home, &stage);
    publish(
        &home,
        &notes_at("1.0.1", |manifest| {
            manifest["ops"]["list_notes"]["pick"]["fields"] = json!(["id", "title"]);
        }),
    );
    assert_eq!(sync(&home, &[])["happened"], "updated");
    let outcome = run(&home, &stage, "notes.list_notes").expect(0).json();
    assert_eq!(outcome["result"], json!([{"id": 1, "title": "Fog horn"}]));
    assert_eq!(outcome["meta"]["manifest"], "notes@1.0.1");
}

#[test]
fn what_widens_waits_for_a_yes_and_grants_keep_to_what_they_were_given_for() {
    let (home, stage) = (Home::empty(), notes_stage());
    own(&home, &notes());
    connect_notes(&home, &stage);
    publish(
        &home,
        &notes_at("1.1.0", |manifest| {
            manifest["ops"]["list_notes"]["pick"]["fields"] =
                json!(["id", "title", "author.name", "author.email"]);
        }),
    );
    let held = sync(&home, &[]);
    assert_eq!((&held["happened"], &held["why"]), (&json!("held"), &json!("widens")));
    // Until then everything is as it was.
    let outcome = run(&home, &stage, "notes.list_notes").expect(0).json();
    assert_eq!(outcome["meta"]["manifest"], "notes@1.0.0");
    assert!(!outcome.to_string().contains("m@example.com"), "{outcome}");

    // Nobody is there to be asked, and no other digest will do.
    home.run(&["registry", "accept", "notes"]).expect(2);
    let other = format!("sha256:{}", "0".repeat(64));
    home.run(&["registry", "accept", "notes", "--digest", &other]).expect(3);
    let digest = held["digest"].as_str().unwrap();
    home.run(&["registry", "accept", "notes", "--digest", digest]).expect(0);

    // The stored grant was given for less: the op that widened is not covered, the other is.
    let refused = run(&home, &stage, "notes.list_notes").expect(3).json();
    assert_eq!(refused["refusal"]["code"], "manifest_changed");
    run(&home, &stage, "notes.get_viewer").expect(0);
    home.run(&["connections", "renew"]).expect(0);
    let outcome = run(&home, &stage, "notes.list_notes").expect(0).json();
    assert!(outcome.to_string().contains("m@example.com"), "{outcome}");
    home.run(&["registry", "accept", "notes", "--digest", digest]).expect(3);
}

#[test]
fn a_flag_or_the_settings_say_yes_beforehand() {
    for says in ["flag", "settings"] {
        let home = Home::empty();
        own(&home, &notes());
        publish(&home, &notes_at("1.1.0", |manifest| manifest["summary"] = json!("Another text.")));
        let flags: &[&str] = if says == "flag" { &["--accept-widening"] } else { &[] };
        if says == "settings" {
            home.write("config.toml", "[registry]\naccept_widening = true\n");
        }
        assert_eq!(sync(&home, flags)["happened"], "updated", "{says}");
    }
    let home = Home::empty();
    own(&home, &notes());
    for (settings, says) in [
        ("[registry]\naccept_widening = 1\n", "`registry.accept_widening` is `true` or `false`"),
        ("[registry]\nunsigned = true\n", "there is no setting `unsigned`"),
        ("registry = true\n", "`registry` is a table"),
    ] {
        home.write("config.toml", settings);
        let ran = home.run(&["registry", "sync"]).expect(2);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

#[test]
fn a_service_that_leaves_the_registry_is_gone() {
    let home = Home::empty();
    own(&home, &notes());
    home.run(&["registry", "remove", "mine", "notes"]).expect(0);
    home.run(&["registry", "publish", "mine", "--key", "mine/keys/local.pem"]).expect(0);
    assert_eq!(sync(&home, &[])["happened"], "removed");
    home.run(&["services", "notes"]).expect(3);
}

#[test]
fn what_is_no_manifest_is_not_put_in_and_nothing_is_staged() {
    let home = Home::empty();
    own(&home, &notes());
    let broken = folder(&home, &notes_at("1.0.1", |manifest| manifest["host"] = json!("10.0.0.1")));
    let ran = home.run(&["registry", "add", "mine", &broken]).expect(4);
    assert!(ran.stderr.contains("nothing was put in"), "{}", ran.stderr);
    // Changed without another version.
    let same = folder(&home, &notes_at("1.0.0", |manifest| manifest["summary"] = json!("Another.")));
    home.run(&["registry", "add", "mine", &same]).expect(4);
    assert!(home.run(&["registry", "sign", "mine"]).expect(0).stdout.contains("nothing waits"));
}

#[test]
fn a_second_registry_of_a_name_is_not_begun() {
    let home = Home::empty();
    own(&home, &notes());
    home.run(&["registry", "init", "--local", "elsewhere", "--name", "mine"]).expect(3);
    assert!(!home.path("elsewhere").exists());
    home.run(&["registry", "init", "--local", "mine", "--name", "other"]).expect(3);
}

#[test]
fn what_has_expired_runs_no_more_until_it_is_signed_anew() {
    let Some(later) = later() else { return };
    let (home, stage) = (Home::empty(), notes_stage());
    let manifest = folder(&home, &notes());
    home.run(&["registry", "init", "--local", "mine", &manifest, "--online-days", "2"]).expect(0);
    connect_notes(&home, &stage);
    run(&home, &stage, "notes.list_notes").expect(0);
    let at = |words: &[&str]| later.run(&home, words);
    // Named before the connection is looked at, and nothing is sent.
    let before = stage.connections();
    let dial = stage.dial_for("notes.example.com", &home);
    let mut words = vec!["run", "notes.list_notes", "--json"];
    words.extend(dial.iter().map(String::as_str));
    at(&words).expect(3).refusal("registry_stale");
    assert_eq!(stage.connections(), before);
    assert!(at(&["registry", "list"]).expect(0).stdout.contains("EXPIRED"));
    let refused = at(&["registry", "sync"]).expect(4);
    assert!(refused.stderr.contains("expired"), "{}", refused.stderr);
    let doctor = at(&["doctor", "--offline", "--json"]).expect(1).stdout;
    assert!(doctor.contains("registry mine") && doctor.contains("expired"), "{doctor}");
    // Signed anew, it runs again; and no clock set back revives what was refused meanwhile.
    at(&["registry", "publish", "mine", "--key", "mine/keys/local.pem"]).expect(0);
    at(&["registry", "sync"]).expect(0);
    at(&words).expect(0);
}

/// The binary in three days' time.
struct Later(&'static str);

fn later() -> Option<Later> {
    let places = [
        "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
        "/usr/lib/faketime/libfaketime.so.1",
    ];
    let found = places.into_iter().find(|place| std::path::Path::new(place).exists());
    if found.is_none() {
        #[expect(
            clippy::disallowed_methods,
            reason = "whether a skip is a failure is the environment's to say"
        )]
        let ci = std::env::var_os("CI");
        assert_ne!(ci.as_deref(), Some("true".as_ref()), "there is no libfaketime");
        eprintln!("SKIPPED: what has expired: there is no libfaketime (Debian: `faketime`)");
    }
    found.map(Later)
}

impl Later {
    fn run(&self, home: &Home, words: &[&str]) -> crate::home::Ran {
        let mut command = home.command(words);
        command.env("LD_PRELOAD", self.0).env("FAKETIME", "+3d");
        crate::home::ran(&mut command, b"")
    }
}
