//! Modules in JavaScript from source to outcome: what `pinhole module new` makes, the SDK's example and the module of a
//! manifest are built by the command and run on their cases; the library's own tests and types, and the tests of each
//! module in Node, hold.
//!
//! Needs Node and what `.ci/run` installs; says so loudly where they are missing, and fails there in CI. Dials nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use pinhole_tests::node_tools;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The command, built if it is not there already.
fn command() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let test = std::env::current_exe().expect("this test");
        let folder = test.parent().and_then(Path::parent).expect("the folder of the build").to_owned();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--workspace", "--bin", "pinhole"]);
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        cargo.env("CARGO_TARGET_DIR", folder.parent().expect("a folder")).current_dir(root());
        assert!(cargo.status().expect("cargo runs").success(), "the command does not build");
        folder.join("pinhole")
    })
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What a command says that must succeed.
fn done(command: &mut Command) -> String {
    let output = command.output().expect("the command runs");
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, text(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn pinhole(folder: &Path) -> Command {
    let mut pinhole = Command::new(command());
    pinhole.current_dir(folder).env("PINHOLE_HOME", folder.join("no-home"));
    pinhole
}

/// The packages, or `None` and a loud word.
fn packager(test: &str) -> Option<PathBuf> {
    node_tools(test, "componentize-qjs").map(|tools| tools.join("node_modules"))
}

/// Builds a module and gives what the command says of it.
fn build(module: &Path, packages: &Path, more: &[&str]) -> Value {
    let mut command = pinhole(module);
    command.args(["module", "build", "--json", "--node-modules"]).arg(packages).args(more);
    serde_json::from_str(&done(&mut command)).expect("a document")
}

fn assert_imports_only_the_contract(built: &Value) {
    let imports = built["imports"].as_array().expect("imports");
    let of_ours = |import: &Value| import.as_str().is_some_and(|name| name.starts_with("pinhole:op/"));
    assert!(!imports.is_empty() && imports.iter().all(of_ours), "{built}");
}

/// What came of each case.
fn run(module: &Path, more: &[&str]) -> Vec<Value> {
    let reports = done(pinhole(module).args(["module", "run", "--json"]).args(more));
    let reports: Vec<Value> = serde_json::from_str(&reports).expect("a document");
    assert!(!reports.is_empty(), "no case ran");
    reports
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

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() { copied(&path, &place) } else { fs::copy(&path, &place).map(drop).expect("a copy") }
    }
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
        assert_imports_only_the_contract(&build(&module, &packages, &[]));
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
    assert_imports_only_the_contract(&build(folder.path(), &packages, &[]));
    let reports = run(folder.path(), &[]);
    assert_eq!(reports.len(), 3);
    // Every exchange of every case took place.
    assert!(
        reports.iter().all(|report| report["unused"] == 0 && report["differs"].is_null()),
        "{reports:#?}"
    );
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
    assert_imports_only_the_contract(&built);
    let recorded = fs::read(module.join("built.json")).expect("how it was built");
    let recorded: Value = serde_json::from_slice(&recorded).expect("JSON");
    // Another packager, or one whose chance nobody fixes, gives other bytes.
    if ["toolchain", "reproducible"].iter().all(|same| recorded[same] == built[same])
        && built["reproducible"] == true
    {
        assert_eq!(
            recorded["sha256"], built["sha256"],
            "the sources changed: `pinhole module build` it again"
        );
    }
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
