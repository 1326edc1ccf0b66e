//! Modules from source to outcome: the command that builds and runs them, and copies to do it on.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

use crate::node::missing;

/// The folder of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The `pinhole` of this build, built if it is not there already.
fn built() -> &'static Path {
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

/// What a program prints that must succeed.
pub fn done(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(status.success(), "{command:?}: {status}\n{}{}", text(&stdout), text(&stderr));
    String::from_utf8(stdout).expect("text")
}

/// `pinhole` in a folder.
pub fn pinhole(folder: &Path) -> Command {
    let mut pinhole = Command::new(built());
    pinhole.current_dir(folder).env("PINHOLE_HOME", folder.join("no-home"));
    // Builds share what they have in common.
    pinhole.env("CARGO_TARGET_DIR", built().ancestors().nth(2).expect("a folder"));
    // What a test is built with is none of a module's.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_MANIFEST_DIR"] {
        pinhole.env_remove(name);
    }
    pinhole
}

/// Builds a module and gives what the command says of it.
pub fn build(module: &Path, more: &[&str]) -> Value {
    let mut command = pinhole(module);
    command.args(["module", "build", "--json"]).args(more);
    serde_json::from_str(&done(&mut command)).expect("a document")
}

/// Whether modules in Rust can be built here. If not, a loud word, but for CI, where that is a failure.
pub fn builds_rust(test: &str) -> bool {
    let is = |program: &str, args: &[&str], part: &str| {
        let said = Command::new(program).args(args).output();
        said.is_ok_and(|said| Path::new(String::from_utf8_lossy(&said.stdout).trim()).join(part).is_dir())
    };
    let target = ["--print", "target-libdir", "--target", "wasm32-unknown-unknown"];
    let here = is("rustc", &target, ".")
        || is("/usr/bin/rustc", &["--print", "sysroot"], "lib/rustlib/src/rust/library");
    here || missing::<()>(test, "no Rust compiler for Wasm; `.ci/run` installs one").is_some()
}

/// Runs a module on its cases, all of which must hold, and gives what the command says of each.
pub fn run(module: &Path, more: &[&str]) -> Vec<Value> {
    let reports = done(pinhole(module).args(["module", "run", ".", "--json"]).args(more));
    let reports: Vec<Value> = serde_json::from_str(&reports).expect("a document");
    assert!(!reports.is_empty(), "no case ran");
    reports
}

/// Copies a folder with all that is in it.
pub fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let place = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copied(&path, &place);
        } else {
            std::fs::copy(&path, &place).expect("a copy");
        }
    }
}
