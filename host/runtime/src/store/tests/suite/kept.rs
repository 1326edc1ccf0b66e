//! Writes under their callers' keys: what each step leaves, and that of many at once one begins.

use std::sync::Barrier;

use pinhole_grant::kept::CallKey;
use pinhole_grant::{CredentialId, KeyKind, Keyed, KeyedDigest};

use crate::store::tests::{Bench, NOW, bot, key, member, rng};
use crate::store::{Again, Claim, Claiming, Fate, KEPT_SECS, Kept, MemoryStore};

fn digest(text: &str) -> KeyedDigest {
    let keyed = Keyed {
        issuer: member(),
        principal: None,
        connection: CredentialId::random(&mut rng(1)),
        key: &CallKey::parse(text).unwrap(),
    };
    keyed.digest(&key(KeyKind::Bot, 2)).unwrap()
}

fn claiming(text: &str) -> Claiming {
    Claiming {
        id: digest(text),
        act: digest("what-is-done"),
        member: member(),
        bot: bot(),
        now: NOW,
        over_by: NOW.plus_secs(80),
        again: Again::Blind,
    }
}

/// The same on the one that forgets.
fn each(bench: &dyn Bench, check: impl Fn(&dyn Kept)) {
    check(&*bench.store());
    check(&MemoryStore::default());
}

pub(crate) fn a_key_goes_from_begun_to_what_became_of_it(bench: &dyn Bench) {
    each(bench, |store| {
        let first = claiming("k");
        assert_eq!(store.kept(&first).unwrap(), None);
        assert_eq!(store.claim(&first).unwrap(), Claim::Mine);
        let under_way = Claim::UnderWay(first.over_by);
        assert_eq!(store.claim(&first).unwrap(), under_way);
        assert_eq!(store.kept(&first).unwrap(), Some(under_way));
        store.ended(first.id, Fate::Done(b"sealed")).unwrap();
        let done = Claim::Done(b"sealed".to_vec());
        assert_eq!(store.claim(&first).unwrap(), done);
        let other = Claiming { act: digest("something-else"), ..first };
        assert_eq!(store.claim(&other).unwrap(), Claim::Conflict);
        assert_eq!(store.kept(&other).unwrap(), Some(Claim::Conflict));
        assert_eq!(store.claim(&claiming("k2")).unwrap(), Claim::Mine);
        let late = Claiming { now: NOW.plus_secs(KEPT_SECS - 1), ..first };
        assert_eq!(store.kept(&late).unwrap(), Some(done));
        let next_day =
            Claiming { now: NOW.plus_secs(KEPT_SECS), over_by: NOW.plus_secs(KEPT_SECS + 9), ..other };
        assert_eq!(store.kept(&next_day).unwrap(), None);
        assert_eq!(store.claim(&next_day).unwrap(), Claim::Mine);
    });
}

pub(crate) fn what_was_not_sent_is_forgotten_and_what_nobody_knows_is_not(bench: &dyn Bench) {
    each(bench, |store| {
        let first = claiming("k");
        assert_eq!(store.claim(&first).unwrap(), Claim::Mine);
        store.ended(first.id, Fate::NotSent).unwrap();
        assert_eq!(store.claim(&first).unwrap(), Claim::Mine);
        store.ended(first.id, Fate::Unknown).unwrap();
        assert_eq!(store.claim(&first).unwrap(), Claim::Unknown);
        assert_eq!(store.claim(&first).unwrap(), Claim::Unknown, "asking changes nothing");
        let known = Claiming { again: Again::Known, over_by: NOW.plus_secs(200), ..first };
        assert_eq!(store.claim(&known).unwrap(), Claim::Mine);
        assert_eq!(store.claim(&known).unwrap(), Claim::UnderWay(known.over_by));
    });
}

pub(crate) fn what_was_begun_and_never_ended_is_unknown_once_its_time_is_over(bench: &dyn Bench) {
    each(bench, |store| {
        let first = claiming("k");
        assert_eq!(store.claim(&first).unwrap(), Claim::Mine);
        let later = |secs| Claiming { now: NOW.plus_secs(secs), ..first };
        assert_eq!(store.claim(&later(79)).unwrap(), Claim::UnderWay(first.over_by));
        assert_eq!(store.claim(&later(80)).unwrap(), Claim::Unknown);
        let known = Claiming { again: Again::Known, over_by: NOW.plus_secs(160), ..later(80) };
        assert_eq!(store.claim(&known).unwrap(), Claim::Mine);
    });
}

pub(crate) fn of_many_at_once_one_begins(bench: &dyn Bench) {
    drop(bench.store());
    let barrier = Barrier::new(8);
    let claims: Vec<Claim> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    // Each as another process would.
                    let store = bench.store();
                    barrier.wait();
                    store.claim(&claiming("k")).unwrap()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(claims.iter().filter(|claim| **claim == Claim::Mine).count(), 1, "{claims:?}");
}

pub(crate) fn a_row_that_was_tampered_with_is_no_claim(bench: &dyn Bench) {
    let store = bench.store();
    assert_eq!(store.claim(&claiming("k")).unwrap(), Claim::Mine);
    assert!(bench.change("UPDATE kept SET act = 'none'"));
    assert!(store.claim(&claiming("k")).is_err() && store.kept(&claiming("k")).is_err());
}
