//! What goes wrong between the client and the service, and what is then known of the request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use pinhole_manifest::host::HostError;
use pinhole_runtime::net::{NetSettings, Outgoing, PinnedClient, Sent, StageLimits};
use pinhole_runtime::outcome::Code;
use pinhole_standin::{
    Alpn, Certificate, Config, Cut, GithubWorld, Misbehaviour, Protocol, Reply, Route, Standin, When, World,
};
use pinhole_tests::{Answers, Setup, Spoiling, Stage, shared};
use serde_json::{Value, json};

use crate::common::{Provoked, get, is, issue_args, refusal, repo_args};

/// Far longer than any test waits.
const NEVER: Duration = Duration::from_mins(10);

async fn read_repo(stage: Stage) -> Provoked {
    let outcome = stage.read("github.get_repo", &repo_args()).await;
    Provoked { stage, outcome }
}

async fn read_repo_while(how: Misbehaviour) -> Provoked {
    let stage = Setup::github().start().await;
    stage.standin.misbehave(When::Always, how);
    read_repo(stage).await
}

async fn read_repo_of(change: impl FnOnce(&mut Config)) -> Provoked {
    let mut setup = Setup::github();
    change(&mut setup.standin);
    read_repo(setup.start().await).await
}

/// No manifest and no args lead here: what renders is what the client takes. So something between the two spoils it.
pub(crate) async fn unsendable() -> Provoked {
    let mut stage = Setup::github().start().await;
    let spoil = |request: &mut Outgoing| request.target = String::from("/repos/../user");
    stage.executor.wire = Arc::new(Spoiling::new(stage.client(), spoil));
    read_repo(stage).await
}

async fn resolved_to(addresses: &[IpAddr]) -> Provoked {
    let mut stage = Setup::github().start().await;
    let lookup = Arc::new(Answers(addresses.to_vec()));
    let client = PinnedClient::with_lookup(NetSettings::default(), lookup).unwrap();
    stage.executor.wire = Arc::new(client);
    read_repo(stage).await
}

pub(crate) async fn to_an_inward_address() -> Provoked {
    resolved_to(&[IpAddr::V4(Ipv4Addr::LOCALHOST)]).await
}

pub(crate) async fn to_no_address() -> Provoked {
    resolved_to(&[]).await
}

pub(crate) async fn to_a_closed_port() -> Provoked {
    // Bound, so that nobody else takes it, and not listening.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let dial = Some(socket.local_addr().unwrap());
    read_repo(Setup { dial, ..Setup::github() }.start().await).await
}

pub(crate) async fn to_another_name() -> Provoked {
    read_repo_of(|standin| standin.certificate = Certificate::WrongName).await
}

pub(crate) async fn to_a_slow_service() -> Provoked {
    quickly(Misbehaviour::SlowHeaders { delay: NEVER }).await
}

/// A read that may take a second.
async fn quickly(how: Misbehaviour) -> Provoked {
    let long = json!({"id": 1, "name": "x".repeat(4096)});
    let stage = Setup::thing(vec![get("/quick", &long)]).start().await;
    stage.standin.misbehave(When::Always, how);
    let outcome = stage.read("thing.quick_thing", &json!({})).await;
    Provoked { stage, outcome }
}

pub(crate) async fn on_a_cut_connection() -> Provoked {
    read_repo_while(Misbehaviour::Cut(Cut::BeforeStatus)).await
}

pub(crate) async fn to_what_is_no_http() -> Provoked {
    let mut setup = Setup::github();
    setup.standin.alpn = Alpn::Http1;
    let stage = setup.start().await;
    stage.standin.misbehave(When::Always, Misbehaviour::RawBytes(b"SSH-2.0-OpenSSH_9.9\r\n\r\n".to_vec()));
    read_repo(stage).await
}

pub(crate) async fn to_a_redirect() -> Provoked {
    let location = "https://api.github.com/user".to_owned();
    read_repo_while(Misbehaviour::Redirect { status: 302, location }).await
}

pub(crate) async fn to_an_endless_answer() -> Provoked {
    read_repo_while(Misbehaviour::EndlessBody).await
}

pub(crate) async fn to_many_headers() -> Provoked {
    read_repo_while(Misbehaviour::ManyHeaders(150)).await
}

pub(crate) async fn to_nested_gzip() -> Provoked {
    read_repo_while(Misbehaviour::NestedGzip).await
}

