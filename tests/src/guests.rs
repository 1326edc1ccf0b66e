//! Modules from source to outcome: the command that builds and runs them, and places to do it in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The folder of this build.
fn build_folder() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    test.parent().and_then(Path::parent).expect("the folder of the build").to_owned()
}

/// Where modules are built, and the sources that are made for it: the same each time, so that the standard library is
/// built once for each.
pub fn workshop() -> PathBuf {
    build_folder().join("guests-workshop")
}

/// An empty place for sources in the workshop.
pub fn place(name: &str) -> PathBuf {
    let place = workshop().join(name);
    if place.exists() {
        fs::remove_dir_all(&place).expect("the sources of the last time go");
    }
    fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    place
}

/// The `pinhole` of this build, built if it is not there already.
fn command() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = build_folder();
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

/// What a program prints that must succeed.
pub fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(status.success(), "{command:?}: {status}\n{}{}", text(&stdout), text(&stderr));
    String::from_utf8(stdout).expect("text")
}

/// `pinhole` in a folder.
pub fn pinhole(folder: &Path) -> Command {
    let mut pinhole = Command::new(command());
    pinhole.current_dir(folder).env("PINHOLE_HOME", workshop().join("no-home"));
    // The command's flags name the folder of the sources: two of them in one place would have the standard library built
    // again at each turn.
    let made = folder.strip_prefix(workshop()).ok().and_then(|made| made.iter().next());
    let name = made.and_then(|name| name.to_str()).unwrap_or("manifests");
    pinhole.env("CARGO_TARGET_DIR", workshop().join(format!("target-{name}")));
    pinhole
}

/// Builds a module, which imports nothing but the contract, and gives what the command says of it.
pub fn build(module: &Path, more: &[&str]) -> Value {
    let said = done(pinhole(module).args(["module", "build", "--json"]).args(more));
    let built: Value = serde_json::from_str(&said).expect("a document");
    let imports = built["imports"].as_array().expect("imports");
    let of_ours = |import: &Value| import.as_str().is_some_and(|name| name.starts_with("pinhole:op/"));
    assert!(!imports.is_empty() && imports.iter().all(of_ours), "{built}");
    built
}

/// Runs a module on its cases, none of which may differ, and gives what came of each.
pub fn run(module: &Path, more: &[&str]) -> Vec<Value> {
    let said = done(pinhole(module).args(["module", "run", "--json"]).args(more));
    let reports: Vec<Value> = serde_json::from_str(&said).expect("a document");
    assert!(!reports.is_empty(), "no case ran");
    reports
}

/// The same of cases with every exchange that they have.
pub fn held(module: &Path, more: &[&str]) -> Vec<Value> {
    let reports = run(module, more);
    for report in &reports {
        assert!(report["unused"] == 0 && report["differs"].is_null(), "{report:#}");
    }
    reports
}

/// Whether a manifest's module that was built again is the same bytes, where the toolchain is the recorded one. With
/// another it is said that nothing was compared.
pub fn compared(module: &Path, built: &Value) {
    let recorded = fs::read(module.join("built.json")).expect("what is recorded of its build");
    let recorded: Value = serde_json::from_slice(&recorded).expect("JSON");
    let name = module.display();
    if recorded["toolchain"] == built["toolchain"] && built["reproducible"] == true {
        assert_eq!(recorded["sha256"], built["sha256"], "{name} is not built of these sources");
    } else {
        eprintln!("NOT COMPARED: {name}: {} here, {} recorded", built["toolchain"], recorded["toolchain"]);
    }
}

/// Copies a folder with all that is in it but what was built there.
pub fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true if path.ends_with("target") => {}
            true => copied(&path, &place),
            false => drop(fs::copy(&path, &place).expect("a copy")),
        }
    }
}
