//! Lines against a plain model of them: whatever is done in whatever order, the database, the store in memory and the model
//! say the same. And what the database itself refuses.

use pinhole_grant::{CredentialId, KeptPair, KeyId, KeyKind, PairDigest, Secret};
use proptest::prelude::*;

use super::{Disk, NOW, bot, furnished, key, member, rng, service, somebody_else};
use crate::store::{
    Carried, Connections as _, Line, LineError, LineState, MemoryStore, NextPair, Renewals, ReturnedRow,
    Returns as _, SqliteStore, StoreError, TRIES_MAX, Table,
};

/// The digest of the pair of this number.
fn digest(number: u64) -> PairDigest {
    let text = || Secret::new(format!("token{number}")).unwrap();
    let pair = KeptPair {
        issuer: member(),
        credential: credential(7),
        generation: number,
        access: text(),
        refresh: Some(text()),
        obtained_at: NOW,
        expires_at: None,
    };
    pair.digest(&key(KeyKind::Bot, 2)).unwrap()
}

fn credential(seed: u64) -> CredentialId {
    CredentialId::random(&mut rng(seed))
}

fn begun(first: u64, whose: KeyId) -> Line {
    Line::begin(digest(first), (whose, bot()), (credential(7), service("github")), 0)
}

fn next(number: u64, generation: u64) -> NextPair {
    NextPair { generation, digest: digest(number), sealed: format!("sealed{number}").into_bytes() }
}

/// What somebody does with one of two lines, as it is or as it was looked at some steps ago.
#[derive(Debug, Clone)]
enum Step {
    Begin,
    Sending,
    PutOff { carried: Carried },
    Renewed,
    Ended,
}

fn step() -> impl Strategy<Value = (usize, usize, Step)> {
    let step = prop_oneof![
        Just(Step::Begin),
        Just(Step::Sending),
        prop_oneof![Just(Carried::Not), Just(Carried::Perhaps)].prop_map(|carried| Step::PutOff { carried }),
        Just(Step::Renewed),
        Just(Step::Ended),
    ];
    (0_usize..2, prop_oneof![4 => Just(0_usize), 1 => 1_usize..3], step)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_done_both_stores_and_the_model_say_the_same(steps in prop::collection::vec(step(), 1..40)) {
        let stores: [Box<dyn Renewals>; 2] =
            [Box::new(SqliteStore::in_memory().unwrap()), Box::new(MemoryStore::default())];
        // Of each line all that it ever was, and the pairs that lead to it.
        let mut model: [Vec<Line>; 2] = [Vec::new(), Vec::new()];
        let mut pairs: Vec<(u64, usize)> = Vec::new();
        let mut numbers = 10;
        for (which, ago, step) in steps {
            let first = u64::try_from(which).unwrap();
            let history = &mut model[which];
            if matches!(step, Step::Begin) {
                let begun = begun(first, member());
                for store in &stores {
                    let there = store.begin_line(&begun).unwrap();
                    prop_assert_eq!(&there, history.last().unwrap_or(&begun));
                }
                if history.is_empty() {
                    history.push(begun);
                    pairs.push((first, which));
                }
                continue;
            }
            let Some(from) = history.iter().rev().nth(ago).cloned() else { continue };
            numbers += 1;
            let to = match step {
                Step::Sending if from.tries == TRIES_MAX => continue,
                Step::Sending => from.sending(NOW.plus_secs(5)),
                Step::PutOff { .. } if from.state != LineState::Sent => continue,
                Step::PutOff { carried } => from.put_off(carried, NOW.plus_secs(9)),
                Step::Renewed => from.renewed(next(numbers, from.generation + 1)),
                Step::Ended | Step::Begin => from.ended(),
            };
            let current = history.last().unwrap().clone();
            let same = (from.generation, from.state, from.tries, from.failures, from.newest)
                == (current.generation, current.state, current.tries, current.failures, current.newest);
            // A line that was looked at earlier and is the same again but for when is as good.
            let may = same && current.state != LineState::Dead;
            if may && from != current { continue }
            for store in &stores {
                let changed = store.change_line(&from, &to);
                prop_assert_eq!(changed.is_ok(), may, "{:?}", changed);
                prop_assert!(may || matches!(changed, Err(LineError::Changed)));
            }
            if may {
                if to.newest != from.newest { pairs.push((numbers, which)); }
                history.push(to);
            }
            for (number, which) in &pairs {
                for store in &stores {
                    let found = store.line(&digest(*number)).unwrap();
                    prop_assert_eq!(found.as_ref(), model[*which].last());
                }
            }
        }
        let mut wanted: Vec<_> = model.iter().filter_map(|history| history.last()).collect();
        wanted.sort_by_key(|line| line.id);
        for store in &stores {
            let mut found = store.lines(member()).unwrap();
            found.sort_by_key(|line| line.id);
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), wanted.clone());
            prop_assert!(store.lines(somebody_else()).unwrap().is_empty());
        }
    }
}

