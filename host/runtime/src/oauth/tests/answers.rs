//! Each odd answer, and what is made of it.

use std::time::Duration;

use serde_json::json;

use super::scripted::Reply;
use super::{NOW, refreshed};
use crate::net::{Sent, WireErrorKind};
use crate::oauth::{ErrorCode, Scopes, TokenError, Unreadable};

fn unreadable(what: Unreadable) -> TokenError {
    TokenError::Unreadable { what, sent: Sent::Yes }
}

fn code(text: &str) -> ErrorCode {
    ErrorCode::known(text).unwrap()
}

#[tokio::test]
async fn a_pair_is_read_as_json_or_as_a_form_whatever_the_content_type_says() {
    let json = r#"{"access_token":"a\/1","refresh_token":"r+1","token_type":"Bearer","expires_in":3600,"scope":"things:read"}"#;
    let form = "access_token=a%2F1&refresh_token=r%2B1&token_type=bearer&expires_in=3600&scope=things%3Aread";
    for body in [json, form, &format!("\u{feff}{json}"), &format!("{form}\n")] {
        for kind in ["application/json", "application/x-www-form-urlencoded", "text/html", "text/plain"] {
            let pair = refreshed(Reply::Says(200, kind, body.to_owned())).await.unwrap();
            assert_eq!(pair.access.expose(), "a/1", "{body}");
            assert_eq!(pair.refresh.unwrap().expose(), "r+1");
            assert_eq!(pair.expires_at, Some(NOW.plus_secs(3600)));
            assert_eq!(pair.obtained_at, NOW);
            assert_eq!(pair.scopes, Scopes::Given(vec!["things:read".to_owned()]));
        }
    }
}

/// The shapes that the services of the manifests document.
#[tokio::test]
async fn the_answers_of_known_services_are_pairs() {
    for (body, life, scopes) in [
        (
            r#"{"ok":true,"app_id":"A1","authed_user":{"id":"U1"},"access_token":"a","token_type":"user","refresh_token":"r",
                "expires_in":43200,"scope":"search:read,channels:read","team":{"id":"T1","name":"Wren"},"enterprise":null,
                "is_enterprise_install":false}"#,
            Some(43_200),
            &["channels:read", "search:read"][..],
        ),
        (
            "access_token=a&expires_in=28800&refresh_token=r&refresh_token_expires_in=15897600&scope=&token_type=bearer",
            Some(28_800),
            &[],
        ),
        (
            r#"{"access_token":"a","token_type":"Bearer","expires_in":7200,"refresh_token":"r","scope":"api read_user",
                "created_at":1607635748}"#,
            Some(7_200),
            &["api", "read_user"],
        ),
        (
            r#"{"access_token":"a","refresh_token":"r","expires_in":2591999,"expires_at":"2024-11-27T23:20:21.054320Z",
                "token_type":"bearer","scope":"org:read project:read","user":{"id":"2","name":"wren","email":"w@example.org"}}"#,
            Some(2_591_999),
            &["org:read", "project:read"],
        ),
        (r#"{"access_token":"a","token_type":"Bearer","refresh_token":"r"}"#, None, &[]),
    ] {
        let pair = refreshed(Reply::json(200, body)).await.unwrap();
        assert_eq!((pair.access.expose(), pair.refresh.unwrap().expose()), ("a", "r"), "{body}");
        assert_eq!(pair.expires_at, life.map(|life| NOW.plus_secs(life)), "{body}");
        let given = Scopes::Given(scopes.iter().map(|scope| (*scope).to_owned()).collect());
        assert_eq!(pair.scopes, if scopes.is_empty() { Scopes::AsAsked } else { given }, "{body}");
    }
}

