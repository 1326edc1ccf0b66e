//! Modules in Rust: cargo for `wasm32-unknown-unknown`, whose core module becomes a component without any WASI.
//!
//! Where rustup has the target, its compiler is used. Where not, Debian's: it has the sources of the standard library,
//! which is then built along.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use wit_component::ComponentEncoder;

use super::super::project::Project;
use super::{Made, missing, tool};
use crate::end::{End, Failure};

const TARGET: &str = "wasm32-unknown-unknown";
/// How modules are built, whatever their `Cargo.toml` says: small, and the same for everybody.
const PROFILE: [(&str, &str); 7] = [
    ("OPT_LEVEL", "s"),
    ("LTO", "true"),
    ("CODEGEN_UNITS", "1"),
    ("PANIC", "abort"),
    ("STRIP", "true"),
    ("DEBUG", "false"),
    ("OVERFLOW_CHECKS", "true"),
];
const NO_COMPILER: &str = "with rustup: `rustup target add wasm32-unknown-unknown`; on Debian: \
                           `apt-get install rustc-web rust-web-src lld-19`";

/// A compiler that can make Wasm.
struct Compiler {
    rustc: PathBuf,
    version: String,
    sysroot: PathBuf,
    /// The linker, where the standard library has to be built along.
    linker: Option<PathBuf>,
}

/// What cargo says of a project.
struct Package {
    name: String,
    library: String,
    workspace: PathBuf,
    target: PathBuf,
    /// The folders of packages from elsewhere, each with what stands for it.
    elsewhere: BTreeMap<PathBuf, String>,
    /// Whether sources are outside the workspace's folder and of no registry.
    scattered: bool,
}

/// The part of `cargo metadata` that a build needs.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct MetadataPackage {
    name: String,
    version: String,
    source: Option<String>,
    manifest_path: PathBuf,
    targets: Vec<MetadataTarget>,
}

#[derive(Deserialize)]
struct MetadataTarget {
    name: String,
    crate_types: Vec<String>,
}

pub(super) fn build(project: &Project) -> anyhow::Result<Made> {
    if tool::says("cargo", &["--version"]).is_none() {
        return Err(missing("there is no cargo", "install Rust, by rustup"));
    }
    let compiler = compiler().ok_or_else(|| missing("there is no Rust compiler for Wasm", NO_COMPILER))?;
    let package = package(project)?;
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--lib", "--target", TARGET, "--package", &package.name]);
    command.current_dir(&project.root).arg("--target-dir").arg(&package.target);
    command.env("RUSTC", &compiler.rustc).env("CARGO_INCREMENTAL", "0").env_remove("RUSTFLAGS");
    for (name, value) in PROFILE {
        command.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    command.env("CARGO_ENCODED_RUSTFLAGS", flags(&compiler, &package));
    if let Some(linker) = &compiler.linker {
        command.arg("-Zbuild-std=std,panic_abort").env("RUSTC_BOOTSTRAP", "1");
        command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
    }
    tool::run(&mut command)?;
    let built = package.target.join(TARGET).join("release").join(format!("{}.wasm", package.library));
    let core = std::fs::read(&built).map_err(|error| {
        let message = format!("`{}` was not made: {error}", built.display());
        Failure::new(End::Invalid, message, "write `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]`")
    })?;
    let encoder = ComponentEncoder::default().validate(true).module(&core);
    let component = encoder.and_then(|mut encoder| encoder.encode()).map_err(|error| {
        let message = format!("`{}` is no module of `pinhole:op`: {error:#}", built.display());
        Failure::new(End::Invalid, message, "export the op with `pinhole_guest::export!`")
    })?;
    Ok(Made { component, toolchain: compiler.version, reproducible: !package.scattered })
}

fn compiler() -> Option<Compiler> {
    let of = |rustc: &str| {
        let version = tool::says(rustc, &["--version"])?;
        let sysroot = tool::says(rustc, &["--print", "sysroot"])?;
        Some(Compiler { rustc: rustc.into(), version, sysroot: sysroot.into(), linker: None })
    };
    let has = |compiler: &Compiler, part: &str| compiler.sysroot.join(part).is_dir();
    let ready = of("rustc").filter(|found| has(found, "lib/rustlib/wasm32-unknown-unknown/lib"));
    ready.or_else(|| {
        let found = of("/usr/bin/rustc").filter(|found| has(found, "lib/rustlib/src/rust/library"))?;
        Some(Compiler { linker: Some(linker()?), ..found })
    })
}

/// Debian's linker for Wasm, which has its version in its name.
fn linker() -> Option<PathBuf> {
    let versions = (14..=30).rev().map(|version| format!("/usr/bin/wasm-ld-{version}"));
    let mut places = std::iter::once("/usr/bin/wasm-ld".to_owned()).chain(versions).map(PathBuf::from);
    places.find(|path| path.is_file())
}

/// Folders of this machine have no place in what is built.
fn flags(compiler: &Compiler, package: &Package) -> String {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let elsewhere = package.elsewhere.iter().map(|(from, to)| remap(from, to));
    let own = [remap(&package.workspace, "/module"), remap(&compiler.sysroot, "/rust")];
    own.into_iter().chain(elsewhere).collect::<Vec<_>>().join("\x1f")
}

fn package(project: &Project) -> anyhow::Result<Package> {
    let mut command = Command::new("cargo");
    command
        .args(["metadata", "--format-version", "1", "--filter-platform", TARGET])
        .current_dir(&project.root);
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let unread = |error: &dyn std::fmt::Display| {
        let message = format!("cargo cannot read `{}`: {error}", project.root.join("Cargo.toml").display());
        Failure::new(End::Invalid, message, "look at `Cargo.toml`; cargo comes with Rust")
    };
    let output = command.output().map_err(|error| unread(&error))?;
    if !output.status.success() {
        return Err(unread(&"what it said stands above").into());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| unread(&error))?;
    read(metadata, &project.root)
        .ok_or_else(|| unread(&"it has no library with `crate-type = [\"cdylib\", \"rlib\"]`").into())
}

fn read(metadata: Metadata, root: &Path) -> Option<Package> {
    let Metadata { packages, workspace_root, target_directory } = metadata;
    let folder = |package: &MetadataPackage| package.manifest_path.parent().map(Path::to_owned);
    let own = packages.iter().find(|package| folder(package).as_deref() == Some(root))?;
    let is_cdylib = |target: &&MetadataTarget| target.crate_types.iter().any(|kind| kind == "cdylib");
    let library = own.targets.iter().find(is_cdylib)?.name.replace('-', "_");
    let (mut elsewhere, mut scattered) = (BTreeMap::new(), false);
    for package in &packages {
        let place = folder(package)?;
        if place.starts_with(&workspace_root) {
            continue;
        }
        if let Some((cargo_home, _)) = place.to_str()?.split_once("/registry/src/") {
            // All packages of registries are under one folder, those of the standard library too.
            elsewhere.insert(PathBuf::from(cargo_home), "/cargo".to_owned());
        } else {
            scattered = scattered || package.source.is_none();
            elsewhere.insert(place, format!("/{}-{}", package.name, package.version));
        }
    }
    let target = target_directory.join("module");
    Some(Package { name: own.name.clone(), library, workspace: workspace_root, target, elsewhere, scattered })
}
