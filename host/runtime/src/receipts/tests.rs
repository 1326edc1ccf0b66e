//! Every edit, gap, reorder and truncation behind a checkpoint is found and named; a sound chain is sound.

use pinhole_grant::{KeyKind, SecretKey, UnixTime};
use pinhole_manifest::{Digest, OpId, ServiceId};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand::rngs::StdRng;

use super::*;

const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

fn key(seed: u64) -> SecretKey {
    SecretKey::generate(KeyKind::Bot, &mut StdRng::seed_from_u64(seed))
}

fn bot() -> SecretKey {
    key(1)
}

fn facts(number: u64) -> Facts {
    let (service, op) = (ServiceId::parse("github").unwrap(), OpId::parse("get_repo").unwrap());
    let facts = Facts::new(NOW.plus_secs(i64::try_from(number).unwrap()), bot().public().id(), service, op);
    Facts { code: OK.to_owned(), bytes_in: number, ..facts }
}

fn chain(length: u64) -> Vec<Stored> {
    let mut head = None;
    let receipt = |number| {
        let receipt = Receipt::after(head, facts(number)).unwrap();
        head = Some(receipt.head());
        Stored::of(&receipt)
    };
    (1..=length).map(receipt).collect()
}

/// The chain from a place on, made anew behind the one before it by somebody without the bot's key.
fn made_anew(rows: &mut [Stored], from: usize, change: impl Fn(&mut Facts)) {
    let mut head = from.checked_sub(1).map(|before| Head { seq: rows[before].seq, hash: rows[before].hash });
    for row in &mut rows[from..] {
        let mut facts = Receipt::read(&row.body).unwrap().facts().clone();
        change(&mut facts);
        let receipt = Receipt::after(head, facts).unwrap();
        head = Some(receipt.head());
        *row = Stored::of(&receipt);
    }
}

fn signed(row: &Stored, covers: Covers) -> Checkpoint {
    let head = Head { seq: row.seq, hash: row.hash };
    let envelope = Checkpoint::sign(head, covers, NOW, &bot()).unwrap();
    Checkpoint::read(&envelope, bot().public()).unwrap()
}

fn verdict(rows: &[Stored], checkpoints: &[Checkpoint]) -> Verdict {
    let mut verifier = Verifier::new(bot().public().id(), checkpoints.iter().copied());
    rows.iter().for_each(|row| verifier.row(row));
    verifier.finish()
}

fn findings(rows: &[Stored], checkpoints: &[Checkpoint]) -> Vec<Finding> {
    verdict(rows, checkpoints).findings
}

#[test]
fn a_chain_that_nobody_touched_is_sound() {
    let rows = chain(9);
    let verdict = verdict(&rows, &[signed(&rows[3], Covers::Head), signed(&rows[6], Covers::Head)]);
    assert!(verdict.is_sound(), "{verdict:?}");
    assert_eq!((verdict.first, verdict.last, verdict.covered), (Some(1), Some(9), Some(7)));
    assert_eq!((verdict.receipts, verdict.checkpoints, verdict.uncovered()), (9, 2, 2));
}

#[test]
fn without_a_checkpoint_all_of_a_chain_is_uncovered() {
    assert_eq!(verdict(&chain(4), &[]).uncovered(), 4);
    assert_eq!(verdict(&[], &[]).uncovered(), 0);
    assert!(verdict(&[], &[]).is_sound());
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let rows = chain(3);
    for at in 0..rows[1].body.len() {
        let mut rows = rows.clone();
        let mut bytes = rows[1].body.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(body) = String::from_utf8(bytes) else { continue };
        rows[1].body = body;
        assert_eq!(findings(&rows, &[]), [Finding::Edited { seq: 2 }], "{at}");
    }
}

#[test]
fn a_changed_column_is_found() {
    for (was, is) in [("github", "stripe"), ("get_repo", "get_user"), (" ok", " x"), ("- 18", "me 18")] {
        let mut rows = chain(3);
        assert!(rows[1].index.contains(was), "{}", rows[1].index);
        rows[1].index = rows[1].index.replace(was, is);
        assert_eq!(findings(&rows, &[]), [Finding::Edited { seq: 2 }], "{was}");
    }
}

