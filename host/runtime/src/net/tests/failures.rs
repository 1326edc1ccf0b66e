//! What goes wrong on the way, and what is said about whether the request was sent.

use http::Method;
use tokio::net::TcpSocket;

use super::server::{Ca, Server, Then, raw, reply};
use super::*;

#[tokio::test]
async fn a_closed_port_is_not_sent() {
    // Bound and not listening: nobody else gets the port, and nobody answers on it.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("a port");
    let address = socket.local_addr().expect("an address");
    let dial = DialOverride::parse(&format!("{HOST}:443:{address}")).expect("an override");
    let client = PinnedClient::new(NetSettings::default().with_override(dial)).expect("settings");
    assert_eq!(verdict(send(&client, get("/")).await), (WireErrorKind::Connect, Sent::No));
    drop(socket);
}

#[tokio::test]
async fn who_is_not_shown_to_be_the_host_gets_nothing() {
    let ca = Ca::new();
    for (case, tls) in [
        ("wrong name", ca.leaf("other.pinned.dev", (2000, 2200))),
        ("parent name", ca.leaf("pinned.dev", (2000, 2200))),
        ("expired", ca.leaf(HOST, (2000, 2001))),
        ("not yet valid", ca.leaf(HOST, (2199, 2200))),
        ("wrong CA", Ca::new().good_leaf()),
    ] {
        let server = Server::h1_with(tls, vec![reply("200 OK", b"")]).await;
        let verdict = verdict(send(&client(&server, &ca), request(Method::POST, "/", Some("x"))).await);
        assert_eq!(verdict, (WireErrorKind::Tls, Sent::No), "{case}");
        assert!(server.seen().is_empty(), "{case}");
    }
}

#[tokio::test]
async fn an_override_without_a_ca_is_held_against_the_public_roots() {
    let (_ca, server) = Server::h1(vec![reply("200 OK", b"")]).await;
    let settings = NetSettings::default().with_override(dial(HOST, &server));
    let client = PinnedClient::new(settings).expect("settings");
    assert_eq!(verdict(send(&client, get("/")).await), (WireErrorKind::Tls, Sent::No));
}

#[tokio::test]
async fn a_handshake_that_is_cut_is_not_sent() {
    let (ca, server) = Server::cut_handshake().await;
    let (kind, sent) = verdict(send(&client(&server, &ca), request(Method::POST, "/", Some("x"))).await);
    // The end of the stream, or a reset when it came first.
    assert!(matches!(kind, WireErrorKind::Tls | WireErrorKind::Connect), "{kind:?}");
    assert_eq!(sent, Sent::No);
}

#[tokio::test]
async fn cut_before_the_status_may_have_been_sent() {
    for outgoing in [get("/"), request(Method::POST, "/", Some("x"))] {
        for then in [Then::Cut, Then::Close] {
            let (ca, server) = Server::h1(vec![raw("", then)]).await;
            let again = Outgoing {
                headers: outgoing.headers.clone(),
                credential: outgoing.credential.clone(),
                method: outgoing.method.clone(),
                target: outgoing.target.clone(),
                body: outgoing.body.clone(),
            };
            let verdict = verdict(send(&client(&server, &ca), again).await);
            assert_eq!(verdict, (WireErrorKind::Interrupted, Sent::Maybe));
            assert_eq!(server.seen().len(), 1, "it was read, and nothing was repeated");
        }
    }
}

#[tokio::test]
async fn a_pooled_connection_that_is_cut_is_not_replayed() {
    let (ca, server) = Server::h1(vec![reply("200 OK", b""), raw("", Then::Cut), reply("200 OK", b"")]).await;
    let client = client(&server, &ca);
    send(&client, get("/")).await.expect("an answer");
    let verdict = verdict(send(&client, request(Method::POST, "/", Some("x"))).await);
    assert_eq!(verdict, (WireErrorKind::Interrupted, Sent::Maybe));
    assert_eq!((server.connections(), server.seen().len()), (1, 2));
}

#[tokio::test]
async fn cut_in_the_body_was_sent() {
    let short = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort";
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n";
    let gzip = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n\u{1f}";
    // Ended by closing, but without the word that TLS has for it: an attacker could have cut it anywhere.
    let unannounced = "HTTP/1.1 200 OK\r\n\r\nshort";
    for (bytes, then) in [
        (short, Then::Cut),
        (short, Then::Close),
        (chunked, Then::Cut),
        (chunked, Then::Close),
        (gzip, Then::Close),
        (unannounced, Then::Cut),
    ] {
        let (ca, server) = Server::h1(vec![raw(bytes, then)]).await;
        let verdict = verdict(send(&client(&server, &ca), get("/")).await);
        assert_eq!(verdict, (WireErrorKind::Interrupted, Sent::Yes), "{bytes}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_malformed() {
    let (ca, server) = Server::h1(vec![raw("SSH-2.0-OpenSSH_9.2\r\n\r\n", Then::Close)]).await;
    let no_http = verdict(send(&client(&server, &ca), get("/")).await);
    assert_eq!(no_http, (WireErrorKind::BadResponse, Sent::Maybe));

    let bad_chunk = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n";
    let (ca, server) = Server::h1(vec![raw(bad_chunk, Then::Close)]).await;
    let malformed = verdict(send(&client(&server, &ca), get("/")).await);
    assert_eq!(malformed, (WireErrorKind::BadResponse, Sent::Yes));
}
