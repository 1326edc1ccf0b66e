//! Receipts of real runs: one for each, whatever came of it; the note before, the receipt after, and what follows where one of
//! the two cannot be written.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pinhole_runtime::book::{self, Book, CheckpointFile};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::receipts::{
    ArgsKept, CheckpointEvery, Facts, ReceiptId, ReceiptSettings, RequestMade, Unended,
};
use pinhole_runtime::store::{MemoryStore, ReceiptFilter, SqliteStore, Store};
use pinhole_runtime::{CallRequest, Outcome};
use pinhole_tests::{
    Full, KEY, LocalStage, NOW, NoRoomFor, Setup, Stage, Stuck, Watching, op_name, writable_thing,
    writable_things_routes,
};
use serde_json::json;

use crate::common::{Provoked, forms, is, issue_args, refusal, repo_args};

/// The receipts of a stage's bot, the oldest first.
fn receipts(stage: &Stage) -> Vec<Facts> {
    let rows = stage.store.receipts_from(stage.executor.bot.public().id(), 0, 100).unwrap();
    rows.iter().map(|row| row.receipt().unwrap().facts().clone()).collect()
}

fn desk(stage: &LocalStage) -> &dyn Store {
    stage.store.as_ref()
}

fn last(stage: &Stage) -> Facts {
    receipts(stage).pop().expect("a receipt")
}

/// There is no room for the receipt of a read.
pub(crate) async fn without_room_for_one() -> Provoked {
    let stage = Setup { store: Arc::new(Full::of(NoRoomFor::Receipts)), ..Setup::github() }.start().await;
    let outcome = stage.read("github.get_repo", &repo_args()).await;
    Provoked { stage, outcome }
}

#[tokio::test]
async fn a_read_leaves_a_receipt_of_what_was_done() {
    let stage = Setup::github().start().await;
    let (id, grant) = stage.grant("github").seal_with_id();
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    let row = &stage.store.receipts_from(stage.executor.bot.public().id(), 0, 9).unwrap()[0];
    let receipt = row.receipt().unwrap();
    assert_eq!(outcome.meta.receipt, Some(receipt.id()));
    let facts = receipt.facts();
    assert_eq!((facts.at, facts.bot), (NOW, stage.executor.bot.public().id()));
    assert_eq!((facts.code.as_str(), facts.sent), ("ok", Sent::Yes));
    assert_eq!(facts.member, Some(stage.member.public().id()));
    assert_eq!((facts.grant, facts.connection), (Some(id), Some(stage.connection)));
    assert_eq!((facts.principal, facts.approval, facts.args.as_ref()), (None, None, None));
    assert_eq!(facts.manifest, outcome.meta.digest);
    let made = RequestMade {
        method: "GET".to_owned(),
        path: "/repos/{owner}/{repo}".to_owned(),
        status: Some(200),
        bytes: outcome.meta.bytes_in,
    };
    assert_eq!((facts.requests.as_slice(), facts.more_requests), ([made].as_slice(), 0));
    assert_eq!((facts.bytes_in, facts.bytes_out), (outcome.meta.bytes_in, outcome.meta.bytes_out));
    assert!(facts.fields.contains(&"full_name".to_owned()), "{:?}", facts.fields);
    assert!(facts.args_digest.is_some());
    assert_eq!(facts.unended, None);
    assert!(stage.store.notes(facts.bot, 9).unwrap().is_empty());
}

#[tokio::test]
async fn the_fields_of_a_list_are_those_that_any_element_has() {
    let stage = Setup::github().start().await;
    stage.read("github.list_org_repos", &json!({"org": "pinhole-demo"})).await;
    let fields = last(&stage).fields;
    assert!(fields.iter().all(|field| field.starts_with("[*].")) && fields.len() > 1, "{fields:?}");
}

