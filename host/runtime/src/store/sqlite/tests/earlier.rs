//! What a version without a database has left is taken over whole, once, and never forgotten.

use std::fs;
use std::path::Path;
use std::sync::Barrier;

use pinhole_grant::{GrantId, UnixTime};

use super::{Disk, grant_id, uses};
use crate::store::{SqliteStore, Store as _, StoreError};

fn hex(grant: GrantId) -> String {
    grant.to_string().bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn put(home: &Path, name: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "\n").unwrap();
}

/// One grant spent twice, one whose last use alone is noted, one revoked; and names that say nothing.
fn left_in(home: &Path) {
    for name in [
        format!("state/uses/{}.1", hex(grant_id(1))),
        format!("state/uses/{}.2", hex(grant_id(1))),
        format!("state/uses/{}.7", hex(grant_id(2))),
        format!("state/revoked/{}", hex(grant_id(3))),
        "state/clock/1500".to_owned(),
        "state/clock/900".to_owned(),
        "state/uses/.keep".to_owned(),
        format!("state/uses/{}.0", hex(grant_id(4))),
        format!("state/uses/{}.x", hex(grant_id(4))),
        "state/uses/zz.1".to_owned(),
        "state/revoked/0".to_owned(),
        "state/clock/noon".to_owned(),
    ] {
        put(home, &name);
    }
}

fn knows(store: &SqliteStore) {
    let left = |grant: u64, allowed: u32| store.has_use_left(&grant_id(grant), uses(allowed)).unwrap();
    assert_eq!(
        (left(1, 2), left(1, 3), left(2, 7), left(2, 8), left(4, 1)),
        (false, true, false, true, true)
    );
    assert!(store.is_revoked(&grant_id(3)).unwrap() && !store.is_revoked(&grant_id(1)).unwrap());
    assert_eq!(store.high_water(UnixTime::from_secs(1)).unwrap(), UnixTime::from_secs(1500));
}

#[test]
fn it_is_taken_over_once_and_kept_beside() {
    let disk = Disk::new();
    let home = disk.folder.path();
    left_in(home);
    let store = SqliteStore::open_home(home).unwrap();
    knows(&store);
    store.spend(&grant_id(1), uses(3)).unwrap();
    for _ in 0..2 {
        let again = SqliteStore::open_home(home).unwrap();
        assert!(!again.has_use_left(&grant_id(1), uses(3)).unwrap());
    }
    assert!(home.join("state.taken-over/uses").is_dir() && home.join("state").is_file());
    // What is kept may go.
    fs::remove_dir_all(home.join("state.taken-over")).unwrap();
    fs::remove_file(home.join("state")).unwrap();
    assert!(!SqliteStore::open_home(home).unwrap().has_use_left(&grant_id(1), uses(3)).unwrap());
}

#[test]
fn whoever_is_stopped_in_the_middle_is_followed_by_somebody_who_goes_on() {
    let disk = Disk::new();
    let home = disk.folder.path();
    left_in(home);
    fs::rename(home.join("state"), home.join("state.taken-over")).unwrap();
    knows(&SqliteStore::open_home(home).unwrap());
    assert!(home.join("state").is_file());
}

#[test]
fn what_a_database_knows_already_is_not_taken_back() {
    let disk = Disk::new();
    let home = disk.folder.path();
    let store = SqliteStore::open_home(home).unwrap();
    for _ in 0..3 {
        store.spend(&grant_id(1), uses(3)).unwrap();
    }
    store.high_water(UnixTime::from_secs(2000)).unwrap();
    left_in(home);
    let store = SqliteStore::open_home(home).unwrap();
    assert!(!store.has_use_left(&grant_id(1), uses(3)).unwrap());
    assert_eq!(store.high_water(UnixTime::from_secs(1)).unwrap(), UnixTime::from_secs(2000));
}

#[test]
fn many_may_take_it_over_at_once() {
    let disk = Disk::new();
    let home = disk.folder.path();
    left_in(home);
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                knows(&SqliteStore::open_home(home).unwrap());
            });
        }
    });
}

#[test]
fn a_folder_that_comes_back_is_refused() {
    let disk = Disk::new();
    let home = disk.folder.path();
    left_in(home);
    SqliteStore::open_home(home).unwrap();
    fs::remove_file(home.join("state")).unwrap();
    put(home, "state/uses/x");
    assert!(matches!(SqliteStore::open_home(home), Err(StoreError::Superseded { .. })));
    // And where it came back before the first was read.
    let disk = Disk::new();
    let home = disk.folder.path();
    left_in(home);
    fs::rename(home.join("state"), home.join("state.taken-over")).unwrap();
    put(home, "state/uses/x");
    assert!(matches!(SqliteStore::open_home(home), Err(StoreError::Superseded { .. })));
}

#[test]
fn a_folder_of_that_name_with_something_else_in_it_is_nobodys_business() {
    let disk = Disk::new();
    let home = disk.folder.path();
    put(home, "state/notes");
    SqliteStore::open_home(home).unwrap();
    assert!(home.join("state/notes").is_file());
}
