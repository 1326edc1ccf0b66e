//! Writes under their callers' keys: what each step leaves, and that of many at once one begins.

use std::sync::Barrier;

use pinhole_grant::kept::CallKey;
use pinhole_grant::{CredentialId, KeyKind, Keyed, KeyedDigest};

use crate::store::tests::{Bench, HOUR, NOW, bot, key, member, rng};
use crate::store::{Again, Claim, Claiming, Fate, KEPT_MAX, KEPT_SECS, Kept, MemoryStore};

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

/// So many rows like the one that is there, each begun a second before the one before it, and all more than `by` seconds before it.
fn older(by: u32, rows: u32, state: &str, sealed: &str) -> String {
    format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO kept (id, act, member, bot, state, begun_at, over_by, kept_until, sealed)
         SELECT '{state}' || i, act, member, bot, '{state}', begun_at - {by} - i, over_by, kept_until - {by} - i, {sealed}
         FROM kept, n WHERE id = '{}'",
        digest("k")
    )
}

pub(crate) fn the_oldest_outcomes_beyond_the_most_are_forgotten_and_what_nobody_knows_is_not(
    bench: &dyn Bench,
) {
    let store = bench.store();
    let first = claiming("k");
    assert_eq!(store.claim(&first).unwrap(), Claim::Mine);
    store.ended(first.id, Fate::Done(b"sealed")).unwrap();
    assert!(bench.change(&older(0, KEPT_MAX + 4, "done", "sealed")));
    assert!(bench.change(&older(20_000, 5, "unknown", "NULL")));
    // As another process would, at its first write.
    assert_eq!(bench.store().claim(&claiming("k2")).unwrap(), Claim::Mine);
    let count = |which: &str| bench.value(&format!("SELECT count(*) FROM kept WHERE {which}")).unwrap();
    // The newest are the two that were claimed, of which one is done, and 9,998 others.
    assert_eq!(count("state = 'done'"), (KEPT_MAX - 1).to_string());
    assert_eq!(count(&format!("id = 'done{}'", KEPT_MAX - 2)), "1");
    assert_eq!(count(&format!("id IN ('done{}', 'done{}')", KEPT_MAX - 1, KEPT_MAX + 4)), "0");
    assert_eq!(count("state = 'unknown'"), "5");
    assert_eq!(store.claim(&first).unwrap(), Claim::Done(b"sealed".to_vec()));
}

pub(crate) fn what_is_over_is_forgotten_whosever_it_is(bench: &dyn Bench) {
    let store = bench.store();
    for key in ["k", "k2"] {
        assert_eq!(store.claim(&claiming(key)).unwrap(), Claim::Mine);
    }
    let somebody =
        format!("UPDATE kept SET member = 'somebody', begun_at = begun_at - 1 WHERE id = '{}'", digest("k2"));
    assert!(bench.change(&somebody));
    let later = |key: &str, secs| Claiming { now: NOW.plus_secs(secs), ..claiming(key) };
    let count = || bench.value("SELECT count(*) FROM kept").unwrap();
    assert_eq!(store.claim(&later("k3", KEPT_SECS - 1)).unwrap(), Claim::Mine);
    assert_eq!(count(), "3");
    // Her own at once, whatever is looked for among everybody's.
    assert_eq!(store.claim(&later("k4", KEPT_SECS)).unwrap(), Claim::Mine);
    assert_eq!(count(), "3");
    assert_eq!(store.claim(&later("k5", KEPT_SECS + HOUR)).unwrap(), Claim::Mine);
    assert_eq!(count(), "3");
    assert_eq!(bench.value("SELECT count(*) FROM kept WHERE member = 'somebody'").unwrap(), "0");
}
