//! Modules in JavaScript from source to outcome: what `pinhole module new` makes, the SDK's example and the module of a
//! manifest are built by the command and run on their cases; the library's own tests and types, and the tests of each
//! module in Node, hold.
//!
//! Needs Node and what `.ci/run` installs; says so loudly where they are missing, and fails there in CI. Dials nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pinhole_tests::guests::{self, copied, done, held, pinhole, root, run};
use pinhole_tests::node_tools;
use serde_json::Value;

/// The packages, or `None` and a loud word.
fn packager(test: &str) -> Option<PathBuf> {
    node_tools(test, "componentize-qjs").map(|tools| tools.join("node_modules"))
}

/// Builds a module with these packages.
fn build(module: &Path, packages: &Path, more: &[&str]) -> Value {
    let packages = packages.to_str().expect("text");
    guests::build(module, &[&["--node-modules", packages], more].concat())
}

/// The tests of a folder, in Node; at least so many.
fn node_tests(folder: &Path, at_least: usize) {
    let mut node = Command::new("node");
    // Another runner of tests above this one is none of theirs.
    node.current_dir(folder).args(["--test", "--test-reporter=tap"]).env_remove("NODE_TEST_CONTEXT");
    let said = done(&mut node);
    let passed =
        said.lines().find_map(|line| line.strip_prefix("# pass ")).and_then(|n| n.parse::<usize>().ok());
    assert!(passed.is_some_and(|passed| passed >= at_least), "{}: {said}", folder.display());
}

#[test]
fn the_library_does_what_its_tests_say_and_has_the_types_that_it_declares() {
    let test = "the_library_does_what_its_tests_say_and_has_the_types_that_it_declares";
    let Some(tools) = node_tools(test, "typescript") else { return };
    let folder = root().join("guest-sdk/js/test");
    node_tests(&folder, 30);
    done(Command::new("node").arg(tools.join("node_modules/typescript/bin/tsc")).arg("-p").arg(folder));
}

#[test]
fn a_new_module_is_tested_built_and_run_as_it_is() {
    let Some(packages) = packager("a_new_module_is_tested_built_and_run_as_it_is") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for service in ["github", "linear"] {
        let module = folder.path().join(service);
        let dir = module.to_str().expect("text");
        done(pinhole(folder.path()).args([
            "module",
            "new",
            "js",
            "top-members",
            "--service",
            service,
            "--dir",
            dir,
        ]));
        node_tests(&module, 2);
        build(&module, &packages, &[]);
        done(pinhole(&module).args(["module", "check"]));
        let reports = run(&module, &[]);
        let result = &reports[0]["outcome"]["result"];
        let names = result["names"].as_array().expect("names").len();
        assert!(names > 0 && result["members"] == names, "{reports:#?}");
    }
}

#[test]
fn the_example_is_tested_built_and_run() {
    let Some(packages) = packager("the_example_is_tested_built_and_run") else { return };
    let example = root().join("guest-sdk/js/example");
    node_tests(&example, 4);
    let folder = tempfile::tempdir().expect("a folder");
    copied(&example, folder.path());
    build(folder.path(), &packages, &[]);
    assert_eq!(held(folder.path(), &[]).len(), 3);
}

#[test]
fn linears_module_is_built_again_and_holds_its_cases() {
    let Some(packages) = packager("linears_module_is_built_again_and_holds_its_cases") else { return };
    let module = root().join("manifests/linear/modules/cycle_report");
    node_tests(&module, 10);
    let folder = tempfile::tempdir().expect("a folder");
    let made = folder.path().join("made.wasm");
    let made = made.to_str().expect("text");
    let built = build(&module, &packages, &["--out", made]);
    guests::compared(&module, &built);
    assert!(run(&module, &["--component", made]).len() >= 6);
}

#[test]
fn two_builds_give_one_digest_where_the_command_says_so() {
    let Some(packages) = packager("two_builds_give_one_digest_where_the_command_says_so") else { return };
    let example = root().join("guest-sdk/js/example");
    let digests: Vec<Value> = ["a", "b-of-another-length"]
        .iter()
        .map(|name| {
            let folder = tempfile::tempdir().expect("a folder");
            let module = folder.path().join(name);
            copied(&example, &module);
            build(&module, &packages, &[])
        })
        .collect();
    let same = digests[0]["sha256"] == digests[1]["sha256"];
    assert_eq!(Value::from(same), digests[0]["reproducible"], "{digests:#?}");
}

#[test]
fn what_a_module_throws_reaches_the_caller_and_a_fault_of_its_code_has_a_name() {
    let test = "what_a_module_throws_reaches_the_caller_and_a_fault_of_its_code_has_a_name";
    let Some(packages) = packager(test) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let module = folder.path().join("failing");
    let dir = module.to_str().expect("text");
    done(pinhole(folder.path()).args([
        "module",
        "new",
        "js",
        "failing",
        "--service",
        "github",
        "--dir",
        dir,
    ]));
    let said = [
        ("throw new Error(\"no such team: list_teams shows them\")", "no such team: list_teams shows them"),
        ("return undefined.length", "TypeError: "),
        ("return host.get(\"/nowhere/{a}\").send()", "has no value for `{a}`"),
    ];
    for (body, words) in said {
        fs::write(module.join("failing.js"), format!("export function failing(args, host) {{ {body}; }}\n"))
            .expect("written");
        fs::remove_file(module.join("failing.test.js")).ok();
        build(&module, &packages, &[]);
        let reports = run(&module, &[]);
        let outcome = &reports[0]["outcome"];
        let refusal = outcome.to_string();
        assert!(refusal.contains("module_failed") && refusal.contains(words), "{body}: {refusal}");
    }
}
