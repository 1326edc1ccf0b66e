//! Locks beside a database, and in memory.

use std::time::Duration;

use super::Disk;
use crate::store::{LockError, LockName, Locks, SqliteStore, StoreError};

const NOW: Duration = Duration::ZERO;

fn name(of: &str) -> LockName {
    LockName::new("test", &[of])
}

fn is_busy(store: &dyn Locks, what: &LockName) -> bool {
    matches!(store.hold(what, NOW), Err(LockError::Busy { .. }))
}

#[test]
fn a_store_in_memory_has_locks_too() {
    let store = SqliteStore::in_memory().unwrap();
    let held = store.hold(&name("a"), NOW).unwrap();
    assert!(is_busy(&store, &name("a")));
    drop(store.hold(&name("b"), NOW).unwrap());
    drop(held);
    drop(store.hold(&name("a"), NOW).unwrap());
}

#[test]
fn who_only_looks_locks_nothing() {
    let disk = Disk::new();
    drop(disk.store());
    let looks = SqliteStore::look(disk.folder.path()).unwrap().unwrap();
    let refused = looks.hold(&name("a"), NOW);
    assert!(matches!(refused, Err(LockError::Store(StoreError::ReadOnly { .. }))));
    assert!(!disk.folder.path().join("pinhole.db-locks").exists());
}

#[test]
fn names_are_told_apart_by_their_parts() {
    let names = [
        LockName::new("a", &["bc"]),
        LockName::new("ab", &["c"]),
        LockName::new("a", &["b", "c"]),
        LockName::new("a", &["b", "c", ""]),
        LockName::new("a", &["c", "b"]),
    ];
    let different: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(different.len(), names.len());
    assert_eq!(LockName::new("a", &["../../b"]).to_string().len(), 64);
}

#[cfg(unix)]
#[test]
fn nobody_else_may_lock() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    let store = disk.store();
    drop(store.hold(&name("../a"), NOW).unwrap());
    let folder = disk.folder.path().join("pinhole.db-locks");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((mode(&folder), files.len()), (0o700, 1));
    assert_eq!(mode(&files[0]), 0o600);
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    drop(store.hold(&name("b"), NOW).unwrap());
    assert_eq!(mode(&folder), 0o700);
}
