//! What a write requires is read first, and where it is not shown to hold the write stays here.

use std::time::Duration;

use pinhole_runtime::catalog::BuiltIn;
use pinhole_runtime::net::Sent;
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Misbehaviour, Reply, Route, When};
use pinhole_tests::{Setup, thing};
use serde_json::{Value, json};

use crate::common::{Provoked, get, is, issue_args, post, refusal, result};

fn shelf(reply: Reply) -> Setup {
    let made = post("/shelves/north/things", &json!({"id": 7}));
    Setup::thing(vec![Route::get("/shelves/north", reply), made])
}

fn on_north() -> Value {
    json!({"shelf": "north", "name": "lamp"})
}

async fn put_where(reply: Reply) -> Provoked {
    let stage = shelf(reply).start().await;
    let outcome = stage.write("thing.put_thing", &on_north()).await;
    Provoked { stage, outcome }
}

pub(crate) async fn onto_a_locked_shelf() -> Provoked {
    put_where(Reply::json(200, &json!({"id": "north", "locked": true}))).await
}

#[tokio::test]
async fn a_write_whose_requirement_holds_is_sent_after_it() {
    let run = put_where(Reply::json(200, &json!({"id": "north", "locked": false}))).await;
    assert_eq!(result(&run.outcome), json!({"id": 7}));
    assert_eq!(run.stage.seen(), ["GET /shelves/north", "POST /shelves/north/things"]);
    assert_eq!(run.outcome.meta.requests, 2);
    assert_eq!(run.outcome.meta.status, Some(201));
    let bodies = br#"{"id":"north","locked":false}{"id":7}"#.len();
    assert_eq!(run.outcome.meta.bytes_in, u64::try_from(bodies).unwrap());
}

/// Does not hold, cannot be told, or cannot be read: the write stays here.
#[tokio::test]
async fn a_write_whose_requirement_is_not_shown_to_hold_is_not_sent() {
    let json_reply = |text: &str| Reply::json_text(200, text.to_owned());
    let status = |code: u16| Reply::json(code, &json!({"message": "no"}));
    for (reply, code) in [
        (json_reply(r#"{"locked":true}"#), Code::RequirementFailed),
        (json_reply(r#"{"locked":null}"#), Code::RequirementFailed),
        (json_reply(r#"{"locked":"false"}"#), Code::RequirementFailed),
        (json_reply(r#"{"locked":0}"#), Code::RequirementFailed),
        (json_reply("{}"), Code::RequirementFailed),
        (json_reply("[]"), Code::RequirementFailed),
        (json_reply(r#"{"locked":false,"locked":false}"#), Code::DuplicateKey),
        (json_reply("<html>"), Code::NotJson),
        (json_reply(r#"{"ok":false,"locked":false}"#), Code::UpstreamFailure),
        (status(404), Code::UpstreamNotFound),
        (status(401), Code::UpstreamUnauthorized),
        (status(500), Code::UpstreamError),
        (Reply::new(302, "").header("location", "/shelves/south"), Code::Redirected),
    ] {
        let run = put_where(reply).await;
        run.is(code, Sent::No);
        assert_eq!(run.stage.seen(), ["GET /shelves/north"], "{code}");
        assert_eq!(run.outcome.meta.requests, 1, "{code}");
    }
}

#[tokio::test]
async fn a_requirement_that_is_not_answered_in_time_keeps_the_write_here() {
    for how in [Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) }, Misbehaviour::EndlessBody] {
        let mut manifest = thing();
        manifest["ops"]["put_thing"]["limits"] = json!({"timeout_ms": 1000});
        let made = post("/shelves/north/things", &json!({"id": 7}));
        let stage = Setup::manifest(&manifest, vec![made]).start().await;
        stage.standin.misbehave(When::Path("/shelves/north".to_owned()), how);
        let outcome = stage.write("thing.put_thing", &on_north()).await;
        assert!([Code::TimedOut, Code::ResponseTooLarge].contains(&refusal(&outcome).code));
        assert_eq!(refusal(&outcome).sent, Sent::No);
        // The op's own time, not the requirement's twenty seconds.
        assert!(outcome.meta.ms < 5_000, "{} ms", outcome.meta.ms);
        assert_eq!(stage.seen(), ["GET /shelves/north"]);
    }
}

/// What a requirement reads decides, and is not passed on.
#[tokio::test]
async fn nothing_of_a_requirements_answer_is_passed_on() {
    let run =
        put_where(Reply::json(200, &json!({"locked": true, "private": "PRIVATE", "id": "PRIVATE"}))).await;
    run.is(Code::RequirementFailed, Sent::No);
    assert!(!run.outcome.to_json().contains("PRIVATE"));
    assert_eq!(refusal(&run.outcome).message, "the shelf is locked");
}

#[tokio::test]
async fn githubs_archived_repositories_take_no_issue() {
    let mut manifest: Value = serde_json::from_slice(BuiltIn::of("github").unwrap().manifest).unwrap();
    manifest["version"] = json!("1.0.1");
    let archived = json!({"full_name": "pinhole-demo/lantern", "archived": true});
    let stage = Setup::manifest(&manifest, vec![get("/repos/pinhole-demo/lantern", &archived)]).start().await;
    is(&stage.write("github.create_issue", &issue_args("A title")).await, Code::RequirementFailed, Sent::No);
    assert_eq!(stage.seen(), ["GET /repos/pinhole-demo/lantern"]);
}
