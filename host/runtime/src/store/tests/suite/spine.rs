//! Uses, revocations, the clock: each exactly once, and none of it forgotten.

use std::sync::Barrier;

use pinhole_grant::UnixTime;

use crate::store::tests::{Bench, furnished, grant_id, uses};
use crate::store::{MemoryStore, SpendError, Store};

pub(crate) fn every_use_is_spent_exactly_once_by_many_threads_with_stores_of_their_own(bench: &dyn Bench) {
    let barrier = Barrier::new(16);
    let won: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    // All of them make the database at once.
                    barrier.wait();
                    let store = bench.store();
                    barrier.wait();
                    (0..4).filter(|_| store.spend(&grant_id(1), uses(5)).is_ok()).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 5);
}

pub(crate) fn one_store_serves_many_threads(bench: &dyn Bench) {
    let store = bench.store();
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

pub(crate) fn a_spent_use_stays_spent_when_the_store_is_opened_again(bench: &dyn Bench) {
    bench.store().spend(&grant_id(1), uses(1)).unwrap();
    assert!(matches!(bench.store().spend(&grant_id(1), uses(1)), Err(SpendError::UsedUp)));
    assert!(!bench.store().has_use_left(&grant_id(1), uses(1)).unwrap());
    assert!(bench.store().has_use_left(&grant_id(1), uses(2)).unwrap());
    bench.store().spend(&grant_id(2), uses(1)).unwrap();
}

pub(crate) fn a_clock_set_back_does_not_go_back(bench: &dyn Bench) {
    let (store, memory) = (bench.store(), MemoryStore::default());
    let stores: [&dyn Store; 2] = [&*store, &memory];
    let at = UnixTime::from_secs;
    for store in stores {
        for (now, latest) in [(100, 100), (40, 100), (101, 101), (105, 105), (0, 105), (-7, 105)] {
            assert_eq!(store.high_water(at(now)).unwrap(), at(latest));
        }
    }
    assert_eq!(bench.store().high_water(at(7)).unwrap(), at(105));
}

pub(crate) fn the_latest_time_of_another_process_counts(bench: &dyn Bench) {
    let (one, other) = (bench.store(), bench.store());
    let at = UnixTime::from_secs;
    assert_eq!(one.high_water(at(100)).unwrap(), at(100));
    assert_eq!(other.high_water(at(200)).unwrap(), at(200));
    assert_eq!(one.high_water(at(150)).unwrap(), at(200));
}

pub(crate) fn a_revocation_holds(bench: &dyn Bench) {
    let store = bench.store();
    assert!(!store.is_revoked(&grant_id(1)).unwrap());
    store.revoke(&grant_id(1)).unwrap();
    store.revoke(&grant_id(1)).unwrap();
    assert!(bench.store().is_revoked(&grant_id(1)).unwrap());
    assert!(!store.is_revoked(&grant_id(2)).unwrap());
}

pub(crate) fn a_use_of_a_stored_grant_is_its_members(bench: &dyn Bench) {
    let store = bench.store();
    let (_, grant) = furnished(&*store);
    store.spend(&grant.id, uses(2)).unwrap();
    store.revoke(&grant.id).unwrap();
    for table in ["uses", "revoked"] {
        let member = bench.value(&format!("SELECT member FROM {table}")).unwrap();
        assert_eq!(member, grant.member.to_string());
    }
}
