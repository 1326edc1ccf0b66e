//! `pinhole manifest test`: recorded cases hold, and one that does not is named with what differs.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::Home;

fn github() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests/github")
}

/// What is done to a recorded case.
type Change = fn(&mut Value);

/// A folder with GitHub's manifest and one of its cases, changed.
fn folder(home: &Home, case: &str, change: impl Fn(&mut Value)) -> String {
    let manifest = std::fs::read(github().join("manifest.json")).unwrap();
    home.write("copy/manifest.json", manifest);
    let mut recorded: Value =
        serde_json::from_slice(&std::fs::read(github().join("cases").join(case)).unwrap()).unwrap();
    change(&mut recorded);
    home.write(&format!("copy/cases/{case}"), recorded.to_string());
    home.path("copy").to_str().unwrap().to_owned()
}

#[test]
fn all_cases_of_the_binary_s_manifests_hold() {
    let home = Home::empty();
    let folder = github();
    let cases = std::fs::read_dir(folder.join("cases")).unwrap().count();
    let ran = home.run(&["manifest", "test", folder.to_str().unwrap()]).expect(0);
    assert_eq!(ran.stdout, format!("{cases} passed, 0 failed\n"));
    let ran = home.run(&["manifest", "test", folder.to_str().unwrap(), "--json"]).expect(0);
    assert_eq!(ran.json(), json!({"passed": cases, "failed": []}));
    assert!(!home.path("pinhole.db").exists(), "a replay left state behind");
}

#[test]
fn a_case_that_does_not_hold_is_named() {
    let case = "get_repo.result.json";
    let write = "create_issue.result.json";
    let changes: [(&str, Change); 10] = [
        (case, |case| case["expect"]["result"]["full_name"] = json!("somebody/else")),
        (case, |case| case["expect"]["result"]["invented"] = json!(1)),
        (case, |case| case["expect"] = json!({"refusal": "upstream_not_found"})),
        (case, |case| case["exchanges"][0]["request"]["headers"]["accept"] = json!("text/html")),
        (case, |case| case["exchanges"][0]["request"]["headers"]["x-more"] = json!("1")),
        (case, |case| case["exchanges"][0]["request"]["path"] = json!("/user")),
        (case, |case| case["exchanges"] = json!([])),
        (case, |case| {
            let again = case["exchanges"][0].clone();
            case["exchanges"].as_array_mut().unwrap().push(again);
        }),
        (write, |case| case["exchanges"][1]["request"]["body"]["title"] = json!("Another")),
        (write, |case| case["access"] = json!("read")),
    ];
    for (number, (case, change)) in changes.into_iter().enumerate() {
        let home = Home::empty();
        let folder = folder(&home, case, change);
        let ran = home.run(&["manifest", "test", &folder]).expect(1);
        assert!(
            ran.stdout.contains(case) && ran.stdout.ends_with("0 passed, 1 failed\n"),
            "{number}: {}",
            ran.stdout
        );
        let found = home.run(&["manifest", "test", &folder, "--json"]).expect(1).json();
        assert!(found["failed"][0]["file"].as_str().unwrap().ends_with(case), "{number}: {found}");
        assert!(!found["failed"][0]["fault"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_case_that_is_none_fails() {
    for (name, text) in [
        ("get_repo.rubbish.json", "{"),
        ("get_repo.empty.json", "{}"),
        ("nope.result.json", r#"{"args":{},"access":"read","exchanges":[],"expect":{"refusal":"x"}}"#),
        ("result.json", r#"{"args":{},"access":"read","exchanges":[],"expect":{"refusal":"x"}}"#),
    ] {
        let home = Home::empty();
        let folder = folder(&home, "get_repo.result.json", |_| {});
        home.write(&format!("copy/cases/{name}"), text);
        let ran = home.run(&["manifest", "test", &folder]).expect(1);
        assert!(ran.stdout.contains(name) && ran.stdout.ends_with("1 passed, 1 failed\n"), "{}", ran.stdout);
    }
}

#[test]
fn a_folder_without_cases_or_with_a_bad_manifest_tests_nothing() {
    let home = Home::empty();
    let good = folder(&home, "get_repo.result.json", |_| {});
    home.write("bare/manifest.json", std::fs::read(github().join("manifest.json")).unwrap());
    home.run(&["manifest", "test", "bare"]).expect(2);
    std::fs::create_dir(home.path("bare/cases")).unwrap();
    home.run(&["manifest", "test", "bare"]).expect(1);
    home.run(&["manifest", "test", &good, "bare"]).expect(1);
    home.run(&["manifest", "test", "absent"]).expect(2);
    let manifest = github().join("manifest.json");
    home.run(&["manifest", "test", manifest.to_str().unwrap()]).expect(2);
    home.write("copy/manifest.json", "{}");
    let ran = home.run(&["manifest", "test", &good]).expect(4);
    assert!(ran.stderr.contains("pinhole manifest check"), "{}", ran.stderr);
}
