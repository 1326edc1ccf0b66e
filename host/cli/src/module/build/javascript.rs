//! Modules in JavaScript: `componentize-qjs`, an interpreter with the sources in it, without WASI and without async.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::super::project::{Project, text_at};
use super::super::sdk;
use super::{Made, missing, tool};
use crate::end::{End, Failure};
use crate::files;

const PACKAGER: &str = "componentize-qjs";
const NO_PACKAGER: &str = "`npm install` in the module's folder brings it (its `package.json` names it); \
                           `--node-modules DIR` says where it is otherwise";

pub(super) fn build(project: &Project, node_modules: Option<&Path>) -> anyhow::Result<Made> {
    let node = tool::says("node", &["--version"])
        .ok_or_else(|| missing("there is no Node.js", "install Node.js 20 or later"))?;
    let installed = |folder: PathBuf| Some(folder.join(PACKAGER)).filter(|path| path.is_dir());
    let packager = match node_modules {
        Some(folder) => installed(folder.canonicalize().unwrap_or_else(|_absent| folder.to_owned())),
        None => nearest(&project.root),
    };
    let packager = packager
        .ok_or_else(|| missing(&format!("the npm package `{PACKAGER}` is not installed"), NO_PACKAGER))?;
    let version = package(&packager.join("package.json"), "/version")?.unwrap_or_else(|| "?".to_owned());
    let entry = package(&project.root.join("package.json"), "/main")?;
    let entry = entry.unwrap_or_else(|| format!("{}.js", project.op));
    // The sources are built in a folder that is the same for everybody: its name must not get into the component.
    let stage = tempfile::Builder::new().prefix("pinhole-module").tempdir()?;
    let sources = stage.path().join("module");
    tool::copy_sources(&project.root, &sources, &["js", "mjs", "json", "graphql"])?;
    tool::provide(&sources.join("pinhole-guest"), sdk::JAVASCRIPT)?;
    if !sources.join(&entry).is_file() {
        let message =
            format!("`{}` does not have the `{entry}` that its `package.json` names", project.root.display());
        return Err(Failure::new(End::Invalid, message, "write the module's entry under `main`").into());
    }
    let (wit, made) = (stage.path().join("pinhole-op.wit"), stage.path().join("made.wasm"));
    std::fs::write(&wit, sdk::WIT)?;
    let mut command = Command::new("node");
    command.current_dir(&sources).arg(packager.join("cli.mjs"));
    command.arg("--wit").arg(&wit).args(["--world", "module", "--js", &entry, "--module-root", "."]);
    command.args(["--stub-wasi", "--sync", "--opt-size", "--output"]).arg(&made);
    let reproducible = tool::fix_time_and_chance(&mut command);
    tool::run(&mut command)?;
    let component = std::fs::read(&made)?;
    tracing::debug!(node, "a module is packaged");
    Ok(Made { component, toolchain: format!("{PACKAGER} {version}"), reproducible })
}

fn nearest(root: &Path) -> Option<PathBuf> {
    root.ancestors().map(|folder| folder.join("node_modules").join(PACKAGER)).find(|path| path.is_dir())
}

/// What a `package.json` says at a place.
fn package(path: &Path, pointer: &str) -> anyhow::Result<Option<String>> {
    let package: Value = serde_json::from_slice(&files::read(path)?).map_err(|error| {
        let message = format!("`{}` is not JSON: {error}", path.display());
        Failure::new(End::Invalid, message, "mend the file")
    })?;
    Ok(text_at(&package, pointer).map(str::to_owned))
}
