//! What changes between the question, the yes and the run: the process, the cap, the connection, the key, the manifest.

use std::sync::Arc;

use pinhole_grant::Label;
use pinhole_manifest::Access;
use pinhole_runtime::local::Place;
use pinhole_runtime::local::{ApproveError, Keep, OtherAccount, SheetError};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{Connections as _, QuestionState, SqliteStore};
use pinhole_tests::{JustBefore, LABEL, LocalStage, PASTED};
use serde_json::json;

use super::{
    NOTE, connected, exchange_manifest, manifest, note, setup, setup_of_any_key, state, written_with,
};
use crate::common::{get, is, result};

const NEW_KEY: &str = "ghp_Another1Key2Of3The4Same5Account";

fn row(stage: &LocalStage) -> pinhole_runtime::store::ConnectionRow {
    stage.store.connections(stage.member.public().id()).unwrap().remove(0)
}

#[tokio::test]
async fn questions_and_answers_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let opened = || SqliteStore::open_home(folder.path()).unwrap();
    let mut stage = setup().start_local_on(opened()).await;
    stage.connect("thing").await;
    let (waits, approved) = (stage.ask(NOTE, &note("a")).await, stage.ask(NOTE, &note("b")).await);
    let denied = stage.ask(NOTE, &note("c")).await;
    stage = stage.reopened(opened());
    stage.approve(approved).unwrap();
    stage.deny(denied);
    let questions = stage.questions();
    stage = stage.reopened(opened());
    assert_eq!(stage.questions(), questions);
    assert_eq!(stage.ask(NOTE, &note("a")).await, waits);
    is(&stage.run(NOTE, &note("c")).await, Code::ApprovalDenied, Sent::No);
    assert_eq!(result(&stage.run(NOTE, &note("b")).await), json!({"id": 1}));
    stage = stage.reopened(opened());
    assert_eq!(state(&stage, approved), QuestionState::Used);
    assert_ne!(stage.ask(NOTE, &note("b")).await, approved);
    assert_eq!(stage.written(), 1);
}

#[tokio::test]
async fn a_cap_that_is_lowered_ends_what_she_had_approved() {
    let stage = connected(setup()).await;
    let (waits, approved) = (stage.ask(NOTE, &note("a")).await, stage.ask(NOTE, &note("b")).await);
    let sheet = stage.sheet(waits).unwrap();
    stage.approve(approved).unwrap();
    let lowered = stage.present().set_cap(&row(&stage), Access::Read).unwrap();
    for text in ["a", "b"] {
        is(&stage.run(NOTE, &note(text)).await, Code::ReadOnlyConnection, Sent::No);
    }
    assert!(matches!(stage.present().approve(&sheet), Err(ApproveError::ReadOnly)));
    // Nor does it come back with the cap.
    stage.present().set_cap(&lowered, Access::Write).unwrap();
    for (text, question) in [("a", waits), ("b", approved)] {
        assert_ne!(stage.ask(NOTE, &note(text)).await, question);
        assert!(![QuestionState::Pending, QuestionState::Approved].contains(&state(&stage, question)));
    }
    assert_eq!(stage.written(), 0);
}

