//! Manifests that load, which vectors are patched from, and the patches.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Found from whichever crate of the project reads them.
pub(crate) fn folder() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders
        .map(|folder| folder.join("registry/manifest/tests/vectors"))
        .find(|folder| folder.is_dir())
        .unwrap()
}

pub(crate) fn load(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A manifest that loads, which others are patched from.
pub(crate) fn base(name: &str) -> Value {
    load(&folder().join("base").join(format!("{name}.json")))
}

/// `remove` and `set` (which adds or replaces), after RFC 6902.
pub(crate) fn apply(manifest: &mut Value, change: &Value, vector: &str) {
    let path = change["path"].as_str().unwrap();
    if path.is_empty() {
        *manifest = change["value"].clone();
        return;
    }
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = parent_of(manifest, parent).unwrap_or_else(|| panic!("{vector}: nothing at {parent}"));
    let key = key.replace("~1", "/").replace("~0", "~");
    match (change["op"].as_str().unwrap(), parent) {
        ("set", Value::Object(members)) => {
            members.insert(key, change["value"].clone());
        }
        ("remove", Value::Object(members)) => {
            assert!(members.remove(&key).is_some(), "{vector}: nothing at {path}");
        }
        (what, _) => panic!("{vector}: cannot {what} at {path}"),
    }
}

/// The value at a pointer. A `request` member that is not there is made, so that patches stay short.
fn parent_of<'v>(manifest: &'v mut Value, pointer: &str) -> Option<&'v mut Value> {
    if manifest.pointer(pointer).is_none() {
        let (outer, key) = pointer.rsplit_once('/')?;
        let outer = manifest.pointer_mut(outer)?.as_object_mut()?;
        outer.insert(key.to_owned(), Value::Object(serde_json::Map::new()));
    }
    manifest.pointer_mut(pointer)
}
