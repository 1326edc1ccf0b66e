//! What comes back: answers, redirects, encodings and their limits.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Method, StatusCode};

use super::server::{Ca, Reply, Server, Then, raw, reply};
use super::*;
use crate::net::assemble::assemble;
use crate::net::progress::Progress;

#[tokio::test]
async fn an_exchange_over_http_1() {
    let (ca, server) = Server::h1(vec![
        reply("200 OK\r\nset-cookie: a=b\r\nx-kept: 1", b"{\"first\":1}"),
        reply("404 Not Found", b"gone"),
    ])
    .await;
    let client = client(&server, &ca);
    assert!(client.dial(&host()) == pinhole_grant::Dial::Overridden);

    let answer = send(&client, get("/a/b%2Fc?d=%20e&f[]=g")).await.expect("an answer");
    assert_eq!((answer.status, &*answer.body), (StatusCode::OK, &b"{\"first\":1}"[..]));
    assert_eq!(answer.headers["x-kept"], "1");
    let answer = send(&client, request(Method::POST, "/", Some("text"))).await.expect("an answer");
    assert_eq!((answer.status, &*answer.body), (StatusCode::NOT_FOUND, &b"gone"[..]));

    assert_eq!(server.connections(), 1, "the pool is used");
    let seen = server.seen();
    assert_eq!(seen[0].sni.as_deref(), Some(HOST));
    let head = &seen[0].head;
    assert!(head.starts_with("get /a/b%2fc?d=%20e&f[]=g http/1.1\r\n"), "{head}");
    for line in [
        "host: api.pinned.dev\r\n",
        "authorization: bearer correct-horse-battery-staple\r\n",
        "accept: application/json\r\n",
        "user-agent: pinhole/",
    ] {
        assert_eq!(head.matches(line).count(), 1, "{line} in {head}");
    }
    let encodings = head.lines().find_map(|line| line.strip_prefix("accept-encoding: ")).expect("encodings");
    let mut encodings: Vec<_> = encodings.split(',').map(str::trim).collect();
    encodings.sort_unstable();
    assert_eq!(encodings, ["br", "gzip"]);
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
    assert!(!seen[1].head.contains("cookie") && !seen[1].head.contains("referer"), "{}", seen[1].head);
    assert!(seen[1].head.contains("content-length: 4\r\n"));
    assert_eq!(seen[1].body, "text");
}

#[tokio::test]
async fn an_exchange_over_http_2() {
    let (ca, server) = Server::h2(10).await;
    let answer = send(&client(&server, &ca), get("/x?y=z")).await.expect("an answer");
    assert_eq!((answer.status, &*answer.body), (StatusCode::OK, &b"{\"over\":\"h2\"}"[..]));
    let seen = server.seen();
    assert_eq!(seen[0].sni.as_deref(), Some(HOST));
    assert!(seen[0].head.starts_with("HTTP/2.0 GET https://api.pinned.dev/x?y=z\n"), "{}", seen[0].head);
    assert!(seen[0].head.contains("\"authorization\": \"Bearer correct-horse"), "{}", seen[0].head);
}

#[test]
fn the_credential_is_sensitive_whatever_the_caller_said() {
    // What is marked is never put into HTTP/2's shared tables, and never shown.
    let outgoing = get("/");
    assert!(!outgoing.credential.1.is_sensitive());
    let request = assemble(&host(), outgoing, Progress::default()).expect("a request");
    assert!(request.headers()["authorization"].is_sensitive());
    assert!(!format!("{request:?}").contains("correct-horse"));
}

#[tokio::test]
async fn an_exchange_over_tls_1_2() {
    let ca = Ca::new();
    let tls = ca.leaf_for(HOST, (2000, 2200), &[&rustls::version::TLS12]);
    let server = Server::h1_with(tls, vec![reply("200 OK", b"old")]).await;
    assert_eq!(send(&client(&server, &ca), get("/")).await.expect("an answer").body, "old");
}

