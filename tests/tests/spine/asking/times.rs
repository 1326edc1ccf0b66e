//! How long a question waits and a yes holds, and how many may wait at once.

use pinhole_runtime::local::{APPROVAL_SECS, ApproveError, QUESTION_SECS};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{AnswerError, QUESTIONS_PENDING_MAX, QuestionState};
use pinhole_tests::{HOUR, NOW};
use serde_json::json;

use super::{NOTE, connected, note, setup, state};
use crate::common::{is, result};

#[test]
fn a_question_waits_a_day_and_a_yes_holds_an_hour() {
    assert_eq!((QUESTION_SECS, APPROVAL_SECS), (24 * HOUR, HOUR));
}

#[tokio::test]
async fn a_question_is_over_when_its_time_is() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    let sheet = stage.sheet(question).unwrap();
    assert_eq!(sheet.expires_at, NOW.plus_secs(24 * HOUR));
    stage.clock.set(24 * HOUR - 1);
    assert_eq!(stage.ask(NOTE, &note("a")).await, question);
    assert_eq!(state(&stage, question), QuestionState::Pending);
    stage.clock.set(24 * HOUR);
    assert_eq!(state(&stage, question), QuestionState::Expired);
    let late = stage.present().approve(&sheet);
    assert!(
        matches!(late, Err(ApproveError::Answer(AnswerError::NotPending(QuestionState::Expired)))),
        "{late:?}"
    );
    let another = stage.ask(NOTE, &note("a")).await;
    assert_ne!(another, question);
    assert_eq!(stage.sheet(another).unwrap().expires_at, NOW.plus_secs(48 * HOUR));
    assert_eq!(stage.written(), 0);
}

/// The last second of a question is as good as the first, and the yes then has its whole hour.
#[tokio::test]
async fn a_yes_holds_an_hour_from_when_it_was_given() {
    for (after, runs) in [(HOUR - 1, true), (HOUR, false), (48 * HOUR, false)] {
        let stage = connected(setup()).await;
        let question = stage.ask(NOTE, &note("a")).await;
        let given = 24 * HOUR - 1;
        stage.clock.set(given);
        assert_eq!(stage.approve(question).unwrap(), NOW.plus_secs(given + HOUR));
        stage.clock.set(given + after);
        if runs {
            assert_eq!(result(&stage.run(NOTE, &note("a")).await), json!({"id": 1}));
        } else {
            assert_ne!(stage.ask(NOTE, &note("a")).await, question);
            assert_eq!(state(&stage, question), QuestionState::Expired);
        }
        assert_eq!(stage.written(), usize::from(runs), "{after}");
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_revives_nothing() {
    let stage = connected(setup()).await;
    let (waited, approved) = (stage.ask(NOTE, &note("a")).await, stage.ask(NOTE, &note("b")).await);
    let denied = stage.ask(NOTE, &note("c")).await;
    let sheet = stage.sheet(waited).unwrap();
    stage.clock.set(23 * HOUR);
    stage.approve(approved).unwrap();
    stage.deny(denied);
    stage.clock.set(24 * HOUR);
    // Somebody looks, and the latest time is written down.
    let late = stage.run("thing.get_me", &json!({})).await;
    assert!(late.result().is_some());
    for back in [23 * HOUR + 1, 0, -365 * 24 * HOUR] {
        stage.clock.set(back);
        assert_eq!(state(&stage, waited), QuestionState::Expired);
        assert_eq!(state(&stage, approved), QuestionState::Expired);
        let late = stage.present().approve(&sheet);
        assert!(
            matches!(late, Err(ApproveError::ClockBehind | ApproveError::Answer(AnswerError::NotPending(_)))),
            "{late:?}"
        );
        for (text, old) in [("a", waited), ("b", approved), ("c", denied)] {
            assert_ne!(stage.ask(NOTE, &note(text)).await, old, "{text} at {back}");
        }
    }
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn a_denied_write_may_be_asked_again_when_the_questions_time_is_over() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.clock.set(HOUR);
    stage.deny(question);
    stage.clock.set(24 * HOUR - 1);
    is(&stage.run(NOTE, &note("a")).await, Code::ApprovalDenied, Sent::No);
    stage.clock.set(24 * HOUR);
    assert_ne!(stage.ask(NOTE, &note("a")).await, question);
    assert_eq!(state(&stage, question), QuestionState::Denied);
}

#[tokio::test]
async fn thirty_two_questions_wait_and_no_more() {
    let stage = connected(setup()).await;
    let text = |number: u32| note(&number.to_string());
    let mut waiting = Vec::new();
    for number in 0..QUESTIONS_PENDING_MAX {
        waiting.push(stage.ask(NOTE, &text(number)).await);
    }
    assert_eq!(waiting.len(), 32);
    is(&stage.run(NOTE, &text(32)).await, Code::TooManyQuestions, Sent::No);
    // Those that wait are still found, and a read is nobody's question.
    assert_eq!(stage.ask(NOTE, &text(7)).await, waiting[7]);
    assert!(stage.run("thing.get_me", &json!({})).await.result().is_some());
    // Each answer makes room for one.
    stage.deny(waiting[0]);
    stage.ask(NOTE, &text(32)).await;
    is(&stage.run(NOTE, &text(33)).await, Code::TooManyQuestions, Sent::No);
    stage.approve(waiting[1]).unwrap();
    stage.ask(NOTE, &text(33)).await;
    is(&stage.run(NOTE, &text(34)).await, Code::TooManyQuestions, Sent::No);
    assert!(stage.run(NOTE, &text(1)).await.result().is_some());
    is(&stage.run(NOTE, &text(34)).await, Code::TooManyQuestions, Sent::No);
    // So does their time.
    stage.clock.set(24 * HOUR);
    stage.ask(NOTE, &text(34)).await;
    assert_eq!(stage.written(), 1);
}
