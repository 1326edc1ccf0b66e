//! Receipts in a database: one chain over threads and processes, a note and its receipt in one step, and what was changed
//! with another program is found.

use pinhole_grant::{KeyKind, SecretKey};
use pinhole_manifest::OpId;

use crate::book;
use crate::receipts::{Facts, Finding, Note, NoteId, OK, ProcessId, Unended, Verdict};
use crate::store::tests::processes::twenty;
use crate::store::tests::{Bench, NOW, bot, grant_id, key, member, service, uses};
use crate::store::{Desk, MemoryStore, ReceiptFilter, Settled, SpendError, Store, Use};

pub(crate) fn facts(number: u64) -> Facts {
    let at = NOW.plus_secs(i64::try_from(number).unwrap());
    let facts = Facts::new(at, bot(), service("github"), OpId::parse("get_repo").unwrap());
    Facts { code: OK.to_owned(), member: Some(member()), bytes_in: number, ..facts }
}

fn note(number: u64) -> Note {
    let facts = facts(number).unended(Unended::Lost);
    Note { id: noted(number), process: ProcessId::of([7; 16]), facts }
}

fn noted(number: u64) -> NoteId {
    ProcessId::of([7; 16]).note(number)
}

pub(crate) fn the_key() -> SecretKey {
    key(KeyKind::Bot, 2)
}

pub(crate) fn verdict(store: &dyn Desk) -> Verdict {
    book::verify(store, the_key().public(), &[]).unwrap()
}

/// The same on the one that forgets.
fn each(bench: &dyn Bench, check: impl Fn(&dyn Store)) {
    check(&*bench.empty());
    check(&MemoryStore::default());
}

pub(crate) fn receipts_stand_behind_each_other(bench: &dyn Bench) {
    each(bench, |store| {
        for number in 1..=3 {
            let appended = store.append(&facts(number), None, Settled::Lightly).unwrap();
            assert_eq!((appended.id.seq(), appended.head.seq, appended.checkpoint), (number, number, None));
        }
        let rows = store.receipts_from(bot(), 0, 10).unwrap();
        let receipts: Vec<_> = rows.iter().map(|row| row.receipt().unwrap()).collect();
        assert_eq!(
            receipts.iter().map(|receipt| receipt.facts().clone()).collect::<Vec<_>>(),
            [facts(1), facts(2), facts(3)]
        );
        assert_eq!(receipts[0].prev(), None);
        assert_eq!(receipts[2].prev(), Some(receipts[1].hash()));
        assert_eq!(store.receipts_from(bot(), 2, 1).unwrap(), rows[1..2]);
    });
}

pub(crate) fn each_bot_has_a_chain_of_its_own(bench: &dyn Bench) {
    each(bench, |store| {
        store.append(&facts(1), None, Settled::Lightly).unwrap();
        let other = Facts { bot: member(), ..facts(2) };
        assert_eq!(store.append(&other, None, Settled::Durably).unwrap().id.seq(), 1);
        assert_eq!(store.receipts_from(bot(), 0, 10).unwrap().len(), 1);
    });
}

pub(crate) fn a_receipt_takes_its_note_away(bench: &dyn Bench) {
    each(bench, |store| {
        store.begin(&note(1), None, Settled::Lightly).unwrap();
        store.begin(&note(2), None, Settled::Durably).unwrap();
        assert_eq!(store.notes(bot(), 10).unwrap(), [note(1), note(2)]);
        store.append(&facts(1), Some(noted(1)), Settled::Lightly).unwrap();
        assert_eq!(store.notes(bot(), 10).unwrap(), [note(2)]);
        assert_eq!(store.notes(member(), 10).unwrap(), []);
    });
}

pub(crate) fn a_note_of_which_nobody_hears_becomes_one_receipt(bench: &dyn Bench) {
    each(bench, |store| {
        store.begin(&note(1), None, Settled::Lightly).unwrap();
        let lost = store.append_unended(&note(1).facts, noted(1)).unwrap();
        assert_eq!(lost.unwrap().id.seq(), 1);
        assert_eq!(store.append_unended(&note(1).facts, noted(1)).unwrap(), None);
        let row = &store.receipts_from(bot(), 0, 10).unwrap()[0];
        let receipt = row.receipt().unwrap();
        assert_eq!(
            (receipt.facts().code.as_str(), receipt.facts().unended),
            ("interrupted", Some(Unended::Lost))
        );
    });
}

pub(crate) fn a_use_and_the_note_of_its_run_are_one_step(bench: &dyn Bench) {
    each(bench, |store| {
        let spends = Some(Use { grant: grant_id(1), allowed: uses(1) });
        store.begin(&note(1), spends, Settled::Lightly).unwrap();
        assert!(matches!(store.begin(&note(2), spends, Settled::Lightly), Err(SpendError::UsedUp)));
        assert_eq!(store.notes(bot(), 10).unwrap(), [note(1)]);
        assert!(!store.has_use_left(&grant_id(1), uses(1)).unwrap());
    });
    drop(bench.empty());
    // And the other way round: a note that cannot be written spends nothing.
    let store = bench.store();
    store.begin(&note(1), None, Settled::Lightly).unwrap();
    let spends = Some(Use { grant: grant_id(1), allowed: uses(1) });
    assert!(matches!(store.begin(&note(1), spends, Settled::Lightly), Err(SpendError::Store(_))));
    assert!(store.has_use_left(&grant_id(1), uses(1)).unwrap());
}

