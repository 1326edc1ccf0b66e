//! Modules in Rust from source to outcome: what `pinhole module new` makes, the SDK's example and the modules of the
//! manifests are built by the command and run on their cases.
//!
//! Needs a compiler for Wasm (`.ci/run` installs Debian's where there is none); says so loudly where it is missing, and
//! fails there in CI. Sources are put where they always are, under the folder of the build, so that the standard library is
//! built once for each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use pinhole_tests::missing;
use serde_json::Value;

/// The manifests' modules in Rust, and how many cases each has at least.
const MODULES: [(&str, usize); 4] = [
    ("dnsimple/modules/zone_file", 7),
    ("github/modules/stale_issues", 8),
    ("hubspot/modules/pipeline_summary", 7),
    ("stripe/modules/revenue_by_month", 8),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The folder of this build.
fn built_in() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    test.parent().and_then(Path::parent).expect("the folder of the build").to_owned()
}

/// The command, built if it is not there already.
fn command() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = built_in();
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

/// Where guests are built, and the sources that are made for it.
fn workshop() -> PathBuf {
    built_in().join("guests-rust")
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
    pinhole.current_dir(folder).env("PINHOLE_HOME", workshop().join("no-home"));
    // The command's flags name the folder of the sources: in one place two of them would build the library again and again.
    let made = folder.strip_prefix(workshop()).ok().and_then(|made| made.iter().next());
    let name = made.and_then(|name| name.to_str()).unwrap_or("manifests");
    pinhole.env("CARGO_TARGET_DIR", workshop().join(format!("target-{name}")));
    pinhole
}

/// Whether modules can be built here.
fn compiler(test: &str) -> Option<()> {
    let has = |rustc: &str, part: &str| {
        let said = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
        let sysroot = String::from_utf8(said.stdout).ok()?;
        Path::new(sysroot.trim()).join(part).is_dir().then_some(())
    };
    let found = has("rustc", "lib/rustlib/wasm32-unknown-unknown/lib")
        .or_else(|| has("/usr/bin/rustc", "lib/rustlib/src/rust/library"));
    found.or_else(|| missing(test, "there is no Rust compiler for Wasm; `.ci/run` installs one"))
}

/// Builds a module and gives what the command says of it.
fn build(module: &Path, more: &[&str]) -> Value {
    let said = done(pinhole(module).args(["module", "build", "--json"]).args(more));
    let built: Value = serde_json::from_str(&said).expect("a document");
    let imports = built["imports"].as_array().expect("imports");
    let of_ours = |import: &Value| import.as_str().is_some_and(|name| name.starts_with("pinhole:op/"));
    assert!(!imports.is_empty() && imports.iter().all(of_ours), "{built}");
    built
}

/// What came of each case.
fn run(module: &Path, more: &[&str]) -> Vec<Value> {
    let said = done(pinhole(module).args(["module", "run", "--json"]).args(more));
    let reports: Vec<Value> = serde_json::from_str(&said).expect("a document");
    assert!(!reports.is_empty(), "no case ran");
    reports
}

/// The same of cases that hold, with every exchange that they have.
fn held(module: &Path, more: &[&str]) -> Vec<Value> {
    let reports = run(module, more);
    for report in &reports {
        assert!(report["unused"] == 0 && report["differs"].is_null(), "{report:#}");
    }
    reports
}

/// The native tests of a module; at least so many.
fn native_tests(module: &Path, at_least: usize) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["test", "--lib"])
        .current_dir(module)
        .env("CARGO_TARGET_DIR", workshop().join("target-native"));
    let said = done(&mut cargo);
    let passed = said.split("test result: ok. ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
    assert!(passed.is_some_and(|passed: usize| passed >= at_least), "{}: {said}", module.display());
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true if path.ends_with("target") => {}
            true => copied(&path, &place),
            false => fs::copy(&path, &place).map(drop).expect("a copy"),
        }
    }
}

