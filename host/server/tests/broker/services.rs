//! What a service behind the broker may do: refuse, answer rubbish, be away. Who asked is told what to do about it.

use std::time::Duration;

use pinhole_manifest::Access;
use pinhole_runtime::net::Sent;
use pinhole_runtime::oauth::broker::BrokerError;
use pinhole_runtime::oauth::{TokenError, Unreadable};
use pinhole_standin::{Cut, Misbehaviour, Reply, When};
use serde_json::json;

use crate::stage::{ACCESS, CLIENT_SECRET, REFRESH, Setup, Stage, bot, known, member, secret, service};

async fn refreshed(scene: &Stage) -> TokenError {
    let (own, at) = (bot(), known());
    let error = scene.asking(&own, &at).refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
    let shown = format!("{error:?} {error}");
    assert!(!shown.contains(CLIENT_SECRET) && !shown.contains(REFRESH), "{shown}");
    error.into()
}

async fn answering(reply: Reply) -> TokenError {
    refreshed(&Setup::github(reply).start().await).await
}

#[tokio::test]
async fn a_dead_token_is_dead_and_nothing_else_is() {
    // GitHub says so with 200.
    for status in [200, 400] {
        let dead = answering(Reply::json(status, &json!({"error": "bad_refresh_token"}))).await;
        assert!(
            matches!(dead, TokenError::Dead { code } if code.as_str() == "bad_refresh_token"),
            "{dead:?}"
        );
    }
    let client = answering(Reply::json(401, &json!({"error": "invalid_client"}))).await;
    assert!(matches!(client, TokenError::Client { code: Some(_) }), "{client:?}");
    let other = answering(Reply::json(400, &json!({"error": REFRESH}))).await;
    assert!(matches!(other, TokenError::Refused { code: None }), "{other:?}");
}

#[tokio::test]
async fn rubbish_is_unreadable_and_may_have_used_the_token_up() {
    for rubbish in [
        "",
        "<html>",
        "{\"access_token\":1}",
        "{\"access_token\":\"a b\"}",
        "{\"access_token\":\"a\",\"access_token\":\"b\"}",
    ] {
        let error = answering(Reply::json_text(200, rubbish)).await;
        let unreadable = TokenError::Unreadable { what: Unreadable::AtTheBroker, sent: Sent::Yes };
        assert_eq!(error, unreadable, "{rubbish}");
    }
}

#[tokio::test]
async fn a_service_that_is_away_comes_back_later() {
    let later = answering(Reply::json(503, &json!({})).header("retry-after", "7")).await;
    assert_eq!(
        later,
        TokenError::Unavailable { sent: Sent::Yes, retry_after: Some(Duration::from_secs(7)), kind: None }
    );
    let scene = Stage::new().await;
    scene.github.misbehave(When::Always, Misbehaviour::Cut(Cut::BeforeStatus));
    let away = refreshed(&scene).await;
    assert!(matches!(away, TokenError::Unavailable { sent: Sent::Maybe, .. }), "{away:?}");
    scene.github.misbehave(
        When::Always,
        Misbehaviour::Redirect { status: 302, location: "https://evil.example/".to_owned() },
    );
    assert!(matches!(refreshed(&scene).await, TokenError::Unavailable { .. }));
    scene.github.behave();
    let (own, at) = (bot(), known());
    assert!(scene.asking(&own, &at).refresh(&service("github"), &secret(REFRESH)).await.is_ok());
}

#[tokio::test]
async fn a_read_connection_gets_no_pair_that_may_write() {
    let wide = json!({"access_token": ACCESS, "token_type": "bearer", "scope": "read:user,repo"});
    let scene = Setup::github(Reply::json(200, &wide)).start().await;
    let (own, at) = (member(), known());
    let code = scene.code("github").await;
    let pair =
        scene.asking(&own, &at).exchange(&service("github"), Access::Read, code, &scene.verifier).await;
    let Err(BrokerError::Token(TokenError::TooMuch { scopes })) = pair else { panic!("{pair:?}") };
    assert_eq!(scopes, ["repo"]);
    let code = scene.code_with("github", &scene.started_with("cap", "write")).await;
    let pair =
        scene.asking(&own, &at).exchange(&service("github"), Access::Write, code, &scene.verifier).await;
    assert!(pair.is_ok(), "{pair:?}");
}

#[tokio::test]
async fn an_answer_without_a_refresh_token_leaves_the_old_one() {
    let kept =
        Setup::github(Reply::json(200, &json!({"access_token": ACCESS, "expires_in": "3600"}))).start().await;
    let (own, at) = (bot(), known());
    let pair = kept.asking(&own, &at).refresh(&service("github"), &secret(REFRESH)).await.unwrap();
    assert!(pair.refresh.is_none());
    assert_eq!(pair.expires_at, Some(pair.obtained_at.plus_secs(3600)));
}
