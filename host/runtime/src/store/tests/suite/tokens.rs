//! Tokens: each name once, found by its digest alone, revoked for good, and nothing that was tampered with is believed.

use std::collections::BTreeSet;

use pinhole_grant::{PrincipalId, UnixTime};
use pinhole_manifest::{Access, Digest};

use crate::store::tests::{
    Asked, Bench, HOUR, NOW, grant_id, member, question_id, service, somebody_else, token,
};
use crate::store::{
    Answer, Desk, EmptyScope, NewQuestion, Party, Question, QuestionState, Removal, StoreError, Table,
    TokenError, TokenRow, TokenScope, TokenState,
};

fn found(store: &dyn Desk, row: &TokenRow) -> Option<TokenRow> {
    store.token(row.member, row.digest).unwrap()
}

pub(crate) fn a_token_comes_back_as_it_was_stored_and_only_to_its_member(bench: &dyn Bench) {
    let both = BTreeSet::from([service("github"), service("stripe")]);
    let scopes = [
        TokenScope::new([Access::Read], None),
        TokenScope::new([Access::Write], Some(both.clone())),
        TokenScope::new([Access::Write, Access::Read], Some([service("github")].into())),
    ];
    let rows: Vec<TokenRow> = (0..)
        .zip(scopes)
        .map(|(seed, scope)| TokenRow { scope: scope.unwrap(), ..token(seed, &format!("n{seed}")) })
        .collect();
    for row in &rows {
        bench.store().add_token(row).unwrap();
    }
    let store = bench.store();
    for row in &rows {
        assert_eq!(found(&*store, row).as_ref(), Some(row));
        assert_eq!(store.token(somebody_else(), row.digest).unwrap(), None);
    }
    let newest_first: Vec<TokenRow> = rows.iter().rev().cloned().collect();
    assert_eq!(store.tokens(member()).unwrap(), newest_first);
    assert_eq!(store.tokens(somebody_else()).unwrap(), []);
    assert_eq!(store.token(member(), Digest::of(b"another")).unwrap(), None);
    assert_eq!(TokenScope::new([], None), Err(EmptyScope));
    assert_eq!(TokenScope::new([Access::Read], Some(BTreeSet::new())), Err(EmptyScope));
}

pub(crate) fn a_name_is_free_again_when_its_token_is_over(bench: &dyn Bench) {
    let store = bench.store();
    let first = token(1, "laptop");
    store.add_token(&first).unwrap();
    assert!(matches!(store.add_token(&token(2, "laptop")), Err(TokenError::NameTaken)));
    store.add_token(&TokenRow { member: somebody_else(), ..token(3, "laptop") }).unwrap();
    store.revoke_token(member(), first.id, NOW.plus_secs(5)).unwrap();
    let second = token(2, "laptop");
    store.add_token(&second).unwrap();
    let late = TokenRow {
        created_at: second.expires_at.plus_secs(-1),
        expires_at: second.expires_at.plus_secs(HOUR),
        ..token(4, "laptop")
    };
    assert!(matches!(store.add_token(&late), Err(TokenError::NameTaken)));
    store.add_token(&TokenRow { created_at: second.expires_at, ..late }).unwrap();
    // The rows stay, and say when it was over.
    assert_eq!(found(&*store, &first).unwrap().revoked_at, Some(NOW.plus_secs(5)));
    assert_eq!(found(&*store, &second).unwrap().revoked_at, Some(second.expires_at));
    assert_eq!(store.tokens(member()).unwrap().len(), 3);
}

pub(crate) fn an_id_and_a_text_are_taken_once_for_whomever(bench: &dyn Bench) {
    let store = bench.store();
    let first = token(1, "a");
    store.add_token(&first).unwrap();
    store.revoke_token(member(), first.id, NOW).unwrap();
    let same_id = TokenRow { digest: Digest::of(b"x"), member: somebody_else(), ..first.clone() };
    let same_text = TokenRow { digest: first.digest, member: somebody_else(), ..token(2, "b") };
    for row in [same_id, same_text] {
        assert!(matches!(store.add_token(&row), Err(TokenError::IdTaken)));
    }
    let over = TokenRow { expires_at: NOW, ..token(3, "c") };
    assert!(matches!(store.add_token(&over), Err(TokenError::ExpiresAtOnce)));
}

pub(crate) fn a_token_is_good_until_its_last_second_or_until_it_is_revoked(bench: &dyn Bench) {
    let store = bench.store();
    let row = token(1, "a");
    store.add_token(&row).unwrap();
    let state = |now: UnixTime| found(&*store, &row).unwrap().state(now);
    assert_eq!(state(row.expires_at.plus_secs(-1)), TokenState::Good);
    assert_eq!(state(row.expires_at), TokenState::Expired);
    assert_eq!(store.revoke_token(somebody_else(), row.id, NOW).unwrap(), Removal::Absent);
    assert_eq!(state(NOW), TokenState::Good);
    assert_eq!(store.revoke_token(member(), row.id, NOW.plus_secs(3)).unwrap(), Removal::Removed);
    assert_eq!(state(NOW), TokenState::Revoked);
    // The first time stays.
    assert_eq!(store.revoke_token(member(), row.id, NOW.plus_secs(9)).unwrap(), Removal::Removed);
    assert_eq!(found(&*store, &row).unwrap().revoked_at, Some(NOW.plus_secs(3)));
    assert_eq!(store.revoke_token(member(), token(2, "b").id, NOW).unwrap(), Removal::Absent);
}