#[tokio::test]
async fn a_post_without_a_body_says_so() {
    let (ca, server) = Server::h1(vec![reply("200 OK", b""), reply("200 OK", b"")]).await;
    let client = client(&server, &ca);
    send(&client, request(Method::POST, "/", None)).await.expect("an answer");
    send(&client, request(Method::DELETE, "/", None)).await.expect("an answer");
    assert!(server.seen()[0].head.contains("content-length: 0\r\n"));
    assert!(!server.seen()[1].head.contains("content-length"));
}

#[tokio::test]
async fn no_redirect_is_followed() {
    let second = Server::h1(vec![reply("200 OK", b"stolen")]).await.1;
    let places = [
        "/elsewhere".to_owned(),
        format!("https://{HOST}/elsewhere"),
        "https://other.pinned.dev/".to_owned(),
        format!("https://{}/", second.address),
        format!("http://{}/", second.address),
    ];
    let mut replies: Vec<Reply> = Vec::new();
    for place in &places {
        for status in [301, 302, 303, 307, 308] {
            replies.push(reply(&format!("{status} Moved\r\nlocation: {place}"), b""));
        }
    }
    let tries = replies.len();
    let (ca, server) = Server::h1(replies).await;
    let settings = settings(&server, &ca).with_override(dial("other.pinned.dev", &second));
    let client = PinnedClient::new(settings).expect("settings");
    for nth in 0..tries {
        let (kind, sent) = verdict(send(&client, get("/")).await);
        assert!(matches!(kind, WireErrorKind::Redirected { .. }), "{nth}: {kind:?}");
        assert_eq!(sent, Sent::Yes);
    }
    assert_eq!(server.seen().len(), tries, "each was asked once");
    assert_eq!(second.connections(), 0);
}

#[tokio::test]
async fn a_304_and_a_101_are_no_answers() {
    let (ca, server) = Server::h1(vec![raw("HTTP/1.1 304 Not Modified\r\n\r\n", Then::Close)]).await;
    let status = StatusCode::NOT_MODIFIED;
    assert_eq!(
        verdict(send(&client(&server, &ca), get("/")).await),
        (WireErrorKind::Redirected { status }, Sent::Yes)
    );
    let switch = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    let (ca, server) = Server::h1(vec![raw(switch, Then::Hold)]).await;
    assert_eq!(verdict(send(&client(&server, &ca), get("/")).await).0, WireErrorKind::BadResponse);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).expect("memory");
    encoder.finish().expect("memory")
}

#[tokio::test]
async fn known_encodings_are_undone() {
    // "hello" as one stored brotli block.
    let brotli = [0x0b, 0x02, 0x80, b'h', b'e', b'l', b'l', b'o', 0x03];
    let (ca, server) = Server::h1(vec![
        reply("200 OK\r\ncontent-encoding: gzip", &gzip(b"hello")),
        reply("200 OK\r\ncontent-encoding: br", &brotli),
        reply("200 OK\r\ncontent-encoding: identity", b"hello"),
        raw("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 99\r\n\r\n", Then::KeepOpen),
        raw("HTTP/1.1 204 No Content\r\ncontent-encoding: gzip\r\n\r\n", Then::KeepOpen),
    ])
    .await;
    let client = client(&server, &ca);
    for _encoding in 0..3 {
        assert_eq!(send(&client, get("/")).await.expect("an answer").body, "hello");
    }
    assert_eq!(send(&client, request(Method::HEAD, "/", None)).await.expect("an answer").body, "");
    assert_eq!(send(&client, get("/")).await.expect("an answer").body, "");
}

