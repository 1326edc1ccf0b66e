//! The rows of the protocol's table of statuses and errors, for both eras.

use serde_json::{Value, json};

use crate::client::{Ask, MODERN, calls, legacy_call};
use crate::server::Server;

#[tokio::test]
async fn both_eras_are_served_at_one_address() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}});
    let answer = connection.ask(&Ask::legacy(&token, &hello)).await;
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-06-18");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = connection.ask(&Ask::legacy(&token, &initialized)).await;
    assert_eq!((answer.status, answer.body.len()), (202, 0));
    let answer = connection
        .ask(&Ask::legacy(&token, &legacy_call("echo")).header("mcp-protocol-version", "2025-06-18"))
        .await;
    assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(7)));
    let answer = connection.ask(&Ask::modern(&token, "server/discover", json!({}))).await;
    assert_eq!(answer.status, 200);
    let versions = answer.json()["result"]["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!(MODERN)), "{versions}");
    let answer = connection.ask(&Ask::modern(&token, "tools/call", calls("echo"))).await;
    assert_eq!(answer.json()["result"]["resultType"], "complete");
}

#[tokio::test]
async fn malformed_json_and_batches_are_answered_in_json_rpc() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let batch = json!([legacy_call("echo"), legacy_call("echo")]).to_string();
    for modern in [false, true] {
        for (body, code) in [
            ("{", -32_700),
            ("nonsense", -32_700),
            ("\u{feff}{}", -32_700),
            (batch.as_str(), -32_600),
            ("[]", -32_600),
            ("{}", -32_600),
            ("null", -32_600),
        ] {
            let ask = Ask::raw(&token, body);
            let ask = if modern { ask.header("mcp-protocol-version", MODERN) } else { ask };
            let answer = connection.ask(&ask).await;
            assert_eq!((answer.status, answer.code()), (400, code), "{body}");
            assert_eq!(answer.json()["id"], Value::Null, "{body}");
        }
    }
    assert_eq!(connection.ask(&Ask::legacy(&token, &legacy_call("echo"))).await.status, 200);
}
