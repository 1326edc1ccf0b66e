//! Writes: asked of the member, run once after her yes, and of exactly what she said yes to.

use std::sync::Arc;

use futures_util::future::join_all;
use pinhole_runtime::local::deny;
use pinhole_tests::Stuck;
use serde_json::json;
use url::Url;

use crate::client::{Served, Told, picked, refusal};
use crate::{served, stage};

const NOTE: &str = "thing_add_note";

#[tokio::test]
async fn a_write_asks_and_runs_once_after_her_yes() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    let asked = refusal(&client.call(NOTE, json!({"text": "a"})).await);
    assert_eq!((&asked["code"], &asked["sent"]), (&json!("approval_required"), &json!("no")));
    let question = asked["question"].as_str().unwrap().to_owned();
    assert!(asked["hint"].as_str().unwrap().contains("pinhole approvals"), "{asked}");
    // The same again is the same question, a changed one another.
    assert_eq!(refusal(&client.call(NOTE, json!({"text": "a"})).await)["question"], json!(question));
    let other = refusal(&client.call(NOTE, json!({"text": "b"})).await)["question"].clone();
    assert_ne!(other, json!(question));
    assert_eq!((served.questions().len(), served.written()), (2, 0));
    served.approve(&question);
    assert_eq!(refusal(&client.call(NOTE, json!({"text": "b"})).await)["question"], other);
    assert_eq!(picked(&client.call(NOTE, json!({"text": "a"})).await), json!({"id": 1}));
    assert_eq!(served.written(), 1);
    let again = refusal(&client.call(NOTE, json!({"text": "a"})).await);
    assert_eq!(again["code"], "approval_required");
    assert!(again["message"].as_str().unwrap().contains("was approved before"), "{again}");
    assert_eq!(served.written(), 1);
}

#[tokio::test]
async fn her_no_stands() {
    let served = served().await;
    let mut client = served.legacy("2025-06-18", json!({})).await;
    client.call(NOTE, json!({"text": "a"})).await;
    let question = served.questions().remove(0).id;
    deny(served.store.as_ref(), served.member.public().id(), question, served.now()).unwrap();
    let denied = refusal(&client.call(NOTE, json!({"text": "a"})).await);
    assert_eq!(denied["code"], "approval_denied");
    assert_eq!((served.questions().len(), served.written()), (1, 0));
}

#[tokio::test]
async fn of_ten_calls_of_one_approved_write_one_runs() {
    let served = served().await;
    let mut clients: Vec<_> = (0..10).map(|_| served.modern(json!({}))).collect();
    let asked = refusal(&clients[0].call(NOTE, json!({"text": "a"})).await);
    served.approve(asked["question"].as_str().unwrap());
    let results = join_all(clients.iter_mut().map(|client| client.call(NOTE, json!({"text": "a"})))).await;
    let ran = results.iter().filter(|result| result["isError"] != true).count();
    assert_eq!((ran, served.written()), (1, 1));
    for result in results.iter().filter(|result| result["isError"] == true) {
        let code = refusal(result)["code"].clone();
        assert!(["approval_taken", "approval_required"].contains(&code.as_str().unwrap()), "{code}");
    }
}

#[tokio::test]
async fn a_write_that_was_begun_is_carried_to_its_end_whoever_waits() {
    let mut stage = stage().await;
    let stuck = Stuck::default();
    stage.bot.executor.wire = Arc::new(stuck.clone());
    let served = Served::new(stage, Told::default());
    let mut client = served.modern(json!({}));
    let asked = refusal(&client.call(NOTE, json!({"text": "a"})).await);
    served.approve(asked["question"].as_str().unwrap());
    let id = client.begin("tools/call", json!({"name": NOTE, "arguments": {"text": "a"}})).await;
    stuck.taken().await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancelled).await;
    client.tools().await;
    drop(client);
    // Nobody has given the request up.
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), stuck.given_up()).await.is_err());
}

fn page() -> Url {
    Url::parse("http://127.0.0.1:9/").unwrap()
}

