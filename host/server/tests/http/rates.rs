//! Who asks too often waits, exactly as long as they are told; nobody else does.

use std::time::Duration;

use pinhole_server::http::{HttpLimits, HttpSettings, Rate};
use serde_json::{Value, json};

use crate::client::{Ask, legacy_call};
use crate::server::{Server, Setup};

#[tokio::test]
async fn a_flood_is_slowed_down_and_nobody_else_notices() {
    let server = Server::new().await;
    let [ada, bob] = ["ada", "bob"].map(|name| server.token(name).text);
    let mut connection = server.connect().await;
    let ask = Ask::legacy(&ada, &legacy_call("echo"));
    for _ in 0..60 {
        assert_eq!(connection.ask(&ask).await.status, 200);
    }
    server.time.pass(Duration::from_millis(20_500));
    for _ in 0..60 {
        assert_eq!(connection.ask(&ask).await.status, 200);
    }
    let answer = connection.ask(&ask).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("40")));
    // Its body was not read, so that nobody knows the id.
    assert_eq!((answer.code(), &answer.json()["id"]), (-32_000, &Value::Null));
    // Few clients show the header.
    let error = answer.json()["error"].clone();
    assert_eq!(error["data"], json!({"retry_after": 40}));
    assert!(error["message"].as_str().unwrap().contains("wait 40 s"), "{error}");
    // What is refused does not count.
    server.time.pass(Duration::from_millis(39_499));
    let answer = connection.ask(&ask).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("1")));
    assert_eq!(connection.ask(&Ask::legacy(&bob, &legacy_call("echo"))).await.status, 200);
    server.time.pass(Duration::from_millis(1));
    assert_eq!(connection.ask(&ask).await.status, 200);
}

#[tokio::test]
async fn writes_have_a_lower_limit_of_their_own() {
    let a_minute = |count| Rate { count, per: Duration::from_mins(1) };
    let limits = HttpLimits { reads: a_minute(8), writes: a_minute(2), ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let mut status = async |tool: &str| connection.ask(&Ask::legacy(&token, &legacy_call(tool))).await.status;
    assert_eq!([status("write").await, status("write").await, status("write").await], [200, 200, 429]);
    for tool in ["echo", "no such tool", "echo", "echo", "echo"] {
        assert_eq!(status(tool).await, 200);
    }
    // Three writes and five others, the refused one with them.
    assert_eq!(status("echo").await, 429);
}

#[tokio::test]
async fn what_is_refused_later_counts_too() {
    let limits =
        HttpLimits { reads: Rate { count: 4, per: Duration::from_mins(1) }, ..HttpLimits::default() };
    let server = Setup::with(HttpSettings::default().with_limits(limits)).start().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    for (ask, status) in [
        (Ask::raw(&token, "{"), 400),
        (Ask::raw(&token, "[]"), 400),
        (Ask::raw(&token, "{}").with("content-type", "text/plain"), 415),
        (Ask::new("PUT", "/mcp").header("authorization", &format!("Bearer {token}")), 405),
        (Ask::raw(&token, "{"), 429),
        (Ask::new("PUT", "/mcp").header("authorization", &format!("Bearer {token}")), 429),
    ] {
        assert_eq!(connection.ask(&ask).await.status, status, "{ask:?}");
    }
}

#[tokio::test]
async fn ten_thousand_wrong_tokens_keep_no_holder_out() {
    let server = Server::new().await;
    let token = server.token("a").text;
    let mut connection = server.connect().await;
    let mut wrong = token.clone();
    let mut statuses = [0, 0];
    for n in 0..10_000 {
        wrong.replace_range(10..15, &format!("{n:05}"));
        let ask = Ask::new("GET", "/mcp").header("authorization", &format!("Bearer {wrong}"));
        let answer = connection.ask(&ask).await;
        match answer.status {
            401 => statuses[0] += 1,
            429 => {
                assert_eq!(answer.header("retry-after"), Some("60"));
                statuses[1] += 1;
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(statuses, [30, 9_970]);
    assert_eq!(connection.ask(&Ask::legacy(&token, &legacy_call("echo"))).await.status, 200);
    server.time.pass(Duration::from_mins(1));
    assert_eq!(connection.ask(&Ask::legacy(&wrong, &legacy_call("echo"))).await.status, 401);
}
