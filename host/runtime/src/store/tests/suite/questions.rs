//! Questions: raised once, answered once, used once, by whoever it is for, in time.

use std::sync::Barrier;

use pinhole_grant::{PrincipalId, UnixTime};
use serde_json::Value;

use crate::store::tests::{
    Asked, Bench, HOUR, NOW, bot, grant_id, key, member, question_id, rng, somebody_else, the_bot,
};
use crate::store::{
    Answer, AnswerError, Desk, NewQuestion, Party, QUESTION_TEXT_BYTES_MAX, QUESTIONS_KEPT,
    QUESTIONS_PENDING_MAX, QuestionState, RaiseError, TakeError, Taken,
};

const YES: &[u8] = b"a sealed approval";

fn yes(until: UnixTime) -> Answer<'static> {
    Answer::Approve { grant: grant_id(5), sealed: YES, until }
}

fn later(seconds: i64) -> UnixTime {
    NOW.plus_secs(seconds)
}

pub(crate) fn a_question_comes_back_as_it_was_raised(bench: &dyn Bench) {
    let asked = Asked::new("A title");
    let raised = asked.raise(&*bench.store(), 1, NOW).unwrap();
    assert_eq!((raised.id, raised.state), (question_id(1), QuestionState::Pending));
    assert_eq!((raised.member, raised.bot, raised.connection), (member(), bot(), asked.connection));
    assert_eq!((&raised.service, &raised.op, &raised.account), (&asked.service, &asked.op, &asked.account));
    assert_eq!(raised.args, r#"{"owner":"wren","repo":"nest","title":"A title"}"#);
    assert_eq!(raised.action, asked.action(bot()).digest().unwrap());
    assert_eq!((&raised.found, raised.answered_at, raised.approval), (&asked.found, None, None));
    let store = bench.store();
    for party in [Party::Member(member()), Party::Bot(bot(), None)] {
        assert_eq!(store.question(party, raised.id, NOW).unwrap().as_ref(), Some(&raised));
        assert_eq!(store.questions(party, NOW).unwrap(), std::slice::from_ref(&raised));
        assert_eq!(store.last_question(party, raised.action, NOW).unwrap().as_ref(), Some(&raised));
    }
    for stranger in [Party::Member(somebody_else()), Party::Bot(member(), None), Party::Member(bot())] {
        assert_eq!(store.question(stranger, raised.id, NOW).unwrap(), None);
        assert_eq!(store.questions(stranger, NOW).unwrap(), []);
        assert_eq!(store.last_question(stranger, raised.action, NOW).unwrap(), None);
    }
    assert!(matches!(store.answer(somebody_else(), raised.id, Answer::Deny, NOW), Err(AnswerError::Absent)));
    assert!(matches!(store.take(Party::Bot(somebody_else(), None), raised.id, NOW), Err(TakeError::Absent)));
}

pub(crate) fn the_same_action_is_the_same_question_while_it_is_open(bench: &dyn Bench) {
    let store = bench.store();
    let (asked, other) = (Asked::new("A title"), Asked::new("Another title"));
    let first = asked.raise(&*store, 1, NOW).unwrap();
    assert_eq!(asked.raise(&*store, 2, later(9)).unwrap(), first);
    assert_eq!(other.raise(&*store, 3, NOW).unwrap().id, question_id(3));
    store.answer(member(), first.id, yes(later(HOUR)), later(10)).unwrap();
    let approved = asked.raise(&*store, 4, later(11)).unwrap();
    assert_eq!((approved.id, approved.state), (first.id, QuestionState::Approved));
    assert_eq!(approved.approval, Some((grant_id(5), later(HOUR))));
    store.take(the_bot(), first.id, later(12)).unwrap();
    assert_eq!(asked.raise(&*store, 4, later(13)).unwrap().id, question_id(4));
    store.answer(member(), question_id(4), Answer::Deny, later(14)).unwrap();
    assert_eq!(asked.raise(&*store, 5, later(15)).unwrap().id, question_id(5));
    // Nobody answered.
    assert_eq!(asked.raise(&*store, 6, later(15 + HOUR)).unwrap().id, question_id(6));
    assert!(matches!(other.raise(&*store, 1, later(2 * HOUR)), Err(RaiseError::IdTaken)));
}

pub(crate) fn time_ends_what_is_open(bench: &dyn Bench) {
    let asked = Asked::new("A title");
    let id = asked.raise(&*bench.store(), 1, NOW).unwrap().id;
    let state = |now| bench.store().question(Party::Bot(bot(), None), id, now).unwrap().unwrap().state;
    assert_eq!(
        (state(later(HOUR - 1)), state(later(HOUR))),
        (QuestionState::Pending, QuestionState::Expired)
    );
    let late = bench.store().answer(member(), id, yes(later(9 * HOUR)), later(HOUR));
    assert!(matches!(late, Err(AnswerError::NotPending(QuestionState::Expired))));
    bench.store().answer(member(), id, yes(later(2 * HOUR)), later(HOUR - 1)).unwrap();
    // From then on the approval's own time counts.
    assert_eq!(
        (state(later(2 * HOUR - 1)), state(later(2 * HOUR))),
        (QuestionState::Approved, QuestionState::Expired)
    );
    let late = bench.store().take(the_bot(), id, later(2 * HOUR));
    assert!(matches!(late, Err(TakeError::NotApproved(QuestionState::Expired))));
    let action = asked.action(bot()).digest().unwrap();
    let last = bench.store().last_question(the_bot(), action, later(2 * HOUR)).unwrap().unwrap();
    assert_eq!(last.state, QuestionState::Expired);
    // The next question writes it down, and the approval goes.
    Asked::new("Another").raise(&*bench.store(), 2, later(2 * HOUR)).unwrap();
    let of = |column: &str| bench.value(&format!("SELECT {column} FROM questions WHERE id = '{id}'"));
    assert_eq!((of("state").as_deref(), of("sealed")), (Some("expired"), None));
}

pub(crate) fn an_approval_is_given_out_once_and_is_gone_then(bench: &dyn Bench) {
    let id = Asked::new("A title").raise(&*bench.store(), 1, NOW).unwrap().id;
    let early = bench.store().take(the_bot(), id, NOW);
    assert!(matches!(early, Err(TakeError::NotApproved(QuestionState::Pending))));
    bench.store().answer(member(), id, yes(later(HOUR)), NOW).unwrap();
    let again = bench.store().answer(member(), id, yes(later(HOUR)), NOW);
    assert!(matches!(again, Err(AnswerError::NotPending(QuestionState::Approved))));
    let taken = bench.store().take(the_bot(), id, later(1)).unwrap();
    assert_eq!(taken, Taken { grant: grant_id(5), sealed: YES.to_vec() });
    let again = bench.store().take(the_bot(), id, later(1));
    assert!(matches!(again, Err(TakeError::NotApproved(QuestionState::Used))));
    let late = bench.store().answer(member(), id, Answer::Deny, later(1));
    assert!(matches!(late, Err(AnswerError::NotPending(QuestionState::Used))));
    assert!(!bench.store().is_revoked(&grant_id(5)).unwrap());
    assert_eq!(bench.value("SELECT sealed FROM questions"), None);
}

pub(crate) fn a_yes_that_was_not_used_can_be_taken_back(bench: &dyn Bench) {
    let id = Asked::new("A title").raise(&*bench.store(), 1, NOW).unwrap().id;
    bench.store().answer(member(), id, yes(later(HOUR)), NOW).unwrap();
    bench.store().answer(member(), id, Answer::Deny, later(1)).unwrap();
    let taken = bench.store().take(the_bot(), id, later(1));
    assert!(matches!(taken, Err(TakeError::NotApproved(QuestionState::Denied))));
    // Whoever has a copy of the approval runs nothing by it.
    assert!(bench.store().is_revoked(&grant_id(5)).unwrap());
    let again = bench.store().answer(member(), id, yes(later(HOUR)), later(1));
    assert!(matches!(again, Err(AnswerError::NotPending(QuestionState::Denied))));
}

pub(crate) fn of_many_threads_one_answers_and_one_takes(bench: &dyn Bench) {
    let id = Asked::new("A title").raise(&*bench.store(), 1, NOW).unwrap().id;
    let all = |work: &(dyn Fn(&dyn Desk) -> bool + Sync)| -> usize {
        let barrier = Barrier::new(8);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let store = bench.store();
                        barrier.wait();
                        work(&*store)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
        })
    };
    assert_eq!(all(&|store| store.answer(member(), id, yes(later(HOUR)), NOW).is_ok()), 1);
    assert_eq!(all(&|store| store.take(the_bot(), id, NOW).is_ok()), 1);
}

