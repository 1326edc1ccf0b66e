//! Writes that the member has lent to her bot, and callers that a door tells apart: a word in a client runs what can be put
//! back, as often as she has said, and nothing else; one caller's questions and approvals are none of another's.

use std::num::NonZeroU32;

use pinhole_grant::PrincipalId;
use pinhole_manifest::{Access, OpId};
use pinhole_runtime::local::{LendError, Yes, take_back};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{Connections as _, GrantFilter, Grants as _, QuestionState};
use pinhole_tests::{LocalStage, call};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::{NOTE, PUT, connected, exchange_manifest, lockable, manifest, note, on_north, setup, state};
use crate::common::{is, refusal, result};

const HOUR: i64 = 3_600;

fn lend(stage: &LocalStage, uses: u32) -> Result<pinhole_runtime::local::Lent, LendError> {
    let row = stage.store.connections(stage.member.public().id()).unwrap().remove(0);
    let uses = NonZeroU32::new(uses).unwrap();
    stage.present().lend(&row, uses, stage.now().plus_secs(HOUR))
}

fn principal(seed: u64) -> PrincipalId {
    PrincipalId::random(&mut StdRng::seed_from_u64(seed))
}

async fn confirmed(stage: &LocalStage, name: &str, args: &Value) -> pinhole_runtime::Outcome {
    stage.bot.run(call(name, args).on_the_yes(Yes::InTheClient)).await
}

#[tokio::test]
async fn a_word_in_the_client_runs_what_was_lent_and_no_oftener() {
    let stage = connected(setup()).await;
    // Nothing is lent yet: it is a question like any other.
    assert_eq!(refusal(&confirmed(&stage, NOTE, &note("a")).await).code, Code::ApprovalRequired);
    let lent = lend(&stage, 2).unwrap();
    assert_eq!(lent.ops.iter().map(OpId::as_str).collect::<Vec<_>>(), ["add_note", "put_thing"]);
    assert_eq!(result(&confirmed(&stage, NOTE, &note("b")).await), json!({"id": 1}));
    assert_eq!(result(&confirmed(&stage, NOTE, &note("b")).await), json!({"id": 1}));
    assert_eq!(stage.written(), 2);
    assert_eq!(refusal(&confirmed(&stage, NOTE, &note("b")).await).code, Code::ApprovalRequired);
    assert_eq!(stage.written(), 2);
}

