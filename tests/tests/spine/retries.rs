//! What is tried again, how often, and after how long: over TLS, with a timer that waits for nobody.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use pinhole_runtime::net::{DialOverride, NetSettings, PinnedClient, Sent, StageLimits};
use pinhole_runtime::outcome::Code;
use pinhole_runtime::{Outcome, Retries};
use pinhole_standin::{Cut, Misbehaviour, Protocol, When};
use pinhole_tests::{Answers, Setup, Stage, Then};
use serde_json::json;

use crate::common::{get, is, parsed, post, refusal};
use crate::sending;

fn saying(code: u16, retry_after: Option<&str>) -> Misbehaviour {
    Misbehaviour::Status { code, retry_after: retry_after.map(str::to_owned) }
}

async fn stage() -> Stage {
    let routes = vec![
        get("/plain", &json!({"id": 1})),
        get("/quick", &json!({"id": 1})),
        get("/shelves/a", &json!({"id": 1, "locked": false})),
        post("/shelves/a/things", &json!({"id": 1})),
        post("/notes", &json!({"id": 1})),
    ];
    Setup::thing(routes).start().await
}

async fn read(stage: &Stage) -> Outcome {
    stage.read("thing.plain_thing", &json!({})).await
}

/// Half to all of half a second, then of a second.
fn are_backoffs(waits: &[Duration]) -> bool {
    let bounds = [(250, 500), (500, 1000)];
    waits.iter().zip(bounds).all(|(wait, (least, most))| (least..=most).contains(&wait.as_millis()))
        && waits.len() <= bounds.len()
}

#[tokio::test]
async fn what_passes_is_tried_again_and_each_try_counts() {
    for code in [429, 502, 503, 504] {
        for failing in [1, 2] {
            let stage = stage().await;
            stage.standin.misbehave(When::Next(failing), saying(code, None));
            let outcome = read(&stage).await;
            assert!(outcome.result().is_some(), "{code}: {}", outcome.to_json());
            assert_eq!(outcome.meta.requests, failing + 1);
            assert_eq!(stage.standin.requests().len(), usize::try_from(failing).unwrap() + 1);
            let waits = stage.timer.waits();
            assert!(waits.len() == usize::try_from(failing).unwrap() && are_backoffs(&waits), "{waits:?}");
        }
    }
}