/// An empty place for sources, the same each time.
fn place(name: &str) -> PathBuf {
    let place = workshop().join(name);
    if place.exists() {
        fs::remove_dir_all(&place).expect("the sources of the last time go");
    }
    fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    place
}

/// A new module, with the versions of everything that this workspace has.
fn new(name: &str, service: &str) -> PathBuf {
    let module = place(name);
    let dir = module.to_str().expect("text");
    let args = ["module", "new", "rust", "top-members", "--service", service, "--dir", dir];
    done(pinhole(&root()).args(args));
    fs::copy(root().join("Cargo.lock"), module.join("Cargo.lock")).expect("a copy");
    module
}

#[test]
fn a_new_module_is_tested_built_and_run_as_it_is_and_then_does_worse() {
    let Some(()) = compiler("a_new_module_is_tested_built_and_run_as_it_is_and_then_does_worse") else {
        return;
    };
    let module = new("new", "github");
    native_tests(&module, 2);
    build(&module, &[]);
    done(pinhole(&module).args(["module", "check"]));
    let result = &held(&module, &[])[0]["outcome"]["result"];
    let names = result["names"].as_array().expect("names").len();
    assert!(names > 0 && result["members"] == names, "{result}");

    let source = module.join("src/lib.rs");
    let whole = fs::read_to_string(&source).expect("the source");
    let begins = "    // A value goes into a path";
    assert!(whole.contains(begins), "{whole}");
    for (line, code, words) in [
        ("panic!(\"the wick is {}\", \"out\");", "module_trapped", "the wick is out"),
        ("return Err(Error::new(\"no such lamp\"));", "module_failed", "no such lamp"),
        ("Request::get(path!(\"/users/{}\", \"..\")).send(host)?;", "module_failed", "cannot be sent"),
        (
            "Request::get(path!(\"/users/{}\", \"a/b\")).send(host)?;",
            "module_request_refused",
            "/users/a%2Fb",
        ),
        ("Request::get(\"/user\").send(host)?.json::<Vec<String>>()?;", "module_failed", "not the JSON"),
    ] {
        let worse =
            whole.replace(begins, &format!("    if host.now() > 0 {{\n        {line}\n    }}\n{begins}"));
        fs::write(&source, worse).expect("written");
        build(&module, &[]);
        let outcome = run(&module, &[])[0]["outcome"].clone();
        let said = outcome.to_string();
        assert!(outcome["refusal"]["code"] == code && said.contains(words), "{line}: {said}");
    }
}

#[test]
fn a_new_module_of_graphql_is_tested_as_it_is() {
    let Some(()) = compiler("a_new_module_of_graphql_is_tested_as_it_is") else { return };
    native_tests(&new("new-graphql", "linear"), 2);
}

#[test]
fn the_example_is_tested_built_and_run() {
    let Some(()) = compiler("the_example_is_tested_built_and_run") else { return };
    let sdk = place("sdk");
    copied(&root().join("guest-sdk/rust"), &sdk);
    let example = sdk.join("example");
    native_tests(&example, 2);
    build(&example, &[]);
    assert_eq!(held(&example, &[]).len(), 2);
}

#[test]
fn the_manifests_modules_are_built_again_and_hold_their_cases() {
    let Some(()) = compiler("the_manifests_modules_are_built_again_and_hold_their_cases") else { return };
    let made = place("made");
    fs::create_dir_all(&made).expect("a folder");
    for (folder, cases) in MODULES {
        let module = root().join("manifests").join(folder);
        let out = made.join(module.file_name().expect("a name")).with_extension("wasm");
        let out = out.to_str().expect("text");
        let built = build(&module, &["--out", out]);
        assert!(held(&module, &["--component", out]).len() >= cases, "{folder}");
        let recorded = fs::read(module.join("built.json")).expect("what is recorded of its build");
        let recorded: Value = serde_json::from_slice(&recorded).expect("JSON");
        // Another compiler makes other bytes.
        if recorded["toolchain"] == built["toolchain"] {
            assert_eq!(recorded["sha256"], built["sha256"], "{folder} is not built of these sources");
        }
    }
}
