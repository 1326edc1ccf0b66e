//! Bodies that are too long, too slow or cut off, heads that are too large, and requests that say two things at once.

use std::time::Duration;

use pinhole_server::http::{HttpLimits, HttpSettings, Rate};

use crate::client::{Ask, legacy_call};
use crate::server::{Server, Setup};

fn call() -> String {
    legacy_call("echo").to_string()
}

#[tokio::test]
async fn ten_megabytes_are_refused_and_not_held() {
    let server = Server::new().await;
    let token = server.token("a").text;
    // What it says is enough: nothing of the body is sent.
    let said = Ask::raw(&token, "").header("content-length", "10485760");
    let mut connection = server.connect().await;
    let answer = connection.ask(&said).await;
    assert_eq!((answer.status, answer.code()), (413, -32_600));
    assert!(connection.is_closed().await);
    // Of what comes in chunks it has to be counted.
    let mut connection = server.connect().await;
    connection.send(&Ask::raw(&token, "").header("transfer-encoding", "chunked").bytes(server.address)).await;
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
    for _ in 0..16 {
        connection.send(chunk.as_bytes()).await;
    }
    connection.send(b"1\r\n \r\n").await;
    let answer = connection.answer().await.unwrap();
    assert_eq!((answer.status, answer.code()), (413, -32_600));
}

#[tokio::test]
async fn a_body_of_just_the_limit_is_read() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let most = HttpLimits::default().body_bytes;
    let padded = |length: usize| {
        let call = call();
        format!("{call}{}", " ".repeat(length - call.len()))
    };
    assert_eq!(server.connect().await.ask(&Ask::raw(&token, padded(most))).await.status, 200);
    assert_eq!(server.connect().await.ask(&Ask::raw(&token, padded(most + 1))).await.status, 413);
    let chunked = |length: usize| {
        let body = padded(length);
        let (one, other) = body.split_at(length / 2);
        let body = format!("{:x}\r\n{one}\r\n{:x}\r\n{other}\r\n0\r\n\r\n", one.len(), other.len());
        Ask::raw(&token, body).header("transfer-encoding", "chunked")
    };
    assert_eq!(server.connect().await.ask(&chunked(most)).await.status, 200);
    assert_eq!(server.connect().await.ask(&chunked(most + 1)).await.status, 413);
}

#[tokio::test]
async fn many_values_are_refused_before_anything_is_made_of_them() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let of = |meta: &str| {
        let call = r#""method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"x":"#;
        Ask::raw(&token, format!(r#"{{"jsonrpc":"2.0","id":7,{call}{meta}}}}}}}"#))
    };
    let many = |count: usize| format!("[{}]", vec![r#"{"":0}"#; count].join(","));
    let mut connection = server.connect().await;
    for count in [7_000, 149_000] {
        let answer = connection.ask(&of(&many(count))).await;
        assert_eq!((answer.status, answer.code(), answer.json()["id"].as_i64()), (400, -32_600, Some(7)));
    }
    assert_eq!(server.echo.headers(), Vec::<String>::new());
    assert_eq!(connection.ask(&of(&many(6_000))).await.status, 200);
    // So many at once are too many even so.
    let call = |tool: &str| {
        Ask::raw(
            &token,
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"x":{}}}}}}}"#,
                many(6_000)
            ),
        )
    };
    let mut running = Vec::new();
    for _ in 0..5 {
        let mut connection = server.connect().await;
        connection.send(&call("slow").bytes(server.address)).await;
        server.echo.has_begun().await;
        running.push(connection);
    }
    assert_eq!(connection.ask(&call("echo")).await.status, 503);
    assert_eq!(connection.ask(&Ask::raw(&token, self::call())).await.status, 200);
    for mut slow in running {
        server.echo.let_go();
        server.echo.has_ended().await;
        assert_eq!(slow.answer().await.unwrap().status, 200);
    }
    // Text is no values, whatever is in it.
    let text = format!("\"{}\"", "{\\\",:[".repeat(100_000));
    assert_eq!(connection.ask(&of(&text)).await.status, 200);
}

#[tokio::test]
async fn what_is_refused_before_its_body_was_read_says_that_the_connection_ends() {
    let limits =
        HttpLimits { reads: Rate { count: 1, per: Duration::from_mins(1) }, ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let token = server.token("a").text;
    let good = Ask::raw(&token, call());
    let mut kept = server.connect().await;
    assert_eq!(kept.ask(&good).await.header("connection"), None);
    for (ask, status) in [
        (good.clone().without("authorization"), 401),
        (good.clone().with("host", "elsewhere.example"), 403),
        (good.clone().header("origin", "https://elsewhere.example"), 403),
        (good.clone(), 429),
    ] {
        let mut connection = server.connect().await;
        let answer = connection.ask(&ask).await;
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")), "{ask:?}");
        assert!(connection.is_closed().await);
        // Where there is no body nothing is left to read.
        let bare = server.connect().await.ask(&Ask::new("GET", "/mcp")).await;
        assert_eq!((bare.status, bare.header("connection")), (401, None));
    }
}

#[tokio::test]
async fn a_slow_body_is_not_waited_for() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let ask = Ask::raw(&token, "{").header("content-length", "100");
    connection.send(&ask.bytes(server.address)).await;
    server.time.is_waited_for().await;
    // A byte now and then does not help.
    server.time.pass(Duration::from_secs(9));
    connection.send(b" ").await;
    server.time.pass(Duration::from_secs(1));
    let answer = connection.answer().await.unwrap();
    assert_eq!(answer.status, 408);
    assert!(connection.is_closed().await);
}