#[tokio::test]
async fn other_encodings_are_refused() {
    let cut = gzip(b"hello").split_last_chunk::<6>().expect("long enough").0.to_vec();
    for (encoding, body) in [
        ("zstd", b"hello".to_vec()),
        ("x", b"hello".to_vec()),
        ("gzip, gzip", gzip(&gzip(b"hello"))),
        ("gzip, br", gzip(b"hello")),
        ("identity\r\ncontent-encoding: gzip", gzip(b"hello")),
        ("gzip", b"hello, this is no gzip".to_vec()),
        ("gzip", cut),
        ("br", b"\xff\xff\xff\xff".to_vec()),
    ] {
        let head = format!("200 OK\r\ncontent-encoding: {encoding}");
        let (ca, server) = Server::h1(vec![reply(&head, &body)]).await;
        let verdict = verdict(send(&client(&server, &ca), get("/")).await);
        assert_eq!(verdict, (WireErrorKind::BadEncoding, Sent::Yes), "{encoding}");
    }
}

async fn capped(reply: Reply, response_bytes: u64) -> Result<Answer, WireError> {
    let (ca, server) = Server::h1(vec![reply]).await;
    let limits = WireLimits { response_bytes, ..LIMITS };
    whole(client(&server, &ca).exchange(Permit::new(host()), get("/"), limits).await?).await
}

#[tokio::test]
async fn a_body_has_its_cap() {
    let too_large = (WireErrorKind::ResponseTooLarge, Sent::Yes);
    assert_eq!(capped(reply("200 OK", &[b'x'; 1000]), 1000).await.expect("an answer").body.len(), 1000);
    // Announced: refused without waiting for a byte of it.
    let announced = raw("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n", Then::Hold);
    assert_eq!(verdict(capped(announced, 1000).await), too_large);
    assert_eq!(verdict(capped(reply("200 OK", b"x"), 0).await), too_large);
    // Not announced, and no end to it.
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let endless = raw(head, Then::Drip(b"8\r\nxxxxxxxx\r\n", Duration::from_millis(1)));
    assert_eq!(verdict(capped(endless, 100).await), too_large);
    // Not announced, ended by closing.
    let closed = raw(&format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(1001)), Then::Close);
    assert_eq!(verdict(capped(closed, 1000).await), too_large);
}

#[tokio::test]
async fn a_gzip_bomb_stops_early() {
    // 64 MiB in 64 KiB, announced as longer, and the rest never comes: only one who counts while unpacking ever answers.
    let bomb = gzip(&vec![0; 64 << 20]);
    let length = bomb.len() + 1000;
    let mut bytes =
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(&bomb);
    let refused = verdict(capped((bytes, Then::Hold), 1 << 20).await);
    assert_eq!(refused, (WireErrorKind::ResponseTooLarge, Sent::Yes));
}

#[tokio::test]
async fn headers_have_their_caps() {
    let lines = |count: usize| "x: y\r\n".repeat(count);
    // One more line is the length.
    let fits = capped(reply(&format!("200 OK\r\n{}z: z", lines(98)), b""), 10).await;
    assert_eq!(fits.expect("an answer").headers.len(), 100);
    let many = capped(reply(&format!("200 OK\r\n{}z: z", lines(99)), b""), 10).await;
    assert_eq!(verdict(many), (WireErrorKind::HeadersTooLarge, Sent::Maybe));
    // Read whole, then found too long; and too long to be read.
    let long = capped(reply(&format!("200 OK\r\nx: {}", "y".repeat(70_000)), b""), 10).await;
    assert_eq!(verdict(long), (WireErrorKind::HeadersTooLarge, Sent::Yes));
    let endless = capped(reply(&format!("200 OK\r\nx: {}", "y".repeat(600_000)), b""), 10).await;
    assert_eq!(verdict(endless), (WireErrorKind::HeadersTooLarge, Sent::Maybe));
}

#[tokio::test]
async fn headers_have_their_caps_over_http_2() {
    let (ca, server) = Server::h2(70_000).await;
    let refused = verdict(send(&client(&server, &ca), get("/")).await);
    assert_eq!(refused, (WireErrorKind::HeadersTooLarge, Sent::Yes));
    // Beyond what the decoder lets through, the stream ends before anything can be counted.
    let (ca, server) = Server::h2(300_000).await;
    let refused = verdict(send(&client(&server, &ca), get("/")).await);
    assert_eq!(refused, (WireErrorKind::Interrupted, Sent::Maybe));
}