#[tokio::test]
async fn the_same_args_have_the_same_digest_and_others_another() {
    let stage = Setup::github().start().await;
    stage.read("github.get_repo", &json!({"owner": "pinhole-demo", "repo": "lantern"})).await;
    stage.read("github.get_repo", &json!({"repo": "lantern", "owner": "pinhole-demo"})).await;
    stage.read("github.get_repo", &json!({"owner": "pinhole-demo", "repo": "nothing"})).await;
    let digests: Vec<_> = receipts(&stage).iter().map(|facts| facts.args_digest).collect();
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[0], digests[2]);
}

#[tokio::test]
async fn a_refusal_before_the_grant_opened_knows_no_member() {
    let stage = Setup::github().start().await;
    let outcome = stage.run("github.get_repo", &repo_args(), b"not a grant").await;
    is(&outcome, Code::GrantMalformed, Sent::No);
    let facts = last(&stage);
    assert_eq!(outcome.meta.receipt.map(ReceiptId::seq), Some(1));
    assert_eq!((facts.code.as_str(), facts.sent), ("grant_malformed", Sent::No));
    assert_eq!((facts.member, facts.grant, facts.connection), (None, None, None));
    assert_eq!((facts.args_digest, facts.manifest), (None, None));
    assert!(facts.requests.is_empty() && facts.fields.is_empty());
}

#[tokio::test]
async fn what_the_service_refused_has_its_status_and_no_fields() {
    let stage = Setup::github().start().await;
    let outcome = stage.read("github.get_repo", &json!({"owner": "pinhole-demo", "repo": "nothing"})).await;
    is(&outcome, Code::UpstreamNotFound, Sent::Yes);
    let facts = last(&stage);
    assert_eq!((facts.code.as_str(), facts.requests[0].status), ("upstream_not_found", Some(404)));
    assert_eq!(facts.requests[0].bytes, outcome.meta.bytes_in);
    assert_eq!((facts.fields.len(), facts.bytes_out), (0, 0));
}

#[tokio::test]
async fn a_write_names_what_approved_it() {
    let stage = Setup::github().start().await;
    let args = issue_args("A title");
    assert!(stage.write("github.create_issue", &args).await.result().is_some());
    let facts = last(&stage);
    assert!(facts.approval.is_some());
    let paths: Vec<&str> = facts.requests.iter().map(|made| made.path.as_str()).collect();
    assert_eq!(paths.last(), Some(&"/repos/{owner}/{repo}/issues"), "{paths:?}");
}

#[tokio::test]
async fn the_note_is_there_while_the_request_is_out() {
    let mut stage = Setup::github().start().await;
    let (bot, looks) = (stage.executor.bot.public().id(), Arc::new(AtomicUsize::new(0)));
    let (store, seen) = (Arc::clone(&stage.store), Arc::clone(&looks));
    let watch = move || {
        let notes = store.notes(bot, 9).unwrap();
        assert_eq!(notes.len(), 1);
        assert_eq!((notes[0].facts.code.as_str(), notes[0].facts.sent), ("interrupted", Sent::Maybe));
        assert!(notes[0].facts.member.is_some() && notes[0].facts.manifest.is_some());
        assert!(store.receipts_from(bot, 0, 9).unwrap().is_empty());
        seen.fetch_add(1, Ordering::SeqCst);
    };
    stage.executor.wire = Arc::new(Watching::new(stage.client(), watch));
    assert!(stage.read("github.get_repo", &repo_args()).await.result().is_some());
    assert_eq!(looks.load(Ordering::SeqCst), 1);
    assert!(stage.store.notes(bot, 9).unwrap().is_empty());
}

#[tokio::test]
async fn nothing_is_sent_without_a_note() {
    let setup = Setup { store: Arc::new(Full::of(NoRoomFor::Notes)), ..Setup::github() };
    let stage = setup.start().await;
    let outcome = stage.read("github.get_repo", &repo_args()).await;
    is(&outcome, Code::StoreFailed, Sent::No);
    assert_eq!((stage.standin.connections(), outcome.meta.requests), (0, 0));
    assert_eq!(last(&stage).code, "store_failed");
}

