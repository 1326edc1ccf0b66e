//! The client against a small TLS server in this process, on loopback, dialled through an override.

mod addresses;
mod answers;
mod downloads;
mod failures;
mod proxy;
mod server;
mod settings;
mod times;

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use pinhole_manifest::ApiHost;

use super::{
    DialOverride, Incoming, NetSettings, Outgoing, Permit, PinnedClient, Sent, Wire, WireError,
    WireErrorKind, WireLimits,
};
use server::{Ca, Server};

/// The pinned name of these tests.
const HOST: &str = "api.pinned.dev";
const SECRET: &str = "Bearer correct-horse-battery-staple";

fn host() -> ApiHost {
    ApiHost::parse(HOST).expect("a public name")
}

fn dial(host: &str, server: &Server) -> DialOverride {
    DialOverride::parse(&format!("{host}:443:{}", server.address)).expect("an override")
}

fn settings(server: &Server, ca: &Ca) -> NetSettings {
    NetSettings::default().with_override(dial(HOST, server)).with_ca_pem(ca.pem.as_bytes()).expect("a CA")
}

fn client(server: &Server, ca: &Ca) -> PinnedClient {
    PinnedClient::new(settings(server, ca)).expect("settings")
}

fn request(method: Method, target: &str, body: Option<&'static str>) -> Outgoing {
    let mut secret = HeaderValue::from_static(SECRET);
    secret.set_sensitive(false);
    Outgoing {
        method,
        target: target.to_owned(),
        headers: HeaderMap::from_iter([(http::header::ACCEPT, HeaderValue::from_static("application/json"))]),
        credential: (http::header::AUTHORIZATION, secret),
        body: body.map(|text| Bytes::from_static(text.as_bytes())),
    }
}

fn get(target: &str) -> Outgoing {
    request(Method::GET, target, None)
}

const LIMITS: WireLimits = WireLimits { response_bytes: 1 << 20, deadline: Duration::from_secs(20) };

/// An answer with its body read to the end.
#[derive(Debug)]
struct Answer {
    status: http::StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

async fn whole(incoming: Incoming) -> Result<Answer, WireError> {
    let Incoming { status, headers, mut body } = incoming;
    let mut read = Vec::new();
    while let Some(piece) = body.next().await? {
        read.extend_from_slice(&piece);
    }
    Ok(Answer { status, headers, body: Bytes::from(read) })
}

async fn send(client: &PinnedClient, outgoing: Outgoing) -> Result<Answer, WireError> {
    whole(client.exchange(Permit::new(host()), outgoing, LIMITS).await?).await
}

/// What a failure says, to compare with.
fn verdict(result: Result<Answer, WireError>) -> (WireErrorKind, Sent) {
    let error = result.expect_err("a failure");
    assert!(
        !format!("{error:?}{error}{}", error.detail()).contains("correct-horse"),
        "a secret in {error:?}"
    );
    (error.kind, error.sent)
}

#[tokio::test]
async fn a_request_that_would_go_elsewhere_is_not_sent() {
    let (ca, server) = Server::h1(Vec::new()).await;
    let client = client(&server, &ca);
    let targets = [
        "",
        "x",
        "@evil.dev/",
        ".evil.dev/",
        ":8443/",
        "/a/../b",
        "/a/%2e%2e/b",
        "/./a",
        "/a#b",
        "/a b",
        "/a\\b",
        "/\u{e4}",
        "/a\nb",
        "/a\tb",
    ];
    for target in targets {
        assert_eq!(
            verdict(send(&client, get(target)).await),
            (WireErrorKind::Unsendable, Sent::No),
            "{target:?}"
        );
    }
    for name in [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "cookie",
        "authorization",
        "proxy-authorization",
        "user-agent",
        "accept-encoding",
        "upgrade",
    ] {
        let mut outgoing = get("/");
        outgoing.headers.insert(HeaderName::from_static(name), HeaderValue::from_static("1"));
        assert_eq!(verdict(send(&client, outgoing).await), (WireErrorKind::Unsendable, Sent::No), "{name}");
    }
    let mut twice = get("/");
    twice.credential.0 = HeaderName::from_static("x-api-key");
    twice.headers.insert("x-api-key", HeaderValue::from_static("another"));
    assert_eq!(verdict(send(&client, twice).await), (WireErrorKind::Unsendable, Sent::No));
    for method in [Method::CONNECT, Method::TRACE, Method::OPTIONS] {
        let outgoing = request(method, "/", None);
        assert_eq!(verdict(send(&client, outgoing).await), (WireErrorKind::Unsendable, Sent::No));
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_request_shows_neither_secret_nor_what_a_person_wrote() {
    let mut outgoing = request(Method::POST, "/private-target", Some("private-body"));
    outgoing.headers.insert("x-note", HeaderValue::from_static("private-header"));
    let shown = format!("{outgoing:?}");
    assert!(!shown.contains("private-") && !shown.contains("correct-horse"), "{shown}");
}
