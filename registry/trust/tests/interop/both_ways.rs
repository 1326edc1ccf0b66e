//! Runs python-tuf.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kit::{Forge, manifest, now, sha256};
use jiff::Timestamp;
use pinhole_registry::RoleName;
use pinhole_registry::client::{
    self, BareError, Consent, FolderFetch, KeyFault, Location, Malformed, Refused, Registries, RegistryName,
    SyncError, Terms, Verdict,
};
use serde_json::Value;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// The folder of Python packages that has `tuf`.
#[expect(clippy::disallowed_methods, reason = "CI says by the environment that nothing may be skipped")]
pub(crate) fn tools(test: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let folder = root.join(".ci-tools/tuf");
    if folder.join("tuf/ngclient").is_dir() && Command::new("python3").arg("--version").output().is_ok() {
        return Some(folder);
    }
    let what =
        format!("{test}: python3, or PyPI `tuf` in {}, is missing; `.ci/run` installs it", folder.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{what}");
    eprintln!("SKIPPED: {what}");
    None
}

fn python(tools: &Path, script: &str, args: &[&OsStr]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop").join(script);
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).args(args).env("PYTHONPATH", tools).env("NO_PROXY", "127.0.0.1");
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// What their client says of a folder, with these targets.
pub(crate) fn update(tools: &Path, served: &Path, state: &Path, root: &Path, targets: &[&str]) -> Value {
    let mut args = vec![served.as_os_str(), state.as_os_str(), root.as_os_str()];
    args.extend(targets.iter().map(OsStr::new));
    serde_json::from_str(&python(tools, "update.py", &args)).unwrap()
}

/// The forge's registry, good until long after these tests are run.
fn lasting() -> Forge {
    let mut forge = Forge::empty();
    let long: Timestamp = "2090-01-01T00:00:00Z".parse().unwrap();
    for role in [&mut forge.root, &mut forge.timestamp, &mut forge.snapshot, &mut forge.targets] {
        role.expires = long;
    }
    forge.content.insert("shelf.json".into(), manifest("shelf", "1.0.0", &["id"]));
    forge.content.insert("shelf.sum.wasm".into(), b"\0asm".to_vec());
    forge.write_root();
    forge.write();
    forge
}

fn write(forge: &Forge, folder: &Path) {
    for (path, bytes) in &forge.files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn their_client_updates_from_what_we_sign_and_through_a_rotation() {
    let Some(tools) = tools("their_client_updates_from_what_we_sign_and_through_a_rotation") else { return };
    let mut forge = lasting();
    let home = tempfile::tempdir().unwrap();
    let (served, state, root) =
        (home.path().join("served"), home.path().join("state"), home.path().join("root.json"));
    fs::write(&root, forge.root_bytes()).unwrap();
    fs::create_dir(&state).unwrap();
    let update = |forge: &Forge| {
        write(forge, &served);
        update(&tools, &served, &state, &root, &["shelf.json", "shelf.sum.wasm"])
    };
    let said = update(&forge);
    assert_eq!(said["versions"], serde_json::json!([1, 1, 1, 1]), "{said}");
    assert_eq!(said["shelf.json"], sha256(&forge.content["shelf.json"]));
    assert_eq!(said["shelf.sum.wasm"], sha256(b"\0asm"));
    let first = forge.clone();
    forge.rotate(|forge| {
        forge.root.rekey(&[60, 61, 62], 2);
        forge.targets.rekey(&[40, 41, 42], 2);
        forge.targets.signers.remove(1);
        forge.snapshot.rekey(&[30], 1);
    });
    forge.content.insert("shelf.json".into(), manifest("shelf", "1.1.0", &["id", "name"]));
    forge.next();
    let said = update(&forge);
    assert_eq!(said["versions"], serde_json::json!([2, 2, 2, 2]), "{said}");
    assert_eq!(said["shelf.json"], sha256(&forge.content["shelf.json"]));
    // What we refuse, it refuses: so the forge's signatures are what is at stake, not its form.
    let mut rolled_back = forge.clone();
    rolled_back
        .files
        .insert("metadata/timestamp.json".into(), first.files["metadata/timestamp.json"].clone());
    assert_eq!(update(&rolled_back)["error"], "BadVersionNumberError");
    forge.targets.signers.truncate(1);
    forge.next();
    assert_eq!(update(&forge)["error"], "UnsignedMetadataError");
}

/// What python-tuf has made: `1`, `2` after a rotation, `3` with an older timestamp.
fn theirs(tools: &Path, home: &Path, keys: &str, target: &str) -> PathBuf {
    let file = home.join("content");
    fs::write(&file, manifest("shelf", "1.0.0", &["id"])).unwrap();
    let out = home.join("out");
    let pair = format!("{target}={}", file.display());
    python(tools, "make.py", &[out.as_os_str(), keys.as_ref(), pair.as_ref()]);
    out
}

#[test]
fn we_sync_from_a_registry_that_python_tuf_makes() {
    let Some(tools) = tools("we_sync_from_a_registry_that_python_tuf_makes") else { return };
    let home = tempfile::tempdir().unwrap();
    let out = theirs(&tools, home.path(), "ed25519", "shelf.json");
    let registries = Registries::at(home.path().join("registries"));
    let name = RegistryName::parse("theirs").unwrap();
    let root = fs::read(out.join("1/metadata/1.root.json")).unwrap();
    registries.trust(&name, Location::folder(&out.join("1")).unwrap(), &root).unwrap();
    let sync = |state: &str| {
        let terms =
            Terms { owner: &|_| None, judge: &|_, _| Verdict::Widens, now: now(), consent: Consent::Held };
        block_on(registries.sync(&name, &FolderFetch::new(out.join(state)), terms))
    };
    let synced = sync("1").unwrap();
    assert_eq!((synced.root, synced.targets, synced.services.len()), (1, 1, 1));
    assert_eq!(registries.load(now()).unwrap().services[0].manifest, manifest("shelf", "1.0.0", &["id"]));
    let synced = sync("2").unwrap();
    assert_eq!((synced.root, synced.targets), (2, 2));
    let Err(SyncError::Refused { source, .. }) = sync("3") else { panic!("a rollback was taken over") };
    assert!(matches!(source, Refused::Rollback { .. }), "{source:?}");
    // The first state is one, too: its root is not asked for again, its timestamp is older.
    assert!(matches!(
        sync("1"),
        Err(SyncError::Refused { source: Refused::Rollback { .. } | Refused::NotSigned { .. }, .. })
    ));
}

#[test]
fn our_bare_client_updates_from_what_python_tuf_makes() {
    let Some(tools) = tools("our_bare_client_updates_from_what_python_tuf_makes") else { return };
    for keys in ["ed25519", "ecdsa"] {
        goes_through(&tools, keys);
    }
}

fn goes_through(tools: &Path, keys: &str) {
    let home = tempfile::tempdir().unwrap();
    let target = "ops/a folder/shelf.json";
    let out = theirs(tools, home.path(), keys, target);
    let (metadata, targets) = (home.path().join("metadata"), home.path().join("targets"));
    let root = fs::read(out.join("1/metadata/1.root.json")).unwrap();
    client::init(&metadata, &root).unwrap();
    let fetch = |state: &str| FolderFetch::new(out.join(state));
    let versions = block_on(client::refresh(&metadata, &fetch("1"), now())).unwrap();
    assert_eq!((versions.root, versions.timestamp, versions.snapshot, versions.targets), (1, 1, 1, 1));
    let file = block_on(client::download(&metadata, &fetch("1"), now(), &targets, target)).unwrap();
    assert_eq!(file, targets.join("ops%2Fa%20folder%2Fshelf.json"));
    assert_eq!(fs::read(file).unwrap(), manifest("shelf", "1.0.0", &["id"]));
    let versions = block_on(client::refresh(&metadata, &fetch("2"), now())).unwrap();
    assert_eq!((versions.root, versions.timestamp, versions.snapshot, versions.targets), (2, 2, 2, 2));
    for role in [RoleName::Timestamp, RoleName::Root] {
        let kept = fs::read(metadata.join(role.file())).unwrap();
        let served = if role == RoleName::Root { "2.root.json" } else { role.file() };
        assert_eq!(kept, fs::read(out.join("2/metadata").join(served)).unwrap(), "{role}: byte for byte");
    }
    let refused = block_on(client::refresh(&metadata, &fetch("3"), now()));
    assert!(
        matches!(refused, Err(BareError::Refused(Refused::Rollback { role: RoleName::Timestamp, .. }))),
        "{refused:?}"
    );
    let none = block_on(client::download(&metadata, &fetch("2"), now(), &targets, "shelf.json"));
    assert!(matches!(none, Err(BareError::Refused(Refused::NoTarget { .. }))), "{none:?}");
}

/// A registry of manifests has Ed25519 keys alone, though the library could count others.
#[test]
fn a_registry_of_other_keys_is_not_trusted() {
    let Some(tools) = tools("a_registry_of_other_keys_is_not_trusted") else { return };
    let home = tempfile::tempdir().unwrap();
    let out = theirs(&tools, home.path(), "ecdsa", "shelf.json");
    let root = fs::read(out.join("1/metadata/1.root.json")).unwrap();
    let fault = client::inspect_root(&root);
    let is_right =
        matches!(&fault, Err(Refused::Malformed { source: Malformed::Keys(KeyFault::NotEd25519), .. }));
    assert!(is_right, "{fault:?}");
}
