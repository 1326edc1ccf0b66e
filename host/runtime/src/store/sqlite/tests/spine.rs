//! What is true of a file: on the disk in time, its owner's alone, and the one that was opened.

use pinhole_grant::UnixTime;
use pinhole_manifest::Digest;

use super::{Asked, Disk, HOUR, NOW, SEALED, furnished, grant_id, member, the_bot, token, uses};
use crate::store::{
    Answer, Connections as _, Questions as _, SpendError, SqliteStore, Store as _, StoreError, TokenRow,
    Tokens as _,
};

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

#[test]
fn what_was_deleted_is_overwritten() {
    let disk = Disk::new();
    let store = disk.store();
    let (connection, _) = furnished(&store);
    let approval = b"a sealed approval";
    let id = Asked::new("A title").raise(&store, 1, NOW).unwrap().id;
    let yes = Answer::Approve { grant: grant_id(5), sealed: approval, until: NOW.plus_secs(HOUR) };
    store.answer(member(), id, yes, NOW).unwrap();
    store.take(the_bot(), id, NOW).unwrap();
    store.remove_connection(member(), connection.id).unwrap();
    drop(store);
    let bytes = std::fs::read(disk.path()).unwrap();
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(bytes.len() > 4096 && !holds(SEALED) && !holds(approval));
}

#[test]
fn nothing_of_a_token_but_its_digest_is_on_the_disk() {
    let disk = Disk::new();
    let store = disk.store();
    let text = b"pinm_the text of a token";
    store.add_token(&TokenRow { digest: Digest::of(text), ..token(1, "a") }).unwrap();
    drop(store);
    let bytes = std::fs::read(disk.path()).unwrap();
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(holds(Digest::of(text).hex().as_bytes()) && !holds(text));
}
