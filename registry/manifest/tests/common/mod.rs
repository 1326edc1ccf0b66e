//! The vectors: a base and a patch, or raw text, and the codes to expect.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One file of `tests/vectors`.
pub(crate) struct Vector {
    /// `<group>/<code>[.<variant>]`.
    pub(crate) name: String,
    /// The codes that it must be refused with; none if it must load.
    pub(crate) expect: Vec<String>,
    /// The file under test.
    pub(crate) bytes: Vec<u8>,
}

/// Found from whichever crate of the project reads them.
fn folder() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders
        .map(|folder| folder.join("registry/manifest/tests/vectors"))
        .find(|folder| folder.is_dir())
        .unwrap()
}

fn load(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A manifest that loads, which others are patched from.
pub(crate) fn base(name: &str) -> Value {
    load(&folder().join("base").join(format!("{name}.json")))
}

/// All vectors, sorted by name.
pub(crate) fn vectors() -> Vec<Vector> {
    let mut vectors = Vec::new();
    for group in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        let group_name = group.file_name().unwrap().to_str().unwrap().to_owned();
        // What the others are made from, and what two manifests are to each other.
        if ["base", "diff"].contains(&group_name.as_str()) {
            continue;
        }
        for path in fs::read_dir(&group).unwrap().map(|entry| entry.unwrap().path()) {
            let name = format!("{group_name}/{}", path.file_stem().unwrap().to_str().unwrap());
            vectors.push(vector(name, &load(&path)));
        }
    }
    vectors.sort_by(|a, b| a.name.cmp(&b.name));
    vectors
}

fn vector(name: String, file: &Value) -> Vector {
    let expect =
        file["expect"].as_array().unwrap().iter().map(|code| code.as_str().unwrap().to_owned()).collect();
    let bytes = if let Some(parts) = file.get("text") {
        parts.as_array().unwrap().iter().flat_map(part).collect()
    } else {
        let mut manifest = base(file["base"].as_str().unwrap());
        for change in file["patch"].as_array().unwrap() {
            apply(&mut manifest, change, &name);
        }
        serde_json::to_vec_pretty(&manifest).unwrap()
    };
    Vector { name, expect, bytes }
}

/// A part of a raw text: text as it is, a base, bytes in hexadecimal, or a text many times.
fn part(part: &Value) -> Vec<u8> {
    if let Some(text) = part.as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(name) = part.get("base") {
        return base(name.as_str().unwrap()).to_string().into_bytes();
    }
    if let Some(hex) = part.get("hex") {
        let digits = hex.as_str().unwrap().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        return digits.chunks(2).map(byte).collect();
    }
    let times = usize::try_from(part["times"].as_u64().unwrap()).unwrap();
    part["repeat"].as_str().unwrap().repeat(times).into_bytes()
}

/// `remove` and `set` (which adds or replaces), after RFC 6902.
fn apply(manifest: &mut Value, change: &Value, vector: &str) {
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
