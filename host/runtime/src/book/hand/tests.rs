//! Runs of processes that are gone get their receipts, those of others are left alone.

use std::sync::Arc;

use pinhole_grant::{KeyKind, SecretKey, UnixTime};
use pinhole_manifest::{OpId, ServiceId};
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::*;
use crate::receipts::Facts;
use crate::store::{MemoryStore, Receipts as _, Settled, SqliteStore};

fn bot() -> KeyId {
    SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(1)).public().id()
}

fn begun(hand: &Hand, number: u64) -> Note {
    let (service, op) = (ServiceId::parse("github").unwrap(), OpId::parse("get_repo").unwrap());
    let facts = Facts::new(UnixTime::from_secs(7), bot(), service, op);
    Note { id: hand.process().note(number), process: hand.process(), facts: facts.unended(Unended::Lost) }
}

fn stores(check: impl Fn(&dyn Store)) {
    let folder = tempfile::tempdir().unwrap();
    check(&SqliteStore::open_home(folder.path()).unwrap());
    check(&SqliteStore::in_memory().unwrap());
    check(&MemoryStore::default());
}

#[test]
fn each_process_has_a_place_of_its_own_and_the_next_one_takes_a_free_one() {
    stores(|store| {
        let one = Hand::enter(store, bot(), [1; 8]).unwrap();
        let other = Hand::enter(store, bot(), [2; 8]).unwrap();
        assert_eq!((one.process().place(), other.process().place()), (0, 1));
        drop(one);
        assert_eq!(Hand::enter(store, bot(), [3; 8]).unwrap().process().place(), 0);
    });
}

#[test]
fn the_runs_of_who_is_gone_have_receipts_and_those_of_who_is_there_have_not() {
    stores(|store| {
        let (one, two) =
            (Hand::enter(store, bot(), [1; 8]).unwrap(), Hand::enter(store, bot(), [2; 8]).unwrap());
        let three = Hand::enter(store, bot(), [3; 8]).unwrap();
        for hand in [&one, &two, &three] {
            store.begin(&begun(hand, 1), None, Settled::Lightly).unwrap();
        }
        let there = begun(&two, 1);
        drop((one, three));
        let next = Hand::enter(store, bot(), [4; 8]).unwrap();
        assert_eq!(store.notes(bot(), 9).unwrap(), [there]);
        let rows = store.receipts_from(bot(), 0, 9).unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert_eq!(row.receipt().unwrap().facts().unended, Some(Unended::Lost));
        }
        drop((next, two));
    });
}

/// Real processes end so: by their death alone.
#[test]
fn a_lock_ends_with_whoever_held_it_on_another_store_of_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open_home(folder.path()).unwrap();
    let (here, there) = (open(), Arc::new(open()));
    let other = Hand::enter(there.as_ref(), bot(), [1; 8]).unwrap();
    there.begin(&begun(&other, 1), None, Settled::Durably).unwrap();
    let mine = Hand::enter(&here, bot(), [2; 8]).unwrap();
    assert_eq!(here.notes(bot(), 9).unwrap().len(), 1);
    drop((other, mine));
    Hand::enter(&here, bot(), [3; 8]).unwrap();
    assert!(here.notes(bot(), 9).unwrap().is_empty());
}

#[test]
fn the_runs_of_a_former_key_have_receipts_once_their_process_is_gone() {
    stores(|store| {
        let (one, two) =
            (Hand::enter(store, bot(), [1; 8]).unwrap(), Hand::enter(store, bot(), [2; 8]).unwrap());
        for hand in [&one, &two] {
            store.begin(&begun(hand, 1), None, Settled::Lightly).unwrap();
        }
        let there = begun(&two, 1);
        drop(one);
        clear_away(store, bot(), None);
        assert_eq!(store.notes(bot(), 9).unwrap(), [there]);
        drop(two);
        clear_away(store, bot(), None);
        assert_eq!(store.notes(bot(), 9).unwrap(), []);
        assert_eq!(store.receipts_from(bot(), 0, 9).unwrap().len(), 2);
    });
}
