//! What an honest module gets, and what comes back of what it gives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::COOKIE;
use pinhole_runtime::catalog::ModuleFiles;
use pinhole_runtime::clock::{Timer, Wait};
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_runtime::replay::{ReplayFault, replay};
use pinhole_runtime::sandbox::Sandbox;
use pinhole_runtime::{CallRequest, Executor, Explained};
use pinhole_standin::{Reply, Route, Seen};
use pinhole_tests::{KEY, NOW, Setup, op_name};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::{FILE, OWN, PROBE, args, called, manifest, routes, run, setup, shared};
use crate::common::{forms, is, parsed, refusal, result};

fn page(number: u32, things: &Value) -> Route {
    Route::get(&format!("{OWN}?page={number}"), Reply::json(200, things))
}

#[tokio::test]
async fn a_module_walks_pages_and_gives_what_is_picked_of_its_sum() {
    let thing = |owner: &str, updated: &str| json!({"owner": owner, "updated": updated, "title": "secret"});
    let routes = vec![
        page(1, &json!([thing("ann", "2025-03-01"), thing("ben", "2025-04-01"), thing("ann", "2026-02-01")])),
        page(2, &json!([thing("ann", "2025-05-01")])),
        page(3, &json!([])),
    ];
    let run = run("stale_things", routes).await;
    assert_eq!(result(&run.outcome), json!([{"owner": "ann", "stale": 2}, {"owner": "ben", "stale": 1}]));
    let wanted: Vec<String> = (1..=3).map(|page| format!("GET {OWN}?page={page}")).collect();
    let line = |seen: &Seen| format!("{} {}?{}", seen.method, seen.path, seen.query);
    let seen: Vec<String> = run.stage.standin.requests().iter().map(line).collect();
    assert_eq!(seen, wanted);
    let meta = &run.outcome.meta;
    assert_eq!((meta.requests, meta.status), (3, None));
    assert!(meta.bytes_in > 100 && meta.bytes_out < meta.bytes_in, "{meta:?}");
    for seen in run.stage.standin.requests() {
        assert_eq!(seen.header("authorization"), Some(&*format!("Bearer {KEY}")));
        assert_eq!(seen.header("accept"), Some("application/json"));
    }
}

#[tokio::test]
async fn many_requests_at_once_are_answered_in_their_order() {
    let routes = (1..=10).map(|number| page(number, &json!(number))).collect();
    let run = run("all_pages", routes).await;
    let wanted: Vec<String> = (1..=10).map(|number| number.to_string()).collect();
    assert_eq!(result(&run.outcome), json!({"said": wanted}));
    assert_eq!(run.outcome.meta.requests, 10);
}

#[tokio::test]
async fn a_failure_of_the_wire_is_told_to_the_module() {
    // No more routes than these: what is not there has a status, and what redirects is a failure.
    let redirect = Reply::new(302, "").header("location", "/elsewhere");
    let mut routes: Vec<Route> = (1..=10).map(|number| page(number, &json!(number))).collect();
    routes[4] = Route::get(&format!("{OWN}?page=5"), redirect);
    let run = run("all_pages", routes).await;
    let said = result(&run.outcome);
    assert_eq!((&said["said"][3], &said["said"][4]), (&json!("4"), &json!("redirected")));
}

#[tokio::test]
async fn the_module_sees_neither_the_key_nor_cookies() {
    let body = json!({"key": KEY, "escaped": "a\"b", "basic": format!("{KEY}:")});
    let reply = Reply::json(200, &body)
        .header("set-cookie", "session=1")
        .header("www-authenticate", "Bearer")
        .header("x-echo", KEY)
        .header("x-total", "7");
    let run = run("echo", vec![Route::get(OWN, reply)]).await;
    let echoed = result(&run.outcome);
    assert_eq!(echoed["status"], 200);
    let headers = echoed["headers"].to_string();
    assert!(headers.contains("x-total: 7") && headers.contains("x-echo: [redacted]"), "{headers}");
    assert!(!headers.contains("cookie") && !headers.contains("www-authenticate"), "{headers}");
    assert!(echoed["body"].as_str().unwrap().contains("[redacted]"), "{echoed}");
    // What it was given had no key either: its size is that of the scrubbed text.
    assert_eq!(echoed["size"], echoed["body"].as_str().unwrap().len());
    assert!(run.stage.standin.requests()[0].header(COOKIE.as_str()).is_none());
}