#[tokio::test]
async fn the_result_of_a_read_without_a_receipt_is_withheld() {
    let run = without_room_for_one().await;
    run.is(Code::ReceiptFailed, Sent::Yes);
    assert_eq!(run.outcome.meta.receipt, None);
    let text = run.outcome.to_json();
    assert!(!text.contains("full_name"), "{text}");
}

#[tokio::test]
async fn a_write_without_a_receipt_says_so_and_its_note_stays() {
    let setup = Setup { store: Arc::new(Full::of(NoRoomFor::Receipts)), ..Setup::github() };
    let stage = setup.start().await;
    let outcome = stage.write("github.create_issue", &issue_args("A title")).await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    assert_eq!(outcome.meta.receipt, None);
    assert!(outcome.to_json().contains("no receipt of it could be written"), "{}", outcome.to_json());
    let notes = stage.store.notes(stage.executor.bot.public().id(), 9).unwrap();
    assert_eq!(notes.len(), 1);
}

#[tokio::test]
async fn a_run_that_is_given_up_has_a_receipt() {
    let mut stage = Setup::github().start().await;
    let stuck = Stuck::default();
    stage.executor.wire = Arc::new(stuck.clone());
    let args = repo_args();
    tokio::select! {
        outcome = stage.read("github.get_repo", &args) => panic!("{outcome:?}"),
        () = stuck.taken() => {}
    }
    while receipts(&stage).is_empty() {
        tokio::task::yield_now().await;
    }
    let facts = last(&stage);
    assert_eq!((facts.code.as_str(), facts.sent), ("interrupted", Sent::Maybe));
    assert_eq!(facts.unended, Some(Unended::Abandoned));
    assert!(facts.member.is_some());
    assert!(stage.store.notes(facts.bot, 9).unwrap().is_empty());
}

#[tokio::test]
async fn an_explanation_leaves_nothing() {
    let stage = Setup::github().start().await;
    let (service, op) = op_name("github.get_repo");
    let grant = stage.grant("github").seal();
    stage.executor.explain(CallRequest::new(service, op, repo_args().to_string(), grant)).await;
    assert_eq!(receipts(&stage), []);
}

#[tokio::test]
async fn a_question_and_the_write_behind_its_yes_have_a_receipt_each() {
    let stage = Setup::manifest(&writable_thing(), writable_things_routes()).start_local().await;
    stage.connect("thing").await;
    let bot = stage.bot.executor.bot.public().id();
    let all = || -> Vec<Facts> {
        let rows = desk(&stage).receipts_from(bot, 0, 99).unwrap();
        rows.iter().map(|row| row.receipt().unwrap().facts().clone()).collect()
    };
    let before = all().len();
    let question = stage.ask("thing.put_thing", &json!({"shelf": "north", "name": "a"})).await;
    let asked = all().pop().unwrap();
    assert_eq!((all().len(), asked.code.as_str()), (before + 1, "approval_required"));
    assert_eq!((asked.requests.len(), asked.sent), (1, Sent::No), "what it requires was read");
    assert!(asked.member.is_some() && asked.args_digest.is_some());
    stage.approve(question).unwrap();
    let outcome = stage.run("thing.put_thing", &json!({"shelf": "north", "name": "a"})).await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    let ran = all().pop().unwrap();
    assert_eq!((all().len(), ran.code.as_str(), ran.requests.len()), (before + 2, "ok", 2));
    assert!(ran.approval.is_some());
    assert_eq!(ran.args_digest, asked.args_digest);
    assert!(desk(&stage).notes(bot, 9).unwrap().is_empty());
}

#[tokio::test]
async fn what_has_no_connection_leaves_a_receipt_too() {
    let stage = Setup::github().start_local().await;
    let outcome = stage.run("github.get_repo", &repo_args()).await;
    assert_eq!(refusal(&outcome).code, Code::NotConnected);
    assert_eq!(outcome.meta.receipt.map(ReceiptId::seq), Some(1));
}