#[test]
fn a_receipt_whose_hash_was_made_anew_no_longer_fits_the_next() {
    let mut rows = chain(5);
    let mut facts = Receipt::read(&rows[2].body).unwrap().facts().clone();
    facts.code = "upstream_error".to_owned();
    let before = Head { seq: rows[1].seq, hash: rows[1].hash };
    rows[2] = Stored::of(&Receipt::after(Some(before), facts).unwrap());
    assert_eq!(findings(&rows, &[]), [Finding::Relinked { seq: 4 }]);
}

#[test]
fn a_chain_made_anew_does_not_fit_what_was_signed() {
    let honest = chain(8);
    let checkpoints = [signed(&honest[1], Covers::Head), signed(&honest[5], Covers::Head)];
    let mut rows = honest.clone();
    made_anew(&mut rows, 3, |facts| facts.bytes_in = 0);
    assert_eq!(findings(&rows, &checkpoints), [Finding::Rewritten { after: 2, seq: 6 }]);
    // Behind the last checkpoint nobody can know.
    let mut rows = honest;
    made_anew(&mut rows, 6, |facts| facts.bytes_in = 0);
    assert!(findings(&rows, &checkpoints).is_empty());
}

#[test]
fn what_was_taken_out_is_named() {
    let rows = chain(9);
    let without = |gone: std::ops::Range<usize>| {
        let mut rows = rows.clone();
        rows.drain(gone);
        rows
    };
    assert_eq!(findings(&without(3..4), &[]), [Finding::Gap { from: 4, to: 4 }]);
    assert_eq!(findings(&without(3..6), &[]), [Finding::Gap { from: 4, to: 6 }]);
    assert_eq!(findings(&without(0..2), &[]), [Finding::Gap { from: 1, to: 2 }]);
}

#[test]
fn what_was_taken_out_and_closed_up_is_found() {
    let mut rows = chain(6);
    rows.remove(2);
    for (row, seq) in rows.iter_mut().zip(1..) {
        row.seq = seq;
    }
    assert_eq!(findings(&rows, &[]).first(), Some(&Finding::Edited { seq: 3 }));
}

#[test]
fn receipts_that_changed_places_are_found() {
    let mut rows = chain(5);
    rows.swap(1, 2);
    (rows[1].seq, rows[2].seq) = (2, 3);
    assert_eq!(findings(&rows, &[]), [Finding::Edited { seq: 2 }, Finding::Edited { seq: 3 }]);
    // And as a store would never give them.
    let mut rows = chain(4);
    rows.swap(1, 2);
    assert!(findings(&rows, &[]).contains(&Finding::Relinked { seq: 2 }));
}

#[test]
fn what_was_cut_off_behind_a_checkpoint_is_named() {
    let rows = chain(9);
    let checkpoints = [signed(&rows[6], Covers::Head)];
    assert_eq!(findings(&rows[..5], &checkpoints), [Finding::Truncated { from: 6, to: 7 }]);
    assert_eq!(findings(&[], &checkpoints), [Finding::Truncated { from: 1, to: 7 }]);
    // The end behind it nobody can know of.
    assert!(findings(&rows[..7], &checkpoints).is_empty());
}

#[test]
fn a_chain_that_was_cut_and_went_on_does_not_fit_what_was_signed() {
    let honest = chain(9);
    let checkpoints = [signed(&honest[6], Covers::Head)];
    let mut rows = honest[..5].to_vec();
    for number in 100..105 {
        let last = rows.last().unwrap();
        let head = Head { seq: last.seq, hash: last.hash };
        rows.push(Stored::of(&Receipt::after(Some(head), facts(number)).unwrap()));
    }
    assert_eq!(findings(&rows, &checkpoints), [Finding::Rewritten { after: 0, seq: 7 }]);
}

