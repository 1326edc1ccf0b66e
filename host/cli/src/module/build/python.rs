//! Modules in Python: `componentize-py`, an interpreter with the sources in it, without WASI.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::project::Project;
use super::super::sdk;
use super::{Made, missing, tool};

const PACKAGER: &str = "componentize-py";
const NO_PACKAGER: &str =
    "`pip install componentize-py==0.25.1` brings it, in the module's `.venv` or on the `PATH`";

pub(super) fn build(project: &Project) -> anyhow::Result<Made> {
    let mut own = project.root.ancestors().map(|folder| folder.join(".venv/bin").join(PACKAGER));
    let packager = own.find(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PACKAGER));
    let toolchain = tool::says(&packager, &["--version"])
        .ok_or_else(|| missing(&format!("`{PACKAGER}` is not installed"), NO_PACKAGER))?;
    let stage = tempfile::Builder::new().prefix("pinhole-module").tempdir()?;
    let sources = stage.path().join("module");
    tool::copy_sources(&project.root, &sources, &["py", "json", "graphql"])?;
    tool::provide(&sources.join("pinhole_guest"), sdk::PYTHON)?;
    let (wit, made) = (stage.path().join("pinhole-op.wit"), stage.path().join("made.wasm"));
    std::fs::write(&wit, sdk::WIT)?;
    package(&packager, &sources, &wit, project.op.as_str(), &made)?;
    Ok(Made { component: std::fs::read(&made)?, toolchain, reproducible: false })
}

fn package(packager: &Path, sources: &Path, wit: &Path, app: &str, made: &Path) -> anyhow::Result<()> {
    let mut command = Command::new(packager);
    command.current_dir(sources).arg("-d").arg(wit).args([
        "-w",
        "module",
        "componentize",
        "--stub-wasi",
        app,
        "-o",
    ]);
    tool::fix_time_and_chance(command.arg(made));
    tool::run(&mut command)
}
