//! A state that was damaged, a folder with links in it, and two who change the state at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pinhole_registry::client::{
    Area, Fetch as _, FetchError, FolderFetch, LoadError, Location, Refused, Registries, RemotePath,
    StateError, SyncError, UntrustError,
};

use crate::host::{Host, block_on, refusal};
use crate::kit::{Forge, manifest, now, sha256};

fn state(host: &Host) -> PathBuf {
    host.folder.path().join("registries/state")
}

fn file(host: &Host, bytes: &[u8]) -> PathBuf {
    host.folder.path().join("registries/files").join(sha256(bytes))
}

fn is_damage<T>(outcome: &Result<T, LoadError>) -> bool {
    matches!(outcome, Err(LoadError::State(StateError::Damaged { .. })))
}

/// Whichever byte of the state is another, it is refused, and never taken for none.
#[test]
fn a_damaged_state_is_no_fresh_start() {
    let forge = Forge::honest();
    let host = Host::synced(&forge);
    let whole = fs::read(state(&host)).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(state(&host), &bytes).unwrap();
        assert!(is_damage(&host.registries.load(now())), "byte {at}");
    }
    for length in [0, 1, 71, 72, 73, whole.len() - 1] {
        fs::write(state(&host), &whole[..length]).unwrap();
        assert!(is_damage(&host.registries.load(now())), "cut at {length}");
        let synced = host.sync(&forge);
        assert!(matches!(synced, Err(SyncError::State(StateError::Damaged { .. }))), "{synced:?}");
        let location = Location::url("https://registry.example/").unwrap();
        assert!(host.registries.trust(&host.name, location, &forge.root_bytes()).is_err());
    }
    fs::remove_file(state(&host)).unwrap();
    assert!(is_damage(&host.registries.load(now())), "gone");
    fs::write(state(&host), &whole).unwrap();
    host.sync(&forge).unwrap();
}

/// Metadata that is gone or another is not fetched anew as if it had never been: with it go the versions that were seen.
#[test]
fn damaged_metadata_is_no_fresh_start() {
    let forge = Forge::honest();
    let host = Host::synced(&forge);
    for path in [
        "metadata/timestamp.json",
        "metadata/1.snapshot.json",
        "metadata/1.targets.json",
        "metadata/1.root.json",
    ] {
        let kept = file(&host, &forge.files[path]);
        let whole = fs::read(&kept).unwrap();
        for damage in [Some(b"{}".to_vec()), None] {
            match damage {
                Some(bytes) => fs::write(&kept, bytes).unwrap(),
                None => fs::remove_file(&kept).unwrap(),
            }
            let synced = host.sync(&forge);
            assert!(
                matches!(synced, Err(SyncError::State(StateError::Damaged { .. }))),
                "{path}: {synced:?}"
            );
        }
        fs::write(&kept, whole).unwrap();
    }
    host.sync(&forge).unwrap();
}

/// A manifest that is another is not loaded, and the next sync brings the right one.
#[test]
fn a_damaged_manifest_is_refused_and_fetched_anew() {
    let forge = Forge::honest();
    let host = Host::synced(&forge);
    let before = host.view();
    let kept = file(&host, &forge.content["shelf.json"]);
    let longer = manifest("shelf", "1.0.0", &["secret"]);
    for damage in [longer, manifest("shelf", "1.0.1", &["id"])] {
        fs::write(&kept, damage).unwrap();
        assert!(matches!(host.registries.load(now()), Err(LoadError::Manifest { .. })));
        host.sync(&forge).unwrap();
        assert_eq!(host.view(), before);
    }
}

#[cfg(unix)]
#[test]
fn a_state_that_others_can_reach_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let forge = Forge::honest();
    let host = Host::synced(&forge);
    let folder = host.folder.path().join("registries");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("files")), 0o700);
    for path in [folder.join("state"), folder.join("lock"), file(&host, &forge.content["shelf.json"])] {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o770)).unwrap();
    assert!(matches!(host.registries.load(now()), Err(LoadError::State(StateError::Open(_)))));
    assert!(matches!(host.sync(&forge), Err(SyncError::State(StateError::Open(_)))));
}

/// While one syncs, nobody else changes anything; whoever only looks sees the old.
#[test]
fn two_syncs_at_once() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    let before = host.view();
    forge.content.insert("shelf.json".into(), manifest("shelf", "1.1.0", &["id"]));
    forge.next();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (registries, name, other, log) =
        (host.registries.clone(), host.name.clone(), forge.clone(), Arc::clone(&seen));
    forge.hook = Some(Arc::new(move |_| {
        let (registries, name, other) = (registries.clone(), name.clone(), other.clone());
        let second = std::thread::spawn(move || {
            let terms = pinhole_registry::client::Terms {
                owner: &|_| None,
                judge: &|_, _| pinhole_registry::client::Verdict::Narrower,
                now: now(),
                consent: pinhole_registry::client::Consent::Held,
            };
            let synced = block_on(registries.sync(&name, &other, terms));
            let untrusted = registries.untrust(&name);
            let busy = matches!(synced, Err(SyncError::State(StateError::Busy(_))))
                && matches!(untrusted, Err(UntrustError::State(StateError::Busy(_))));
            (busy, format!("{:?}", registries.load(now()).unwrap()))
        });
        log.lock().unwrap().push(second.join().unwrap());
    }));
    host.sync(&forge).unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen.len() >= 5, "{}", seen.len());
    assert!(seen.iter().all(|(busy, view)| *busy && *view == before));
    assert_ne!(host.view(), before);
}

