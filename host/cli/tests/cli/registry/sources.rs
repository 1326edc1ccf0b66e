//! A service belongs to one source, and a key that was given under one is not used under another.

use serde_json::{Value, json};

use super::{own, sync};
use crate::home::Home;
use crate::stage::{READ, Stage};

/// GitHub's manifest as somebody else has it.
fn github() -> Value {
    let bytes =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../manifests/github/manifest.json")).unwrap();
    let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
    manifest["version"] = json!("9.0.0");
    // Its module is not in this registry.
    manifest["ops"].as_object_mut().unwrap().remove("stale_issues");
    manifest
}

#[test]
fn a_service_of_the_binary_is_refused_until_the_operator_says_replace() {
    let (home, stage) = (Home::empty(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    own(&home, &github());
    let refused = sync(&home, &[]);
    assert_eq!((&refused["happened"], &refused["owner"]), (&json!("refused"), &json!("the binary")));
    let read = [&["run"], &READ[..], &["--json"]].concat();
    let outcome = home.run(&stage.args(&home, &read).words()).expect(0).json();
    assert!(outcome["meta"]["manifest"] != "github@9.0.0", "{outcome}");

    home.run(&["registry", "replace", "github", "--with", "mine"]).expect(0);
    assert_eq!(sync(&home, &[])["happened"], "added");
    // The key was given under the binary's manifest.
    let refused = home.run(&stage.args(&home, &read).words()).expect(3).json();
    assert_eq!(refused["refusal"]["code"], "source_changed");

    home.run(&["registry", "untrust", "mine"]).expect(0);
    home.run(&stage.args(&home, &read).words()).expect(0);
}

#[test]
fn another_registry_under_the_same_name_is_another_source() {
    let home = Home::empty();
    let stage = super::notes_stage();
    own(&home, &super::notes());
    super::connect_notes(&home, &stage);
    home.run(&["registry", "untrust", "mine"]).expect(0);
    std::fs::rename(home.path("mine"), home.path("before")).unwrap();
    own(&home, &super::notes());
    let refused = super::run(&home, &stage, "notes.list_notes").expect(3).json();
    assert_eq!(refused["refusal"]["code"], "source_changed");
}

#[test]
fn an_unsigned_file_takes_the_place_of_no_signed_manifest() {
    let home = Home::empty();
    own(&home, &super::notes());
    let file = home.path("manifests/notes/manifest.json");
    let words = ["services", "notes", "--manifest", file.to_str().unwrap(), "--unsigned"];
    let ran = home.run(&words).expect(4);
    assert!(ran.stderr.contains("has a manifest already"), "{}", ran.stderr);
}

#[test]
fn a_state_that_was_tampered_with_runs_nothing() {
    let home = Home::empty();
    own(&home, &super::notes());
    let mut damaged = 0;
    let mut folders = vec![home.path("registries")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                if String::from_utf8_lossy(&bytes).contains("notes.example.com") {
                    let changed =
                        String::from_utf8(bytes).unwrap().replace("notes.example.com", "notes.example.org");
                    std::fs::write(&path, changed).unwrap();
                    damaged += 1;
                }
            }
        }
    }
    assert!(damaged > 0);
    let ran = home.run(&["services", "notes"]).expect(6);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
}