pub(crate) fn what_is_looked_for_is_found(bench: &dyn Bench) {
    each(bench, |store| {
        for number in 1..=4 {
            let code = if number % 2 == 0 { OK } else { "timed_out" };
            let facts = Facts { code: code.to_owned(), ..facts(number) };
            store.append(&facts, None, Settled::Lightly).unwrap();
        }
        let numbers = |filter: ReceiptFilter, most| -> Vec<u64> {
            store.last_receipts(bot(), &filter, most).unwrap().iter().map(|row| row.seq).collect()
        };
        let any = ReceiptFilter::default;
        assert_eq!(numbers(any(), 10), [4, 3, 2, 1]);
        assert_eq!(numbers(any(), 1), [4]);
        assert_eq!(numbers(ReceiptFilter { code: Some(OK.to_owned()), ..any() }, 10), [4, 2]);
        assert_eq!(numbers(ReceiptFilter { service: Some(service("stripe")), ..any() }, 10), [0; 0]);
        assert_eq!(numbers(ReceiptFilter { op: OpId::parse("get_repo").ok(), ..any() }, 2), [4, 3]);
        let between = (Some(NOW.plus_secs(2)), Some(NOW.plus_secs(4)));
        assert_eq!(numbers(ReceiptFilter { since: between.0, until: between.1, ..any() }, 10), [3, 2]);
    });
}

pub(crate) fn what_another_program_did_to_the_rows_is_found(bench: &dyn Bench) {
    for (sql, found) in [
        ("UPDATE receipts SET code = 'no' WHERE seq = 2", Finding::Edited { seq: 2 }),
        ("UPDATE receipts SET member = NULL WHERE seq = 2", Finding::Edited { seq: 2 }),
        ("UPDATE receipts SET hash = 'x' WHERE seq = 2", Finding::Edited { seq: 2 }),
        (
            "UPDATE receipts SET body = replace(body, '\"ms\":0', '\"ms\":1') WHERE seq = 2",
            Finding::Edited { seq: 2 },
        ),
        ("DELETE FROM receipts WHERE seq = 2", Finding::Gap { from: 2, to: 2 }),
        ("DELETE FROM receipts WHERE seq > 2", Finding::Truncated { from: 3, to: 4 }),
        ("DELETE FROM receipts", Finding::Truncated { from: 1, to: 4 }),
    ] {
        assert!(bench.change("DELETE FROM receipts; DELETE FROM checkpoints"));
        let store = bench.store();
        for number in 1..=4 {
            store.append(&facts(number), None, Settled::Lightly).unwrap();
        }
        book::checkpoint(&*store, &the_key(), NOW, None).unwrap();
        assert!(verdict(&*store).is_sound());
        assert!(bench.change(sql));
        assert_eq!(verdict(&*store).findings, [found], "{sql}");
    }
}

pub(crate) fn what_is_old_is_removed_and_the_rest_stays_sound(bench: &dyn Bench) {
    each(bench, |store| {
        for number in 1..=6 {
            store.append(&facts(number), None, Settled::Lightly).unwrap();
        }
        let before = NOW.plus_secs(4);
        let prune = |before| book::prune(store, &the_key(), before, NOW, None).unwrap();
        let pruned = prune(before).unwrap();
        assert_eq!((pruned.receipts, pruned.last.seq), (3, 3));
        let verdict = book::verify(store, the_key().public(), &[]).unwrap();
        assert!(verdict.is_sound(), "{verdict:?}");
        assert_eq!((verdict.first, verdict.last), (Some(4), Some(6)));
        assert_eq!(prune(before), None);
        // The last one always stays, so that the chain goes on.
        assert_eq!(prune(NOW.plus_secs(99)).unwrap().last.seq, 5);
        assert_eq!(store.append(&facts(7), None, Settled::Lightly).unwrap().id.seq(), 7);
        assert!(book::verify(store, the_key().public(), &[]).unwrap().is_sound());
    });
}

pub(crate) fn nothing_is_removed_from_a_chain_that_is_not_sound(bench: &dyn Bench) {
    let store = bench.store();
    for number in 1..=3 {
        store.append(&facts(number), None, Settled::Lightly).unwrap();
    }
    assert!(bench.change("UPDATE receipts SET code = 'no' WHERE seq = 1"));
    let refused = book::prune(&*store, &the_key(), NOW.plus_secs(9), NOW, None);
    assert!(matches!(refused, Err(book::KeepError::NotSound)));
    assert_eq!(store.receipts_from(bot(), 0, 9).unwrap().len(), 3);
}

pub(crate) fn threads_put_their_receipts_behind_each_other(bench: &dyn Bench) {
    let store = bench.store();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            let settled = if thread % 2 == 0 { Settled::Lightly } else { Settled::Durably };
            scope
                .spawn(move || (0..25).for_each(|n| assert!(store.append(&facts(n), None, settled).is_ok())));
        }
    });
    let verdict = verdict(&*store);
    assert!(verdict.is_sound(), "{verdict:?}");
    assert_eq!((verdict.receipts, verdict.last), (200, Some(200)));
}

pub(crate) fn twenty_processes_make_one_chain(bench: &dyn Bench) {
    let said = twenty("receipts", bench);
    assert!(said.iter().all(|said| said == "written"), "{said:?}");
    let verdict = verdict(&*bench.store());
    assert!(verdict.is_sound(), "{verdict:?}");
    assert_eq!((verdict.receipts, verdict.last), (400, Some(400)));
}
