//! A write raises one question, and every other write another; nothing leaves but what must be read before she is asked.

use std::sync::atomic::Ordering;

use pinhole_grant::{Label, MintRequest, Scope, mint};
use pinhole_manifest::Access;
use pinhole_runtime::Outcome;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{Connections as _, GrantRow, Grants as _, QuestionId, QuestionState};
use pinhole_tests::{HOUR, LocalStage, PASTED, call, op_name};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::json;

use super::{NOTE, PUT, connected, exchange_manifest, lockable, manifest, note, on_north, setup, state};
use crate::common::{is, refusal, result};

#[tokio::test]
async fn the_same_write_is_asked_once() {
    let stage = connected(setup()).await;
    let first = stage.ask(PUT, &json!({"shelf": "north", "name": "lamp"})).await;
    for same in [
        r#"{"shelf":"north","name":"lamp"}"#,
        r#" { "name" : "lamp", "shelf" : "north" } "#,
        r#"{"name":"lamp","shelf":"north","note":null}"#,
        r#"{"name":"\u006camp","shelf":"north"}"#,
    ] {
        let mut again = call(PUT, &json!({}));
        again.args = same.to_owned();
        assert_eq!(asked(&stage.bot.run(again).await), first, "{same}");
    }
    assert_eq!(stage.questions().len(), 1);
    assert_eq!(state(&stage, first), QuestionState::Pending);
    // The same call again finds the question before anything is read for it.
    assert_eq!(stage.seen(), ["GET /me", "GET /shelves/north"]);
}

fn asked(outcome: &Outcome) -> QuestionId {
    is(outcome, Code::ApprovalRequired, Sent::No);
    refusal(outcome).question.unwrap()
}

#[tokio::test]
async fn a_question_says_what_the_call_says() {
    let stage = connected(setup()).await;
    let outcome = stage.run(PUT, &on_north()).await;
    let id = asked(&outcome);
    let said = refusal(&outcome);
    assert!(said.message.contains(&id.to_string()), "{}", said.message);
    assert!(said.hint.contains(&format!("pinhole approvals approve {id}")), "{}", said.hint);
    let question = stage.question(id).unwrap();
    let connection = &stage.present().desk.connections(stage.member.public().id()).unwrap()[0];
    assert_eq!((question.service.as_str(), question.op.as_str()), ("thing", "put_thing"));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&question.args).unwrap(), on_north());
    assert_eq!((question.connection, &question.account), (connection.id, &connection.account));
    assert_eq!(question.account.as_str(), "wren");
    assert_eq!(question.bot, stage.bot.executor.bot.public().id());
    assert_eq!(question.member, stage.member.public().id());
    let found = json!([{"op": "get_shelf", "args": {"shelf": "north"}, "path": "$.locked", "value": false}]);
    assert_eq!(question.found, found);
    let sheet = stage.sheet(id).unwrap();
    assert_eq!(sheet.confirm, "Put “lamp” on north?");
    assert_eq!(
        (sheet.request.method.as_str(), sheet.request.url.as_str()),
        ("POST", "https://api.thing.dev/shelves/north/things")
    );
    assert_eq!(sheet.request.body, Some(json!({"name": "lamp"})));
    assert_eq!(serde_json::to_value(&sheet.found).unwrap(), found);
    assert!(sheet.unsigned && !sheet.irreversible);
}