/// `connect --cap read` over a connection that writes is the same.
#[tokio::test]
async fn a_reconnect_that_lowers_the_cap_ends_what_she_had_approved() {
    let stage = connected(setup()).await;
    let (waits, approved) = (stage.ask(NOTE, &note("a")).await, stage.ask(NOTE, &note("b")).await);
    stage.approve(approved).unwrap();
    let kept = stage.connect_with("thing", PASTED, LABEL, Some(Access::Read)).await.unwrap();
    assert_eq!((kept.place, kept.connection.cap), (Place::Newer, Access::Read));
    for text in ["a", "b"] {
        is(&stage.run(NOTE, &note(text)).await, Code::ReadOnlyConnection, Sent::No);
    }
    stage.present().set_cap(&row(&stage), Access::Write).unwrap();
    for (text, question) in [("a", waits), ("b", approved)] {
        assert_ne!(stage.ask(NOTE, &note(text)).await, question);
        assert!(![QuestionState::Pending, QuestionState::Approved].contains(&state(&stage, question)));
    }
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn a_connection_that_is_removed_takes_its_approvals_with_it() {
    let stage = connected(setup()).await;
    let (waits, approved) = (stage.ask(NOTE, &note("a")).await, stage.ask(NOTE, &note("b")).await);
    let sheet = stage.sheet(waits).unwrap();
    stage.approve(approved).unwrap();
    stage.store.remove_connection(stage.member.public().id(), row(&stage).id).unwrap();
    is(&stage.run(NOTE, &note("b")).await, Code::NotConnected, Sent::No);
    assert!(matches!(stage.present().approve(&sheet), Err(ApproveError::NoConnection)));
    // What is connected anew is another connection, whatever it is called.
    stage.connect("thing").await;
    for (text, question) in [("a", waits), ("b", approved)] {
        assert_ne!(stage.ask(NOTE, &note(text)).await, question);
        assert_eq!(state(&stage, question), QuestionState::Denied);
    }
    assert_eq!(stage.written(), 0);
}

/// At the last moment, when the bot has found the approval and has not taken it.
#[tokio::test]
async fn what_ends_between_the_look_and_the_taking_does_not_run() {
    let mut stage = connected(setup()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    let (member, connection) = (stage.member.public().id(), row(&stage).id);
    let removed = JustBefore::take(Arc::clone(&stage.store), move |store, _question| {
        store.remove_connection(member, connection).unwrap();
    });
    stage.bot.desk = Arc::new(removed);
    is(&stage.run(NOTE, &note("a")).await, Code::ApprovalTaken, Sent::No);
    assert_eq!((stage.written(), state(&stage, question)), (0, QuestionState::Denied));
}

/// When the bot has taken the approval, and the member ends it before it is used.
#[tokio::test]
async fn an_approval_in_the_bots_hand_ends_with_its_connection() {
    for cap in [Some(Access::Read), None] {
        let stage = connected(setup()).await;
        let question = stage.ask(NOTE, &note("a")).await;
        stage.approve(question).unwrap();
        let request = stage.bot.way(&pinhole_tests::call(NOTE, &note("a"))).await.unwrap();
        match cap {
            Some(cap) => drop(stage.present().set_cap(&row(&stage), cap).unwrap()),
            None => drop(stage.store.remove_connection(stage.member.public().id(), row(&stage).id).unwrap()),
        }
        is(&stage.bot.executor.run(request).await, Code::GrantRevoked, Sent::No);
        assert_eq!(stage.written(), 0);
    }
}

#[tokio::test]
async fn a_question_outlives_a_new_key_of_the_same_account() {
    let stage = connected(setup_of_any_key()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    let kept = stage.connect_with("thing", NEW_KEY, LABEL, None).await.unwrap();
    assert_eq!((kept.place, kept.connection.cap), (Place::Newer, Access::Write));
    assert_eq!(stage.ask(NOTE, &note("a")).await, question);
    stage.approve(question).unwrap();
    assert_eq!(result(&stage.run(NOTE, &note("a")).await), json!({"id": 1}));
    assert_eq!(written_with(&stage), [format!("Bearer {NEW_KEY}")]);
}

/// The approval carries the key with which she gave it, for its one run and its one hour: a key that she has replaced is
/// hers to end at the service.
#[tokio::test]
async fn an_approval_runs_once_with_the_key_that_it_was_given_with() {
    let stage = connected(setup_of_any_key()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    let kept = stage.connect_with("thing", NEW_KEY, LABEL, None).await.unwrap();
    assert_eq!(kept.place, Place::Newer);
    assert_eq!(result(&stage.run(NOTE, &note("a")).await), json!({"id": 1}));
    assert_ne!(stage.ask(NOTE, &note("a")).await, question);
    assert_eq!(written_with(&stage), [format!("Bearer {PASTED}")]);
}

/// A key of another account that takes the label's place ends what was approved for the first.
#[tokio::test]
async fn an_approval_for_one_account_does_not_run_on_another() {
    let mut stage = connected(setup_of_any_key()).await;
    let question = stage.ask(NOTE, &note("a")).await;
    stage.approve(question).unwrap();
    let somebody_else = setup_with_login("rook").start_local().await;
    stage.bot.executor.wire = Arc::new(somebody_else.client());
    let refused = stage.connect_with("thing", NEW_KEY, LABEL, None).await;
    assert!(refused.is_err(), "{refused:?}");
    let present = stage.present();
    let entry = stage.bot.executor.catalog.iter().next().unwrap();
    let key = pinhole_grant::Secret::new(NEW_KEY.to_owned()).unwrap();
    let proved = present.prove(key, entry, &stage.bot.executor).await.unwrap();
    let label = Label::parse(LABEL).unwrap();
    let keep = Keep { label, cap: Some(Access::Write), other_account: OtherAccount::Goes };
    let kept = present.keep(proved, keep).unwrap();
    assert_eq!(kept.connection.account.as_str(), "rook");
    let another = stage.ask(NOTE, &note("a")).await;
    assert_ne!(another, question);
    assert_eq!(state(&stage, question), QuestionState::Denied);
    assert_eq!((stage.written(), somebody_else.written()), (0, 0));
}

fn setup_with_login(login: &str) -> pinhole_tests::Setup {
    let mut setup = pinhole_tests::Setup::manifest(&manifest(), vec![get("/me", &json!({"login": login}))]);
    setup.standin.token = None;
    setup
}

#[tokio::test]
async fn a_question_under_an_older_manifest_can_be_denied_and_not_shown() {
    let mut stage = connected(setup()).await;
    let (waits, approved) = (stage.ask(NOTE, &note("a")).await, stage.ask(NOTE, &note("b")).await);
    stage.approve(approved).unwrap();
    let mut changed = manifest();
    // The same words, and another thing behind them.
    changed["ops"]["add_note"]["request"]["path"] = json!("/payments");
    exchange_manifest(&mut stage, &changed);
    let shown = stage.sheet(waits);
    assert!(matches!(shown, Err(SheetError::ManifestChanged { .. })), "{shown:?}");
    is(&stage.run(NOTE, &note("b")).await, Code::ManifestChanged, Sent::No);
    stage.present().renew().unwrap();
    assert_ne!(stage.ask(NOTE, &note("b")).await, approved);
    stage.deny(waits);
    assert_eq!(state(&stage, waits), QuestionState::Denied);

    let mut gone = manifest();
    gone["ops"].as_object_mut().unwrap().remove("add_note");
    exchange_manifest(&mut stage, &gone);
    assert!(matches!(stage.sheet(waits), Err(SheetError::ManifestChanged { .. })));
    stage.bot.executor.catalog = pinhole_runtime::catalog::Catalog::default();
    assert!(matches!(stage.sheet(waits), Err(SheetError::Gone { .. })));
    assert_eq!(stage.written(), 0);
}
