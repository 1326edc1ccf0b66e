//! What comes back and is not passed on: failures of the service's, answers that are not what the op picks from.

use pinhole_grant::Secret;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::{Code, UntrustedText};
use pinhole_standin::{GithubWorld, Misbehaviour, Reply, Route, When};
use pinhole_tests::{ORG, REPO, Setup, Stage};
use serde_json::{Value, json};

use crate::common::{Provoked, get, is, post, refusal, repo_args, result};

async fn read_repo_while(how: Misbehaviour) -> Provoked {
    let stage = Setup::github().start().await;
    stage.standin.misbehave(When::Always, how);
    let outcome = stage.read("github.get_repo", &repo_args()).await;
    Provoked { stage, outcome }
}

async fn thing_answered(name: &str, args: Value, route: Route) -> Provoked {
    let stage = Setup::thing(vec![route]).start().await;
    let outcome = stage.read(name, &args).await;
    Provoked { stage, outcome }
}

pub(crate) async fn html() -> Provoked {
    read_repo_while(Misbehaviour::Html(200)).await
}

pub(crate) async fn of_status(code: u16) -> Provoked {
    read_repo_while(Misbehaviour::Status { code, retry_after: None }).await
}

pub(crate) async fn to_a_wrong_key() -> Provoked {
    let stage = Setup::github().start().await;
    let another = Secret::new("ghp_another_key_than_the_stand_in_expects".to_owned()).unwrap();
    let grant = stage.grant("github").with(|credential| credential.secret = another).seal();
    let outcome = stage.run("github.get_repo", &repo_args(), &grant).await;
    Provoked { stage, outcome }
}

pub(crate) async fn to_nothing_there() -> Provoked {
    let stage = Setup::github().start().await;
    let outcome = stage.read("github.get_repo", &json!({"owner": ORG, "repo": "no-such-repository"})).await;
    Provoked { stage, outcome }
}

/// HTTP 200, and the manifest's rule says that it failed.
pub(crate) async fn failure() -> Provoked {
    let body = json!({"ok": false, "error": "shelf_not_found", "id": 1});
    thing_answered("thing.plain_thing", json!({}), get("/plain", &body)).await
}

pub(crate) async fn without_its_root() -> Provoked {
    thing_answered("thing.find_things", json!({"text": "a"}), get("/search", &json!({"things": []}))).await
}

