//! Certificates, TLS versions, and how a stand-in ends.

use std::time::Duration;

use reqwest::StatusCode;
use rustls::CertificateError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{builder, cause, client, get, github, header, json, url};
use crate::{
    Alpn, Authority, Certificate, Config, GithubWorld, Misbehaviour, Protocol, Reply, Route, Standin,
};
use crate::{StandinError, When, World};

fn config() -> Config {
    Config::new(World::Fixed(vec![Route::get("/", Reply::json_text(200, "{}"))]))
}

async fn refusal(certificate: Certificate) -> rustls::Error {
    let standin = Standin::start(Config { certificate, ..config() }).await.unwrap();
    let error = client(&standin).get(url("/")).send().await.unwrap_err();
    assert!(error.is_connect());
    assert_eq!((standin.connections(), standin.requests().len()), (1, 0));
    cause::<rustls::Error>(&error).unwrap().clone()
}

#[tokio::test]
async fn each_bad_certificate_is_bad_in_its_own_way() {
    use rustls::Error::InvalidCertificate;
    let expired = refusal(Certificate::Expired).await;
    assert!(matches!(expired, InvalidCertificate(CertificateError::ExpiredContext { .. })), "{expired:?}");
    let early = refusal(Certificate::NotYetValid).await;
    assert!(matches!(early, InvalidCertificate(CertificateError::NotValidYetContext { .. })), "{early:?}");
    let own = refusal(Certificate::SelfSigned).await;
    assert!(matches!(own, InvalidCertificate(CertificateError::UnknownIssuer)), "{own:?}");
    let name = refusal(Certificate::WrongName).await;
    assert!(matches!(name, InvalidCertificate(CertificateError::NotValidForNameContext { .. })), "{name:?}");
    let other = refusal(Certificate::OtherCa).await;
    assert!(
        matches!(other, InvalidCertificate(CertificateError::BadSignature | CertificateError::UnknownIssuer)),
        "{other:?}"
    );
}

#[tokio::test]
async fn a_good_certificate_is_good_with_either_version_and_any_alpn() {
    for (protocol, alpn, http) in [
        (Protocol::Tls12, Alpn::Both, reqwest::Version::HTTP_2),
        (Protocol::Tls13, Alpn::H2, reqwest::Version::HTTP_2),
        (Protocol::Tls13, Alpn::Http1, reqwest::Version::HTTP_11),
        (Protocol::Tls12And13, Alpn::None, reqwest::Version::HTTP_11),
    ] {
        let standin = Standin::start(Config { protocol, alpn, ..config() }).await.unwrap();
        let response = get(&client(&standin), "/").await;
        assert_eq!(response.version(), http);
        assert_eq!(header(&response, "content-length"), "2");
    }
}

#[tokio::test]
async fn tls_1_1_is_refused_by_the_client() {
    let standin = Standin::start(Config { protocol: Protocol::Tls11, ..config() }).await.unwrap();
    let error = client(&standin).get(url("/")).send().await.unwrap_err();
    assert!(error.is_connect());
    let fault = cause::<rustls::Error>(&error).unwrap();
    assert!(matches!(fault, rustls::Error::PeerIncompatible(_)), "{fault:?}");
}

#[tokio::test]
async fn a_silent_server_is_given_up_by_the_client() {
    let standin = Standin::start(Config { protocol: Protocol::Silent, ..config() }).await.unwrap();
    let client = builder(&standin).connect_timeout(Duration::from_millis(100)).build().unwrap();
    let error = client.get(url("/")).send().await.unwrap_err();
    assert!(error.is_timeout() && error.is_connect());
    assert_eq!(standin.connections(), 1);
}

#[tokio::test]
async fn two_stand_ins_can_share_an_authority() {
    let authority = Authority::new().unwrap();
    let start = async |host: &str| {
        let config = Config { host: host.into(), authority: Some(authority.clone()), ..config() };
        Standin::start(config).await.unwrap()
    };
    let (one, two) = (start("api.github.com").await, start("api.example.org").await);
    assert_eq!(one.ca_pem(), two.ca_pem());
    let client = builder(&one).resolve("api.example.org", two.addr()).build().unwrap();
    assert_eq!(get(&client, "/").await.status(), 200);
    assert_eq!(client.get("https://api.example.org/").send().await.unwrap().status(), 200);
    assert_eq!((one.connections(), two.connections()), (1, 1));
}

#[tokio::test]
async fn a_host_that_is_no_name_does_not_start() {
    let error = Standin::start(Config { host: "ümlaut".into(), ..config() }).await.unwrap_err();
    assert!(matches!(error, StandinError::Certificate { .. }), "{error:?}");
}

#[tokio::test]
async fn it_listens_on_loopback_and_ends_when_dropped() {
    let standin = github().await;
    assert!(standin.addr().ip().is_loopback());
    standin.misbehave(When::Path("/user/repos".into()), Misbehaviour::EndlessBody);
    let client = client(&standin);
    let mut endless = get(&client, "/user/repos").await;
    assert!(endless.chunk().await.unwrap().is_some());
    let addr = standin.addr();
    drop(standin);
    let ended = async {
        while endless.chunk().await.is_ok() {}
        while TcpStream::connect(addr).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap();
}

#[tokio::test]
async fn a_client_that_speaks_no_tls_or_goes_away_disturbs_nobody() {
    let standin = github().await;
    let mut stranger = TcpStream::connect(standin.addr()).await.unwrap();
    stranger.write_all(b"GET / HTTP/1.1\r\nhost: api.github.com\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    // Whether it ends with an alert or a reset is the system's affair; there is no HTTP in it.
    let _ended = stranger.read_to_end(&mut answer).await.is_ok();
    assert!(!answer.starts_with(b"HTTP"));
    drop(TcpStream::connect(standin.addr()).await.unwrap());
    assert_eq!(get(&client(&standin), "/user").await.status(), 200);
    assert_eq!((standin.connections(), standin.requests().len()), (3, 1));
}

#[tokio::test]
async fn fixed_routes_are_matched_on_method_path_and_query() {
    let reply = |name: &str| Reply::json_text(200, format!("\"{name}\""));
    let routes = vec![
        Route::get("/a?x=1&y=2", reply("both")),
        Route::get("/a?", reply("none")),
        Route::get("/b", reply("any")),
        Route::new(reqwest::Method::POST, "/b", reply("posted")),
    ];
    let standin = Standin::start(Config::new(World::Fixed(routes))).await.unwrap();
    let client = client(&standin);
    assert_eq!(json(get(&client, "/a?y=2&x=%31").await).await, "both");
    assert_eq!(json(get(&client, "/a").await).await, "none");
    assert_eq!(get(&client, "/a?x=1").await.status(), StatusCode::NOT_FOUND);
    assert_eq!(json(get(&client, "/b?z=3").await).await, "any");
    assert_eq!(json(client.post(url("/b")).send().await.unwrap()).await, "posted");
}

#[test]
fn a_configuration_does_not_print_its_key() {
    let config =
        Config { token: Some("a-secret".into()), ..Config::new(World::Github(GithubWorld::default())) };
    assert!(!format!("{config:?}").contains("a-secret"));
}
