//! Files of a registry: what goes out, what is taken, what is refused.

use std::sync::Arc;

use http::StatusCode;

use super::server::{Server, Then, raw, reply};
use super::*;
use crate::net::{DownloadBase, DownloadBaseError, DownloadError, Looking, Lookup};

/// Says of every name that it is this machine's.
struct ThisMachine;

impl Lookup for ThisMachine {
    fn lookup(&self, _name: &str) -> Looking {
        Box::pin(async { Ok(vec![std::net::IpAddr::from([127, 0, 0, 1])]) })
    }
}

fn base(path: &str) -> DownloadBase {
    DownloadBase::parse(&format!("https://{HOST}{path}")).expect("a base")
}

fn wire(error: Option<DownloadError>) -> WireErrorKind {
    match error {
        Some(DownloadError::Wire(error)) => error.kind,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_file_is_fetched_from_below_the_base_with_no_credential() {
    let (ca, server) = Server::h1(vec![reply("200 OK", b"signed"), reply("200 OK", b"")]).await;
    let client = client(&server, &ca);
    let file = client.download(&base("/pinhole/metadata"), "1.root.json", LIMITS).await.expect("a file");
    assert_eq!(file.as_deref(), Some(&b"signed"[..]));
    let empty = client.download(&base("/"), "a%2Fb", LIMITS).await.expect("a file");
    assert_eq!(empty.as_deref(), Some(&b""[..]));

    let seen = server.seen();
    assert!(seen[0].head.starts_with("get /pinhole/metadata/1.root.json http/1.1\r\n"), "{}", seen[0].head);
    assert!(seen[1].head.starts_with("get /a%2fb http/1.1\r\n"), "{}", seen[1].head);
    for word in ["authorization", "cookie", "referer"] {
        assert!(!seen[0].head.contains(word), "{}", seen[0].head);
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_is_no_failure_and_any_other_status_is() {
    let replies = ["403 Forbidden", "404 Not Found", "410 Gone", "500 Oh", "204 No", "206 Partial"];
    let (ca, server) = Server::h1(replies.map(|head| reply(head, b"")).to_vec()).await;
    let client = client(&server, &ca);
    for _absent in 0..3 {
        assert!(client.download(&base("/"), "x", LIMITS).await.expect("an answer").is_none());
    }
    for status in [500, 204, 206] {
        match client.download(&base("/"), "x", LIMITS).await {
            Err(DownloadError::Status(found)) => assert_eq!(found, StatusCode::from_u16(status).unwrap()),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_download_takes_the_guard_and_limits_of_an_exchange() {
    let (ca, server) = Server::h1(vec![
        reply("302 Found\r\nlocation: https://api.pinned.dev/y", b""),
        reply("200 OK", &[b'x'; 101]),
        raw("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc", Then::Hold),
    ])
    .await;
    let client = client(&server, &ca);
    let few = WireLimits { response_bytes: 100, deadline: Duration::from_secs(20) };
    let redirected = client.download(&base("/"), "x", few).await.err();
    assert!(matches!(wire(redirected), WireErrorKind::Redirected { .. }));
    assert_eq!(wire(client.download(&base("/"), "x", few).await.err()), WireErrorKind::ResponseTooLarge);
    let soon = WireLimits { deadline: Duration::from_millis(300), ..few };
    assert!(matches!(
        wire(client.download(&base("/"), "x", soon).await.err()),
        WireErrorKind::Timeout { .. }
    ));

    // Dialled for real, the name of a machine of one's own is none of a registry's.
    let inward = DownloadBase::parse("https://localtest.pinned.dev/").expect("a base");
    let real = PinnedClient::with_lookup(NetSettings::default(), Arc::new(ThisMachine)).expect("a client");
    assert_eq!(wire(real.download(&inward, "x", few).await.err()), WireErrorKind::AddressRefused);
}

#[tokio::test]
async fn no_name_of_a_file_leads_out_of_the_base() {
    let (ca, server) = Server::h1(vec![]).await;
    let client = client(&server, &ca);
    let long = "a".repeat(1025);
    for name in ["../x", "a/../../x", "%2e%2e/x", "x?y#z", "a b", "a\\b", "x\r\nhost: y", &long] {
        let refused = client.download(&base("/a/b/"), name, LIMITS).await.err();
        assert_eq!(wire(refused), WireErrorKind::Unsendable, "{name}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_base_is_a_folder_of_a_public_host() {
    assert_eq!(base("/a").target("x"), "/a/x");
    assert_eq!(base("/a/").target("x"), "/a/x");
    assert_eq!(DownloadBase::parse("https://api.pinned.dev").unwrap().target("x"), "/x");
    assert_eq!(base("/a").host(), &host());
    assert_eq!(DownloadBase::parse("https://api.pinned.dev/a?b"), Err(DownloadBaseError::Query));
    for text in [
        "http://api.pinned.dev/",
        "https://api.pinned.dev:8443/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://registry.internal/",
        "https://me@api.pinned.dev/",
        "https://api.pinned.dev/#x",
        "api.pinned.dev",
        "",
    ] {
        assert!(DownloadBase::parse(text).is_err(), "{text}");
    }
}