#[tokio::test]
async fn a_key_that_hides_in_what_a_module_encodes_is_not_there() {
    for body in [
        json!({"key": KEY}).to_string(),
        format!("{{\"\\u006bey\":\"{}\"}}", escaped(KEY)),
        format!("<k>{KEY}</k>"),
    ] {
        let run = run("hides_body", vec![Route::get(OWN, Reply::new(200, body))]).await;
        let hidden = result(&run.outcome)["said"][0].as_str().unwrap().to_owned();
        let bytes: Vec<u8> =
            hidden.as_bytes().chunks(2).map(|pair| hex_byte(std::str::from_utf8(pair).unwrap())).collect();
        let seen = String::from_utf8(bytes).unwrap();
        assert!(seen.contains("[redacted]"), "{seen}");
        assert!(!forms(KEY).iter().any(|form| seen.contains(form)), "{seen}");
    }
}

fn hex_byte(pair: &str) -> u8 {
    u8::from_str_radix(pair, 16).unwrap()
}

/// Each letter as JSON escapes it by its number.
fn escaped(text: &str) -> String {
    let letters: Vec<String> = text.chars().map(|letter| format!("\\u{:04x}", u32::from(letter))).collect();
    letters.concat()
}

#[tokio::test]
async fn the_modules_error_is_passed_on_as_its_own() {
    let run = run("told", routes()).await;
    is(&run.outcome, Code::ModuleFailed, Sent::No);
    let refusal = refusal(&run.outcome);
    assert_eq!(refusal.untrusted.as_ref().unwrap().as_str(), "the thing is not there");
    assert!(!refusal.message.contains("thing is not"), "{}", refusal.message);
}

#[tokio::test]
async fn the_time_of_a_module_is_the_calls() {
    let run = run("logs", routes()).await;
    assert_eq!(result(&run.outcome), json!({"now": NOW.as_secs()}));
}

#[tokio::test]
async fn a_call_of_a_module_spends_one_use_and_sends_nothing_without_one() {
    let stage = setup(vec![page(1, &json!([]))]).start().await;
    let grant = stage.grant("thing").uses(1).seal();
    let first = stage.run("thing.stale_things", &args(), &grant).await;
    assert_eq!(result(&first), json!([]));
    let second = stage.run("thing.stale_things", &args(), &grant).await;
    is(&second, Code::GrantUsedUp, Sent::No);
    assert_eq!(stage.seen().len(), 1);
}

#[tokio::test]
async fn a_module_that_is_not_the_manifests_spends_no_use() {
    let setup = Setup::module(&manifest(PROBE), (FILE, b"another".to_vec()), routes());
    let stage = setup.start().await;
    let grant = stage.grant("thing").uses(1).seal();
    for _ in 0..2 {
        is(&stage.run("thing.empty", &args(), &grant).await, Code::ModuleChanged, Sent::No);
    }
}

#[tokio::test]
async fn a_grant_covers_a_module_op_as_any_other() {
    let stage = setup(vec![page(1, &json!([]))]).start().await;
    let other = stage.grant("thing").ops(&["empty"]).seal();
    is(&stage.run("thing.stale_things", &args(), &other).await, Code::OpOutOfScope, Sent::No);
    let narrowed = stage.grant("thing").narrowed("repo", &[json!("other")]).seal();
    is(&stage.run("thing.stale_things", &args(), &narrowed).await, Code::ArgsOutOfScope, Sent::No);
    let narrowed = stage.grant("thing").narrowed("repo", &[json!("it")]).seal();
    assert_eq!(result(&stage.run("thing.stale_things", &args(), &narrowed).await), json!([]));
    is(&stage.run("thing.to_team", &args(), &narrowed).await, Code::ModuleRequestRefused, Sent::No);
    assert_eq!(stage.seen().len(), 1);
}

#[tokio::test]
async fn an_explanation_says_what_the_module_may_ask_for() {
    let stage = setup(routes()).start().await;
    let (service, op) = op_name("thing.to_team");
    let grant = stage.grant("thing").seal();
    let request = CallRequest::new(service, op, args().to_string(), grant);
    let Explained::WouldRun(explained) = stage.executor.explain(request).await else {
        panic!("it would run")
    };
    let module = explained.module.as_ref().unwrap();
    assert_eq!(module.file, FILE);
    assert_eq!(module.requests, ["GET /repos/acme/it/things", "GET /teams/{*}/members", "POST /graphql"]);
    assert!(explained.request.is_none());
    assert_eq!(stage.standin.connections(), 0);
}

