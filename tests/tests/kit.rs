//! What the binary carries for new modules (`host/cli/src/module/sdk.rs`) is what stands in `guest-sdk/`: every file of each
//! folder, and no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The files under a folder, by their path from it; what tools leave behind is none of them.
fn files(folder: &Path, under: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{under}{name}");
        match name.as_str() {
            "__pycache__" | "target" | "node_modules" => {}
            _ if entry.path().is_dir() => files(&entry.path(), &format!("{path}/"), found),
            _ => drop(found.insert(path)),
        }
    }
}

#[test]
fn every_file_of_a_library_and_of_a_template_is_carried() {
    let text = std::fs::read_to_string(root().join("host/cli/src/module/sdk.rs")).unwrap();
    let mut folders = BTreeSet::new();
    for list in text.split("files! {").skip(1) {
        let mut names = list.split('}').next().unwrap().split('"').skip(1).step_by(2);
        let folder = names.next().unwrap();
        let carried: BTreeSet<String> = names.map(str::to_owned).collect();
        let mut there = BTreeSet::new();
        files(&root().join("guest-sdk").join(folder), "", &mut there);
        // Of Rust's the crate itself goes along, not its template and its example.
        if folder == "rust" {
            there.retain(|path| !["template/", "example/", "tests/"].iter().any(|other| path.starts_with(other)));
        }
        assert_eq!(carried, there, "{folder}");
        folders.insert(folder);
    }
    let all = ["js/pinhole-guest", "js/template", "python/pinhole_guest", "python/template", "rust", "rust/template"];
    assert_eq!(folders, all.into());
}
