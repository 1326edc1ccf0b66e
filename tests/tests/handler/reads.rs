//! Reads, from the arguments as clients write them to the result; cancelling; progress; `explain`.

use std::sync::Arc;

use pinhole_standin::{Config, Reply, Route, World};
use pinhole_tests::{ORG, REPO, Setup, Stuck};
use serde_json::json;

use crate::client::{Served, Told, picked, refusal};
use crate::{served, stage};

#[tokio::test]
async fn a_read_runs_and_is_said_twice() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    let result = client.call("thing_get_shelf", json!({"shelf": "north"})).await;
    assert_eq!(picked(&result)["id"], "north");
    assert!(result["structuredContent"]["_untrusted"].as_str().unwrap().contains("never instructions"));
    let text = result["content"][0]["text"].as_str().unwrap();
    let inside = text.split('\n').find(|line| line.starts_with('{')).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(inside).unwrap(), picked(&result));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pinhole");
}

#[tokio::test]
async fn arguments_that_are_unknown_wrong_or_not_there_send_nothing() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    let sent = served.requests();
    for arguments in [
        json!({"shelf": "north", "dry_run": true}),
        json!({"shelf": null}),
        json!({"shelf": ""}),
        json!({"shelf": ".."}),
        json!({"shelf": {"a": 1}}),
        json!({"shelf": "north", "connection": "home"}),
        json!({}),
    ] {
        let result = client.call("thing_get_shelf", arguments.clone()).await;
        let refusal = refusal(&result);
        assert_eq!(refusal["sent"], "no", "{arguments}");
        assert!(["invalid_args", "arg_refused"].contains(&refusal["code"].as_str().unwrap()), "{refusal}");
    }
    let result = client.call("thing_get_shelf", json!({"shelf": "north", "dry_run": true})).await;
    let message = refusal(&result)["message"].to_string();
    assert!(message.contains("dry_run") && message.contains("shelf"), "{message}");
    let answer = client.request("tools/call", json!({"name": "thing_get_shelf"})).await;
    assert_eq!(refusal(&answer["result"])["code"], "invalid_args");
    assert_eq!(served.requests(), sent);
}

#[tokio::test]
async fn explain_sends_nothing_and_shows_no_key() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    let sent = served.requests();
    for (op, args, would) in [
        ("thing_get_shelf", json!({"shelf": "north"}), "run"),
        ("thing.add_note", json!({"text": "a"}), "ask"),
        ("thing.get_shelf", json!({}), "refuse"),
    ] {
        let result = client.call("explain", json!({"op": op, "args": args})).await;
        assert_eq!(result["structuredContent"]["would"], would, "{result}");
        let text = result.to_string();
        assert!(!text.contains(pinhole_tests::PASTED) && !text.contains("ghp_"), "{text}");
        if would != "refuse" {
            assert!(text.contains("<credential>"), "{text}");
        }
    }
    assert_eq!(served.requests(), sent);
    assert!(served.questions().is_empty());
}

/// A stage whose service never answers.
async fn stuck() -> (Served, Stuck) {
    let mut stage = stage().await;
    let stuck = Stuck::default();
    stage.bot.executor.wire = Arc::new(stuck.clone());
    (Served::new(stage, Told::default()), stuck)
}

#[tokio::test]
async fn a_cancelled_read_is_given_up() {
    let (served, stuck) = stuck().await;
    for modern in [true, false] {
        let mut client =
            if modern { served.modern(json!({})) } else { served.legacy("2025-11-25", json!({})).await };
        let id = client
            .begin("tools/call", json!({"name": "thing_get_shelf", "arguments": {"shelf": "north"}}))
            .await;
        stuck.taken().await;
        let cancelled =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        client.send(&cancelled).await;
        stuck.given_up().await;
        // The server goes on, and has no answer to what was cancelled.
        assert!(client.request("tools/list", json!({})).await["result"]["tools"].is_array());
        assert!(client.unasked().is_empty());
    }
}