#[tokio::test]
async fn a_service_that_does_not_prove_its_name_gets_no_request() {
    let spoiled: [fn(&mut Config); 7] = [
        |standin| standin.certificate = Certificate::Expired,
        |standin| standin.certificate = Certificate::NotYetValid,
        |standin| standin.certificate = Certificate::SelfSigned,
        |standin| standin.certificate = Certificate::WrongName,
        |standin| standin.certificate = Certificate::OtherCa,
        |standin| standin.protocol = Protocol::Tls11,
        |standin| standin.host = "github.com".to_owned(),
    ];
    for (number, spoil) in spoiled.into_iter().enumerate() {
        let run = read_repo_of(spoil).await;
        run.is(Code::TlsFailed, Sent::No);
        assert!(run.stage.standin.connections() > 0, "{number}");
        assert!(run.stage.standin.requests().is_empty(), "{number}");
    }
}

#[tokio::test]
async fn a_handshake_that_stands_still_is_given_up_and_nothing_was_sent() {
    let limits = StageLimits { connect: Duration::from_millis(200), ..StageLimits::default() };
    let mut setup = Setup { limits, ..Setup::github() };
    setup.standin.protocol = Protocol::Silent;
    let run = read_repo(setup.start().await).await;
    run.is(Code::TimedOut, Sent::No);
}

#[tokio::test]
async fn an_answer_that_drips_is_given_up_when_the_ops_time_is_over() {
    let run = quickly(Misbehaviour::Drip { bytes: 1, every: Duration::from_millis(20) }).await;
    run.is(Code::TimedOut, Sent::Yes);
}