#[tokio::test]
async fn calls_at_once_do_not_mix() {
    let mut stage = setup((1..=10).map(|number| page(number, &json!(number))).collect()).start().await;
    stage.executor.sandbox = shared();
    let calls = (0..24).map(|number| {
        let op = if number % 2 == 0 { "all_pages" } else { "panics" };
        called(&stage, op)
    });
    for (number, outcome) in futures_util::future::join_all(calls).await.iter().enumerate() {
        if number % 2 == 0 {
            assert_eq!(result(outcome)["said"][9], "10");
        } else {
            is(outcome, Code::ModuleTrapped, Sent::No);
        }
    }
}

/// A future that may move between threads, as whoever serves many calls needs it.
#[test]
fn a_call_may_move_between_threads() {
    fn moves<T: Send>(_: &T) {}
    fn run(executor: &Executor, request: CallRequest) {
        moves(&executor.run(request));
    }
    let _: fn(&Executor, CallRequest) = run;
}

#[tokio::test]
async fn a_result_with_all_that_is_picked_is_still_capped() {
    let mut manifest = manifest(PROBE);
    manifest["ops"]["echo"]["limits"]["result_bytes"] = json!(1024);
    let routes = vec![Route::get(OWN, Reply::new(200, "a".repeat(2000)))];
    let mut stage = Setup::module(&manifest, (FILE, PROBE.to_vec()), routes).start().await;
    stage.executor.sandbox = shared();
    let outcome = called(&stage, "echo").await;
    is(&outcome, Code::ResultTooLarge, Sent::Yes);
    assert_eq!(parsed(&outcome)["meta"]["bytes_in"], 2000);
}

#[tokio::test]
async fn a_recorded_case_of_a_module_is_replayed_with_all_its_requests() {
    let exchange = |page: u32, things: &Value| {
        json!({
            "request": {
                "method": "GET", "path": OWN, "query": {"page": page.to_string()},
                "headers": {"accept": "application/json", "authorization": "Bearer <credential>"},
            },
            "response": {"status": 200, "headers": {}, "body": things},
        })
    };
    let stale = json!([{"owner": "ann", "updated": "2025-03-01"}]);
    let case = |pages: &[Value]| {
        json!({
            "args": args(), "access": "read",
            "exchanges": pages.iter().zip(1..).map(|(page, number)| exchange(number, page)).collect::<Vec<_>>(),
            "expect": {"result": [{"owner": "ann", "stale": 1}]},
        })
    };
    let replayed = async |case: Value| {
        let files = ModuleFiles::Held(Arc::new(BTreeMap::from([(FILE.to_owned(), PROBE.to_vec())])));
        let manifest = manifest(PROBE).to_string();
        let name = "stale_things.two_pages.json";
        let place = (files, &Sandbox::default());
        replay(manifest.as_bytes(), place, name, case.to_string().as_bytes(), &mut UnwrapErr(SysRng)).await
    };
    replayed(case(&[stale.clone(), json!([])])).await.unwrap();
    let more = replayed(case(&[stale.clone(), json!([]), json!([])])).await;
    assert!(matches!(more, Err(ReplayFault::Unsent { unsent: 1, .. })), "{more:?}");
    let fewer = replayed(case(&[stale])).await;
    assert!(matches!(fewer, Err(ReplayFault::Request { number: 2, .. })), "{fewer:?}");
}

/// A timer by which an hour passes after the call has come in, as if its module took that long to compile.
#[derive(Default)]
struct SlowStart(std::sync::OnceLock<Instant>);

impl Timer for SlowStart {
    fn now(&self) -> Instant {
        let first = self.0.get().is_none();
        let came_in = *self.0.get_or_init(Instant::now);
        if first { came_in } else { Instant::now() + Duration::from_hours(1) }
    }

    fn wait(&self, _time: Duration) -> Wait<'_> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn what_compiling_takes_is_none_of_the_ops_time() {
    let mut stage = setup(routes()).start().await;
    stage.executor.timer = Box::new(SlowStart::default());
    let outcome = called(&stage, "empty").await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    assert!(outcome.meta.ms >= 3_600_000, "it is a part of what the call took: {}", outcome.meta.ms);
}
