//! The file store: exactly once, over threads and over reopening; the clock never goes back.

use std::num::NonZeroU32;
use std::sync::Barrier;

use pinhole_grant::{GrantId, UnixTime};

use super::FileStore;
use crate::store::{MemoryStore, SpendError, Store};

fn id(seed: u64) -> GrantId {
    use rand::SeedableRng as _;
    GrantId::random(&mut rand::rngs::StdRng::seed_from_u64(seed))
}

fn uses(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap()
}

#[test]
fn every_use_is_spent_exactly_once_by_many_threads_with_stores_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let barrier = Barrier::new(16);
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let store = FileStore::open(folder.path()).unwrap();
                    barrier.wait();
                    (0..4).filter(|_| store.spend(&id(1), uses(5)).is_ok()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 5);
}

#[test]
fn a_spent_use_stays_spent_when_the_store_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    FileStore::open(folder.path()).unwrap().spend(&id(1), uses(1)).unwrap();
    let again = FileStore::open(folder.path()).unwrap().spend(&id(1), uses(1));
    assert!(matches!(again, Err(SpendError::UsedUp)));
    FileStore::open(folder.path()).unwrap().spend(&id(2), uses(1)).unwrap();
}

#[test]
fn a_store_that_cannot_write_spends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    std::fs::remove_dir(folder.path().join("uses")).unwrap();
    assert!(matches!(store.spend(&id(1), uses(1)), Err(SpendError::Store(_))));
}

#[test]
fn a_clock_set_back_does_not_go_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = FileStore::open(folder.path()).unwrap();
    let memory = MemoryStore::default();
    let stores: [&dyn Store; 2] = [&file, &memory];
    for store in stores {
        assert_eq!(store.high_water(UnixTime::from_secs(100)).unwrap(), UnixTime::from_secs(100));
        assert_eq!(store.high_water(UnixTime::from_secs(40)).unwrap(), UnixTime::from_secs(100));
        assert_eq!(store.high_water(UnixTime::from_secs(101)).unwrap(), UnixTime::from_secs(101));
        assert_eq!(store.high_water(UnixTime::from_secs(105)).unwrap(), UnixTime::from_secs(105));
        assert_eq!(store.high_water(UnixTime::from_secs(0)).unwrap(), UnixTime::from_secs(105));
    }
    let reopened = FileStore::open(folder.path()).unwrap();
    assert_eq!(reopened.high_water(UnixTime::from_secs(7)).unwrap(), UnixTime::from_secs(105));
    assert!(std::fs::read_dir(folder.path().join("clock")).unwrap().count() <= 2);
}

#[test]
fn a_revocation_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(folder.path()).unwrap();
    assert!(!store.is_revoked(&id(1)).unwrap());
    store.revoke(&id(1)).unwrap();
    store.revoke(&id(1)).unwrap();
    assert!(FileStore::open(folder.path()).unwrap().is_revoked(&id(1)).unwrap());
    assert!(!store.is_revoked(&id(2)).unwrap());
}

#[cfg(unix)]
#[test]
fn nobody_else_may_look() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::open(&folder.path().join("state")).unwrap();
    store.spend(&id(1), uses(1)).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let uses = folder.path().join("state/uses");
    assert_eq!(mode(&uses), 0o700);
    for entry in std::fs::read_dir(&uses).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}