#[tokio::test]
async fn a_client_that_can_is_pointed_to_the_members_page_and_the_call_goes_on() {
    let served = Served::new(stage().await, Told { page: Some(page()), ..Told::default() });
    let mut client = served.modern(json!({"elicitation": {"url": {}}}));
    let arguments = json!({"amount": 5});
    let first = client.call("thing_pay", arguments.clone()).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let asked = &first["inputRequests"]["person"];
    assert_eq!((&asked["method"], &asked["params"]["mode"]), (&json!("elicitation/create"), &json!("url")));
    let question = served.questions().remove(0).id.to_string();
    assert_eq!(asked["params"]["url"], format!("http://127.0.0.1:9/question/{question}"));
    assert_eq!(served.written(), 0);
    let again = json!({
        "name": "thing_pay", "arguments": arguments, "requestState": first["requestState"],
        "inputResponses": {"person": {"action": "accept"}},
    });
    served.approve(&question);
    let done = client.request("tools/call", again.clone()).await;
    assert_eq!(picked(&done["result"]), json!({"id": 3}));
    // To have been sent there is no yes: without hers the same is a question again.
    let replayed = client.request("tools/call", again).await;
    assert_eq!(refusal(&replayed["result"])["code"], "request_state");
    assert_eq!(served.written(), 1);
}

#[tokio::test]
async fn to_have_been_sent_to_the_page_is_no_yes() {
    let served = Served::new(stage().await, Told { page: Some(page()), ..Told::default() });
    let mut client = served.modern(json!({"elicitation": {"url": {}}}));
    let first = client.call(NOTE, json!({"text": "a"})).await;
    let again = json!({
        "name": NOTE, "arguments": {"text": "a"}, "requestState": first["requestState"],
        "inputResponses": {"person": {"action": "accept", "content": {"yes": true}}},
    });
    let answer = client.request("tools/call", again).await;
    assert_eq!(refusal(&answer["result"])["code"], "approval_required", "{answer}");
    assert_eq!(served.written(), 0);
}

#[tokio::test]
async fn a_client_that_cannot_open_pages_is_told_in_words() {
    for capabilities in [json!({}), json!({"elicitation": {"form": {}}}), json!({"elicitation": {}})] {
        let served = Served::new(stage().await, Told { page: Some(page()), ..Told::default() });
        let mut client = served.modern(capabilities);
        let result = client.call(NOTE, json!({"text": "a"})).await;
        assert_eq!(refusal(&result)["code"], "approval_required");
    }
    let served = served().await;
    let mut client = served.modern(json!({"elicitation": {"url": {}}}));
    assert_eq!(refusal(&client.call(NOTE, json!({"text": "a"})).await)["code"], "approval_required");
}

#[tokio::test]
async fn a_legacy_client_is_pointed_to_the_page_in_the_middle_of_its_call() {
    let served = Served::new(stage().await, Told { page: Some(page()), ..Told::default() });
    let mut client = served.legacy("2025-11-25", json!({"elicitation": {"url": {}}})).await;
    let id = client.begin("tools/call", json!({"name": NOTE, "arguments": {"text": "a"}})).await;
    let asked = client.receive().await.unwrap();
    assert_eq!((&asked["method"], &asked["params"]["mode"]), (&json!("elicitation/create"), &json!("url")));
    let question = served.questions().remove(0).id.to_string();
    served.approve(&question);
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept"}})).await;
    assert_eq!(picked(&client.answer(id).await["result"]), json!({"id": 1}));
    assert_eq!(served.written(), 1);
}

/// Who does not open the page is told at once what waits, not after a while.
#[tokio::test]
async fn a_page_that_is_not_opened_is_not_waited_for() {
    for action in ["decline", "cancel"] {
        let served = Served::new(stage().await, Told { page: Some(page()), ..Told::default() });
        let mut client = served.modern(json!({"elicitation": {"url": {}}}));
        let first = client.call(NOTE, json!({"text": "a"})).await;
        let again = json!({
            "name": NOTE, "arguments": {"text": "a"}, "requestState": first["requestState"],
            "inputResponses": {"person": {"action": action}},
        });
        let answer = client.request("tools/call", again).await;
        assert_eq!(refusal(&answer["result"])["code"], "approval_required");
        let mut client = served.legacy("2025-11-25", json!({"elicitation": {"url": {}}})).await;
        let id = client.begin("tools/call", json!({"name": NOTE, "arguments": {"text": "b"}})).await;
        let asked = client.receive().await.unwrap();
        client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": action}})).await;
        assert_eq!(refusal(&client.answer(id).await["result"])["code"], "approval_required");
        assert!(served.waits().is_empty(), "it waited");
    }
}
