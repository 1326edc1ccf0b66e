//! What is asked, of whom, and what is not.

use std::time::Duration;

use pinhole_manifest::Access;
use serde_json::json;

use super::scripted::{Reply, Scripted};
use super::{catalog, endpoint, id, public, secret};
use crate::entropy::SystemEntropy;
use crate::net::Sent;
use crate::oauth::{Client, Scopes, TokenError, TokenKind, Verifier};

const REDIRECT: &str = "http://127.0.0.1:49152/callback";

fn confidential() -> Client {
    Client::Confidential { id: id(), secret: secret("s3cret") }
}

#[tokio::test]
async fn a_code_is_exchanged_with_the_verifier_and_the_very_redirect() {
    let (catalog, client) = (catalog(&json!({})), public());
    let wire = Scripted::new([Reply::pair()]);
    let verifier = Verifier::new(&SystemEntropy).unwrap();
    let asked = endpoint(&wire, &catalog, &client);
    let pair = asked.exchange(&secret("c+de/1"), Some(&verifier), REDIRECT, Access::Read).await.unwrap();
    assert_eq!((pair.access.expose(), pair.refresh.unwrap().expose()), ("access-2", "refresh-2"));
    let asked = wire.asked().remove(0);
    assert_eq!(asked.url, "https://id.thing.dev/token");
    assert_eq!(asked.authorization, None);
    let expected = [
        ("client_id", "client-1"),
        ("grant_type", "authorization_code"),
        ("code", "c+de/1"),
        ("redirect_uri", REDIRECT),
        ("code_verifier", verifier.expose()),
    ];
    let form: Vec<_> = asked.form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(form, expected);
    assert_eq!(asked.limits.response_bytes, 64 << 10);
    assert_eq!(asked.limits.deadline, Duration::from_secs(10));
}

#[tokio::test]
async fn a_client_s_secret_is_shown_where_the_manifest_says() {
    let client = confidential();
    for (auth, in_form) in [("post", Some("s3cret")), ("basic", None)] {
        let catalog = catalog(&json!({"client_auth": auth}));
        let wire = Scripted::new([Reply::pair()]);
        endpoint(&wire, &catalog, &client).refresh(&secret("refresh-1")).await.unwrap();
        let asked = wire.asked().remove(0);
        assert_eq!(asked.field("client_secret"), in_form);
        assert_eq!(asked.authorization.is_some(), in_form.is_none());
        assert_eq!(asked.field("grant_type"), Some("refresh_token"));
        assert_eq!(asked.field("refresh_token"), Some("refresh-1"));
    }
}

#[tokio::test]
async fn nobody_goes_without_pkce_who_need_not() {
    let verifier = Verifier::new(&SystemEntropy).unwrap();
    let (with, without) = (catalog(&json!({})), catalog(&json!({"pkce": false})));
    let wire = Scripted::new([Reply::pair()]);
    let (public, confidential) = (public(), confidential());
    let code = secret("code");
    for (catalog, client, verifier) in [
        (&without, &public, Some(&verifier)),
        (&without, &public, None),
        (&with, &public, None),
        (&with, &confidential, None),
    ] {
        let asked = endpoint(&wire, catalog, client);
        let refused = asked.exchange(&code, verifier, REDIRECT, Access::Read).await.unwrap_err();
        assert_eq!(refused.sent(), Sent::No);
    }
    assert!(wire.asked().is_empty());
    let asked = endpoint(&wire, &without, &confidential);
    asked.exchange(&code, None, REDIRECT, Access::Read).await.unwrap();
}

#[tokio::test]
async fn a_host_that_is_dialled_elsewhere_is_asked_nothing() {
    // The credential was proved at a stand-in, or at the real host, and this is the other.
    let catalog = catalog(&json!({
        "token_url": "https://id.elsewhere.dev/token", "revoke_url": "https://id.elsewhere.dev/revoke",
        "device_url": "https://id.elsewhere.dev/device"
    }));
    let (client, wire) = (public(), Scripted::new([]));
    let asked = endpoint(&wire, &catalog, &client);
    assert_eq!(asked.refresh(&secret("r")).await.unwrap_err(), TokenError::Dial);
    assert_eq!(asked.revoke(&secret("r"), TokenKind::Refresh).await.unwrap_err(), TokenError::Dial);
    assert_eq!(asked.device(Access::Read).await.unwrap_err(), TokenError::Dial);
    assert!(wire.asked().is_empty());
}

