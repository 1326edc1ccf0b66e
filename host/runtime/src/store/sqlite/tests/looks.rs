//! A store that is only looked at: it says what is there, and nothing on the disk changes by it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Asked, Disk, NOW, furnished, grant, grant_id, member, uses};
use crate::store::{
    ConnectionError, Connections as _, DATABASE, GrantError, GrantFilter, Grants as _, RaiseError,
    SpendError, SqliteStore, Store as _, StoreError,
};

fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |entry: &fs::DirEntry| entry.file_name().into_string().unwrap();
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|entry| (name(&entry), fs::read(entry.path()).unwrap_or_default())).collect()
}

fn look(folder: &Path) -> SqliteStore {
    SqliteStore::look(folder).unwrap().unwrap()
}

#[test]
fn what_is_not_there_is_not_made() {
    let disk = Disk::new();
    assert!(SqliteStore::look(disk.folder.path()).unwrap().is_none());
    assert!(SqliteStore::look(&disk.folder.path().join("no/such/home")).unwrap().is_none());
    assert_eq!(bytes(disk.folder.path()).len(), 0);
    fs::write(disk.folder.path().join("pinhole.db-wal"), "what is left").unwrap();
    let error = SqliteStore::look(disk.folder.path()).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[test]
fn every_change_is_refused() {
    let disk = Disk::new();
    let store = disk.store();
    let (connection, read_grant) = furnished(&store);
    store.high_water(NOW).unwrap();
    drop(store);
    let before = bytes(disk.folder.path());
    assert_eq!(before.len(), 1);

    let looked = look(disk.folder.path());
    looked.check().unwrap();
    assert_eq!(looked.format().unwrap(), 4);
    assert_eq!(looked.connections(member()).unwrap(), std::slice::from_ref(&connection));
    assert_eq!(looked.grants(&GrantFilter::default()).unwrap(), [read_grant]);
    let read_only = |error: &StoreError| assert!(matches!(error, StoreError::ReadOnly { .. }), "{error:?}");
    let Err(SpendError::Store(error)) = looked.spend(&grant_id(1), uses(9)) else { panic!("spent") };
    read_only(&error);
    read_only(&looked.revoke(&grant_id(1)).unwrap_err());
    let Err(GrantError::Store(error)) = looked.put_grant(&grant(9, &connection)) else { panic!("put") };
    read_only(&error);
    let removed = looked.remove_connection(member(), connection.id);
    let Err(ConnectionError::Store(error)) = removed else { panic!("removed") };
    read_only(&error);
    let Err(RaiseError::Store(error)) = Asked::new("x").raise(&looked, 1, NOW) else { panic!("raised") };
    read_only(&error);
    // The time goes on for who looks, and is not kept.
    assert_eq!(looked.high_water(NOW.plus_secs(9)).unwrap(), NOW.plus_secs(9));
    assert_eq!(looked.high_water(NOW.plus_secs(-9)).unwrap(), NOW);
    assert_eq!(looked.latest().unwrap(), Some(NOW));
    drop(looked);
    assert_eq!(bytes(disk.folder.path()), before);
}

#[test]
fn what_a_killed_process_left_in_the_log_is_read_and_stays_there() {
    let (disk, killed) = (Disk::new(), Disk::new());
    let store = disk.store();
    store.spend(&grant_id(1), uses(1)).unwrap();
    // The files as they are while a process runs are those that it leaves when it is killed.
    for suffix in ["", "-wal"] {
        let name = format!("{DATABASE}{suffix}");
        fs::copy(disk.folder.path().join(&name), killed.folder.path().join(&name)).unwrap();
    }
    let kept = |disk: &Disk| {
        let mut bytes = bytes(disk.folder.path());
        bytes.remove("pinhole.db-shm");
        bytes
    };
    let before = kept(&killed);
    let looked = look(killed.folder.path());
    assert!(!looked.has_use_left(&grant_id(1), uses(1)).unwrap());
    drop(looked);
    assert_eq!(kept(&killed), before);
    // And is there for who comes to use it.
    assert!(matches!(killed.store().spend(&grant_id(1), uses(1)), Err(SpendError::UsedUp)));
}

#[cfg(unix)]
#[test]
fn what_is_open_to_others_stays_so() {
    use std::os::unix::fs::PermissionsExt;
    let disk = Disk::new();
    drop(disk.store());
    fs::set_permissions(disk.path(), PermissionsExt::from_mode(0o644)).unwrap();
    look(disk.folder.path()).check().unwrap();
    assert_eq!(disk.path().metadata().unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn who_looks_is_told_what_is_wrong_with_a_database() {
    let fault = |sql: &str| {
        let disk = Disk::new();
        drop(disk.store());
        disk.raw().execute_batch(sql).unwrap();
        let before = bytes(disk.folder.path());
        let error = SqliteStore::look(disk.folder.path()).unwrap_err();
        assert_eq!(bytes(disk.folder.path()), before);
        error
    };
    assert!(matches!(fault("PRAGMA user_version = 4711"), StoreError::Newer { found: 4711, .. }));
    assert!(matches!(fault("PRAGMA application_id = 7"), StoreError::Foreign { .. }));
    let damaged = "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'questions_bot'";
    assert!(matches!(fault(damaged), StoreError::Corrupt { .. }));
}

#[test]
fn state_of_an_earlier_version_is_left_alone_and_what_came_back_is_named() {
    let disk = Disk::new();
    let home = disk.folder.path();
    drop(disk.store());
    fs::create_dir_all(home.join("state/uses")).unwrap();
    look(home).superseded(home).unwrap();
    assert!(home.join("state/uses").is_dir() && !home.join("state.taken-over").exists());
    drop(SqliteStore::open_home(home).unwrap());
    look(home).superseded(home).unwrap();
    fs::remove_file(home.join("state")).unwrap();
    fs::create_dir_all(home.join("state/uses")).unwrap();
    let error = look(home).superseded(home).unwrap_err();
    assert!(matches!(error, StoreError::Superseded { .. }), "{error:?}");
}