#[tokio::test]
async fn three_tries_are_all() {
    for (code, refused) in [
        (429, Code::UpstreamRateLimited),
        (502, Code::UpstreamError),
        (503, Code::UpstreamError),
        (504, Code::UpstreamError),
    ] {
        let stage = stage().await;
        stage.standin.misbehave(When::Always, saying(code, None));
        let outcome = read(&stage).await;
        is(&outcome, refused, Sent::Yes);
        assert_eq!((outcome.meta.requests, stage.standin.requests().len()), (3, 3));
        assert_eq!(outcome.meta.status, Some(code));
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not_tried_again() {
    for code in [400, 401, 403, 404, 408, 409, 422, 425, 500, 501, 505] {
        let stage = stage().await;
        stage.standin.misbehave(When::Next(1), saying(code, Some("0")));
        assert!(read(&stage).await.refusal().is_some(), "{code}");
        assert_eq!((stage.standin.requests().len(), stage.timer.waits().len()), (1, 0), "{code}");
    }
}

#[tokio::test]
async fn a_service_is_waited_for_as_long_as_it_says() {
    // The clock stands at 2027-01-15 08:00:00 UTC.
    for (says, least) in
        [("0", 0), ("3", 3), ("Fri, 15 Jan 2027 08:00:04 GMT", 4), ("Thu, 01 Jan 1970 00:00:00 GMT", 0)]
    {
        let stage = stage().await;
        stage.standin.misbehave(When::Next(1), saying(503, Some(says)));
        assert!(read(&stage).await.result().is_some(), "{says}");
        let waits = stage.timer.waits();
        let [wait] = waits.as_slice() else { panic!("{waits:?}") };
        assert!((least..least + 1).contains(&wait.as_secs()), "{says}: {wait:?}");
    }
    for nonsense in ["soon", "-1", "", "1.5"] {
        let stage = stage().await;
        stage.standin.misbehave(When::Next(1), saying(503, Some(nonsense)));
        assert!(read(&stage).await.result().is_some(), "{nonsense}");
        assert!(are_backoffs(&stage.timer.waits()), "{nonsense}");
    }
}

/// The op has 20 s. What lies behind them is not waited for: the refusal says when to come back.
#[tokio::test]
async fn a_wait_that_does_not_fit_is_not_begun() {
    for (says, told) in [
        ("20", Some(20)),
        ("3600", Some(3600)),
        ("31536000", Some(31_536_000)),
        ("Fri, 15 Jan 2027 09:00:00 GMT", Some(3600)),
        ("99999999999999999999999", None),
    ] {
        for code in [429, 503] {
            let stage = stage().await;
            stage.standin.misbehave(When::Always, saying(code, Some(says)));
            let outcome = read(&stage).await;
            let refusal = refusal(&outcome);
            assert_eq!((refusal.sent, refusal.retry_after), (Sent::Yes, told), "{says}");
            assert_eq!(parsed(&outcome)["refusal"].get("retry_after").cloned(), told.map(|told| json!(told)));
            assert_eq!(told.is_some(), refusal.message.contains("come back in"), "{}", refusal.message);
            assert_eq!((stage.standin.requests().len(), stage.timer.waits().len()), (1, 0), "{says}");
        }
    }
}

/// The waits of all tries together stay inside the op's time: the third would end behind it.
#[tokio::test]
async fn waits_add_up() {
    let stage = stage().await;
    stage.standin.misbehave(When::Always, saying(503, Some("12")));
    let outcome = read(&stage).await;
    is(&outcome, Code::UpstreamError, Sent::Yes);
    assert_eq!((outcome.meta.requests, stage.timer.waits().len()), (2, 1));
    // Of one second nothing is left for a second wait.
    let stage = self::stage().await;
    stage.standin.misbehave(When::Always, saying(503, None));
    let outcome = stage.read("thing.quick_thing", &json!({})).await;
    is(&outcome, Code::UpstreamError, Sent::Yes);
    assert!(stage.timer.waits().iter().sum::<Duration>() < Duration::from_secs(1));
}

/// A limit that GitHub tells by a spent budget says when it is renewed, and is not tried again.
#[tokio::test]
async fn a_spent_budget_says_when_to_come_back() {
    let limited = |status| {
        pinhole_standin::Reply::json(status, &json!({"message": "limited"}))
            .header("x-ratelimit-remaining", "0")
            .header("x-ratelimit-reset", "1800000090")
    };
    for status in [403, 429] {
        let stage = Setup::thing(vec![pinhole_standin::Route::get("/plain", limited(status))]).start().await;
        let outcome = read(&stage).await;
        is(&outcome, Code::UpstreamRateLimited, Sent::Yes);
        assert_eq!((refusal(&outcome).retry_after, outcome.meta.requests), (Some(90), 1));
    }
}

#[tokio::test]
async fn a_write_is_tried_again_only_where_the_service_knows_it() {
    // Known by its header: the same key each time.
    let stage = stage().await;
    stage.standin.misbehave(When::Next(2), saying(503, None));
    let outcome = stage.write("thing.add_note", &json!({"text": "once"})).await;
    assert_eq!((outcome.result().is_some(), outcome.meta.requests), (true, 3), "{}", outcome.to_json());
    let seen = stage.standin.requests();
    let keys: Vec<_> = seen.iter().map(|seen| seen.header("idempotency-key").unwrap()).collect();
    assert!(keys.iter().all(|key| *key == keys[0]) && keys.len() == 3);
    assert!(seen.iter().all(|request| request.body == seen[0].body));
    // Not known: not tried again, whatever is said.
    for code in [429, 502, 503, 504] {
        let stage = self::stage().await;
        stage.standin.misbehave(When::Path("/shelves/a/things".to_owned()), saying(code, Some("0")));
        let outcome = stage.write("thing.put_thing", &json!({"shelf": "a", "name": "lamp"})).await;
        assert!(outcome.refusal().is_some());
        let posts = stage.seen().iter().filter(|seen| seen.starts_with("POST")).count();
        assert_eq!((posts, stage.timer.waits().len()), (1, 0), "{code}");
    }
}

/// The reads that a write requires are reads.
#[tokio::test]
async fn what_a_write_requires_is_tried_again() {
    let stage = stage().await;
    stage.standin.misbehave(When::Next(1), saying(503, None));
    let outcome = stage.write("thing.put_thing", &json!({"shelf": "a", "name": "lamp"})).await;
    assert!(outcome.result().is_some(), "{}", outcome.to_json());
    assert_eq!(stage.seen(), ["GET /shelves/a", "GET /shelves/a", "POST /shelves/a/things"]);
    assert_eq!(outcome.meta.requests, 3);
}

/// No connection: nothing was sent, so a read is tried again, and so is a write that the service knows; no other is.
#[tokio::test]
async fn a_connection_that_fails_is_tried_again() {
    let run = sending::to_a_closed_port().await;
    run.is(Code::ConnectFailed, Sent::No);
    assert_eq!((run.outcome.meta.requests, run.stage.timer.waits().len()), (3, 2));
    // A handshake that stands still, until the time for a connection is over.
    let limits = StageLimits { connect: Duration::from_millis(100), ..StageLimits::default() };
    for (name, args, tries) in [
        ("thing.plain_thing", json!({}), 3),
        ("thing.add_note", json!({"text": "x"}), 3),
        ("thing.send_note", json!({"text": "x"}), 1),
    ] {
        let mut setup = Setup { limits, ..Setup::thing(Vec::new()) };
        setup.standin.protocol = Protocol::Silent;
        let stage = setup.start().await;
        let outcome = match name {
            "thing.plain_thing" => stage.read(name, &args).await,
            _ => stage.write(name, &args).await,
        };
        is(&outcome, Code::TimedOut, Sent::No);
        assert_eq!(outcome.meta.requests, tries, "{name}");
    }
}

/// What may have been sent, what does not prove itself and what is not found is not tried again.
#[tokio::test]
async fn other_failures_are_final() {
    for cut in [Cut::BeforeStatus, Cut::InHeaders, Cut::MidBody] {
        let stage = stage().await;
        stage.standin.misbehave(When::Next(1), Misbehaviour::Cut(cut));
        assert_eq!(refusal(&read(&stage).await).code, Code::Interrupted);
        assert_eq!(stage.standin.requests().len(), 1);
    }
    let mut stage = stage().await;
    let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(Answers(Vec::new())));
    stage.executor.wire = Arc::new(client.unwrap());
    let outcome = read(&stage).await;
    is(&outcome, Code::NameNotFound, Sent::No);
    assert_eq!(outcome.meta.requests, 1);
    let run = sending::to_another_name().await;
    assert_eq!((refusal(&run.outcome).code, run.outcome.meta.requests), (Code::TlsFailed, 1));
}

/// A try that was not sent does not undo one that was.
#[tokio::test]
async fn what_one_try_sent_was_sent() {
    let mut stage = stage().await;
    stage.standin.misbehave(When::Next(1), saying(503, None));
    // Bound, so that nobody else takes it, and not listening.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let dial = DialOverride::parse(&format!("api.thing.dev:443:{}", socket.local_addr().unwrap())).unwrap();
    let settings = NetSettings::default().with_override(dial).with_ca_pem(stage.standin.ca_pem().as_bytes());
    let nowhere = PinnedClient::new(settings.unwrap()).unwrap();
    stage.executor.wire = Arc::new(Then::new(stage.client(), nowhere));
    let outcome = stage.write("thing.add_note", &json!({"text": "once"})).await;
    is(&outcome, Code::ConnectFailed, Sent::Yes);
    assert_eq!((outcome.meta.requests, stage.standin.requests().len()), (3, 1));
}

#[tokio::test]
async fn an_executor_that_is_to_try_once_does() {
    let mut stage = stage().await;
    stage.executor.retries = Retries::Never;
    stage.standin.misbehave(When::Next(1), saying(503, None));
    is(&read(&stage).await, Code::UpstreamError, Sent::Yes);
    assert_eq!(stage.standin.requests().len(), 1);
}
