//! The device flow: how often it is asked, and how it ends.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use pinhole_grant::UnixTime;
use pinhole_manifest::Access;
use serde_json::{Value, json};

use super::scripted::{Reply, Scripted};
use super::{NOW, catalog, endpoint, public};
use crate::clock::{Clock, Timer, Wait};
use crate::net::{Sent, WireErrorKind};
use crate::oauth::{DeviceError, DeviceStart, FreshPair, TokenError, Unreadable};

/// A clock that moves by what is waited for.
#[derive(Default)]
struct Time {
    waits: Mutex<Vec<u64>>,
    passed: AtomicI64,
}

impl Clock for Time {
    fn now(&self) -> UnixTime {
        NOW.plus_secs(self.passed.load(Ordering::SeqCst))
    }
}

impl Timer for Time {
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wait(&self, time: Duration) -> Wait<'_> {
        self.waits.lock().unwrap().push(time.as_secs());
        self.passed.fetch_add(i64::try_from(time.as_secs()).unwrap(), Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

fn start() -> Value {
    json!({"device_code": "device-1", "user_code": "WDJB-MJHT", "expires_in": 900,
        "verification_uri": "https://id.thing.dev/activate",
        "verification_uri_complete": "https://id.thing.dev/activate?code=WDJB-MJHT"})
}

async fn begun(answer: Value) -> Result<DeviceStart, TokenError> {
    let (catalog, client) = (catalog(&json!({})), public());
    let wire = Scripted::new([Reply::json(200, answer)]);
    let begun = endpoint(&wire, &catalog, &client).device(Access::Write).await;
    let asked = wire.asked().remove(0);
    assert_eq!(asked.url, "https://id.thing.dev/device");
    assert_eq!(asked.field("client_id"), Some("client-1"));
    assert_eq!(asked.field("scope"), Some("things:read things:write"));
    begun
}

async fn waited(
    start: Value,
    replies: impl IntoIterator<Item = Reply>,
) -> (Result<FreshPair, DeviceError>, Vec<u64>) {
    let start = begun(start).await.unwrap();
    let (catalog, client, time) = (catalog(&json!({})), public(), Time::default());
    let wire = Scripted::new(replies);
    let pair = endpoint(&wire, &catalog, &client).device_pair(&start, Access::Read, &time, &time).await;
    for asked in wire.asked().into_iter().filter(|asked| asked.url != "https://id.thing.dev/revoke") {
        assert_eq!(asked.url, "https://id.thing.dev/token");
        assert_eq!(asked.field("device_code"), Some("device-1"));
        assert_eq!(asked.field("grant_type"), Some("urn:ietf:params:oauth:grant-type:device_code"));
    }
    (pair, time.waits.into_inner().unwrap())
}

fn error(code: &str) -> Reply {
    Reply::json(400, json!({ "error": code }))
}

#[tokio::test]
async fn it_is_asked_as_often_as_the_server_says() {
    let replies =
        [error("authorization_pending"), error("slow_down"), error("authorization_pending"), Reply::pair()];
    let (pair, waits) = waited(start(), replies).await;
    let pair = pair.unwrap();
    assert_eq!(pair.access.expose(), "access-2");
    assert_eq!(waits, [5, 5, 10, 10]);
    assert_eq!(pair.obtained_at, NOW.plus_secs(30));

    let mut seldom = start();
    seldom["interval"] = json!("7");
    let away = || Reply::Fails(WireErrorKind::Timeout { stage: crate::net::Stage::Total }, Sent::Maybe);
    let (pair, waits) = waited(seldom, [away(), Reply::json(503, ""), Reply::pair()]).await;
    assert!(pair.is_ok());
    assert_eq!(waits, [7, 14, 28]);
}

#[tokio::test]
async fn it_ends_with_her_no_and_with_its_time() {
    let (ended, _) = waited(start(), [error("access_denied")]).await;
    assert_eq!(ended.unwrap_err(), DeviceError::Denied);
    let (ended, _) = waited(start(), [error("expired_token")]).await;
    assert_eq!(ended.unwrap_err(), DeviceError::Expired);
    let (ended, waits) = waited(start(), (0..200).map(|_| error("authorization_pending"))).await;
    assert_eq!(ended.unwrap_err(), DeviceError::Expired);
    assert_eq!(waits.iter().sum::<u64>(), 895, "never asked once it has expired");
    for (reply, sent) in [(error("invalid_client"), Sent::Yes), (error("invalid_grant"), Sent::Yes)] {
        let (ended, _) = waited(start(), [reply]).await;
        assert!(matches!(ended.unwrap_err(), DeviceError::Token(error) if error.sent() == sent));
    }
    let wide = Reply::json(200, json!({"access_token": "a", "scope": "things:write"}));
    let (ended, _) = waited(start(), [wide, Reply::json(200, "")]).await;
    assert!(matches!(ended.unwrap_err(), DeviceError::Token(TokenError::TooMuch { .. })));
}

#[tokio::test]
async fn what_she_is_shown_is_plain_and_leads_to_a_public_page() {
    let begun_well = begun(start()).await.unwrap();
    assert_eq!(begun_well.user_code(), "WDJB-MJHT");
    assert_eq!(begun_well.page().as_str(), "https://id.thing.dev/activate");
    assert!(begun_well.page_with_code().is_some());
    assert_eq!(begun_well.expires_at(), NOW.plus_secs(900));
    assert!(!format!("{begun_well:?}").contains("device-1"));
    for (name, value) in [
        ("user_code", json!("A\u{1b}[2J")),
        ("user_code", json!("A\u{202e}B")),
        ("user_code", json!("A\nB")),
        ("user_code", json!("A".repeat(65))),
        ("user_code", json!("")),
        ("user_code", json!(12)),
        ("verification_uri", json!("http://id.thing.dev/activate")),
        ("verification_uri", json!("https://127.0.0.1/activate")),
        ("verification_uri", json!("javascript:alert(1)")),
        ("verification_uri_complete", json!("file:///etc/passwd")),
        ("device_code", json!(null)),
        ("expires_in", json!(-1)),
    ] {
        let mut answer = start();
        answer[name] = value.clone();
        let refused = begun(answer).await.unwrap_err();
        let expected = TokenError::Unreadable { what: Unreadable::Device, sent: Sent::Yes };
        assert_eq!(refused, expected, "{name} {value}");
    }
    let mut long = start();
    long["expires_in"] = json!(1e12);
    assert_eq!(begun(long).await.unwrap().expires_at(), NOW.plus_secs(1800));
}
