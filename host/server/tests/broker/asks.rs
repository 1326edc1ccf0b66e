//! Asking the broker: who may, what, when, how often; and that nothing else gets as far as a service.

use std::time::Duration;

use pinhole_grant::{Dial, KeyKind, SecretKey};
use pinhole_manifest::Access;
use pinhole_manifest::host::HttpsUrl;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::net::Sent;
use pinhole_runtime::oauth::broker::{BrokerClient, BrokerError, Word};
use pinhole_runtime::oauth::{TokenError, Unreadable, Verifier};
use pinhole_server::broker::BrokerLimits;
use pinhole_server::http::{HttpLimits, Rate};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::browser::{Ask, answer};
use crate::forged;
use crate::stage::{NOW, Parts, REFRESH, Setup, Stage, bot, broker_key, key, known, member, secret, service};

async fn posted(scene: &Stage, path: &str, body: &[u8]) -> (u16, String) {
    let answer = scene.browser.another().ask(Ask::json(path, body)).await;
    if answer.status == 200 { (200, String::new()) } else { (answer.status, answer.code()) }
}

#[tokio::test]
async fn a_code_is_good_for_one_exchange_as_it_was_begun() {
    let scene = Stage::new().await;
    let (own, at) = (member(), known());
    let asking = scene.asking(&own, &at);
    let another = Verifier::new(&SystemEntropy).unwrap();
    for (name, cap, verifier) in [
        ("github", Access::Read, &another),
        ("github", Access::Write, &scene.verifier),
        ("gitlab", Access::Read, &scene.verifier),
    ] {
        let code = scene.code("github").await;
        let copy = secret(code.expose());
        let wrong = asking.exchange(&service(name), cap, code, verifier).await;
        assert!(matches!(wrong, Err(BrokerError::BadCode)), "{name} {cap}: {wrong:?}");
        let after = asking.exchange(&service("github"), Access::Read, copy, &scene.verifier).await;
        assert!(matches!(after, Err(BrokerError::BadCode)), "{after:?}");
    }
    let guessed =
        asking.exchange(&service("github"), Access::Read, secret(&"A".repeat(43)), &scene.verifier).await;
    assert!(matches!(guessed, Err(BrokerError::BadCode)), "{guessed:?}");
    assert!(scene.github.requests().is_empty() && scene.gitlab.requests().is_empty());
    let code = scene.code("github").await;
    let copy = secret(code.expose());
    asking.exchange(&service("github"), Access::Read, code, &scene.verifier).await.unwrap();
    let again = asking.exchange(&service("github"), Access::Read, copy, &scene.verifier).await;
    assert!(matches!(again, Err(BrokerError::BadCode)), "{again:?}");
    assert_eq!(scene.github.requests().len(), 1);
}

#[tokio::test]
async fn a_captured_ask_is_not_taken_a_second_time() {
    let scene = Stage::new().await;
    let ask = forged::ask(&bot(), &forged::refresh());
    assert_eq!(posted(&scene, "/oauth/refresh", &ask).await, (200, String::new()));
    assert_eq!(posted(&scene, "/oauth/refresh", &ask).await, (409, "seen_before".to_owned()));
    // Sealed anew, it is the same ask.
    let sealed_anew = forged::ask(&bot(), &forged::refresh());
    assert_eq!(posted(&scene, "/oauth/refresh", &sealed_anew).await, (409, "seen_before".to_owned()));
    // Another's ask may have the same nonce.
    let of_another = json!({"revoke": {"service": "gitlab", "token": "t", "half": "refresh"}});
    assert_eq!(posted(&scene, "/oauth/revoke", &forged::ask(&member(), &of_another)).await.0, 200);
    // To the last moment at which it could be good, and with the clock set back.
    scene.time.pass(Duration::from_mins(1));
    assert_eq!(posted(&scene, "/oauth/refresh", &ask).await, (409, "seen_before".to_owned()));
    scene.time.pass(Duration::from_secs(1));
    assert_eq!(posted(&scene, "/oauth/refresh", &ask).await, (403, "not_now".to_owned()));
    let later = forged::with(&bot(), &forged::refresh(), |ask| ask["at"] = json!(NOW + 90));
    assert_eq!(posted(&scene, "/oauth/refresh", &later).await.0, 200);
    scene.time.set(NOW);
    assert_eq!(posted(&scene, "/oauth/refresh", &ask).await, (403, "not_now".to_owned()));
    assert_eq!(scene.github.requests().len(), 2);
}