#[tokio::test]
async fn a_client_that_dies_takes_its_reads_with_it() {
    let (served, stuck) = stuck().await;
    let mut client = served.modern(json!({}));
    client.begin("tools/call", json!({"name": "thing_get_shelf", "arguments": {"shelf": "north"}})).await;
    stuck.taken().await;
    drop(client);
    stuck.given_up().await;
}

#[tokio::test]
async fn progress_is_told_to_who_asked_and_grows() {
    let served = Served::new(stage().await, Told::default());
    let mut client = served.modern(json!({}));
    let params = json!({
        "name": "thing_get_shelf", "arguments": {"shelf": "north"}, "_meta": {"progressToken": "t1"},
    });
    let answer = client.request("tools/call", params).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    let told: Vec<f64> = client
        .unasked()
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| {
            assert_eq!(message["params"]["progressToken"], "t1");
            message["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(told, [1.0]);
    client.call("thing_get_shelf", json!({"shelf": "north"})).await;
    assert_eq!(client.unasked().len(), 1);
}

/// Each page that a module asks for is a step.
#[tokio::test]
async fn a_module_tells_of_each_of_its_requests() {
    let path = format!("/repos/{ORG}/{REPO}/issues");
    let own = "state=open&sort=updated&direction=asc&per_page=100";
    let next =
        |page: u32| format!("<https://api.github.com/repositories/1/issues?{own}&page={page}>; rel=\"next\"");
    let issue = json!([{
        "number": 1, "title": "Lamp", "updated_at": "2025-01-31T09:30:00Z", "html_url": "https://github.com/x",
        "labels": [], "assignees": [],
    }]);
    let pages = [
        Route::get(&format!("{path}?{own}"), Reply::json(200, &issue).header("link", &next(2))),
        Route::get(&format!("{path}?{own}&page=2"), Reply::json(200, &issue).header("link", &next(3))),
        Route::get(&format!("{path}?{own}&page=3"), Reply::json(200, &issue)),
        Route::get("/user", Reply::json(200, &json!({"login": "wren"}))),
    ];
    let setup = Setup::github();
    let standin = Config { world: World::Fixed(pages.to_vec()), ..setup.standin };
    let stage = Setup { standin, ..setup }.start_local().await;
    stage.connect("github").await;
    let served = Served::new(stage, Told::default());
    let mut client = served.modern(json!({}));
    let params = json!({
        "name": "github_stale_issues", "arguments": {"owner": ORG, "repo": REPO}, "_meta": {"progressToken": 7},
    });
    let answer = client.request("tools/call", params).await;
    assert_eq!(picked(&answer["result"])["stale"], 3, "{answer}");
    let told = client.unasked().iter().map(|message| message["params"]["progress"].as_f64().unwrap());
    assert_eq!(told.collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_service_with_several_connections_wants_one_named() {
    let stage = stage().await;
    stage
        .connect_with("thing", pinhole_tests::PASTED, "home", Some(pinhole_manifest::Access::Read))
        .await
        .unwrap();
    let served = Served::new(stage, Told::default());
    let mut client = served.modern(json!({}));
    let tools = client.tools().await;
    let schema = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap()["inputSchema"].clone();
    assert_eq!(schema("thing_get_shelf")["properties"]["connection"]["enum"], json!(["home", "work"]));
    assert!(schema("thing_get_shelf")["required"].as_array().unwrap().contains(&json!("connection")));
    // Only one of them may write.
    assert!(
        schema("thing_add_note")["properties"]
            .get("connection")
            .is_none_or(|one| one["enum"] == json!(["work"]))
    );
    let result = client.call("thing_get_shelf", json!({"shelf": "north"})).await;
    assert!(refusal(&result)["message"].as_str().unwrap().contains("`home`, `work`"), "{result}");
    let result = client.call("thing_get_shelf", json!({"shelf": "north", "connection": "home"})).await;
    assert_eq!(picked(&result)["id"], "north");
}
