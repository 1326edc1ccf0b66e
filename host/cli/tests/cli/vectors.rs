//! The manifests that the fault-named vectors of the manifest crate describe, written out as files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::home::Home;

/// A vector's file and the codes that it is to be refused with.
pub(crate) struct Vector {
    pub(crate) file: String,
    pub(crate) expect: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../registry/manifest/tests/vectors")
}

fn load(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Writes every vector out and says what to expect, sorted by name.
pub(crate) fn all(home: &Home) -> Vec<Vector> {
    let mut names = Vec::new();
    for group in std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap()) {
        let group_name = group.file_name().into_string().unwrap();
        if ["base", "diff"].contains(&group_name.as_str()) {
            continue;
        }
        for file in std::fs::read_dir(group.path()).unwrap() {
            names.push(format!("{group_name}/{}", file.unwrap().file_name().into_string().unwrap()));
        }
    }
    names.sort();
    names.iter().map(|name| one(home, name)).collect()
}

/// Writes one vector, such as `host/host_port.json`, out.
pub(crate) fn one(home: &Home, name: &str) -> Vector {
    let vector = load(&folder().join(name));
    let bytes = if let Some(parts) = vector.get("text") {
        parts.as_array().unwrap().iter().flat_map(part).collect()
    } else {
        let mut manifest = load(&base(&vector["base"]));
        for change in vector["patch"].as_array().unwrap() {
            apply(&mut manifest, change);
        }
        serde_json::to_vec_pretty(&manifest).unwrap()
    };
    home.write(name, bytes);
    let codes = vector["expect"].as_array().unwrap().iter();
    Vector { file: name.to_owned(), expect: codes.map(|code| code.as_str().unwrap().to_owned()).collect() }
}

/// Two manifests and what has changed between them: a file of `diff/`.
pub(crate) struct Diff {
    pub(crate) name: String,
    pub(crate) old: Value,
    pub(crate) new: Value,
    /// `<direction> <kind> <pointer>` of each change, in order.
    pub(crate) changes: Vec<String>,
    /// What is said of the version.
    pub(crate) version: String,
}

/// All of them.
pub(crate) fn diffs() -> Vec<Diff> {
    let entries = std::fs::read_dir(folder().join("diff")).unwrap();
    let diff = |path: &Path| {
        let file = load(path);
        let side = |side: &str| {
            let mut manifest = load(&base(&file["base"]));
            file[side].as_array().unwrap().iter().for_each(|change| apply(&mut manifest, change));
            manifest
        };
        let changes = file["expect"]["changes"].as_array().unwrap().iter();
        Diff {
            name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
            old: side("old"),
            new: side("new"),
            changes: changes.map(|line| line.as_str().unwrap().to_owned()).collect(),
            version: file["expect"]["version"].as_str().unwrap().to_owned(),
        }
    };
    entries.map(|entry| diff(&entry.unwrap().path())).collect()
}

fn base(name: &Value) -> PathBuf {
    folder().join("base").join(format!("{}.json", name.as_str().unwrap()))
}

fn part(part: &Value) -> Vec<u8> {
    if let Some(text) = part.as_str() {
        return text.as_bytes().to_vec();
    }
    if let Some(name) = part.get("base") {
        return load(&base(name)).to_string().into_bytes();
    }
    if let Some(hex) = part.get("hex") {
        let pairs = hex.as_str().unwrap().as_bytes().chunks(2);
        return pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect();
    }
    part["repeat"]
        .as_str()
        .unwrap()
        .repeat(usize::try_from(part["times"].as_u64().unwrap()).unwrap())
        .into_bytes()
}

fn apply(manifest: &mut Value, change: &Value) {
    let path = change["path"].as_str().unwrap();
    if path.is_empty() {
        *manifest = change["value"].clone();
        return;
    }
    let (outer, key) = path.rsplit_once('/').unwrap();
    if manifest.pointer(outer).is_none() {
        let (outermost, missing) = outer.rsplit_once('/').unwrap();
        manifest.pointer_mut(outermost).unwrap()[missing] = serde_json::json!({});
    }
    let members = manifest.pointer_mut(outer).unwrap().as_object_mut().unwrap();
    let key = key.replace("~1", "/").replace("~0", "~");
    match change["op"].as_str().unwrap() {
        "set" => {
            members.insert(key, change["value"].clone());
        }
        _ => assert!(members.remove(&key).is_some(), "nothing at {path}"),
    }
}