#[tokio::test]
async fn an_ask_is_for_this_broker_and_for_now() {
    let scene = Stage::new().await;
    let ask = |name: &str, value: serde_json::Value| {
        forged::with(&bot(), &forged::refresh(), |ask| ask[name] = value)
    };
    let elsewhere = forged::to(key(KeyKind::Broker, 99).public(), &bot(), &forged::refresh(), |_ask| {});
    for (body, status, code) in [
        (ask("audience", json!("https://other.pinhole.dev/")), 403, "other_broker"),
        (ask("audience", json!("https://broker.pinhole.dev")), 403, "other_broker"),
        (ask("to", json!(key(KeyKind::Broker, 99).public().id())), 403, "other_broker"),
        (elsewhere, 400, "not_an_ask"),
        (ask("at", json!(NOW - 61)), 403, "not_now"),
        (ask("at", json!(NOW + 61)), 403, "not_now"),
        // Another process of this broker may have taken it.
        (ask("at", json!(NOW - 1)), 403, "not_now"),
        (ask("from", json!(member().public().id())), 403, "bad_signature"),
        (ask("more", json!(1)), 400, "not_an_ask"),
        (b"{}".to_vec(), 400, "not_an_ask"),
        (Vec::new(), 400, "not_an_ask"),
    ] {
        assert_eq!(posted(&scene, "/oauth/refresh", &body).await, (status, code.to_owned()));
    }
    assert!(scene.github.requests().is_empty());
}

#[tokio::test]
async fn only_keys_on_the_list_ask_and_each_kind_its_own() {
    let scene = Stage::new().await;
    let exchange = json!({"exchange": {"service": "github", "cap": "read", "code": "c", "verifier": "v"}});
    let revoke = json!({"revoke": {"service": "gitlab", "token": "t", "half": "refresh"}});
    let refresh = forged::refresh();
    let refused = |signer: SecretKey, what, path: &'static str| {
        let body = forged::ask(&signer, what);
        let scene = &scene;
        async move { posted(scene, path, &body).await }
    };
    let unknown = (403, "unknown_key".to_owned());
    assert_eq!(refused(key(KeyKind::Bot, 77), &refresh, "/oauth/refresh").await, unknown);
    assert_eq!(refused(key(KeyKind::Member, 77), &exchange, "/oauth/exchange").await, unknown);
    assert_eq!(refused(broker_key(), &refresh, "/oauth/refresh").await, unknown);
    let wrong = (403, "wrong_asker".to_owned());
    assert_eq!(refused(member(), &refresh, "/oauth/refresh").await, wrong);
    assert_eq!(refused(bot(), &exchange, "/oauth/exchange").await, wrong);
    assert_eq!(refused(bot(), &revoke, "/oauth/revoke").await, wrong);
    let elsewhere = (400, "other_place".to_owned());
    assert_eq!(refused(bot(), &refresh, "/oauth/exchange").await, elsewhere);
    assert_eq!(refused(member(), &revoke, "/oauth/exchange").await, elsewhere);
    assert_eq!(refused(member(), &exchange, "/oauth/refresh").await, elsewhere);
    assert!(scene.github.requests().is_empty() && scene.gitlab.requests().is_empty());

    // As those see it who ask.
    let (stranger, at) = (key(KeyKind::Bot, 77), known());
    let error = scene.asking(&stranger, &at).refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
    assert!(matches!(error, BrokerError::Refused(Word::UnknownKey)), "{error:?}");
    assert_eq!(TokenError::from(error), TokenError::Client { code: None });
    let (own, at) = (bot(), known());
    let error = scene.asking(&own, &at).refresh(&service("slack"), &secret(REFRESH)).await.unwrap_err();
    assert!(matches!(error, BrokerError::Refused(Word::NoService)), "{error:?}");
    let early = BrokerClient { now: pinhole_grant::UnixTime::from_secs(NOW + 61), ..scene.asking(&own, &at) };
    let error = early.refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
    assert!(matches!(error, BrokerError::Refused(Word::NotNow)), "{error:?}");
}