#[tokio::test]
async fn every_other_write_is_another_question() {
    let mut stage = connected(setup()).await;
    stage.connect_with("thing", PASTED, "home", Some(Access::Write)).await.unwrap();
    let on = |label: &str, text: &str| call(NOTE, &note(text)).on(Label::parse(label).unwrap());
    let mut raised = vec![
        asked(&stage.bot.run(on("work", "a")).await),
        asked(&stage.bot.run(on("work", "A")).await),
        asked(&stage.bot.run(on("work", "a ")).await),
        asked(&stage.bot.run(on("work", "\u{e4}")).await),
        asked(&stage.bot.run(on("work", "a\u{308}")).await),
        asked(&stage.bot.run(on("home", "a")).await),
    ];
    let mut other = call("thing.send_note", &note("a"));
    other.connection = Some(Label::parse("work").unwrap());
    raised.push(asked(&stage.bot.run(other).await));

    let mut changed = manifest();
    changed["version"] = json!("1.0.1");
    exchange_manifest(&mut stage, &changed);
    is(&stage.bot.run(on("work", "a")).await, Code::ManifestChanged, Sent::No);
    stage.present().renew().unwrap();
    raised.push(asked(&stage.bot.run(on("work", "a")).await));

    let different: std::collections::BTreeSet<QuestionId> = raised.iter().copied().collect();
    assert_eq!(different.len(), 8, "{raised:?}");
    assert_eq!(stage.questions().len(), 8);
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn a_write_that_does_not_say_which_connection_is_not_asked() {
    let stage = connected(setup()).await;
    stage.connect_with("thing", PASTED, "home", Some(Access::Write)).await.unwrap();
    is(&stage.run(NOTE, &note("a")).await, Code::UnknownConnection, Sent::No);
    assert_eq!(stage.questions(), []);
}

/// None of these becomes a question: she is asked for nothing that could not run.
#[tokio::test]
async fn what_could_not_run_is_not_asked() {
    let stage = connected(setup()).await;
    for (name, args, code) in [
        (NOTE, json!({}), Code::InvalidArgs),
        (NOTE, json!({"text": "a", "more": 1}), Code::InvalidArgs),
        (PUT, json!({"shelf": "..", "name": "lamp"}), Code::ArgRefused),
        (PUT, json!({"shelf": "", "name": "lamp"}), Code::ArgRefused),
        ("thing.no_such_op", json!({}), Code::UnknownOp),
    ] {
        is(&stage.run(name, &args).await, code, Sent::No);
    }
    let mut paged = call(NOTE, &note("a"));
    paged.next = Some("a-token".to_owned());
    is(&stage.bot.run(paged).await, Code::PageTokenMismatch, Sent::No);
    assert_eq!(stage.questions(), []);
    assert_eq!(stage.seen(), ["GET /me"]);
}

#[tokio::test]
async fn what_does_not_hold_is_not_asked() {
    let mut stage = connected(setup()).await;
    let locked = lockable(&mut stage);
    locked.store(true, Ordering::SeqCst);
    let outcome = stage.run(PUT, &on_north()).await;
    is(&outcome, Code::RequirementFailed, Sent::No);
    assert_eq!(refusal(&outcome).message, "the shelf is locked");
    // No use of anything is spent by it.
    assert!(!refusal(&outcome).use_spent);
    assert_eq!(stage.questions(), []);
    assert_eq!(stage.seen(), ["GET /me", "GET /shelves/locked"]);
    locked.store(false, Ordering::SeqCst);
    stage.ask(PUT, &on_north()).await;
}

/// Looking is a read like any other: one that the bot may not do is not done to ask about a write.
#[tokio::test]
async fn what_the_bot_may_not_read_is_not_looked_up_for_a_question() {
    let stage = connected(setup()).await;
    let row = stage.store.connections(stage.member.public().id()).unwrap().remove(0);
    let credential = pinhole_grant::open_credential(&row.sealed, &stage.member).unwrap();
    let manifest = stage.bot.executor.catalog.iter().next().unwrap().manifest.digest();
    let (now, (_, me)) = (stage.now(), op_name("thing.get_me"));
    let scope = Scope::new(Access::Read, now, now.plus_secs(HOUR)).with_ops([me]);
    let request = MintRequest::new(stage.bot.executor.bot.public().clone(), manifest, scope);
    let sealed = mint(&request, &credential, &stage.member, now, &mut UnwrapErr(SysRng)).unwrap();
    stage.store.put_grant(&GrantRow::new(sealed, &request, &credential, row.member)).unwrap();
    is(&stage.run(PUT, &on_north()).await, Code::OpOutOfScope, Sent::No);
    assert_eq!(stage.questions(), []);
    assert_eq!(stage.seen(), ["GET /me"]);
    // A write that requires no look is hers to allow all the same.
    stage.ask(NOTE, &note("a")).await;
}

#[tokio::test]
async fn what_held_when_she_was_asked_is_read_again_before_the_write() {
    let mut stage = connected(setup()).await;
    let locked = lockable(&mut stage);
    let question = stage.ask(PUT, &on_north()).await;
    stage.approve(question).unwrap();
    locked.store(true, Ordering::SeqCst);
    let outcome = stage.run(PUT, &on_north()).await;
    is(&outcome, Code::RequirementFailed, Sent::No);
    assert!(refusal(&outcome).use_spent);
    assert_eq!((stage.written(), state(&stage, question)), (0, QuestionState::Used));
    // Her yes was for then: it holds no longer when the shelf is open again.
    locked.store(false, Ordering::SeqCst);
    let another = stage.ask(PUT, &on_north()).await;
    assert_ne!(another, question);
    stage.approve(another).unwrap();
    assert_eq!(result(&stage.run(PUT, &on_north()).await), json!({"id": 7}));
    assert_eq!(reads(&stage), 4);
}

fn reads(stage: &LocalStage) -> usize {
    stage.seen().iter().filter(|seen| seen.starts_with("GET /shelves")).count()
}
