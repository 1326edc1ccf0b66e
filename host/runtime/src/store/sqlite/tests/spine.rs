//! Uses, revocations, the clock: each exactly once, and none of it forgotten.

use std::sync::Barrier;

use pinhole_grant::UnixTime;

use super::{Disk, furnished, grant_id, uses};
use crate::store::{MemoryStore, SpendError, SqliteStore, Store, StoreError};

#[test]
fn every_use_is_spent_exactly_once_by_many_threads_with_stores_of_their_own() {
    let disk = Disk::new();
    let barrier = Barrier::new(16);
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    // All of them make the database at once.
                    barrier.wait();
                    let store = disk.store();
                    barrier.wait();
                    (0..4).filter(|_| store.spend(&grant_id(1), uses(5)).is_ok()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 5);
}

#[test]
fn one_store_serves_many_threads() {
    let disk = Disk::new();
    let store = disk.store();
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    (0..20)
                        .filter(|turn| {
                            assert!(store.high_water(UnixTime::from_secs(*turn)).unwrap().as_secs() >= *turn);
                            assert!(!store.is_revoked(&grant_id(1)).unwrap());
                            store.spend(&grant_id(1), uses(37)).is_ok()
                        })
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 37);
}

#[test]
fn a_spent_use_stays_spent_when_the_store_is_opened_again() {
    let disk = Disk::new();
    disk.store().spend(&grant_id(1), uses(1)).unwrap();
    assert!(matches!(disk.store().spend(&grant_id(1), uses(1)), Err(SpendError::UsedUp)));
    assert!(!disk.store().has_use_left(&grant_id(1), uses(1)).unwrap());
    assert!(disk.store().has_use_left(&grant_id(1), uses(2)).unwrap());
    disk.store().spend(&grant_id(2), uses(1)).unwrap();
}

#[test]
fn a_use_is_on_the_disk_before_spend_returns() {
    let disk = Disk::new();
    let durable = super::super::lock(&disk.store().durable)
        .query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0))
        .unwrap();
    assert_eq!(durable, 2);
    // What another reader sees while the store is still open is what was committed.
    let store = disk.store();
    store.spend(&grant_id(1), uses(3)).unwrap();
    let spent: i64 = disk.raw().query_row("SELECT spent FROM uses", [], |row| row.get(0)).unwrap();
    assert_eq!(spent, 1);
}

#[test]
fn a_clock_set_back_does_not_go_back() {
    let disk = Disk::new();
    let file = disk.store();
    let (in_memory, memory) = (SqliteStore::in_memory().unwrap(), MemoryStore::default());
    let stores: [&dyn Store; 3] = [&file, &in_memory, &memory];
    let at = UnixTime::from_secs;
    for store in stores {
        for (now, latest) in [(100, 100), (40, 100), (101, 101), (105, 105), (0, 105), (-7, 105)] {
            assert_eq!(store.high_water(at(now)).unwrap(), at(latest));
        }
    }
    assert_eq!(disk.store().high_water(at(7)).unwrap(), at(105));
}

#[test]
fn the_latest_time_of_another_process_counts() {
    let disk = Disk::new();
    let (one, other) = (disk.store(), disk.store());
    let at = UnixTime::from_secs;
    assert_eq!(one.high_water(at(100)).unwrap(), at(100));
    assert_eq!(other.high_water(at(200)).unwrap(), at(200));
    assert_eq!(one.high_water(at(150)).unwrap(), at(200));
}

#[test]
fn a_second_that_was_seen_is_not_written_again() {
    let disk = Disk::new();
    let store = disk.store();
    let data_version = || {
        let light = store.light();
        light.query_row("PRAGMA main.data_version", [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let watcher = disk.raw();
    let seen = || watcher.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0)).unwrap();
    store.high_water(UnixTime::from_secs(100)).unwrap();
    let before = (seen(), data_version());
    for now in [100, 99, 100] {
        store.high_water(UnixTime::from_secs(now)).unwrap();
    }
    assert_eq!((seen(), data_version()), before);
    store.high_water(UnixTime::from_secs(101)).unwrap();
    assert_ne!(seen(), before.0);
}

#[test]
fn a_revocation_holds() {
    let disk = Disk::new();
    let store = disk.store();
    assert!(!store.is_revoked(&grant_id(1)).unwrap());
    store.revoke(&grant_id(1)).unwrap();
    store.revoke(&grant_id(1)).unwrap();
    assert!(disk.store().is_revoked(&grant_id(1)).unwrap());
    assert!(!store.is_revoked(&grant_id(2)).unwrap());
}

#[test]
fn a_use_of_a_stored_grant_is_its_members() {
    let disk = Disk::new();
    let store = disk.store();
    let (_, grant) = furnished(&store);
    store.spend(&grant.id, uses(2)).unwrap();
    store.revoke(&grant.id).unwrap();
    for table in ["uses", "revoked"] {
        let member: String =
            disk.raw().query_row(&format!("SELECT member FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(member, grant.member.to_string());
    }
}

/// A program that goes on with a file that nobody else sees would spend each use once more.
#[cfg(unix)]
#[test]
fn a_database_that_was_moved_away_spends_nothing() {
    let disk = Disk::new();
    let store = disk.store();
    store.spend(&grant_id(1), uses(9)).unwrap();
    let aside = disk.folder.path().join("aside");
    std::fs::rename(disk.path(), &aside).unwrap();
    let moved = |error: &StoreError| matches!(error, StoreError::Moved { .. });
    for _ in 0..2 {
        assert!(matches!(store.spend(&grant_id(1), uses(9)), Err(SpendError::Store(error)) if moved(&error)));
        assert!(moved(&store.is_revoked(&grant_id(1)).unwrap_err()));
        assert!(moved(&store.high_water(UnixTime::from_secs(1)).unwrap_err()));
        // Another in its place is not it.
        std::fs::copy(&aside, disk.path()).unwrap();
    }
    std::fs::rename(&aside, disk.path()).unwrap();
    store.spend(&grant_id(1), uses(9)).unwrap();
}

#[cfg(unix)]
#[test]
fn nobody_else_may_look() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    let home = disk.folder.path().join("a/home");
    let path = home.join(super::super::DATABASE);
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let beside = |suffix: &str| std::path::PathBuf::from(format!("{}{suffix}", path.display()));
    let store = SqliteStore::open(&path).unwrap();
    store.spend(&grant_id(1), uses(1)).unwrap();
    let files = [path.clone(), beside("-wal"), beside("-shm")];
    assert_eq!([&home, home.parent().unwrap()].map(mode), [0o700; 2]);
    assert_eq!(files.each_ref().map(|file| mode(file)), [0o600; 3]);
    for file in &files {
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o664)).unwrap();
    }
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(files.each_ref().map(|file| mode(file)), [0o600; 3]);
    // Nothing but the database is left behind.
    drop((store, again));
    assert_eq!(std::fs::read_dir(&home).unwrap().count(), 1);
}