/// Three of a principal's questions: one that waits, one that was answered with yes, one whose yes was given out.
fn asked(store: &dyn Desk, principal: Option<PrincipalId>, seed: u64) -> [Question; 3] {
    let titles = ["pending", "approved", "used"].map(Asked::new);
    let mut seeds = seed..;
    let questions = titles.each_ref().map(|asked| {
        let id = question_id(seeds.next().unwrap());
        store.raise(&NewQuestion { principal, ..asked.new_question(id, NOW) }).unwrap()
    });
    for (question, seed) in questions.iter().skip(1).zip(seed..) {
        let yes = Answer::Approve { grant: grant_id(seed), sealed: &[1], until: NOW.plus_secs(HOUR) };
        store.answer(member(), question.id, yes, NOW).unwrap();
    }
    store.take(Party::Bot(questions[2].bot, principal), questions[2].id, NOW).unwrap();
    questions
}

pub(crate) fn what_its_holder_asked_ends_with_a_token(bench: &dyn Bench) {
    let store = bench.store();
    let (row, another) = (token(1, "a"), token(2, "b"));
    store.add_token(&row).unwrap();
    store.add_token(&another).unwrap();
    let ended = asked(&*store, Some(row.id), 10);
    let others = [asked(&*store, Some(another.id), 20), asked(&*store, None, 30)];
    let states = |questions: &[Question; 3]| {
        let found = |question: &Question| store.question(Party::Member(member()), question.id, NOW).unwrap();
        questions.each_ref().map(|question| found(question).unwrap().state)
    };
    let revoked = |seed: u64| [seed, seed + 1].map(|seed| store.is_revoked(&grant_id(seed)).unwrap());
    // It is another's: nothing of it ends.
    store.revoke_token(somebody_else(), row.id, NOW).unwrap();
    assert_eq!(revoked(10), [false, false]);
    store.revoke_token(member(), row.id, NOW).unwrap();
    assert_eq!(states(&ended), [QuestionState::Expired, QuestionState::Expired, QuestionState::Used]);
    assert_eq!(revoked(10), [true, true]);
    for (questions, seed) in others.iter().zip([20, 30]) {
        assert_eq!(states(questions), [QuestionState::Pending, QuestionState::Approved, QuestionState::Used]);
        assert_eq!(revoked(seed), [false, false]);
    }
}

pub(crate) fn of_many_who_want_a_name_one_gets_it(bench: &dyn Bench) {
    drop(bench.store());
    let add = |seed| bench.store().add_token(&token(seed, "laptop")).is_ok();
    let made = std::thread::scope(|scope| {
        let add = &add;
        let threads: Vec<_> = (0..8).map(|seed| scope.spawn(move || add(seed))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|made| *made).count()
    });
    assert_eq!(made, 1);
    assert_eq!(bench.store().tokens(member()).unwrap().len(), 1);
}

pub(crate) fn a_row_that_was_tampered_with_opens_nothing_and_can_be_revoked(bench: &dyn Bench) {
    let store = bench.store();
    let row = token(1, "a");
    store.add_token(&row).unwrap();
    for change in [
        "services = '[]'",
        "services = '{}'",
        "services = '[\"GitHub\"]'",
        "services = '[1]'",
        "services = 'x'",
        "name = ' a'",
        "name = ''",
    ] {
        let before = "UPDATE tokens SET services = NULL, name = 'a', revoked_at = NULL";
        assert!(bench.change(&format!("{before}; UPDATE tokens SET {change}")));
        for error in [store.token(member(), row.digest).unwrap_err(), store.tokens(member()).unwrap_err()] {
            let id = row.id.to_string();
            let is_it =
                matches!(&error, StoreError::Tampered { table: Table::Tokens, id: named } if *named == id);
            assert!(is_it, "{change}: {error:?}");
        }
        assert_eq!(store.revoke_token(member(), row.id, NOW).unwrap(), Removal::Removed);
    }
    assert!(bench.change("UPDATE tokens SET name = 'a', services = NULL, id = 'no id'"));
    assert!(matches!(store.token(member(), row.digest), Err(StoreError::Tampered { .. })));
    assert_eq!(store.forget_unreadable(Table::Tokens, somebody_else(), "no id").unwrap(), Removal::Absent);
    assert_eq!(store.forget_unreadable(Table::Tokens, member(), "no id").unwrap(), Removal::Removed);
    assert_eq!(store.tokens(member()).unwrap(), []);
    // What the table itself refuses.
    store.add_token(&row).unwrap();
    for change in
        ["reads = (1 = 0)", "reads = 2", "expires_at = created_at", "sha256 = 'x'", "revoked_at = 'x'"]
    {
        assert!(!bench.change(&format!("UPDATE tokens SET {change}")), "{change}");
    }
}
