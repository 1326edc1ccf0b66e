//! The whole way: from a link in a terminal to a pair that only the member opens, and a fresh one for her bot.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use pinhole_grant::{Dial, KeyKind, Renewer, UnixTime};
use pinhole_manifest::Access;
use pinhole_manifest::ServiceId;
use pinhole_runtime::catalog::Catalog;
use pinhole_runtime::entropy::SystemEntropy;
use pinhole_runtime::oauth::broker::{ConfigError, config};
use pinhole_runtime::oauth::{TokenKind, challenge};
use pinhole_runtime::renew::{Ask as _, Asked, ByRenewer, Unanswered};
use pinhole_standin::Reply;
use serde_json::{Value, json};

use crate::browser::{Ask, pairs};
use crate::stage::{
    ACCESS, CLIENT_SECRET, CODE, HOST, NOW, REDIRECT, REFRESH, STATE, Setup, Stage, bot, broker_key, form,
    here, key, known, member, secret, service, start,
};

#[tokio::test]
async fn a_member_connects_and_her_bot_renews() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let page = browser.get(&start("github", &scene.started())).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("GitHub") && page.body.contains("github.com"), "{}", page.body);
    assert!(page.body.contains(&member().public().id().fingerprint()), "{}", page.body);
    assert!(page.body.contains("read:user notifications") && page.body.contains(REDIRECT), "{}", page.body);
    assert!(scene.github.requests().is_empty());

    let went = browser.ask(Ask::form("/oauth/github/go", &page.fields())).await.location();
    assert_eq!(
        (went.scheme(), went.host_str(), went.path()),
        ("https", Some("github.com"), "/login/oauth/authorize")
    );
    let asked = pairs(&went);
    let callback = format!("https://{HOST}/oauth/github/callback");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", "client-of-github"),
        ("redirect_uri", &callback),
        ("scope", "read:user notifications"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(asked[name], value, "{name}");
    }
    assert_eq!(asked["state"].len(), 43);

    let end = scene.back(&mut browser, "github", &asked["state"]).await.location();
    assert_eq!(end.as_str().split('?').next(), Some(REDIRECT));
    let mut end = pairs(&end);
    assert_eq!(end.remove("state").as_deref(), Some(STATE));
    let code = end.remove("code").unwrap();
    assert_eq!((code.len(), end), (43, BTreeMap::new()));
    assert_eq!(browser.cookie, None);
    assert!(scene.github.requests().is_empty());

    let (own, at) = (member(), known());
    let github = service("github");
    let asking = scene.asking(&own, &at);
    let pair = asking.exchange(&github, Access::Read, secret(&code), &scene.verifier).await.unwrap();
    assert_eq!((pair.access.expose(), pair.refresh.unwrap().expose()), (ACCESS, REFRESH));
    assert_eq!(pair.expires_at, Some(UnixTime::from_secs(NOW + 5)));
    let forms = form(&scene.github);
    let sent = &forms[0];
    assert_eq!(sent["grant_type"], "authorization_code");
    assert_eq!((sent["code"].as_str(), sent["redirect_uri"].as_str()), (CODE, callback.as_str()));
    assert_eq!(
        (sent["client_id"].as_str(), sent["client_secret"].as_str()),
        ("client-of-github", CLIENT_SECRET)
    );
    // The verifier there is the broker's own, of the challenge that the service was shown.
    assert_eq!(challenge(&sent["code_verifier"]), asked["code_challenge"]);
    assert_ne!(asked["code_challenge"], scene.verifier.challenge());

    let own = bot();
    let fresh = scene.asking(&own, &at).refresh(&service("github"), &secret(REFRESH)).await.unwrap();
    assert_eq!(fresh.access.expose(), ACCESS);
    let forms = form(&scene.github);
    assert_eq!(forms[1]["grant_type"], "refresh_token");
    assert_eq!(
        (forms[1]["refresh_token"].as_str(), forms[1]["client_secret"].as_str()),
        (REFRESH, CLIENT_SECRET)
    );
    assert_eq!(forms.len(), 2);

    // The same as a renewal does it, whose credential names the broker.
    let catalog = Catalog::built_in().unwrap();
    let manifest = &catalog.find(&github).unwrap().manifest;
    let renewer = Renewer::Broker { url: at.url.clone(), key: at.key.clone() };
    let asked = Asked {
        wire: &scene.client,
        bot: &own,
        entropy: &SystemEntropy,
        service: &github,
        oauth: manifest.auth().oauth.as_ref().unwrap(),
        renewer: &renewer,
        dial: Dial::Overridden,
        refresh: &secret(REFRESH),
        now: UnixTime::from_secs(NOW),
    };
    assert_eq!(ByRenewer.ask(asked).await.unwrap().access.expose(), ACCESS);
    let stranger = key(KeyKind::Bot, 77);
    let refused = ByRenewer.ask(Asked { bot: &stranger, ..asked }).await.unwrap_err();
    assert!(
        matches!(&refused, Unanswered::Refused { detail } if detail.contains("--allow KEY")),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_write_connection_asks_for_what_it_needs_and_is_exchanged_as_one() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let fields = scene.started_with("cap", "write");
    let page = browser.get(&start("github", &fields)).await;
    assert!(page.body.contains("read and write"), "{}", page.body);
    let went = browser.ask(Ask::form("/oauth/github/go", &page.fields())).await.location();
    assert_eq!(pairs(&went)["scope"], "read:user notifications repo");
    let end = scene.back(&mut browser, "github", &pairs(&went)["state"]).await.location();
    let (own, at) = (member(), known());
    let code = secret(&pairs(&end)["code"]);
    let pair =
        scene.asking(&own, &at).exchange(&service("github"), Access::Write, code, &scene.verifier).await;
    assert!(pair.is_ok());
}