#[tokio::test]
async fn without_a_word_what_was_lent_runs_nothing() {
    let stage = connected(setup()).await;
    lend(&stage, 9).unwrap();
    stage.ask(NOTE, &note("a")).await;
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn what_spends_sends_deletes_or_stays_done_takes_her_own_yes() {
    let stage = connected(setup()).await;
    lend(&stage, 9).unwrap();
    let grave = [
        ("thing.pay", json!({"amount": 5})),
        ("thing.drop_thing", json!({"id": "7"})),
        ("thing.send_note", note("a")),
    ];
    for (name, args) in grave {
        assert!(stage.bot.confirmable(&call(name, &args)).await.unwrap().is_none(), "{name}");
        let outcome = confirmed(&stage, name, &args).await;
        is(&outcome, Code::ApprovalRequired, Sent::No);
        assert!(refusal(&outcome).question.is_some());
    }
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn what_may_be_confirmed_is_shown_whole() {
    let stage = connected(setup()).await;
    assert!(stage.bot.confirmable(&call(NOTE, &note("a"))).await.unwrap().is_none());
    lend(&stage, 1).unwrap();
    let shown = stage.bot.confirmable(&call(NOTE, &note("a"))).await.unwrap().unwrap();
    assert_eq!(shown.args, note("a"));
    assert!(shown.confirm.contains('a'), "{}", shown.confirm);
    assert_eq!(shown.account.as_str(), "wren");
    let other = stage.bot.confirmable(&call(NOTE, &note("b"))).await.unwrap().unwrap();
    assert_ne!(shown.action, other.action);
    // What it requires is looked up when it runs.
    assert!(stage.bot.confirmable(&call(PUT, &on_north())).await.unwrap().is_some());
    assert!(
        stage.bot.confirmable(&call("thing.get_shelf", &json!({"id": "north"}))).await.unwrap().is_none()
    );
}

#[tokio::test]
async fn what_the_op_requires_is_held_all_the_same() {
    let mut stage = connected(setup()).await;
    let locked = lockable(&mut stage);
    lend(&stage, 9).unwrap();
    locked.store(true, std::sync::atomic::Ordering::SeqCst);
    is(&confirmed(&stage, PUT, &on_north()).await, Code::RequirementFailed, Sent::No);
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn what_was_lent_ends_with_time_cap_manifest_and_the_next_lending() {
    let mut stage = connected(setup()).await;
    let lent_rows = |stage: &LocalStage| {
        let filter = GrantFilter { access: Some(Access::Write), ..GrantFilter::default() };
        stage.store.grants(&filter).unwrap()
    };
    lend(&stage, 9).unwrap();
    let first = lent_rows(&stage).remove(0);
    lend(&stage, 9).unwrap();
    assert_eq!(lent_rows(&stage).len(), 1);
    assert!(pinhole_runtime::store::Store::is_revoked(stage.store.as_ref(), &first.id).unwrap());
    // A later manifest is not the one whose writes she lent.
    let mut later = manifest();
    later["version"] = json!("1.0.1");
    exchange_manifest(&mut stage, &later);
    assert_ne!(refusal(&confirmed(&stage, NOTE, &note("a")).await).code, Code::StoreFailed);
    assert_eq!(stage.written(), 0);
    exchange_manifest(&mut stage, &manifest());
    let row = stage.store.connections(stage.member.public().id()).unwrap().remove(0);
    let bot = stage.bot.executor.bot.public().id();
    let back = || take_back(stage.store.as_ref(), bot, &row).unwrap();
    assert!(back() && !back());
    assert_eq!(refusal(&confirmed(&stage, NOTE, &note("a")).await).code, Code::ApprovalRequired);
    lend(&stage, 9).unwrap();
    stage.clock.set(HOUR);
    assert_eq!(refusal(&confirmed(&stage, NOTE, &note("c")).await).code, Code::ApprovalRequired);
    lend(&stage, 9).unwrap();
    stage.present().set_cap(&row, Access::Read).unwrap();
    assert!(lent_rows(&stage).is_empty());
    is(&confirmed(&stage, NOTE, &note("d")).await, Code::ReadOnlyConnection, Sent::No);
    assert!(matches!(lend(&stage, 9), Err(LendError::ReadOnly)));
    assert_eq!(stage.written(), 0);
}

#[tokio::test]
async fn one_callers_yes_is_none_of_anothers() {
    let stage = connected(setup()).await;
    let [one, other] = [principal(1), principal(2)];
    let ask = async |by: Option<PrincipalId>| {
        let call = call(NOTE, &note("a"));
        stage.bot.run(by.map_or(call.clone(), |by| call.by(by))).await
    };
    let own = refusal(&ask(None).await).question.unwrap();
    let first = refusal(&ask(Some(one)).await).question.unwrap();
    let second = refusal(&ask(Some(other)).await).question.unwrap();
    assert!(own != first && first != second && own != second);
    assert_eq!(stage.question(first).unwrap().principal, Some(one));
    stage.approve(first).unwrap();
    for by in [None, Some(other)] {
        assert_eq!(refusal(&ask(by).await).code, Code::ApprovalRequired);
    }
    assert_eq!(stage.written(), 0);
    assert_eq!(result(&ask(Some(one)).await), json!({"id": 1}));
    assert_eq!((stage.written(), state(&stage, own)), (1, QuestionState::Pending));
}