#[test]
fn what_was_removed_on_purpose_is_no_gap() {
    let rows = chain(9);
    let anchor = signed(&rows[3], Covers::Pruned);
    assert!(findings(&rows[4..], &[anchor]).is_empty());
    assert_eq!(findings(&rows[5..], &[anchor]), [Finding::Gap { from: 1, to: 5 }]);
    // A checkpoint is no word for a removal, and a removal none for another beginning.
    let checkpoint = signed(&rows[3], Covers::Head);
    assert_eq!(findings(&rows[4..], &[checkpoint]), [Finding::Gap { from: 1, to: 4 }]);
    let mut other = rows.clone();
    made_anew(&mut other, 2, |facts| facts.bytes_in = 0);
    assert_eq!(findings(&other[4..], &[anchor]), [Finding::Gap { from: 1, to: 4 }]);
    assert_eq!(findings(&[], &[anchor]), [Finding::Truncated { from: 5, to: 5 }]);
}

#[test]
fn a_checkpoint_is_the_bot_s_own() {
    let rows = chain(2);
    let head = Head { seq: 2, hash: rows[1].hash };
    let envelope = Checkpoint::sign(head, Covers::Head, NOW, &bot()).unwrap();
    assert_eq!(Checkpoint::read(&envelope, bot().public()).unwrap().head(), head);
    assert_eq!(Checkpoint::read(&envelope, key(2).public()), Err(CheckpointError::NotOne));
    for at in 0..envelope.len() {
        let mut changed = envelope.clone();
        changed[at] ^= 1;
        assert!(Checkpoint::read(&changed, bot().public()).is_err(), "{at}");
    }
    let long = [envelope, vec![b' '; CHECKPOINT_LINE_MAX]].concat();
    assert_eq!(Checkpoint::read(&long, bot().public()), Err(CheckpointError::NotOne));
}

#[test]
fn a_false_checkpoint_is_a_finding() {
    let mut verifier = Verifier::new(bot().public().id(), []);
    verifier.false_checkpoint("line 1".to_owned());
    assert!(!verifier.finish().is_sound());
}

#[test]
fn an_id_has_one_text() {
    let receipt = Receipt::after(None, facts(1)).unwrap();
    let text = receipt.id().to_string();
    assert_eq!(text.parse(), Ok(receipt.id()));
    assert_eq!(text, format!("1-{}", &receipt.hash().hex()[..16]));
    for other in [
        "",
        "1",
        "1-",
        "x-0123456789abcdef",
        "01-0123456789abcdef",
        "1-0123456789ABCDEF",
        "1-+123456789abcdef",
    ] {
        assert_eq!(other.parse::<ReceiptId>(), Err(ReceiptIdError), "{other}");
    }
}

#[test]
fn of_each_run_a_process_leaves_another_note() {
    let (one, other) = (ProcessId::of([1; 16]), ProcessId::of([2; 16]));
    assert_ne!(one.note(1), one.note(2));
    assert_ne!(one.note(1), other.note(1));
    assert_eq!(NoteId::parse(&one.note(7).to_string()), Ok(one.note(7)));
    assert!(NoteId::parse("00").is_err());
}

#[test]
fn what_is_no_receipt_is_not_read() {
    let body = Receipt::after(None, facts(1)).unwrap().body().to_owned();
    assert!(Receipt::read(&body).is_ok());
    for (was, is) in [
        ("\"v\":1", "\"v\":2"),
        ("\"seq\":1", "\"seq\":0"),
        ("\"ok\"", "\"no code\""),
        ("\"v\"", "\"x\":0,\"v\""),
    ] {
        assert_eq!(Receipt::read(&body.replacen(was, is, 1)), Err(NotAReceipt), "{is}");
    }
}

proptest! {
    /// Whatever is done to the rows up to the last checkpoint, it shows.
    #[test]
    fn nothing_covered_changes_unseen(
        length in 2_usize..12, kind in 0_u8..5, at in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(),
    ) {
        let honest = chain(u64::try_from(length).unwrap());
        let checkpoints = [signed(honest.last().unwrap(), Covers::Head)];
        let mut rows = honest.clone();
        let (at, to) = (at.index(length), to.index(length));
        match kind {
            0 => drop(rows.remove(at)),
            1 => rows.truncate(at),
            2 => rows.swap(at, to),
            3 => made_anew(&mut rows, at, |facts| facts.ms += 1),
            _ => rows[at].hash = Digest::of(b"another"),
        }
        prop_assert_eq!(findings(&rows, &checkpoints).is_empty(), rows == honest);
    }
}
