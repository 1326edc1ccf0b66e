//! How calls end: with their client or without, with the server, with their token.

use std::time::Duration;

use pinhole_runtime::clock::Clock;
use pinhole_runtime::store::Tokens as _;
use pinhole_server::http::{HttpLimits, HttpSettings};
use serde_json::json;

use crate::client::{Ask, calls, legacy_call};
use crate::server::{Server, Setup};

/// A call that says how far it is, as a message of the older protocol.
fn steps() -> serde_json::Value {
    let mut call = legacy_call("steps");
    call["params"]["_meta"] = json!({"progressToken": 1});
    call
}

#[tokio::test]
async fn a_modern_client_that_goes_away_ends_its_call() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    connection.send(&Ask::modern(&token, "tools/call", calls("slow")).bytes(server.address)).await;
    server.echo.has_begun().await;
    drop(connection);
    server.echo.was_cancelled().await;
}

#[tokio::test]
async fn a_legacy_client_that_goes_away_does_not_end_its_call() {
    let server = Server::new().await;
    let token = server.token("a").text;
    for call in [legacy_call("slow"), steps()] {
        let mut connection = server.connect().await;
        connection.send(&Ask::legacy(&token, &call).bytes(server.address)).await;
        server.echo.has_begun().await;
        drop(connection);
        // Another's call shows that the server has seen the connection end.
        let mut modern = server.connect().await;
        modern.send(&Ask::modern(&token, "tools/call", calls("slow")).bytes(server.address)).await;
        server.echo.has_begun().await;
        drop(modern);
        server.echo.was_cancelled().await;
        assert_eq!(server.echo.cancelled(), 0);
        server.echo.let_go();
        server.echo.has_ended().await;
    }
}

#[tokio::test]
async fn progress_comes_while_the_call_runs() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    connection.send(&Ask::legacy(&token, &steps()).bytes(server.address)).await;
    let head = connection.head().await.unwrap();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    let progress = String::from_utf8(connection.part().await.unwrap().unwrap()).unwrap();
    assert!(progress.contains("notifications/progress"), "{progress}");
    server.echo.let_go();
    let result = String::from_utf8(connection.part().await.unwrap().unwrap()).unwrap();
    assert!(result.contains("\"id\":7"), "{result}");
    assert_eq!(connection.part().await, Some(None));
}

#[tokio::test]
async fn a_stream_ends_soon_after_its_token() {
    let server = Server::new().await;
    let held = server.token("a");
    let mut connection = server.connect().await;
    connection.send(&Ask::legacy(&held.text, &steps()).bytes(server.address)).await;
    connection.head().await.unwrap();
    connection.part().await.unwrap().unwrap();
    server.store.revoke_token(server.member, held.id, Clock::now(&*server.time)).unwrap();
    server.time.pass(Duration::from_secs(15));
    assert_eq!(connection.part().await, Some(None));
}

#[tokio::test]
async fn told_to_stop_it_lets_what_runs_come_to_its_end() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let (mut modern, mut legacy, mut idle) =
        (server.connect().await, server.connect().await, server.connect().await);
    modern.send(&Ask::modern(&token, "tools/call", calls("slow")).bytes(server.address)).await;
    server.echo.has_begun().await;
    legacy.send(&Ask::legacy(&token, &legacy_call("slow")).bytes(server.address)).await;
    idle.ask(&Ask::new("GET", "/healthz")).await;
    server.echo.has_begun().await;
    // Its client is gone, and the call goes on.
    drop(legacy);
    server.stop.cancel();
    assert!(idle.is_closed().await);
    server.echo.let_go();
    let answer = modern.answer().await.unwrap();
    assert_eq!(answer.status, 200);
    assert!(modern.is_closed().await);
    server.echo.has_ended().await;
    // No connection is left, and it waits all the same.
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    server.echo.let_go();
    server.ended().await;
    server.echo.has_ended().await;
    assert_eq!(server.echo.cancelled(), 0);
}

#[tokio::test]
async fn what_does_not_come_to_its_end_in_time_is_cut_off() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let (mut modern, mut legacy) = (server.connect().await, server.connect().await);
    modern.send(&Ask::modern(&token, "tools/call", calls("slow")).bytes(server.address)).await;
    legacy.send(&Ask::legacy(&token, &legacy_call("slow")).bytes(server.address)).await;
    server.echo.has_begun().await;
    server.echo.has_begun().await;
    server.stop.cancel();
    server.time.is_waited_for().await;
    server.time.pass(Duration::from_secs(10));
    server.ended().await;
    server.echo.was_cancelled().await;
    server.echo.was_cancelled().await;
    assert!(modern.answer().await.is_none_or(|answer| answer.status != 200));
}