/// A sync whose caller gives up at any of its downloads leaves the old, and the lock.
#[test]
fn a_sync_that_is_dropped_at_any_download() {
    let mut forge = Forge::honest();
    let host = Host::synced(&forge);
    let before = host.view();
    forge.content.insert("shelf.json".into(), manifest("shelf", "1.1.0", &["id"]));
    forge.content.insert("books.json".into(), manifest("books", "1.0.0", &["id"]));
    forge.next();
    forge.asked();
    for (n, path) in ["2.root", "timestamp", "2.snapshot", "2.targets", "books", "shelf"].iter().enumerate() {
        let mut dead = forge.clone();
        dead.files.retain(|name, _| !name.contains(path));
        if n > 0 {
            refusal(host.sync(&dead));
        }
        assert_eq!(host.view(), before, "{path}");
    }
    host.sync(&forge).unwrap();
    assert_ne!(host.view(), before);
}

/// Writes a registry into a folder.
fn write(forge: &Forge, folder: &Path) {
    for (path, bytes) in &forge.files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn sync_folder(host: &Host, folder: &Path) -> Result<pinhole_registry::client::Synced, SyncError> {
    let terms = pinhole_registry::client::Terms {
        owner: &|_| None,
        judge: &|_, _| pinhole_registry::client::Verdict::Narrower,
        now: now(),
        consent: pinhole_registry::client::Consent::Held,
    };
    block_on(host.registries.sync(&host.name, &FolderFetch::new(folder), terms))
}

#[cfg(unix)]
#[test]
fn a_hostile_folder_with_links() {
    use std::os::unix::fs::symlink;
    let forge = Forge::honest();
    let target = format!("targets/{}.shelf.json", sha256(&forge.content["shelf.json"]));
    let away = tempfile::tempdir().unwrap();
    write(&forge, away.path());
    let is_failure =
        |refused: Refused| matches!(refused, Refused::NotFetched { source: FetchError::Failed(_), .. });
    for linked in ["metadata", "targets", "metadata/timestamp.json", &target] {
        let folder = tempfile::tempdir().unwrap();
        write(&forge, folder.path());
        let place = folder.path().join(linked);
        if place.is_dir() {
            fs::remove_dir_all(&place).unwrap();
        } else {
            fs::remove_file(&place).unwrap();
        }
        symlink(away.path().join(linked), &place).unwrap();
        let host = Host::trusting(&forge);
        assert!(is_failure(refusal(sync_folder(&host, folder.path()))), "{linked}");
        assert!(host.registries.load(now()).unwrap().services.is_empty());
    }
    for odd in ["folder", "pipe"] {
        let folder = tempfile::tempdir().unwrap();
        write(&forge, folder.path());
        let place = folder.path().join("metadata/timestamp.json");
        fs::remove_file(&place).unwrap();
        if odd == "folder" {
            fs::create_dir(&place).unwrap();
        } else {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, &place, mode).unwrap();
        }
        let host = Host::trusting(&forge);
        assert!(is_failure(refusal(sync_folder(&host, folder.path()))), "{odd}");
    }
    // The folder itself may be one that the operator has linked to.
    let folder = tempfile::tempdir().unwrap();
    symlink(away.path(), folder.path().join("here")).unwrap();
    let host = Host::trusting(&forge);
    sync_folder(&host, &folder.path().join("here")).unwrap();
}

#[test]
fn a_folder_gives_at_most_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("metadata")).unwrap();
    fs::write(folder.path().join("metadata/a.json"), b"12345").unwrap();
    let fetch = FolderFetch::new(folder.path());
    let get = |name: &str, at_most| {
        let path = RemotePath::new(Area::Metadata, name).unwrap();
        block_on(fetch.fetch(&path, at_most))
    };
    assert_eq!(get("a.json", 5).unwrap(), b"12345");
    assert!(matches!(get("a.json", 4), Err(FetchError::TooLarge)));
    assert!(matches!(get("b.json", 4), Err(FetchError::Absent)));
    let nowhere = FolderFetch::new(folder.path().join("nowhere"));
    let path = RemotePath::new(Area::Metadata, "a.json").unwrap();
    assert!(matches!(block_on(nowhere.fetch(&path, 5)), Err(FetchError::Absent)));
}

#[test]
fn a_folder_without_registries_is_empty_and_stays_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let registries = Registries::at(home.path().join("registries"));
    assert!(registries.load(now()).unwrap().services.is_empty());
    assert!(registries.list().unwrap().is_empty());
    assert!(registries.held().unwrap().is_empty());
    assert!(fs::read_dir(home.path()).unwrap().next().is_none());
}
