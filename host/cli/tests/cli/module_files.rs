//! `pinhole manifest check` looks at the modules beside a manifest: each fault of a file, where the manifest says so, in three
//! shapes, and the sibling that has none.

use pinhole_manifest::Digest;
use serde_json::{Value, json};

use crate::home::Home;
use crate::modules::{PROBE, manifest};

const FILE: &str = "modules/probe.wasm";
/// A component that exports nothing.
const HOLLOW: &[u8] = b"\0asm\x0d\0\x01\0";

/// A component that imports two functions that no module is given.
fn with_imports() -> Vec<u8> {
    let mut bytes = HOLLOW.to_vec();
    // The type of a function without parameters and results, and two imports of it.
    bytes.extend(b"\x07\x05\x01\x40\x00\x01\x00");
    bytes.extend(b"\x0a\x1d\x02\x00\x09read-file\x01\x00\x00\x0bopen-socket\x01\x00");
    bytes
}

/// The manifest for a module of these bytes, with another op of the same module.
fn manifest_for(module: &[u8]) -> Value {
    let mut manifest = manifest();
    manifest["ops"]["stale_things"]["module"]["sha256"] = json!(Digest::of(module).hex());
    let other = manifest["ops"]["stale_things"].clone();
    manifest["ops"]["other_things"] = other;
    manifest
}

/// The one fault of each op that a check finds, in all shapes.
fn faults(home: &Home) -> Vec<Value> {
    let found = home.run(&["manifest", "check", ".", "--json"]).expect(4).json();
    assert_eq!(found[0]["valid"], false);
    let found = found[0]["diagnostics"].as_array().unwrap().clone();
    let text = home.run(&["manifest", "check", "manifest.json"]).expect(4).stdout;
    let annotations = home.run(&["manifest", "check", ".", "--annotations"]).expect(4).stdout;
    assert_eq!(annotations.lines().count(), found.len());
    for one in &found {
        let (code, pointer) = (one["code"].as_str().unwrap(), one["pointer"].as_str().unwrap());
        assert!(text.contains(&format!("{pointer} ({code})")), "{text}");
        let place = format!("line={},col={},title={code}::{pointer}: ", one["line"], one["column"]);
        assert!(annotations.contains(&place), "{annotations}");
        assert!(!one["help"].as_str().unwrap().is_empty() && one["severity"] == "error", "{one}");
    }
    found
}

fn faults_of(module: &[u8]) -> Vec<Value> {
    let home = Home::empty();
    home.write("manifest.json", serde_json::to_vec_pretty(&manifest_for(module)).unwrap());
    home.write(FILE, module);
    faults(&home)
}

#[test]
fn a_module_that_is_as_the_manifest_says_is_no_fault() {
    let home = Home::empty();
    home.write("manifest.json", manifest_for(PROBE).to_string());
    home.write(FILE, PROBE);
    home.run(&["manifest", "check", "."]).expect(0);
    home.run(&["manifest", "check", "manifest.json"]).expect(0);
    assert_eq!(home.run(&["manifest", "check", ".", "--annotations"]).expect(0).stdout, "");
}

#[test]
fn a_module_that_is_not_there_is_named_where_the_manifest_names_it() {
    let home = Home::empty();
    home.write("manifest.json", manifest_for(PROBE).to_string());
    let found = faults(&home);
    assert_eq!(found.iter().map(|one| &one["code"]).collect::<Vec<_>>(), ["module_absent"; 2]);
    let mut pointers: Vec<&str> = found.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/ops/other_things/module/file", "/ops/stale_things/module/file"]);
    // Nobody knows what is beside standard input.
    home.run_with(&["manifest", "check", "-"], manifest_for(PROBE).to_string()).expect(0);
}

#[test]
fn a_module_that_is_too_large_is_not_read() {
    let home = Home::empty();
    home.write("manifest.json", manifest_for(PROBE).to_string());
    home.write(FILE, vec![0; (32 << 20) + 1]);
    let found = faults(&home);
    assert_eq!(found[0]["code"], "module_absent");
    assert!(found[0]["message"].as_str().unwrap().contains("more than 33554432 bytes"), "{found:?}");
}

#[test]
fn a_module_of_another_digest_is_named_with_its_own() {
    let home = Home::empty();
    home.write("manifest.json", manifest_for(PROBE).to_string());
    home.write(FILE, HOLLOW);
    let found = faults(&home);
    assert_eq!(found.iter().map(|one| &one["code"]).collect::<Vec<_>>(), ["module_changed"; 2]);
    assert!(found[0]["pointer"].as_str().unwrap().ends_with("/module/sha256"), "{found:?}");
    assert!(found[0]["message"].as_str().unwrap().contains(&Digest::of(HOLLOW).hex()), "{found:?}");
}

#[test]
fn a_module_that_would_not_load_is_named_with_the_reason() {
    for (module, why) in [
        (b"\0asm\x01\0\0\0".to_vec(), "it is a core module, not a component"),
        (b"garbage".to_vec(), "it is not a valid component"),
        (HOLLOW.to_vec(), "it is not of the world `pinhole:op/module@1.0.0`"),
        (with_imports(), "it imports `read-file`, `open-socket`, which no module is given"),
    ] {
        let found = faults_of(&module);
        assert_eq!(found.iter().map(|one| &one["code"]).collect::<Vec<_>>(), ["module_unfit"; 2]);
        assert!(found[0]["message"].as_str().unwrap().ends_with(why), "{found:?}");
        assert!(found[0]["pointer"].as_str().unwrap().ends_with("/module/file"), "{found:?}");
    }
}
