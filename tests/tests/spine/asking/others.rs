//! Several members and several bots on one store: nobody sees, answers or uses what is another's.
//!
//! A bot cannot answer its own question either: an answer of yes is an approval, which takes the member's key to mint
//! ([`Present`] has it, `LocalBot` has no field for it), and what else a store is told to keep there does not run
//! (`tampered`).

use std::sync::Arc;

use pinhole_runtime::local::{ApproveError, Present, Sheet, deny};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{
    Answer, AnswerError, Connections as _, Party, QUESTIONS_PENDING_MAX, QuestionId, QuestionState,
    Questions as _, TakeError,
};
use pinhole_tests::LocalStage;
use serde_json::json;

use super::{NOTE, connected, note, setup, state};
use crate::common::{is, result};

/// Two members, each with her bot, on one store.
async fn two_members() -> (LocalStage, LocalStage) {
    let one = connected(setup()).await;
    let other = setup().start_local_on(Arc::clone(&one.store)).await;
    other.connect("thing").await;
    (one, other)
}

/// One member, and another bot of hers on the same store, which may read as the first may.
async fn two_bots() -> (LocalStage, LocalStage) {
    let (one, mut other) = (connected(setup()).await, setup());
    other.standin.token = Some(String::new());
    let mut other = other.start_local_on(Arc::clone(&one.store)).await;
    other.bot.member = one.member.public().id();
    other.bot.executor.issuers = vec![one.member.public().clone()];
    assert_eq!(present_at(&one, &other).renew().unwrap().len(), 1);
    (one, other)
}

/// The member of one stage at the host of another's bot.
fn present_at<'a>(member: &'a LocalStage, host: &'a LocalStage) -> Present<'a> {
    Present { key: &member.member, ..host.present() }
}

fn sheet_of(member: &LocalStage, id: QuestionId) -> Sheet {
    member.sheet(id).unwrap()
}

#[tokio::test]
async fn a_member_sees_and_answers_her_own_questions_alone() {
    let (one, other) = Box::pin(two_members()).await;
    let (hers, his) = (one.ask(NOTE, &note("a")).await, other.ask(NOTE, &note("a")).await);
    assert_ne!(hers, his);
    for (stage, own, foreign) in [(&one, hers, his), (&other, his, hers)] {
        assert_eq!(stage.questions().iter().map(|question| question.id).collect::<Vec<_>>(), [own]);
        assert_eq!(stage.question(foreign), None);
        let (member, now) = (stage.member.public().id(), stage.now());
        let denied = deny(stage.store.as_ref(), member, foreign, now);
        assert!(matches!(denied, Err(AnswerError::Absent)), "{denied:?}");
    }
    // A sheet of the one's in the hand of the other.
    let taken = present_at(&other, &one).approve(&sheet_of(&one, hers));
    assert!(matches!(taken, Err(ApproveError::NoConnection)), "{taken:?}");
    assert_eq!((state(&one, hers), state(&other, his)), (QuestionState::Pending, QuestionState::Pending));
    one.approve(hers).unwrap();
    assert_eq!(other.ask(NOTE, &note("a")).await, his);
    assert_eq!((one.written(), other.written()), (0, 0));
    assert_eq!(result(&one.run(NOTE, &note("a")).await), json!({"id": 1}));
}

#[tokio::test]
async fn a_bot_finds_and_takes_its_own_approvals_alone() {
    let (one, other) = two_bots().await;
    let first = one.ask(NOTE, &note("a")).await;
    let second = other.ask(NOTE, &note("a")).await;
    assert_ne!(first, second);
    let bot = |stage: &LocalStage| stage.bot.executor.bot.public().id();
    for (stage, own) in [(&one, first), (&other, second)] {
        let found = stage.store.questions(Party::Bot(bot(stage), None), stage.now()).unwrap();
        assert_eq!(found.iter().map(|question| question.id).collect::<Vec<_>>(), [own]);
    }
    // She answers both; the yes to the one is none to the other.
    assert_eq!(one.questions().len(), 2);
    one.approve(first).unwrap();
    assert_eq!(other.ask(NOTE, &note("a")).await, second);
    let taken = one.store.take(Party::Bot(bot(&other), None), first, one.now());
    assert!(matches!(taken, Err(TakeError::Absent)), "{taken:?}");
    assert_eq!(other.written(), 0);
    assert!(one.run(NOTE, &note("a")).await.result().is_some());
    assert_eq!((one.written(), other.written()), (1, 0));
}

/// Her yes is for the bot of the host that she is at; another's question is not answered there by mistake.
#[tokio::test]
async fn a_question_of_another_bot_is_not_approved_here() {
    let (one, other) = two_bots().await;
    let foreign = other.ask(NOTE, &note("a")).await;
    let taken = one.approve(foreign);
    assert!(matches!(taken, Err(ApproveError::OtherBot)), "{taken:?}");
    assert_eq!(state(&one, foreign), QuestionState::Pending);
    present_at(&one, &other).approve(&sheet_of(&one, foreign)).unwrap();
    assert_eq!(state(&one, foreign), QuestionState::Approved);
}

#[tokio::test]
async fn a_bots_questions_leave_room_for_anothers() {
    let (one, other) = two_bots().await;
    for number in 0..QUESTIONS_PENDING_MAX {
        one.ask(NOTE, &note(&number.to_string())).await;
    }
    is(&one.run(NOTE, &note("one more")).await, Code::TooManyQuestions, Sent::No);
    other.ask(NOTE, &note("one more")).await;
}

/// Whoever is at the store as the bot is can take away, and cannot give.
#[tokio::test]
async fn a_bots_own_yes_runs_nothing() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    let rows = stage.store.connections(stage.member.public().id()).unwrap();
    assert!(pinhole_grant::open_credential(&rows[0].sealed, stage.bot.executor.bot.current()).is_err());
    // The best that it has: the read grant that was sealed to it.
    let read = stage.bot.stored(&pinhole_tests::call(NOTE, &note("a"))).await.unwrap().grant;
    let until = stage.now().plus_secs(60);
    let answer = Answer::Approve { grant: read.id, sealed: &read.sealed, until };
    stage.bot.desk.answer(stage.member.public().id(), question, answer, stage.now()).unwrap();
    is(&stage.run(NOTE, &note("a")).await, Code::ReadOnlyGrant, Sent::No);
    assert_eq!(stage.written(), 0);
}
