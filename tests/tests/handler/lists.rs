//! What a client is told of the server, and what it lists.

use pinhole_manifest::Access;
use pinhole_server::mcp::{Offer, ToolsMode};
use serde_json::{Value, json};

use crate::client::{LEGACY, MODERN, Served, Told};
use crate::{served, stage, stage_capped};

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_modern_client_discovers_and_lists_without_a_beginning() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    let found = client.request("server/discover", json!({})).await["result"].clone();
    assert_eq!(found["resultType"], "complete");
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!(MODERN)) && LEGACY.iter().all(|one| versions.contains(&json!(one))),
        "{found}"
    );
    assert_eq!((&found["cacheScope"], found["ttlMs"].as_u64()), (&json!("public"), Some(3_600_000)));
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pinhole");
    let instructions = found["instructions"].as_str().unwrap();
    assert!(instructions.len() < 2_048 && instructions.contains("approval_required"));
    assert_eq!(found["capabilities"], json!({"tools": {}}));

    let list = client.request("tools/list", json!({})).await["result"].clone();
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(list["ttlMs"].as_u64() > Some(0) && list.get("nextCursor").is_none());
    let tools = list["tools"].as_array().unwrap();
    let mut sorted = names(tools);
    sorted.sort_unstable();
    assert_eq!(names(tools), sorted);
    assert!(
        sorted.contains(&"explain") && sorted.contains(&"thing_get_item") && sorted.contains(&"thing_pay")
    );
    for tool in tools {
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{tool}");
        }
    }
    assert_eq!(client.request("tools/list", json!({})).await["result"], list);
}

#[tokio::test]
async fn a_client_of_each_earlier_version_is_served_as_it_knows() {
    let served = served().await;
    for version in LEGACY {
        let mut client = served.legacy(version, json!({})).await;
        assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
        let list = client.request("tools/list", json!({})).await["result"].clone();
        for later in ["resultType", "ttlMs", "cacheScope", "_meta"] {
            assert!(list.get(later).is_none(), "{version}: {later}");
        }
        let result = client.call("thing_get_shelf", json!({"shelf": "north"})).await;
        assert!(result.get("resultType").is_none() && result["structuredContent"].is_object(), "{result}");
    }
    // A version that nobody knows is answered with the newest of these.
    let mut client = crate::client::Client::new(&served.mcp, None);
    let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    assert_eq!(client.request("initialize", params).await["result"]["protocolVersion"], LEGACY[0]);
}

#[tokio::test]
async fn a_connection_that_reads_lists_no_write_and_runs_none() {
    let served = Served::new(stage_capped(Access::Read).await, Told::default());
    let mut client = served.modern(json!({}));
    let tools = client.tools().await;
    assert!(tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{:?}", names(&tools));
    let answer =
        client.request("tools/call", json!({"name": "thing_add_note", "arguments": {"text": "a"}})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(served.questions().is_empty());
}

#[tokio::test]
async fn read_only_lists_no_write_and_runs_none() {
    for mode in [ToolsMode::Each, ToolsMode::Search] {
        let told = Told { offer: Offer::default().read_only().in_mode(mode), ..Told::default() };
        let served = Served::new(stage().await, told);
        let mut client = served.modern(json!({}));
        assert!(client.tools().await.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
        for (name, arguments) in [
            ("thing_add_note", json!({"text": "a"})),
            ("run_write_op", json!({"op": "thing.add_note", "args": {"text": "a"}})),
            ("run_read_op", json!({"op": "thing.add_note", "args": {"text": "a"}})),
            ("explain", json!({"op": "thing.add_note", "args": {"text": "a"}})),
        ] {
            let answer = client.request("tools/call", json!({"name": name, "arguments": arguments})).await;
            let refused = answer["error"]["code"] == -32602 || answer["result"]["isError"] == true;
            assert!(refused, "{name}: {answer}");
        }
        assert!(served.questions().is_empty());
        assert_eq!(served.written(), 0);
    }
}

#[tokio::test]
async fn what_is_not_connected_or_was_removed_is_not_there() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    assert!(names(&client.tools().await).contains(&"thing_get_item"));
    let (member, row) = {
        use pinhole_runtime::store::Connections as _;
        let member = served.member.public().id();
        (member, served.store.connections(member).unwrap().remove(0))
    };
    pinhole_runtime::store::Connections::remove_connection(served.store.as_ref(), member, row.id).unwrap();
    assert_eq!(names(&client.tools().await), ["explain"]);
    let answer = client.request("tools/call", json!({"name": "thing_get_item", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_tool_that_is_none_and_a_cursor_that_is_none_are_errors_of_the_request() {
    let served = served().await;
    let mut client = served.modern(json!({}));
    for name in ["", "thing_", "thing", "github_get_repo", "thing_get_item ", "run_read_op"] {
        let answer = client.request("tools/call", json!({"name": name})).await;
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
    }
    let answer = client.request("tools/list", json!({"cursor": "x"})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    for method in ["resources/list", "prompts/list", "no/such", "logging/setLevel", "subscriptions/listen"] {
        let answer = client.request(method, json!({"level": "info", "notifications": {}})).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}