#[tokio::test]
async fn a_body_that_is_cut_off_calls_nothing() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let ask = Ask::raw(&token, legacy_call("slow").to_string()).header("content-length", "9999");
    connection.send(&ask.bytes(server.address)).await;
    connection.shut_down().await;
    assert!(connection.answer().await.is_none_or(|answer| answer.status == 400));
    assert_eq!(server.echo.headers(), Vec::<String>::new());
}

#[tokio::test]
async fn a_slow_or_endless_head_ends_the_connection() {
    let limits = HttpLimits { head_time: Duration::from_millis(100), ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let mut slow = server.connect().await;
    slow.send(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-a:").await;
    assert!(slow.answer().await.is_none_or(|answer| answer.status == 408));
    let mut silent = server.connect().await;
    assert!(silent.is_closed().await);
    // One that has been served may not idle for longer either.
    let mut idle = server.connect().await;
    assert_eq!(idle.ask(&Ask::new("GET", "/healthz")).await.status, 200);
    assert!(idle.is_closed().await);
}

#[tokio::test]
async fn a_large_head_is_refused() {
    let server = Server::new().await;
    let mut connection = server.connect().await;
    let answer = connection.ask(&Ask::new("GET", "/healthz").header("x-a", &"a".repeat(40_000))).await;
    assert_eq!(answer.status, 431);
    let many = (0..100).fold(Ask::new("GET", "/healthz"), |ask, n| ask.header(&format!("x-{n}"), "1"));
    let answer = server.connect().await.ask(&many).await;
    assert_eq!(answer.status, 431);
    let long = format!("/healthz?{}", "a".repeat(40_000));
    let answer = server.connect().await.ask(&Ask::new("GET", &long)).await;
    assert!([414, 431].contains(&answer.status), "{answer:?}");
}

#[tokio::test]
async fn what_two_readers_could_end_at_two_places_is_refused() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let call = call();
    let (length, host) = (call.len(), server.address);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n"
    );
    let chunked = format!("{length:x}\r\n{call}\r\n0\r\n\r\n");
    let good = [
        format!("{head}content-length: {length}\r\n\r\n{call}"),
        format!("{head}transfer-encoding: chunked\r\n\r\n{chunked}"),
    ];
    for request in &good {
        // Byte by byte it is the same request.
        let mut connection = server.connect().await;
        for byte in request.as_bytes() {
            connection.send(&[*byte]).await;
        }
        assert_eq!(connection.answer().await.unwrap().status, 200, "{request}");
    }
    // Two at once are two.
    let mut connection = server.connect().await;
    connection.send(good.concat().as_bytes()).await;
    assert_eq!(connection.answer().await.unwrap().status, 200);
    assert_eq!(connection.answer().await.unwrap().status, 200);
    for request in [
        format!("{head}content-length: {length}\r\ntransfer-encoding: chunked\r\n\r\n{chunked}"),
        format!("{head}transfer-encoding: chunked\r\ncontent-length: {length}\r\n\r\n{chunked}"),
        format!("{head}content-length: {length}\r\ncontent-length: {length}\r\n\r\n{call}"),
        format!("{head}content-length: 0\r\ncontent-length: {length}\r\n\r\n{call}"),
        format!("{head}content-length: {length}\n\r\n{call}"),
        format!("{head}x: y\ncontent-length: {length}\r\n\r\n{call}"),
        format!("{head}content-length: {length}\r\n\n{call}"),
        format!("{head}content-length : {length}\r\n\r\n{call}"),
        format!("{head}x: y\r\n content-length: {length}\r\n\r\n{call}"),
        format!("{head}transfer-encoding: identity, chunked\r\n\r\n{chunked}"),
        format!("{head}transfer-encoding: chunked\r\n\r\n{}", chunked.replace("\r\n0", "\n0")),
    ] {
        let mut connection = server.connect().await;
        connection.send(request.as_bytes()).await;
        let answer = connection.answer().await.unwrap();
        assert_eq!(answer.status, 400, "{request:?}");
        assert!(connection.is_closed().await, "{request:?}");
    }
}
