//! Locks: one holder at a time over stores, threads and processes; free again with whoever held them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::Disk;
use super::processes::Another;
use crate::store::{LockError, LockName, Locks, SqliteStore, StoreError};

const NOW: Duration = Duration::ZERO;
const LONG: Duration = Duration::from_secs(60);

fn name(of: &str) -> LockName {
    LockName::new("test", &[of])
}

fn is_busy(store: &dyn Locks, what: &LockName) -> bool {
    matches!(store.hold(what, NOW), Err(LockError::Busy { .. }))
}

#[test]
fn a_name_has_one_holder_at_a_time() {
    let disk = Disk::new();
    let (one, other, memory) = (disk.store(), disk.store(), SqliteStore::in_memory().unwrap());
    for (one, other) in [(&one, &other), (&one, &one), (&memory, &memory)] {
        let held = one.hold(&name("a"), NOW).unwrap();
        assert!(is_busy(other, &name("a")) && is_busy(one, &name("a")));
        let another = other.hold(&name("b"), NOW).unwrap();
        drop(held);
        drop(other.hold(&name("a"), NOW).unwrap());
        drop(another);
    }
}

#[test]
fn who_is_patient_gets_it_once_it_is_free() {
    let disk = Disk::new();
    let (file, memory) = (disk.store(), SqliteStore::in_memory().unwrap());
    for store in [&file, &memory] {
        let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let _held = store.hold(&name("a"), LONG).unwrap();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
    let _held = file.hold(&name("a"), NOW).unwrap();
    let patience = Duration::from_millis(20);
    assert!(matches!(file.hold(&name("a"), patience), Err(LockError::Busy { waited }) if waited == patience));
}

#[test]
fn a_lock_ends_with_its_process() {
    let disk = Disk::new();
    let store = disk.store();
    let mut another = Another::start("hold", &disk.path(), |_| {});
    assert_eq!(another.line().as_deref(), Some("held"));
    assert!(is_busy(&store, &name("a")));
    another.kill();
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