#[test]
fn a_line_is_what_it_was_after_the_store_was_opened_anew() {
    let disk = Disk::new();
    let line = begun(1, member());
    let sent = line.sending(NOW.plus_secs(5));
    let store = disk.store();
    store.begin_line(&line).unwrap();
    store.change_line(&line, &sent).unwrap();
    drop(store);
    let store = disk.store();
    assert_eq!(store.line(&digest(1)).unwrap(), Some(sent.clone()));
    let renewed = sent.renewed(next(2, 1));
    store.change_line(&sent, &renewed).unwrap();
    drop(store);
    for number in [1, 2] {
        assert_eq!(disk.store().line(&digest(number)).unwrap(), Some(renewed.clone()));
    }
    assert_eq!(disk.store().line(&digest(3)).unwrap(), None);
}

#[test]
fn the_database_holds_lines_to_their_rules_whoever_writes() {
    let disk = Disk::new();
    let line = begun(1, member());
    disk.store().begin_line(&line).unwrap();
    for set in [
        "state = 'renewed'",
        "tries = 6, failures = 6, state = 'sent', again_at = 1",
        "tries = 1, failures = 1",
        "state = 'sent'",
        "state = 'sent', tries = 1, failures = 1",
        "gen = -1",
        "newest = 'x'",
        "sealed = x''",
    ] {
        disk.raw().execute(&format!("UPDATE lines SET {set}"), []).unwrap_err();
    }
    disk.raw().execute("UPDATE lines SET credential = 'x'", []).unwrap();
    let found = disk.store().line(&digest(1));
    assert!(
        matches!(found, Err(StoreError::Tampered { table: Table::Lines, id }) if id == line.id.to_string())
    );
}

#[test]
fn what_was_renewed_goes_with_its_connection() {
    let disk = Disk::new();
    let store = disk.store();
    let (row, _) = furnished(&store);
    let line = Line::begin(digest(1), (member(), bot()), (row.id, service("github")), 0);
    store.begin_line(&line).unwrap();
    let renewed = line.renewed(next(2, 1));
    store.change_line(&line, &renewed).unwrap();
    // Another member's of the same id stays.
    let theirs = Line::begin(digest(3), (somebody_else(), bot()), (row.id, service("github")), 0);
    store.begin_line(&theirs).unwrap();
    let waiting = ReturnedRow { member: member(), connection: row.id, generation: 1, sealed: vec![1] };
    store.put_returned(&waiting).unwrap();
    store.remove_connection(member(), row.id).unwrap();
    assert_eq!(store.line(&digest(1)).unwrap(), None);
    assert_eq!(store.line(&digest(2)).unwrap(), None);
    assert_eq!(store.line(&digest(3)).unwrap(), Some(theirs));
    assert_eq!(store.returned(member()).unwrap(), []);
}

#[test]
fn the_newest_pair_waits_for_its_member() {
    let store = SqliteStore::in_memory().unwrap();
    let of = |member: KeyId, generation: u64| ReturnedRow {
        member,
        connection: credential(7),
        generation,
        sealed: generation.to_string().into_bytes(),
    };
    for generation in [2, 3, 1, 3] {
        store.put_returned(&of(member(), generation)).unwrap();
    }
    store.put_returned(&of(somebody_else(), 1)).unwrap();
    assert_eq!(store.returned(member()).unwrap(), [of(member(), 3)]);
    store.drop_returned(member(), credential(7), 2).unwrap();
    assert_eq!(store.returned(member()).unwrap(), [of(member(), 3)]);
    store.drop_returned(member(), credential(7), 3).unwrap();
    assert_eq!(store.returned(member()).unwrap(), []);
    assert_eq!(store.returned(somebody_else()).unwrap(), [of(somebody_else(), 1)]);
}