#[tokio::test]
async fn a_token_is_given_up_where_the_service_has_a_place_for_that() {
    let scene = Stage::new().await;
    let (own, at) = (member(), known());
    let asking = scene.asking(&own, &at);
    asking.revoke(&service("gitlab"), &secret(REFRESH), TokenKind::Refresh).await.unwrap();
    let sent = form(&scene.gitlab).remove(0);
    assert_eq!((sent["token"].as_str(), sent["token_type_hint"].as_str()), (REFRESH, "refresh_token"));
    assert_eq!(sent["client_secret"], CLIENT_SECRET);
    assert!(asking.revoke(&service("github"), &secret(REFRESH), TokenKind::Refresh).await.is_err());
    assert!(scene.github.requests().is_empty());
}

#[tokio::test]
async fn a_broker_says_what_it_does_and_nothing_secret() {
    let scene = Stage::new().await;
    let mut browser = scene.browser.another();
    let said = |answer: crate::browser::Answer| -> Value { serde_json::from_str(&answer.body).unwrap() };
    let all = said(browser.get("/oauth/config").await);
    let own = broker_key().public().to_string();
    assert_eq!(all, json!({"broker": here().as_str(), "key": own, "services": ["github", "gitlab"]}));
    let one = said(browser.get("/oauth/config?service=github").await);
    assert_eq!(one["redirect"], format!("https://{HOST}/oauth/github/callback"));
    assert_eq!(
        one["scopes"],
        json!({"read": ["read:user", "notifications"], "write": ["read:user", "notifications", "repo"]})
    );
    assert!(!one.to_string().contains("client"), "{one}");
    for unknown in ["slack", "", "GitHub", "../etc"] {
        let answer = browser.get(&format!("/oauth/config?service={unknown}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (404, "no_service"), "{unknown}");
    }

    let catalog = Catalog::built_in().unwrap();
    let of = |name: &str| {
        catalog.find(&ServiceId::parse(name).unwrap()).unwrap().manifest.auth().oauth.as_ref().unwrap()
    };
    let known = config(&scene.client, &here(), &service("github"), of("github")).await.unwrap();
    assert_eq!(
        (known.key.kind(), known.start.as_str()),
        (KeyKind::Broker, "https://broker.pinhole.dev/oauth/github/start")
    );
    let other = config(&scene.client, &here(), &service("github"), of("gitlab")).await.unwrap_err();
    assert!(matches!(other, ConfigError::OtherManifest(_)), "{other:?}");
    let none = config(&scene.client, &here(), &service("slack"), of("slack")).await.unwrap_err();
    assert!(matches!(none, ConfigError::NoService(_)), "{none:?}");
}

/// Where a log goes that is read again.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_in_a_log_or_in_an_answer_that_is_not_sealed() {
    let written = Written::default();
    let into = written.clone();
    let log =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || into.clone());
    // For the whole process: one for a thread alone may not hear what others have been the first to say. So what the other
    // tests say is looked at too.
    tracing::subscriber::set_global_default(log.finish()).unwrap();
    let rubbish = format!("{{\"error\":\"{REFRESH}\",\"error_description\":\"{CLIENT_SECRET}\"}}");
    let scene = Setup::github(Reply::json_text(400, rubbish)).start().await;
    let (own, others, at) = (member(), bot(), known());
    let mut seen = Vec::new();
    let mut browser = scene.browser.another();
    for target in ["/oauth/config", "/oauth/config?service=github", "/oauth/slack/start", "/nothing"] {
        seen.push(format!("{:?}", browser.get(target).await));
    }
    let state = scene.begun(&mut browser, "gitlab").await;
    let end = scene.back(&mut browser, "gitlab", &state).await;
    let code = pairs(&end.location())["code"].clone();
    seen.push(format!(
        "{:?}",
        browser.get(&format!("/oauth/gitlab/callback?code={CODE}&state={state}")).await
    ));
    scene
        .asking(&own, &at)
        .exchange(&service("gitlab"), Access::Read, secret(&code), &scene.verifier)
        .await
        .unwrap();
    scene.asking(&others, &at).refresh(&service("gitlab"), &secret(REFRESH)).await.unwrap();
    let refused = scene.asking(&others, &at).refresh(&service("github"), &secret(REFRESH)).await.unwrap_err();
    seen.push(format!("{refused:?} {refused}"));
    scene.asking(&own, &at).revoke(&service("gitlab"), &secret(REFRESH), TokenKind::Refresh).await.unwrap();
    let seen = seen.concat();
    let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("a broker's ask was answered"), "nothing is logged");
    for word in [CLIENT_SECRET, ACCESS, REFRESH, CODE, &code, &state, scene.verifier.expose()] {
        assert!(!log.contains(word), "the log has `{word}`");
        assert!(!seen.contains(word), "an answer has `{word}`: {seen}");
    }
}
