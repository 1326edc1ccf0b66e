//! Writes under their callers' keys: carried out once, answered the same each time, and never sent again blindly.

use std::sync::Arc;

use pinhole_grant::CallKey;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::SqliteStore;
use pinhole_runtime::{CallRequest, Outcome};
use pinhole_standin::{Cut, Misbehaviour, When};
use pinhole_tests::{Setup, Stage, Stuck, op_name, thing};
use serde_json::{Value, json};

use crate::common::{Provoked, get, is, parsed, post, refusal, result};

fn key(text: &str) -> CallKey {
    CallKey::parse(text).unwrap()
}

/// The made-up service, whose write it knows again by a header, or does not.
fn blind() -> Value {
    let mut manifest = thing();
    manifest["ops"]["add_note"].as_object_mut().unwrap().remove("idempotency");
    manifest
}

async fn stage_of(manifest: &Value) -> Stage {
    Setup::manifest(manifest, vec![post("/notes", &json!({"id": 9_007_199_254_740_993_u64}))]).start().await
}

fn request(grant: &[u8], text: &str, key: &CallKey) -> CallRequest {
    let (service, op) = op_name("thing.add_note");
    CallRequest::new(service, op, json!({"text": text}).to_string(), grant).with_key(key.clone())
}

async fn note(stage: &Stage, grant: &[u8], text: &str, with: &str) -> Outcome {
    stage.executor.run(request(grant, text, &key(with))).await
}

fn writes(stage: &Stage) -> usize {
    stage.seen().iter().filter(|seen| *seen == "POST /notes").count()
}

#[tokio::test]
async fn the_same_key_and_args_get_the_first_outcome() {
    for manifest in [thing(), blind()] {
        let stage = stage_of(&manifest).await;
        let grant = stage.grant("thing").write(5).seal();
        let first = note(&stage, &grant, "once", "k").await;
        assert!(!first.meta.replayed);
        let again = note(&stage, &grant, "once", "k").await;
        assert_eq!(result(&again), result(&first));
        assert!(again.meta.replayed && again.meta.requests == 0 && again.meta.status == Some(201));
        // Another grant of the same member for the same connection is as good, and spends no use.
        let other = stage.grant("thing").write(1).seal();
        for _ in 0..2 {
            assert!(note(&stage, &other, "once", "k").await.meta.replayed);
        }
        assert_eq!(writes(&stage), 1);
        assert_eq!(result(&note(&stage, &other, "twice", "k2").await), result(&first));
        assert_eq!(writes(&stage), 2);
    }
}

#[tokio::test]
async fn what_the_service_refused_is_its_first_outcome_too() {
    let stage = stage_of(&blind()).await;
    let grant = stage.grant("thing").write(5).seal();
    stage.standin.misbehave(When::Always, Misbehaviour::Status { code: 422, retry_after: None });
    let first = note(&stage, &grant, "bad", "k").await;
    is(&first, Code::UpstreamInvalid, Sent::Yes);
    stage.standin.behave();
    let again = note(&stage, &grant, "bad", "k").await;
    assert_eq!(refusal(&again), refusal(&first));
    assert!(again.meta.replayed && again.meta.status == Some(422));
    assert_eq!(writes(&stage), 1);
}

#[tokio::test]
async fn what_was_not_carried_out_may_be_tried_with_the_same_key() {
    let stage = stage_of(&blind()).await;
    let grant = stage.grant("thing").write(5).seal();
    for code in [401, 429] {
        let status = Misbehaviour::Status { code, retry_after: None };
        stage.standin.misbehave(When::Always, status);
        assert_eq!(refusal(&note(&stage, &grant, "a", "k").await).sent, Sent::Yes, "{code}");
        stage.standin.behave();
    }
    let done = note(&stage, &grant, "a", "k").await;
    assert!(done.result().is_some() && !done.meta.replayed, "{}", done.to_json());
    // A grant without a use left sends nothing either, and holds no key.
    let used = stage.grant("thing").write(1).seal();
    assert!(note(&stage, &used, "b", "k1").await.result().is_some());
    is(&note(&stage, &used, "c", "k2").await, Code::GrantUsedUp, Sent::No);
    assert!(note(&stage, &grant, "c", "k2").await.result().is_some());
}

/// Every way in which nobody knows what became of it; the service has seen each of them.
fn uncertain() -> [Misbehaviour; 4] {
    [
        Misbehaviour::Cut(Cut::BeforeStatus),
        Misbehaviour::Cut(Cut::MidBody),
        Misbehaviour::Status { code: 503, retry_after: None },
        Misbehaviour::Redirect { status: 302, location: "https://elsewhere.example/".to_owned() },
    ]
}

#[tokio::test]
async fn what_may_have_been_carried_out_is_not_sent_again_blindly() {
    for how in uncertain() {
        let stage = stage_of(&blind()).await;
        let grant = stage.grant("thing").write(5).seal();
        stage.standin.misbehave(When::Always, how.clone());
        assert_ne!(refusal(&note(&stage, &grant, "a", "k").await).sent, Sent::No, "{how:?}");
        stage.standin.behave();
        for _ in 0..2 {
            is(&note(&stage, &grant, "a", "k").await, Code::OutcomeUnknown, Sent::Maybe);
        }
        assert_eq!(writes(&stage), 1, "{how:?}");
        // The person has looked, and asks for it under another key.
        assert!(note(&stage, &grant, "a", "k-again").await.result().is_some());
    }
}

