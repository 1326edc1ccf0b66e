//! What an operator may say, and what is refused of it.

use std::sync::Arc;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::server::Server;
use super::*;
use crate::net::{NetSettingsError, OverrideError};

#[test]
fn overrides_are_read_strictly() {
    for good in ["api.github.com:443:127.0.0.1:8443", "api.github.com:443:[::1]:8443", "a.b:443:10.0.0.1:1"] {
        assert!(DialOverride::parse(good).is_ok(), "{good}");
    }
    let host = |error: &OverrideError| matches!(error, OverrideError::Host(_));
    for bad in [
        ":443:127.0.0.1:1",
        "localhost:443:127.0.0.1:1",
        "*.github.com:443:127.0.0.1:1",
        "127.0.0.1:443:127.0.0.1:1",
        "Api.github.com:443:127.0.0.1:1",
    ] {
        assert!(DialOverride::parse(bad).as_ref().is_err_and(host), "{bad}");
    }
    for (bad, error) in [
        ("", OverrideError::Shape),
        ("api.github.com", OverrideError::Shape),
        ("api.github.com:443", OverrideError::Shape),
        ("api.github.com:80:127.0.0.1:1", OverrideError::Port),
        ("api.github.com:0443:127.0.0.1:1", OverrideError::Port),
        ("api.github.com:443:127.0.0.1", OverrideError::Address),
        ("api.github.com:443:127.0.0.1:0", OverrideError::Address),
        ("api.github.com:443:127.0.0.1:65536", OverrideError::Address),
        ("api.github.com:443:127.1:8443", OverrideError::Address),
        ("api.github.com:443:::1:8443", OverrideError::Address),
        ("api.github.com:443:0.0.0.0:8443", OverrideError::Address),
        ("api.github.com:443:[::]:8443", OverrideError::Address),
        ("api.github.com:443:localhost:8443", OverrideError::Address),
    ] {
        assert_eq!(DialOverride::parse(bad), Err(error), "{bad}");
    }
}

#[tokio::test]
async fn settings_that_make_no_client() {
    let (ca, server) = Server::h1(Vec::new()).await;
    let refused = |settings: NetSettings| PinnedClient::new(settings).expect_err("a refusal");
    let twice = settings(&server, &ca).with_override(dial(HOST, &server));
    assert_eq!(refused(twice), NetSettingsError::Twice(host()));
    let alone = NetSettings::default().with_ca_pem(ca.pem.as_bytes()).expect("a CA");
    assert_eq!(refused(alone), NetSettingsError::CaWithoutOverride);
    for pem in [
        "",
        "nothing",
        "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ] {
        let error = NetSettings::default().with_ca_pem(pem.as_bytes()).expect_err("a refusal");
        assert_eq!(error, NetSettingsError::NoCertificate, "{pem}");
    }
    let junk = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let settings = NetSettings::default().with_override(dial(HOST, &server)).with_ca_pem(junk.as_bytes());
    assert!(matches!(refused(settings.expect("PEM")), NetSettingsError::Root(_)));
}

#[tokio::test]
async fn a_ca_vouches_for_overridden_hosts_alone() {
    let (ca, server) = Server::h1(Vec::new()).await;
    let checked = settings(&server, &ca).checked().expect("settings");
    for (config, believed) in [(checked.tls, false), (checked.overridden_tls, true)] {
        let tcp = TcpStream::connect(server.address).await.expect("a connection");
        let name = ServerName::try_from(HOST).expect("a name");
        let shaken = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        assert_eq!(shaken.is_ok(), believed);
    }
}