#[tokio::test]
async fn an_answer_without_a_new_refresh_token_leaves_the_old_one() {
    for rest in ["", r#","refresh_token":null"#, r#","refresh_token":"""#] {
        let pair = refreshed(Reply::json(200, format!(r#"{{"access_token":"a"{rest}}}"#))).await.unwrap();
        assert!(pair.refresh.is_none(), "{rest}");
        assert_eq!((pair.expires_at, pair.scopes), (None, Scopes::AsAsked));
    }
}

#[tokio::test]
async fn how_long_it_lives_may_be_a_number_a_text_or_nonsense() {
    let ten_years = 10 * 365 * 24 * 3600;
    for (written, life) in [
        ("3600", Some(3600)),
        ("\"3600\"", Some(3600)),
        ("\" 3600 \"", Some(3600)),
        ("3600.9", Some(3600)),
        ("\"3600.5\"", Some(3600)),
        ("3.6e3", Some(3600)),
        ("1e300", Some(ten_years)),
        ("99999999999999999999999", Some(ten_years)),
        ("9223372036854775807", Some(ten_years)),
        ("0", None),
        ("-5", None),
        ("-1e300", None),
        ("0.5", None),
        ("\"\"", None),
        ("\"NaN\"", None),
        ("\"soon\"", None),
        ("null", None),
        ("true", None),
        ("[3600]", None),
        ("{}", None),
    ] {
        let pair =
            refreshed(Reply::json(200, format!(r#"{{"access_token":"a","expires_in":{written}}}"#))).await;
        assert_eq!(pair.unwrap().expires_at, life.map(|life| NOW.plus_secs(life)), "{written}");
    }
}

#[tokio::test]
async fn an_error_is_one_whatever_its_status() {
    for (text, expected) in [
        ("invalid_grant", TokenError::Dead { code: code("invalid_grant") }),
        ("bad_refresh_token", TokenError::Dead { code: code("bad_refresh_token") }),
        ("token_revoked", TokenError::Dead { code: code("token_revoked") }),
        ("invalid_client", TokenError::Client { code: Some(code("invalid_client")) }),
        ("unauthorized_client", TokenError::Client { code: Some(code("unauthorized_client")) }),
        ("invalid_scope", TokenError::Refused { code: Some(code("invalid_scope")) }),
        ("access_denied", TokenError::Refused { code: Some(code("access_denied")) }),
        (
            "temporarily_unavailable",
            TokenError::Unavailable { sent: Sent::Yes, retry_after: None, kind: None },
        ),
        ("something_of_its_own", TokenError::Refused { code: None }),
    ] {
        for status in [200, 400, 403] {
            let body = json!({"ok": false, "error": text, "error_description": "<b>"});
            assert_eq!(refreshed(Reply::json(status, body)).await.unwrap_err(), expected, "{text} {status}");
            let form = Reply::Says(status, "text/plain", format!("error={text}&error_description=x"));
            assert_eq!(refreshed(form).await.unwrap_err(), expected, "{text} {status}");
        }
    }
    let nested = json!({"error": {"message": "no"}});
    assert_eq!(refreshed(Reply::json(200, &nested)).await.unwrap_err(), TokenError::Refused { code: None });
    assert_eq!(refreshed(Reply::json(401, &nested)).await.unwrap_err(), TokenError::Client { code: None });
    let page = Reply::Says(401, "text/html", "<p>no".to_owned());
    assert_eq!(refreshed(page).await.unwrap_err(), TokenError::Client { code: None });
}

#[tokio::test]
async fn a_server_that_is_not_well_says_nothing_of_the_grant() {
    // A gateway that copies a body, or an error page that happens to hold the words, ends nobody's connection.
    for status in [408, 429, 500, 502, 503, 504] {
        let body = json!({"error": "invalid_grant"});
        let expected = TokenError::Unavailable { sent: Sent::Yes, retry_after: None, kind: None };
        assert_eq!(refreshed(Reply::json(status, body)).await.unwrap_err(), expected, "{status}");
        let TokenError::Unavailable { retry_after, .. } =
            refreshed(Reply::After(status, "17")).await.unwrap_err()
        else {
            panic!("{status}")
        };
        assert_eq!(retry_after, Some(Duration::from_secs(17)));
    }
    let passing = Reply::json(200, json!({"access_token": "a"}));
    assert!(refreshed(passing).await.is_ok());
    // One that comes with a pair has spent the one before: it is not thrown away for a status that somebody in between gave it.
    let late = Reply::json(503, json!({"access_token": "a"}));
    assert_eq!(refreshed(late).await.unwrap().access.expose(), "a");
    let both = Reply::json(503, json!({"access_token": "a", "error": "server_error"}));
    assert!(matches!(refreshed(both).await.unwrap_err(), TokenError::Unavailable { .. }));
}

#[tokio::test]
async fn what_is_not_an_answer_is_said_to_be_none() {
    let long = "x".repeat(8193);
    let deep = "[".repeat(40_000);
    for (body, what) in [
        ("", Unreadable::Syntax),
        ("<html><a href=\"?a=1&access_token=stolen\">", Unreadable::Syntax),
        ("hello", Unreadable::Syntax),
        ("a=1&b=2", Unreadable::Syntax),
        ("access_token=%ff", Unreadable::Syntax),
        ("[]", Unreadable::Syntax),
        ("{", Unreadable::Syntax),
        (r#"{"access_token":"a"} x"#, Unreadable::Syntax),
        (r#"{"access_token":"a"}{"access_token":"b"}"#, Unreadable::Syntax),
        (&format!(r#"{{"access_token":"a","x":{deep}"#), Unreadable::Syntax),
        ("{}", Unreadable::NoToken),
        (r#"{"ok":true}"#, Unreadable::NoToken),
        (r#"{"access_token":""}"#, Unreadable::NoToken),
        (r#"{"access_token":null}"#, Unreadable::NoToken),
        (r#"{"access_token":7}"#, Unreadable::NoToken),
        (r#"{"access_token":"a b"}"#, Unreadable::Token),
        (r#"{"access_token":"a\r\nx-evil: 1"}"#, Unreadable::Token),
        (r#"{"access_token":"a","refresh_token":"b c"}"#, Unreadable::Token),
        (r#"{"access_token":"a","refresh_token":7}"#, Unreadable::Token),
        (&format!(r#"{{"access_token":"{long}"}}"#), Unreadable::Token),
        (r#"{"access_token":"a","token_type":"mac"}"#, Unreadable::TokenType),
        (r#"{"access_token":"a","token_type":"DPoP"}"#, Unreadable::TokenType),
        (r#"{"access_token":"a","token_type":["bearer"]}"#, Unreadable::TokenType),
        (r#"{"access_token":"a","access_token":"b"}"#, Unreadable::Ambiguous),
        (r#"{"access_token":"a","x":1,"x":2}"#, Unreadable::Ambiguous),
        (r#"{"access_token":"a","error":"invalid_grant"}"#, Unreadable::Ambiguous),
        ("access_token=a&access_token=b", Unreadable::Ambiguous),
        ("access_token=a&acc%65ss_token=b", Unreadable::Ambiguous),
    ] {
        let refused = refreshed(Reply::json(200, body)).await.unwrap_err();
        assert_eq!(refused, unreadable(what), "{}", body.get(..60).unwrap_or(body));
    }
    let large = format!(r#"{{"access_token":"a","x":"{}"}}"#, "x".repeat(64 << 10));
    assert_eq!(refreshed(Reply::json(200, large)).await.unwrap_err(), unreadable(Unreadable::Body));
    let page = Reply::Says(403, "text/html", "<h1>Sign in to the network</h1>".to_owned());
    assert_eq!(refreshed(page).await.unwrap_err(), unreadable(Unreadable::Syntax));
}

#[tokio::test]
async fn an_answer_that_did_not_come_says_whether_it_was_asked() {
    for (kind, sent) in [
        (WireErrorKind::Connect, Sent::No),
        (WireErrorKind::AddressRefused, Sent::No),
        (WireErrorKind::Interrupted, Sent::Maybe),
        (WireErrorKind::Redirected { status: http::StatusCode::FOUND }, Sent::Yes),
    ] {
        let refused = refreshed(Reply::Fails(kind, sent)).await.unwrap_err();
        assert_eq!(refused, TokenError::Unavailable { sent, retry_after: None, kind: Some(kind) });
        assert_eq!(refused.sent(), sent);
    }
    let refused = refreshed(Reply::Fails(WireErrorKind::ResponseTooLarge, Sent::Yes)).await.unwrap_err();
    assert_eq!(refused, unreadable(Unreadable::Body));
}

#[tokio::test]
async fn no_text_of_the_server_s_is_in_an_error() {
    for body in [
        json!({"error": "leaked-secret", "error_description": "leaked-secret"}).to_string(),
        json!({"error": "invalid_grant", "error_description": "leaked-secret", "error_uri": "leaked-secret"})
            .to_string(),
        json!({"access_token": "leaked-secret", "token_type": "leaked-secret"}).to_string(),
        json!({"access_token": "leaked-secret", "error": "leaked-secret"}).to_string(),
        "leaked-secret".to_owned(),
    ] {
        let refused = refreshed(Reply::json(400, &body)).await.unwrap_err();
        assert!(!format!("{refused}{refused:?}").contains("leaked"), "{refused:?}");
        let refused = refreshed(Reply::json(200, &body)).await.unwrap_err();
        assert!(!format!("{refused}{refused:?}").contains("leaked"), "{refused:?}");
    }
}

#[tokio::test]
async fn scopes_may_be_a_list() {
    for written in [r#"["things:read","x"]"#, r#""things:read x""#, r#""x,things:read""#] {
        let pair = refreshed(Reply::json(200, format!(r#"{{"access_token":"a","scope":{written}}}"#))).await;
        let scopes = Scopes::Given(vec!["things:read".to_owned(), "x".to_owned()]);
        assert_eq!(pair.unwrap().scopes, scopes, "{written}");
    }
}