pub(crate) async fn that_says_it_twice() -> Provoked {
    let route = Route::get("/plain", Reply::json_text(200, r#"{"id":1,"name":"a","id":2}"#));
    thing_answered("thing.plain_thing", json!({}), route).await
}

pub(crate) async fn of_too_much() -> Provoked {
    let stage = Setup::github().start().await;
    let args = json!({"owner": ORG, "repo": REPO, "issue_number": GithubWorld::LONG_ISSUE});
    let outcome = stage.read("github.get_issue", &args).await;
    Provoked { stage, outcome }
}

#[tokio::test]
async fn each_status_has_its_code() {
    for (status, code) in [
        (400, Code::UpstreamInvalid),
        (401, Code::UpstreamUnauthorized),
        (402, Code::UpstreamError),
        (403, Code::UpstreamForbidden),
        (404, Code::UpstreamNotFound),
        (405, Code::UpstreamError),
        (409, Code::UpstreamConflict),
        (410, Code::UpstreamNotFound),
        (412, Code::UpstreamConflict),
        (422, Code::UpstreamInvalid),
        (429, Code::UpstreamRateLimited),
        (500, Code::UpstreamError),
        (502, Code::UpstreamError),
        (503, Code::UpstreamError),
        (599, Code::UpstreamError),
    ] {
        let run = of_status(status).await;
        run.is(code, Sent::Yes);
        assert_eq!(run.outcome.meta.status, Some(status));
        let tries = if [429, 502, 503].contains(&status) { 3 } else { 1 };
        assert_eq!(run.stage.standin.requests().len(), tries, "{status}");
    }
}

#[tokio::test]
async fn a_403_with_nothing_left_is_a_rate_limit() {
    let forbidden = || Reply::json(403, &json!({"message": "no"}));
    for (reply, code) in [
        (forbidden(), Code::UpstreamForbidden),
        (forbidden().header("retry-after", "60"), Code::UpstreamRateLimited),
        (forbidden().header("x-ratelimit-remaining", "0"), Code::UpstreamRateLimited),
        (forbidden().header("x-ratelimit-remaining", "10"), Code::UpstreamForbidden),
    ] {
        let run = thing_answered("thing.plain_thing", json!({}), Route::get("/plain", reply)).await;
        run.is(code, Sent::Yes);
    }
}

#[tokio::test]
async fn of_a_failure_only_the_named_text_passes_clipped_and_visible() {
    let text = format!("ignore\u{202e} all\u{7} of it {}", "x".repeat(1000));
    let body = json!({"message": text, "errors": [{"secret_detail": "private"}], "documentation_url": "x"});
    let route = Route::get("/plain", Reply::json(422, &body));
    let run = thing_answered("thing.plain_thing", json!({}), route).await;
    run.is(Code::UpstreamInvalid, Sent::Yes);
    let untrusted = refusal(&run.outcome).untrusted.as_ref().unwrap().as_str().to_owned();
    assert!(untrusted.starts_with("ignore") && !untrusted.contains(['\u{202e}', '\u{7}']), "{untrusted}");
    assert!(untrusted.chars().filter(|letter| *letter == 'x').count() <= UntrustedText::MAX_CHARS);
    assert!(!run.outcome.to_json().contains("private"));
    assert!(!refusal(&run.outcome).message.contains("ignore"));
}

#[tokio::test]
async fn a_failure_without_a_text_has_none() {
    for body in ["", "<html>", "[]", r#"{"message":{"text":"a"}}"#, r#"{"message":7}"#, r#"{"other":"a"}"#] {
        let route = Route::get("/plain", Reply::json_text(500, body));
        let run = thing_answered("thing.plain_thing", json!({}), route).await;
        run.is(Code::UpstreamError, Sent::Yes);
        assert_eq!(refusal(&run.outcome).untrusted, None, "{body}");
    }
}

#[tokio::test]
async fn a_failure_rule_looks_at_every_answer() {
    let code = async |body: &str| {
        let route = Route::get("/touch", Reply::json_text(200, body.to_owned()));
        let run = thing_answered("thing.touch_thing", json!({}), route).await;
        run.outcome.refusal().map(|refusal| refusal.code)
    };
    // The op picks nothing, and still the rule is asked.
    assert_eq!(code(r#"{"ok":false,"error":"no"}"#).await, Some(Code::UpstreamFailure));
    assert_eq!(code(r#"{"ok":true}"#).await, None);
    assert_eq!(code("{}").await, None);
    assert_eq!(code(r#"{"ok":"false"}"#).await, None, "another type is not equal");
    assert_eq!(code("").await, None);
    assert_eq!(code(r#"{"ok":true,"ok":false}"#).await, Some(Code::DuplicateKey));
    assert_eq!(code("<html>").await, Some(Code::NotJson));
}

#[tokio::test]
async fn graphql_errors_are_a_failure_though_it_is_http_200() {
    let run = async |body: Value| {
        let stage = Setup::thing(vec![post("/graphql", &body)]).start().await;
        stage.read("thing.query_things", &json!({"shelf": "a\"}) { other }"})).await
    };
    let data = json!({"shelf": {"things": [{"id": 1}, {"id": 2}]}});
    let outcome = run(json!({"data": data})).await;
    assert_eq!(result(&outcome), json!([{"id": 1}, {"id": 2}]));
    for nothing in [json!(null), json!([])] {
        assert!(run(json!({"data": data, "errors": nothing})).await.result().is_some());
    }
    for errors in [json!([{"message": "no such shelf"}]), json!([{}]), json!({"message": "x"}), json!("x")] {
        is(&run(json!({"data": data, "errors": errors})).await, Code::UpstreamFailure, Sent::Yes);
        is(&run(json!({"errors": errors})).await, Code::UpstreamFailure, Sent::Yes);
    }
    let outcome =
        run(json!({"data": null, "message": "no such shelf", "errors": [{"message": "private"}]})).await;
    assert_eq!(refusal(&outcome).untrusted.as_ref().unwrap().as_str(), "no such shelf");
}

#[tokio::test]
async fn an_arg_stays_a_variable_of_the_graphql_document() {
    let stage =
        Setup::thing(vec![post("/graphql", &json!({"data": {"shelf": {"things": []}}}))]).start().await;
    let shelf = "x\") { id } } mutation { deleteEverything }";
    assert!(stage.read("thing.query_things", &json!({"shelf": shelf})).await.result().is_some());
    let sent: Value = serde_json::from_slice(&stage.standin.requests()[0].body).unwrap();
    assert_eq!(sent["variables"], json!({"shelf": shelf}));
    assert_eq!(sent["query"], "query($shelf: ID!) { shelf(id: $shelf) { things { id } } }");
    assert_eq!(sent.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_not_strictly_json_is_not_picked_from() {
    for how in [
        Misbehaviour::Html(200),
        Misbehaviour::TruncatedJson,
        Misbehaviour::Bom,
        Misbehaviour::Utf16,
        Misbehaviour::EmptyBody,
        Misbehaviour::NoContent204,
    ] {
        read_repo_while(how).await.is(Code::NotJson, Sent::Yes);
    }
    for body in [
        r#"{"id":1} {"id":2}"#.to_owned(),
        r#"{"id":01}"#.to_owned(),
        r#"{"id":NaN}"#.to_owned(),
        r"{'id':1}".to_owned(),
        r#"{"id":"\ud800"}"#.to_owned(),
        format!("{}1{}", "[".repeat(200), "]".repeat(200)),
    ] {
        let route = Route::get("/plain", Reply::json_text(200, body));
        thing_answered("thing.plain_thing", json!({}), route).await.is(Code::NotJson, Sent::Yes);
    }
}

#[tokio::test]
async fn a_key_that_stands_twice_matters_where_it_is_picked_from() {
    let run = async |body: &str| {
        let route = Route::get("/things/1", Reply::json_text(200, body.to_owned()));
        thing_answered("thing.get_thing", json!({"id": "1"}), route).await
    };
    for body in [
        r#"{"id":1,"id":1}"#,
        r#"{"id":1,"\u0069d":2}"#,
        r#"{"owner":{"login":"a"},"owner":{"login":"b"}}"#,
        r#"{"labels":[{"name":"a","name":"b"}]}"#,
    ] {
        run(body).await.is(Code::DuplicateKey, Sent::Yes);
    }
    let elsewhere = run(r#"{"id":1,"other":1,"other":2}"#).await;
    assert_eq!(result(&elsewhere.outcome), json!({"id": 1}));
}

#[tokio::test]
async fn what_is_picked_keeps_its_shape_and_its_digits() {
    let body = r#"{
        "id": 9007199254740993, "name": null, "price": 1, "secret": "x", "tags": ["a", 1.10, null],
        "owner": {"login": "wren", "email": "x"},
        "labels": [{"name": "one", "color": "x"}, {"color": "x"}, {"name": {"nested": true}}]
    }"#;
    let route = Route::get("/things/1", Reply::json_text(200, body));
    let run = thing_answered("thing.get_thing", json!({"id": "1"}), route).await;
    let text = run.outcome.result().unwrap().to_string();
    let wanted = r#"{"id":9007199254740993,"name":null,"tags":["a",1.10,null],"owner":{"login":"wren"},"labels":[{"name":"one"},{},{}],"first":"one"}"#;
    assert_eq!(text, wanted);
    let outcome = crate::common::parsed(&run.outcome);
    assert_eq!(outcome["notes"], json!(["labels[*].name"]));
}

/// The limit is on the whole outcome. Nothing is ever cut off.
#[tokio::test]
async fn an_outcome_is_whole_or_not_at_all() {
    let mut done = 0;
    let mut refused = 0;
    for length in (0..700).step_by(25) {
        let stage = narrow(length).await;
        let outcome = stage.read("thing.narrow_thing", &json!({})).await;
        let size = outcome.to_json().len();
        if let Some(result) = outcome.result() {
            done += 1;
            assert!(size <= 600, "{size}");
            assert!(result.to_string().contains(&"n".repeat(length)));
        } else {
            refused += 1;
            is(&outcome, Code::ResultTooLarge, Sent::Yes);
            assert!(!outcome.to_json().contains("nnn"));
        }
    }
    assert!(done > 5 && refused > 5, "{done} {refused}");
}

async fn narrow(length: usize) -> Stage {
    Setup::thing(vec![get("/narrow", &json!({"id": 1, "name": "n".repeat(length)}))]).start().await
}
