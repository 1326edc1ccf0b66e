//! Uses and writes: a use is spent before the first byte and once, a write is sent once, and not at all where what it
//! requires does not hold.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::store::{SqliteStore, Store as _};
use pinhole_runtime::{CallRequest, Outcome};
use pinhole_standin::{Alpn, Cut, Misbehaviour, When};
use pinhole_tests::{FailingOnce, Full, NoRoomFor, ORG, Setup, Stage, Stuck, Watching, op_name};
use serde_json::json;
use tempfile::TempDir;

use crate::common::{Provoked, get, is, issue_args, post, refusal, repo_args};

fn on_disk() -> (TempDir, Setup) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    (folder, Setup { store, ..Setup::github() })
}

/// There is no room to note a use in.
pub(crate) async fn without_a_store() -> Provoked {
    let stage = Setup { store: Arc::new(Full::of(NoRoomFor::Notes)), ..Setup::github() }.start().await;
    let grant = stage.grant("github").uses(1).seal();
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn a_second_time() -> Provoked {
    let stage = Setup::github().start().await;
    let grant = stage.grant("github").uses(1).seal();
    assert!(stage.run("github.get_repo", &repo_args(), &grant).await.result().is_some());
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    assert_eq!(stage.standin.requests().len(), 1);
    assert_eq!(outcome.meta.requests, 0);
    Provoked { stage, outcome }
}

#[tokio::test]
async fn a_store_that_is_gone_lets_nothing_out() {
    let (folder, setup) = on_disk();
    let stage = setup.start().await;
    let unlimited = stage.grant("github").seal();
    std::fs::remove_dir_all(folder.path()).unwrap();
    let outcome = stage.run("github.get_repo", &repo_args(), &unlimited).await;
    Provoked { stage, outcome }.is_before_connecting(Code::StoreFailed);
}

#[tokio::test]
async fn a_grant_has_as_many_uses_as_it_says() {
    let (folder, setup) = on_disk();
    let mut stage = setup.start().await;
    let grant = stage.grant("github").uses(3).seal();
    for number in 1..=5 {
        // Each time as another process.
        stage.executor.store = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
        let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
        assert_eq!(outcome.result().is_some(), number <= 3, "{number}");
    }
    assert_eq!(stage.standin.requests().len(), 3);
}

/// Fifty calls at once, over a store on the disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_calls_at_once_one_runs() {
    let (_folder, setup) = on_disk();
    let stage = setup.start().await;
    let grant = stage.grant("github").uses(1).seal();
    let (service, op) = op_name("github.get_repo");
    let request = CallRequest::new(service, op, repo_args().to_string(), grant);
    let executor = Arc::new(stage.executor);
    let mut runs = tokio::task::JoinSet::new();
    for _number in 0..50 {
        let (executor, request) = (Arc::clone(&executor), request.clone());
        runs.spawn(async move { executor.run(request).await });
    }
    let outcomes: Vec<Outcome> = runs.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.result().is_some()).count(), 1);
    let refused = outcomes.iter().filter_map(Outcome::refusal);
    assert_eq!(refused.filter(|refusal| refusal.code == Code::GrantUsedUp).count(), 49);
    assert_eq!(stage.standin.requests().len(), 1);
}

#[tokio::test]
async fn the_use_is_spent_when_the_request_leaves() {
    let (folder, setup) = on_disk();
    let mut stage = setup.start().await;
    let (id, grant) = stage.grant("github").uses(1).seal_with_id();
    let looks = Arc::new(AtomicUsize::new(0));
    let (store, seen) = (SqliteStore::open_home(folder.path()).unwrap(), Arc::clone(&looks));
    let watch = move || {
        let left = store.has_use_left(&id, NonZeroU32::MIN).unwrap();
        assert!(!left, "a request leaves, and the use is not spent");
        seen.fetch_add(1, Ordering::SeqCst);
    };
    stage.executor.wire = Arc::new(Watching::new(stage.client(), watch));
    assert!(stage.run("github.get_repo", &repo_args(), &grant).await.result().is_some());
    assert_eq!(looks.load(Ordering::SeqCst), 1);
}

/// As when the process is killed: the run ends in the middle and nothing of it runs on.
#[tokio::test]
async fn a_use_stays_spent_when_its_run_is_given_up() {
    let (folder, setup) = on_disk();
    let mut stage = setup.start().await;
    let args = issue_args("A title");
    let grant = stage.approval("github.create_issue", &args).seal();
    let stuck = Stuck::default();
    stage.executor.wire = Arc::new(stuck.clone());
    tokio::select! {
        outcome = stage.run("github.create_issue", &args, &grant) => panic!("{outcome:?}"),
        () = stuck.taken() => {}
    }
    stage.executor.wire = Arc::new(stage.client());
    stage.executor.store = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let outcome = stage.run("github.create_issue", &args, &grant).await;
    Provoked { stage, outcome }.is_before_connecting(Code::GrantUsedUp);
}