#[tokio::test]
async fn an_answer_of_another_key_is_not_taken_and_no_other_host_is_dialled() {
    let scene = Stage::new().await;
    let own = bot();
    let pinned = Parts { key: key(KeyKind::Broker, 99).public().clone(), ..known() };
    let error = scene.asking(&own, &pinned).refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
    assert!(matches!(error, BrokerError::Refused(Word::NotAnAsk)), "{error:?}");
    let at = known();
    let real = BrokerClient { dial: Dial::Real, ..scene.asking(&own, &at) };
    let error = real.refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
    assert!(matches!(error, BrokerError::Token(TokenError::Dial)), "{error:?}");
    for url in ["https://broker.pinhole.dev/oauth", "https://broker.pinhole.dev/?a=b"] {
        let at = Parts { url: HttpsUrl::parse(url).unwrap(), ..known() };
        let error = scene.asking(&own, &at).refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
        assert!(matches!(error, BrokerError::Refused(Word::OtherBroker)), "{url}: {error:?}");
    }
    assert!(scene.github.requests().is_empty());
    assert_eq!(Unreadable::NotTheBrokers.to_string(), "it is not the broker's own");
}

#[tokio::test]
async fn an_ask_is_json_of_a_bounded_length_and_comes_in_time() {
    let scene = Stage::new().await;
    let ask = forged::ask(&bot(), &forged::refresh());
    let mut browser = scene.browser.another();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/json, text/plain"] {
        let answer = browser.ask(Ask::json("/oauth/refresh", &ask).with("content-type", kind)).await;
        assert_eq!((answer.status, answer.code().as_str()), (415, "media_type"), "{kind}");
    }
    let elsewhere =
        browser.ask(Ask::json("/oauth/refresh", &ask).header("origin", "https://evil.example")).await;
    assert_eq!(elsewhere.status, 403);
    assert_eq!(posted(&scene, "/oauth/refresh", &vec![b' '; 200 << 10]).await, (413, "too_large".to_owned()));

    let mut slow = scene.browser.connect().await;
    let head = Ask::json("/oauth/refresh", b"").head(100);
    slow.write_all(&head).await.unwrap();
    slow.write_all(b"{").await.unwrap();
    scene.time.is_waited_for().await;
    scene.time.pass(HttpLimits::default().body_time);
    let answer = answer(&mut slow).await;
    assert_eq!((answer.status, answer.code().as_str()), (408, "too_slow"));
    assert!(scene.github.requests().is_empty());
}

#[tokio::test]
async fn a_key_asks_so_often_and_a_peer_fails_so_often() {
    let per = Duration::from_mins(1);
    let limits = BrokerLimits { asks: Rate { count: 3, per }, ..BrokerLimits::default() };
    let scene = Setup { limits, ..Setup::new() }.start().await;
    let (own, at) = (bot(), known());
    let refresh = || async { scene.asking(&own, &at).refresh(&service("github"), &secret(REFRESH)).await };
    for _ in 0..3 {
        refresh().await.unwrap();
    }
    let error = refresh().await.unwrap_err();
    let wait = Some(per);
    let too_fast = TokenError::Unavailable { sent: Sent::No, retry_after: wait, kind: None };
    assert!(matches!(&error, BrokerError::Token(token) if *token == too_fast), "{error:?}");
    // Another key is not held up.
    let another = member();
    let code = scene.code("github").await;
    let other =
        scene.asking(&another, &at).exchange(&service("github"), Access::Read, code, &scene.verifier).await;
    assert!(other.is_ok());
    scene.time.pass(per);
    assert!(refresh().await.is_ok());
    assert_eq!(scene.github.requests().len(), 5);

    let failures = HttpLimits::default().failures.count;
    for _ in 0..failures {
        assert_eq!(posted(&scene, "/oauth/refresh", b"rubbish").await.0, 400);
    }
    assert_eq!(posted(&scene, "/oauth/refresh", b"rubbish").await, (429, "too_many_failures".to_owned()));
    // Whoever has a good key is heard however much of that there is.
    assert!(refresh().await.is_ok());
}
