//! The vectors: a base and a patch, or raw text, and the codes to expect.

mod base;

use std::fs;

pub(crate) use base::base;
use base::{apply, folder, load};
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