#[tokio::test]
async fn a_read_connection_that_was_given_writes_is_given_up_again() {
    let (catalog, client) = (catalog(&json!({})), public());
    let verifier = Verifier::new(&SystemEntropy).unwrap();
    let too_much = r#"{"access_token":"a","refresh_token":"r","scope":"things:read things:write other"}"#;
    let wire = Scripted::new([Reply::json(200, too_much), Reply::json(200, ""), Reply::json(503, "")]);
    let asked = endpoint(&wire, &catalog, &client);
    let code = secret("code");
    let refused = asked.exchange(&code, Some(&verifier), REDIRECT, Access::Read).await.unwrap_err();
    assert_eq!(refused, TokenError::TooMuch { scopes: vec!["things:write".to_owned()] });
    let given_up: Vec<_> = wire.asked().into_iter().skip(1).collect();
    assert!(given_up.iter().all(|asked| asked.url == "https://id.thing.dev/revoke"));
    assert_eq!(given_up[0].field("token"), Some("r"));
    assert_eq!(given_up[0].field("token_type_hint"), Some("refresh_token"));
    assert_eq!(given_up[1].field("token"), Some("a"));

    // A write connection may have them; and what is neither is told.
    let wire = Scripted::new([Reply::json(200, too_much)]);
    let asked = endpoint(&wire, &catalog, &client);
    let pair = asked.exchange(&code, Some(&verifier), REDIRECT, Access::Write).await.unwrap();
    let scopes = super::super::asked(super::oauth(&catalog), Access::Write);
    assert_eq!(pair.scopes.beyond(scopes), ["other"]);
    assert!(pair.scopes.missing(scopes).is_empty());

    // A renewal loses no pair over it: the refresh token is spent.
    let wire = Scripted::new([Reply::json(200, too_much)]);
    let pair = endpoint(&wire, &catalog, &client).refresh(&secret("r")).await.unwrap();
    assert!(matches!(pair.scopes, Scopes::Given(given) if given.len() == 3));
}

#[tokio::test]
async fn a_token_is_given_up_whatever_the_answer_s_body() {
    let (catalog, client) = (catalog(&json!({})), public());
    for body in ["", "ok", "{}", "<html>"] {
        let wire = Scripted::new([Reply::Says(200, "text/html", body.to_owned())]);
        endpoint(&wire, &catalog, &client).revoke(&secret("r"), TokenKind::Refresh).await.unwrap();
    }
    for (status, body) in [(200, r#"{"error":"invalid_client"}"#), (400, "{}"), (503, ""), (404, "no")] {
        let wire = Scripted::new([Reply::json(status, body)]);
        let refused = endpoint(&wire, &catalog, &client).revoke(&secret("r"), TokenKind::Access).await;
        assert!(refused.is_err(), "{status} {body}");
    }
    let none = catalog_without_revoke();
    let wire = Scripted::new([]);
    let refused = endpoint(&wire, &none, &client).revoke(&secret("r"), TokenKind::Access).await.unwrap_err();
    assert!(matches!(refused, TokenError::NotOffered(_)));
}

fn catalog_without_revoke() -> crate::catalog::Catalog {
    let mut github = crate::catalog::Catalog::default();
    let manifest = json!({
        "pinhole": 1, "id": "thing", "version": "1.0.0", "name": "Thing", "summary": "Things.",
        "host": "api.thing.dev",
        "auth": {"scheme": "bearer", "oauth": {
            "authorize_url": "https://id.thing.dev/authorize", "token_url": "https://id.thing.dev/token"}},
        "ops": {"get_me": {"access": "read", "summary": "Me.", "request": {"method": "GET", "path": "/me"},
            "pick": {"fields": ["login"]},
            "args": {"type": "object", "additionalProperties": false, "properties": {}}}}
    });
    github.add(manifest.to_string().as_bytes(), crate::catalog::Source::UnsignedFile).unwrap();
    github
}

#[test]
fn neither_client_nor_endpoint_prints_a_secret() {
    let (catalog, client, wire) = (catalog(&json!({})), confidential(), Scripted::new([]));
    let shown = format!("{client:?} {:?}", endpoint(&wire, &catalog, &client));
    assert!(!shown.contains("s3cret") && shown.contains("client-1"), "{shown}");
}
