//! An approved write runs once, and is that write, whatever it does to the service.

use std::sync::Arc;

use pinhole_manifest::model::Effect;
use pinhole_runtime::local::ApproveError;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{AnswerError, QuestionState};
use pinhole_tests::{FailingOnce, call};
use serde_json::{Value, json};

use super::{NOTE, connected, note, setup, state};
use crate::common::{is, refusal, result};

#[tokio::test]
async fn an_approved_write_runs_once_and_is_that_write() {
    let stage = connected(setup()).await;
    for (name, args, effect, irreversible) in [
        (NOTE, note("a"), Effect::Create, false),
        ("thing.send_note", note("a"), Effect::Send, false),
        ("thing.pay", json!({"amount": 12}), Effect::Spend, true),
        ("thing.drop_thing", json!({"id": "7"}), Effect::Delete, false),
    ] {
        let before = stage.written();
        let question = stage.ask(name, &args).await;
        let sheet = stage.sheet(question).unwrap();
        assert_eq!((sheet.effect, sheet.irreversible), (Some(effect), irreversible), "{name}");
        stage.present().approve(&sheet).unwrap();
        assert_eq!(state(&stage, question), QuestionState::Approved);

        let outcome = stage.run(name, &args).await;
        assert!(outcome.result().is_some(), "{}", outcome.to_json());
        assert_eq!(state(&stage, question), QuestionState::Used);
        let last = stage.standin.requests().pop().unwrap();
        assert_eq!(format!("https://{}{}", last.header("host").unwrap(), last.path), sheet.request.url);
        assert_eq!(last.method, sheet.request.method);
        let body = (!last.body.is_empty()).then(|| serde_json::from_slice::<Value>(&last.body).unwrap());
        assert_eq!(body, sheet.request.body);

        let another = stage.ask(name, &args).await;
        assert_ne!(another, question);
        assert_eq!(stage.written(), before + 1, "{name}");
        stage.deny(another);
    }
}

#[tokio::test]
async fn a_yes_to_one_write_is_none_to_another() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    for other in [note("b"), note("a "), note("A")] {
        assert_ne!(stage.ask(NOTE, &other).await, question);
    }
    assert_ne!(stage.ask("thing.send_note", &note("a")).await, question);
    assert_eq!((stage.written(), state(&stage, question)), (0, QuestionState::Approved));
    assert_eq!(result(&stage.run(NOTE, &note("a")).await), json!({"id": 1}));
}

#[tokio::test]
async fn of_twenty_calls_at_once_one_runs() {
    let stage = Arc::new(connected(setup()).await);
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    let runs: Vec<_> = (0..20)
        .map(|_| {
            let stage = Arc::clone(&stage);
            tokio::spawn(async move { stage.run(NOTE, &note("a")).await })
        })
        .collect();
    let mut ran = 0;
    for run in runs {
        let outcome = run.await.unwrap();
        if outcome.result().is_some() {
            ran += 1;
        } else {
            let code = refusal(&outcome).code;
            assert!([Code::ApprovalTaken, Code::ApprovalRequired].contains(&code), "{}", outcome.to_json());
        }
    }
    assert_eq!((ran, stage.written()), (1, 1));
    // The others raised one question between them, or none.
    assert!(stage.questions().len() <= 2);
}

#[tokio::test]
async fn an_approval_is_gone_when_its_run_fails() {
    let mut stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    stage.bot.executor.wire = Arc::new(FailingOnce::new(stage.client()));
    let stage = Arc::new(stage);
    let failing = Arc::clone(&stage);
    let run = tokio::spawn(async move { failing.run(NOTE, &note("a")).await });
    assert!(run.await.unwrap_err().is_panic());
    assert_eq!(state(&stage, question), QuestionState::Used);
    assert_ne!(stage.ask(NOTE, &note("a")).await, question);
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn an_approval_is_gone_when_its_call_is_given_up() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    // What was given out is given up before it ran.
    let given = stage.bot.way(&call(NOTE, &note("a"))).await.unwrap();
    drop(given);
    assert_ne!(stage.ask(NOTE, &note("a")).await, question);
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn what_is_explained_gives_no_approval_away() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    for _again in 0..3 {
        let explained = stage.bot.explain(&call(NOTE, &note("a"))).await;
        assert!(matches!(explained, pinhole_runtime::Explained::WouldRun(_)), "{explained:?}");
    }
    assert_eq!(state(&stage, question), QuestionState::Approved);
    assert_eq!(result(&stage.run(NOTE, &note("a")).await), json!({"id": 1}));
    let explained = stage.bot.explain(&call(NOTE, &note("a"))).await;
    assert!(matches!(explained, pinhole_runtime::Explained::WouldAsk(_)), "{explained:?}");
    assert_eq!((stage.questions().len(), stage.written()), (1, 1));
}

#[tokio::test]
async fn a_question_is_answered_once() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    let sheet = stage.sheet(question).unwrap();
    stage.present().approve(&sheet).unwrap();
    let again = stage.present().approve(&sheet);
    assert!(
        matches!(again, Err(ApproveError::Answer(AnswerError::NotPending(QuestionState::Approved)))),
        "{again:?}"
    );
    assert!(stage.run(NOTE, &note("a")).await.result().is_some());
    let late = stage.present().approve(&sheet);
    assert!(
        matches!(late, Err(ApproveError::Answer(AnswerError::NotPending(QuestionState::Used)))),
        "{late:?}"
    );
    stage.ask(NOTE, &note("a")).await;
    assert_eq!(stage.written(), 1);
}

#[tokio::test]
async fn a_denied_write_does_not_run() {
    let stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    let sheet = stage.sheet(question).unwrap();
    stage.deny(question);
    for _again in 0..3 {
        let outcome = stage.run(NOTE, &note("a")).await;
        is(&outcome, Code::ApprovalDenied, Sent::No);
        assert_eq!(refusal(&outcome).question, Some(question));
    }
    let late = stage.present().approve(&sheet);
    assert!(
        matches!(late, Err(ApproveError::Answer(AnswerError::NotPending(QuestionState::Denied)))),
        "{late:?}"
    );
    is(&stage.run(NOTE, &note("a")).await, Code::ApprovalDenied, Sent::No);
    // No to one write is none to another.
    stage.ask(NOTE, &note("b")).await;
    assert_eq!(stage.written(), 0);
}