#[tokio::test]
async fn what_listens_ends_when_the_server_is_told_to_stop() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut listening = server.connect().await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    listening.send(&Ask::modern(&token, "subscriptions/listen", params).bytes(server.address)).await;
    let head = listening.head().await.unwrap();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    listening.part().await.unwrap().unwrap();
    server.stop.cancel();
    while listening.part().await.is_some_and(|part| part.is_some()) {}
    server.ended().await;
}

#[tokio::test]
async fn there_is_room_for_so_many_connections() {
    let limits = HttpLimits { connections: 2, ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let call = Ask::legacy(&server.token("a").text, &legacy_call("echo"));
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    assert_eq!(one.ask(&call).await.status, 200);
    assert_eq!(other.ask(&call).await.status, 200);
    let mut third = server.connect().await;
    let answer = third.answer().await.unwrap();
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    drop(one);
    // Until its place is free.
    loop {
        let mut next = server.connect().await;
        next.send(&call.bytes(server.address)).await;
        if next.answer().await.is_some_and(|answer| answer.status == 200) {
            break;
        }
    }
    assert_eq!(other.ask(&call).await.status, 200);
}

#[tokio::test]
async fn who_has_shown_no_good_token_keeps_nobody_out() {
    let limits = HttpLimits { connections: 4, ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let call = Ask::legacy(&server.token("a").text, &legacy_call("echo"));
    let mut holder = server.connect().await;
    assert_eq!(holder.ask(&call).await.status, 200);
    let (mut silent, mut wrong, mut asking) =
        (server.connect().await, server.connect().await, server.connect().await);
    let mistaken = Ask::new("GET", "/mcp").header("authorization", "Bearer pinm_");
    assert_eq!(wrong.ask(&mistaken).await.status, 401);
    assert_eq!(asking.ask(&Ask::new("GET", "/healthz")).await.status, 200);
    // All places are taken, and still there is one for each who comes, the oldest stranger's.
    let mut kept = vec![holder];
    for stranger in [&mut silent, &mut wrong, &mut asking] {
        let mut next = server.connect().await;
        assert_eq!(next.ask(&call).await.status, 200);
        while stranger.answer().await.is_some() {}
        assert!(stranger.is_closed().await);
        kept.push(next);
    }
    let full = server.connect().await.answer().await.unwrap();
    assert_eq!(full.status, 503);
    for mut connection in kept {
        assert_eq!(connection.ask(&call).await.status, 200);
    }
}

#[tokio::test]
async fn one_principal_has_so_many_requests_at_once_and_others_have_theirs() {
    let limits = HttpLimits { requests: 2, ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let [ada, bob] = ["ada", "bob"].map(|name| server.token(name).text);
    let mut running = Vec::new();
    for _ in 0..2 {
        let mut connection = server.connect().await;
        connection.send(&Ask::modern(&ada, "tools/call", calls("slow")).bytes(server.address)).await;
        server.echo.has_begun().await;
        running.push(connection);
    }
    let mut connection = server.connect().await;
    let answer = connection.ask(&Ask::modern(&ada, "tools/call", calls("echo"))).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")));
    let answer = connection.ask(&Ask::modern(&bob, "tools/call", calls("echo"))).await;
    assert_eq!(answer.status, 200);
    server.echo.let_go();
    server.echo.let_go();
    for mut connection in running {
        assert_eq!(connection.answer().await.unwrap().status, 200);
    }
    let answer = connection.ask(&Ask::modern(&ada, "tools/call", calls("echo"))).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn calls_whose_clients_are_gone_still_count() {
    let limits = HttpLimits { requests: 2, ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let token = server.token("a").text;
    for call in [legacy_call("slow"), steps()] {
        let mut connection = server.connect().await;
        connection.send(&Ask::legacy(&token, &call).bytes(server.address)).await;
        server.echo.has_begun().await;
        drop(connection);
    }
    // Until the server has seen that they are gone, and after.
    let mut connection = server.connect().await;
    for _ in 0..100 {
        let answer = connection.ask(&Ask::legacy(&token, &legacy_call("echo"))).await;
        assert_eq!(answer.status, 503);
    }
    server.echo.let_go();
    server.echo.has_ended().await;
    while connection.ask(&Ask::legacy(&token, &legacy_call("echo"))).await.status == 503 {}
}