#[tokio::test]
async fn a_use_stays_spent_when_its_run_panics() {
    let (_folder, setup) = on_disk();
    let mut stage = setup.start().await;
    let grant = stage.grant("github").uses(1).seal();
    stage.executor.wire = Arc::new(FailingOnce::new(stage.client()));
    let stage = Arc::new(stage);
    let (shared, again) = (Arc::clone(&stage), grant.clone());
    let run = tokio::spawn(async move { shared.run("github.get_repo", &repo_args(), &again).await });
    assert!(run.await.unwrap_err().is_panic());
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    is(&outcome, Code::GrantUsedUp, Sent::No);
    // The executor itself is as good as before.
    assert!(stage.read("github.get_repo", &repo_args()).await.result().is_some());
}

/// Whatever becomes of the answer, and on a kept connection too: one POST, and the use is spent. (The service does not know
/// a repeated one here; `retries` has one that does.)
#[tokio::test]
async fn a_write_is_sent_once() {
    for alpn in [Alpn::Http1, Alpn::H2] {
        for how in [
            Misbehaviour::Cut(Cut::BeforeStatus),
            Misbehaviour::Cut(Cut::MidBody),
            Misbehaviour::H2Reset { code: 7 },
            Misbehaviour::H2GoAway { last_stream: 0, code: 0 },
            Misbehaviour::Status { code: 503, retry_after: Some("0".to_owned()) },
            Misbehaviour::Status { code: 429, retry_after: Some("0".to_owned()) },
            Misbehaviour::Status { code: 502, retry_after: None },
            Misbehaviour::EmptyBody,
            Misbehaviour::Html(200),
        ] {
            let mut manifest = pinhole_tests::thing();
            manifest["ops"]["add_note"].as_object_mut().unwrap().remove("idempotency");
            let routes = vec![get("/touch", &json!({})), post("/notes", &json!({"id": 1}))];
            let mut setup = Setup::manifest(&manifest, routes);
            setup.standin.alpn = alpn;
            let stage = setup.start().await;
            assert!(stage.read("thing.touch_thing", &json!({})).await.result().is_some());
            stage.standin.misbehave(When::Path("/notes".to_owned()), how.clone());
            let grant = stage.grant("thing").write(1).seal();
            let outcome = stage.run("thing.add_note", &json!({"text": "once"}), &grant).await;
            assert_ne!(refusal(&outcome).sent, Sent::No, "{how:?} over {alpn:?}: {}", outcome.to_json());
            stage.standin.behave();
            let again = stage.run("thing.add_note", &json!({"text": "once"}), &grant).await;
            is(&again, Code::GrantUsedUp, Sent::No);
            assert_eq!(stage.seen(), ["GET /touch", "POST /notes"], "{how:?} over {alpn:?}");
        }
    }
}

#[tokio::test]
async fn a_write_that_timed_out_may_have_been_sent() {
    let mut manifest = pinhole_tests::thing();
    manifest["ops"]["add_note"]["limits"] = json!({"timeout_ms": 1000});
    let stage = Setup::manifest(&manifest, vec![post("/notes", &json!({"id": 1}))]).start().await;
    let delay = Duration::from_mins(10);
    stage.standin.misbehave(When::Always, Misbehaviour::SlowHeaders { delay });
    let outcome = stage.write("thing.add_note", &json!({"text": "slow"})).await;
    is(&outcome, Code::TimedOut, Sent::Maybe);
    assert_eq!(stage.seen(), ["POST /notes"]);
}

async fn idempotency_key(stage: &Stage, text: &str, grant: &[u8]) -> String {
    let outcome = stage.run("thing.add_note", &json!({"text": text}), grant).await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    let last = stage.standin.requests().pop().unwrap();
    last.header("idempotency-key").unwrap().to_owned()
}

#[tokio::test]
async fn a_repeated_write_is_known_by_its_key_and_no_other_is() {
    let stage = Setup::thing(vec![post("/notes", &json!({"id": 1}))]).start().await;
    let (one, other) = (stage.grant("thing").write(5).seal(), stage.grant("thing").write(5).seal());
    let first = idempotency_key(&stage, "a", &one).await;
    assert_eq!(idempotency_key(&stage, "a", &one).await, first, "the same call under the same grant");
    assert_ne!(idempotency_key(&stage, "b", &one).await, first, "other args");
    assert_ne!(idempotency_key(&stage, "a", &other).await, first, "another grant");
    assert!(first.len() >= 32 && first.len() <= 255, "{first}");
}

#[tokio::test]
async fn a_read_sends_no_idempotency_key_and_no_body() {
    let stage = Setup::github().start().await;
    assert!(stage.read("github.list_org_repos", &json!({"org": ORG})).await.result().is_some());
    let seen = &stage.standin.requests()[0];
    assert_eq!(seen.header("idempotency-key"), None);
    assert!(seen.body.is_empty());
    assert_eq!(seen.header("content-type"), None);
}
