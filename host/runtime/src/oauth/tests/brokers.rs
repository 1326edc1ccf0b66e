//! What a broker says without a signature, and who stands between: what it means for a refresh token that may be spent.

use std::time::Duration;

use pinhole_grant::{KeyKind, PublicKey, SecretKey, UnixTime};
use pinhole_manifest::ServiceId;
use pinhole_manifest::host::HttpsUrl;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::json;

use super::scripted::{DIAL, Reply, Scripted};
use crate::entropy::SystemEntropy;
use crate::net::{Sent, WireErrorKind};
use crate::oauth::TokenError;
use crate::oauth::broker::{BrokerClient, BrokerError, Word};

fn key(kind: KeyKind) -> SecretKey {
    SecretKey::generate(kind, &mut StdRng::seed_from_u64(5))
}

async fn refused(reply: Reply) -> BrokerError {
    let wire = Scripted::new([reply]);
    let url = HttpsUrl::parse("https://broker.thing.dev/").unwrap();
    let (own, broker): (_, PublicKey) = (key(KeyKind::Bot), key(KeyKind::Broker).public().clone());
    let client = BrokerClient {
        wire: &wire,
        url: &url,
        key: &broker,
        own: &own,
        dial: DIAL,
        now: UnixTime::from_secs(1_800_000_000),
        entropy: &SystemEntropy,
    };
    let refresh = pinhole_grant::Secret::new("refresh-1".to_owned()).unwrap();
    let error = client.refresh(&ServiceId::parse("github").unwrap(), &refresh).await.unwrap_err();
    let asked = wire.asked().remove(0);
    assert_eq!(asked.url, "https://broker.thing.dev/oauth/refresh");
    error
}

fn says(status: u16, code: &str) -> Reply {
    Reply::json(status, json!({"error": {"code": code, "message": "as it may be"}}))
}

#[tokio::test]
async fn a_refusal_in_its_own_words_has_passed_nothing_on() {
    for (status, code, word) in [
        (403, "unknown_key", Word::UnknownKey),
        (403, "not_now", Word::NotNow),
        (429, "too_fast", Word::TooFast),
        (400, "not_an_ask", Word::NotAnAsk),
        (404, "no_service", Word::NoService),
    ] {
        let error = refused(says(status, code)).await;
        assert!(matches!(error, BrokerError::Refused(said) if said == word), "{code}: {error:?}");
        assert_eq!(
            TokenError::from(error).sent(),
            if word == Word::TooFast || word == Word::NotNow { Sent::No } else { Sent::Yes }
        );
    }
}

#[tokio::test]
async fn whatever_may_have_been_passed_on_counts_as_if_it_was() {
    // A second try that something on the way made, a broker that broke down after it had asked, and who is no broker.
    for reply in [
        says(409, "seen_before"),
        says(500, "broken"),
        says(503, "a_word_of_tomorrow"),
        Reply::json(502, "<html>bad gateway</html>"),
        Reply::Fails(WireErrorKind::Connect, Sent::Maybe),
    ] {
        let error = TokenError::from(refused(reply).await);
        assert!(matches!(error, TokenError::Unavailable { sent: Sent::Maybe, .. }), "{error:?}");
    }
    let later = TokenError::from(refused(Reply::After(503, "7")).await);
    let seven = Some(Duration::from_secs(7));
    assert_eq!(later, TokenError::Unavailable { sent: Sent::Maybe, retry_after: seven, kind: None });
    for rubbish in [Reply::json(200, "{}"), Reply::json(200, ""), says(200, "unknown_key")] {
        let error = TokenError::from(refused(rubbish).await);
        assert!(matches!(error, TokenError::Unreadable { sent: Sent::Maybe, .. }), "{error:?}");
    }
}