#[tokio::test]
async fn a_service_that_knows_a_repeated_write_is_asked_with_the_same_header() {
    let stage = stage_of(&thing()).await;
    stage.standin.misbehave(When::Always, Misbehaviour::Cut(Cut::BeforeStatus));
    let grant = stage.grant("thing").write(5).seal();
    assert_eq!(refusal(&note(&stage, &grant, "a", "k").await).sent, Sent::Maybe);
    stage.standin.behave();
    // Under another grant even, which another header would belong to without the key.
    let other = stage.grant("thing").write(5).seal();
    assert!(note(&stage, &other, "a", "k").await.result().is_some());
    assert!(note(&stage, &other, "a", "k").await.meta.replayed);
    assert!(note(&stage, &other, "a", "k2").await.result().is_some());
    let headers: Vec<String> = stage
        .standin
        .requests()
        .iter()
        .map(|seen| seen.header("idempotency-key").unwrap().to_owned())
        .collect();
    let (last, of_k) = headers.split_last().unwrap();
    assert!(of_k.len() > 1 && of_k.iter().all(|header| header == &of_k[0]), "{headers:?}");
    assert!(last != &of_k[0] && last.len() <= 255);
}

pub(crate) async fn used_for_another_write() -> Provoked {
    let stage = stage_of(&thing()).await;
    let grant = stage.grant("thing").write(5).seal();
    assert!(note(&stage, &grant, "a", "k").await.result().is_some());
    let outcome = note(&stage, &grant, "b", "k").await;
    Provoked { stage, outcome }
}

pub(crate) async fn of_a_read() -> Provoked {
    let stage = Setup::thing(vec![get("/touch", &json!({}))]).start().await;
    let grant = stage.grant("thing").seal();
    let (service, op) = op_name("thing.touch_thing");
    let request = CallRequest::new(service, op, "{}", grant).with_key(key("k"));
    let outcome = stage.executor.run(request).await;
    Provoked { stage, outcome }
}

/// A call whose process was killed as its request left, and what the next one with its key is told.
async fn after_a_kill(later: i64) -> Provoked {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let routes = vec![post("/notes", &json!({"id": 1}))];
    let setup = Setup { store: open(), ..Setup::manifest(&blind(), routes) };
    let mut stage = setup.start().await;
    let grant = stage.grant("thing").write(5).seal();
    let stuck = Stuck::default();
    stage.executor.wire = Arc::new(stuck.clone());
    tokio::select! {
        outcome = note(&stage, &grant, "a", "k") => panic!("{}", outcome.to_json()),
        () = stuck.taken() => {}
    }
    stage.executor.wire = Arc::new(stage.client());
    stage.executor.store = open();
    stage.clock.set(later);
    let outcome = note(&stage, &grant, "a", "k").await;
    Provoked { stage, outcome }
}

pub(crate) async fn that_is_under_way() -> Provoked {
    after_a_kill(1).await
}

pub(crate) async fn of_which_nobody_knows() -> Provoked {
    after_a_kill(30 * 60).await
}

#[tokio::test]
async fn who_asks_while_it_is_under_way_is_told_when_to_come_back() {
    let Provoked { outcome, .. } = that_is_under_way().await;
    let wait = refusal(&outcome).retry_after.unwrap();
    assert!((1..=600).contains(&wait), "{wait}");
    assert_eq!(parsed(&outcome)["refusal"]["retry_after"], wait);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_calls_with_one_key_one_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let routes = vec![post("/notes", &json!({"id": 1}))];
    let stage = Setup { store, ..Setup::manifest(&blind(), routes) }.start().await;
    let grant = stage.grant("thing").write(1000).seal();
    let executor = Arc::new(stage.executor);
    let mut runs = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (executor, request) = (Arc::clone(&executor), request(&grant, "once", &key("k")));
        runs.spawn(async move { executor.run(request).await });
    }
    for outcome in runs.join_all().await {
        let known = outcome.result().is_some() || refusal(&outcome).code == Code::UnderWay;
        assert!(known, "{}", outcome.to_json());
    }
    assert_eq!(stage.standin.requests().len(), 1);
}

#[tokio::test]
async fn one_callers_key_is_none_of_anothers() {
    let stage = stage_of(&blind()).await;
    let grant = stage.grant("thing").write(10).seal();
    let mut rng = rand::rng();
    let by = |principal| {
        let mut request = request(&grant, "a", &key("k"));
        request.principal = principal;
        request
    };
    let principals = [None, Some(pinhole_grant::PrincipalId::random(&mut rng))];
    for principal in principals {
        assert!(!stage.executor.run(by(principal)).await.meta.replayed, "{principal:?}");
    }
    assert_eq!(writes(&stage), 2);
    for principal in principals {
        assert!(stage.executor.run(by(principal)).await.meta.replayed, "{principal:?}");
    }
}

#[tokio::test]
async fn nothing_of_an_outcome_is_in_the_database_in_clear() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let routes = vec![post("/notes", &json!({"id": "marked-result"}))];
    let stage = Setup { store, ..Setup::manifest(&blind(), routes) }.start().await;
    let grant = stage.grant("thing").write(1).seal();
    assert_eq!(result(&note(&stage, &grant, "marked-arg", "marked-key").await)["id"], "marked-result");
    let mut looked = 0;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            looked += bytes.len();
            for marked in ["marked-result", "marked-arg", "marked-key"] {
                let there = bytes.windows(marked.len()).any(|window| window == marked.as_bytes());
                assert!(!there, "`{marked}` is in {}", path.display());
            }
        }
    }
    assert!(looked > 0);
}
