//! Sessions of the older protocol, where the operator has turned them on: each answers to who opened it, and to nobody else.

use pinhole_server::http::{HttpLimits, HttpSettings, Sessions};
use serde_json::{Value, json};

use crate::client::{Answer, Ask, Connection, calls, legacy_call};
use crate::server::{Server, Setup};

async fn with_sessions() -> Server {
    Setup::with(HttpSettings::default().with_sessions(Sessions::On)).start().await
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}})
}

async fn open(connection: &mut Connection, token: &str) -> String {
    let answer = connection.ask(&Ask::legacy(token, &hello())).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let session = answer.header("mcp-session-id").unwrap().to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = connection.ask(&Ask::legacy(token, &initialized).header("mcp-session-id", &session)).await;
    assert_eq!(answer.status, 202);
    session
}

async fn call(connection: &mut Connection, token: &str, session: &str) -> Answer {
    connection.ask(&Ask::legacy(token, &legacy_call("echo")).header("mcp-session-id", session)).await
}

#[tokio::test]
async fn a_stolen_session_is_worth_nothing() {
    let server = with_sessions().await;
    let [ada, eve] = ["ada", "eve"].map(|name| server.token(name).text);
    let mut connection = server.connect().await;
    let session = open(&mut connection, &ada).await;
    assert_eq!(call(&mut connection, &ada, &session).await.status, 200);
    let stolen = call(&mut connection, &eve, &session).await;
    let invented = call(&mut connection, &eve, "00000000-0000-4000-8000-000000000000").await;
    // It looks as if there were none.
    assert_eq!((stolen.status, &stolen.body), (404, &invented.body));
    assert_eq!(stolen.json()["id"], 7);
    for method in ["GET", "DELETE"] {
        let ask =
            Ask::new(method, "/mcp").header("accept", "text/event-stream").header("mcp-session-id", &session);
        let answer = connection.ask(&ask.header("authorization", &format!("Bearer {eve}"))).await;
        assert_eq!(answer.status, 404, "{method}");
    }
    let answers = json!({"jsonrpc": "2.0", "id": 0, "result": {"action": "accept", "content": {}}});
    let answer = connection.ask(&Ask::legacy(&eve, &answers).header("mcp-session-id", &session)).await;
    assert_eq!(answer.status, 404);
    let twice = Ask::legacy(&ada, &legacy_call("echo"))
        .header("mcp-session-id", &session)
        .header("mcp-session-id", "x");
    assert_eq!(connection.ask(&twice).await.status, 404);
    // It is still hers, and ends when she says so.
    assert_eq!(call(&mut connection, &ada, &session).await.status, 200);
    let end = Ask::new("DELETE", "/mcp")
        .header("mcp-session-id", &session)
        .header("authorization", &format!("Bearer {ada}"));
    assert_eq!(connection.ask(&end).await.status, 204);
    assert_eq!(call(&mut connection, &ada, &session).await.status, 404);
}

#[tokio::test]
async fn who_opens_too_many_loses_the_oldest_of_their_own() {
    let server = with_sessions().await;
    let [ada, eve] = ["ada", "eve"].map(|name| server.token(name).text);
    let mut connection = server.connect().await;
    let hers = open(&mut connection, &ada).await;
    let mut sessions = Vec::new();
    for _ in 0..17 {
        server.time.pass(std::time::Duration::from_secs(1));
        sessions.push(open(&mut connection, &eve).await);
    }
    assert_eq!(call(&mut connection, &eve, &sessions[0]).await.status, 404);
    assert_eq!(call(&mut connection, &eve, &sessions[1]).await.status, 200);
    assert_eq!(call(&mut connection, &ada, &hers).await.status, 200);
}

#[tokio::test]
async fn who_opens_many_at_once_has_no_more_of_them() {
    let server = with_sessions().await;
    let token = server.token("a").text;
    let hello = Ask::legacy(&token, &hello());
    let opened = futures_util::future::join_all((0..40).map(|_| async {
        let answer = server.connect().await.ask(&hello).await;
        assert!([200, 503].contains(&answer.status), "{answer:?}");
        answer.header("mcp-session-id").map(str::to_owned)
    }));
    let initialized = Ask::legacy(&token, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let (mut connection, mut open) = (server.connect().await, 0);
    for session in opened.await.into_iter().flatten() {
        let answer = connection.ask(&initialized.clone().header("mcp-session-id", &session)).await;
        open += usize::from(answer.status == 202);
    }
    assert!((1..=16).contains(&open), "{open}");
}

#[tokio::test]
async fn calls_of_a_session_whose_clients_are_gone_still_count() {
    let limits = HttpLimits { requests: 2, ..HttpLimits::default() };
    let settings = HttpSettings::default().with_limits(limits).with_sessions(Sessions::On);
    let server = Setup::with(settings).start().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let session = open(&mut connection, &token).await;
    for id in [1, 2] {
        let mut slow = legacy_call("slow");
        slow["id"] = json!(id);
        let ask = Ask::legacy(&token, &slow).header("mcp-session-id", &session);
        let mut connection = server.connect().await;
        connection.send(&ask.bytes(server.address)).await;
        server.echo.has_begun().await;
        drop(connection);
    }
    for _ in 0..100 {
        assert_eq!(call(&mut connection, &token, &session).await.status, 503);
    }
    server.echo.let_go();
    server.echo.has_ended().await;
    while call(&mut connection, &token, &session).await.status == 503 {}
}

#[tokio::test]
async fn what_a_session_keeps_of_its_client_is_small() {
    let server = with_sessions().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    for (experimental, status) in [
        (json!({"x": {"y": "z".repeat(65_536)}}), 413),
        (json!({"x": {"y": vec![0; 1_000]}}), 400),
        (json!({"x": {"y": vec![0; 900], "z": "z".repeat(60_000)}}), 200),
    ] {
        let mut hello = hello();
        hello["params"]["capabilities"] = json!({"experimental": experimental});
        let answer = connection.ask(&Ask::legacy(&token, &hello)).await;
        assert_eq!(answer.status, status);
        assert!(status == 200 || answer.code() == -32_600 && answer.json()["id"] == 1, "{answer:?}");
    }
}

#[tokio::test]
async fn a_stream_of_a_session_ends_when_the_server_is_told_to_stop() {
    let server = with_sessions().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let session = open(&mut connection, &token).await;
    let ask =
        Ask::new("GET", "/mcp").header("accept", "text/event-stream").header("mcp-session-id", &session);
    connection.send(&ask.header("authorization", &format!("Bearer {token}")).bytes(server.address)).await;
    assert_eq!(connection.head().await.unwrap().status, 200);
    server.stop.cancel();
    while connection.part().await.is_some_and(|part| part.is_some()) {}
    server.ended().await;
}

#[tokio::test]
async fn modern_requests_know_no_sessions() {
    let server = with_sessions().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let ask = Ask::modern(&token, "tools/call", calls("echo")).header("mcp-session-id", "nobody's");
    let answer = connection.ask(&ask).await;
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
}