#[tokio::test]
async fn args_are_kept_where_the_operator_says_so_and_no_key_with_them() {
    let mut stage = Setup::github().start().await;
    let settings = ReceiptSettings { args: ArgsKept::Whole, ..ReceiptSettings::default() };
    stage.executor.book = Book::new(settings);
    stage.read("github.get_repo", &json!({"owner": "pinhole-demo", "repo": KEY})).await;
    let args = last(&stage).args.expect("args").to_string();
    assert!(args.contains("pinhole-demo"), "{args}");
    let rows = stage.store.receipts_from(stage.executor.bot.public().id(), 0, 9).unwrap();
    assert!(forms(KEY).iter().all(|form| !rows[0].body.contains(form)), "{args}");
}

/// A read under an unlimited grant, `count` times.
async fn reads(stage: &Stage, count: usize) -> Vec<Outcome> {
    let grant = stage.grant("github").seal();
    let mut outcomes = Vec::new();
    for _ in 0..count {
        outcomes.push(stage.run("github.get_repo", &repo_args(), &grant).await);
    }
    outcomes
}

#[tokio::test]
async fn the_chain_is_signed_every_so_many_receipts_and_seconds_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let mut stage = Setup { store: store.clone(), ..Setup::github() }.start().await;
    let every = CheckpointEvery { receipts: 3, seconds: 60 };
    let settings = ReceiptSettings::default().with_checkpoints(every).unwrap();
    let file = CheckpointFile::in_home(folder.path());
    stage.executor.book = Book::new(settings).with_file(file.clone());
    let bot = stage.executor.bot.public().clone();
    let signed =
        || -> Vec<u64> { stage.store.checkpoints(bot.id()).unwrap().iter().map(|row| row.seq).collect() };
    reads(&stage, 1).await;
    assert_eq!(signed(), [1]);
    reads(&stage, 2).await;
    assert_eq!(signed(), [1]);
    reads(&stage, 1).await;
    assert_eq!(signed(), [1, 4]);
    stage.clock.set(61);
    reads(&stage, 1).await;
    assert_eq!(signed(), [1, 4, 5]);
    reads(&stage, 1).await;
    stage.executor.close().await;
    stage.executor.close().await;
    assert_eq!(signed(), [1, 4, 5, 6]);
    assert_eq!(file.lines().unwrap().count(), 4);
    let verdict = book::verify(store.as_ref(), &bot, &[file]).unwrap();
    assert!(verdict.is_sound(), "{verdict:?}");
    assert_eq!((verdict.covered, verdict.uncovered(), verdict.checkpoints), (Some(6), 0, 4));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_at_once_make_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open_home(folder.path()).unwrap());
    let stage = Setup { store: Arc::clone(&store), ..Setup::github() }.start().await;
    let grant = stage.grant("github").seal();
    let (service, op) = op_name("github.get_repo");
    let request = CallRequest::new(service, op, repo_args().to_string(), grant);
    let bot = stage.executor.bot.public().clone();
    let executor = Arc::new(stage.executor);
    let mut runs = tokio::task::JoinSet::new();
    for _ in 0..40 {
        let (executor, request) = (Arc::clone(&executor), request.clone());
        runs.spawn(async move { executor.run(request).await });
    }
    let outcomes = runs.join_all().await;
    let mut numbers: Vec<u64> =
        outcomes.iter().filter_map(|outcome| Some(outcome.meta.receipt?.seq())).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<u64>>());
    let verdict = book::verify(store.as_ref(), &bot, &[]).unwrap();
    assert!(verdict.is_sound(), "{verdict:?}");
    assert_eq!(store.last_receipts(bot.id(), &ReceiptFilter::default(), 99).unwrap().len(), 40);
}

#[tokio::test]
async fn a_store_that_forgets_keeps_the_last_receipts() {
    let stage = Setup { store: Arc::new(MemoryStore::default()), ..Setup::github() }.start().await;
    reads(&stage, 2).await;
    let verdict = book::verify(stage.store.as_ref(), stage.executor.bot.public(), &[]).unwrap();
    assert!(verdict.is_sound() && verdict.receipts == 2, "{verdict:?}");
}
