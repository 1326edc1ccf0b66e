//! Each misbehaviour, observed from the client's side, over HTTP/1.1 and over HTTP/2.

use std::time::{Duration, Instant};

use reqwest::{Client, Response};
use serde_json::Value;

use super::{builder, cause, client, get, github, header, http1, json, url};
use crate::{Cut, Echo, GithubWorld, Misbehaviour, Standin, When};

/// A stand-in that misbehaves like this always, with a client of each version.
async fn spoiled(how: Misbehaviour) -> (Standin, [Client; 2]) {
    let standin = github().await;
    standin.misbehave(When::Always, how);
    let clients = [http1(&standin), client(&standin)];
    (standin, clients)
}

/// One reply of a stand-in that misbehaves like this, from each client.
async fn replies(how: Misbehaviour) -> Vec<Response> {
    let (_standin, clients) = spoiled(how).await;
    let mut replies = Vec::new();
    for client in clients {
        replies.push(get(&client, "/user").await);
    }
    // The bodies are small and have been sent, or the test says so.
    replies
}

/// What reading the whole body comes to.
async fn outcome(client: &Client) -> Result<usize, reqwest::Error> {
    Ok(client.get(url("/user/repos")).send().await?.bytes().await?.len())
}

#[tokio::test]
async fn rules_are_followed_newest_first_and_used_up() {
    let standin = github().await;
    let client = client(&standin);
    standin.misbehave(When::Path("/user".into()), Misbehaviour::Html(500));
    standin.misbehave(When::PathNext("/user/".into(), 1), Misbehaviour::Html(501));
    standin.misbehave(When::Next(2), Misbehaviour::Html(502));
    let mut statuses = Vec::new();
    for target in ["/user/repos", "/notifications", "/notifications", "/user/repos", "/user/repos", "/user"] {
        statuses.push(get(&client, target).await.status().as_u16());
    }
    assert_eq!(statuses, [502, 502, 200, 501, 500, 500]);
    standin.behave();
    assert_eq!(get(&client, "/user").await.status(), 200);
    assert_eq!(standin.requests().len(), 7);
}

#[tokio::test]
async fn statuses_redirects_and_html() {
    let location = "https://elsewhere.example/x".to_owned();
    for reply in replies(Misbehaviour::Redirect { status: 307, location: location.clone() }).await {
        assert_eq!((reply.status().as_u16(), header(&reply, "location")), (307, location.clone()));
    }
    for reply in replies(Misbehaviour::Status { code: 429, retry_after: Some("17".into()) }).await {
        assert_eq!((reply.status().as_u16(), header(&reply, "retry-after").as_str()), (429, "17"));
    }
    for reply in replies(Misbehaviour::Status { code: 503, retry_after: None }).await {
        assert_eq!((reply.status().as_u16(), header(&reply, "retry-after").as_str()), (503, ""));
    }
    for reply in replies(Misbehaviour::Html(502)).await {
        assert_eq!((reply.status().as_u16(), header(&reply, "content-type").as_str()), (502, "text/html"));
    }
    for reply in replies(Misbehaviour::NoContent204).await {
        assert_eq!(reply.status(), 204);
    }
}

#[tokio::test]
async fn bodies_that_are_not_the_json_they_should_be() {
    let (_standin, [one, two]) = spoiled(Misbehaviour::TruncatedJson).await;
    for client in [one, two] {
        let body = get(&client, "/user").await.bytes().await.unwrap();
        assert!(body.starts_with(b"{") && serde_json::from_slice::<Value>(&body).is_err());
    }
    let (_standin, [one, two]) = spoiled(Misbehaviour::Bom).await;
    for client in [one, two] {
        let body = get(&client, "/user").await.bytes().await.unwrap();
        assert!(body.starts_with(b"\xef\xbb\xbf{"));
    }
    let (_standin, [one, two]) = spoiled(Misbehaviour::Utf16).await;
    for client in [one, two] {
        let reply = get(&client, "/user").await;
        assert_eq!(header(&reply, "content-type"), "application/json; charset=utf-16");
        assert!(reply.bytes().await.unwrap().starts_with(b"\xff\xfe{\0"));
    }
    let (_standin, [one, two]) = spoiled(Misbehaviour::EmptyBody).await;
    for client in [one, two] {
        let reply = get(&client, "/user").await;
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.bytes().await.unwrap().len(), 0);
    }
    let (_standin, [one, two]) = spoiled(Misbehaviour::WrongContentType("text/plain".into())).await;
    for client in [one, two] {
        let reply = get(&client, "/user").await;
        assert_eq!(header(&reply, "content-type"), "text/plain");
        assert_eq!(json(reply).await["login"], GithubWorld::VIEWER);
    }
}

