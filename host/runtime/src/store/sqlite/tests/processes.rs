//! A database that another process locks.

use std::time::Duration;

use super::{Another, Disk, NOW, grant_id, member, uses};
use crate::store::{Connections as _, SpendError, SqliteStore, Store as _, StoreError};

#[test]
fn a_database_that_another_process_locks_is_given_up_in_time() {
    let disk = Disk::new();
    let store = SqliteStore::open_waiting(&disk.path(), Duration::from_millis(30)).unwrap();
    store.spend(&grant_id(1), uses(2)).unwrap();
    let mut another = Another::start("lock", &disk.path().display().to_string(), |_| {});
    assert_eq!(another.line().as_deref(), Some("held"));
    let locked =
        |error: &StoreError| matches!(error, StoreError::Locked { waited, .. } if waited.as_millis() == 30);
    assert!(matches!(store.spend(&grant_id(1), uses(2)), Err(SpendError::Store(error)) if locked(&error)));
    assert!(locked(&store.high_water(NOW).unwrap_err()));
    assert!(locked(&store.revoke(&grant_id(1)).unwrap_err()));
    // Who only looks need not wait, and it can be opened.
    assert!(store.has_use_left(&grant_id(1), uses(2)).unwrap());
    assert!(
        !SqliteStore::open_waiting(&disk.path(), Duration::from_millis(30))
            .unwrap()
            .is_revoked(&grant_id(1))
            .unwrap()
    );
    assert_eq!(store.connections(member()).unwrap(), []);
    another.kill();
    store.spend(&grant_id(1), uses(2)).unwrap();
    assert!(!store.is_revoked(&grant_id(1)).unwrap());
    assert!(matches!(store.spend(&grant_id(1), uses(2)), Err(SpendError::UsedUp)));
}