pub(crate) fn a_bot_cannot_bury_a_member_in_questions(bench: &dyn Bench) {
    let store = bench.store();
    let titles: Vec<Asked> = (0..=QUESTIONS_PENDING_MAX).map(|n| Asked::new(&n.to_string())).collect();
    let (last, first) = titles.split_last().unwrap();
    for (seed, asked) in (100..).zip(first) {
        asked.raise(&*store, seed, NOW).unwrap();
    }
    assert!(matches!(last.raise(&*store, 1, NOW), Err(RaiseError::TooManyPending)));
    // What waits already may be asked again, and another bot or another member is not in its way.
    assert_eq!(first[0].raise(&*store, 1, NOW).unwrap().id, question_id(100));
    let other_bot = key(pinhole_grant::KeyKind::Bot, 9).public().id();
    let new = last.new_question(question_id(1), NOW);
    store.raise(&NewQuestion { action: last.action(other_bot), ..new }).unwrap();
    store.raise(&NewQuestion { id: question_id(2), member: somebody_else(), ..new }).unwrap();
    // An answer makes room, and so does time.
    store.answer(member(), question_id(100), Answer::Deny, NOW).unwrap();
    last.raise(&*store, 3, NOW).unwrap();
    assert!(matches!(first[0].raise(&*store, 4, NOW), Err(RaiseError::TooManyPending)));
    first[0].raise(&*store, 4, later(HOUR)).unwrap();
}