#[tokio::test]
async fn the_key_comes_back_where_it_was_told_to() {
    let (standin, clients) = spoiled(Misbehaviour::EchoCredential(Echo::Body)).await;
    for client in &clients {
        let ask = async || client.get(url("/user")).bearer_auth("key-123").send().await.unwrap();
        standin.misbehave(When::Next(1), Misbehaviour::EchoCredential(Echo::Header));
        assert_eq!(header(&ask().await, "x-echo"), "key-123");
        standin.misbehave(When::Next(1), Misbehaviour::EchoCredential(Echo::ErrorMessage));
        let refused = ask().await;
        assert_eq!(refused.status(), 422);
        assert!(json(refused).await["message"].as_str().unwrap().contains("key-123"));
        let body = json(ask().await).await;
        assert_eq!(body["login"], "demo-wren key-123");
        assert_eq!(body["plan"]["name"], "pro key-123");
        assert!(!body["html_url"].as_str().unwrap().contains("key-123"));
    }
}

#[tokio::test]
async fn slow_ones_are_slow() {
    let delay = Duration::from_millis(60);
    let (standin, clients) = spoiled(Misbehaviour::SlowHeaders { delay }).await;
    for client in &clients {
        let begun = Instant::now();
        assert_eq!(json(get(client, "/user").await).await["login"], GithubWorld::VIEWER);
        assert!(begun.elapsed() >= delay);
    }
    standin.misbehave(When::Always, Misbehaviour::Drip { bytes: 400, every: Duration::from_millis(10) });
    for client in &clients {
        let begun = Instant::now();
        let mut reply = get(client, "/user").await;
        let mut pieces = Vec::new();
        while let Some(piece) = reply.chunk().await.unwrap() {
            pieces.push(piece.len());
        }
        let length: usize = pieces.iter().sum();
        assert!(pieces.len() >= 3 && pieces.iter().all(|piece| *piece % 400 == 0 || *piece == length % 400));
        assert!(begun.elapsed() >= Duration::from_millis(20));
    }
}

#[tokio::test]
async fn an_endless_body_has_no_end() {
    let (_standin, clients) = spoiled(Misbehaviour::EndlessBody).await;
    for client in clients {
        let mut reply = get(&client, "/user").await;
        let mut read = 0;
        while read < 20 << 20 {
            read += reply.chunk().await.unwrap().unwrap().len();
        }
    }
}

#[tokio::test]
async fn bombs_are_small_and_unpack_to_what_they_say() {
    for (how, encoding, most) in [
        (Misbehaviour::GzipBomb { mebibytes: 5 }, "gzip", 8_000),
        (Misbehaviour::BrotliBomb { mebibytes: 5 }, "br", 100),
    ] {
        let (standin, clients) = spoiled(how).await;
        for client in clients {
            let body = get(&client, "/user").await.bytes().await.unwrap();
            assert_eq!(body.len(), 5 << 20, "{encoding}");
            assert!(body.iter().all(|byte| *byte == b' '));
        }
        let raw = builder(&standin).no_gzip().no_brotli().build().unwrap();
        let reply = get(&raw, "/user").await;
        assert_eq!(header(&reply, "content-encoding"), encoding);
        let size = reply.bytes().await.unwrap().len();
        assert!(size < most, "{size}");
    }
}

#[tokio::test]
async fn nested_gzip_is_packed_twice() {
    let (standin, _) = spoiled(Misbehaviour::NestedGzip).await;
    let raw = builder(&standin).no_gzip().no_brotli().build().unwrap();
    let reply = get(&raw, "/user").await;
    assert_eq!(header(&reply, "content-encoding"), "gzip, gzip");
    let mut text = reply.bytes().await.unwrap().to_vec();
    for _ in 0..2 {
        let mut unpacked = Vec::new();
        std::io::copy(&mut flate2::read::GzDecoder::new(&text[..]), &mut unpacked).unwrap();
        text = unpacked;
    }
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap()["login"], GithubWorld::VIEWER);
}

#[tokio::test]
async fn lengths_that_are_not_the_bodys() {
    let (standin, [one, two]) = spoiled(Misbehaviour::DeclaredTooLong { by: 10 }).await;
    for client in [&one, &two] {
        let error = outcome(client).await.unwrap_err();
        assert!(error.is_decode() || error.is_body(), "{error:?}");
    }
    standin.behave();
    let whole = outcome(&one).await.unwrap();
    standin.misbehave(When::Always, Misbehaviour::DeclaredTooShort { by: 10 });
    assert_eq!(outcome(&one).await.unwrap(), whole - 10);
    assert!(outcome(&two).await.is_err());
}

