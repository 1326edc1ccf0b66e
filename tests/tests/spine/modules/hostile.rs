//! What no module gets away with, each with a real component.

use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Reply, Route};
use serde_json::json;

use super::{OWN, routes, run, run_limited};
use crate::common::{Provoked, parsed, refusal, result};

/// Asserts that the module was stopped before anything was sent, and says what it asked for.
async fn stopped(op: &str) -> String {
    let run = run(op, routes()).await;
    run.is_before_connecting(Code::ModuleRequestRefused);
    refusal(&run.outcome).untrusted.as_ref().unwrap().as_str().to_owned()
}

async fn ended(op: &str, code: Code, sent: Sent) -> Provoked {
    let run = run(op, routes()).await;
    run.is(code, sent);
    run
}

#[tokio::test]
async fn one_that_loops_runs_out_of_fuel() {
    let run = run_limited("loops", routes(), |settings| settings.fuel = 10_000_000).await;
    run.is_before_connecting(Code::ModuleOutOfFuel);
}

#[tokio::test]
async fn one_that_loops_is_over_with_its_ops_time() {
    super::codes::that_takes_long().await.is_before_connecting(Code::ModuleOutOfTime);
}

#[tokio::test]
async fn one_that_recurses_overflows_its_own_stack() {
    ended("recurses", Code::ModuleStackOverflow, Sent::No).await;
}

#[tokio::test]
async fn one_that_hoards_memory_is_stopped_at_its_limit() {
    ended("hoards", Code::ModuleOutOfMemory, Sent::No).await;
    let run = run_limited("empty", routes(), |settings| settings.memory_bytes = 1 << 16).await;
    run.is_before_connecting(Code::ModuleOutOfMemory);
}

#[tokio::test]
async fn a_panic_is_passed_on_as_the_modules_words() {
    let run = ended("panics", Code::ModuleTrapped, Sent::No).await;
    let said = refusal(&run.outcome).untrusted.as_ref().unwrap().as_str();
    assert!(said.contains("what it cannot take"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let run = ended("indexes", Code::ModuleTrapped, Sent::No).await;
    assert!(refusal(&run.outcome).untrusted.as_ref().unwrap().as_str().contains("out of bounds"));
}

#[tokio::test]
async fn one_that_sends_ten_thousand_requests_sends_a_hundred() {
    let run = ended("sends_often", Code::ModuleLimit, Sent::Yes).await;
    assert_eq!(run.outcome.meta.requests, 100);
    assert_eq!(run.stage.seen().len(), 100);
    let run = ended("sends_many", Code::ModuleLimit, Sent::No).await;
    assert_eq!(run.stage.seen().len(), 0);
}

#[tokio::test]
async fn one_that_chatters_is_stopped() {
    ended("chatters", Code::ModuleLimit, Sent::No).await;
    ended("shouts", Code::ModuleLimit, Sent::No).await;
}

#[tokio::test]
async fn no_path_leads_to_another_host() {
    assert_eq!(stopped("to_other_host").await, "GET //other.host/x");
    assert_eq!(stopped("to_url").await, "GET https://other.host/x");
}

#[tokio::test]
async fn no_path_leads_out_of_the_declared_ones() {
    assert_eq!(stopped("to_dots").await, "GET /../x");
    let nul = stopped("to_nul").await;
    assert!(nul.starts_with("GET /repos/acme/it/things") && !nul.contains('\0'), "{nul:?}");
}

#[tokio::test]
async fn no_other_repository_than_the_args_name_is_asked_for() {
    assert_eq!(stopped("to_other_repo").await, "GET /repos/acme/other/things");
}

#[tokio::test]
async fn no_undeclared_method_is_sent() {
    assert_eq!(stopped("deletes").await, format!("DELETE {OWN}"));
}

#[tokio::test]
async fn no_mutation_is_posted() {
    assert_eq!(stopped("mutates").await, "POST /graphql");
}

#[tokio::test]
async fn no_header_of_the_hosts_is_set() {
    for op in ["with_key", "with_host", "with_method"] {
        assert_eq!(stopped(op).await, format!("GET {OWN}"), "{op}");
    }
}

#[tokio::test]
async fn no_unlisted_query_key_is_sent() {
    stopped("with_query").await;
}

#[tokio::test]
async fn a_refused_request_ends_the_call_whatever_the_module_makes_of_it() {
    stopped("persists").await;
}

#[tokio::test]
async fn more_than_it_may_hand_over_is_not_taken() {
    ended("returns_much", Code::ModuleLimit, Sent::No).await;
}

#[tokio::test]
async fn what_is_no_json_is_not_passed_on() {
    for op in ["returns_text", "returns_deep", "returns_bytes"] {
        let run = ended(op, Code::ModuleOutput, Sent::No).await;
        assert!(!run.outcome.to_json().contains("that is all"), "{op}");
    }
}

#[tokio::test]
async fn what_is_not_picked_does_not_come_back_and_what_is_hidden_in_it_is_counted() {
    let body = "b".repeat(300);
    let run = run("hides_body", vec![Route::get(OWN, Reply::new(200, body))]).await;
    assert_eq!(result(&run.outcome), json!({"said": ["62".repeat(300)]}));
    let meta = &parsed(&run.outcome)["meta"];
    assert_eq!((&meta["bytes_in"], &meta["bytes_out"]), (&json!(300), &json!(613)));
}

#[tokio::test]
async fn answers_together_have_a_limit() {
    let big = vec![Route::get(OWN, Reply::new(200, "a".repeat(100_000)))];
    let run = run_limited("sends_often", big, |settings| settings.bytes_in = 1_000_000).await;
    run.is(Code::ModuleLimit, Sent::Yes);
    assert_eq!(run.outcome.meta.requests, 11);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_told_to_the_module() {
    let big = vec![Route::get(OWN, Reply::new(200, "a".repeat(2 << 20)))];
    let run = run("echo", big).await;
    run.is(Code::ModuleFailed, Sent::Yes);
    let said = refusal(&run.outcome).untrusted.as_ref().unwrap().as_str();
    assert!(said.starts_with("response_too_large"), "{said}");
}