pub(crate) fn a_bot_cannot_fill_the_disk_with_questions(bench: &dyn Bench) {
    let store = bench.empty();
    let asked = Asked::new("A title");
    let kept = i64::from(QUESTIONS_KEPT);
    for turn in 0..kept + 5 {
        // Each ends the one before it.
        asked.raise(&*store, u64::try_from(turn).unwrap(), later(turn * HOUR)).unwrap();
    }
    let end = later((kept + 4) * HOUR);
    let left = store.questions(Party::Member(member()), end).unwrap();
    assert_eq!(left.len(), usize::try_from(kept + 1).unwrap());
    assert_eq!((left[0].state, left[1].state), (QuestionState::Pending, QuestionState::Expired));
    assert_eq!(store.question(Party::Member(member()), question_id(0), end).unwrap(), None);
    let found = Value::from("x".repeat(QUESTION_TEXT_BYTES_MAX));
    let long = NewQuestion { found: &found, ..asked.new_question(question_id(5000), end) };
    assert!(matches!(store.raise(&long), Err(RaiseError::TooLarge)));
    let short = NewQuestion { expires_at: end, ..asked.new_question(question_id(5000), end) };
    assert!(matches!(store.raise(&short), Err(RaiseError::ExpiresAtOnce)));
}

/// Two holders of tokens and the host itself ask for the same write: three questions, and no yes is another's.
pub(crate) fn what_one_principal_asks_shows_for_no_other(bench: &dyn Bench) {
    let store = bench.store();
    let asked = Asked::new("A title");
    let action = asked.action(bot()).digest().unwrap();
    let callers = [None, Some(PrincipalId::random(&mut rng(1))), Some(PrincipalId::random(&mut rng(2)))];
    let ids = [1, 2, 3].map(question_id);
    for (principal, id) in callers.into_iter().zip(ids) {
        let new = NewQuestion { principal, ..asked.new_question(id, NOW) };
        assert_eq!(store.raise(&new).unwrap().id, id);
        // The same again is the same.
        let again = NewQuestion { principal, ..asked.new_question(question_id(99), NOW) };
        assert_eq!(store.raise(&again).unwrap().id, id);
    }
    store.answer(member(), ids[1], yes(later(HOUR)), NOW).unwrap();
    for (principal, id) in callers.into_iter().zip(ids) {
        let by = Party::Bot(bot(), principal);
        assert_eq!(store.last_question(by, action, NOW).unwrap().unwrap().id, id);
        assert_eq!(store.questions(by, NOW).unwrap().iter().map(|one| one.id).collect::<Vec<_>>(), [id]);
        for other in ids.into_iter().filter(|other| *other != id) {
            assert_eq!(store.question(by, other, NOW).unwrap(), None);
            assert!(matches!(store.take(by, other, NOW), Err(TakeError::Absent)));
        }
    }
    assert!(matches!(store.take(Party::Member(member()), ids[1], NOW), Err(TakeError::Absent)));
    assert_eq!(store.questions(Party::Member(member()), NOW).unwrap().len(), 3);
    assert!(store.take(Party::Bot(bot(), callers[1]), ids[1], NOW).is_ok());
}

pub(crate) fn who_asks_too_much_keeps_nobody_else_from_asking(bench: &dyn Bench) {
    let store = bench.store();
    let principal = Some(PrincipalId::random(&mut rng(1)));
    for number in 0..QUESTIONS_PENDING_MAX {
        let asked = Asked::new(&format!("title {number}"));
        let new = asked.new_question(question_id(u64::from(number)), NOW);
        store.raise(&NewQuestion { principal, ..new }).unwrap();
    }
    let asked = Asked::new("one more");
    let new = asked.new_question(question_id(5000), NOW);
    let more = store.raise(&NewQuestion { principal, ..new });
    assert!(matches!(more, Err(RaiseError::TooManyPending)), "{more:?}");
    store.raise(&new).unwrap();
}

pub(crate) fn a_question_that_its_bot_withdrew_is_over(bench: &dyn Bench) {
    let store = bench.store();
    let asked = Asked::new("A title");
    let id = asked.raise(&*store, 1, NOW).unwrap().id;
    let other = Party::Bot(bot(), Some(PrincipalId::random(&mut rng(1))));
    for stranger in [other, Party::Bot(somebody_else(), None), Party::Member(member())] {
        assert!(matches!(store.withdraw(stranger, id, NOW), Err(TakeError::Absent)));
    }
    store.withdraw(the_bot(), id, NOW).unwrap();
    let late = store.answer(member(), id, yes(later(HOUR)), NOW);
    assert!(matches!(late, Err(AnswerError::NotPending(QuestionState::Expired))), "{late:?}");
    // What she has said yes to is not withdrawn.
    let again = asked.raise(&*store, 2, NOW).unwrap().id;
    store.answer(member(), again, yes(later(HOUR)), NOW).unwrap();
    let approved = store.withdraw(the_bot(), again, NOW);
    assert!(matches!(approved, Err(TakeError::NotApproved(QuestionState::Approved))), "{approved:?}");
    assert!(store.take(the_bot(), again, NOW).is_ok());
}