#[tokio::test]
async fn garbage_instead_of_chunks_or_of_a_reply() {
    let (standin, [one, two]) = spoiled(Misbehaviour::ChunkedGarbage).await;
    let mut reply = get(&one, "/user").await;
    assert_eq!(reply.chunk().await.unwrap().unwrap(), "[1,2,3,4");
    assert!(reply.chunk().await.is_err());
    let reset = two.get(url("/user")).send().await.unwrap_err();
    assert_eq!(cause::<h2::Error>(&reset).unwrap().reason(), Some(h2::Reason::PROTOCOL_ERROR));

    standin.behave();
    standin.misbehave(
        When::Always,
        Misbehaviour::RawBytes(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi".into()),
    );
    assert_eq!(get(&one, "/user").await.text().await.unwrap(), "hi");
    assert!(two.get(url("/user")).send().await.is_err());
    standin.misbehave(When::Always, Misbehaviour::RawBytes(b"SSH-2.0-not-http\r\n".into()));
    assert!(one.get(url("/user")).send().await.unwrap_err().is_request());
}

#[tokio::test]
async fn headers_beyond_measure() {
    let (standin, [one, two]) = spoiled(Misbehaviour::ManyHeaders(50)).await;
    for client in [&one, &two] {
        let reply = get(client, "/user").await;
        assert_eq!(reply.headers().keys().filter(|name| name.as_str().starts_with("x-filler-")).count(), 50);
    }
    standin.misbehave(When::Always, Misbehaviour::ManyHeaders(5000));
    assert!(one.get(url("/user")).send().await.is_err());
    assert!(two.get(url("/user")).send().await.is_err());
    standin.misbehave(When::Always, Misbehaviour::HugeHeader(10_000));
    for client in [&one, &two] {
        assert_eq!(header(&get(client, "/user").await, "x-huge").len(), 10_000);
    }
    standin.misbehave(When::Always, Misbehaviour::HugeHeader(2_000_000));
    assert!(one.get(url("/user")).send().await.is_err());
    assert!(two.get(url("/user")).send().await.is_err());
}

#[tokio::test]
async fn a_connection_that_is_cut_before_the_body_gives_no_reply() {
    for place in [Cut::BeforeStatus, Cut::InHeaders] {
        let (standin, clients) = spoiled(Misbehaviour::Cut(place)).await;
        for client in clients {
            assert!(client.get(url("/user")).send().await.unwrap_err().is_request(), "{place:?}");
        }
        assert_eq!(standin.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_connection_that_is_cut_in_the_body_gives_half_a_reply() {
    for place in [Cut::MidBody, Cut::MidBodyUnframed] {
        let (standin, clients) = spoiled(Misbehaviour::Cut(place)).await;
        for client in &clients {
            let mut reply = get(client, "/user/repos").await;
            assert_eq!(reply.status(), 200);
            let mut read = 0;
            let error = loop {
                match reply.chunk().await {
                    Ok(piece) => read += piece.unwrap().len(),
                    Err(error) => break error,
                }
            };
            assert!(error.is_decode() || error.is_body(), "{place:?}: {error:?}");
            standin.behave();
            let whole = outcome(&http1(&standin)).await.unwrap();
            assert_eq!(read, whole / 2, "{place:?}");
            standin.misbehave(When::Always, Misbehaviour::Cut(place));
        }
    }
}

#[tokio::test]
async fn a_write_whose_reply_is_cut_has_happened() {
    let (standin, clients) = spoiled(Misbehaviour::Cut(Cut::BeforeStatus)).await;
    let issues = "/repos/pinhole-demo/lantern/issues";
    for client in &clients {
        assert!(client.post(url(issues)).body(r#"{"title":"sent?"}"#).send().await.is_err());
    }
    standin.behave();
    let listed = json(get(&clients[0], issues).await).await;
    assert_eq!((&listed[0]["title"], &listed[1]["title"]), (&"sent?".into(), &"sent?".into()));
}

#[tokio::test]
async fn a_connection_that_is_cut_after_the_body_is_not_used_again() {
    let (standin, clients) = spoiled(Misbehaviour::Cut(Cut::AfterBody)).await;
    for client in clients {
        let before = standin.connections();
        assert!(outcome(&client).await.is_ok());
        standin.behave();
        // The client may or may not have noticed yet; it cannot get a reply on the old connection.
        let again = client.get(url("/user")).send().await;
        assert_eq!(standin.connections() - before, if again.is_ok() { 2 } else { 1 });
        standin.misbehave(When::Always, Misbehaviour::Cut(Cut::AfterBody));
    }
}

#[tokio::test]
async fn a_stream_is_reset_and_its_connection_lives_on() {
    let (standin, [one, two]) = spoiled(Misbehaviour::H2Reset { code: 7 }).await;
    let error = two.get(url("/user")).send().await.unwrap_err();
    let fault = cause::<h2::Error>(&error).unwrap();
    assert!(fault.is_reset() && fault.is_remote());
    assert_eq!(fault.reason(), Some(h2::Reason::REFUSED_STREAM));
    assert!(one.get(url("/user")).send().await.unwrap_err().is_request());
    standin.behave();
    assert_eq!(get(&two, "/user").await.status(), 200);
    assert_eq!(standin.requests().last().unwrap().connection, standin.requests()[0].connection);
}

#[tokio::test]
async fn a_connection_is_given_up_with_goaway() {
    let (standin, [one, two]) = spoiled(Misbehaviour::H2GoAway { last_stream: 0, code: 11 }).await;
    let error = two.get(url("/user")).send().await.unwrap_err();
    let fault = cause::<h2::Error>(&error).unwrap();
    assert!(fault.is_go_away() && fault.is_remote());
    assert_eq!(fault.reason(), Some(h2::Reason::ENHANCE_YOUR_CALM));
    assert!(one.get(url("/user")).send().await.unwrap_err().is_request());
    standin.behave();
    assert_eq!(get(&two, "/user").await.status(), 200);
    assert_eq!(standin.requests().last().unwrap().connection, standin.connections());
}