/// Alone or beside a public address: one bad one refuses the whole answer, and nothing is dialled.
#[tokio::test]
async fn a_name_that_leads_inward_is_not_dialled() {
    let good: IpAddr = Ipv4Addr::new(140, 82, 121, 6).into();
    let Some(path) = shared("a_name_that_leads_inward_is_not_dialled", "suites/ssrf/addresses.json") else {
        return;
    };
    let suite: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut stage = Setup::github().start().await;
    let mut tried = 0;
    for denied in addresses(&suite["deny"]) {
        for answer in [vec![denied], vec![good, denied], vec![denied, good]] {
            let client = PinnedClient::with_lookup(NetSettings::default(), Arc::new(Answers(answer)));
            stage.executor.wire = Arc::new(client.unwrap());
            let outcome = stage.read("github.get_repo", &repo_args()).await;
            assert_eq!(refusal(&outcome).code, Code::AddressRefused, "{denied}");
            assert_eq!(refusal(&outcome).sent, Sent::No, "{denied}");
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

fn addresses(list: &Value) -> Vec<IpAddr> {
    let text = |item: &Value| item.as_str().or_else(|| item["address"].as_str()).map(str::to_owned);
    list.as_array().unwrap().iter().filter_map(text).filter_map(|text| text.parse().ok()).collect()
}

/// The credential goes nowhere else: not to the place that the redirect names, not back to the service.
#[tokio::test]
async fn no_redirect_is_followed() {
    let elsewhere = Standin::start(Config::new(World::Github(GithubWorld::default()))).await.unwrap();
    let places = [
        format!("https://{}/user", elsewhere.addr()),
        format!("http://{}/user", elsewhere.addr()),
        format!("//{}/user", elsewhere.addr()),
        "https://api.github.com/user".to_owned(),
        "/user".to_owned(),
    ];
    let stage = Setup::github().start().await;
    let mut sent = 0;
    for status in [301, 302, 303, 307, 308] {
        for location in &places {
            stage
                .standin
                .misbehave(When::Always, Misbehaviour::Redirect { status, location: location.clone() });
            is(&stage.read("github.get_repo", &repo_args()).await, Code::Redirected, Sent::Yes);
            sent += 1;
        }
    }
    assert_eq!(stage.standin.requests().len(), sent);
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_redirected_write_is_not_repeated() {
    let stage = Setup::github().start().await;
    let location = "https://api.github.com/repositories/1/issues".to_owned();
    // The read that it requires is answered; the write is not.
    stage.standin.misbehave(
        When::Path("/repos/pinhole-demo/lantern/issues".to_owned()),
        Misbehaviour::Redirect { status: 307, location },
    );
    is(&stage.write("github.create_issue", &issue_args("A title")).await, Code::Redirected, Sent::Yes);
    let posts = stage.seen().iter().filter(|seen| seen.starts_with("POST")).count();
    assert_eq!(posts, 1);
}

#[tokio::test]
async fn an_answer_over_its_cap_is_dropped_whatever_it_unpacks_from() {
    let stage = Setup::thing(vec![get("/small", &json!({"id": 1}))]).start().await;
    assert!(stage.read("thing.small_thing", &json!({})).await.result().is_some());
    for how in [
        Misbehaviour::EndlessBody,
        Misbehaviour::GzipBomb { mebibytes: 64 },
        Misbehaviour::BrotliBomb { mebibytes: 64 },
    ] {
        stage.standin.misbehave(When::Always, how);
        let outcome = stage.read("thing.small_thing", &json!({})).await;
        is(&outcome, Code::ResponseTooLarge, Sent::Yes);
        assert_eq!(outcome.meta.bytes_out, 0);
    }
}

#[tokio::test]
async fn the_cap_is_exact() {
    let of_size = |size: usize| {
        let rest = size - br#"{"id":1,"name":""}"#.len();
        Reply::json_text(200, format!(r#"{{"id":1,"name":"{}"}}"#, "x".repeat(rest)))
    };
    for (size, fits) in [(999, true), (1000, true), (1001, false)] {
        let stage = Setup::thing(vec![Route::get("/small", of_size(size))]).start().await;
        let outcome = stage.read("thing.small_thing", &json!({})).await;
        assert_eq!(outcome.result().is_some(), fits, "{size}");
        if fits {
            assert_eq!(outcome.meta.bytes_in, u64::try_from(size).unwrap());
        } else {
            is(&outcome, Code::ResponseTooLarge, Sent::Yes);
        }
    }
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_refused() {
    for encoding in ["zstd", "deflate", "gzip, br", "x-unknown"] {
        let reply = Reply::json(200, &json!({"id": 1})).header("content-encoding", encoding);
        let stage = Setup::thing(vec![Route::get("/plain", reply)]).start().await;
        is(&stage.read("thing.plain_thing", &json!({})).await, Code::BadEncoding, Sent::Yes);
    }
    let broken = Reply::json_text(200, "this is no gzip").header("content-encoding", "gzip");
    let stage = Setup::thing(vec![Route::get("/plain", broken)]).start().await;
    is(&stage.read("thing.plain_thing", &json!({})).await, Code::BadEncoding, Sent::Yes);
}

#[tokio::test]
async fn a_cut_connection_says_how_far_the_request_came() {
    for alpn in [Alpn::Http1, Alpn::H2] {
        for (how, sent) in [
            (Misbehaviour::Cut(Cut::BeforeStatus), Sent::Maybe),
            (Misbehaviour::Cut(Cut::InHeaders), Sent::Maybe),
            (Misbehaviour::Cut(Cut::MidBody), Sent::Yes),
            (Misbehaviour::Cut(Cut::MidBodyUnframed), Sent::Yes),
            (Misbehaviour::DeclaredTooLong { by: 7 }, Sent::Yes),
        ] {
            let mut setup = Setup::github();
            setup.standin.alpn = alpn;
            let stage = setup.start().await;
            stage.standin.misbehave(When::Always, how.clone());
            let outcome = stage.read("github.get_repo", &repo_args()).await;
            let code = refusal(&outcome).code;
            // Over HTTP/2 a wrong length is a fault of the protocol, not an end before time.
            let expected = matches!((&how, code), (_, Code::Interrupted))
                || matches!(
                    (&how, alpn, code),
                    (Misbehaviour::DeclaredTooLong { .. }, Alpn::H2, Code::BadResponse)
                );
            assert!(expected, "{how:?} over {alpn:?}: {code}");
            assert_eq!(refusal(&outcome).sent, sent, "{how:?} over {alpn:?}");
        }
    }
}

/// What the operator says for one name says nothing of any other, and no name that is not public can be pinned at all.
#[test]
fn an_inward_name_cannot_even_be_pinned() {
    for name in ["127.1", "0x7f000001", "1.2.3.4.", "[::1]", "localhost", "api.internal", "host.local"] {
        let parsed: Result<_, HostError> = pinhole_manifest::ApiHost::parse(name);
        assert!(parsed.is_err(), "{name}");
    }
}
