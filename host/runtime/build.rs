//! Makes the table of the manifests that are part of the binary: every folder of `manifests/`, with the digest of each file
//! as it was when the binary was built.
//!
//! Refuses to build with a module that is not the one its manifest names. A new folder is noticed with its row in
//! `manifests/README.md`. DESIGN, "Registry": compiled in.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    watch(&manifests.join("README.md"));
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&manifests)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    folders.sort();
    let mut table = String::from("&[\n");
    for folder in folders.iter().filter(|folder| folder.join("manifest.json").is_file()) {
        service(folder, &mut table)?;
    }
    table.push(']');
    #[expect(clippy::disallowed_methods, reason = "cargo says it to a build script in no other way")]
    let out = std::env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
    std::fs::write(Path::new(&out).join("built_in.rs"), table)?;
    Ok(())
}

fn service(folder: &Path, table: &mut String) -> Result<(), Box<dyn Error>> {
    let file = folder.join("manifest.json");
    let bytes = read(&file)?;
    let manifest: Value = serde_json::from_slice(&bytes)?;
    let id = manifest.get("id").and_then(Value::as_str).ok_or("a manifest has an id")?;
    if folder.file_name().and_then(|name| name.to_str()) != Some(id) {
        return Err(format!("{} has the id `{id}`", file.display()).into());
    }
    let path = file.display().to_string();
    write!(table, "BuiltIn {{ id: {id:?}, manifest: include_bytes!({path:?}), sha256: ")?;
    writeln!(table, "{:?}, modules: &[", <[u8; 32]>::from(Sha256::digest(&bytes)))?;
    let ops = manifest.get("ops").and_then(Value::as_object).ok_or("a manifest has ops")?;
    for module in ops.values().filter_map(|op| op.get("module")) {
        let name = module.get("file").and_then(Value::as_str).ok_or("a module has a file")?;
        let component = folder.join(name);
        let digest: [u8; 32] = Sha256::digest(read(&component)?).into();
        let hex = digest.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        if module.get("sha256").and_then(Value::as_str) != Some(hex.as_str()) {
            return Err(format!("{} is not the module that its manifest names", component.display()).into());
        }
        let path = component.display().to_string();
        writeln!(table, "({name:?}, include_bytes!({path:?})),")?;
    }
    table.push_str("] },\n");
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    watch(path);
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}
