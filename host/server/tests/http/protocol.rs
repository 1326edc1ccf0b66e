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

#[tokio::test]
async fn headers_that_do_not_say_what_the_body_says_are_refused() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let call = Ask::modern(&token, "tools/call", calls("echo"));
    for (ask, code) in [
        (call.clone().without("mcp-protocol-version"), -32_020),
        (call.clone().with("mcp-protocol-version", "2025-11-25"), -32_020),
        (call.clone().header("mcp-protocol-version", MODERN), -32_020),
        (call.clone().header("mcp-protocol-version", "2025-11-25"), -32_020),
        (call.clone().without("mcp-method"), -32_020),
        (call.clone().with("mcp-method", "tools/list"), -32_020),
        (call.clone().header("mcp-method", "tools/call"), -32_020),
        (call.clone().without("mcp-name"), -32_020),
        (call.clone().with("mcp-name", "slow"), -32_020),
        (call.clone().header("mcp-name", "echo"), -32_020),
        (call.clone().with("mcp-name", "=?base64?!?="), -32_020),
        (call.clone().with("mcp-name", "=?base64?c2xvdw==?="), -32_020),
    ] {
        let answer = connection.ask(&ask).await;
        assert_eq!((answer.status, answer.code()), (400, code), "{ask:?}");
    }
    // `echo`, as a header may write it.
    let encoded = call.with("mcp-name", "=?base64?ZWNobw==?=");
    assert_eq!(connection.ask(&encoded).await.status, 200);
}

#[tokio::test]
async fn versions_that_nobody_speaks_are_named_with_those_that_are() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let mut modern = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": calls("echo")});
    modern["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for message in [legacy_call("echo"), modern] {
        let ask = Ask::legacy(&token, &message)
            .header("mcp-protocol-version", "2099-01-01")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "echo");
        let answer = connection.ask(&ask).await;
        assert_eq!(
            (answer.status, answer.code(), &answer.json()["id"]),
            (400, -32_022, &json!(7)),
            "{message}"
        );
        let data = &answer.json()["error"]["data"];
        assert_eq!(data["requested"], "2099-01-01");
        assert!(data["supported"].as_array().unwrap().contains(&json!(MODERN)), "{data}");
    }
    // `initialize` is answered with a version that is spoken, never refused.
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": {"name": "new", "version": "1"}}});
    let answer = connection.ask(&Ask::legacy(&token, &hello)).await;
    assert_eq!((answer.status, &answer.json()["result"]["protocolVersion"]), (200, &json!("2025-11-25")));
}

#[tokio::test]
async fn what_a_modern_request_must_say_is_asked_for() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": calls("echo")});
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        message["params"]["_meta"]
            .as_object_mut()
            .unwrap()
            .remove(&format!("io.modelcontextprotocol/{missing}"));
        let ask = Ask::legacy(&token, &message)
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", "tools/call")
            .header("mcp-name", "echo");
        let answer = connection.ask(&ask).await;
        assert_eq!((answer.status, answer.code()), (400, -32_602), "{missing}");
    }
}

#[tokio::test]
async fn what_there_is_not_has_its_status() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let answer = connection.ask(&Ask::modern(&token, "no/such", json!({}))).await;
    assert_eq!((answer.status, answer.code()), (404, -32_601));
    let legacy = json!({"jsonrpc": "2.0", "id": 7, "method": "no/such"});
    let answer = connection.ask(&Ask::legacy(&token, &legacy)).await;
    assert_eq!((answer.status, answer.code()), (200, -32_601));
    // A name that is none is not repeated.
    for method in ["\u{1b}[31m", "tools/\u{202e}list", &"x".repeat(129), ""] {
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method});
        let answer = connection.ask(&Ask::legacy(&token, &message)).await;
        assert_eq!((answer.status, answer.code(), &answer.json()["id"]), (200, -32_601, &json!(7)));
        assert_eq!(answer.json()["error"]["message"], "there is no method of this name");
    }
    let modern = Ask::legacy(&token, &json!({"jsonrpc": "2.0", "id": 7, "method": "\u{1b}"}));
    let answer = connection.ask(&modern.header("mcp-protocol-version", MODERN)).await;
    assert_eq!((answer.status, answer.code()), (404, -32_601));
    let nowhere = connection.ask(&Ask::new("GET", "/")).await;
    assert_eq!(nowhere.status, 404);
    assert!(String::from_utf8(nowhere.body).unwrap().contains("`/mcp`"));
    for method in ["GET", "DELETE", "PUT", "HEAD"] {
        for version in [MODERN, "2025-11-25"] {
            let ask = Ask::new(method, "/mcp")
                .header("authorization", &format!("Bearer {token}"))
                .header("accept", "text/event-stream")
                .header("mcp-session-id", "x")
                .header("mcp-protocol-version", version);
            let mut connection = server.connect().await;
            connection.send(&ask.bytes(server.address)).await;
            let answer = connection.head().await.unwrap();
            assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
        }
    }
    for (ask, status) in [
        (Ask::raw(&token, "{}").without("content-type"), 415),
        (Ask::raw(&token, "{}").with("content-type", "text/plain"), 415),
        (Ask::raw(&token, "{}").header("content-type", "application/json"), 415),
        (
            Ask::legacy(&token, &legacy_call("echo")).with("content-type", "application/json; charset=utf-8"),
            200,
        ),
        (Ask::legacy(&token, &legacy_call("echo")).with("accept", "application/json"), 406),
        (Ask::legacy(&token, &legacy_call("echo")).with("accept", "*/*"), 200),
        (Ask::legacy(&token, &legacy_call("echo")).without("accept"), 200),
    ] {
        let answer = connection.ask(&ask).await;
        assert_eq!(answer.status, status, "{ask:?}");
        assert_eq!(answer.json()["jsonrpc"], "2.0");
    }
}

#[tokio::test]
async fn params_that_are_not_the_methods_are_refused_with_the_id() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    for params in
        [json!({}), json!([]), json!(null), json!({"name": 1}), json!({"name": "echo", "arguments": "x"})]
    {
        let message = json!({"jsonrpc": "2.0", "id": "seven", "method": "tools/call", "params": params});
        let answer = connection.ask(&Ask::legacy(&token, &message)).await;
        assert_eq!((answer.status, answer.code()), (400, -32_602), "{params}");
        assert_eq!(answer.json()["id"], "seven");
    }
    assert_eq!(server.echo.headers(), Vec::<String>::new());
    // Nesting that would exhaust a stack.
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let answer = connection.ask(&Ask::raw(&token, deep)).await;
    assert_eq!(answer.status, 400);
}

#[tokio::test]
async fn sessions_and_events_of_the_older_protocol_are_ignored() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    for ask in [Ask::legacy(&token, &legacy_call("echo")), Ask::modern(&token, "tools/call", calls("echo"))] {
        let ask =
            ask.header("mcp-session-id", "x").header("mcp-session-id", "y").header("last-event-id", "z");
        let answer = connection.ask(&ask).await;
        assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
    }
}
