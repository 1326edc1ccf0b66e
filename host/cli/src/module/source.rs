//! Whether a component was built from the sources that are there: `built.json` has a digest of them.

use std::fs;
use std::path::Path;

use pinhole_manifest::Digest;
use serde_json::Value;

use super::project::{Project, text_at};
use crate::out;

/// What is no source: what is built, installed or recorded, and the op, which a component does not depend on.
const NONE: [&str; 8] = [
    "target",
    "node_modules",
    "cases",
    "__pycache__",
    "op.json",
    "built.json",
    "README.md",
    "package-lock.json",
];

/// A digest of the names and contents of a module's sources.
pub(super) fn digest(root: &Path) -> std::io::Result<Digest> {
    let mut lines = Vec::new();
    gather(root, "", &mut lines)?;
    lines.sort();
    Ok(Digest::of(lines.concat().as_bytes()))
}

fn gather(folder: &Path, under: &str, lines: &mut Vec<String>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_component = path.extension().is_some_and(|ending| ending == "wasm");
        if name.starts_with('.') || is_component || NONE.contains(&name.as_str()) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            gather(&path, &format!("{under}{name}/"), lines)?;
        } else if kind.is_file() {
            lines.push(format!("{under}{name} {}\n", Digest::of(&fs::read(&path)?)));
        }
    }
    Ok(())
}

/// Says so, on stderr, where the sources are others than those that the component was built from.
pub(super) fn say_if_changed(project: &Project) {
    let built = fs::read(project.root.join("built.json")).ok();
    let built = built.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let recorded = built.as_ref().and_then(|built| text_at(built, "/sources"));
    if let (Some(recorded), Ok(now)) = (recorded, digest(&project.root))
        && recorded != now.hex()
    {
        out::note(
            "the sources have changed since the component was built: `pinhole module build` builds it anew",
        );
    }
}
